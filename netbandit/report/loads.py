"""The load on links and nodes in tables: the busiest links, the energy of each node, the lifetime of batteries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.grouping import arrange, evenly
from netbandit.plots.study_pictures import shaped
from netbandit.report.hot_spots import network_title, percent, whose_figures
from netbandit.report.tables import Cell, Table
from netbandit.results.loads import (
    SERVER,
    battery_life,
    battery_lives,
    ends_of_links,
    has_batteries,
    mean_loads,
    node_names,
    nodes_of,
)
from netbandit.results.numbers import duration, rounded, scaled
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.simulation.result import RunResult
from netbandit.util.key_paths import lookup
from netbandit.util.text import first_few

ROWS = 10
"""The most links and nodes listed, those with the highest load."""

BATTERY = 1_000.0
"""The default energy (J) whose lifetime is shown; the lifetime of another is in proportion."""

_POINTS = 4
_DIGITS = 3
_NOTHING = "–"
_ENERGIES = ((1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ"), (1e-12, "pJ"))
_POWERS = tuple((size, unit.replace("J", "W")) for size, unit in _ENERGIES)
_WAITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))

_OF_MESSAGES = ("energy_sent_j", "energy_received_j")

Column = tuple[str, str, list[Cell]]


@dataclass(frozen=True)
class Loads:
    """The load on the network of a point.

    Attributes:
        title: The values that distinguish it from the other networks.
        links: The busiest links.
        nodes: The nodes that spent most.
        battery: The lifetime of a battery; empty where energy costs nothing.
    """

    title: str
    links: Table
    nodes: Table
    battery: str


def loads(study: StudyResult) -> list[Loads]:
    """Return the loads of *study*, of the first point of each topology and protocol that sends or spends anything.

    At most four; figures that the results do not contain are omitted.
    """
    arrangement = arrange(study)
    return [
        Loads(network_title(arrangement, point), busiest_links(point), thirstiest_nodes(point), battery_line(point))
        for point in evenly(shaped(arrangement, spends), _POINTS)
    ]


def tells(point: PointResult) -> bool:
    """Return whether the runs of *point* have sent anything, with senders recorded."""
    return all(run.uplinks is not None for run in point.finished) and any(
        use.messages.any() for run in point.finished for use in (run.links, run.uplinks) if use is not None
    )


def spends(point: PointResult) -> bool:
    """Return whether the runs of *point* record what nodes sent or spent: silent agents idle and pull."""
    known = all(run.uplinks is not None for run in point.finished)
    return tells(point) or (known and any(run.metrics.get("energy_j") for run in point.finished))


def busiest_links(point: PointResult, rows: int = ROWS) -> Table:
    """Return the busiest links of *point*, uplinks among them; those with most bytes where bandwidth is unlimited."""
    runs, carried, _ = mean_loads(point.finished)
    ends, classes = ends_of_links(runs[0])
    names = nodes_of(runs[0])
    there, back = carried["utilisation"], carried["utilisation_back"]
    busy = np.maximum(there, back)
    order = np.lexsort((-carried["bytes"], -busy))[:rows]
    order = order[carried["messages"][order] > 0]
    ways = [ends[link][::-1] if back[link] > there[link] else ends[link] for link in order]
    texts = [f"{names[sender]} → {names[receiver]}" for sender, receiver in ways]
    columns = [_texts("link", "in its busier direction", texts)]
    if len(set(classes)) > 1:
        columns.append(_texts("class", "of links", [classes[link] for link in order]))
    columns += [_counts(name, "both directions together", carried[name][order]) for name in ("messages", "bytes")]
    if carried["energy_j"].any():
        columns.append(_in_unit("energy", "of both ends", carried["energy_j"][order], _ENERGIES))
    if np.nan_to_num(busy).any():
        shares = [percent(share) for share in busy[order].tolist()]
        columns.append(("occupied", "share of the run, in the busier direction", shares))
        columns += [
            _in_unit(
                f"{which} wait", "of its messages, for those before them", carried[f"{which}_wait_s"][order], _WAITS
            )
            for which in ("mean", "longest")
        ]
    return _table(f"The busiest links ({whose_figures(runs)})", columns)


def thirstiest_nodes(point: PointResult, rows: int = ROWS, battery: float | None = None) -> Table:
    """Return the nodes of *point* whose batteries run out first, or that spent most, or have most bytes.

    The server is among them if it has uplinks. The energy of sending and receiving is not shown where it is also that
    of the time on shared air: of this only the sum is recorded.

    Args:
        point: A point with a finished run.
        rows: The number of nodes.
        battery: An energy (J) whose lifetime is shown; None: the capacity of its battery, or `BATTERY`.
    """
    runs, _, spent = mean_loads(point.finished)
    both = spent["bytes_sent"] + spent["bytes_received"]
    whole = _battery_of(runs, battery)
    lives = np.mean([battery_lives(run, whole) for run in runs], axis=0)
    first = lives if has_batteries(runs[0]) else np.zeros(len(both))
    order = np.lexsort((-both, -spent["energy_j"], first))[:rows]
    names = nodes_of(runs[0])
    columns = [_texts("node", "", [names[node] for node in order])]
    for what, before in (("messages", ""), ("bytes", "bytes ")):
        columns += [_counts(before + end, what, spent[f"{what}_{end}"][order]) for end in ("sent", "received")]
    if spent["energy_j"].any():
        columns += [
            _in_unit(name, longer, spent[key][order], units)
            for name, longer, key, units in (
                ("energy sending", "", "energy_sent_j", _ENERGIES),
                ("receiving", "the energy of it", "energy_received_j", _ENERGIES),
                ("energy", "all that it spent", "energy_j", _ENERGIES),
                ("power", "energy over simulated time", "power_w", _POWERS),
            )
            if not (key in _OF_MESSAGES and _shares_air(runs[0]))
        ]
        agents = [names[node] != SERVER for node in order]
        ends = zip(lives[order].tolist(), agents, strict=True)
        cells = [_life(life) if one else Cell(_NOTHING, None) for life, one in ends]
        heading = "battery lasts" if whole is None else f"{scaled(whole)} J last"
        columns.append((heading, "at this power; mean over replications", cells))
    which = "whose batteries run out first" if has_batteries(runs[0]) else "that spent most"
    return _table(f"The nodes {which} ({whose_figures(runs)})", columns)


def _battery_of(runs: Sequence[RunResult], battery: float | None) -> float | None:
    """Return the energy (J) whose lifetime is shown; None: the capacity of each agent's battery."""
    return BATTERY if battery is None and not all(map(has_batteries, runs)) else battery


