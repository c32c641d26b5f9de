"""The base class of all parts of the simulator: fields are the keys, and ``start`` creates the state.

How to write a part (bandit, learner, protocol, topology family)::

    class EpsilonGreedy(Learner):
        \"\"\"Pull the best arm, but a random one with probability epsilon.\"\"\"

        epsilon: float = Field(default=0.1, ge=0, le=1)
        \"\"\"Probability of a random arm.\"\"\"

        def check(self) -> Checks:
            if self.epsilon == 1:
                yield Note("epsilon", "is 1: nothing that is learnt is ever used")

        def start(self, world, agents, rng) -> None:
            self.pulls = np.zeros((agents, world.arms))

* *Keys.* What is annotated in the body of the class is a key: ``check``, the JSON Schema, ``help`` and completion know
  it. The docstring under it (a sentence; the unit, the symbol of the paper) is its description. Keys are strict: an
  integer is not ``true``, unknown keys are mistakes. A key whose name is that of a method has an alias:
  ``sharing: Literal["never", "slot"] = Field(default="never", alias="share")`` is written ``share``.
  Constants of a class are ``ClassVar``. ``kind`` is no key: the registry knows it.
* *State.* Made in ``start`` (or whatever the room's base says) by assignment, ``self.pulls = ...``. What others read of
  it is declared in the body of the base as ``arm_count: int = state()``, with a docstring, and is then no key; what
  nobody else reads is annotated where it is made. An object that a user made is a template: it only holds keys, and is
  never started. Each replication (each cohort, each component) takes `Part.fresh` of it and starts that one.
  A key cannot be assigned.
* *Checks.* `Part.check` sees the part's own keys, all defaults filled in. `Part.check_with` sees the others. Both yield
  a `Mistake` or a `Note` for a key. What has mistakes of its own, or is not known yet, is not there to be looked at:
  to read it ends the check quietly, so a check asks for nothing twice and needs no ``if ... is None``. Put first what
  needs least.
* *Tests.* `netbandit.testing` checks user-defined parts.
"""

import linecache
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic._internal._model_construction import ModelMetaclass

from netbandit.parts import describing
from netbandit.parts.validation import DEEPEST, KeysError, list_keys, natives, problems_of
from netbandit.user_code.errors import ReturnedError, is_ours
from netbandit.util.key_paths import KeyPath, Problem, Raw
from netbandit.util.wording import show


@dataclass(frozen=True)
class Mistake:
    """An error at a key.

    Attributes:
        key: The key: a name, or a path such as ``("gap_means", "best")`` or ``("capacity", 0)``.
        text: The error and the allowed values: ``must be ...``, ``is missing: ...``.
        table: The table of the key, if it is not the part's own.
    """

    key: str | KeyPath
    text: str
    table: str | None = None

    def problem(self, table: str) -> Problem:
        """Return the mistake at its path from the top of the scenario; *table* is the part's own."""
        path = (self.key,) if isinstance(self.key, str) else self.key
        return (self.table or table, *path), self.text


@dataclass(frozen=True)
class Note(Mistake):
    """A key that is valid but has no effect; ``check`` mentions it."""


Checks = Iterator[Mistake]
"""The results of a check: mistakes and notes."""

CommunicationPattern = Literal["round", "call", "broadcast", "gather", "exchange", "deposit", "ask"]
"""How the agents of a learner communicate, which a protocol carries. ``round``: all contribute, and it ends;
``call``: a round that one agent calls for; ``broadcast``: an item reaches the others one by one; ``gather``: one node
needs a part from every other before it can act; ``exchange``: in each step every agent sends its neighbours a row of
numbers and mixes theirs; ``deposit``: an item goes to a server, and what it computes from all goes back to some, while
nobody waits; ``ask``: an agent asks one neighbour, which answers."""


class UnknownError(AttributeError):
    """A check has read a value that is unknown because it is invalid or not validated yet."""


_ABSENT = object()


class _State:
    def __init__(self, default: Any) -> None:
        self.default = default


def state(*, default: Any = _ABSENT, init: Literal[False] = False) -> Any:
    """Declare in the body of a class what its ``start`` makes: no key, but something that others read.

    Args:
        default: What it is before, and where no class says otherwise; a class may say so by ``name = value``.
        init: For type checkers: it is not given where the object is made.
    """
    return _State(default)


def _is_where_it_says(name: str, namespace: Mapping[str, Any]) -> bool:
    """Return whether the file of its module has the class *name* at the line that Python 3.13 and later note of it.

    It has not where the class was sent to another process, or made by `exec`. Pydantic, which reads there what is
    written under each key, fails on any other text.
    """
    first = namespace.get("__firstlineno__")
    module = sys.modules.get(namespace.get("__module__", ""))
    if first is None or module is None:
        return True
    lines = linecache.getlines(getattr(module, "__file__", None) or "", vars(module))[first - 1 :]
    begin = lines[0].lstrip() if lines else ""
    if begin.startswith("@"):
        begin = next((line.lstrip() for line in lines if line.lstrip().startswith("class ")), "")
    return begin.startswith(f"class {name}")


