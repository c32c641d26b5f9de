"""Losses: how many messages were lost, where, and the effect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from netbandit.plots.grouping import evenly
from netbandit.report.hot_spots import link_names, percent
from netbandit.report.tables import Cell, Table, by_point
from netbandit.results import intervals
from netbandit.results.intervals import CONFIDENCE
from netbandit.results.link_use import lost_of_all, same_links, worst_first
from netbandit.results.loads import node_names
from netbandit.results.message_fates import failing, of_a_hundred
from netbandit.results.numbers import cell, rounded, scaled
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.summary import failures
from netbandit.results.varied_keys import varied
from netbandit.simulation.result import RunResult

_POINTS = 4
_LINKS = 5
_NOTHING = "–"
_ACKNOWLEDGEMENT = "ACK"
_REPETITION = "-RETRY"
_WRONG = (
    *("lost", "dropped", "duplicates", "retransmissions", "given_up", "late", "absent_slots", "stalled"),
    "broadcasts_missed",
)
_WHAT_FAILS = (".loss", ".jitter", ".duplicate", ".overtaking")


@dataclass(frozen=True)
class Losses:
    """The failures in a study.

    Attributes:
        points: The losses at each point, and their cost.
        links: The links that lose the largest shares; no rows where no link between agents lost anything.
    """

    points: Table
    links: Table


@dataclass(frozen=True)
class _Column:
    heading: str
    longer: str
    of: Callable[[RunResult], float | None]
    is_share: bool = False


def losses(study: StudyResult) -> Losses | None:
    """Return the losses, their places and their cost; None where nothing failed."""
    points = [point for point in study.points if point.finished]
    if not any(run.metrics.get(name) for point in points for run in point.finished for name in _WRONG):
        return None
    table = by_point("What was lost, and what it cost", study, points)
    for column in _COLUMNS:
        means = [_mean([column.of(run) for run in point.finished]) for point in points]
        if not any(means):
            continue
        table.headings.append((column.heading, column.longer))
        for row, mean in zip(table.rows, means, strict=True):
            row.append(_cell(mean, column.is_share))
    beside = [_beside(point, points, varied(study)) for point in points]
    if any(one is not None for one in beside):
        table.headings.append(("regret", f"relative to the point without faults, with its {_SURE} interval"))
        for row, one in zip(table.rows, beside, strict=True):
            row.append(Cell(_NOTHING, None) if one is None else one)
    return Losses(table, _links(study, points))


_SURE = f"{100 * CONFIDENCE:g} %"


def _metric(name: str) -> Callable[[RunResult], float | None]:
    return lambda run: run.metrics.get(name)


def _share_failing(run: RunResult) -> float | None:
    shares = of_a_hundred([run.metrics])
    return None if shares is None else failing(shares) / 100


def _share_lost(run: RunResult) -> float | None:
    lost, messages = run.metrics.get("lost"), run.metrics.get("messages")
    return None if lost is None or not messages else lost / messages


def _share_for_it(run: RunResult) -> float | None:
    total = sum(size for _, size in run.kinds.values())
    for_it = sum(
        size for kind, (_, size) in run.kinds.items() if kind == _ACKNOWLEDGEMENT or kind.endswith(_REPETITION)
    )
    return for_it / total if total else None


def _absent(run: RunResult) -> float | None:
    availability = run.metrics.get("availability")
    return None if availability is None else 1 - availability


_COLUMNS = (
    _Column("do not arrive", "of all messages and copies handed to links", _share_failing, True),
    _Column("lost", "messages and copies that never arrived, for each message that was sent", _share_lost, True),
    _Column("sent again", "messages sent again because no acknowledgement came in time", _metric("retransmissions")),
    _Column("given up", "messages whose sender stopped trying", _metric("given_up")),
    _Column("dropped", "messages that found the queue of their link full", _metric("dropped")),
    _Column("never sent", "messages that were handed to a link and never began", _metric("unsent")),
    _Column("not heard", "copies of a server's broadcasts that never arrived", _metric("broadcasts_missed")),
    _Column("copies", "copies that the network made", _metric("duplicates")),
    _Column("late", "items that arrived too late to be used", _metric("late")),
    _Column("absent", "share of all slots in which an agent was down", _absent, True),
    _Column("data for it", "share of all bytes that acknowledgements and repetitions took", _share_for_it, True),
    _Column("stalled", "agents that wait for ever at the horizon", _metric("stalled")),
    _Column("waiting (slots)", "how long the agents waiting at the horizon have waited", _metric("waiting_slots")),
    _Column(
        "recovery (slots)", "from the end of an outage until all waiting agents have resumed", _metric("recovery_slots")
    ),
)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _cell(value: float | None, is_share: bool) -> Cell:
    if value is None:
        return Cell(_NOTHING, None)
    return percent(value) if is_share else Cell(_short(value), float(value))


def _beside(point: PointResult, points: Sequence[PointResult], keys: Sequence[str]) -> Cell | None:
    """Return how many times the regret is that of the one point at which nothing fails, and which else is the same.

    None if there is no such point, or several, or it is this one.
    """
    same = [key for key in keys if not key.startswith("faults.") and not any(each in key for each in _WHAT_FAILS)]
    calm = [
        one
        for one in points
        if all(cell(one.value(key)) == cell(point.value(key)) for key in same)
        and not any(run.metrics.get(name) for run in one.finished for name in ("lost", "absent_slots", "duplicates"))
    ]
    if len(calm) != 1 or calm[0] is point:
        return None
    ours, theirs = _regrets(point), _regrets(calm[0])
    common = [name for name in ours if name in theirs]
    if not common:
        return None
    found = intervals.ratio([ours[name] for name in common], [theirs[name] for name in common], CONFIDENCE, paired=True)
    if not isfinite(found.value):
        return None
    text = f"× {_short(found.value)}"
    if not found.why_none and isfinite(found.low) and isfinite(found.high):
        text += f" [{_short(found.low)}, {_short(found.high)}]"
    beside = Cell(text, found.value)
    return beside.marked() if failures(point).stalled else beside


def _regrets(point: PointResult) -> dict[tuple[int, int], float]:
    found = {(run.seed, run.replication): run.metrics.get("regret") for run in point.finished}
    return {name: float(regret) for name, regret in found.items() if regret is not None}


def _short(value: float) -> str:
    return scaled(rounded(value, 3))


def _links(study: StudyResult, points: Sequence[PointResult]) -> Table:
    """Return the links between agents that lose the largest shares, of some points that lost anything."""
    losing = [point for point in points if same_links(point.finished) and lost_of_all(point.finished)[0].any()]
    chosen = evenly(losing, _POINTS)
    table = by_point(f"Links that lose the largest shares, {_LINKS} of a network", study, chosen)
    rows = []
    for point, before in zip(chosen, table.rows, strict=True):
        first = point.finished[0]
        lost, handed = lost_of_all(point.finished)
        ends = np.column_stack([first.links.first, first.links.second]).astype(np.int64)
        names = link_names(ends, node_names(first, int(ends.max()) + 1))
        rows += [
            [
                *before,
                Cell(names[link], names[link]),
                Cell(_short(mean := float(lost[link]) / len(point.finished)), mean),
                percent(float(lost[link] / handed[link])),
                percent(float(lost[link] / lost.sum())),
            ]
            for link in worst_first(lost, handed)[:_LINKS]
        ]
    headings = [
        *table.headings,
        ("link", ""),
        ("do not arrive", "messages in both directions, mean over the runs"),
        ("of its own", "share of the messages that this link was given, and of their copies"),
        ("of all", "share of all that does not arrive over links between agents"),
    ]
    return Table(table.caption, headings, rows)