def _shares_air(run: RunResult) -> bool:
    """Return whether the time of a transmission over shared air takes energy."""
    power = any(lookup(run.resolved, f"energy.{key}") is not None for key in ("send", "receive"))
    return power and lookup(run.resolved, "links.peer.radio") is not None


def _life(seconds: float) -> Cell:
    return Cell("not known" if np.isnan(seconds) else duration(seconds), seconds if np.isfinite(seconds) else None)


def battery_line(point: PointResult, battery: float | None = None) -> str:
    """Return how long an energy (J) lasts the median agent of *point*, and the first; empty where none is spent."""
    runs = point.finished
    battery = _battery_of(runs, battery)
    lives = [battery_life(run, battery) for run in runs]
    if not any(np.isfinite(first) for _, first, _ in lives):
        return ""
    median, first = (float(np.mean([life[place] for life in lives])) for place in (0, 1))
    times = Counter(node_names(run)[agent] for run, (_, _, agent) in zip(runs, lives, strict=True)).most_common()
    who = times[0][0]
    if len(times) > 1:
        others = [f"{name} in {count}" for name, count in times[1:]]
        who += f" in {times[0][1]} of {len(runs)} replications; {first_few(others, 2)}"
    whole = "a battery lasts" if battery is None else f"{scaled(battery)} J last"
    return (
        f"{whole} the median agent {duration(median)}, and the first to run out {duration(first)} ({who}), at the mean "
        "power of this run"
    )


def _table(caption: str, columns: Sequence[Column]) -> Table:
    rows = [list(row) for row in zip(*(cells for _, _, cells in columns), strict=True)]
    return Table(caption, [(name, longer) for name, longer, _ in columns], rows)


def _texts(name: str, longer: str, texts: Sequence[str]) -> Column:
    return name, longer, [Cell(text, text) for text in texts]


def _counts(name: str, longer: str, values: NDArray[np.float64]) -> Column:
    return name, longer, [Cell(scaled(rounded(value, 4)), value) for value in values.tolist()]


def _in_unit(name: str, longer: str, values: NDArray[np.float64], units: Sequence[tuple[float, str]]) -> Column:
    """Return numbers in the unit that suits the largest."""
    size, unit = next((each for each in units if values.max(initial=0.0) >= each[0]), units[0])
    cells = [Cell(scaled(rounded(value / size, _DIGITS)), value) for value in values.tolist()]
    return f"{name} ({unit})", longer, cells
