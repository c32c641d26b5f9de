"""The tables inside ``[compute]``: times of nodes, and laws of their speeds."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from netbandit.parts.settings import DurationText, FileSettings, Probability, Settings
from netbandit.scenario.delay import Delay
from netbandit.scenario.link_faults import number_or_list

_NO_TIME = "0 ms"

Factor = Annotated[float, Field(gt=0, le=1e9)]
Inbox = Annotated[int, Field(ge=0, le=10**9)]


class ServerTimes(Settings):
    """``[compute.server]``: the times of the server, which no speed changes."""

    message: Delay = Field(default=_NO_TIME, description="To handle a message: a duration, or a distribution.")
    byte: DurationText = Field(default=_NO_TIME, description="To handle a message, for each of its bytes.")
    aggregate: Delay = Field(
        default=_NO_TIME, description="To put together what has come, by who does that; a duration, or a distribution."
    )
    inbox: Inbox | None = Field(
        default=None,
        description="Messages that wait at most beside the one being handled; others are refused; absent: no limit.",
    )


class AgentTimes(ServerTimes):
    """``[compute.agents]``: the times of an agent, at speed 1."""

    decision: Delay = Field(
        default=_NO_TIME,
        description="After a pull, before what it makes the agent send leaves, of learners that decide in every slot; "
        "a duration, or a distribution.",
    )
    item: Delay = Field(
        default=_NO_TIME, description="Before a contribution leaves: training, say; a duration, or a distribution."
    )


class UniformSpeed(Settings):
    """Uniform between two factors."""

    uniform: tuple[Factor, Factor] = Field(strict=False, description="The smallest and the largest factor.")


class LognormalSpeed(Settings):
    """Lognormal with median 1."""

    lognormal: float = Field(ge=0, le=100, description="The standard deviation of the factor's logarithm.")


class ParetoSpeed(Settings):
    """A Pareto distribution with least factor 1."""

    pareto: float = Field(gt=0, description="The shape.")


class ShareSpeed(Settings):
    """Some agents are slower, each with the same probability."""

    share: Probability = Field(description="The probability that an agent is one of them.")
    factor: Factor = Field(description="The factor of their times.")


class SpeedFile(FileSettings):
    """A table of devices."""

    file: str = Field(
        description="A CSV file, also gzipped; a row is that of the agent that a column names, or else agent i is row "
        "i, from the first on again and again."
    )
    column: str = Field(
        default="computation", description="The column that counts, over its mean: computing times of devices."
    )


LAWS: tuple[type[Settings], ...] = (UniformSpeed, LognormalSpeed, ParetoSpeed, ShareSpeed, SpeedFile)


SPEED = (
    "a factor above 0, a list of them, one an agent, { uniform = [1.0, 4.0] }, { lognormal = 0.6 } (sigma; median 1), "
    '{ pareto = 2.0 } (shape; least 1), { share = 0.1, factor = 10.0 } or { file = "devices.csv" }'
)


Speed = float | list[float] | UniformSpeed | LognormalSpeed | ParetoSpeed | ShareSpeed | SpeedFile
"""``compute.speed``."""


def read_speed(value: Any) -> Any:
    """Return the speed, or the law of it, that was written as *value*."""
    if isinstance(value, LAWS):
        return value
    if isinstance(value, Mapping):
        meant = [law for law in LAWS if any(key in value for key in law.model_fields)]
        if len(meant) == 1:
            return meant[0].model_validate(value)
    return number_or_list(value, lambda factor: 0 < factor <= 1e9, SPEED)
