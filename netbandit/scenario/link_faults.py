"""The keys for faults of a class of links: loss, jitter, retry."""

from collections.abc import Callable
from typing import Annotated, Any, TypeGuard

from pydantic import BeforeValidator, Field

from netbandit.parts.settings import DurationText, PositiveDuration, Settings, duration_text
from netbandit.util.wording import Allowed, show

Probability = Annotated[float, Field(ge=0, le=1)]


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether *value* is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_or_list(value: Any, fits: Callable[[float], bool], wanted: str) -> float | list[float]:
    """Return a number that *fits*, or a list of such numbers, as floats; messages say that it must be *wanted*."""
    if isinstance(value, list) and value and all(is_number(one) and fits(one) for one in value):
        return [float(one) for one in value]
    if not (is_number(value) and fits(value)):
        raise ValueError(f"must be {wanted}, not {show(value)}")
    return float(value)


_LOSS = (
    "a probability from 0 to 1, { per_bit = 1e-6 } or "
    '{ good = 0.001, bad = 0.5, good_for = "10 s", bad_for = "500 ms" }'
)
_JITTER = (
    'a duration such as "3 ms" (uniform from 0), { exponential = "2 ms" }, { lognormal = ["2 ms", 0.5] } '
    "or { geometric = [10, 50] }"
)


class PerBitLoss(Settings):
    """A message is lost if one of its bits is: 1 - (1 - p)^(8 bytes)."""

    per_bit: Probability = Field(description="The probability that a bit is lost.")


class BurstLossSettings(Settings):
    """Gilbert-Elliott in continuous time: good and bad states of exponential length, independent in each direction."""

    good: Probability = Field(description="The probability that a message is lost in the good state.")
    bad: Probability = Field(description="The probability that a message is lost in the bad state.")
    good_for: PositiveDuration = Field(description="Mean duration of the good state.")
    bad_for: PositiveDuration = Field(description="Mean duration of the bad state.")


class ExponentialJitter(Settings):
    """Exponential jitter."""

    exponential: DurationText = Field(description="Its mean.")


class LognormalJitter(Settings):
    """Lognormal jitter."""

    lognormal: tuple[DurationText, Annotated[float, Field(ge=0)]] = Field(
        strict=False, description="Its median, and the standard deviation of its logarithm."
    )


class GeometricJitter(Settings):
    """Whole slots from 0 to a largest number, P(k) proportional to q^k."""

    geometric: tuple[float | str, int | str] = Field(
        strict=False, description="The mean and the largest number of slots."
    )


_JITTERS = (ExponentialJitter, LognormalJitter, GeometricJitter)


def _loss(value: Any) -> Any:
    if isinstance(value, dict):
        return (PerBitLoss if "per_bit" in value else BurstLossSettings).model_validate(value)
    if isinstance(value, PerBitLoss | BurstLossSettings):
        return value
    if is_number(value) and 0 <= value <= 1:
        return float(value)
    raise ValueError(f"must be {_LOSS}, not {show(value)}")


def _jitter(value: Any) -> Any:
    if isinstance(value, dict):
        for model in _JITTERS:
            if any(key in value for key in model.model_fields):
                if model is GeometricJitter:
                    _check_geometric(value.get("geometric"))
                return model.model_validate(value)
    if isinstance(value, _JITTERS):
        return value
    if not isinstance(value, str):
        raise ValueError(f"must be {_JITTER}, not {show(value)}")
    return duration_text(value, also=f", or {_JITTER.partition(', ')[2]}")


def slots_of(value: Any) -> float | None:
    """Return the slots of *value*, a number or text such as ``"10 slots"``; None if it has none."""
    if isinstance(value, str):
        words = value.split()
        if len(words) != 2 or words[1] not in ("slot", "slots"):
            return None
        try:
            return float(words[0])
        except ValueError:
            return None
    return float(value) if is_number(value) else None


def _check_geometric(value: Any) -> None:
    wanted = "{ geometric = [mean, largest] }: two numbers of slots"
    if not isinstance(value, list | tuple) or len(value) != 2 or None in map(slots_of, value):
        raise ValueError(f"must be {wanted}, not {show(value)}")
    mean, largest = (slots_of(number) or 0.0 for number in value)
    if largest != int(largest) or not 0 <= largest <= 10**6:
        raise ValueError(f"must be {wanted}, the largest a whole number up to 10^6, not {largest:g}")
    if not 0 <= mean <= largest / 2:
        raise ValueError(f"must be {wanted}, the mean at most half the largest, not {mean:g} and {largest:g}")


class RetrySettings(Settings):
    """Hop-by-hop acknowledgements, with the parameters of CoAP (RFC 7252)."""

    timeout: PositiveDuration = Field(default="2 s", description="How long a sender waits for the acknowledgement.")
    factor: float = Field(default=2.0, ge=1, le=1000, description="The factor of the timeout at each retransmission.")
    spread: float = Field(
        default=1.5, ge=1, le=1000, description="Timeouts are multiplied by a number from 1 to this, drawn per message."
    )
    attempts: int = Field(default=5, ge=1, le=1000, description="Transmissions in all, before the sender gives up.")


Loss = Annotated[
    float | PerBitLoss | BurstLossSettings, BeforeValidator(_loss), Allowed(_LOSS, keys=(PerBitLoss, BurstLossSettings))
]
"""``loss``."""
Jitter = Annotated[
    str | ExponentialJitter | LognormalJitter | GeometricJitter,
    BeforeValidator(_jitter),
    Allowed(_JITTER, keys=_JITTERS),
]
"""``jitter``."""


class FaultyLinkSettings(Settings):
    """The faults of a class of links; by default none.

    Attributes:
        loss: How messages are lost.
        jitter: The random addition to the latency of each message.
        overtaking: Whether jitter lets messages overtake each other.
        duplicate: The probability that a message which is not lost arrives once more.
        retry: Hop-by-hop acknowledgements; None: none.
    """

    loss: Loss = Field(
        default=0.0,
        description="Probability that a message is lost; { per_bit = p }; or { good, bad, good_for, bad_for }: bursts.",
    )
    jitter: Jitter = Field(
        default="0 ms",
        description='Added to the latency of each message: "3 ms" (uniform from 0), { exponential = "2 ms" }, '
        '{ lognormal = ["2 ms", 0.5] } or { geometric = [10, 50] } (slots: mean, largest).',
    )
    overtaking: bool = Field(default=False, description="Whether jitter lets messages overtake each other.")
    duplicate: Probability = Field(default=0.0, description="Probability that a message is duplicated.")
    retry: RetrySettings | None = Field(
        default=None, description="Acknowledgements and repetitions, hop by hop; absent: none."
    )
