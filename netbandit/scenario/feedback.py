"""``[feedback]``: when agents receive the rewards of their pulls."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from netbandit.parts.settings import PositiveDuration, Settings
from netbandit.scenario.delay import Delay, DelayOrFile
from netbandit.scenario.link_faults import Probability, number_or_list
from netbandit.util.wording import Allowed

_NEVER = "a probability from 0 to 1, or a list of them, one an arm"


def _never(value: Any) -> float | list[float]:
    return number_or_list(value, lambda share: 0 <= share <= 1, _NEVER)


class FeedbackSettings(Settings):
    """``[feedback]``: how late rewards are learned; by default at once."""

    delay: DelayOrFile | None = Field(
        default=None, description="From a pull to the moment its reward is learned; absent: none."
    )
    by_arm: list[Delay] | None = Field(
        default=None, min_length=1, description="Instead of delay: one for each arm, as for delay, without a file."
    )
    by_agent: list[Delay] | None = Field(
        default=None, min_length=1, description="Instead of delay: one for each agent."
    )
    never: Annotated[Probability | list[Probability], BeforeValidator(_never), Allowed(_NEVER)] = Field(
        default=0.0, description="Share of pulls whose reward is never learned; or a list, one an arm."
    )
    window: PositiveDuration | None = Field(
        default=None, description="Rewards that come later than this after their pull are not learned; absent: all are."
    )
    missing: Literal["forgotten", "zero"] = Field(
        default="forgotten",
        description='What stands for a reward that has not come by the end of its window: nothing, or "zero".',
    )
    reports: Literal["all", "nonzero"] = Field(
        default="all", description='Which rewards are reported at all: "nonzero", as clicks are, or "all".'
    )

    @model_validator(mode="after")
    def _one_law(self) -> Self:
        given = [key for key in ("delay", "by_arm", "by_agent") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"has {given[0]} and {given[1]}: one of them says how late feedback is")
        return self

    def __bool__(self) -> bool:
        return self != FeedbackSettings()
