"""What agents conclude that have heard different items, against Algorithm 1 and against the formula written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.learners.differing_sets import Answer, Told
from netbandit.learners.elimination import Elimination
from netbandit.learners.elimination_pooled import PooledArms, left, pooled, widths
from netbandit.learners.elimination_schedule import EliminationSchedule

SCHEDULE = EliminationSchedule(arms=5, horizon=10_000, participants=4, epsilon=2.0)


def told(arms, means, pulls):
    return Told(np.array(arms), np.array(means, dtype=float), pulls)


def written_out(epoch, active, pulls, epsilon=2.0, n0=4, arms=5, horizon=10_000):
    """C_k from the formula, for the S_i of the agents that name the arm."""
    n = len(pulls)
    first = math.sqrt(math.log(8 * active * epoch**2 * horizon) * sum(1 / s for s in pulls) / 2) / n
    log = math.sqrt(8 * math.log(8 * arms * epoch**2 * horizon))
    return first + epoch * log * math.sqrt(sum(1 / s**2 for s in pulls)) / (n0 * epsilon * n)


def test_widths_follow_the_formula_arm_by_arm():
    parts = [told([0, 1, 2], [0.1, 0.2, 0.3], 100), told([1, 2], [0.4, 0.5], 250), told([2], [0.9], 70)]
    known = pooled(parts)
    assert known.arms.tolist() == [0, 1, 2]
    assert known.agents.tolist() == [1, 2, 3]
    assert known.means.tolist() == pytest.approx([0.1, 0.3, 1.7 / 3], rel=1e-15)
    expected = [written_out(3, 3, pulls) for pulls in ([100], [100, 250], [100, 250, 70])]
    assert widths(SCHEDULE, 3, 3, known).tolist() == pytest.approx(expected, rel=1e-13)


@given(st.integers(1, 8), st.integers(1, 5), st.integers(1, 10**9), st.sampled_from([math.inf, 0.01, 3.0]))
def test_with_all_agents_and_equal_pulls_the_width_is_that_of_the_paper(epoch, active, pulls, epsilon):
    schedule = EliminationSchedule(arms=5, horizon=10_000, participants=4, epsilon=epsilon)
    known = pooled([told(range(active), [0.5] * active, pulls)] * 4)
    assert widths(schedule, epoch, active, known).tolist() == [schedule.width(epoch, pulls, active)] * active
    general = schedule.width_of(epoch, active, 4, 4 / pulls, 4 / pulls**2)
    assert general == pytest.approx(schedule.width(epoch, pulls, active), rel=1e-12)


@given(st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), min_size=4, max_size=4), st.randoms())
def test_agents_that_hold_all_of_equal_pulls_conclude_as_a_cohort(rows, random):
    """To the last bit, whatever the order: the same arms leave, the same arm is committed to."""
    rows = np.array(rows)
    together, apart = Elimination(epsilon=2.0), Elimination(epsilon=2.0)
    together.start(arms=5, horizon=10_000, members=4, participants=4, smallest_gap=None)
    apart.start_per_agent(arms=5, horizon=10_000, members=4, participants=4, smallest_gap=None)
    for learner, members in ((together, 4), (apart, 1)):
        pulls = learner.begin(1).pulls
        learner.observe(np.zeros((members, 5), dtype=np.int64), np.random.default_rng(0))
    together.conclude(together.combine(rows))
    parts = [told(range(5), row, pulls) for row in rows]
    random.shuffle(parts)
    apart.conclude_pooled(apart.pool(parts))
    assert together.active.tolist() == apart.active.tolist()
    assert type(together.begin(2)) is type(apart.begin(2))
    server = Elimination(epsilon=2.0)
    server.start_per_agent(arms=5, horizon=10_000, members=4, participants=4, smallest_gap=None)
    assert server.answer(1, server.pool(parts)).active.tolist() == together.active.tolist()


@given(st.lists(st.tuples(st.sets(st.integers(0, 4), min_size=1), st.integers(1, 1000)), min_size=1, max_size=6))
def test_what_stands_for_groups_stands_for_all(agents):
    rng = np.random.default_rng(1)
    parts = [told(sorted(arms), rng.random(len(arms)), pulls) for arms, pulls in agents]
    whole = pooled(parts)
    halves = pooled(
        [pooled(parts[: len(parts) // 2 or 1]), *[pooled([part]) for part in parts[len(parts) // 2 or 1 :]]]
    )
    for name in PooledArms.__dataclass_fields__:
        assert getattr(halves, name).tolist() == pytest.approx(getattr(whole, name).tolist(), rel=1e-13)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 0.5)), min_size=1, max_size=6))
def test_an_arm_goes_only_if_another_is_surely_better(arms):
    means, width = (np.array(column) for column in zip(*arms, strict=True))
    stays = left(means, width).tolist()
    if len(set(width.tolist())) > 1:
        assert stays == [max(m - c for m, c in arms) < mean + c for mean, c in arms]
    assert stays[int(means.argmax())]


def test_arms_that_an_agent_has_dropped_do_not_come_back():
    learner = Elimination()
    learner.start_per_agent(arms=4, horizon=1000, members=3, participants=3, smallest_gap=None)
    learner.begin(1)
    learner.observe(np.zeros((1, 4), dtype=np.int64), np.random.default_rng(0))
    learner.adopt(Answer(np.array([1, 2]), None))
    assert learner.active.tolist() == [1, 2]
    learner.begin(2)
    learner.observe(np.zeros((1, 2), dtype=np.int64), np.random.default_rng(0))
    learner.adopt(Answer(np.array([0, 1, 2, 3]), None))  # an earlier answer, which came later
    assert learner.active.tolist() == [1, 2]


def test_who_hears_nothing_keeps_its_arms_and_commits_at_the_end_of_a_budget():
    learner = Elimination(rounds=1, gap=0.9)
    learner.start_per_agent(arms=3, horizon=1000, members=3, participants=3, smallest_gap=0.9)
    pulls = learner.begin(1).pulls
    learner.observe(np.array([[0, pulls, 0]]), np.random.default_rng(0))
    learner.keep()
    assert learner.active.tolist() == [0, 1, 2]
    assert learner.begin(2).arm == 1


def test_arms_that_nobody_names_stay():
    learner = Elimination()
    learner.start_per_agent(arms=3, horizon=1000, members=2, participants=2, smallest_gap=None)
    pulls = learner.begin(1).pulls
    learner.observe(np.zeros((1, 3), dtype=np.int64), np.random.default_rng(0))
    learner.conclude_pooled(learner.pool([told([1, 2], [0.0, 1.0], pulls)] * 2))
    assert learner.active.tolist() == [0, 2]
