"""The intervals of races: which numbers they hold, and that all of them hold at once."""

import numpy as np
import pytest
from scipy import stats

from netbandit.learners.race import Race, intervals, level
from netbandit.learners.world import World
from netbandit.util.streams import Streams

RHO = 25


def slack(mu, pulls, sums, q, sigma):
    """How far *mu* is from being excluded by the sum over sequences of what one may deviate, divided by sigma^2."""
    some = [(s - n * mu) ** 2 / (n + RHO) / sigma**2 - np.log1p(n / RHO) for n, s in zip(pulls, sums, strict=True)]
    return 2 * q - sum(some)


@pytest.mark.parametrize("seed", range(8))
def test_the_ends_of_an_interval_are_where_the_deviation_is_as_large_as_it_may_be(seed):
    rng = np.random.default_rng(seed)
    pulls = rng.integers(0, 60, size=(2, 4, 3)).astype(float)
    pulls[:, 0] += 1
    sums, q, sigma = rng.normal(pulls * 0.4, 0.3 * np.sqrt(pulls)), np.array([3.0, 9.0]), 0.3
    _, lower, upper = intervals(pulls, sums, q, sigma)
    for row, arm in np.ndindex(2, 3):
        of_arm = pulls[row, :, arm], sums[row, :, arm], q[row], sigma
        assert slack(lower[row, arm], *of_arm) == pytest.approx(0, abs=1e-9)
        assert slack(upper[row, arm], *of_arm) == pytest.approx(0, abs=1e-9)
        assert slack((lower[row, arm] + upper[row, arm]) / 2, *of_arm) > 0


def test_the_interval_of_one_sequence_is_around_its_mean():
    q, n, sigma = 5.0, 40.0, 0.5
    (((centre,),), ((lower,),), ((upper,),)) = intervals(
        np.full((1, 1, 1), n), np.full((1, 1, 1), 12.0), np.array([q]), sigma
    )
    half = sigma * np.sqrt((n + RHO) * (2 * q + np.log1p(n / RHO))) / n
    assert (centre, lower, upper) == pytest.approx((0.3, 0.3 - half, 0.3 + half))


def test_an_interval_moves_with_the_rewards():
    """Also where they are so large that differences of their squares have no digit left."""
    rng = np.random.default_rng(5)
    pulls = rng.integers(1, 10**4, size=(1, 3, 2)).astype(float)
    sums = rng.normal(0, np.sqrt(pulls)).round()
    here, there = (intervals(pulls, sums + by * pulls, np.array([8.0]), 1.0) for by in (0, 2**27))
    np.testing.assert_allclose(np.array(there) - 2**27, here, atol=1e-6)


def test_of_an_arm_that_nobody_has_pulled_nothing_is_known():
    centre, lower, upper = intervals(np.zeros((1, 2, 1)), np.zeros((1, 2, 1)), np.array([5.0]), 0.5)
    assert (centre[0, 0], lower[0, 0], upper[0, 0]) == (-np.inf, -np.inf, np.inf)


def test_a_sequence_of_which_little_is_known_does_not_widen_the_interval_by_much():
    """Sequences are weighted by n^2 / (n + rho): one observation of another agent is not worth what rho of it cost."""
    one, two = np.array([[[100.0], [0.0]]]), np.array([[[100.0], [1.0]]])
    widths = [upper - lower for _, lower, upper in (intervals(n, n * 0.5, np.array([9.0]), 0.5) for n in (one, two))]
    assert widths[1] == pytest.approx(widths[0], rel=0.01)


@pytest.mark.parametrize("law", ["normal", "bernoulli"])
def test_intervals_of_all_numbers_of_observations_hold_at_once(law):
    """The worst choice of how much is known of each of three agents is excluded no more often than it may be."""
    rng, runs, sources, most, delta = np.random.default_rng(7), 2_000, 3, 800, 0.2
    shape, sigma = (runs, sources, most), 1.0 if law == "normal" else 0.5
    noise = rng.standard_normal(shape, dtype=np.float32) if law == "normal" else rng.integers(0, 2, shape) - 0.5
    n = np.arange(1, most + 1)
    deviations = noise.cumsum(axis=2) ** 2 / (n + RHO) / sigma**2 - np.log1p(n / RHO)
    worst = np.maximum(deviations.max(axis=2), 0).sum(axis=1)
    wrong = int((worst > 2 * level(delta, 1, np.full(sources, sources))[0]).sum())
    assert stats.binomtest(wrong, runs, delta, alternative="greater").pvalue > 1e-3
    assert wrong > 0  # the bound is no larger than needed by far
    assert (worst > 2 * stats.gamma.isf(delta, 1)).mean() > delta  # what covers one agent does not cover three


