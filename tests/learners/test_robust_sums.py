"""Sums of linear learners that are combined so that lies do no harm."""

import numpy as np
import pytest

from netbandit.learners.defence import Defence
from netbandit.learners.robust_sums import robust_sums

RULES = ("geometric", "median", "trimmed", "krum")
UPPER = np.triu_indices(3)


def packed(gram, response, count):
    return np.concatenate([gram[UPPER], response, [count]])


def unpacked(row):
    gram = np.zeros((3, 3))
    gram[UPPER] = row[:6]
    return gram + np.triu(gram, 1).T, row[6:9], row[9]


def honest(agents, pulls=400, seed=0):
    """Return the sums of agents that have seen unit vectors and rewards of one theta."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(agents):
        seen = rng.standard_normal((pulls, 3))
        seen /= np.linalg.norm(seen, axis=1, keepdims=True)
        rows.append(packed(seen.T @ seen, seen.T @ (seen @ [0.9, 0.1, 0.0] + rng.normal(0, 0.1, pulls)), pulls))
    return rows


def estimate(row):
    gram, response, _ = unpacked(row)
    return np.linalg.solve(gram, response)


@pytest.mark.parametrize("rule", RULES)
def test_alike_sums_are_added_up(rule):
    row = honest(1)[0]
    np.testing.assert_allclose(robust_sums(Defence(rule, 1), [row] * 5, 3), 5 * row, rtol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_agents_that_have_seen_more_weigh_as_others(rule):
    row = honest(1)[0]
    found = robust_sums(Defence(rule, 1), [row, row, row, 100 * row, row / 4], 3)
    np.testing.assert_allclose(found, 5 * row, rtol=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [1.0, 1e3])
def test_two_lies_of_seven_do_not_turn_the_estimate(rule, size):
    lie = packed(size * 400 * np.diag([1.0, 0.0, 0.0]), size * np.array([-400.0, 0.0, 0.0]), 400)
    rows = [*honest(5), lie, lie]
    np.testing.assert_allclose(estimate(robust_sums(Defence(rule, 2), rows, 3)), [0.9, 0.1, 0.0], atol=0.5)
    assert estimate(np.sum(rows, axis=0))[0] < 0.3


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_sums_changes_no_bit(rule):
    rows = honest(7)
    found = robust_sums(Defence(rule, 2), rows, 3).tobytes()
    assert all(robust_sums(Defence(rule, 2), rows[turn:] + rows[:turn], 3).tobytes() == found for turn in range(7))


@pytest.mark.parametrize("rule", RULES)
def test_what_comes_out_is_positive_semidefinite(rule):
    """Three rank-one matrices whose entries have a median with the eigenvalues -1, 2 and 2."""
    actions = np.array([[1, 1, 1], [1, 1, -1], [1, -1, -1]], dtype=float)
    rows = [packed(np.outer(one, one), one, 3.0) for one in actions]
    defence = Defence(rule, 0 if rule == "krum" else 1)
    gram, _, _ = unpacked(robust_sums(defence, rows, 3))
    assert np.linalg.eigvalsh(gram)[0] > -1e-9
    assert defence.tally.repaired == (rule in ("median", "trimmed"))


def test_groups_count_by_their_sizes():
    rows, whole = honest(5), Defence("median", 1)
    found = robust_sums(whole, [rows[0] + rows[0], rows[1], rows[1]], 3, [2, 1, 1])
    np.testing.assert_allclose(found, robust_sums(whole, [rows[0], rows[0], rows[1], rows[1]], 3), rtol=1e-12)


def test_who_has_seen_nothing_is_left_out():
    rows = honest(3)
    nothing = np.zeros(10)
    defence = Defence("geometric", 1)
    np.testing.assert_array_equal(robust_sums(defence, [*rows, nothing], 3), robust_sums(defence, rows, 3))
    assert not robust_sums(defence, [nothing], 3).any()


def test_fewer_than_a_majority_is_noted():
    defence = Defence("geometric", 2)
    robust_sums(defence, honest(4), 3)
    assert defence.tally.outnumbered == 1
    robust_sums(defence, honest(5), 3)
    assert defence.tally.outnumbered == 1
