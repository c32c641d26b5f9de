"""Durations, bandwidths and energies: parsing and formatting."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,  # the Greek letter; the one above is the micro sign
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_SLOTS = ("slot", "slots")
_BITS = {
    f"{prefix}{unit}/s": bits * 1_000**power
    for unit, bits in (("bit", 1), ("B", 8))
    for power, prefix in enumerate(("", "k", "M", "G", "T"))
}
_JOULE = {
    **{
        f"{prefix}J": Fraction(10) ** power
        for prefix, power in (("p", -12), ("n", -9), ("u", -6), ("µ", -6), ("m", -3))
    },
    "J": Fraction(1),
    "kJ": Fraction(1_000),
    "Wh": Fraction(3_600),
}
_WATT = {
    **{f"{prefix}W": Fraction(10) ** power for prefix, power in (("n", -9), ("u", -6), ("µ", -6), ("m", -3))},
    "W": Fraction(1),
    "kW": Fraction(1_000),
}
_METRES = {"mm": Fraction(1, 1_000), "m": Fraction(1), "km": Fraction(1_000)}
_HERTZ = {"Hz": 1, "kHz": 1_000, "MHz": 1_000_000}
_METRES_A_SECOND = {"m/s": Fraction(1), "km/h": Fraction(1_000, 3_600)}
# Two digits of exponent: enough for any duration, and "1e999999999 s" costs no memory.
_QUANTITY = re.compile(r"\s*([+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?)\s*(\S*)\s*", re.ASCII)

_BYTES = {f"{prefix}B": 1_000**power for power, prefix in enumerate(("", "k", "M", "G"))}

DURATION = 'a duration such as "10 ms": a number and one of ns, us, ms, s, min, h, slots'
"""Examples of a duration, for error messages."""
BANDWIDTH = (
    'a bandwidth of at least 1 bit/s, such as "1 Mbit/s": a number and one of bit/s, B/s, or these with k, M, G, T'
)
"""Examples of a bandwidth, for error messages."""

SIZE = 'a size such as "4 kB": a number above 0 and one of B, kB, MB, GB'
"""Examples of a size, for error messages."""
LENGTH = 'a length such as "100 m": a number and one of m, km, mm'
"""Examples of a length, for error messages."""
FREQUENCY = 'a frequency such as "125 kHz": a number above 0 and one of Hz, kHz, MHz'
"""Examples of a frequency, for error messages."""
SPEED = 'a speed such as "1.5 m/s": a number and one of m/s, km/h'
"""Examples of a speed, for error messages."""


ENERGY = 'a number of joule, or an energy such as "0.05 mJ": a number and one of J, mJ, uJ, nJ, pJ, kJ, Wh'
"""Examples of an energy, for error messages."""


POWER = 'a number of watt, or a power such as "52.2 mW": a number and one of W, mW, uW, nW, kW'
"""Examples of a power, for error messages."""


class _Quantity(str):
    """A text that is parsed once, where an object is made, and stays the text that was written."""

    __slots__ = ()
    words = "a string"
    """Examples of it, for error messages."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())


class Duration(_Quantity):
    """A length of time such as ``"10 ms"`` or ``"0.5 slots"``, either real or counted in slots.

    Args:
        text: What was written.

    Attributes:
        amount: Nanoseconds, or slots; exact and at least 0.
        in_slots: Whether *amount* counts slots.

    Raises:
        ValueError: The text is not a duration, or it is negative; says what a duration looks like.
    """

    __slots__ = ("amount", "in_slots")
    words = DURATION
    amount: Fraction
    in_slots: bool

    def __new__(cls, text: str) -> "Duration":  # noqa: D102 - see the class
        if isinstance(text, Duration):
            return text
        amount, unit = _quantity(text, DURATION)
        if amount < 0:
            raise ValueError(f"must not be negative: {DURATION}")
        made = super().__new__(cls, text)
        made.in_slots = unit in _SLOTS
        if unit not in _NANOSECONDS and not made.in_slots:
            raise ValueError(f"must be {DURATION}")
        made.amount = amount if made.in_slots else amount * _NANOSECONDS[unit]
        return made

    def nanoseconds(self, slot_ns: int) -> int:
        """Return the duration in whole nanoseconds, halves rounded up, for slots of *slot_ns* nanoseconds."""
        return _rounded(self.amount * slot_ns if self.in_slots else self.amount)


def parse_duration(text: str) -> Duration:
    """Read a duration; see `Duration`."""
    return Duration(text)


