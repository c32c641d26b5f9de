"""The identity of a study, independent of its name: whether points belong to a folder's study, and how both are united.

A study is its scenario with all defaults filled in, without name, description, number of replications and swept keys,
together with the content of files and user classes, and the seed. Other values of swept keys belong to the same study,
and so does a newly swept key if its former value is among its values.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netbandit.results.run_keys import deciding_keys, run_key
from netbandit.results.safe_files import canonical
from netbandit.results.study_result import PointResult, StudyPlan, StudyResult
from netbandit.simulation.sweep_point import Point
from netbandit.util.key_paths import lookup

_CASES, _LABEL = "cases", "label"
_KINDS = {"topology": "family"}
"""Tables whose part is named by a key other than ``kind``."""

_MOST_NAMED = 4
_ABSENT = object()

Facts = dict[tuple[str, str], dict[str, dict[str, int]]]
"""For each table (and kind of part, where kinds are swept): how many points have each value of each key."""


def swept_keys(written: Mapping[str, Any] | None, points: Sequence[Point]) -> set[str]:
    """Return the keys that a scenario sweeps, cases included: those it declares, or in which its points differ."""
    sweep = (written or {}).get("sweep")
    sweep = sweep if isinstance(sweep, Mapping) else {}
    cases = sweep.get(_CASES, ())
    found = {key for key in sweep if key != _CASES}
    for case in cases if isinstance(cases, list | tuple) else ():
        found |= {key for key, _ in _leaves(case) if key != _LABEL}
    for key in {key for point in points for key in point.parameters}:
        if len({canonical(point.parameters.get(key)) for point in points}) > 1:
            found.add(key)
    return found


def differences(there: StudyResult, points: Sequence[Point], written: Mapping[str, Any] | None) -> list[str]:
    """Return how the study of *points* differs from the study *there*, in words; empty if they belong to it.

    Args:
        there: The study of a folder; only points with at least one run count.
        points: The points to run, at least one.
        written: Their scenario as written.
    """
    before: list[PointResult] = [point for point in there.points if point.finished]
    swept_before, swept_now = swept_keys(there.written, there.points), swept_keys(written, points)
    swept = swept_before | swept_now
    files = _same_files(before, points)
    theirs, ours = _facts(before, swept), _facts(points, swept)
    found = []
    for name, kind in sorted(theirs.keys() & ours.keys()):
        sides = theirs[name, kind], ours[name, kind]
        changed = []
        for key in sorted(sides[0].keys() | sides[1].keys()):
            values = [facts.get(key, {}) for facts in sides]
            derived = any(len(one) > 1 for one in values)  # it follows from a swept key
            if not derived and not _is_swept(key, swept) and key not in files and values[0].keys() != values[1].keys():
                changed.append((key, f"{key} is {_said(values[0])} there and {_said(values[1])} here"))
        other_kind = [text for key, text in changed if key == _kind_key(name)]  # its other keys depend on it
        found += other_kind or [text for _, text in changed]
    for key in sorted(swept_now - swept_before):
        known = {canonical(lookup(point.resolved, key)) for point in points}
        bases = dict.fromkeys(canonical(lookup(point.resolved, key)) for point in before)
        found += [
            f"{key} is {_word(value)} there, which is none of its values here" for value in bases if value not in known
        ]
    return found


def same_points_made_otherwise(there: StudyResult, points: Sequence[PointResult]) -> list[str]:
    """Return which *points* are those of a folder, but with another file or class behind them, in words."""
    known = {_text(point): point.keys[0] for point in there.points if point.finished}
    found = [point for point in points if known.get(_text(point), point.keys[0]) != point.keys[0]]
    return ["a file or a class that they name has not the same content"] if found else []


def in_one_line(found: Sequence[str]) -> str:
    """Return the first differences as one line."""
    more = f", and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return "; ".join(found[:_MOST_NAMED]) + more


def united(there: StudyResult | None, plan: StudyPlan, done: set[str]) -> tuple[StudyPlan, tuple[str, ...]]:
    """Return the points of a folder together with those to run into it, as one study.

    Each point has a value for every key that varies, where its part has that key. The scenario as written is the one
    that covers most of them.

    Args:
        there: The study of the folder, to which the points belong; None if there is none.
        plan: The study to run.
        done: The keys of runs that have a folder.

    Returns:
        The study, and the runs that it leaves out because a file or a class behind them has changed, a line each.
    """
    points, keys = plan.points, plan.keys
    all_keys = [list(runs) for runs in keys]
    if there is None:  # a new folder
        return plan, ()
    numbers = {runs[0]: number for number, runs in enumerate(keys) if runs}
    ours: set[str] = set()
    kept: list[PointResult] = []
    replaced = 0
    for point in there.points:
        number = numbers.get(point.keys[0]) if point.keys else None
        if number is not None:  # a point of the plan: it stays in its place there
            more = [key for key in point.keys[len(all_keys[number]) :] if key in done]
            if more:  # the folder has more replications of it than the plan: keep them
                all_keys[number] = list(point.keys)
        elif point.finished:  # a point that the plan does not have
            ours = ours or {_text(one) for one in points}
            if _text(point) in ours or _is_stale(point, points):  # same scenario, other content of a file or a class
                replaced += 1
            else:
                kept.append(point)
    lines = []
    if replaced:
        what = ", ".join(sorted({key for point in points for key in (*point.inputs, *point.identities)})) or "a part"
        lines.append(f"{replaced} of the points that were here are replaced: what {what} names has changed since")
    if not kept:  # the plan covers the folder
        return replace(plan, keys=all_keys), tuple(lines)
    # If none is new, the folder's scenario still covers all points.
    known = {point.keys[0] for point in there.points if point.keys}
    whole = there.written if numbers.keys() <= known else plan.written
    together = [*kept, *points]
    # Every point gets a value for each key that varies in the whole, in one order.
    names = list(dict.fromkeys(name for point in together for name in point.parameters))
    inputs = {name: Path() for name in there.inputs}  # for existing results only the keys are known
    filled = [
        replace(
            point,
            parameters={name: value for name in names if (value := point.value(name, _ABSENT)) is not _ABSENT},
        )
        for point in together
    ]
    filled = [replace(point, inputs=inputs) if isinstance(point, PointResult) else point for point in filled]
    all_keys = [*(list(point.keys) for point in kept), *all_keys]
    return StudyPlan(plan.name, filled, all_keys, whole), tuple(lines)


def _facts(points: Sequence[Point], swept: set[str]) -> Facts:
    found: Facts = {}
    numbers: dict[tuple[str, str], int] = {}
    for point in points:
        tables = deciding_keys(Point({}, point.resolved))
        for name, table in tables.items():
            kind_key = _kind_key(name)
            by_kind = isinstance(table, Mapping) and (name in swept or kind_key in swept)
            group = name, str(lookup(tables, kind_key)) if by_kind else ""
            numbers[group] = numbers.get(group, 0) + 1
            for key, value in _leaves({name: table}):
                values = found.setdefault(group, {}).setdefault(key, {})
                text = canonical(value)
                values[text] = values.get(text, 0) + 1
    for group, keys in found.items():
        for values in keys.values():
            absent = numbers[group] - sum(values.values())
            if absent:
                values[canonical(None)] = values.get(canonical(None), 0) + absent
    return found


def _kind_key(table: str) -> str:
    """Return the key that names the kind of a table's part."""
    return f"{table}.{_KINDS.get(table, 'kind')}"


