"""The figures of the performance page, from the record of benchmarks that is kept beside it.

``python -m benchmarks --record docs/performance/record.jsonl`` measures them; a page without a record
says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import benchmarks
from benchmarks.measure import Row
from benchmarks.record import Run, read
from netbandit.plots.style import COLOURS, NEUTRAL, drawing, save
from netbandit.results.numbers import rounded, scaled, shortest
from netbandit.util.process import machine_text
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from sphinx.application import Sphinx

RECORD = "record.jsonl"


@dataclass(frozen=True)
class Chart:
    """What the chart of a benchmark shows.

    Attributes:
        rows: The columns that name what was measured; a single one of numbers becomes an axis.
        panels: For each panel what its axis says -> what a series is called -> the column of its figures.
        by: The column whose values are the series that *panels* gives no name.
    """

    rows: Sequence[str]
    panels: Mapping[str, Mapping[str, str]]
    by: str | None = None


CHARTS = {
    "messages": Chart(
        ("graph", "latency"),
        {
            "hops a second": {
                "": "hops_per_s",
                "SimPy, a process for each message": "base_hops_per_s",
                "a loop over a heap": "heap_hops_per_s",
            }
        },
        by="engine",
    ),
    "faults": Chart(("faults",), {"µs a delivered hop": {"": "us_per_hop"}}, by="engine"),
    "horizon": Chart(("horizon",), {"seconds a run": {"": "seconds"}}),
    "rounds": Chart(
        ("round",), {"seconds a round": {"": "seconds"}, "peak memory (MiB)": {"": "peak_mib"}}, by="engine"
    ),
    "scale": Chart(
        ("agents",),
        {
            "seconds a run": {"as many rounds as it takes": "seconds", "three rounds": "same_rounds"},
            "peak memory (MiB)": {"as many rounds as it takes": "peak_mib"},
        },
    ),
    "decisions": Chart(("what",), {"µs a decision": {"": "µs"}}),
    "procurement": Chart(("what",), {"share of the time": {"": "share"}}),
    "slots": Chart(("what",), {"µs a slot": {"": "µs a slot"}}),
    "vertical": Chart(("with",), {"slots a second": {"": "slots_per_s"}}, by="learner"),
    "cooperative": Chart(("what",), {"µs a slot": {"": "µs a slot"}}),
}

_HEADS = {
    "hops_per_s": "hops per second",
    "base_hops_per_s": "SimPy: hops per second",
    "heap_hops_per_s": "a heap: hops per second",
    "ratio_heap": "ratio to a heap",
    "ratio_gc": "ratio with gc",
    "us_per_hop": "µs per delivered hop",
    "peak_mib": "peak memory (MiB)",
    "in_simpy": "share in SimPy",
    "same_rounds": "seconds for three rounds",
    "slots_per_s": "slots per second",
}
"""Headings of columns whose unit their name does not say in words."""

_CLOSE = 0.05
"""Runs that differ by no more than this share of their median are told by the median alone."""

_COLOURS = {"event": "#0072B2", "compiled": "#D55E00"}
_FURTHER = ("#0072B2", "#E69F00", "#009E73", "#000000")
_OTHERS = ("python", "simpy", "numpy", "numba")
_WIDE = 20
"""From such a ratio of the largest figure to the least on, an axis is logarithmic; beside it, of as many decades."""


def by_benchmark(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Return the runs of each benchmark, in the order in which they run."""
    names = [name for name in (*benchmarks.NAMES, *benchmarks.ON_REQUEST) if any(run.benchmark == name for run in runs)]
    return {name: [run for run in runs if run.benchmark == name] for name in names}


def table(runs: Sequence[Run]) -> list[str]:
    """Return the table of one benchmark: the median over its runs, with the least and largest where they differ."""
    columns = [column for column in runs[0].rows[0] if not column.endswith("noise")]
    lines = ["| " + " | ".join(_HEADS.get(column) or benchmarks.head(column) for column in columns) + " |"]
    numeric = [not isinstance(runs[0].rows[0][column], str) for column in columns]
    lines.append("|" + "|".join("--:" if each else "---" for each in numeric) + "|")
    rows_of = zip(*(run.rows for run in runs), strict=True)
    return [*lines, *("| " + " | ".join(_cell(rows, column) for column in columns) + " |" for rows in rows_of)]


