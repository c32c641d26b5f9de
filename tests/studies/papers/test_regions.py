import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.results.intervals import Interval
from netbandit.studies.papers.regions import Region


def between(low, high):
    return Interval((low + high) / 2, low, high, 0.95, 10)


@pytest.mark.parametrize(
    ("region", "low", "high", "verdict"),
    [
        ({"below": 1}, 0.5, 0.9, "holds"),
        ({"below": 1}, 1.0, 1.2, "does not hold"),
        ({"below": 1}, 0.9, 1.0, "not decidable"),
        ({"at_most": 1}, 0.9, 1.0, "holds"),
        ({"at_most": 1}, 1.0, 1.2, "not decidable"),
        ({"at_most": 1}, 1.1, 1.2, "does not hold"),
        ({"above": 1}, 0.2, 1.0, "does not hold"),
        ({"at_least": 1, "at_most": 1}, 1.0, 1.0, "holds"),
        ({"at_least": 0.9, "at_most": 1.1}, 0.8, 1.2, "not decidable"),
        ({"below": 1}, -math.inf, math.inf, "not decidable"),
        ({"below": 1}, math.nan, math.nan, "not decidable"),
    ],
)
def test_where_the_interval_lies(region, low, high, verdict):
    assert Region(**region).verdict(between(low, high)) == verdict


@given(st.floats(-10, 10), st.floats(0, 5), st.floats(-10, 10))
def test_a_bound_and_its_opposite_never_agree(low, width, bound):
    interval = between(low, low + width)
    below, not_below = Region(below=bound).verdict(interval), Region(at_least=bound).verdict(interval)
    opposite = {"holds": "does not hold", "does not hold": "holds", "not decidable": "not decidable"}
    assert not_below == opposite[below]
