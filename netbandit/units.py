"""Durations, bandwidths and sizes as people write them."""

import re
from dataclasses import dataclass
from fractions import Fraction

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
# Two digits of exponent: enough for any duration, and "1e999999999 s" costs no memory.
_QUANTITY = re.compile(r"\s*([+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?)\s*(\S*)\s*", re.ASCII)

DURATION = 'a duration such as "10 ms": a number and one of ns, us, ms, s, min, h, slots'
"""What a duration looks like, for messages."""
BANDWIDTH = 'a bandwidth such as "1 Mbit/s": a number above 0 and one of bit/s, B/s, or these with k, M, G, T'
"""What a bandwidth looks like, for messages."""


@dataclass(frozen=True)
class Duration:
    """A length of time, either real or counted in slots.

    Attributes:
        amount: Nanoseconds, or slots; exact and at least 0.
        in_slots: Whether *amount* counts slots.
    """

    amount: Fraction
    in_slots: bool

    def nanoseconds(self, slot_ns: int) -> int:
        """Return the duration in whole nanoseconds, halves rounded up, for slots of *slot_ns* nanoseconds."""
        return _rounded(self.amount * slot_ns if self.in_slots else self.amount)


def parse_duration(text: str) -> Duration:
    """Read a duration such as ``"10 ms"`` or ``"0.5 slots"``.

    Raises:
        ValueError: The text is not a duration, or it is negative; says what a duration looks like.
    """
    amount, unit = _quantity(text, DURATION)
    if amount < 0:
        raise ValueError(f"must not be negative: {DURATION}")
    if unit in _SLOTS:
        return Duration(amount, in_slots=True)
    if unit not in _NANOSECONDS:
        raise ValueError(f"must be {DURATION}")
    return Duration(amount * _NANOSECONDS[unit], in_slots=False)


def parse_bandwidth(text: str) -> int:
    """Read a bandwidth such as ``"1 Mbit/s"`` and return it in bits a second, at least 1, halves rounded up.

    Raises:
        ValueError: The text is not a bandwidth, or is less than one bit a second; says what a bandwidth looks like.
    """
    amount, unit = _quantity(text, BANDWIDTH)
    if unit not in _BITS:
        raise ValueError(f"must be {BANDWIDTH}")
    bits = amount * _BITS[unit]
    if bits < 1:
        raise ValueError(f"must be at least 1 bit/s: {BANDWIDTH}")
    return _rounded(bits)


def _quantity(text: str, wanted: str) -> tuple[Fraction, str]:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"must be {wanted}")
    if not match[2]:
        raise ValueError(f"has no unit; must be {wanted}")
    return Fraction(match[1]), match[2]


def _rounded(amount: Fraction) -> int:
    return int((amount + Fraction(1, 2)) // 1)
