"""``[sweep]``: one scenario for each combination of the values of some keys.

``[[sweep.cases]]`` sets several keys together, where a grid would ask for combinations that cannot be: each case is a
table like a scenario of its own, laid over the rest. Other keys of the sweep are combined with every case. With a
``label`` a case has that name in tables and pictures, and may set no key.
``inherit = false`` drops the sweep of the extended file; ``[[sweep.cases_append]]`` adds to its cases, which
``[[sweep.cases]]`` replaces.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from netbandit.parts.settings import KeyPath, Problem, Raw
from netbandit.parts.validation import UNKNOWN_KEY
from netbandit.scenario.objects import numbered_apart, plain
from netbandit.scenario.one_of import is_another, laid_over
from netbandit.util.key_paths import CASE, lookup
from netbandit.util.which_rows import telling_values
from netbandit.util.wording import quoted, show

MOST_POINTS = 100_000
"""The largest grid."""

CASES = "cases"
"""The key of a sweep whose values are tables of several keys."""

APPEND = "cases_append"
"""The key of a sweep whose cases are added to those of the extended file."""

LABEL = "label"
"""The key of a case that is not a key of the scenario: its name."""

INHERIT = "inherit"
"""The key that says whether the sweep of the extended file is kept; by default it is."""

_MOST_NAMED = 5
"""The most values of a key that a message lists."""

_KEY_PATH = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_FIXED = {
    "run.seed": "replications already have different random numbers: use run.replications",
    "run.replications": "set it once, for all points",
    "schema": "it is the format of the file",
    "name": "it names the folder of all results",
    "description": "it does not change a run",
    "extends": "it is read before the sweep",
    "sweep": "a sweep has no sweep",
}


@dataclass(frozen=True)
class Combination:
    """One combination of the values of a sweep, as written; once checked it becomes a point.

    Attributes:
        parameters: The keys varied by ``--set`` and the sweep: dotted key -> value, as plain text and numbers.
        data: The scenario's tables with these values in their place, without ``sweep``; parts of it are shared with
            other combinations and must not be changed.
        places: Which of the values of each key of the sweep it has, from 0; keys with mistakes are left out.
    """

    parameters: dict[str, Any]
    data: Raw
    places: dict[str, int]
    _written: Raw
    _case: Raw

    def origin(self, problem: Problem) -> Problem:
        """Return a problem of it where that was written: at the value under ``[sweep]`` if that brought it."""
        path, text = problem
        for key, index in self.places.items():
            if key == CASES:
                if any(path[: len(leaf)] == leaf for leaf, _ in _leaves(self._case)) or self._is_whole_in_case(path):
                    called = f"{UNKNOWN_KEY}, a case is called by its {LABEL}"
                    return ("sweep", CASES, index, *path), called if path == (CASE,) else text
                continue
            swept = tuple(key.split("."))
            if path[: len(swept)] == swept:
                unknown = path == swept and text.startswith(UNKNOWN_KEY)
                return (("sweep", key) if unknown else ("sweep", key, index, *path[len(swept) :])), text
            if path == swept[: len(path)] and not isinstance(lookup(self._written, path), Mapping):
                return ("sweep", key), text
        return problem

    def _is_whole_in_case(self, path: KeyPath) -> bool:
        """Return whether a table around *path* is the case's own, and so lacks what the case does not say."""
        for depth in range(1, len(path)):
            before, after = lookup(self._written, path[:depth]), lookup(self._case, path[:depth])
            if not isinstance(after, dict):
                return False
            if not isinstance(before, dict) or is_another(path[:depth], before, after, self._written):
                return True
        return False


