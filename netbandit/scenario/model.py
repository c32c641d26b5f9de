"""The scenario file: the tables every scenario has, and the parts' tables as they were written."""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, create_model
from pydantic_core import PydanticCustomError

from netbandit.parts.conditions import CONDITIONS
from netbandit.parts.registry import condition_classes
from netbandit.parts.settings import ConditionSettings, Problem, Raw, Settings, duration_text
from netbandit.parts.validation import read
from netbandit.scenario.activity import Activity, ShareActivity
from netbandit.scenario.links import LinksSettings
from netbandit.util.units import DURATION, Duration
from netbandit.util.wording import Allowed, show

Table = TypeVar("Table", bound=ConditionSettings)

LONGEST_HORIZON = 10**12
LARGEST_SEED = 2**63 - 1  # the largest integer of TOML

PARTS = ("bandit", "learner", "protocol")
"""The tables that belong to parts; this package does not know their keys."""


def _name(name: str) -> str:
    if not name.strip() or name in (".", "..") or any(sign in "/\\" or not sign.isprintable() for sign in name):
        raise ValueError(f"must be a name for a folder, without / and \\, not {show(name)}")
    if len(os.fsencode(name)) > _LONGEST_NAME:
        raise ValueError(f"must have at most {_LONGEST_NAME} bytes in UTF-8: it names a folder")
    return name


_LONGEST_NAME = 200


def _slot(text: Any) -> Any:
    duration = Duration(duration_text(text))
    if duration.in_slots:
        raise ValueError(f'must be a real time such as "10 ms", not {show(text)}: it sets the length of a slot')
    if duration.nanoseconds(1) < 1:
        raise ValueError(f'must be at least "1 ns", not {show(text)}')
    return duration


Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]


_NO_LIMIT = (
    "no key stops a run at so many messages or bytes: keys of learners and protocols send fewer, and netbandit "
    'optimize --within messages=400 keeps to a limit; see the guide "Under a communication budget"'
)


class RunSettings(Settings):
    """``[run]``: horizon, slot, replications, seed."""

    impossible: ClassVar[Mapping[str, str]] = dict.fromkeys(("messages", "bytes", "budget"), _NO_LIMIT)

    horizon: int = Field(ge=1, le=LONGEST_HORIZON, description="Slots each agent plays (T).")
    slot: Annotated[str, BeforeValidator(_slot), AfterValidator(Duration), Allowed(DURATION)] = Field(
        default="1 ms", description="Real length of a slot."
    )
    replications: int = Field(default=1, ge=1, le=10**6, description="Independent repetitions.")
    seed: Seed = Field(default=0, description="Root seed.")
    activity: Activity = Field(
        default="every",
        description='Who decides when: "every" agent in every slot; "one" agent a slot; { share = p }: each agent in '
        'each slot with this probability; { poisson = "20 ms" }: each agent whenever a user arrives, in a Poisson '
        "process with this mean time between users.",
    )
    skew: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description='With activity "one" or poisson: agent i is chosen, or visited, in proportion to (i + 1)^-skew; '
        "the rate of all decisions together stays the same.",
    )
    header: int = Field(
        default=20,
        ge=0,
        le=65_535,
        description="Bytes of the header of each message that carries items; 0 counts what agents share alone. Calls, "
        "requests, notices and acknowledgements keep theirs.",
    )
    until: Literal["horizon", "answered"] = Field(
        default="horizon",
        description='When the run ends: at the horizon, or ("answered") with the slot in which the last agent that is '
        "up has answered for good, as learners say that stop; the horizon is then the limit.",
    )
    idle: bool = Field(
        default=False,
        description="Whether an agent that has answered for good decides no more. It still receives and forwards, and "
        "sends nothing of its own. Otherwise it goes on to pull its answer.",
    )

    @property
    def slot_nanoseconds(self) -> int:
        """The length of a slot in nanoseconds, at least 1."""
        return Duration(self.slot).nanoseconds(1)

    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield a skew of agents that are all alike."""
        if self.skew and (self.activity == "every" or isinstance(self.activity, ShareActivity)):
            yield "skew", 'is used only with activity = "one" or { poisson = ... }'


def _name_or_class(value: Any) -> Any:
    if isinstance(value, type) or (isinstance(value, str) and value):
        return value
    raise PydanticCustomError("string_type", "must be a string")


Name = Annotated[Any, BeforeValidator(_name_or_class)]
"""The name of a part: a string, or from Python its class."""


class _Kind(BaseModel):
    """The one key that every part's table has."""

    model_config = ConfigDict(strict=True, extra="allow")

    kind: Annotated[Name, Allowed('a string: a known kind, or "package.module:Class"')]