def _cell(rows: Sequence[Row], column: str) -> str:
    numbers = [row[column] for row in rows if isinstance(row.get(column), int | float)]
    if len(numbers) < len(rows):
        return str(rows[0].get(column, ""))
    middle = median(float(number) for number in numbers)
    if all(isinstance(number, int) for number in numbers):
        return shortest(round(middle))
    texts = [scaled(rounded(number, 3)) for number in (middle, min(numbers), max(numbers))]
    alike = max(numbers) - min(numbers) <= _CLOSE * abs(middle)
    return texts[0] if alike else f"{texts[0]} ({texts[1]}–{texts[2]})"


Series = dict[str, dict[str | float, list[float]]]
"""Name of a series -> row -> its figures, one of each run."""


def series_of(runs: Sequence[Run], drawn: Chart, panel: str) -> Series:
    """Return what a panel of a chart shows."""
    found: Series = {}
    for name, column in drawn.panels[panel].items():
        for number, run in enumerate(runs):
            for row in run.rows:
                value = row.get(column)
                if isinstance(value, int | float):
                    words = [row[key] for key in drawn.rows]
                    place = words[0] if len(words) == 1 else ", ".join(map(str, words))
                    key = name or (str(row[drawn.by]) if drawn.by else "")
                    values = found.setdefault(key, {}).setdefault(place, [])
                    if name == "" or len(values) <= number:  # what all engines of a row share is drawn once
                        values.append(float(value))
    return found


