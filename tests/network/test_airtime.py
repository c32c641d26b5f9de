from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.airtime import LoRa
from netbandit.network.link import LinkClass


@pytest.mark.parametrize(
    ("size", "factor", "bandwidth", "coding", "preamble", "nanoseconds"),
    [
        (13, 9, 125, 1, 8, 164_864_000),
        (10, 7, 125, 1, 8, 41_216_000),
        (10, 8, 125, 1, 8, 72_192_000),
        (50, 12, 125, 1, 8, 2_301_952_000),
        (50, 12, 125, 2, 8, 2_629_632_000),
        (10, 10, 500, 2, 8, 78_336_000),
        (10, 10, 500, 2, 10, 82_432_000),
        (10, 12, 500, 2, 8, 264_192_000),
    ],
)
def test_airtimes_of_published_calculators(size, factor, bandwidth, coding, preamble, nanoseconds):
    assert LoRa(factor, bandwidth * 1_000, coding, preamble).airtime(size) == nanoseconds


def symbols(size, factor, coding, preamble, optimized):
    """The number of symbols by AN1200.13: n_preamble + 4.25 + 8 + max(ceil((8 PL - 4 SF + 28 + 16) / ...), 0)."""
    blocks = Fraction(8 * size - 4 * factor + 28 + 16 - 20 * 0, 4 * (factor - 2 * optimized))
    return preamble + Fraction(17, 4) + 8 + max(blocks.__ceil__() * (coding + 4), 0)


@given(st.integers(0, 255), st.integers(7, 12), st.sampled_from([125, 250, 500]), st.integers(1, 4), st.integers(6, 20))
def test_airtime_is_its_symbols(size, factor, bandwidth, coding, preamble):
    optimized = (factor, bandwidth) in ((11, 125), (12, 125), (12, 250))
    symbol = Fraction(2**factor, bandwidth) * 10**6
    assert LoRa(factor, bandwidth * 1_000, coding, preamble).airtime(size) == symbol * symbols(
        size, factor, coding, preamble, optimized
    )


def test_what_does_not_fit_into_a_frame_goes_in_several_back_to_back():
    lora = LoRa(7, 125_000)
    assert lora.airtime(256) == lora.airtime(255) + lora.airtime(1)
    assert lora.airtime(510) == 2 * lora.airtime(255)
    assert LinkClass(modulation=lora).transmission(300) == lora.airtime(255) + lora.airtime(45)
