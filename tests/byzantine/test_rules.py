"""What must hold of every robust rule, exactly: which lies it withstands, and that no order changes a bit."""

import time

import numpy as np
import pytest

from netbandit.byzantine.aggregation.geometric_median import geometric_median
from netbandit.byzantine.aggregation.one_arm import median_of, resilient_of, trimmed_of
from netbandit.byzantine.aggregation.rules import krum, krum_row, mean, median, median_of_means, repeated, trimmed_mean

RULES = {
    "mean": mean,
    "median": median,
    "trimmed": lambda rows: trimmed_mean(rows, 3),
    "geometric": lambda rows: geometric_median(rows).point,
    "median-of-means": lambda rows: median_of_means(rows, 7, np.random.default_rng(5)),
    "krum": lambda rows: krum_row(rows, 3),
}


def draws(*shape, seed=0):
    return np.random.default_rng(seed).random(shape)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_contributions_changes_no_bit(rule):
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((21, 4)) * 10.0 ** rng.integers(-9, 9, (21, 1))
    found = RULES[rule](rows)
    for _ in range(20):
        assert RULES[rule](rng.permutation(rows)).tobytes() == found.tobytes()


@pytest.mark.parametrize("lie", [1e300, -1e300, np.inf, -np.inf])
@pytest.mark.parametrize("honest", [11, 12])
@pytest.mark.parametrize("liars", [1, 10])
def test_below_one_half_the_median_and_the_trimmed_mean_stay_among_the_honest(lie, honest, liars):
    truth = draws(honest, 5)
    rows = np.vstack([np.full((liars, 5), lie), truth])
    for found in (median(rows), trimmed_mean(rows, liars)):
        assert (truth.min(axis=0) <= found).all()
        assert (found <= truth.max(axis=0)).all()


def test_the_median_under_lies_at_one_end_is_an_order_statistic_of_the_honest():
    truth = draws(8, 3)
    rows = np.vstack([truth, np.full((5, 3), np.inf)])  # 13 rows: the 7th smallest
    assert median(rows).tolist() == np.sort(truth, axis=0)[6].tolist()


def test_from_one_half_on_the_median_follows_the_liars():
    truth = draws(6, 2)
    assert median(np.vstack([truth, np.full((7, 2), 1e300)])).tolist() == [1e300, 1e300]
    assert (median(np.vstack([truth, np.full((6, 2), 1e300)])) == 0.5e300).all()


@pytest.mark.parametrize("liars", [1, 4, 8])
def test_a_geometric_median_is_as_near_to_any_point_as_the_share_of_lies_allows(liars):
    rng = np.random.default_rng(2)
    truth = rng.random((10, 3))
    share = liars / (10 + liars)
    for lie in (1e3, 1e9, 1e100):
        rows = np.vstack([truth, rng.standard_normal((liars, 3)) * lie])
        found = geometric_median(rows).point
        for centre in (truth.mean(axis=0), truth[0]):
            farthest = np.linalg.norm(truth - centre, axis=1).max()
            assert np.linalg.norm(found - centre) <= 2 * (1 - share) / (1 - 2 * share) * farthest


def test_nothing_trimmed_is_the_mean_to_the_last_bit():
    rows = draws(17, 6) * 1e7
    assert trimmed_mean(rows, 0).tobytes() == mean(rows).tobytes()


def test_extreme_numbers_of_groups_are_the_median_and_the_mean():
    rows, rng = draws(9, 4), np.random.default_rng(0)
    assert median_of_means(rows, 9, rng).tobytes() == median(rows).tobytes()
    assert median_of_means(rows, 1, rng).tobytes() == mean(rows).tobytes()


def test_fewer_lies_than_half_the_groups_leave_a_median_of_means_among_honest_groups():
    rows = np.vstack([draws(28, 3), np.full((3, 3), 1e300)])
    for seed in range(50):
        assert (median_of_means(rows, 7, np.random.default_rng(seed)) <= 1).all()


def test_a_mean_survives_sums_that_are_too_large():
    assert mean([[1.5e308], [1.5e308], [1e308]])[0] == pytest.approx(1.3333333333333333e308)


def test_the_geometric_median_of_known_points():
    corner = (3 - np.sqrt(3)) / 6
    np.testing.assert_allclose(geometric_median([(0, 0), (1, 0), (0, 1)]).point, corner, atol=1e-9)
    assert geometric_median([(-3, 0), (4, 0), (0, 4), (0, -5), (0, 0)]).point.tolist() == [0, 0]
    on_a_line = np.outer([-4.0, 1, 2, 7, 100], [3.0, -1])
    np.testing.assert_allclose(geometric_median(on_a_line).point, on_a_line[2], atol=1e-9)
    heap = np.vstack([np.full((4, 2), 0.3), [[9, 9], [-5, 2], [1, 1]]])
    assert geometric_median(heap).point.tolist() == [0.3, 0.3]
    assert geometric_median([(2.0, 5.0)]).point.tolist() == [2, 5]