def _is_swept(key: str, swept: set[str]) -> bool:
    return any(key == one or key.startswith(f"{one}.") or one.startswith(f"{key}.") for one in swept)


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _same_files(before: Sequence[PointResult], points: Sequence[Point]) -> set[str]:
    """Return the keys that name files of equal content, under any path."""
    for theirs in before[:1]:
        for ours in points:
            if ours.inputs and _is_made_with(theirs, ours.inputs, _classes_of(theirs, points)):
                return set(ours.inputs)
    return set()


def _is_stale(point: PointResult, points: Sequence[Point]) -> bool:
    """Return whether the files and classes behind *point* are known and have changed."""
    files = {(key, str(lookup(one.resolved, key))): path for one in points for key, path in one.inputs.items()}
    inputs = {key: path for (key, name), path in files.items() if str(lookup(point.resolved, key)) == name}
    classes = _classes_of(point, points)
    own = [key for key, value in _leaves(point.resolved) if key.endswith((".kind", ".family")) and ":" in str(value)]
    if not (inputs or classes) or any(key not in classes for key in own):
        return False
    return not _is_made_with(point, inputs, classes)


def _classes_of(point: PointResult, points: Sequence[Point]) -> dict[str, str | None]:
    """Return the known identities of the classes that *point* names."""
    known = {(key, str(lookup(one.resolved, key))): text for one in points for key, text in one.identities.items()}
    return {key: text for (key, name), text in known.items() if str(lookup(point.resolved, key)) == name}


def _is_made_with(point: PointResult, inputs: Mapping[str, Path], classes: Mapping[str, str | None]) -> bool:
    run = point.finished[0]
    return run_key(Point({}, point.resolved, inputs, classes), run.replication) == _key_of(point)


def _key_of(point: PointResult) -> str:
    """Return the key of the first finished run of *point*."""
    return next(key for key, run in zip(point.keys, point.runs, strict=True) if run is not None)


def _text(point: Point) -> str:
    return canonical(deciding_keys(Point({}, point.resolved)))


def _said(values: Mapping[str, int]) -> str:
    return _word(next(iter(values), canonical(None)))


def _word(text: str) -> str:
    return "not set" if text == "null" else text