def chart(runs: Sequence[Run], drawn: Chart, place: Path) -> None:
    """Draw one benchmark: a dot for each run, and lines through medians where rows are numbers."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = {panel: series_of(runs, drawn, panel) for panel in drawn.panels}
    rows = list(dict.fromkeys(row for panel in found.values() for series in panel.values() for row in series))
    numeric = all(isinstance(row, int | float) for row in rows)
    spans = [
        (min(values), max(values))
        for series in found.values()
        for values in [[value for figures in series.values() for some in figures.values() for value in some]]
    ]
    widest = max(high / low if low > 0 else 1.0 for low, high in spans)
    height = 3.2 if numeric else 1.1 + 0.3 * len(rows)
    figure, panels = pyplot.subplots(
        1, len(found), figsize=(6.4, height), dpi=100, layout="constrained", squeeze=False, sharey=not numeric
    )
    for axes, (axis, series), (low, high) in zip(panels[0], found.items(), spans, strict=True):
        for number, (name, figures) in enumerate(series.items()):
            colour = _COLOURS.get(name, _FURTHER[number % len(_FURTHER)])
            points = [(row if numeric else rows.index(row), value) for row in figures for value in figures[row]]
            places, heights = zip(*(points if numeric else [(value, place) for place, value in points]), strict=True)
            axes.plot(places, heights, "o", color=colour, alpha=0.6, markersize=6, label=None if numeric else name)
            if numeric:
                axes.plot(list(figures), [median(values) for values in figures.values()], color=colour, label=name)
        wide = low > 0 and (widest if numeric else high / low) > _WIDE
        if numeric:
            axes.set(
                xscale="log",
                xlabel=drawn.rows[0],
                ylabel=axis,
                **({"yscale": "log", "ylim": (low / 1.4, 1.4 * low * widest)} if wide else {"ylim": (0, 1.1 * high)}),
            )
        else:
            axes.set(xlabel=axis, **({"xscale": "log"} if wide else {"xlim": (min(0.0, low), 1.05 * high)}))
            axes.set_yticks(range(len(rows)), rows, fontsize=9)
            axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(axis="y" if numeric else "x", color="#e5e5e5")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    handles, names = panels[0, 0].get_legend_handles_labels()
    if len(names) > 1:
        figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False, fontsize=9)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    figure.savefig(place)
    pyplot.close(figure)


def compared(found: Mapping[str, Sequence[Run]]) -> dict[str, dict[str, float]]:
    """Return how many times as fast as something known netbandit is: what it is compared with -> what was run."""

    def medians(benchmark: str, column: str) -> list[tuple[Row, float]]:
        rows = zip(*(run.rows for run in found[benchmark]), strict=True)
        return [(row[0], median(float(one[column]) for one in row)) for row in rows]

    messages = {f"{row['graph']}, {row['latency']} latency": value for row, value in medians("messages", "ratio")}
    decisions = {str(row["what"]): value for row, value in medians("decisions", "faster")}
    alone = {str(row["what"]).partition(": ")[::2]: value for row, value in medians("cooperative", "of numpy")}
    return {
        "messages, beside SimPy with a process for each": messages,
        "decisions of FedUCB, beside a loop over numpy": {
            name: value for name, value in decisions.items() if not name.startswith(("a ", "one "))
        },
        "whole runs in bulk, beside numpy without a network": {
            name: 1 / value for (name, how), value in alone.items() if how == "in bulk"
        },
    }


@drawing()
def draw_compared(sections: Mapping[str, Mapping[str, float]]) -> "Figure":
    """Draw a bar for each of `compared`, from equally fast on."""
    from matplotlib.transforms import blended_transform_factory

    from netbandit.util.extras.plots import Figure, FigureCanvasAgg

    count = sum(len(section) + 1 for section in sections.values())
    drawn = Figure(figsize=(4.6, 0.235 * count + 0.6), dpi=200, layout="constrained")
    FigureCanvasAgg(drawn)
    panel = drawn.subplots()
    beside_panel = blended_transform_factory(drawn.transFigure, panel.transData)
    ticks: dict[int, str] = {}
    for place, (beside, section) in enumerate(sections.items()):
        first = len(ticks) + place
        heading = panel.text(0.01, first, beside, transform=beside_panel, va="center", fontsize=8, weight="bold")
        heading.set(in_layout=False, zorder=5, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
        for row, (name, times) in enumerate(section.items(), first + 1):
            panel.barh(row, times - 1, left=1, height=0.72, color=COLOURS[place])
            panel.text(max(times, 1) * 1.06, row, f"{scaled(rounded(times, 2))} ×", va="center", fontsize=8)
            ticks[row] = name
    panel.set_yticks([*ticks], ticks.values(), fontsize=8)
    panel.set_ylim(count - 0.4, -0.6)
    panel.axvline(1, color=NEUTRAL, linewidth=0.8)
    panel.spines["left"].set_visible(False)
    panel.set_xscale("log")
    most = max(times for section in sections.values() for times in section.values())
    panel.set_xlim(0.05, 2.2 * most)
    panel.set_xticks([0.1, 1, 10], ["ten times\nslower", "as fast", "ten times\nfaster"])
    panel.minorticks_off()
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)
    return drawn


def page(runs: Sequence[Run]) -> str:
    """Return the tables of all recorded benchmarks, each below its chart."""
    if not runs:
        return "No figures are recorded with this version.\n"
    lines = []
    for name, some in by_benchmark(runs).items():
        lines += [f"### `{name}`: {benchmarks.title(name)}\n"]
        if name in CHARTS:
            axes = ", ".join(CHARTS[name].panels)
            lines += [f"```{{figure}} {name}.png\n:alt: {benchmarks.title(name)}: {axes}\n```\n"]
        lines += [*table(some), ""]
        made = sorted({run.versions["netbandit"] for run in some})
        where = "; ".join(dict.fromkeys(machine_text(run.machine) for run in some))
        others = ", ".join(f"{name} {some[-1].versions[name]}" for name in _OTHERS if name in some[-1].versions)
        with_others = f" with {others}" if others else ""
        lines += [
            f"{pluralize(len(some), 'run')}, netbandit {', '.join(made)}{with_others}, {where}, {some[-1].at[:10]}.\n"
        ]
    return "\n".join(lines)


def write(app: "Sphinx") -> None:
    """Write the tables and charts."""
    from scenario_gallery import keep

    folder = Path(app.srcdir) / "performance"
    runs = read(folder / RECORD) if (folder / RECORD).exists() else []
    for name, some in by_benchmark(runs).items():
        drawn = folder / f"{name}.png"
        stale = not drawn.exists() or drawn.stat().st_mtime < (folder / RECORD).stat().st_mtime
        if name in CHARTS and stale:
            chart(some, CHARTS[name], drawn)
    if runs:
        save(draw_compared(compared(by_benchmark(runs))), folder / "compared", ("png",))
    keep(folder / "figures.inc", page(runs))


def setup(app: "Sphinx") -> dict[str, bool]:
    """Have the tables written before Sphinx reads its sources."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
