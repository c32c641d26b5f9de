"""``topology.changes``: the settings of the model by which links come and go."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from netbandit.parts.settings import PositiveDuration, Settings, ShareOfPeriods
from netbandit.util.wording import Allowed, show

Probability = Annotated[float, Field(ge=0, le=1)]


class MarkovChanges(Settings):
    """Each link is a Markov chain of its own: an edge-Markovian graph (Clementi et al. 2010)."""

    born: Probability = Field(description="The probability that a link that is down comes up for the next period.")
    dies: Probability = Field(description="The probability that a link that is up goes down for the next period.")
    every: PositiveDuration = Field(default="1 slot", description="The length of a period.")
    begin: Literal["stationary"] | Probability = Field(
        default="stationary",
        description="The share of links that are up in the first period; stationary: born / (born + dies).",
    )

    @model_validator(mode="after")
    def _has_a_stationary_law(self) -> Self:
        if self.begin == "stationary" and not (self.born or self.dies):
            raise ValueError("needs born or dies above 0, or a share as begin")
        return self


class RedrawnChanges(Settings):
    """Each link is up in each period with a probability of its own: an Erdős-Rényi graph over the base graph."""

    up: ShareOfPeriods = Field(description="The probability that a link is up in a period.")
    every: PositiveDuration = Field(default="1 slot", description="The length of a period.")


class MatchingChanges(Settings):
    """In each period a random matching: links in random order, each taken whose ends are both free."""

    matching: Literal["random"] = Field(description="random: a matching drawn afresh for each period.")
    every: PositiveDuration = Field(default="1 slot", description="The length of a period.")


class RecurringChanges(Settings):
    """Each link is up again and again, for a fixed time at fixed intervals."""

    up_for: PositiveDuration = Field(description="How long a link is up.")
    every: PositiveDuration = Field(description="From when it comes up to when it does so again.")
    phase: Literal["random", "together", "stagger"] = Field(
        default="random",
        description="When a link comes up first: drawn uniformly for each link (random), all at 0 (together), or link "
        "e of L at e every / L (stagger).",
    )


Changes = MarkovChanges | RedrawnChanges | MatchingChanges | RecurringChanges
"""A law."""

_LAWS: dict[str, type[Changes]] = {
    "born": MarkovChanges,
    "dies": MarkovChanges,
    "begin": MarkovChanges,
    "up": RedrawnChanges,
    "matching": MatchingChanges,
    "up_for": RecurringChanges,
    "phase": RecurringChanges,
}
"""The law that each key belongs to; `every` belongs to all."""


_FORMS = (
    '{ born = 0.01, dies = 0.1 }, { up = 0.7 }, { matching = "random" } or { up_for = "10 min", every = "95 min" }, '
    "each with its period `every`"
)


def _law(value: Any) -> Any:
    if isinstance(value, dict):
        laws = {law for key, law in _LAWS.items() if key in value}
        if len(laws) > 1:
            raise ValueError(f"has the keys of two models: must be one of {_FORMS}")
        if laws:
            return laws.pop().model_validate(value)
        if not value or "every" in value:
            raise ValueError(f"names no model: must be one of {_FORMS}")
        return MarkovChanges.model_validate(value)
    if value is None or isinstance(value, Changes):
        return value
    raise ValueError(f"must be {_FORMS}, not {show(value)}")


ChangesKey = Annotated[Changes | None, BeforeValidator(_law), Allowed(_FORMS, keys=get_args(Changes))]
"""The key of a family."""