def expand(data: Raw, parameters: Mapping[str, Any] | None = None) -> list[Combination]:
    """Return the combinations of the grid, in the order of the file, the last key fastest; without a sweep, one.

    A key in which `problems` finds a mistake is left out, so that the rest can still be checked.

    Args:
        data: The merged tables of a `Document`.
        parameters: The keys changed by ``--set``, part of every point's parameters.
    """
    # A mistake inside one case does not hide mistakes of others.
    sweep = data.get("sweep")
    no_cases = isinstance(sweep, dict) and CASES in sweep and not are_cases(sweep[CASES])
    wrong = {path[1] for path, _ in problems(data) if len(path) > 1 and (path[1] != CASES or no_cases)}
    sweep = {key: values for key, values in sweep.items() if key not in wrong} if isinstance(sweep, dict) else {}
    if math.prod(map(len, sweep.values())) > MOST_POINTS:
        sweep = {key: values[:1] for key, values in sweep.items()}
    written = {key: value for key, value in data.items() if key != "sweep"}
    shown = {key: numbered_apart(values) for key, values in sweep.items()}
    combinations = []
    for indices in itertools.product(*(range(len(values)) for values in sweep.values())):
        point = written
        varied = plain(parameters or {})
        case: Raw = {}
        for (key, values), index in zip(sweep.items(), indices, strict=True):
            if key == CASES:
                case = {name: value for name, value in values[index].items() if name != LABEL}
                entry = shown[key][index]
                if LABEL in entry:
                    varied[CASE] = entry[LABEL]
                point = laid_over(point, case)
                varied |= {".".join(path): value for path, value in _leaves(entry) if path != (LABEL,)}
                continue
            point = _with(point, key.split("."), values[index])
            varied[key] = shown[key][index]
        combinations.append(Combination(varied, point, dict(zip(sweep, indices, strict=True)), written, case))
    return combinations


def swept_key(path: KeyPath) -> KeyPath:
    """Return the key of the sweep in place of one of its values; any other path, and that of a case, as it is."""
    return path[:2] if path[0] == "sweep" and path[1] != CASES else path


def named(data: Raw, every: Sequence[Combination], having: Sequence[Combination], text: str) -> str:
    """Return a *text* about some points with the values by which they are told from the others, or how many they are.

    Args:
        data: The merged tables.
        every: All combinations of its sweep.
        having: Those that it is about.
        text: What holds there.
    """
    telling = telling_values([one.places for one in every], [one.places for one in having])
    facts = []
    for key, places in (telling or {}).items():
        shown = [_shown(data["sweep"][key][place], place) for place in sorted(places)]
        more = [f"{len(shown) - _MOST_NAMED} more"] if len(shown) > _MOST_NAMED else []
        facts.append(f"{'case' if key == CASES else f'{key} ='} {' or '.join([*shown[:_MOST_NAMED], *more])}")
    return f"{text} (in the sweep: {', '.join(facts) or f'at {len(having)} of {len(every)} points'})"


def _shown(value: Any, place: int) -> str:
    """Return a value of a sweep, or what a list or a table is called: its label, or its number."""
    if isinstance(value, dict):
        return show(value.get(LABEL, place + 1))
    return f"value {place + 1}" if isinstance(value, list) else show(value)


def problems(data: Raw) -> list[Problem]:
    """Return the mistakes of the sweep itself: its keys, its lists and its size."""
    sweep = data.get("sweep", {})
    if not isinstance(sweep, dict):
        return [(("sweep",), f"must be a table of dotted keys, each with a list of values, not {show(sweep)}")]
    found: list[Problem] = []
    for key, values in sweep.items():
        path = ("sweep", key)
        if key == INHERIT:
            found.append((path, f"must be true or false, not {show(values)}"))
            continue
        if key == CASES:
            found += _problems_of_cases(path, values, sweep)
            continue
        if key == APPEND:  # the added cases are included already
            none = "needs cases to add to, in an extended file or in this one; if there are none, write [[sweep.cases]]"
            found += [(path, none)] if are_cases(values) else _no_cases(path, values)
            continue
        if not _KEY_PATH.fullmatch(key):
            found.append((path, "must be the dotted key path of a key of the scenario, such as topology.agents"))
            continue
        reason = _FIXED.get(key) or (_FIXED["sweep"] if key.startswith("sweep.") else None)
        if reason:
            found.append((path, f"cannot be swept, {reason}"))
        outer = next((other for other in sweep if key.startswith(f"{other}.")), None)
        if outer is not None:
            found.append((path, f"must not be swept inside {quoted(outer)}, which is swept itself"))
        if not isinstance(values, list) or not values:
            found.append((path, f"must be a list of one or more values, not {show(values)}"))
        else:
            found += _repetitions(path, values)
    if not found and math.prod(map(len, sweep.values())) > MOST_POINTS:
        size = math.prod(map(len, sweep.values()))
        found.append((("sweep",), f"must have at most {MOST_POINTS} combinations, not {size}"))
    return found