def _part(table: Any) -> Any:
    # Raises ValidationError, whose places pydantic keeps: bandit.kind, not bandit.
    _Kind.model_validate(table)
    return table


class _Family(BaseModel):
    """The one key that every topology has."""

    model_config = ConfigDict(strict=True, extra="allow", arbitrary_types_allowed=True)

    family: Annotated[Name, Allowed('a string: a known family, or "package.module:Class"')]


def _topology(table: Any) -> Any:
    _Family.model_validate(table)
    return table


TopologyPart = Annotated[
    Raw, BeforeValidator(_topology), Allowed('a table with the key "family" and those of its family', keys=(_Family,))
]
"""The topology's table as it was written; its ``family`` is a string."""
Part = Annotated[
    Raw, BeforeValidator(_part), Allowed('a table with the key "kind" and those of its kind', keys=(_Kind,))
]
"""A part's table as it was written; its ``kind`` is a string."""


class _AnyScenario(Settings):
    impossible: ClassVar[Mapping[str, str]] = {"budget": _NO_LIMIT}


class Scenario(Settings):
    """A scenario: the tables that are everybody's, validated, and those of the parts, raw.

    Those of its conditions are given by `table`.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    schema_: Literal[1] = Field(default=1, alias="schema", description="The version of the format.")
    name: Annotated[str, Field(max_length=200), AfterValidator(_name)] = Field(
        default="scenario", description="Name of the folder of the results; by default that of the file."
    )
    description: str = Field(default="", description="What the scenario shows.")
    extends: str | None = Field(
        default=None,
        exclude=True,
        description="A file whose tables this one overrides; it may extend another, up to 32 in a row.",
    )
    run: RunSettings
    topology: TopologyPart
    links: LinksSettings = LinksSettings()
    bandit: Part
    learner: Part
    protocol: Part
    sweep: dict[str, list[Any]] = Field(
        default={}, exclude=True, description="Dotted key -> list of values; all combinations are run."
    )

    _conditions: dict[str, ConditionSettings] = PrivateAttr(default_factory=dict)

    @property
    def conditions(self) -> Mapping[str, ConditionSettings]:
        """Its conditions by the names of their tables."""
        return self._conditions

    @property
    def tables(self) -> Mapping[str, Settings]:
        """Those that are read whatever the parts are, by name."""
        return {"run": self.run, "links": self.links, **self._conditions}

    def table(self, kind: type[Table]) -> Table:
        """Return the condition of a *kind*."""
        return next(table for table in self._conditions.values() if isinstance(table, kind))

    def with_condition(self, name: str, settings: ConditionSettings) -> Self:
        """Return the scenario with other *settings* of a condition."""
        copy = self.model_copy()
        copy._conditions = {**self._conditions, name: settings}
        return copy


def tables_of(data: Mapping[str, Any]) -> Mapping[str, type[ConditionSettings]]:
    """Return the conditions that *data*, the tables of a scenario, may have: ours, and those of packages it names."""
    return condition_classes(tuple(sorted(data.keys() - Scenario.model_fields.keys() - {"schema"} - CONDITIONS.keys())))


@cache
def scenario_model(conditions: Iterable[tuple[str, type[ConditionSettings]]]) -> type[Settings]:
    """Return a table with the tables of a scenario as keys, those of *conditions*, by name, among them."""
    fields: dict[str, Any] = {}
    for name, field in Scenario.model_fields.items():
        if name == PARTS[0]:
            fields |= {table: (kind, kind()) for table, kind in conditions}
        fields[name] = (field.annotation, field)
    return create_model("Scenario", __base__=_AnyScenario, __doc__=Scenario.__doc__, **fields)


def read_scenario(data: Raw) -> tuple[Scenario | None, list[Problem]]:
    """Return the scenario of the tables *data*, or None and all mistakes in those that every scenario has."""
    conditions = tables_of(data)
    found, problems = read(scenario_model(tuple(conditions.items())), data)
    if found is None:
        return None, problems
    scenario = Scenario.model_construct(**{name: getattr(found, name) for name in Scenario.model_fields})
    scenario._conditions = {table: getattr(found, table) for table in conditions}
    return scenario, problems
