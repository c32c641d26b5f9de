"""The notes of a subtitle: the statistic, and points that are marked, left out or not comparable."""

from collections.abc import Sequence

from netbandit.plots.bands import Band
from netbandit.plots.estimates import EITHER_DELAY, Estimates, distinct, exists, samples
from netbandit.plots.grouping import ABSENT, Arrangement, value_of
from netbandit.plots.values import identity, shown
from netbandit.results.failures import MARK
from netbandit.results.intervals import MEAN
from netbandit.results.message_fates import OF_ARRIVED, much_not_arrived
from netbandit.results.metrics import title_name
from netbandit.results.numbers import percentage, rounded, scaled
from netbandit.results.study_result import PointResult
from netbandit.util.text import first_few, in_runs, in_words

_NAMED = 3
"""The most points named in a note."""


def replications_note(points: Sequence[PointResult], *drawn: Estimates) -> str:
    """Return the subtitle's note on the markers of *points*, and on the bars and dots of *drawn* estimates."""
    most = max(len(point.finished) for point in points)
    if most < 2:
        return "; ".join(["one replication", *mark_notes([band for one in drawn for band in one.bands])])
    name = drawn[0].statistic.name if drawn else MEAN.name
    what = f"{name}s of {most:,} replications"
    if any(one.compared for one in drawn):
        what += "; bars: 95 % intervals for comparing (within replications)"
    elif not drawn or drawn[0].kind is not None:
        what += " with 95 % intervals"
    return "; ".join([what, *mark_notes([band for one in drawn for band in one.bands])])


def mark_notes(drawn: Sequence[Band], dots: str = "dots: all runs") -> list[str]:
    """Return the subtitle's notes on *dots*, crosses and the marks of incomplete runs in *drawn* estimates."""
    how = {kind for one in drawn if one.runs for kinds in one.failed.values() for kind in kinds}
    marked = how <= {kind for one in drawn for kind in one.shortfalls}
    crosses = f", crosses: {'those that failed' if marked else ' or '.join(sorted(how))}" if how else ""
    told = [f"{dots}{crosses}"] if any(one.runs for one in drawn) else []
    return [*told, *filter(None, [shortfall_note(drawn)])]


def shortfall_note(drawn: Sequence[Band]) -> str:
    """Return the subtitle's note on the mark of points with incomplete runs; empty where there is none."""
    names = []
    for kind in sorted({kind for one in drawn for kind in one.shortfalls}):
        many = in_runs(*zip(*(one.shortfalls[kind] for one in drawn if kind in one.shortfalls), strict=True))
        names.append(f"{kind} {many}".strip())
    return f"{MARK} {' or '.join(names)}: a lower value there is not an improvement" if names else ""


def of_arrived_note(points: Sequence[PointResult], metrics: Sequence[str], keys: Sequence[str]) -> str:
    """Return the subtitle's note that delay is that of what arrived, where much did not; empty if none is drawn.

    Args:
        points: The points of the picture.
        metrics: The metrics drawn.
        keys: The keys that vary, by whose values a point is called.
    """
    late = much_not_arrived(points) if set(metrics) & set(OF_ARRIVED) else []
    if not late:
        return ""
    many = f"{'up to ' if len(late) > 1 else ''}{scaled(percentage(max(share for _, share in late) / 100))}"
    what = f"delay is that of what arrived: {many} % of messages had not by the end"
    if len(late) == len(points):
        return what
    names = list(dict.fromkeys(_called(points, [point for point, _ in late], keys)))
    return f"{what} at {in_words(names, 'and') if len(names) <= _NAMED else f'{len(late)} of {len(points)} points'}"


def title_of(point: PointResult, keys: Sequence[str]) -> str:
    """Return the shortest text that distinguishes *point* from others."""
    values = [value_of(point, key) for key in keys]
    return ", ".join(shown(value) for value in values if value != ABSENT) or "the only point"


def missing_note(arrangement: Arrangement) -> str:
    """Return the subtitle's note on points without a finished run; empty if there are none."""
    keys = arrangement.keys
    return _named(
        "not drawn, no run has finished:", [title_of(one, keys or list(one.parameters)) for one in arrangement.missing]
    )


def without_note(arrangement: Arrangement, drawn: Sequence[PointResult]) -> str:
    """Return the subtitle's note on points of *arrangement* that are not *drawn*; empty if all are."""
    there = {id(point) for point in drawn}
    points, keys = arrangement.points, arrangement.keys
    missing = [point for point in points if id(point) not in there]
    return _named("without", _called(points, missing, keys))


def _named(what: str, names: Sequence[str]) -> str:
    return f"{what} {first_few(list(dict.fromkeys(names)), _NAMED)}" if names else ""


def left_out_note(points: Sequence[PointResult], metric: str, keys: Sequence[str]) -> str:
    """Return the subtitle's note on points at which *metric* has no mean, while it has one at others.

    Args:
        points: The points of the picture.
        metric: The metric drawn.
        keys: The keys that vary, by whose values a point is called.
    """
    if not exists(points, metric):
        return ""
    missing = [point for point in points if not samples(point, metric)]
    if not missing:
        return ""
    what = {
        "round_slots": "waiting left out, where no round ended in some runs",
        EITHER_DELAY: "delay left out, where nothing is heard",
        "epsilon": "left out, where it has no bound",
    }
    said = what.get(metric, f"{title_name(metric)} left out, where there is none")
    return _named(f"{said}:", _called(points, missing, keys))


def _called(points: Sequence[PointResult], some: Sequence[PointResult], keys: Sequence[str]) -> list[str]:
    """Return what *some* of *points* are called: the few values of a key that they alone have, else each by itself."""
    return _values_in_common(points, some, keys) or [title_of(point, keys) for point in some]


def _values_in_common(points: Sequence[PointResult], some: Sequence[PointResult], keys: Sequence[str]) -> list[str]:
    """Return the few values of one key that *some* of *points* have and no other; nothing if there is no such key."""
    for key in keys:
        values = {identity(value_of(point, key)): shown(value_of(point, key)) for point in some}
        alike = [point for point in points if identity(value_of(point, key)) in values]
        if len(alike) == len(some) and len(values) < _NAMED:
            return list(values.values())
    return []


def batteries_note(points: Sequence[PointResult]) -> str:
    """Return the subtitle's note on empty batteries; empty if fewer than half of the agents have one in each run."""
    runs = [run.metrics for point in points for run in point.finished]
    shares = [1 - alive for run in runs if (alive := run.get("alive")) is not None]
    if max(shares, default=0.0) < 0.5:
        return ""
    slots = [slot for run in runs if (slot := run.get("half_dead")) is not None]
    half = f"half of the agents by slot {_between(slots)}, " if len(slots) == len(runs) else ""
    return f"empty batteries: {half}{_between([percentage(share) for share in shares])} % at the end"


def _between(values: Sequence[float]) -> str:
    """Return the least and the largest of *values*, to whole numbers, or the one."""
    return " to ".join(dict.fromkeys(scaled(round(value)) for value in (min(values), max(values))))


def privacy_note(points: Sequence[PointResult]) -> str:
    """Return the subtitle's note on *points* that spend different privacy; empty if all are equal."""
    spent = sorted(value for value in distinct(points, "epsilon") if value > 0)
    if len({rounded(value, 3) for value in spent}) < 2:
        return ""
    return f"privacy spent differs: ε {scaled(rounded(spent[0], 3))} to {scaled(rounded(spent[-1], 3))}"
