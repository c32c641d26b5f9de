"""The keys that distinguish the points of a study, their labels, and which points a statement holds for."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from netbandit.results.numbers import cell
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.util.key_paths import CASE
from netbandit.util.which_rows import telling_values
from netbandit.util.wording import did_you_mean

NOT_A_POINT = frozenset({"name", "description", "extends", "run.seed", "run.replications"})
"""Keys in which two replications of one point may differ."""


def parameter_names(study: StudyResult) -> list[str]:
    """Return the keys varied by the sweep or ``--set``, in order."""
    return list(dict.fromkeys(key for point in study.points for key in point.parameters))


def varied(study: StudyResult) -> list[str]:
    """Return the parameters that distinguish the points."""
    return [key for key in parameter_names(study) if len({cell(point.value(key)) for point in study.points}) > 1]


def distinguishing(study: StudyResult) -> list[str]:
    """Return the parameters that distinguish the points for a reader: a labelled case replaces the keys it sets."""
    keys = varied(study)
    return without_case_keys(keys, [[cell(point.value(key)) for key in keys] for point in study.points])


def without_case_keys(keys: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return *keys* without those determined by the label of the case, which are all keys that a case sets.

    Args:
        keys: Some parameters.
        rows: Their values at each point.
    """
    if CASE not in keys:
        return list(keys)
    place = keys.index(CASE)
    cases = {row[place] for row in rows}
    return [
        key
        for number, key in enumerate(keys)
        if key == CASE or len({(row[place], row[number]) for row in rows}) > len(cases)
    ]


def short_names(keys: Sequence[str], beside: Collection[str] = ()) -> list[str]:
    """Return the last word of each dotted key, or as many words as are needed to make the labels unique.

    The kind of a part is labelled by the part: ``protocol`` for ``protocol.kind``.

    Args:
        keys: The keys.
        beside: Other names that no label may be, such as those of metrics.
    """
    names = []
    for key in keys:
        words = key.removesuffix(".kind").split(".")
        count = 1
        while count < len(words) and (
            ".".join(words[-count:]) in beside
            or any(other != key and other.split(".")[-count:] == words[-count:] for other in keys)
        ):
            count += 1
        names.append(".".join(words[-count:]))
    return names


METRICS_ONLY = "--y"
"""The option value that names no key."""


class UnknownNameError(Exception):
    """There is no such key or metric; the text lists the valid ones."""


def resolve(name: str, option: str, keys: Sequence[str], metrics: Sequence[str] = ()) -> str:
    """Return the key or metric named by *name*: itself, or the only key that ends in it.

    Args:
        name: The name as written by the user.
        option: The option that it was given to.
        keys: The allowed keys.
        metrics: The allowed metrics.

    Raises:
        UnknownNameError: There is no match, or several.
    """
    if name in keys or name in metrics:
        return name
    if name == "label" and CASE in keys:  # as a scenario calls it
        return CASE
    ends = [key for key in keys if key.endswith(f".{name}") or key == f"{name}.kind"]
    if len(ends) == 1:
        return ends[0]
    parts = [f"{option}: there is no {name} here"]
    if ends:
        parts = [f"{option}: {name} may be any of {', '.join(ends)}"]
    else:
        parts[0] += did_you_mean(name, [*keys, *metrics])
    if option != METRICS_ONLY:
        parts.append(f"the keys that vary are {', '.join(keys)}" if keys else "no key varies")
    if metrics:
        parts.append(f"the metrics are {', '.join(metrics)}")
    raise UnknownNameError("; ".join(parts))


def alternatives(value: Any) -> tuple[Any, ...]:
    """Return the values that a key may have where points are chosen: those of a list, else *value* alone."""
    return tuple(value) if isinstance(value, list | tuple) and value else (value,)


def points_where(study: StudyResult, where: Mapping[str, str]) -> list[PointResult]:
    """Return the points of *study* with the given values, as shown in tables, of varied keys.

    Raises:
        UnknownNameError: There is no such key or value.
    """
    points = list(study.points)
    for name, text in where.items():
        key = resolve(name, f"{name}={text}", parameter_names(study))
        known = dict.fromkeys(cell(point.value(key)) for point in points)
        if text not in known:
            raise UnknownNameError(f"{name}={text}: {key} has no such value here, only {', '.join(known)}")
        points = [point for point in points if cell(point.value(key)) == text]
    return points


_MOST_NAMED = 3


def which_points(study: StudyResult, points: Sequence[PointResult]) -> str:
    """Return what distinguishes *points* in *study*, such as ``loss = 0.1 or 0.2``; empty if they are all points."""
    finished = [point for point in study.points if point.finished]
    if len(points) == len(finished):
        return ""
    keys = distinguishing(study)
    names = dict(zip(keys, short_names(keys), strict=True))
    rows, some = ([{key: cell(point.value(key)) for key in keys} for point in one] for one in (finished, points))
    telling = telling_values(rows, some)
    if telling:
        return ", ".join(
            f"{names[key]} = {' or '.join(value or 'none' for value in values)}" for key, values in telling.items()
        )
    texts = [", ".join(f"{names[key]} = {value}" for key, value in row.items() if value) for row in some]
    more = f"; and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return f"{len(points)} of {len(finished)} points: {'; '.join(texts[:_MOST_NAMED])}{more}"