def are_cases(value: Any) -> bool:
    """Return whether a value is a list of tables of which none is empty."""
    return isinstance(value, list) and len(value) > 0 and all(isinstance(case, dict) and case for case in value)


def _no_cases(path: KeyPath, cases: Any) -> list[Problem]:
    """Return the mistakes in values that should be tables: those that are none, else those that are empty."""
    header = ".".join(map(str, path))
    if isinstance(cases, list) and cases and all(isinstance(case, dict) for case in cases):
        text = f"is empty: a case [[{header}]] must set one or more keys, or have a {LABEL}"
        return [((*path, index), text) for index, case in enumerate(cases) if not case]
    return [(path, f"must be tables [[{header}]], each with one or more keys to set, not {show(cases)}")]


def _problems_of_cases(path: KeyPath, cases: Any, sweep: Raw) -> list[Problem]:
    if not are_cases(cases):
        return _no_cases(path, cases)
    found = _repetitions(path, [{key: value for key, value in case.items() if key != LABEL} for case in cases])
    found += _problems_of_labels(path, cases)
    for index, case in enumerate(cases):
        for leaf, _ in _leaves(case):
            if leaf[0] == LABEL:
                continue
            key = ".".join(leaf)
            reason = _FIXED.get(key) or _FIXED.get(leaf[0])
            if reason:
                found.append(((*path, index, *leaf), f"cannot be swept, {reason}"))
            if key in sweep:
                found.append(((*path, index, *leaf), f"must not be set by a case, {quoted(key)} is swept itself"))
    return found


def _problems_of_labels(path: KeyPath, cases: Sequence[Raw]) -> list[Problem]:
    labels = [case.get(LABEL) for case in cases]
    if not any(LABEL in case for case in cases):
        return []
    found: list[Problem] = []
    for index, label in enumerate(labels):
        here = (*path, index, LABEL)
        if label is None:
            found.append((here, "is missing: all cases need one if any has one"))
        elif not isinstance(label, str) or not label.strip():
            found.append((here, f"must be a text that distinguishes the case from the others, not {show(label)}"))
        elif label in labels[:index]:
            found.append((here, f"must be given once, {show(label)} occurs already"))
    return found


def _leaves(table: Raw, prefix: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Return the key paths of a table of tables, with their values."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in table.items():
        if isinstance(value, dict) and value:
            found += _leaves(value, (*prefix, key))
        else:
            found.append(((*prefix, key), value))
    return found


def _repetitions(path: KeyPath, values: list[Any]) -> list[Problem]:
    seen: dict[Any, int] = {}
    found: list[Problem] = []
    for index, value in enumerate(values):
        first = seen.setdefault(_identity(value), index)
        if first != index:
            found.append(((*path, index), f"must be given once, {show(value)} occurs already"))
    return found


def _identity(value: Any) -> Any:
    """Return something hashable that is equal for equal values only: 1 is 1.0, but true is not 1."""
    match value:
        case dict():
            return ("table", tuple(sorted((key, _identity(inner)) for key, inner in value.items())))
        case list():
            return ("list", tuple(map(_identity, value)))
        case bool():
            return ("boolean", value)
        case int() | float():
            return ("number", "nan" if value != value else value)
    return (type(value).__name__, value)


def _with(tables: Raw, path: list[str], value: Any) -> Raw:
    """Return a copy of *tables* with *value* at *path*, sharing all that is not on the way there."""
    found = dict(tables)
    inside = found
    for depth, key in enumerate(path[:-1], start=1):
        before, after = inside.get(key), {path[depth]: value}
        inside[key] = {}
        if isinstance(before, dict) and not is_another(tuple(path[:depth]), before, after, tables):
            inside[key] |= before
        inside = inside[key]
    inside[path[-1]] = value
    return found
