"""Draw the figure of the design: ``python paper/draw_design.py``."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

BLUE, GREEN, ORANGE, GREY = "#d6e6f4", "#d9eedd", "#fbe3cf", "#eeeeee"


def box(
    axes: Axes, left: float, bottom: float, width: float, height: float, colour: str, title: str, text: str
) -> None:
    """Draw a box with a title and a text below it."""
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=colour,
            edgecolor="#555555",
            linewidth=0.8,
        )
    )
    middle = left + width / 2
    axes.text(middle, bottom + height - 0.13, title, ha="center", va="top", fontsize=9, weight="bold")
    axes.text(middle, bottom + height - 0.42, text, ha="center", va="top", fontsize=7.0, linespacing=1.3)


def arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float], text: str = "") -> None:
    """Draw an arrow, with a text beside its middle."""
    axes.annotate("", end, begin, arrowprops={"arrowstyle": "-|>", "color": "#333333", "linewidth": 1.0})
    if text:
        axes.text(
            (begin[0] + end[0]) / 2 + 0.08, (begin[1] + end[1]) / 2, text, fontsize=7.5, va="center", style="italic"
        )


def draw() -> None:
    """Write ``design.png`` beside this file."""
    figure, axes = pyplot.subplots(figsize=(7.2, 3.9), dpi=200)
    axes.set(xlim=(-0.05, 10), ylim=(0, 5.4))
    axes.axis("off")
    box(axes, 0.0, 3.2, 2.1, 1.3, GREY, "Scenario", "TOML file or objects,\nsweeps, own classes;\nchecked as a whole")
    box(axes, 2.5, 4.2, 2.1, 1.0, GREEN, "Worlds", "bandits, contexts,\nrewards from data")
    box(axes, 5.5, 4.2, 2.1, 1.0, GREEN, "Learners", "decide, release,\nabsorb; privacy")
    box(axes, 3.9, 2.6, 2.5, 1.0, BLUE, "Protocols", "rounds, calls, floods,\ngossip, consensus")
    box(axes, 3.9, 1.1, 2.5, 1.0, BLUE, "Network", "graphs, links, queues,\nloss, outages, retries")
    box(axes, 2.4, 0.05, 2.5, 0.72, ORANGE, "Event by event", "SimPy")
    box(axes, 5.4, 0.05, 2.5, 0.72, ORANGE, "In bulk", "numpy, numba")
    box(axes, 8.2, 3.2, 1.7, 1.3, GREY, "Results", "a folder a run,\nfingerprints,\nledger, curves")
    box(
        axes,
        8.2,
        1.1,
        1.7,
        1.5,
        GREY,
        "Answers",
        "intervals, tables,\npictures, reports,\nclaims of papers,\nadvice on links",
    )
    arrow(axes, (2.1, 4.1), (2.5, 4.4))
    arrow(axes, (4.6, 4.7), (5.5, 4.7))
    axes.text(5.05, 4.82, "rewards", fontsize=7, ha="center", style="italic")
    arrow(axes, (5.9, 4.2), (5.4, 3.6), "numbers")
    arrow(axes, (5.15, 2.6), (5.15, 2.1), "opaque payloads, bytes")
    arrow(axes, (4.7, 1.1), (4.0, 0.77))
    arrow(axes, (5.6, 1.1), (6.3, 0.77))
    arrow(axes, (7.6, 4.5), (8.2, 4.1))
    arrow(axes, (9.05, 3.2), (9.05, 2.6))
    figure.savefig(Path(__file__).with_name("design.png"), bbox_inches="tight", pad_inches=0.05)


if __name__ == "__main__":
    draw()
