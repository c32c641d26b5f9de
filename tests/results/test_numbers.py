import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.results.numbers import (
    decimals,
    enough_decimals,
    fixed,
    percentage,
    rounded,
    scaled,
    shortest,
    with_ends,
)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (10_000, None, "10,000"),
        (0.95, None, "0.95"),
        (-0.0, None, "0"),
        (2e-6, None, "2e-06"),
        (0.8758, 2, "0.88"),
        (12_345.6, 3, "12,300"),
        (math.inf, None, "inf"),
    ],
)
def test_a_number_as_a_person_writes_it(value, digits, text):
    assert shortest(value, digits) == text


@given(st.floats(-1e12, 1e12), st.integers(1, 6))
def test_what_is_written_reads_as_the_rounded_number(value, digits):
    assert float(shortest(value, digits).replace(",", "")) == pytest.approx(rounded(value, digits), abs=5e-7)


def test_a_picture_shares_one_letter_along_an_axis():
    assert [scaled(value) for value in (12_500, 2_500_000, math.inf, math.nan)] == ["12,500", "2.5M", "∞", "none"]
    assert [scaled(value, 3e6) for value in (0, 500_000, 3_000_000)] == ["0", "0.5M", "3M"]


@pytest.mark.parametrize(
    ("share", "percent"),
    [(0, 0), (0.00123, 0.12), (0.456, 46), (0.8996, 90), (0.9781, 97.8), (0.99907, 99.9), (0.99999, 99.9), (1, 100)],
)
def test_a_share_is_all_only_where_nothing_is_left(share, percent):
    assert percentage(share) == percent


def test_decimals_follow_the_half_width_and_else_the_number():
    assert [decimals(9_571.4, 3_166.0), decimals(0.876, 0.012), decimals(4.0), decimals(0.01234)] == [0, 3, 0, 5]
    assert enough_decimals([3.2, 0.8, 64.0], 3) == 1
    assert [fixed(0.0004, 2), fixed(1234.5678, 1), fixed(0, 2)] == ["4.0e-04", "1,234.6", "0.00"]
    assert fixed(-0.0, 0) == "0"


def test_an_interval_has_as_many_digits_as_it_is_wide():
    assert with_ends(0.92613, 0.92134, 0.93121) == "0.9261 [0.9213, 0.9312]"