def test_the_geometric_median_starts_at_a_contribution_and_leaves_it():
    """The coordinates' medians are those of the first row, where a plain step of Weiszfeld's divides by zero."""
    rows = np.array([[0.0, 0], [-1, 5], [-1, 7], [5, -1], [7, -1]])
    assert median(rows).tolist() == rows[0].tolist()
    found = geometric_median(rows)
    directions = (rows - found.point) / np.linalg.norm(rows - found.point, axis=1)[:, None]
    assert found.converged
    np.testing.assert_allclose(directions.sum(axis=0), 0, atol=1e-6)


def test_the_geometric_median_moves_turns_and_scales_with_its_points():
    rows = np.random.default_rng(3).standard_normal((15, 3))
    found = geometric_median(rows).point
    turn, _ = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))
    np.testing.assert_allclose(geometric_median(rows + 7).point, found + 7, atol=1e-9)
    np.testing.assert_allclose(geometric_median(rows * 1e6).point, found * 1e6, rtol=1e-9)
    np.testing.assert_allclose(geometric_median(rows @ turn).point, found @ turn, atol=1e-9)


def test_the_geometric_median_of_gram_matrices_is_positive_semidefinite_and_their_medians_are_not():
    vectors = np.array([(1.0, 1, 1), (1, 1, -1), (1, -1, -1)])
    grams = np.einsum("ni,nj->nij", vectors, vectors).reshape(3, 9)
    robust = geometric_median(grams).point.reshape(3, 3)
    assert np.linalg.eigvalsh(robust).min() >= -1e-9
    np.testing.assert_allclose(np.linalg.eigvalsh(median(grams).reshape(3, 3)), [-1, 2, 2], atol=1e-12)


def test_krum_picks_a_contribution_and_the_first_of_equal_ones():
    assert krum([[0], [1], [2], [3], [90]], 1) == 1
    assert krum([[100.0], [100.1], [100.2], [0], [1]], 1) == 1  # by its two nearest; by three it would be the first
    assert krum([[5], [5], [5], [5], [5]], 1) == 0
    assert krum_row([[0], [1], [2], [3], [np.inf]], 1) == [1]


def test_a_group_counts_as_its_members():
    rows = draws(3, 2)
    assert median(repeated(rows, [1, 1, 5])).tolist() == rows[2].tolist()
    assert (median(repeated(rows, [1, 2, 1])) == median(rows[[0, 1, 1, 2]])).all()


def test_a_resilient_mean_by_hand():
    pulls = np.array([10.0, 10.0, 10.0, 10.0, 1.0])
    mean, factor = resilient_of(0.5, 10.0, np.array([0.0, 0.6, 0.7, 1.0, 0.9]), pulls, 5, 1, 1.5)
    assert mean == pytest.approx((0.5 + 0.6 + 0.7) / 3)
    assert factor == pytest.approx((4 / 9 + 1.5 / 3 + 1.5) / 4)


def test_a_resilient_mean_with_too_few_neighbours_is_the_own_one():
    assert resilient_of(0.5, 10.0, np.array([0.0, 1.0]), np.full(2, 10.0), 2, 1, 1.5) == (0.5, 1.0)
    assert resilient_of(0.5, 10.0, np.array([0.0, 1.0, 1.0]), np.array([10.0, 10.0, 0.0]), 3, 1, 1.5) == (0.5, 1.0)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("tolerate", [0, 1, 6])
def test_compiled_rules_of_one_arm_are_those_of_many_coordinates(count, tolerate):
    means = np.sort(draws(count))
    assert median_of(means, count) == median(means[:, np.newaxis])[0]
    cut = min(tolerate, (count - 1) // 2)
    assert trimmed_of(means, count, tolerate) == pytest.approx(trimmed_mean(means[:, np.newaxis], cut)[0], rel=1e-15)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: median(np.empty((0, 3))), r"at least one row"),
        (lambda: mean([[1.0], [np.nan]]), r"not a number"),
        (lambda: trimmed_mean(draws(4, 1), 2), r"leaves nothing of 4 rows without 2"),
        (lambda: krum(draws(6, 1), 2), r"at least 2 x 2 \+ 3 rows, not 6"),
        (lambda: median_of_means(draws(3, 1), 4, np.random.default_rng(0)), r"4 groups of 3 rows"),
        (lambda: geometric_median([[1e200], [0.0], [2.0]]), r"at most 1e\+150"),
    ],
)
def test_what_cannot_be_combined_is_said(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def _seconds(rule, rows):
    """Return the least of several tries, of this thread alone."""
    took = []
    for _ in range(9):
        began = time.thread_time()
        rule(rows)
        took.append(time.thread_time() - began)
    return min(took)


def test_robust_rules_take_little_longer_than_the_mean():
    rows = draws(1000, 100)
    rows[:300] = 1.0
    of_mean = _seconds(mean, rows)
    assert _seconds(median, rows) <= 5 * of_mean
    assert _seconds(lambda given: trimmed_mean(given, 300), rows) <= 5 * of_mean
    assert _seconds(lambda given: geometric_median(given).point, rows) <= 50 * of_mean
