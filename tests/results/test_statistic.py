"""Quantiles with intervals that need no law, against scipy's test and by how often they cover."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from netbandit.results.intervals import MEDIAN, Statistic, StatisticError, least_for, quantile, ranks


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_value_and_interval_are_those_of_numpy_and_scipy(values, share):
    found = quantile(values, share, 0.95)
    assert found.value == pytest.approx(np.quantile(values, share), rel=1e-9, abs=1e-9)
    # Of places, as scipy counts ties at an end.
    ends = stats.quantile_test(np.arange(1.0, len(values) + 1), q=0, p=share).confidence_interval(0.95)
    ordered = sorted(values)
    low, high = (math.nan if math.isnan(end) else ordered[int(end) - 1] for end in ends)
    assert found.low == (-math.inf if math.isnan(low) else low)
    assert found.high == (math.inf if math.isnan(high) else high)
    assert bool(found.why_none) == math.isinf(found.high - found.low)


@pytest.mark.parametrize("count", [1_000, 4_000])
def test_ranks_of_many_replications_are_quantiles_of_the_binomial_law(count):
    lower, upper = ranks(count, 0.25, 0.99)
    law = stats.binom(count, 0.25)
    assert law.cdf(lower - 1) <= 0.005 < law.cdf(lower)
    assert law.sf(upper - 1) <= 0.005 < law.sf(upper - 2)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_as_many_replications_as_it_takes_have_an_interval(share):
    enough = least_for(share, 0.95)
    assert quantile(list(range(enough)), share, 0.95).why_none == ""
    assert f"takes {enough} replications" in quantile(list(range(enough - 1)), share, 0.95).why_none


@pytest.mark.parametrize("count", [6, 10, 29])
def test_the_interval_of_a_median_covers_whatever_the_law(count):
    """Where one run in ten fails, and means of so few cover in 47 to 95 %; 4 standard errors of 2,000 are 1.9 %."""
    generator = np.random.default_rng(21)
    failed = generator.random((2_000, count)) < 0.1
    samples = np.where(failed, 50.0, 1.0) * generator.lognormal(0, 0.3, failed.shape)
    median = np.median(np.where(generator.random(10**6) < 0.1, 50.0, 1.0) * generator.lognormal(0, 0.3, 10**6))
    found = [MEDIAN.of(sample, 0.95) for sample in samples.tolist()]
    assert np.mean([one.low <= median <= one.high for one in found]) > 0.95 - 0.019


@pytest.mark.parametrize("text", ["q0", "q100", "mode", "", "q5.5", "Median"])
def test_what_is_no_statistic(text):
    with pytest.raises(StatisticError, match="there are mean, median, and q1 to q99"):
        Statistic.named(text)


def test_names():
    assert [Statistic.named(text).name for text in ("mean", "median", "q50", "q5")] == [
        "mean", "median", "median", "5 % quantile",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no replication"):
        quantile([], 0.5, 0.95)