def _is_method(kind: type, name: str) -> bool:
    """Return whether *name* is a method of *kind*, or an attribute that is computed."""
    found = getattr_static(kind, name, None)
    return callable(found) or isinstance(found, property | cached_property | classmethod | staticmethod)


@dataclass_transform(kw_only_default=True, field_specifiers=(Field, PrivateAttr, state))
class _PartMeta(ModelMetaclass):
    """Takes what is declared with `state` out of the fields before pydantic sees them."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> type:
        states = {key: value.default for key, value in namespace.items() if isinstance(value, _State)}
        for key in states:
            del namespace[key]
            namespace.get("__annotations__", {}).pop(key, None)
        for key, kind in namespace.get("__annotations__", {}).items():
            hidden = next((base for base in bases if _is_method(base, key)), None)
            if hidden is not None and not str(kind).removeprefix("typing.").startswith("ClassVar"):
                cure = f'name it otherwise, or have an alias: {key}_ = Field(alias="{key}"), of the same type'
                raise ReturnedError(f"the key {name}.{key} would hide {hidden.__name__}.{key}, which runs use: {cure}")
        if describing.described and not _is_where_it_says(name, namespace):
            options["use_attribute_docstrings"] = False
        made: Any = super().__new__(mcs, name, bases, namespace, **options)
        made.__part_keys__ = frozenset(made.model_fields)
        for key, default in states.items():
            made.__class_vars__.add(key)
            if default is not _ABSENT:
                setattr(made, key, default)
        return made  # type: ignore[no-any-return]


class Part(BaseModel, metaclass=_PartMeta):
    """A part of the simulator: its keys are its fields, see the module."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        validate_default=True,
        use_attribute_docstrings=describing.described,
        serialize_by_alias=True,
    )

    named_by: ClassVar[str] = "kind"
    """The key of a scenario that names the class."""
    impossible: ClassVar[Mapping[str, str]] = {}
    """Keys that other classes have and this one cannot have, with the reason."""
    __part_keys__: ClassVar[frozenset[str]]
    """The names of its fields; pydantic takes a microsecond to say them, and each assignment asks."""

    if not TYPE_CHECKING:  # type checkers and help() know the keys by the fields

        def __init__(self, /, **keys: Any) -> None:
            try:
                super().__init__(**natives(type(self).__name__, keys))
            except ValidationError as error:
                raise KeysError(type(self).__name__, problems_of(error, type(self))) from None

        __init__.__pydantic_base_init__ = True  # reading a table reports all mistakes itself

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        if describing.described:
            list_keys(cls)

    def check(self) -> Checks:
        """Yield what is wrong between the keys of this part, and which of them have no effect."""
        yield from ()

    def check_with(self, others: "Others") -> Checks:
        """Yield what is wrong between this part and the *others*."""
        yield from ()

    def table(self) -> dict[str, Any]:
        """Return the keys as they are written in a scenario, with all defaults."""
        return self.model_dump(by_alias=True)

    def fresh(self) -> Self:
        """Return a part with the same keys that has not been started."""
        copy = self.model_copy()
        keys = type(self).model_fields
        object.__setattr__(copy, "__dict__", {key: value for key, value in self.__dict__.items() if key in keys})
        return copy

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(self.__dict__.get(key) == other.__dict__.get(key) for key in type(self).model_fields)

    def __str__(self) -> str:
        return repr(self)

    __hash__ = None  # type: ignore[assignment]

    if not TYPE_CHECKING:  # type checkers take attributes from the class and from assignments to self

        def __setattr__(self, name: str, value: Any) -> None:
            if name in self.__part_keys__:
                raise AttributeError(f"{name} is a key of {type(self).__name__}: give it where the object is made")
            object.__setattr__(self, name, value)

        def __getattr__(self, name: str) -> Any:
            if name in type(self).model_fields:
                raise UnknownError(f"the key {name} is not known")
            return super().__getattr__(name)


