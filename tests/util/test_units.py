import json
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.util.units import (
    Bandwidth,
    Duration,
    parse_bandwidth,
    parse_duration,
    parse_energy,
    parse_frequency,
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
    real, slots = parse_duration("0.1 s"), parse_duration("0.3 slots")
    assert (real.amount, real.in_slots) == (Fraction(100_000_000), False)
    assert (slots.amount, slots.in_slots) == (Fraction(3, 10), True)


def test_a_duration_stays_the_text_that_was_written() -> None:
    written = Duration("1e1  ms")
    assert written == "1e1  ms"
    assert Duration(written) is written
    again = pickle.loads(pickle.dumps(written))
    assert (again, again.amount) == (written, written.amount)
    assert json.dumps(Bandwidth("1 Mbit/s")) == '"1 Mbit/s"'
    assert Bandwidth("1 Mbit/s").bits == 10**6


@pytest.mark.parametrize(
    ("value", "joule"),
    [("0.05 mJ", 0.05e-3), ("3 uJ", 3e-6), ("3 µJ", 3e-6), ("0.1 Wh", 360.0), (0.25, 0.25), (2, 2.0), ("0 J", 0.0)],
)
def test_an_energy_in_joule(value: str | float, joule: float) -> None:
    assert parse_energy(value) == joule


@pytest.mark.parametrize("value", ["0.05", "1 mj", "x", True, None, float("nan"), float("inf"), "-1 J", -1])
def test_what_is_no_energy_says_what_one_is(value: object) -> None:
    with pytest.raises(ValueError, match=r'an energy such as "0\.05 mJ"'):
        parse_energy(value)


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


@pytest.mark.parametrize(
    ("text", "hertz"), [("125 kHz", 125_000), ("0.5 MHz", 500_000), ("1 Hz", 1), ("62.5 kHz", 62_500), ("2.5 Hz", 3)]
)
def test_frequencies_are_whole_hertz(text, hertz):
    assert parse_frequency(text) == hertz


@pytest.mark.parametrize("text", ["125", "kHz", "1 s", "-1 kHz", "0.5 Hz", "125 khz"])
def test_what_is_no_frequency_is_told_so(text):
    with pytest.raises(ValueError, match='"125 kHz": a number above 0 and one of Hz, kHz, MHz'):
        parse_frequency(text)
