"""From loose runs to the points of a sweep, their series and their colours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.plots.style import Look, looks
from netbandit.plots.values import Scale, identity, in_order, name, scale, shown
from netbandit.results.store import lookup
from netbandit.results.summary import TOPOLOGY
from netbandit.simulation.result import RunResult

_ABSENT = "–"
"""What stands for the value of a key that a point does not have."""

_NOT_A_POINT = frozenset({"name", "description", "extends", "run.seed", "run.replications"})
"""Keys in which two replications of one point may differ."""


@dataclass(frozen=True)
class Point:
    """One point of a sweep with its replications.

    Attributes:
        values: The value of each key that varies.
        runs: The replications, by seed and number.
    """

    values: dict[str, Any]
    runs: tuple[RunResult, ...]

    def samples(self, metric: str) -> NDArray[np.float64]:
        """Return what the replications say of *metric*, shape (replications that know it,).

        ``diameter``, ``radius``, ``agents`` and ``links`` are looked up among the facts of the topology.
        """
        found = [run.metrics.get(metric, run.topology.get(metric)) for run in self.runs]
        return np.array([value for value in found if value is not None], dtype=np.float64)


@dataclass(frozen=True)
class Arrangement:
    """The points of one scenario, in the order of its sweep, and what tells them apart.

    Attributes:
        name: The scenario's name.
        keys: The keys that vary, the series' key first.
        points: The points, ordered by the values of the keys.
        choices: The values of each key, in order.
    """

    name: str
    keys: tuple[str, ...]
    points: tuple[Point, ...]
    choices: dict[str, list[Any]]

    @property
    def series(self) -> str | None:
        """The key whose values are the series: told apart by colour, marker and dashes in every picture."""
        return self.keys[0] if self.keys else None

    def scale(self, key: str) -> Scale | None:
        """Return the values of *key* as numbers on an axis, or None if they are no numbers."""
        return scale(key, self.choices[key], self._slot)

    @property
    def _slot(self) -> str:
        slots = {identity(lookup(run.resolved, "run.slot")) for point in self.points for run in point.runs}
        only = lookup(self.points[0].runs[0].resolved, "run.slot") if len(slots) == 1 else None
        return only if isinstance(only, str) else "1 ms"

    @cached_property
    def _looks(self) -> dict[str, dict[str, Look]]:
        table: dict[str, dict[str, Look]] = {}
        for key, values in self.choices.items():
            drawn = looks(len(values), ordered=self.scale(key) is not None)
            table[key] = {identity(value): look for value, look in zip(values, drawn, strict=True)}
        return table

    def look(self, key: str, value: Any) -> Look:
        """Return how the series *value* of *key* is drawn: the same in every picture of this arrangement."""
        return self._looks[key][identity(value)]

    def along(self, key: str | None) -> list[tuple[Any, list[Point]]]:
        """Return the points by their value of *key*, in its order; all of them under None without a key."""
        if key is None:
            return [(None, list(self.points))]
        grouped = [
            (value, [point for point in self.points if identity(point.values[key]) == identity(value)])
            for value in self.choices[key]
        ]
        return [(value, points) for value, points in grouped if points]

    def slices(self, keys: Sequence[str]) -> "Iterator[tuple[dict[str, Any], Arrangement]]":
        """Yield (fixed values, the points that have them) for every combination of *keys* that occurs.

        The parts keep the looks and orders of the whole.
        """
        combinations: dict[str, dict[str, Any]] = {}
        for point in self.points:
            fixed = {key: point.values[key] for key in keys}
            combinations.setdefault(identity(fixed), fixed)
        ranks = {key: [identity(value) for value in self.choices[key]] for key in keys}
        for fixed in sorted(
            combinations.values(), key=lambda fixed: [ranks[key].index(identity(fixed[key])) for key in keys]
        ):
            inside = tuple(
                point
                for point in self.points
                if all(identity(point.values[key]) == identity(value) for key, value in fixed.items())
            )
            yield fixed, replace(self, points=inside)


def arrange(results: Sequence[RunResult]) -> list[Arrangement]:
    """Return one arrangement per scenario name, in the order in which the names first appear.

    Runs whose resolved scenarios agree in all but the seed are replications of one point. What varies are the keys of
    ``parameters`` that have several values; where these do not tell two points apart (the scenario was edited between
    two runs into one folder), the keys of the resolved scenario that do are added.
    """
    by_name: dict[str, list[RunResult]] = {}
    for result in results:
        by_name.setdefault(result.name, []).append(result)
    return [_arranged(name, runs) for name, runs in by_name.items()]


def _arranged(name: str, results: Sequence[RunResult]) -> Arrangement:
    grouped: dict[str, list[RunResult]] = {}
    for result in results:
        grouped.setdefault(identity(_essence(result.resolved)), []).append(result)
    groups = list(grouped.values())
    parameters = list(dict.fromkeys(key for result in results for key in result.parameters))
    keys = [key for key in parameters if key not in _NOT_A_POINT and _differs(groups, key)]
    if len({identity([_value(group[0], key) for key in keys]) for group in groups}) < len(groups):
        flat = [_flattened(group[0].resolved) for group in groups]
        others = dict.fromkeys(key for keys_of_one in flat for key in keys_of_one)
        keys += [
            key
            for key in others
            if key not in keys and key not in _NOT_A_POINT and len({identity(one.get(key)) for one in flat}) > 1
        ]
    points = [
        Point(
            {key: _value(group[0], key) for key in keys},
            tuple(sorted(group, key=lambda result: (result.seed, result.replication))),
        )
        for group in groups
    ]
    slot = lookup(results[0].resolved, "run.slot")
    choices = {key: _distinct(key, points, slot if isinstance(slot, str) else "1 ms") for key in keys}
    ordered = _series_first(keys, choices)
    ranks = {key: [identity(value) for value in choices[key]] for key in keys}
    points.sort(key=lambda point: [ranks[key].index(identity(point.values[key])) for key in ordered])
    return Arrangement(name, tuple(ordered), tuple(points), {key: choices[key] for key in ordered})


def _series_first(keys: Sequence[str], choices: dict[str, list[Any]]) -> list[str]:
    """Put the key of the series first: what is no number before what is, then the fewest values, the later key first.

    A number with many values belongs on an axis.
    """

    def rank(place: int) -> tuple[bool, bool, int, int]:
        key = keys[place]
        numeric = scale(key, choices[key]) is not None
        return (key != "topology.family", numeric, len(choices[key]) if numeric else place, -place)

    return [keys[place] for place in sorted(range(len(keys)), key=rank)]


def _distinct(key: str, points: Sequence[Point], slot: str) -> list[Any]:
    values = {identity(point.values[key]): point.values[key] for point in points}
    return in_order(key, list(values.values()), slot)


def _differs(groups: Sequence[Sequence[RunResult]], key: str) -> bool:
    return len({identity(_value(group[0], key)) for group in groups}) > 1


def _value(result: RunResult, key: str) -> Any:
    return result.parameters[key] if key in result.parameters else lookup(result.resolved, key, _ABSENT)


def _essence(resolved: dict[str, Any]) -> dict[str, Any]:
    flat = _flattened(resolved)
    return {key: value for key, value in flat.items() if key not in _NOT_A_POINT}


def _flattened(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and "uniform" not in value:
            flat.update(_flattened(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def described(values: dict[str, Any]) -> str:
    """Return the values of some keys in words, as a title lists them; empty without any."""
    return ", ".join(f"{name(key)}: {shown(value)}" for key, value in values.items())


def evenly(items: Sequence[Any], most: int) -> list[Any]:
    """Return at most *most* of *items*, evenly spread, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]


def metric_names(arrangement: Arrangement) -> list[str]:
    """Return the metrics that some run knows, and the facts of the topology."""
    runs = [run for point in arrangement.points for run in point.runs]
    metrics = [name for run in runs for name in run.metrics]
    return list(dict.fromkeys([*metrics, *(name for name in TOPOLOGY if any(name in run.topology for run in runs))]))
