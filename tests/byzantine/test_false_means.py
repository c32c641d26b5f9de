"""What each attack says, by hand, and who lies."""

from statistics import NormalDist

import numpy as np
import pytest

from netbandit.byzantine.adversaries.attack_kinds import count_liars, drawn, of_highest_degree
from netbandit.byzantine.adversaries.false_means import View, false_means, hidden_deviations, place_of

TRUTH = np.array([0.25, 0.875, 0.75, 0.5])
MEANS = np.array([0.2, 0.9, 0.7, 0.5])


def said(attack, target="worst", **more):
    arms = np.array([0, 2, 5, 7])
    honest = np.array([[0.2, 0.8, 0.6, 0.4], [0.4, 1.0, 0.8, 0.6], [0.3, 0.9, 0.7, 0.5]])
    given = {"before": {0: 0.1, 5: 0.6}, "honest": honest, "liars": 2} | more
    view = View(arms=arms, truth=TRUTH, means=MEANS, target=place_of(target, arms, MEANS), **given)
    return false_means(attack, view, np.random.default_rng(1)).tolist()


@pytest.mark.parametrize(
    ("attack", "expected"),
    [
        ("none", [0.25, 0.875, 0.75, 0.5]),
        ("flip", [0.75, 0.125, 0.25, 0.5]),
        ("inflate", [1, 0.875, 0.75, 0.5]),
        ("collude", [1, 0, 0, 0]),
        ("swap", [0.25, 0, 1, 0.5]),
        ("topple", [1, 0, 1, 1]),
        ("constant", [0.5] * 4),
        ("stale", [0.1, 0.875, 0.6, 0.5]),
    ],
)
def test_what_is_said(attack, expected):
    assert said(attack) == expected


def test_targets():
    assert said("collude", "second") == [0, 0, 1, 0]
    assert said("collude", 7) == [0, 0, 0, 1]
    assert said("inflate", 3) == TRUTH.tolist()  # it has been dropped
    assert said("collude", most=10.0) == [10, 0, 0, 0]


def test_a_hidden_lie_has_a_majority_beside_it():
    """With 5 agents and 2 liars one honest agent of three must be farther away: z = Phi^-1(2 / 3)."""
    z = NormalDist().inv_cdf(2 / 3)
    deviation = np.std([0.8, 1.0, 0.9])
    assert hidden_deviations(5, 2) == z
    assert said("hidden") == pytest.approx([0.3, 0.9 - z * deviation, 0.7 + z * deviation, 0.5])


@pytest.mark.parametrize(("agents", "liars"), [(1, 0), (3, 1), (10, 9), (10, 5), (101, 50)])
def test_a_hidden_lie_is_always_so_many_deviations(agents, liars):
    assert 0 <= hidden_deviations(agents, liars) < 4


def test_noise_is_a_normal_law_around_the_truth():
    rng = np.random.default_rng(3)
    view = View(np.arange(4), TRUTH, MEANS, None, {}, np.empty((0, 4)), 1)
    errors = np.array([false_means("noise", view, rng) for _ in range(4000)]) - TRUTH
    assert abs(errors.mean()) < 5 / np.sqrt(errors.size)
    assert abs(errors.std() - 1) < 5 / np.sqrt(2 * errors.size)


def test_the_share_of_liars_is_the_decimal_that_was_written():
    assert [count_liars(share, 10) for share in (0.0, 0.09, 0.1, 0.3, 0.7)] == [0, 0, 1, 3, 7]


def test_who_lies():
    assert of_highest_degree([2, 3, 1, 3, 2], 3) == {0, 1, 3}
    counts = np.bincount([agent for seed in range(600) for agent in drawn(np.random.default_rng(seed), 5, 2)])
    assert counts.sum() == 1200
    assert np.abs(counts - 240).max() < 5 * np.sqrt(600 * 0.4 * 0.6)
