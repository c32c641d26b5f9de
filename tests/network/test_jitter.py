import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from netbandit.network.jitter import ExponentialJitter, GeometricJitter, LognormalJitter, UniformJitter

UNIFORMS = np.random.default_rng(5).random(20_000)


@pytest.mark.parametrize(
    ("jitter", "law"),
    [
        (UniformJitter(3_000_000), stats.uniform(0, 3_000_000)),
        (ExponentialJitter(2_000_000), stats.expon(scale=2_000_000)),
        (LognormalJitter(2_000_000, 0.5), stats.lognorm(0.5, scale=2_000_000)),
    ],
)
def test_jitter_has_its_law(jitter, law):
    """Kolmogorov-Smirnov at 1 in 10,000; a nanosecond of rounding is nothing beside it."""
    times = jitter.times(UNIFORMS)
    assert times.dtype == np.int64
    assert times.min() >= 0
    assert stats.kstest(times, law.cdf).pvalue > 1e-4


def test_geometric_jitter_has_its_mean_and_its_largest_value():
    jitter = GeometricJitter(10.0, 50, 1_000)
    weights = np.diff(jitter.distribution, prepend=0.0)
    assert weights.sum() == pytest.approx(1)
    assert weights @ np.arange(51) == pytest.approx(10.0)
    assert np.ptp(weights[1:] / weights[:-1]) < 1e-12
    slots, counts = np.unique(jitter.times(UNIFORMS), return_counts=True)
    assert (slots % 1_000 == 0).all()
    expected = weights[slots // 1_000]
    assert stats.chisquare(counts, expected / expected.sum() * len(UNIFORMS)).pvalue > 1e-4  # 1 in 10,000


def test_the_ends_of_jitter():
    assert UniformJitter(7).times(np.array([0.0, np.nextafter(1, 0)])).tolist() == [0, 7]
    assert GeometricJitter(0.0, 5, 10).times(UNIFORMS).max() == 0
    flat = GeometricJitter(2.5, 5, 10).distribution
    assert flat == pytest.approx(np.arange(1, 7) / 6)
    assert LognormalJitter(10, 3.0).times(np.array([0.0, np.nextafter(1, 0)]))[0] == 0


@pytest.mark.ci
def test_geometric_jitter_of_long_slots_stays_within_the_times_that_there_are():
    hour = 3_600 * 10**9
    times = GeometricJitter(450_000.0, 10**6, 10 * hour).times(UNIFORMS)
    assert times.min() >= 0
    assert times.max() <= 1 << 60


LENGTHS = st.integers(0, 1 << 62)


@given(
    st.one_of(
        st.builds(UniformJitter, LENGTHS),
        st.builds(ExponentialJitter, LENGTHS),
        st.builds(LognormalJitter, LENGTHS, st.floats(0, allow_nan=False, allow_infinity=False)),
        st.builds(
            lambda largest, share, slot: GeometricJitter(share * largest / 2, largest, slot),
            st.integers(0, 1_000),
            st.floats(0, 1),
            st.integers(1, 1 << 62),
        ),
    )
)
@example(LognormalJitter(2_000_000, 1e9))
@example(LognormalJitter(0, 1e308))
@example(LognormalJitter(10, 0.0))
def test_whatever_its_parameters_are_jitter_is_a_time_that_there_is(jitter):
    """No warning of numpy's either: what is beyond all times is as late as can be."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        times = jitter.times(np.array([0.0, 1e-9, 0.25, 0.5, 0.75, np.nextafter(1, 0)]))
    assert (np.diff(times) >= 0).all()
    assert 0 <= times[0] <= times[-1] <= 1 << 60