class Bandwidth(_Quantity):
    """A bandwidth such as ``"1 Mbit/s"``.

    Args:
        text: What was written.

    Attributes:
        bits: Bits a second, at least 1, halves rounded up.

    Raises:
        ValueError: The text is not a bandwidth, or is less than one bit a second; says what a bandwidth looks like.
    """

    __slots__ = ("bits",)
    words = BANDWIDTH
    bits: int

    def __new__(cls, text: str) -> "Bandwidth":  # noqa: D102 - see the class
        if isinstance(text, Bandwidth):
            return text
        made = super().__new__(cls, text)
        made.bits = parse_bandwidth(text)
        return made


def parse_energy(value: Any) -> float:
    """Read an energy, a number of joule or a text such as ``"0.05 mJ"``, and return it in joule.

    Raises:
        ValueError: It is neither, or negative; says what an energy looks like.
    """
    return _number_or_text(value, _JOULE, ENERGY)


def energy_of_ends(energy: float | Sequence[float], sender_share: float) -> tuple[float, float]:
    """Return what the sender spends of an *energy* of both, and what the receiver; of a pair, that is said."""
    if isinstance(energy, Sequence):
        sender, receiver = energy
        return sender, receiver
    return energy * sender_share, energy - energy * sender_share


def energy_of_both(energy: float | Sequence[float]) -> float:
    """Return what sender and receiver spend together, of which *energy* is a number or a pair."""
    return sum(energy) if isinstance(energy, Sequence) else energy


def parse_power(value: Any) -> float:
    """Read a power, a number of watt or a text such as ``"52.2 mW"``, and return it in watt.

    Raises:
        ValueError: It is neither, or negative; says what a power looks like.
    """
    return _number_or_text(value, _WATT, POWER)


def _number_or_text(value: Any, units: Mapping[str, Fraction], wanted: str) -> float:
    if isinstance(value, str):
        return _measured(value, units, wanted)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf"):
        if value < 0:
            raise ValueError(f"must not be negative: {wanted}")
        return float(value)
    raise ValueError(f"must be {wanted}")


def parse_length(text: str) -> float:
    """Read a length such as ``"100 m"`` and return it in metres.

    Raises:
        ValueError: It is none, or negative; says what a length looks like.
    """
    return _measured(text, _METRES, LENGTH)


def parse_speed(text: str) -> float:
    """Read a speed such as ``"1.5 m/s"`` and return it in metres a second.

    Raises:
        ValueError: It is none, or negative; says what a speed looks like.
    """
    return _measured(text, _METRES_A_SECOND, SPEED)


def parse_frequency(text: str) -> int:
    """Read a frequency such as ``"125 kHz"`` and return it in hertz, at least 1, halves rounded up.

    Raises:
        ValueError: It is none, or less than a hertz; says what a frequency looks like.
    """
    return _whole(text, _HERTZ, FREQUENCY, "Hz")


def _measured(text: str, units: Mapping[str, Fraction], wanted: str) -> float:
    amount, unit = _quantity(text, wanted)
    if unit not in units:
        raise ValueError(f"must be {wanted}")
    if amount < 0:
        raise ValueError(f"must not be negative: {wanted}")
    return float(amount * units[unit])


def parse_size(text: str) -> int:
    """Read a size such as ``"4 kB"`` and return it in bytes, at least 1, halves rounded up.

    Raises:
        ValueError: It is none, or less than a byte; says what a size looks like.
    """
    return _whole(text, _BYTES, SIZE, "B")


def parse_bandwidth(text: str) -> int:
    """Read a bandwidth such as ``"1 Mbit/s"`` and return it in bits a second, at least 1, halves rounded up.

    Raises:
        ValueError: The text is not a bandwidth, or is less than one bit a second; says what a bandwidth looks like.
    """
    return _whole(text, _BITS, BANDWIDTH, "bit/s")


def _whole(text: str, units: Mapping[str, int], wanted: str, least: str) -> int:
    """Return a number, at least 1, of the unit *least* as a whole."""
    amount, unit = _quantity(text, wanted)
    if unit not in units:
        raise ValueError(f"must be {wanted}")
    found = amount * units[unit]
    if found < 1:
        raise ValueError(f"must be at least 1 {least}: {wanted}")
    return _rounded(found)


def _quantity(text: str, wanted: str) -> tuple[Fraction, str]:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"must be {wanted}")
    if not match[2]:
        raise ValueError(f"has no unit; must be {wanted}")
    return Fraction(match[1]), match[2]


def _rounded(amount: Fraction) -> int:
    return int((amount + Fraction(1, 2)) // 1)


def rough_time(seconds: float) -> str:
    """Return a time with no more precision than a guess deserves."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