def test_the_level_is_that_of_one_event_or_of_one_for_each_agent():
    assert level(0.05, 4, np.full(6, 6)) == pytest.approx(np.full(6, stats.gamma.isf(0.05 / 4, 6)))
    assert level(0.05, 4, np.ones(6)) == pytest.approx(np.full(6, np.log(4 * 6 / 0.05)))
    assert level(0.05, 4, np.array([2, 3, 2])) == pytest.approx(np.full(3, stats.gamma.isf(0.05 / 4, 3)))
    few = np.array([2, 3, 2, *[1] * 20])
    assert level(0.05, 4, few) == pytest.approx(stats.gamma.isf(0.05 / 4 / 23, few))


def race(arms=2, agents=2, **keys):
    learner = Race(**keys)
    learner.start(World(agents, 99, Streams(0, 0), arms=arms, members=np.full(agents, agents)), agents, None)
    return learner


def hear(learner, *rows):
    """Let agent 0 hear rows of agent 1: an arm, a reward and a number."""
    who = np.zeros(len(rows), dtype=np.int64)
    learner.receive(0, who, who + 1, np.array(rows, dtype=float), who)


def test_what_is_known_of_an_agent_is_its_first_observations():
    learner = race()
    hear(learner, (0, 1, 0), (1, 0.5, 2), (0, 1, 4))
    assert learner.figures() == {"held_back": 2}
    np.testing.assert_array_equal(learner._known[:, 0, 1], [[1, 0], [1, 0]])
    hear(learner, (1, 0.25, 1), (0, 1, 0))  # the missing one, and a copy of one before
    np.testing.assert_array_equal(learner._known[:, 0, 1], [[1, 2], [1, 0.75]])
    hear(learner, (0, 7, 3))
    np.testing.assert_array_equal(learner._known[:, 0, 1], [[3, 2], [9, 0.75]])
    assert learner.figures() == {"held_back": 0}


def test_the_newest_totals_count_whatever_the_order():
    learner, who = race(pool="totals"), np.zeros(3, dtype=np.int64)
    rows = np.array([[2, 1, 0.5, 1], [4, 3, 2, 2], [3, 2, 1, 1]], dtype=float)
    learner.receive(9, who, who + 1, rows, np.array([3, 7, 5]))
    np.testing.assert_array_equal(learner._known[:, 0, 1], [[4, 3], [2, 2]])
    learner.receive(10, who[:1], who[:1] + 1, rows[:1], np.array([3]))
    np.testing.assert_array_equal(learner._known[:, 0, 1], [[4, 3], [2, 2]])


def test_what_an_agent_sends_is_what_others_count():
    for pool in ("observations", "totals"):
        learner, both = race(pool=pool), np.arange(2)
        for slot, (arms, rewards) in enumerate([([0, 0], [1.0, 0.0]), ([1, 1], [0.5, 0.25]), ([0, 1], [2.0, 4.0])]):
            learner.learn(slot, both, np.array(arms), np.array(rewards))
            learner.receive(slot, both[:1], both[1:], learner.share(slot, both[1:]), np.array([slot]))
        np.testing.assert_array_equal(learner._known[:, 0, 1], learner._known[:, 1, 1])
        np.testing.assert_array_equal(learner._known[:, 0, 1], [[1, 2], [0, 4.25]])


@pytest.mark.parametrize(("rule", "left"), [("lucb", [[0, 1]]), ("elimination", [[0, 1, 3]])])
def test_which_arms_are_left(rule, left):
    """The mean of arm 2 is too small, and that of arm 3 less, but less certain; arm 1 has the largest upper bound."""
    learner = race(arms=4, agents=1, rule=rule)
    learner._known[0, 0, 0] = [900, 300, 900, 60]
    learner._known[1, 0, 0] = learner._known[0, 0, 0] * [0.6, 0.58, 0.2, 0.4]
    learner._pulled[:] = learner._known[0, 0]
    learner._judge(np.arange(1))
    np.testing.assert_array_equal(np.flatnonzero(learner.left[0]), left[0])
    assert learner.choose(0, np.arange(1)) == (1 if rule == "lucb" else 3)  # the one that it has pulled least
    assert not learner.stopped(np.arange(1))
    assert learner.answers(np.arange(1)) == 0
    learner._known[:, 0, 0] *= 1000
    learner._judge(np.arange(1))
    assert learner.stopped(np.arange(1))
    np.testing.assert_array_equal(np.flatnonzero(learner.left[0]), [0])


@pytest.mark.parametrize("rule", ["lucb", "elimination"])
def test_an_answer_is_for_good(rule):
    learner, who = race(agents=1, rule=rule), np.arange(1)
    assert learner.answers(who) == -1
    learner._known[:, 0, 0] = [[1e4, 1e4], [9e3, 1e3]]
    learner._judge(who)
    learner._known[:, 0, 0] = [[1e6, 1e6], [1e5, 9e5]]
    learner._judge(who)
    assert (learner.answers(who), learner.stopped(who), learner.choose(0, who)) == (0, True, 0)


def test_of_one_arm_nothing_need_be_known():
    learner, who = race(arms=1, agents=1), np.arange(1)
    learner.learn(0, who, who, np.ones(1))
    assert learner.stopped(who)
