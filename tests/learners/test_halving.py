"""Sequential halving, beside the algorithm as a few lines for one agent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netbandit as nb
from netbandit.checks.check import check
from netbandit.learners.halving import Halving, sizes
from netbandit.learners.learner import Commit
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load

TEXT = """
run = { horizon = 900, slot = "1 ms" }
topology = { family = "ring", agents = 5 }
links = { peer.latency = "3 ms", uplink.latency = "3 ms" }
bandit = { kind = "bernoulli", means = [0.5, 0.3, 0.9, 0.1, 0.4, 0.2] }
learner = { kind = "halving", budget = 600 }
protocol = { kind = "silent" }
"""


def reference(rewards, budget):
    """Return what sequential halving answers (Karnin, Koren, Somekh 2013), with means of all pulls so far.

    Args:
        rewards: What the n-th pull of each arm pays, shape (K, n).
        budget: T.
    """
    left, rounds = list(range(len(rewards))), int(np.ceil(np.log2(len(rewards))))
    pulls = 0
    for _ in range(rounds):
        pulls += budget // (len(left) * rounds)
        means = {arm: rewards[arm, :pulls].mean() for arm in left}
        left = sorted(sorted(left, key=lambda arm: (-means[arm], arm))[: -(-len(left) // 2)])
    return left[0]


def played(learner, rewards, horizon=10_000):
    """Let the members of a cohort explore, each paid by its own *rewards*, shape (members, K, n); return the answer."""
    members, arms, _ = rewards.shape
    learner.start(arms=arms, horizon=horizon, members=members, participants=members, smallest_gap=None)
    pulled = 0
    for epoch in range(1, 99):
        action = learner.begin(epoch)
        if isinstance(action, Commit):
            return action.arm
        learner.observe(rewards[:, action.arms, pulled : pulled + action.pulls].sum(axis=2), None)
        learner.conclude(learner.combine(learner.releases))
        pulled += action.pulls
    raise AssertionError("it never ends")


@given(st.integers(2, 20), st.integers(0, 10**6), st.booleans())
def test_one_agent_halves_as_the_algorithm_does(arms, seed, ties):
    rng = np.random.default_rng(seed)
    budget = int(rng.integers(arms * 5, 400))
    rewards = rng.integers(0, 2, (arms, budget)) if ties else rng.random((arms, budget))
    assert played(Halving(budget=budget), rewards[np.newaxis]) == reference(rewards, budget)


def test_several_agents_halve_as_one_that_has_all_their_pulls():
    """Of which each pays the mean of theirs."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        rewards = rng.integers(0, 2, (4, 7, 200))
        assert played(Halving(budget=200), rewards) == reference(rewards.mean(axis=0), 200)


@given(st.integers(1, 200), st.integers(1, 12))
def test_the_rounds_end_with_one_arm(arms, rounds):
    left = sizes(arms, rounds)
    assert len(left) <= rounds
    assert [arms, *left][-1] == 1
    assert all(later < before for before, later in zip([arms, *left], left, strict=False))


@pytest.mark.parametrize(
    ("arms", "rounds", "left"),
    [(10, None, [5, 3, 2, 1]), (10, 4, [5, 3, 2, 1]), (10, 2, [3, 1]), (9, 2, [3, 1]), (10, 1, [1]), (1, None, [])],
)
def test_how_many_arms_are_left(arms, rounds, left):
    assert sizes(arms, rounds) == left


def run(*overrides):
    return check(load("halving.toml", overrides, text=TEXT)).points[0].simulation(0).run().metrics


@pytest.mark.parametrize("protocol", ["silent", "pooled", "master-worker", "gis", "relay"])
def test_a_run_spends_its_budget_and_answers(protocol):
    found = run(f"protocol.kind={protocol}")
    assert (found["answered"], found["wrong"], found["simple_regret"]) == (1.0, 0.0, 0.0)
    waited = {"silent": 0, "pooled": 1, "master-worker": 6, "relay": 6, "gis": 18}[protocol]
    assert found["stop_slot"] == 6 * 33 + 3 * 66 + 2 * 100 + 3 * waited + 1  # in which it pulls its answer


def test_without_a_budget_waiting_cuts_the_last_round():
    notes = check(load("halving.toml", ["protocol.kind=gis", "learner={kind='halving'}"], text=TEXT)).notes
    assert any("do not come to the end of the last round" in note for note in map(str, notes))
    assert run("protocol.kind=gis", "learner={kind='halving'}")["answered"] == 0
    assert run("learner={kind='halving'}")["answered"] == 1


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"budget": 5}, "learner.budget: must be at least 18: 6 arms are pulled once in 3 rounds"),
        ({"budget": 5, "rounds": 1}, "learner.budget: must be at least 6: 6 arms are pulled once in 1 round"),
        ({"budget": 900}, "learner.budget: must be less than run.horizon = 900: agents answer after it"),
    ],
)
def test_a_budget_that_cannot_be_spent_is_refused(keys, text):
    with pytest.raises(ScenarioError, match=text):
        run(*(f"learner.{key}={value}" for key, value in keys.items()))


def test_a_horizon_is_refused_that_has_no_pull_for_each_arm():
    text = "run.horizon: must be at least 19: 6 arms are pulled once in 3 rounds, as learner.budget is not given"
    with pytest.raises(ScenarioError, match=text):
        run("learner={kind='halving'}", "run.horizon=18")
    assert run("learner={kind='halving'}", "run.horizon=19")["answered"] == 1


def test_it_is_public():
    assert nb.learners.Halving is Halving
