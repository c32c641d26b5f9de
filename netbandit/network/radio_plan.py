"""Parameters of the shared radio channel, as passed to the constructor of a network."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Aloha:
    """A random delay before each transmission.

    Attributes:
        longest: The longest delay (ns).
    """

    longest: int


@dataclass(frozen=True)
class Csma:
    """Random backoffs, with carrier sensing after each.

    Attributes:
        unit: The unit of a backoff (ns).
        attempts: How often an agent senses the channel.
    """

    unit: int
    attempts: int


@dataclass(frozen=True)
class RadioPlan:
    """How agents share the air.

    Attributes:
        access: How a transmitter gets access; None: at once.
        duty: The duty cycle, above 0 and at most 1.
    """

    access: Aloha | Csma | None = None
    duty: Fraction = Fraction(1)

    def period(self, airtime: int) -> int:
        """Return how long (ns) after the beginning of a transmission of *airtime* (ns) the next may begin."""
        return -(-airtime * self.duty.denominator // self.duty.numerator)
