"""``[adversary]``: the agents that lie, and their attack."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, field_serializer, model_validator
from pydantic.json_schema import SkipJsonSchema

from netbandit.byzantine.adversaries.attack_kinds import Attack, Target
from netbandit.parts.registry import kind_of
from netbandit.parts.settings import DurationText, Settings
from netbandit.scenario.faults import NodeName
from netbandit.util.wording import Allowed, show

_OWN = Allowed('"package.module:Class"')
OwnAttack = Annotated[str, Field(pattern="^[^:]+:[^:]+$"), _OWN] | SkipJsonSchema[Annotated[type[object], _OWN]]
"""An attack of the user's own: its name, or from Python its class."""

_TARGET = '"worst", "second" or the number of an arm'


def _target(value: object) -> object:
    known = value in ("worst", "second") if isinstance(value, str) else type(value) is int and value >= 0
    if not known:
        raise ValueError(f"must be {_TARGET}, not {show(value)}")
    return value


class AdversarySettings(Settings):
    """``[adversary]``: agents that send false values; by default none.

    A liar pulls, waits and tells when an honest agent would, in messages of the same size. Only the values differ.

    Attributes:
        from_: The begin of the lies.
    """

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)

    agents: list[NodeName] | None = Field(
        default=None, min_length=1, description="Agents that lie, by their numbers or names."
    )
    share: float | None = Field(
        default=None, ge=0, lt=1, description="Instead of agents: the share of all agents that lie, rounded down."
    )
    place: Literal["random", "degree"] = Field(
        default="random",
        description='Who these are: drawn ("random"), or those with most neighbours ("degree").',
    )
    attack: Attack | OwnAttack | None = Field(
        default=None,
        description="What liars say of an arm's mean v. none: the truth, they are only not counted; flip: 1 - v; "
        "inflate: 1 of the target; collude: 1 of the target and 0 of all others; swap: 0 of the best arm and 1 of the "
        "second; topple: 0 of the best and 1 of all others; hidden: as much less of the best and more of the second as "
        "does not stand out; noise: v + N(0, 1); constant: 0.5; stale: what was true a round ago; mute: nothing. Of "
        "sums, totals and statistics: the same about rewards, and stale is what was told first. Of recommendations "
        "(gosine): naive, any worse arm; smart, the one that the asker lacks and has pulled least. "
        'Or a class of your own, "package.module:Class", with a method for each form it forges: means, sums or totals.',
    )
    target: Annotated[Target, BeforeValidator(_target), Allowed(_TARGET)] = Field(
        default="worst", description="The arm that inflate and collude praise, of those that are left."
    )
    range: Literal["plausible", "any"] = Field(
        default="plausible",
        description='"plausible" lies are within what an honest message can say; with "any" they may be outside, and '
        "receivers leave out what they see to be wrong.",
    )
    strength: float = Field(default=10.0, gt=0, le=1e300, description='With range = "any": the value in place of 1.')
    from_: DurationText = Field(default="0 ms", alias="from", description="The begin of the lies.")

    @field_serializer("attack", when_used="json")
    def _named(self, attack: str | type | None) -> str | None:
        return kind_of("adversary", attack) if isinstance(attack, type) else attack

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.agents is not None and self.share is not None:
            raise ValueError("has agents and share: only one of them may select the liars")
        if self and self.attack is None:
            raise ValueError('selects liars without an attack: give it one such as "flip"')
        if self.attack is not None and not self:
            raise ValueError("has an attack without liars: give it agents or a share")
        return self

    def __bool__(self) -> bool:
        return self.agents is not None or self.share is not None
