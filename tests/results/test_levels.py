"""P-values by bisection are those of the tests that intervals invert, and Holm's correction is the closed test's."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from netbandit.results import intervals
from netbandit.results.intervals import MEDIAN
from netbandit.results.paired import LEAST, holm, holm_levels, p_value, smallest_level

values = st.lists(st.floats(-100, 100).filter(lambda x: abs(x) > 1e-3), min_size=2, max_size=25, unique=True)
levels = st.lists(st.floats(0, 1), min_size=1, max_size=7)


@given(values)
def test_of_means_it_is_student_s(samples):
    if intervals.are_counts(samples) or np.ptp(samples) < 1e-2:
        return
    found = p_value(lambda confidence: intervals.mean(samples, confidence))
    assert found == pytest.approx(max(stats.ttest_1samp(samples, 0).pvalue, LEAST), rel=1e-5, abs=1e-8)


@given(values)
def test_of_medians_it_is_the_sign_test_s(samples):
    found = p_value(lambda confidence: MEDIAN.of(samples, confidence))
    above = sum(sample > 0 for sample in samples)
    assert found == pytest.approx(stats.binomtest(above, len(samples)).pvalue, rel=1e-6)


def test_what_has_no_interval_has_no_p():
    assert p_value(lambda confidence: intervals.mean([2.0, 2.0], confidence)) is None
    assert p_value(lambda confidence: intervals.mean([2.0], confidence)) is None


def test_a_level_is_bracketed():
    assert smallest_level(lambda level: level >= 0.0123) == pytest.approx(0.0123, rel=1e-6)
    assert smallest_level(lambda level: level >= 0.0123) >= 0.0123  # it is decided there
    assert smallest_level(lambda level: False) == 1.0
    assert smallest_level(lambda level: True) == LEAST


@given(levels)
def test_holm_s_is_the_closed_test_of_bonferroni_s(p):
    places = range(len(p))
    subsets = [set(some) for size in range(1, len(p) + 1) for some in combinations(places, size)]
    closed = [
        max(min(1.0, len(some) * min(p[one] for one in some)) for some in subsets if place in some) for place in places
    ]
    assert holm(p) == pytest.approx(closed)


@given(levels, st.floats(0.001, 0.5))
def test_what_is_decided_at_its_own_level_is_what_the_corrected_p_decides(p, level):
    own = holm_levels(p, level)
    corrected = holm(p)
    assert all(level / len(p) <= each <= level for each in own)
    for value, at, after in zip(p, own, corrected, strict=True):
        if abs(after - level) > 1e-9:
            assert (value <= at) == (after <= level)


def test_what_is_no_decision_is_no_part_of_the_family():
    assert holm([0.02, None, 0.03]) == [0.04, None, 0.04]
