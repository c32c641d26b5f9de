"""The keys for faults of a class of links: which models of losses and jitter there are, retransmission, copies."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

from pydantic import Field, SerializeAsAny, ValidatorFunctionWrapHandler, WrapValidator

from netbandit.network.models.jitter import ExponentialJitter, GeometricJitter, JitterSettings, LognormalJitter
from netbandit.network.models.loss import BurstLossSettings, LossSettings, PerBitLoss
from netbandit.network.models.retransmission import RetrySettings
from netbandit.network.models.settings import ModelSettings
from netbandit.parts.registry import KindError, link_models
from netbandit.parts.settings import Probability, Settings, duration_text, is_number
from netbandit.util.wording import Allowed, show


def number_or_list(value: Any, fits: Callable[[float], bool], wanted: str) -> float | list[float]:
    """Return a number that *fits*, or a list of such numbers, as floats; messages say that it must be *wanted*."""
    if isinstance(value, list) and value and all(is_number(one) and fits(one) for one in value):
        return [float(one) for one in value]
    if not (is_number(value) and fits(value)):
        raise ValueError(f"must be {wanted}, not {show(value)}")
    return float(value)


LOSSES = (PerBitLoss, BurstLossSettings)
JITTERS = (ExponentialJitter, LognormalJitter, GeometricJitter)
"""The tables that these keys take, beside those of other packages; see `netbandit.network.models.settings`."""


def _either(value: str, forms: Sequence[type[ModelSettings]]) -> str:
    """Return in words what a key takes: a *value*, or one of its tables."""
    *before, last = (form.FORM for form in forms)
    return f"{', '.join([value, *before])} or {last}"


_LOSS = _either("a probability from 0 to 1", LOSSES)
_JITTER = _either('a duration such as "3 ms" (uniform from 0)', JITTERS)


def _table(value: Any, base: type[ModelSettings], forms: Sequence[type[ModelSettings]]) -> Any:
    """Return *value* as one of the tables of a key, if it is a table with keys of one; else as it is."""
    if not isinstance(value, dict):
        return value
    try:
        for form in chain(forms, link_models(base)):
            if form is base:  # what is offered is not imported, so it is not checked either
                return form.model_construct()
            if form.model_fields.keys() & value.keys():
                return form.model_validate(value)
    except KindError as error:
        raise ValueError(str(error)) from None
    return value


def _loss(value: Any, inside: ValidatorFunctionWrapHandler) -> Any:
    table = _table(value, LossSettings, LOSSES)
    if isinstance(table, LossSettings):
        return table
    if isinstance(table, dict):
        return BurstLossSettings.model_validate(table)
    if is_number(value) and 0 <= value <= 1:
        return inside(float(value))
    raise ValueError(f"must be {_LOSS}, not {show(value)}")


def _jitter(value: Any, inside: ValidatorFunctionWrapHandler) -> Any:
    table = _table(value, JitterSettings, JITTERS)
    if isinstance(table, JitterSettings):
        return table
    if not isinstance(value, str):
        raise ValueError(f"must be {_JITTER}, not {show(value)}")
    return inside(duration_text(value, also=f", or {_JITTER.partition(', ')[2]}"))


# Tables of other packages are no types that are known here: they are not validated a second time.
Loss = Annotated[
    SerializeAsAny[float | PerBitLoss | BurstLossSettings],
    WrapValidator(_loss),
    Allowed(_LOSS, LOSSES, partial(link_models, LossSettings)),
]
"""``loss``."""
Jitter = Annotated[
    SerializeAsAny[str | ExponentialJitter | LognormalJitter | GeometricJitter],
    WrapValidator(_jitter),
    Allowed(_JITTER, JITTERS, partial(link_models, JitterSettings)),
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
