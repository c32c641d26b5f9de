"""The traffic, cost and energy of each link and each node of a network."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.result import LinkUse, RunResult
from netbandit.util.key_paths import lookup
from netbandit.util.units import energy_of_both, energy_of_ends

Figures = dict[str, NDArray[np.float64]]
"""Figures by name, one entry per link (or node), shape (links,) or (nodes,)."""


@dataclass(frozen=True)
class LinkFigure:
    """The title and unit of a link figure.

    Attributes:
        title: The title in pictures.
        unit: The unit.
    """

    title: str
    unit: str


LINK_FIGURES = {
    "messages": LinkFigure("messages on each link", "messages"),
    "bytes": LinkFigure("data on each link", "bytes"),
    "activations": LinkFigure("slots in which each link is used", "slots in use"),
    "cost": LinkFigure("cost of each link", "cost"),
    "energy": LinkFigure("energy spent on each link", "energy (J)"),
    "lost": LinkFigure("share of messages and copies that do not arrive, on each link", "share lost"),
}
"""The figures of a link between two agents, the most informative first; runs without records of loss have none lost."""


def link_figures(run: RunResult) -> Figures:
    """Return what each peer link of *run* carried, cost (activations times c2) and spent (joule, both ends together).

    Traffic over uplinks to the server is only in the totals of the run.
    """
    use = run.links
    messages, size = use.messages.astype(np.float64), use.bytes.astype(np.float64)
    failed, handed = lost_of_handed(run)
    return {
        "messages": messages,
        "bytes": size,
        "activations": use.activations.astype(np.float64),
        "cost": use.activations.astype(np.float64) * price(run, "peer", "cost", 1.0),
        "energy": energy_on(run, "peer", use),
        "lost": failed / np.maximum(handed, 1),
    }


def lost_of_handed(run: RunResult) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how many messages each peer link of *run* did not deliver, and how many it was given, copies included."""
    use = run.links
    never_put = np.zeros(len(use.messages))
    for each in (use.dropped, use.unsent):
        never_put += 0 if each is None else each
    failed = never_put + (0.0 if use.lost is None else use.lost.astype(np.float64))
    return failed, never_put + with_copies(use).astype(np.float64)


def mean_link_figures(runs: Sequence[RunResult]) -> Figures:
    """Return the means over *runs*, which have the same links; of what is lost the share of all that was handed."""
    failed, handed = lost_of_all(runs)
    return {**means([link_figures(run) for run in runs]), "lost": failed / np.maximum(handed, 1)}


def lost_of_all(runs: Sequence[RunResult]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of `lost_of_handed` over *runs*, which have the same links."""
    failed, handed = np.sum([lost_of_handed(run) for run in runs], axis=0)
    return failed, handed


def worst_first(failed: NDArray[np.float64], handed: NDArray[np.float64]) -> list[int]:
    """Return the links that failed to deliver any, those that lose the largest share of what they are given first.

    Of links that lose the same share, that which loses more is worse.

    Args:
        failed: How many messages each link did not deliver, shape (links,).
        handed: How many it was given, copies included.
    """
    order: list[int] = np.lexsort((-failed, -failed / np.maximum(handed, 1))).tolist()
    return [link for link in order if failed[link]]


def means(found: Sequence[Figures]) -> Figures:
    """Return the mean of each figure over several runs."""
    return {name: np.asarray(np.mean([one[name] for one in found], axis=0)) for name in found[0]}


def node_figures(links: Figures, ends: NDArray[np.int64], nodes: int) -> Figures:
    """Return the traffic over the links of each node, both directions added; for shares, the mean over its links.

    Args:
        links: The figures of each link.
        ends: The ends of each link, shape (links, 2).
        nodes: The number of nodes.
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
    """Return whether all *runs* have the same links."""
    first = runs[0].links
    return all(
        np.array_equal(run.links.first, first.first) and np.array_equal(run.links.second, first.second) for run in runs
    )


def on_one_network(runs: Sequence[RunResult]) -> Sequence[RunResult]:
    """Return *runs*, or the first of them where they have not all the same links."""
    return runs if same_links(runs) else runs[:1]


def with_copies(use: LinkUse) -> NDArray[np.int64]:
    """Return how many messages and copies each link carried, of which some were lost."""
    return use.messages if use.duplicates is None else use.messages + use.duplicates


def energy_on(run: RunResult, links: str, use: LinkUse) -> NDArray[np.float64]:
    """Return the energy that each of some links of *run* spent, both ends together (J), given their class and use.

    Receivers have spent nothing on what is under way at the end.
    """
    spent = np.zeros(len(use.messages))
    for what, coming, one in ((use.messages, use.in_flight, "message"), (use.bytes, use.in_flight_bytes, "byte")):
        spent += what * energy_of_both(_energy(run, links, f"energy.per_{one}"))
        if coming is not None:
            spent -= coming * prices_of_ends(run, links, f"energy.per_{one}")[1]
    return spent


def prices_of_ends(run: RunResult, links: str, key: str) -> tuple[float, float]:
    """Return the energy prices for senders and for receivers on a class of links in the scenario of *run*."""
    return energy_of_ends(_energy(run, links, key), price(run, links, "energy.sender_share", 0.5))


def _energy(run: RunResult, links: str, key: str) -> float | list[float]:
    found: float | list[float] = lookup(run.resolved, f"links.{links}.{key}", 0.0)
    return found


def price(run: RunResult, links: str, key: str, default: float = 0.0) -> float:
    """Return a number that the scenario of *run* sets for a class of links."""
    value = lookup(run.resolved, f"links.{links}.{key}", default)
    return float(value) if isinstance(value, int | float) else default
