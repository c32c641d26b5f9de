"""What each link and each node of a network carried, cost and spent."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.results.store import lookup
from netbandit.simulation.result import LinkUse, RunResult
from netbandit.util.units import energy_of_both, energy_of_ends

Figures = dict[str, NDArray[np.float64]]
"""Figures by name, each with one entry for each link (or node), shape (links,) or (nodes,)."""


@dataclass(frozen=True)
class LinkFigure:
    """How a figure of a link is called.

    Attributes:
        title: What a picture of it shows.
        unit: What is counted.
    """

    title: str
    unit: str


LINK_FIGURES = {
    "messages": LinkFigure("messages on each link", "messages"),
    "bytes": LinkFigure("data on each link", "bytes"),
    "activations": LinkFigure("slots in which each link is used", "slots in use"),
    "cost": LinkFigure("cost of each link", "cost"),
    "energy": LinkFigure("energy spent on each link", "energy (J)"),
    "lost": LinkFigure("share of messages lost on each link", "share lost"),
}
"""What is known of a link between two agents, the most telling first; of runs that tell of no loss, nothing is lost."""


def link_figures(run: RunResult) -> Figures:
    """Return what each peer link of *run* carried, cost (activations times c2) and spent (joule, both ends together).

    What went over uplinks to the server is in the totals of the run alone.
    """
    use = run.links
    messages, size = use.messages.astype(np.float64), use.bytes.astype(np.float64)
    lost = getattr(use, "lost", None)
    share = np.asarray(0.0 * messages if lost is None else lost / np.maximum(messages, 1.0), dtype=np.float64)
    return {
        "messages": messages,
        "bytes": size,
        "activations": use.activations.astype(np.float64),
        "cost": use.activations.astype(np.float64) * price(run, "peer", "cost", 1.0),
        "energy": energy_on(run, "peer", use),
        "lost": share,
    }


def mean_link_figures(runs: Sequence[RunResult]) -> Figures:
    """Return the means over *runs*, which have the same links."""
    found = [link_figures(run) for run in runs]
    return {name: np.asarray(np.mean([one[name] for one in found], axis=0)) for name in found[0]}


def node_figures(links: Figures, ends: NDArray[np.int64], nodes: int) -> Figures:
    """Return what went over the links of each node, both directions together; of a share, the mean over its links.

    Args:
        links: What each link came to.
        ends: The ends of each link, shape (links, 2).
        nodes: How many nodes there are.
    """
    degree = np.bincount(ends.ravel(), minlength=nodes)
    found: Figures = {
        name: np.asarray(np.bincount(ends.ravel(), weights=np.repeat(values, 2), minlength=nodes), dtype=np.float64)
        for name, values in links.items()
    }
    if "lost" in found:
        found["lost"] = found["lost"] / np.maximum(degree, 1)
    return found


def same_links(runs: Sequence[RunResult]) -> bool:
    """Tell whether all *runs* have the same links."""
    first = runs[0].links
    return all(
        np.array_equal(run.links.first, first.first) and np.array_equal(run.links.second, first.second) for run in runs
    )


def energy_on(run: RunResult, links: str, use: LinkUse) -> NDArray[np.float64]:
    """Return what each of some links of *run* has spent, both ends together (J), given their class and their use."""
    messages, size = use.messages.astype(np.float64), use.bytes.astype(np.float64)
    of_message, of_byte = (energy_of_both(_energy(run, links, f"energy.per_{one}")) for one in ("message", "byte"))
    return messages * of_message + size * of_byte


def prices_of_ends(run: RunResult, links: str, key: str) -> tuple[float, float]:
    """Return what the scenario of *run* says that senders spend on links of a class, and receivers."""
    return energy_of_ends(_energy(run, links, key), price(run, links, "energy.sender_share", 0.5))


def _energy(run: RunResult, links: str, key: str) -> float | list[float]:
    found: float | list[float] = lookup(run.resolved, f"links.{links}.{key}", 0.0)
    return found


def price(run: RunResult, links: str, key: str, default: float = 0.0) -> float:
    """Return a number that the scenario of *run* says of a class of links."""
    value = lookup(run.resolved, f"links.{links}.{key}", default)
    return float(value) if isinstance(value, int | float) else default
