"""A random duration as a key of a scenario: the delay of feedback, the service time of a job."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from netbandit.network.models.jitter import ExponentialJitter, LognormalJitter
from netbandit.parts.settings import DurationText, FileSettings, PositiveDuration, Settings, duration_text
from netbandit.util.wording import Allowed, show


class UniformDelay(Settings):
    """Uniform between two durations."""

    uniform: tuple[DurationText, DurationText] = Field(strict=False, description="The shortest and the longest.")


class GeometricDelay(Settings):
    """Whole slots from 0, geometric."""

    geometric: float = Field(gt=0, le=1e12, description="The mean, in slots.")


class ParetoDelay(Settings):
    """A Pareto distribution: P(D > d) = (least / d)^shape."""

    pareto: tuple[PositiveDuration, Annotated[float, Field(gt=0)]] = Field(
        strict=False, description="The least, and the shape; without a mean where the shape is at most 1."
    )


class DelayFile(FileSettings):
    """Delays that a file lists, each row as likely as any other."""

    file: str = Field(
        description="A CSV file, also gzipped, with the column DELAY (seconds; empty: never), and ARM or "
        "AGENT (a name, or a number from 0) if rows are of one arm or agent each."
    )


_LAWS: tuple[type[Settings], ...] = (UniformDelay, GeometricDelay, ExponentialJitter, LognormalJitter, ParetoDelay)


_DELAY = (
    'a duration such as "30 ms" or "3 slots", { uniform = ["0 ms", "50 ms"] }, { geometric = 50 } (mean, slots), '
    '{ exponential = "20 ms" }, { lognormal = ["20 ms", 0.6] } (median, sigma) or { pareto = ["10 ms", 1.2] } '
    "(least, shape)"
)
_OR_FILE = f'{_DELAY}; or {{ file = "delays.csv" }}'


def _delay(value: Any, *, files: bool) -> Any:
    laws: tuple[type[Settings], ...] = (*_LAWS, DelayFile) if files else _LAWS
    if isinstance(value, laws):
        return value
    if isinstance(value, Mapping):
        meant = [law for law in laws if any(key in value for key in law.model_fields)]
        if len(meant) > 1:
            raise ValueError(f"has the keys of two distributions: must be {_OR_FILE if files else _DELAY}")
        if meant:
            return meant[0].model_validate(value)
    if not isinstance(value, str):
        raise ValueError(f"must be {_OR_FILE if files else _DELAY}, not {show(value)}")
    return duration_text(value, also=f", or {_DELAY.partition(', ')[2]}")


Delay = Annotated[
    str | UniformDelay | GeometricDelay | ExponentialJitter | LognormalJitter | ParetoDelay,
    BeforeValidator(lambda value: _delay(value, files=False)),
    Allowed(_DELAY, keys=(*_LAWS, DelayFile)),
]
"""A duration, or a distribution of durations."""
DelayOrFile = Annotated[
    str | UniformDelay | GeometricDelay | ExponentialJitter | LognormalJitter | ParetoDelay | DelayFile,
    BeforeValidator(lambda value: _delay(value, files=True)),
    Allowed(_OR_FILE, keys=(*_LAWS, DelayFile)),
]
"""The same, or a file that lists some."""
