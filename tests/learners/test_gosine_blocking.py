"""Whom an agent of GosInE asks no more, phase by phase."""

import numpy as np
import pytest

from netbandit.learners.gosine import Gosine
from netbandit.learners.world import World
from netbandit.util.streams import Streams

AGENT = np.array([0])


def started(block, **keys):
    learner = Gosine(block=block, power=2, **keys)
    learner.start(World(agents=4, horizon=1000, streams=Streams(0, 0), arms=12), 4, np.random.default_rng(0))
    return learner


def end_phase(learner, arm, pulls, recommended=None):
    """Let agent 0 pull *arm* often, hear a recommendation of agent 1, and end its phase."""
    if recommended is not None:
        slot = np.zeros(1, dtype=np.int64)
        learner.receive(0, AGENT, np.array([1]), np.array([[float(recommended)]]), slot)
    for _ in range(pulls):
        learner.learn_one(0, 0, arm, 1.0)
    learner.ask(int(learner._ends[0]), AGENT)
    return learner.avoided(0)


def test_phase_1_blocks_nobody():
    for block in ("most-played", "confident"):
        assert end_phase(started(block), 0, 1) == frozenset()


def test_most_played_blocks_whose_arm_was_not_pulled_most_until_phase_j_to_the_eta():
    learner = started("most-played")
    end_phase(learner, 0, 1)
    assert end_phase(learner, 0, 3, recommended=7) == {1}  # phase 2: up to phase 4
    assert end_phase(learner, 0, 5) == {1}
    assert end_phase(learner, 0, 7) == {1}
    assert end_phase(learner, 0, 9) == frozenset()


def test_most_played_trusts_whose_arm_was_pulled_most():
    learner = started("most-played")
    end_phase(learner, 0, 1)
    assert end_phase(learner, 7, 3, recommended=7) == frozenset()


def test_confident_blocks_only_who_recommends_what_is_rarely_pulled_to_an_agent_that_is_sure():
    learner = started("confident")
    end_phase(learner, 0, 1)
    # j = 2: pulled 0 <= 2^1.5 times, and arm 0 is the most pulled since phase 1 <= 2 - floor(ln 2).
    assert end_phase(learner, 0, 3, recommended=7) == {1}
    unsure = started("confident")
    end_phase(unsure, 0, 1)
    end_phase(unsure, 0, 3)
    # j = 3: the most pulled arm is another one since this phase, and theta = 3 - floor(ln 3) = 2.
    assert end_phase(unsure, 1, 5, recommended=7) == frozenset()
    often = started("confident")
    end_phase(often, 0, 1)
    for _ in range(3):  # 3 > 2^1.5
        often.learn_one(0, 0, 7, 0.0)
    assert end_phase(often, 0, 4, recommended=7) == frozenset()


@pytest.mark.parametrize("block", ["most-played", "confident"])
def test_what_is_blocked_is_forgotten_with_everything_else(block):
    learner = started(block)
    end_phase(learner, 0, 1)
    assert end_phase(learner, 0, 3, recommended=7) == {1}
    assert learner.blocked_links() == [(0, 1)]
    learner.forget(5, AGENT)
    assert learner.blocked_links() == []
