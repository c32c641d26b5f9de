from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import beta, norm

from netbandit.studies.auditing.bound import lower_bound


def laplace(rng, epsilon, samples=20_000):
    return rng.laplace(0, 1, (samples, 1)), rng.laplace(epsilon, 1, (samples, 1))


def test_the_bound_is_that_of_clopper_and_pearson_for_its_event():
    first, second = laplace(np.random.default_rng(1), 1.0)
    found = lower_bound(first, second, confidence=0.99)
    hits, misses, n = round(found.p * found.samples), round(found.q * found.samples), found.samples
    least, most = beta.ppf(0.005, hits, n - hits + 1), beta.ppf(0.995, misses + 1, n - misses)
    assert found.epsilon == pytest.approx(log(least / most), rel=1e-9)
    assert found.estimate == pytest.approx(log(found.p / found.q))
    assert n == 10_000


@pytest.mark.ci
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_laplace_noise_is_found_nearly_whole_and_never_exceeded(epsilon):
    found = [lower_bound(*laplace(np.random.default_rng(seed), epsilon), confidence=0.99) for seed in range(40)]
    assert all(one.epsilon <= epsilon for one in found)  # each fails with probability below 0.01
    assert np.median([one.epsilon for one in found]) > 0.8 * epsilon


def test_it_makes_no_difference_which_input_comes_first():
    first, second = laplace(np.random.default_rng(5), 1.0)
    assert 0.8 < lower_bound(second, first).epsilon <= 1.0


def test_a_delta_is_taken_off():
    # One number with Gaussian noise: delta(epsilon) is known (Balle & Wang 2018).
    shift, epsilon = 1.0, 1.5
    delta = norm.sf(epsilon / shift - shift / 2) - exp(epsilon) * norm.sf(epsilon / shift + shift / 2)
    rng = np.random.default_rng(2)
    first, second = rng.normal(0, 1, (200_000, 1)), rng.normal(shift, 1, (200_000, 1))
    found = lower_bound(first, second, delta=delta)
    assert 1.3 < found.epsilon < 1.5
    assert lower_bound(first, second).epsilon > 1.5  # without delta no epsilon is enough


def test_many_numbers_are_looked_at_together():
    """A shift that no number shows alone: noise that they have in common must be taken off."""
    rng = np.random.default_rng(3)
    common = rng.normal(0, 10, (2, 50_000, 1))
    first, second = (common[world] + rng.laplace(0, 1, (50_000, 1)) for world in (0, 1))
    first, second = np.hstack([first, common[0]]), np.hstack([second + 1.0, common[1]])
    assert 0.8 < lower_bound(first, second).epsilon <= 1.0
    assert lower_bound(first[:, :1], second[:, :1]).epsilon < 0.3


def test_what_is_the_same_gives_nothing_and_what_is_open_a_lot():
    rng = np.random.default_rng(4)
    same = rng.laplace(0, 1, (2, 5_000, 3))
    assert lower_bound(*same).epsilon == 0
    nothing = np.zeros((1_000, 3))
    assert lower_bound(nothing, nothing).epsilon == 0
    found = lower_bound(nothing, nothing + 1)
    assert found.epsilon > 4
    assert found.estimate == inf


@pytest.mark.parametrize(
    ("first", "second", "keys"),
    [
        (np.zeros((10, 2)), np.zeros((10, 3)), {}),
        (np.zeros((3, 2)), np.zeros((3, 2)), {}),
        (np.zeros(10), np.zeros(10), {}),
        (np.zeros((10, 1)), np.zeros((10, 1)), {"delta": 1.0}),
        (np.zeros((10, 1)), np.zeros((10, 1)), {"confidence": 1.0}),
    ],
)
def test_what_cannot_be_is_refused(first, second, keys):
    with pytest.raises(ValueError, match=r"samples|confidence"):
        lower_bound(first, second, **keys)
