"""The scenario file: the tables every scenario has, and the parts' tables as they were written."""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from netbandit.scenario.durations import duration_text
from netbandit.scenario.faults import FaultsSettings
from netbandit.scenario.links import LinksSettings
from netbandit.scenario.wording import Allowed, show
from netbandit.settings import Raw, Settings
from netbandit.units import parse_duration

MOST_AGENTS = 10**7
LONGEST_HORIZON = 10**12
LARGEST_SEED = 2**63 - 1  # the largest integer of TOML

SimpleFamily = Literal[
    "star", "ring", "complete", "path", "grid", "tree", "random", "regular", "small-world", "scale-free", "geometric"
]
"""A family of graphs that can also stand inside each component of a ``hybrid``."""
Family = Literal[
    "star", "ring", "complete", "path", "grid", "tree", "random", "regular", "small-world", "scale-free", "geometric",
    "hybrid", "file",
]  # fmt: skip
"""A family of graphs."""
PARTS = ("bandit", "learner", "protocol")
"""The tables that belong to parts; this package does not know their keys."""


def _name(name: str) -> str:
    if not name.strip() or name in (".", "..") or any(sign in "/\\" or not sign.isprintable() for sign in name):
        raise ValueError(f"must be a name for a folder, without / and \\, not {show(name)}")
    return name


def _slot(text: Any) -> Any:
    duration = parse_duration(duration_text(text))
    if duration.in_slots:
        raise ValueError(f'must be a real time such as "10 ms", not {show(text)}: it is what sets the length of a slot')
    if duration.nanoseconds(1) < 1:
        raise ValueError(f'must be at least "1 ns", not {show(text)}')
    return text


Count = Annotated[int, Field(ge=1)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]


class RunSettings(Settings):
    """``[run]``: how long, how fine, how often.

    Attributes:
        horizon: Slots each agent plays (T).
        slot: The real length of a slot, as written.
        replications: Independent repetitions.
        seed: The root seed.
    """

    horizon: int = Field(ge=1, le=LONGEST_HORIZON, description="Slots each agent plays (T).")
    slot: Annotated[str, BeforeValidator(_slot)] = Field(default="1 ms", description="Real length of a slot.")
    replications: int = Field(default=1, ge=1, le=10**6, description="Independent repetitions.")
    seed: Seed = Field(default=0, description="Root seed.")

    @property
    def slot_nanoseconds(self) -> int:
        """The length of a slot in nanoseconds, at least 1."""
        return parse_duration(self.slot).nanoseconds(1)


class TopologySettings(Settings):
    """``[topology]``: the keys of all families; which of them a family needs and uses is the network's to say."""

    family: Family = Field(description="The family of graphs.")
    agents: int | None = Field(default=None, ge=1, le=MOST_AGENTS, description="Number of agents (M).")
    p: float | None = Field(
        default=None, ge=0, le=1, description="random: probability of a link; small-world: of rewiring one (0.1)."
    )
    mean_degree: float | None = Field(default=None, gt=0, description="random: mean number of neighbours.")
    degree: int | None = Field(
        default=None, ge=0, description="regular: number of neighbours; small-world: of the lattice, even (4)."
    )
    attach: int | None = Field(default=None, ge=1, description="scale-free: links of each new agent (2).")
    reach: float | None = Field(
        default=None, gt=0, description="geometric: longest link in the unit square (just above connectivity)."
    )
    branching: int | None = Field(default=None, ge=1, description="tree: children of each agent (2).")
    components: list[Count] | None = Field(default=None, min_length=1, description="hybrid: sizes of the components.")
    inside: SimpleFamily | None = Field(
        default=None, description="hybrid: the family inside each component (complete)."
    )
    file: str | None = Field(
        default=None,
        min_length=1,
        description="file: GraphML, GML, edge list or node-link JSON, relative to this file.",
    )
    component: Literal["largest"] | None = Field(default=None, description="file: accept a disconnected graph.")
    seed: Seed | None = Field(default=None, description="Fixes the graph across replications.")


class _Kind(BaseModel):
    """The one key that every part's table has."""

    model_config = ConfigDict(strict=True, extra="allow")

    kind: Annotated[str, Field(min_length=1), Allowed('a string: a known kind, or "package.module:Class"')]


def _part(table: Any) -> Any:
    # Raises ValidationError, whose places pydantic keeps: bandit.kind, not bandit.
    _Kind.model_validate(table)
    return table


Part = Annotated[Raw, BeforeValidator(_part), Allowed('a table with the key "kind" and those of its kind', keys=_Kind)]
"""A part's table as it was written; its ``kind`` is a string."""


class Scenario(Settings):
    """A scenario: the tables that are everybody's, validated, and those of the parts, raw."""

    model_config = ConfigDict(serialize_by_alias=True)

    schema_: Literal[1] = Field(default=1, alias="schema", description="The version of the format.")
    name: Annotated[str, Field(max_length=200), AfterValidator(_name)] = Field(
        default="scenario", description="Names the folder of the results; the file's name by default."
    )
    description: str = Field(default="", description="What the scenario shows.")
    extends: str | None = Field(default=None, exclude=True, description="A file whose tables this one overrides.")
    run: RunSettings
    topology: TopologySettings
    links: LinksSettings = LinksSettings()
    faults: FaultsSettings = FaultsSettings()
    bandit: Part
    learner: Part
    protocol: Part
    sweep: dict[str, list[Any]] = Field(
        default={}, exclude=True, description="Dotted key -> list of values; the grid of all."
    )


def families() -> tuple[str, ...]:
    """Return the names of all families, in the order in which they are documented."""
    return get_args(Family)