class Others:
    """The rest of the scenario, as available to a part during its check.

    What is not known (it has mistakes of its own, or comes later) cannot be read: the check ends there. A check is
    made at the end, when tables are valid; the graph is that of the first replication.

    Attributes:
        bandit, learner, protocol: The parts.
        kinds: The kind of each, as it was written: ``{"bandit": "bernoulli", ...}``.
        talk: The communication pattern of the learner in this world: ``round``, ``call``, ``broadcast``, ``gather``.
        horizon: The slots each agent plays (T).
        activity: Which agents decide when, ``run.activity``.
        slot: The length of a slot (ns).
        agents: The number M of agents.
        components: The number of connected components of the graph.
        liars: The number of Byzantine agents.
        late: Whether rewards may be learned later than they are paid.
        agents_fail: Whether agents may be down at times.
        may_lose: Whether messages may be lost for good; known with the graph.
        differing: Whether agents of rounds may know different things, and each concludes for itself.
        graph: The graph, a ``netbandit.network.topology:Topology``.
        slowest_hop: Returns the slots that a hop of a release over the slowest link takes at most, without queueing;
            its argument is the bytes that the message has besides the release.
        watch: Told what is read, how much of it has been, and how much there is; there only when nothing else is
            wrong: a check that reads files, which may take minutes, asks for it first.
    """

    bandit: Any
    learner: Any
    protocol: Any
    kinds: dict[str, str]
    talk: Literal["round", "call", "broadcast", "gather", "exchange", "deposit", "ask"]
    horizon: int
    activity: Any
    slot: int
    agents: int
    components: int
    liars: int
    late: bool
    agents_fail: bool
    may_lose: bool
    differing: bool
    graph: Any
    slowest_hop: Callable[[int], int]
    watch: Callable[[str, int, int], None]

    def __init__(self, **known: Any) -> None:
        self.__dict__.update((name, value) for name, value in known.items() if value is not None)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise UnknownError(f"{name} is not known")


def found_by(check: Checks, table: str) -> tuple[list[Problem], list[Problem]]:
    """Return the mistakes and the notes of a check of the part at *table*, up to what it could not know."""
    mistakes: list[Problem] = []
    notes: list[Problem] = []
    try:
        for found in check:
            if not isinstance(found, Mistake):
                raise ReturnedError(f"its check yields {type(found).__name__}: it must be a Mistake or a Note", table)
            (notes if isinstance(found, Note) else mistakes).append(found.problem(table))
    except UnknownError:
        pass
    return mistakes, notes


PartModel = TypeVar("PartModel", bound=Part)


def read_part(kind: type[PartModel], table: Raw, prefix: str) -> tuple[PartModel | None, list[Problem], list[Problem]]:
    """Make a part from its table, and let it check its keys.

    Where some keys have mistakes, the others are checked all the same.

    Args:
        kind: The class of the part.
        table: What was written, without ``kind``.
        prefix: The name of the table.

    Returns:
        The part, or None; all problems; and all notes, none where there are problems.
    """
    try:
        part = kind.model_validate(table)
    except ValidationError as error:
        problems = problems_of(error, kind, (prefix,))
        mistakes, _ = found_by(_without(kind, table, {path[1] for path, _ in problems}).check(), prefix)
        return None, problems + mistakes, []
    unwritable = [] if is_ours(kind) else list(_unwritable(part, prefix))
    if unwritable:
        return None, unwritable, []
    mistakes, notes = found_by(part.check(), prefix)
    return (None, mistakes, []) if mistakes else (part, [], notes)


def _unwritable(part: Part, prefix: str) -> Iterator[Problem]:
    """Yield keys of a user-defined part whose values can be stored neither in a scenario file nor in a result."""
    for name, field in type(part).model_fields.items():
        wrong = _no_value(getattr(part, name))
        if wrong is not None:
            text = f"must be made of texts, numbers, lists and tables, not {wrong}: what else a part needs is no key"
            yield (prefix, field.alias or name), f"{text}, but a ClassVar, or made by its start"


def _no_value(value: Any, depth: int = 0) -> str | None:
    """Return what in *value* is none that TOML and JSON know; None if all is."""
    if depth > DEEPEST:
        return "what is nested too deeply"
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if isinstance(value, Mapping | list | tuple):
        if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
            return "a table with keys that are no text"
        inside = [*value, *value.values()] if isinstance(value, Mapping) else value
        return next((wrong for inner in inside if (wrong := _no_value(inner, depth + 1)) is not None), None)
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if abs(value) <= LARGEST_INTEGER else f"{show(value)}, more than 64 bits"
    if isinstance(value, float):
        return "nan" if value != value else None
    if isinstance(value, str):
        return None if value.isascii() or not _SURROGATE.search(value) else "a text that is none in UTF-8"
    return show(value)


LARGEST_INTEGER = 2**63 - 1
"""The largest integer of TOML."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def _without(kind: type[Part], table: Raw, wrong: set[str | int]) -> Part:
    """Return a part that lacks the keys that are *wrong*; to read one of them ends its check."""
    part = kind.model_construct()
    part.model_fields_set.update(table.keys())
    for name, field in kind.model_fields.items():
        key = field.alias or name
        value = table[key] if key in table else part.__dict__.get(name)
        part.__dict__.pop(name, None)
        if key not in wrong:
            with suppress(ValidationError):
                kind.__pydantic_validator__.validate_assignment(part, name, value)
    return part
