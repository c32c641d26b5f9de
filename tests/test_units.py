from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.units import (
    Duration,
    parse_bandwidth,
    parse_duration,
)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0 ms", 0),
        ("1 ns", 1),
        ("10 us", 10_000),
        ("10 µs", 10_000),
        ("10 μs", 10_000),
        ("10 ms", 10_000_000),
        ("10ms", 10_000_000),
        ("  1.5  s ", 1_500_000_000),
        ("2 min", 120_000_000_000),
        ("1 h", 3_600_000_000_000),
        ("1e-3 s", 1_000_000),
        ("0.5 ns", 1),
        ("1.5 ns", 2),
        ("0.4999 ns", 0),
        ("-0 s", 0),
        ("0.5 slots", 500_000),
        ("1 slot", 1_000_000),
        ("3 slots", 3_000_000),
    ],
)
def test_a_duration_in_whole_nanoseconds(text: str, nanoseconds: int) -> None:
    assert parse_duration(text).nanoseconds(slot_ns=1_000_000) == nanoseconds


def test_decimals_are_exact() -> None:
    assert parse_duration("0.1 s") == Duration(Fraction(100_000_000), in_slots=False)
    assert parse_duration("0.3 slots") == Duration(Fraction(3, 10), in_slots=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ms",
        "10",
        "10 m",
        "10 MS",
        "ten ms",
        "1,5 ms",
        "nan ms",
        "inf s",
        "10 ms 3",
        "1e999999999 s",
        "0x10 ms",
        "٣ ms",
    ],
)
def test_what_is_no_duration_says_what_one_is(text: str) -> None:
    with pytest.raises(ValueError, match="a number and one of ns, us, ms, s, min, h, slots"):
        parse_duration(text)


def test_a_negative_duration() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        parse_duration("-1 ms")


@given(st.integers(min_value=0, max_value=10**15), st.sampled_from(["ns", "us", "ms", "s"]))
def test_whole_numbers_are_never_rounded(amount: int, unit: str) -> None:
    factor = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit]
    assert parse_duration(f"{amount} {unit}").nanoseconds(1) == amount * factor


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("1 bit/s", 1),
        ("1 kbit/s", 1_000),
        ("1 Mbit/s", 1_000_000),
        ("2.5Gbit/s", 2_500_000_000),
        ("1 Tbit/s", 10**12),
        ("1 B/s", 8),
        ("1 MB/s", 8_000_000),
        ("1.5 bit/s", 2),
    ],
)
def test_a_bandwidth_in_bits_a_second(text: str, bits: int) -> None:
    assert parse_bandwidth(text) == bits


@pytest.mark.parametrize("text", ["0 Mbit/s", "-1 Mbit/s", "1 Mbps", "1 mbit/s", "1", "fast", "0.1 bit/s", "nan bit/s"])
def test_what_is_no_bandwidth_says_what_one_is(text: str) -> None:
    with pytest.raises(ValueError, match='such as "1 Mbit/s"'):
        parse_bandwidth(text)
