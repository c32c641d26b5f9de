"""Which points of a study something holds for, said by what tells them from the others."""

from collections.abc import Sequence

from netbandit.results.columns import short_names
from netbandit.results.store import PointResult, StudyResult
from netbandit.results.table import cell
from netbandit.results.telling import told_by

_MOST_NAMED = 3


def which_points(study: StudyResult, points: Sequence[PointResult]) -> str:
    """Return what tells *points* from the others of *study*, such as ``loss = 0.1 or 0.2``; nothing if they are all."""
    finished = [point for point in study.points if point.finished]
    if len(points) == len(finished):
        return ""
    keys = told_by(study)
    names = dict(zip(keys, short_names(keys), strict=True))
    values = {key: list(dict.fromkeys(cell(point.value(key)) for point in points)) for key in keys}
    every = {key: {cell(point.value(key)) for point in finished} for key in keys}
    telling = [key for key in keys if set(values[key]) != every[key]]

    def alike(keys: Sequence[str]) -> int:
        return sum(all(cell(point.value(key)) in values[key] for key in keys) for point in finished)

    if telling and alike(telling) == len(points):
        for key in sorted(telling, key=lambda key: ("" not in values[key], -keys.index(key))):  # what needs not be said
            others = [other for other in telling if other != key]
            if others and alike(others) == len(points):
                telling = others
        return ", ".join(f"{names[key]} = {' or '.join(value or 'none' for value in values[key])}" for key in telling)
    texts = [
        ", ".join(f"{names[key]} = {value}" for key in keys if (value := cell(point.value(key)))) for point in points
    ]
    more = f"; and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return f"{len(points)} of {len(finished)} points: {'; '.join(texts[:_MOST_NAMED])}{more}"
