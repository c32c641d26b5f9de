"""How much wider intervals must be: the figures of the normal law, and simulated worst lies."""

import numpy as np
import pytest

from netbandit.byzantine.aggregation.cover import (
    Cover,
    cover_of_median,
    cover_of_median_of_means,
    cover_of_trimmed_mean,
)
from netbandit.byzantine.aggregation.rules import median, trimmed_mean


@pytest.mark.parametrize(
    ("share", "of_median", "of_trimmed", "loss"),
    [
        (0.1, 0.1397, 0.2131, 1.0298),
        (0.2, 0.3186, 0.4237, 1.0699),
        (0.3, 0.5659, 0.6869, 1.1190),
        (0.4, 0.9674, 1.0908, 1.1789),
    ],
)
def test_bias_and_loss(share, of_median, of_trimmed, loss):
    assert cover_of_median(share) == pytest.approx((1.2533, of_median), abs=5e-5)
    assert cover_of_trimmed_mean(share) == pytest.approx((loss, of_trimmed), abs=5e-5)


def test_without_lies_only_a_median_loses():
    assert cover_of_trimmed_mean(0) == Cover(1, 0)
    assert cover_of_median(0).bias == pytest.approx(0, abs=1e-12)
    assert cover_of_median_of_means(10, 10, 2) == pytest.approx(cover_of_median(0.2))


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_the_bias_is_what_lies_at_one_end_do_to_many(share):
    """Of 40,000 contributions both deviate by less than 0.01: 0.04 is four times as much."""
    agents = 40_000
    rows = np.random.default_rng(1).standard_normal((agents, 1))
    liars = int(share * agents)
    rows[:liars] = 1e9
    assert median(rows)[0] == pytest.approx(cover_of_median(share).bias, abs=0.04)
    assert trimmed_mean(rows, liars)[0] == pytest.approx(cover_of_trimmed_mean(share).bias, abs=0.04)
