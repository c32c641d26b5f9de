"""The swarm: random scenarios over all keys of the schema, run with invariants on.

Kinds of parts that go together are drawn, and then keys of any table, with values that the schema allows; what `check`
refuses is dropped. Every other scenario has one key more than it needs instead, each in its turn, so that nothing hides
what it does. A key that is added to a part is drawn as soon as it is there.

A scenario is run compiled and in bulk where it can be, event by event, and with a trace, and all must hold that stands
in `netbandit.testing.properties`. One that fails is made smaller for as long as it fails, and written to a file that
one command replays.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from netbandit.checks.check import check
from netbandit.parts.registry import BUILT_IN, condition_classes, kind_key, part_class
from netbandit.parts.settings import Raw
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load, load_tables
from netbandit.scenario.model import PARTS, scenario_model
from netbandit.scenario.schema import Schema, table_schema
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.replication import RunnablePoint
from netbandit.testing.properties import ALWAYS
from netbandit.testing.scenes import small, tables_of
from netbandit.testing.trial import Trial
from netbandit.util.wording import WORDS

_TRIES = 6
"""So often a key is drawn before it is taken not to go with what is there."""
_MOST_DRAWS = 300
_LONGEST = 2 * 10**9
"""The simulated time (ns) after which a scenario takes too long: the shortest duration drawn is 0.3 ms."""


@dataclass(frozen=True)
class Failure:
    """A scenario that broke an invariant.

    Attributes:
        tables: The scenario, as small as it still fails.
        text: What went wrong.
    """

    tables: Raw
    text: str


class Key(NamedTuple):
    """A key of the schema.

    Attributes:
        table: The table of the scenario.
        kind: The kind of a part, or the family of a topology; None: the table is everybody's.
        path: The names from the table on.
    """

    table: str
    kind: str | None
    path: tuple[str, ...]


def keys() -> list[Key]:
    """Return all keys of all tables, and of all parts."""
    whole, definitions = _schema()
    found = [Key(table, None, path) for table in _tables() for path in _paths(whole["properties"][table], definitions)]
    for table, kinds in BUILT_IN.items():
        for kind in kinds:
            schema, definitions = _part_schema(table, kind)
            found += [Key(table, kind, path) for path in _paths(schema, definitions)]
    return [key for key in found if key not in _SIZES]


_SIZES = (Key("run", None, ("horizon",)), Key("run", None, ("seed",)), Key("run", None, ("replications",)))
"""How much is run, which every scenario says."""


@cache
def _schema_of(model: type[BaseModel]) -> tuple[Schema, Schema]:
    """Return the schema of a table, and the definitions that it refers to."""
    definitions: Schema = {}
    return {"required": [], **table_schema(model, definitions)}, definitions


def _schema() -> tuple[Schema, Schema]:
    """Return the schema of the tables that are everybody's."""
    return _schema_of(scenario_model(tuple(condition_classes().items())))


def _part_schema(table: str, kind: str) -> tuple[Schema, Schema]:
    return _schema_of(part_class(table, kind, Path()))


def _tables() -> list[str]:
    """Return the names of the tables that are everybody's: what else a scenario has is a value, or a part's."""
    return [name for name, schema in _schema()[0]["properties"].items() if "$ref" in schema]


