"""What elimination makes of contributions by each rule, and how wide its intervals are then."""

import numpy as np
import pytest

from netbandit.byzantine.aggregation.cover import Cover, cover_of_median
from netbandit.learners.defence import Defence, Rule
from netbandit.learners.differing_sets import Told
from netbandit.learners.elimination import Elimination
from netbandit.learners.elimination_schedule import EliminationSchedule

ROWS = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.5], [0.9, 0.1]])
RULES = Rule.__args__


def stream():
    return np.random.default_rng(1)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("heard", [1, 2, 3, 4, 5])
def test_with_too_few_contributions_it_does_what_it_can(rule, heard):
    found = Defence(rule, 2).combine(ROWS[:heard], None, stream)
    assert (found >= ROWS[:heard].min(axis=0)).all()
    assert (found <= ROWS[:heard].max(axis=0)).all()


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"mean"}))
def test_one_lie_of_five_moves_no_rule_out_of_the_honest(rule):
    rows = ROWS.copy()
    rows[4] = 1e6
    found = Defence(rule, 1).combine(rows, None, stream)
    assert (found <= 2).all()


def test_by_default_it_is_the_mean_to_the_last_bit():
    values, learner = np.random.default_rng(0).random((7, 3)), Elimination()
    assert learner.combine(values).tobytes() == Defence("mean").combine(values, None, stream).tobytes()
    np.testing.assert_allclose(learner.combine(values), values.mean(axis=0))


def test_flipped_values_shrink_gaps_of_a_mean_and_keep_their_order():
    truth = np.array([0.2, 0.5, 0.9])
    rows = np.array([truth] * 7 + [1 - truth] * 3)
    found = Elimination().combine(rows)
    np.testing.assert_allclose(found.max() - found, (1 - 2 * 0.3) * (truth.max() - truth))


def test_items_of_different_arms_are_combined_arm_by_arm():
    learner = Elimination(robust="median")
    told = [
        Told(np.array([0, 2]), np.array([0.1, 0.5]), 4),
        Told(np.array([0, 1, 2]), np.array([0.2, 0.7, 0.6]), 5),
        Told(np.array([0, 2]), np.array([1.0, 0.0]), 5),
    ]
    found = learner.pool(told)
    assert found.arms.tolist() == [0, 1, 2]
    assert found.means.tolist() == [0.2, 0.7, 0.5]
    assert found.agents.tolist() == [3, 1, 3]
    assert learner.pool(list(reversed(told))).means.tolist() == found.means.tolist()


def test_who_has_heard_nothing_that_can_be_true_keeps_its_arms():
    learner = Elimination()
    learner.start_per_agent(arms=3, horizon=1000, participants=2, members=2, smallest_gap=0.1)
    phase = learner.begin(1)
    learner.observe(np.full((1, 3), phase.pulls), np.random.default_rng(0))
    learner.conclude_pooled(learner.pool([]))
    assert learner.active.tolist() == [0, 1, 2]
    assert learner.answer(1, learner.pool([])).active.tolist() == [0, 1, 2]


def test_no_cover_is_the_schedule_of_the_paper():
    plain = EliminationSchedule(5, 10_000, 8, np.inf)
    almost = EliminationSchedule(5, 10_000, 8, np.inf, cover=Cover(1, 1e-300))
    for epoch in range(1, 8):
        pulls = plain.cumulative_pulls(epoch, 0, 5)
        assert almost.cumulative_pulls(epoch, 0, 5) in (pulls, pulls + 1)
        assert almost.width(epoch, pulls, 5) == plain.width(epoch, pulls, 5)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_covered_widths_resolve_the_gap_of_their_epoch(share):
    schedule = EliminationSchedule(5, 10_000, 8, np.inf, cover=cover_of_median(share))
    for epoch in range(1, 8):
        pulls = schedule.cumulative_pulls(epoch, 0, 5)
        assert schedule.width(epoch, pulls, 5) <= schedule.target_gap(epoch) / 4
        assert schedule.width(epoch, pulls - 1, 5) > schedule.target_gap(epoch) / 4
        assert schedule.width_of(epoch, 5, 8, 8 / pulls, 8 / pulls**2) == pytest.approx(schedule.width(epoch, pulls, 5))


def test_median_costs_pulls_by_lies_and_by_its_loss():
    plain, median = (
        EliminationSchedule(5, 10_000, 100, np.inf, cover=cover) for cover in (Cover(), cover_of_median(0))
    )
    ratio = median.cumulative_pulls(6, 0, 5) / plain.cumulative_pulls(6, 0, 5)
    assert ratio == pytest.approx(np.pi / 2, rel=0.001)
