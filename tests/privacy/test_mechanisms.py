from math import inf, nan

import numpy as np
import pytest
from scipy import stats

from netbandit.privacy.mechanisms import block_mean_scale, laplace


def test_scale_is_one_over_participants_epsilon_pulls():
    assert block_mean_scale(50, 0.1, 4) == pytest.approx(1 / 20)
    assert block_mean_scale(1, 2.0, 1) == 0.5
    assert block_mean_scale(50, inf, 4) == 0.0


@pytest.mark.parametrize("arguments", [(0, 1.0, 1), (1, 1.0, 0), (1, 0.0, 1), (1, -1.0, 1), (1, nan, 1)])
def test_scale_refuses_nonsense(arguments):
    with pytest.raises(ValueError, match="no noise"):
        block_mean_scale(*arguments)


def test_noise_is_laplace_of_the_stated_scale():
    # Fixed seed; each of the two checks would fail one seed in 1,000.
    scale, draws = 0.05, 100_000
    noise = laplace(np.random.default_rng(20240607), scale, (draws // 10, 10)).ravel()
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > 1e-3
    # Var z^2 = E z^4 - (E z^2)^2 = 24 b^4 - 4 b^4 = 20 b^4.
    standard_error = np.sqrt(20 / draws) * scale**2
    assert abs(np.mean(noise**2) - 2 * scale**2) < stats.norm.isf(0.5e-3) * standard_error


def test_the_check_of_the_scale_can_fail():
    noise = laplace(np.random.default_rng(20240607), 0.0525, (100_000,))
    assert stats.kstest(noise, stats.laplace(scale=0.05).cdf).pvalue < 1e-3


def test_no_noise_draws_nothing():
    rng = np.random.default_rng(1)
    assert np.array_equal(laplace(rng, 0.0, (3, 2)), np.zeros((3, 2)))
    assert rng.random() == np.random.default_rng(1).random()


@pytest.mark.parametrize("scale", [-1.0, nan, inf])
def test_scale_must_be_finite(scale):
    with pytest.raises(ValueError, match="scale"):
        laplace(np.random.default_rng(1), scale, (2,))


def test_same_stream_same_noise():
    first, second = (laplace(np.random.default_rng(7), 1.0, (4, 3)) for _ in range(2))
    assert np.array_equal(first, second)