def _inside(schema: Schema, definitions: Schema) -> Schema:
    return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _paths(schema: Schema, definitions: Schema) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the keys of a table, and of the tables in it."""
    for name, inner in _inside(schema, definitions).get("properties", {}).items():
        deeper = list(_paths(inner, definitions)) if "$ref" in inner else []
        yield from [(name, *path) for path in deeper] or [(name,)]


def _at(schema: Schema, definitions: Schema, path: Iterable[str]) -> Schema:
    for name in path:
        schema = _inside(schema, definitions)["properties"][name]
    return schema


class _Values:
    """Draws values that a schema allows, small ones.

    Args:
        rng: What they are drawn from.
        definitions: What the schema refers to.
    """

    def __init__(self, rng: random.Random, definitions: Schema) -> None:
        self._rng, self._definitions = rng, definitions

    def of(self, schema: Schema, also: Iterable[str] = ()) -> Any:
        """Return a value; of a table all keys that it needs, those that it must have *also*, and some others."""
        rng = self._rng
        if "$ref" in schema:
            return self.of(_inside(schema, self._definitions), also)
        if "anyOf" in schema:
            said = {name: what for name, what in schema.items() if name != "anyOf"}
            return self.of(said | rng.choice(schema["anyOf"]))
        if "const" in schema or "enum" in schema:
            return schema.get("const") if "const" in schema else rng.choice(schema["enum"])
        match schema.get("type"):
            case "boolean":
                return rng.random() < 0.5
            case "integer" | "number":
                return self._number(schema)
            case "string":
                return self._text(schema)
            case "array":
                return self._list(schema)
        needed = {*schema.get("required", ()), *also}
        properties = schema.get("properties", {})
        if not properties:  # a part inside another one
            named = [kind for kind in BUILT_IN["learner"] if f'"{kind}"' in schema.get(WORDS, "")]
            return {"kind": rng.choice(named)} if named else {}
        return {name: self.of(inner) for name, inner in properties.items() if name in needed or rng.random() < 0.25}

    def _number(self, schema: Schema) -> float:
        """Return a number within the bounds: one of them, the default, an example, or a usual one."""
        least, most = schema.get("minimum"), schema.get("maximum")
        above, below = schema.get("exclusiveMinimum", -_HUGE), schema.get("exclusiveMaximum", _HUGE)
        whole = schema["type"] == "integer"
        listed = [schema.get("default"), least, most, *_numbers(schema)]
        usual: list[Any] = [1, 2, 3, 4, 5] if whole else [0.0, 1e-3, 0.05, 0.3, 0.5, 0.7, 1.0, 1.5, 3.0, 20.0]
        candidates = [one for one in (*listed, *usual, *usual) if isinstance(one, int | float)]
        fitting = [
            one
            for one in candidates
            if above < one < below and (least is None or one >= least) and (most is None or one <= most)
        ]
        if whole:
            fitting = [int(one) for one in fitting if one == int(one) and abs(one) <= _MOST_OF_ANYTHING]
        return self._rng.choice(fitting or [least or 0])

    def _text(self, schema: Schema) -> str:
        """Return a word or a quantity as in the examples of the key, with another number, or the name of a file."""
        quoted = [*re.findall(r'"([^"]+)"', f"{schema.get(WORDS, '')} {schema.get('description', '')}")]
        quoted += [schema["default"]] if isinstance(schema.get("default"), str) else []
        quoted = [text for text in quoted if ":" not in text and not text.endswith(_ENDINGS)]
        text = self._rng.choice(quoted) if quoted else str(self._rng.choice(_FILES))
        quantity = re.fullmatch(r"([\d.e+-]+) (\S+)", text)
        if quantity is None:
            return text
        number, unit = quantity.groups()
        if unit in _OF_TIME:
            return f"{self._rng.choice(_TIMES)} {self._rng.choice(['ms', 'ms', 'slots'])}"
        return f"{self._rng.choice([number, *_AMOUNTS])} {unit}"

    def _list(self, schema: Schema) -> list[Any]:
        """Return a list: of as many as a tuple has, or a few."""
        if "prefixItems" in schema:
            return [self.of({WORDS: schema.get(WORDS, ""), **inner}) for inner in schema["prefixItems"]]
        least, most = schema.get("minItems", 0), schema.get("maxItems", 5)
        items = {WORDS: schema.get(WORDS, ""), "description": schema.get("description", ""), **schema["items"]}
        return [self.of(items) for _ in range(self._rng.randint(least, max(least, most)))]


_HUGE = 1e309
_MOST_OF_ANYTHING = 100
_OF_TIME = {"ns", "us", "ms", "s", "min", "h", "slot", "slots"}
_TIMES = ("0", "0.3", "1", "2.5", "7", "20", "100")
_AMOUNTS = ("0", "0.01", "0.3", "1", "20", "300", "5000")
_ENDINGS = (".csv", ".txt", ".json", ".gz")
_FILES = tuple(Path(__file__).with_name(name) for name in ("meetings.csv", "rewards.csv"))


def _numbers(schema: Schema) -> list[float]:
    """Return the numbers in what is said of a key."""
    return [float(text) for text in re.findall(r"(?<![\w.\"])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", schema.get(WORDS, ""))]


def draw(seed: int, number: int) -> Raw:
    """Return the tables of scenario *number* of a swarm: one that `check` accepts.

    Raises:
        RuntimeError: None was accepted of many, which is a mistake of the swarm.
    """
    rng = random.Random(f"{seed}/{number}")
    every = keys()
    if number % 2:  # one key alone, where that is possible, else among what else it needs
        key = every[number // 2 % len(every)]
        for others in (0, 0, 0, 12, 12):
            tables = _players(rng, {} if key.kind is None else {key.table: key.kind})
            if tables is None:  # such as a graph of a file that is not here
                break
            found = _with_key(rng, _with_some(rng, tables, every, others), key)
            if found is not None:
                return found
    tables = _players(rng, {})
    if tables is None:
        raise RuntimeError(f"no scenario of {_MOST_DRAWS:,} can be run")
    return _with_some(rng, tables, every, rng.choice([3, 6, 12, 24]))


def _players(rng: random.Random, kinds: Mapping[str, str]) -> Raw | None:
    """Return a small scenario of parts that go together, some of them of these *kinds*; None: none is found."""
    for _ in range(_MOST_DRAWS):
        chosen = {table: kinds.get(table) or rng.choice(list(BUILT_IN[table])) for table in BUILT_IN}
        if not _go_together(chosen["bandit"], chosen["learner"], chosen["protocol"]):
            continue
        world, learner, protocol = (_small(rng, table, chosen[table]) for table in PARTS)
        graph = _small(rng, "topology", chosen["topology"])
        # Rounds take long, what is told in every slot many messages.
        horizon = rng.choice([100, 300, 600] if learner["kind"] == "elimination" else [10, 30, 100])
        tables = tables_of(world, learner, protocol, graph, horizon)
        tables = tables | {"run": {"horizon": horizon, "seed": rng.randrange(1000)}, "links": {}}
        if _is_accepted(tables):
            return tables
    return None


@cache
def _go_together(world: str, learner: str, protocol: str) -> bool:
    """Return whether parts of these kinds may be together at all."""
    return _is_accepted(tables_of(small("bandit", world), small("learner", learner), {"kind": protocol}))


def _small(rng: random.Random, table: str, kind: str) -> Raw:
    """Return a part with the keys that it needs, and perhaps those that make it small."""
    schema, definitions = _part_schema(table, kind)
    if rng.random() < 0.8:  # some graphs need one of two keys, and neither is needed
        schema = schema | {"properties": {name: schema["properties"][name] for name in schema["required"]}}
    chosen = small(table, kind) if table == "bandit" or (table == "learner" and rng.random() < 0.7) else {}
    return {**_Values(rng, definitions).of(schema), **chosen, kind_key(table): kind}


def _with_some(rng: random.Random, tables: Raw, every: list[Key], count: int) -> Raw:
    """Return *tables* with *count* more keys, or fewer: those that fit."""
    mine = [key for key in every if key.kind is None or tables[key.table][kind_key(key.table)] == key.kind]
    by_table: dict[str, list[Key]] = {}
    for key in mine:
        by_table.setdefault("/".join([key.table, *key.path[:-1]]), []).append(key)
    for _ in range(count):
        tables = _with_key(rng, tables, rng.choice(by_table[rng.choice(list(by_table))])) or tables
    return tables


def _with_key(rng: random.Random, tables: Raw, key: Key) -> Raw | None:
    """Return *tables* with a value for a key, and for others of a table that is not there yet; None: none fits."""
    schema, definitions = _schema() if key.kind is None else _part_schema(key.table, key.kind)
    schema = schema["properties"][key.table] if key.kind is None else schema
    values = _Values(rng, definitions)
    for _ in range(_TRIES):
        path, present = key.path, tables.get(key.table)
        depth = 0 if present is None else len(path)
        if depth and rng.random() < 0.3:  # the table that it is in anew
            depth -= 1 if len(path) > 1 else 0
        value = values.of(_at(schema, definitions, path[:depth]), path[depth : depth + 1])
        found = _put(tables, (key.table, *path[:depth]), value)
        if _has(found, key) and _is_accepted(found):
            return found
    return None


def _put(tables: Raw, path: tuple[str, ...], value: Any) -> Raw:
    """Return *tables* with a *value* at a path, in place of what is there; of a part its kind stays."""
    name, *rest = path
    before = tables.get(name)
    before = before if isinstance(before, dict) else {}
    if rest:
        return tables | {name: _put(before, tuple(rest), value)}
    return tables | {name: value}


def _has(tables: Any, key: Key) -> bool:
    for name in (key.table, *key.path):
        if not isinstance(tables, dict) or name not in tables:
            return False
        tables = tables[name]
    return True


def _is_accepted(tables: Raw) -> bool:
    """Return whether `check` takes it, it is short, and none of its notes says that it takes minutes."""
    try:
        checked = check(load_tables(tables))
    except ScenarioError:
        return False
    run = checked.points[0].scenario.run
    patient = any(" may take " in note for note in checked.notes)
    return run.horizon * run.slot_nanoseconds <= _LONGEST and not patient


def _point(tables: Raw) -> RunnablePoint:
    return check(load("swarm.toml", text=toml_text(tables))).points[0]


def broken(tables: Raw) -> str | None:
    """Run a scenario; return what it breaks of all that must always hold, or None."""
    try:
        trial = Trial(_point(tables))
    except ScenarioError as error:
        return f"refused: {error}"
    try:
        return next((breach for holds in ALWAYS for breach in holds(trial)), None)
    except Exception as error:  # whatever it is, the scenario shows it
        return f"{type(error).__name__}: {error}"


def smaller(tables: Raw) -> Iterator[Raw]:
    """Yield scenarios that ask for one thing less than *tables*, large things first."""
    needed = {(table,) for table in ("run", *BUILT_IN)} | {("run", "horizon")}
    for path in sorted(set(_everything(tables)) - needed, key=lambda path: (len(path), str(path))):
        yield _without(tables, path)
    horizon = tables["run"]["horizon"]
    if horizon > 1:
        yield tables | {"run": tables["run"] | {"horizon": horizon // 2}}


def _everything(value: Any) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of all tables, keys, and items of lists."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, what in inner:
        yield (name,)
        yield from ((name, *path) for path in _everything(what))


def _without(tables: Any, path: tuple[str | int, ...]) -> Any:
    head, *rest = path
    if isinstance(tables, list):
        return [
            _without(item, tuple(rest)) if index == head else item
            for index, item in enumerate(tables)
            if rest or index != head
        ]
    if not rest:
        return {key: value for key, value in tables.items() if key != head}
    return {key: _without(value, tuple(rest)) if key == head else value for key, value in tables.items()}


def shrunk(tables: Raw, fails: Callable[[Raw], bool]) -> Raw:
    """Return the smallest scenario found that still *fails*, leaving one thing out after the other."""
    while True:
        found = next((one for one in smaller(tables) if one != tables and fails(one)), None)
        if found is None:
            return tables
        tables = found


def failure(seed: int, number: int) -> Failure | None:
    """Run scenario *number* of a swarm; return the smallest scenario that fails as it does, or None."""
    tables = draw(seed, number)
    text = broken(tables)
    if text is None:
        return None

    def fails(one: Raw) -> bool:
        found = broken(one)
        return found is not None and not found.startswith("refused") and found[:12] == text[:12]

    least = shrunk(tables, fails)
    return Failure(least, broken(least) or text)
