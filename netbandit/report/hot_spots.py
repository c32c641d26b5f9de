"""Hot spots: the nodes and links with the most traffic, waiting, cost and energy, in a picture and in tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.grouping import Arrangement, arrange, described, evenly, value_of
from netbandit.plots.network import draw_network
from netbandit.plots.study_pictures import network_points
from netbandit.report.pictures import Drawn, inline
from netbandit.report.tables import Cell, Table
from netbandit.results.link_use import Figures, mean_link_figures, node_figures, on_one_network
from netbandit.results.loads import node_names
from netbandit.results.numbers import rounded, scaled
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.simulation.result import RunResult
from netbandit.trace.read import WAITS, TraceError, first_trace, read_trace

_NETWORKS = 4
_ROWS = 10
_LINES = 200_000
"""The lines read of a trace for the waits of nodes."""

_COLUMNS = {
    "messages": ("messages", "both directions together"),
    "bytes": ("bytes", "both directions together"),
    "activations": ("slots in use", "slots in which at least one message was put on the link: its activations"),
    "cost": ("cost", "slots in use times c2"),
    "energy": ("energy (J)", "of senders and receivers together"),
    "lost": ("lost", "the share of its messages that never arrived"),
}
_OF_NODES = {
    "activations": ("slots in use", "of all of its links, added up"),
    "cost": ("cost", "of all of its links"),
    "energy": ("energy (J)", "of all of its links, of both ends together"),
    "lost": ("lost", "mean share of what its links lost"),
}


@dataclass(frozen=True)
class HotSpots:
    """One network with the totals of its links and nodes.

    Attributes:
        title: The values that distinguish it from the other networks.
        picture: The network, its links coloured by the messages they carried.
        links: The links that carried most.
        nodes: The nodes whose links carried most, and how long they waited, if there is a trace.
    """

    title: str
    picture: Drawn
    links: Table
    nodes: Table


def hot_spots(folder: Path, study: StudyResult) -> list[HotSpots]:
    """Return the networks of *study*, whose results are in *folder*, that carried something; four at most.

    Traffic on uplinks to the server is known for the whole run only, and is not included.
    """
    arrangement = arrange(study)
    chosen = evenly(network_points(arrangement), _NETWORKS)
    return [_of(folder, arrangement, point, index) for index, point in enumerate(chosen)]


def _of(folder: Path, arrangement: Arrangement, point: PointResult, place: int) -> HotSpots:
    runs = on_one_network(point.finished)
    first = runs[0]
    ends = np.column_stack([first.links.first, first.links.second]).astype(np.int64)
    nodes = int(first.topology.get("agents") or ends.max() + 1)
    links = mean_link_figures(runs)
    figure = draw_network(arrangement, point)
    svg = inline(figure, f"n{place}-")
    names, whose = node_names(first, nodes), whose_figures(runs)
    waited = _waited(folder, point)
    return HotSpots(
        network_title(arrangement, point),
        Drawn(f"network-{place}", " ".join(figure.get_suptitle().split()), whose, svg, None),
        _table(f"Links that carried most ({whose})", "link", link_names(ends, names), links, _COLUMNS, None),
        _table(
            f"Nodes whose links carried most ({whose})",
            "node",
            names,
            node_figures(links, ends, nodes),
            _COLUMNS | _OF_NODES,
            waited,
        ),
    )


def network_title(arrangement: Arrangement, point: PointResult) -> str:
    """Return what distinguishes the network of *point* from the others: its topology and protocol."""
    keys = [key for key in arrangement.keys if key.startswith(("topology.", "protocol."))]
    return described({key: value_of(point, key) for key in keys}) or "the network"


def whose_figures(runs: Sequence[RunResult]) -> str:
    """Return of which runs the figures of a table are."""
    return "one run" if len(runs) == 1 else f"mean of {len(runs)} runs"


def _table(
    caption: str,
    what: str,
    names: list[str],
    figures: Figures,
    columns: dict[str, tuple[str, str]],
    waited: dict[int, float] | None,
) -> Table:
    """Return the rows with most messages; a figure that is zero everywhere has no column."""
    shown = [name for name in columns if figures[name].any()]
    order = np.argsort(-figures["messages"], kind="stable")[:_ROWS]
    if waited is None and len(names) > 1 and all(np.ptp(figures[name]) == 0 for name in shown):
        names, order = [f"each of {len(names):,}"], np.array([0])
    headings = [(what, ""), ("share", "of all messages on links between agents")]
    headings += [columns[name] for name in shown]
    total = float(figures["messages"].sum()) or 1.0
    rows = []
    for row in order.tolist():
        cells = [Cell(names[row], names[row]), percent(float(figures["messages"][row]) / total)]
        for name in shown:
            value = float(figures[name][row])
            cells.append(percent(value) if name == "lost" else _number(value))
        if waited is not None:
            cells.append(_number(waited.get(row, 0.0)))
        rows.append(cells)
    if waited is not None:
        headings.append(("waited (slots)", "for rounds and gathers to end, in the first run with a trace"))
    if what == "node":  # each message is at two nodes
        headings[1] = ("share", "of all messages on links between agents; each is at two nodes")
        for cells in rows:
            cells[1] = percent(2 * float(cells[1].key or 0.0))
    return Table(caption, headings, rows)


def link_names(ends: NDArray[np.int64], names: list[str]) -> list[str]:
    """Return the names of links from their *ends*, shape (links, 2), and the *names* of the nodes."""
    return [f"{names[first]} – {names[second]}" for first, second in ends.tolist()]


def _waited(folder: Path, point: PointResult) -> dict[int, float] | None:
    """Return the slots each agent waited in the first run that has a trace; None where none has."""
    found = first_trace(folder, point)
    if found is None:
        return None
    trace, run = found
    try:
        phases = read_trace(trace, _LINES).phases
    except TraceError:
        return None
    slot = run.slot_ns
    waited: dict[int, float] = {}
    for phase in phases:
        if phase.name in WAITS and phase.round > 0:
            waited[phase.agent] = waited.get(phase.agent, 0.0) + (phase.end - phase.begin) / slot
    return waited


def _number(value: float) -> Cell:
    return Cell(scaled(rounded(value, 4)), value)


def percent(share: float) -> Cell:
    """Return a share as a cell in percent."""
    return Cell(f"{scaled(rounded(100 * share, 3))} %", share)
