"""Turns a scenario as written into runnable points, or reports all of its mistakes at once."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from netbandit.bandits.bandit import Watch
from netbandit.checks.exploration import unequal_learners
from netbandit.checks.ineffective_keys import LinkKey, ineffective_key_notes
from netbandit.checks.point_check import PointCheck, is_large
from netbandit.network.topology import Topology, TopologyError
from netbandit.parts.registry import BUILT_IN, kind_key, named_parts, own_module, with_own_code
from netbandit.parts.settings import KeyPath, Problem
from netbandit.scenario import sweep
from netbandit.scenario.load import Document
from netbandit.scenario.schema import json_schema
from netbandit.scenario.sweep import Combination
from netbandit.simulation.replication import RunnablePoint
from netbandit.user_code.errors import ReturnedError, complaint, place
from netbandit.user_code.fingerprint import UnstableError
from netbandit.user_code.loading import kept_alive
from netbandit.util.text import each_once, pluralize


@dataclass(frozen=True)
class RunPlan:
    """A checked scenario, ready to run.

    Attributes:
        document: The scenario as it was written.
        points: The points of its sweep, in order; a single point without a sweep.
        notes: Settings that are valid but have no effect or are probably unintended, one line each.
        unchecked: The number of points checked only in part, because a module they name was not imported; these cannot
            be run.
    """

    document: Document
    points: list[RunnablePoint]
    notes: list[str]
    unchecked: int = 0


def check(document: Document, watch: Watch = lambda what, done, total: None, *, own_code: bool = True) -> RunPlan:
    """Report every mistake of a scenario, or build its parts.

    Args:
        document: The scenario as it was written.
        watch: Called with the progress of reading large files.
        own_code: Whether to import user modules and packages that provide parts.

    Raises:
        ScenarioError: The scenario has mistakes; the error lists all of them.
    """
    with with_own_code(own_code):
        return _checked(document, watch, own_code)


def _checked(document: Document, watch: Watch, own_code: bool) -> RunPlan:
    """See `check`."""
    problems = sweep.problems(document.data)
    points: list[RunnablePoint] = []
    notes: dict[Problem, list[Combination]] = {}
    graphs: dict[str, Topology | TopologyError] = {}
    identities: dict[type, str | UnstableError] = {}
    idle_notes: list[Problem] = []
    idle: dict[KeyPath, list[Problem]] = {}
    wrong: dict[Problem, list[Combination]] = {}
    link_keys: list[tuple[Combination, list[LinkKey]]] = []
    unchecked: dict[Problem, None] = {}
    checks = [
        (PointCheck(document, combination, graphs, identities, watch, own_code), combination)
        for combination in sweep.expand(document.data, document.parameters)
    ]
    combinations = [combination for _, combination in checks]
    count = len(checks)
    undrawn = [_guarded(checked, checked.made) for checked, _ in checks]
    # Mistakes found so far are reported before any large graph is drawn.
    mistaken = bool(problems) or any(checked.problems for checked, _ in checks)
    for (checked, combination), point in zip(checks, undrawn, strict=True):
        made = None
        if point is not None and not (mistaken and is_large(point)):
            made = _guarded(checked, partial(checked.drawn, point))
        for problem in dict.fromkeys(map(combination.origin, checked.problems)):
            wrong.setdefault(problem, []).append(combination)
        for note in dict.fromkeys(checked.notes):  # once a point
            notes.setdefault(note, []).append(combination)
        idle_notes += map(combination.origin, checked.never_reused)
        unchecked.update(dict.fromkeys(map(combination.origin, checked.unchecked)))
        for problem in checked.idle:
            idle.setdefault(problem[0], []).append(combination.origin(problem))
        if made is not None:
            points.append(made)
            link_keys.append((combination, checked.link_keys))
    for (path, text), having in wrong.items():
        whole = len(having) == count or path[:1] == ("sweep",)  # a value of the sweep names the points itself
        problems.append((path, text if whole else sweep.named(document.data, combinations, having, text)))
    for found in idle.values():
        varied = dict.fromkeys((sweep.swept_key(path), text) for path, text in found)
        if len(found) == count:
            problems += [(path, f"{text}: it would change nothing") for path, text in varied]
        else:
            idle_notes += [
                (path, f"{text}: there, points that differ in nothing else have equal results") for path, text in varied
            ]
    if problems:
        raise document.error(problems)
    idle_notes += ineffective_key_notes(document, link_keys)
    for differ in unequal_learners([point.resolved["learner"] for point in points]):
        swept = document.data.get("sweep", {})
        places = [("sweep", key) for key in ("learner.kind", sweep.CASES) if key in swept]
        idle_notes.append((next(iter(places), ("learner", "kind")), differ))
    return RunPlan(
        document,
        points,
        each_once(
            document.error([*document.notes, *unchecked, *_of_points(document, notes, combinations), *idle_notes]).lines
        ),
        count - len(points),
    )


_UNUSED = re.compile(r"\b(has|have) no effect\b|\b(is|are) (not |never )?(used|ignored)\b|^not used\b")
"""What notes say of keys that a point does not use; the other points of a sweep do."""

_NUMBER = re.compile(r"\d+([.,]\d+)*")


def _of_points(
    document: Document, notes: Mapping[Problem, list[Combination]], every: Sequence[Combination]
) -> Iterator[Problem]:
    """Yield *notes*; those on some points with which points, and of those that differ in numbers alone the first."""
    alike: dict[tuple[Problem, int], list[Problem]] = {}
    told: Counter[tuple[Problem, int]] = Counter()
    for (path, text), points in notes.items():
        words = path, _NUMBER.sub("", text)
        # Of notes that a point has beside each other, as on two arms, each is told.
        rank = max(told[words, id(point)] for point in points)
        told.update((words, id(point)) for point in points)
        alike.setdefault((words, rank), []).append((path, text))
    for first, *others in alike.values():
        path, text = first
        more = sum(len(notes[other]) for other in others)
        if len(notes[first]) == len(every):
            yield first
        elif len(notes[first]) + more >= len(every) or not _UNUSED.search(text):
            place, _ = notes[first][0].origin(first)
            named = sweep.named(document.data, every, notes[first], text)
            numbers = f"; with other numbers at {pluralize(more, 'more point')}" if more else ""
            yield sweep.swept_key(place), f"{named}{numbers}"


def _guarded(checked: PointCheck, step: Callable[[], RunnablePoint | None]) -> RunnablePoint | None:
    """Return the point that *step* makes; an exception raised by user code becomes a problem."""
    try:
        with kept_alive():
            return step()
    except KeyboardInterrupt:
        raise
    except ReturnedError as error:
        checked.problems.append(((error.table, kind_key(error.table)), str(error)))
        return None
    except BaseException as error:
        kinds = {table: checked.kind(table) for table in BUILT_IN}
        own = {table: module for table, kind in kinds.items() if (module := own_module(table, kind)) is not None}
        tables = {module.partition(".")[0]: table for table, module in own.items()}
        where = place(error, frozenset(tables))
        if not own:
            raise
        file = Path(where[0]) if where is not None else Path()
        # If our code fails, a value returned by user code must be the cause.
        found = next((tables[name] for name in tables if name in (file.stem, *file.parts)), next(iter(own)))
        text = f"{kinds[found]} fails: {complaint(error, frozenset(tables))}"
        checked.problems.append(((found, kind_key(found)), text))
        return None


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files, with all parts registered by name."""
    return json_schema({table: {one.kind: one.found for one in named_parts(table) if one.found} for table in BUILT_IN})
