"""The points of a study in the order of its sweep, their series and their colours."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from netbandit.plots.bands import Kind
from netbandit.plots.style import Look, looks
from netbandit.plots.values import Scale, identity, in_order, name, scale, shown, with_unit
from netbandit.results.columns import class_names, main_metric, run_values
from netbandit.results.intervals import MEAN, Statistic
from netbandit.results.paired import means_hide
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.summary import TOPOLOGY
from netbandit.results.varied_keys import NOT_A_POINT, parameter_names, short_names, without_case_keys
from netbandit.util.key_paths import CASE

ABSENT = "–"
"""Stands for the value of a key that a point does not have."""


KINDS = ("protocol.kind", "learner.kind")
"""Keys whose values say most of a point."""


def value_of(point: PointResult, key: str) -> Any:
    """Return the value of *key* at *point*, or a dash where the point has no such key."""
    value = point.value(key)
    return ABSENT if value is None else value


@dataclass(frozen=True)
class Arrangement:
    """The points of a study, in the order of its sweep, and the keys that distinguish them.

    Attributes:
        name: The scenario's name.
        keys: The keys that vary, the series' key first.
        points: The points with a finished run, ordered by the values of the keys.
        values: The values of each key, in order.
        statistic: The statistic over the replications of a point.
        missing: The points without a finished run, which are in no picture.
        bands: The kind of the intervals.
        color: The key requested for the series; None: the first one.
        rows: The key requested for rows of panels, if any.
        columns: The same for columns.
    """

    name: str
    keys: tuple[str, ...]
    points: tuple[PointResult, ...]
    values: dict[str, list[Any]]
    statistic: Statistic = MEAN
    missing: tuple[PointResult, ...] = ()
    bands: Kind = "mean"
    color: str | None = None
    rows: str | None = None
    columns: str | None = None

    @property
    def facing(self) -> list[str]:
        """The keys requested for rows and columns of panels."""
        return [key for key in (self.rows, self.columns) if key is not None]

    @property
    def series(self) -> str | None:
        """The key of the series, distinguished by colour, marker and dashes in every picture."""
        return self.keys[0] if self.keys else None

    def scale(self, key: str) -> Scale | None:
        """Return the values of *key* as numbers on an axis, or None if they are not numbers."""
        return scale(key, self.values[key], _slot(self.points))

    @cached_property
    def _looks(self) -> dict[str, dict[str, Look]]:
        table: dict[str, dict[str, Look]] = {}
        for key, values in self.values.items():
            drawn = looks(len(values), ordered=self.scale(key) is not None)
            table[key] = {identity(value): look for value, look in zip(values, drawn, strict=True)}
        return table

    @cached_property
    def _calling(self) -> list[str]:
        """The keys by which a point is called: those that have one value for each protocol, or learner, do not."""
        kinds = [kind for kind in KINDS if kind in self.keys]

        def values(*keys: str) -> set[str]:
            return {identity([value_of(point, key) for key in keys]) for point in self.points}

        return [
            key
            for key in self.keys
            if key in kinds or not any(len(values(kind, key)) == len(values(kind)) for kind in kinds)
        ]

    def called(self, point: PointResult) -> str:
        """Return what distinguishes *point* from the others, as the title of a panel has it; empty of the only one."""
        return titled({key: value_of(point, key) for key in self._calling})

    def look(self, key: str, value: Any) -> Look:
        """Return how the series *value* of *key* is drawn: the same in every picture of this study."""
        return self._looks[key][identity(value)]

    def along(self, key: str | None) -> list[tuple[Any, list[PointResult]]]:
        """Return the points by their value of *key*, in its order; all of them under None without a key."""
        if key is None:
            return [(None, list(self.points))]
        grouped: dict[str, list[PointResult]] = {}
        for point in self.points:
            grouped.setdefault(identity(value_of(point, key)), []).append(point)
        return [(value, grouped[text]) for value in self.values[key] if (text := identity(value)) in grouped]

    def slices(self, keys: Sequence[str]) -> "Iterator[tuple[dict[str, Any], Arrangement]]":
        """Yield (fixed values, the points that have them) for every combination of *keys* that occurs.

        The parts keep the looks and orders of the whole.
        """
        combinations: dict[str, tuple[dict[str, Any], list[PointResult]]] = {}
        for point in self.points:
            fixed = {key: value_of(point, key) for key in keys}
            combinations.setdefault(identity(fixed), (fixed, []))[1].append(point)
        ranks = {key: {identity(value): rank for rank, value in enumerate(self.values[key])} for key in keys}
        for fixed, points in sorted(
            combinations.values(), key=lambda one: [ranks[key][identity(one[0][key])] for key in keys]
        ):
            yield fixed, replace(self, points=tuple(points)).looking_like(self)

    def only(self, fixed: Mapping[str, Any]) -> "Arrangement":
        """Return the points that have these values, with looks and orders unchanged."""
        return self.among({key: [value] for key, value in fixed.items()})

    def among(self, chosen: Mapping[str, Sequence[Any]]) -> "Arrangement":
        """Return the points that have one of some values of each key, with looks and orders unchanged."""
        known = {key: {identity(value) for value in values} for key, values in chosen.items()}
        inside = tuple(
            point
            for point in self.points
            if all(identity(value_of(point, key)) in values for key, values in known.items())
        )
        return replace(self, points=inside).looking_like(self)

    def looking_like(self, other: "Arrangement") -> "Arrangement":
        """Return itself with the looks of *other*, of which it is a part."""
        self.__dict__["_looks"] = other._looks  # where a cached property keeps its value
        return self


def arrange(study: StudyResult, statistic: Statistic = MEAN, bands: Kind = "auto") -> Arrangement:
    """Return the points of *study* that have a finished run, and the keys that distinguish them.

    Points that differ in nothing but the seed are one point with more replications.

    Args:
        study: The study.
        statistic: The statistic over the replications of a point.
        bands: The kind of the intervals.
    """
    finished = _with_class_names([point for point in study.points if point.finished], parameter_names(study))
    keys = [
        key
        for key in parameter_names(study)
        if key not in NOT_A_POINT and len({identity(value_of(point, key)) for point in finished}) > 1
    ]
    keys = without_case_keys(keys, [[identity(value_of(point, key)) for key in keys] for point in finished])
    grouped: dict[str, list[PointResult]] = {}
    for point in finished:
        grouped.setdefault(identity([value_of(point, key) for key in keys]), []).append(point)
    points = [_merged(group) for group in grouped.values()]
    if bands == "auto":
        metric = main_metric([run_values(point) for point in points])
        bands = "comparison" if statistic.is_mean and means_hide(points, metric) else "mean"
    slot = _slot(points)
    values = {}
    for key in keys:
        found = {identity(value): value for value in (value_of(point, key) for point in points)}
        values[key] = in_order(key, list(found.values()), slot)
    ordered = _series_first(keys, values)
    ranks = {key: [identity(value) for value in values[key]] for key in keys}
    points.sort(key=lambda point: [ranks[key].index(identity(value_of(point, key))) for key in ordered])
    missing = tuple(point for point in study.points if not point.finished)
    values = {key: values[key] for key in ordered}
    return Arrangement(study.name, tuple(ordered), tuple(points), values, statistic, missing, bands)


def _with_class_names(points: Sequence[PointResult], keys: Sequence[str]) -> list[PointResult]:
    """Return *points* with user classes shown by their names, where these are distinct."""
    found = list(points)
    for key in keys:
        names = class_names([point.value(key) for point in points])
        for index, point in enumerate(found):
            value = point.value(key)
            if isinstance(value, str) and value in names:
                found[index] = replace(point, parameters={**point.parameters, key: names[value]})
    return found


def _merged(points: Sequence[PointResult]) -> PointResult:
    """Return *points* as one, each of their runs once."""
    if len(points) == 1:
        return points[0]
    pairs = [(key, run) for point in points for key, run in zip(point.keys, point.runs, strict=True)]
    runs = dict(sorted(pairs, key=lambda pair: (-1, -1) if pair[1] is None else (pair[1].seed, pair[1].replication)))
    return replace(points[0], keys=list(runs), runs=list(runs.values()))


def _slot(points: Sequence[PointResult]) -> str:
    """Return the real length of a slot, which a mixture of slots and seconds on one axis needs."""
    slots = {identity(value): value for value in (point.value("run.slot") for point in points)}
    only = next(iter(slots.values())) if len(slots) == 1 else None
    return only if isinstance(only, str) else "1 ms"


def _series_first(keys: Sequence[str], values: dict[str, list[Any]]) -> list[str]:
    """Put the key of the series first: labels, non-numeric before numeric, the fewest values, the later key.

    A number with many values belongs on an axis.
    """

    def rank(place: int) -> tuple[int, bool, int, int]:
        key = keys[place]
        numeric = scale(key, values[key]) is not None
        first = {CASE: 0, "topology.family": 1}.get(key, 2)
        return (first, numeric, len(values[key]) if numeric else place, -place)

    return [keys[place] for place in sorted(range(len(keys)), key=rank)]


def titled(values: dict[str, Any]) -> str:
    """Return the values of some keys as the title of a panel: ``ring, latency 5 slots``; words stand for themselves."""
    there = {key: value for key, value in values.items() if value != ABSENT}
    names = dict(zip(values, short_names(list(values)), strict=True))

    def text(key: str, value: Any) -> str:
        stands_alone = isinstance(value, str) and shown(value)[:1].isalpha()
        plain = key == CASE or stands_alone
        return shown(value) if plain else f"{names[key].replace('_', ' ')} {with_unit(key, value)}"

    return ", ".join(text(key, value) for key, value in there.items())


def described(values: dict[str, Any]) -> str:
    """Return the values of some keys in words, as a title lists them; empty without any."""
    return ", ".join(f"{name(key)}: {with_unit(key, value)}" for key, value in values.items() if value != ABSENT)


def evenly(items: Sequence[Any], most: int) -> list[Any]:
    """Return at most *most* of *items*, evenly spread, the first and the last among them."""
    if len(items) <= most or most < 2:
        return list(items[:most])
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]


def metric_names(arrangement: Arrangement) -> list[str]:
    """Return the metrics of the runs, and the figures of the topology."""
    runs = [run for point in arrangement.points for run in point.finished]
    metrics = [name for run in runs for name in run.metrics]
    return list(dict.fromkeys([*metrics, *(name for name in TOPOLOGY if any(name in run.topology for run in runs))]))
