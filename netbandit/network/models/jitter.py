"""Jitter: ``jitter`` of a class of links, a random addition to the latency of each message, and ``overtaking``."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from netbandit.network import jitter as laws
from netbandit.network.link import Channel
from netbandit.network.models.settings import ModelSettings, nanoseconds
from netbandit.network.packet import Packet
from netbandit.network.steps import ByColumn, Model, Steps
from netbandit.parts.settings import DurationText, is_number
from netbandit.util.wording import show


class Jitter(Model):
    """Adds a time to the latency of each message.

    Args:
        law: Its distribution.
        overtaking: Whether messages overtake each other; if not, they are held back. Retransmissions always do.
    """

    in_order: ClassVar[bool] = False

    def __init__(self, law: laws.Jitter, overtaking: bool) -> None:
        self._law, self._overtaking = law, overtaking

    def join(self, steps: Steps) -> None:
        """See `Model.join`."""
        times, copy_times = steps.draws("jitter"), steps.draws("duplicate.jitter")
        law, overtaking = self._law.times, self._overtaking
        added: ByColumn[Iterator[Any]] = ByColumn(lambda column: times.mapped(column, law))

        def late(channel: Channel, arrival: int, packet: Packet | None) -> int:
            arrival += next(added[channel.column])
            return arrival if overtaking or packet is not None or arrival > channel.latest else channel.latest

        steps.own(late=late, copy_late=ByColumn(lambda column: copy_times.mapped(column, law)))
        steps.skips.append(lambda channel: next(added[channel.column]))
        steps.overtaking = overtaking


class JitterSettings(ModelSettings):
    """One of the tables that ``jitter`` takes."""

    def law(self, slot: int) -> laws.Jitter:
        """Return the distribution; *slot* is the length of a slot (ns)."""
        raise NotImplementedError


def law_of(jitter: str | JitterSettings, slot: int) -> laws.Jitter | None:
    """Return the law of ``jitter``, the longest time or a table; None: nothing is added."""
    if isinstance(jitter, JitterSettings):
        return jitter.law(slot)
    longest = nanoseconds(jitter, slot)
    return laws.UniformJitter(longest) if longest else None


class ExponentialJitter(JitterSettings):
    """Exponential jitter."""

    FORM: ClassVar[str] = '{ exponential = "2 ms" }'

    exponential: DurationText = Field(description="Its mean.")

    def law(self, slot: int) -> laws.Jitter:
        """See `JitterSettings.law`."""
        return laws.ExponentialJitter(nanoseconds(self.exponential, slot))


class LognormalJitter(JitterSettings):
    """Lognormal jitter."""

    FORM: ClassVar[str] = '{ lognormal = ["2 ms", 0.5] }'

    lognormal: tuple[DurationText, Annotated[float, Field(ge=0)]] = Field(
        strict=False, description="Its median, and the standard deviation of its logarithm."
    )

    def law(self, slot: int) -> laws.Jitter:
        """See `JitterSettings.law`."""
        return laws.LognormalJitter(nanoseconds(self.lognormal[0], slot), self.lognormal[1])


def _slots(value: Any) -> float | None:
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


class GeometricJitter(JitterSettings):
    """Whole slots from 0 to a largest number, P(k) proportional to q^k."""

    FORM: ClassVar[str] = "{ geometric = [10, 50] }"

    geometric: tuple[float | str, int | str] = Field(
        strict=False, description="The mean and the largest number of slots."
    )

    @model_validator(mode="before")
    @classmethod
    def _check(cls, keys: Any) -> Any:
        wanted, value = "{ geometric = [mean, largest] }: two numbers of slots", keys.get("geometric")
        if not isinstance(value, list | tuple) or len(value) != 2 or None in map(_slots, value):
            raise ValueError(f"must be {wanted}, not {show(value)}")
        mean, largest = (_slots(number) or 0.0 for number in value)
        if largest != int(largest) or not 0 <= largest <= 10**6:
            raise ValueError(f"must be {wanted}, the largest a whole number up to 10^6, not {largest:g}")
        if not 0 <= mean <= largest / 2:
            raise ValueError(f"must be {wanted}, the mean at most half the largest, not {mean:g} and {largest:g}")
        return keys

    def law(self, slot: int) -> laws.Jitter:
        """See `JitterSettings.law`."""
        mean, largest = (_slots(number) or 0.0 for number in self.geometric)
        return laws.GeometricJitter(mean, int(largest), slot)
