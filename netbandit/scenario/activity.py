"""The key ``activity`` of ``[run]``: which agents decide when."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from netbandit.parts.settings import PositiveDuration, Settings
from netbandit.parts.validation import read
from netbandit.util.units import parse_duration
from netbandit.util.wording import Allowed, did_you_mean, key_text, show

_ACTIVITY = '"every", "one", { share = 0.2 } or { poisson = "20 ms" }'
_NAMES = ("every", "one")

MOST_USERS = 1_000_000
"""Users of an agent in a slot, in the mean, that a Poisson process may bring at most."""


class ShareActivity(Settings):
    """Each agent decides in each slot with a probability."""

    share: float = Field(gt=0, le=1, description="The probability that an agent decides in a slot.")


class PoissonActivity(Settings):
    """Users arrive at each agent in a Poisson process, and are served on arrival."""

    poisson: PositiveDuration = Field(description="Mean time between users of an agent.")

    def gap(self, slot: int) -> float:
        """Return the mean time (ns) from one user of an agent to the next, for slots of *slot* nanoseconds."""
        duration = parse_duration(self.poisson)
        return float(duration.amount) * (slot if duration.in_slots else 1)


def _activity(value: Any) -> Any:
    if isinstance(value, dict):
        model: type[ShareActivity | PoissonActivity] = PoissonActivity if "poisson" in value else ShareActivity
        made, problems = read(model, value)
        if made is None:
            raise ValueError("; ".join(f"{key_text(path)}: {text}" for path, text in problems))
        return made
    if isinstance(value, ShareActivity | PoissonActivity) or value in _NAMES:
        return value
    raise ValueError(f"must be {_ACTIVITY}, not {show(value)}{did_you_mean(value, _NAMES)}")


Activity = Annotated[
    Literal["every", "one"] | ShareActivity | PoissonActivity,
    BeforeValidator(_activity),
    Allowed(_ACTIVITY),
]
"""``activity``."""
