"""Coop-UCB2 against a lock-step reference, and what its sums are whatever the links do."""

import numpy as np
import pytest
from helpers.exchanging_runs import GRAPHS, digests, play, same_in_bulk
from helpers.lockstep_exchanges import MEANS, coop_ucb2, place_of, weights

from netbandit.scenario.errors import ScenarioError

CASES = [
    ("ring", 6, {}, []),
    ("star", 5, {"gamma": 1.01, "eta": 0.0}, ["learner.exploration=1.01", "learner.eta=0.0"]),
    ("path", 4, {"every": 3}, ["links.peer.latency=2.5 slots"]),
    ("ring", 5, {"discount": 0.97}, ["learner.discount=0.97"]),
    ("ring", 5, {"discount": 0.4}, ["learner.discount=0.4"]),
    ("ring", 5, {"discount": 0.97, "every": 2}, ["learner.discount=0.97", "links.peer.latency=2 slots"]),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("family", "agents", "keys", "overrides"), CASES)
def test_agents_choose_what_the_reference_chooses(tmp_path, monkeypatch, family, agents, keys, overrides):
    overrides = [f"topology.family={family}", f"topology.agents={agents}", *overrides]
    result, _, chosen = play(tmp_path, monkeypatch, "coop-ucb2", *overrides)
    arms = coop_ucb2(weights(GRAPHS[family](agents)), 300, **keys)
    assert chosen == digests(arms)
    gaps = max(MEANS) - np.array(MEANS)
    assert result.metrics["regret"] == pytest.approx(gaps[arms].sum())
    assert result.metrics["mass"] == pytest.approx(1, rel=1e-12)
    assert result.remarks == ()


@pytest.mark.parametrize(("family", "rule"), [("star", "max-degree"), ("path", "metropolis")])
def test_an_agents_place_in_the_graph_widens_its_bonus(tmp_path, monkeypatch, family, rule):
    matrix = weights(GRAPHS[family](5), rule)
    keys = ["learner.index=coop-ucb", f"protocol.weights={rule}"]
    _, learner, chosen = play(
        tmp_path, monkeypatch, "coop-ucb2", f"topology.family={family}", "topology.agents=5", *keys
    )
    np.testing.assert_allclose(learner.extra, place_of(matrix), rtol=1e-9, atol=1e-12)
    assert learner.extra.std() > 0
    assert chosen == digests(coop_ucb2(matrix, 300, place=place_of(matrix)))


def told_by_step(patch, kind, log):
    """Note of each agent and step what it told, and what it had pulled and got until then."""
    share = kind.share
    pulled, learn = {}, kind.learn

    def learnt(self, slot, agents, arms, rewards):
        own = pulled.setdefault(id(self), np.zeros((2, self.world.agents, self.world.arms)))
        own[0, agents, arms] += 1
        own[1, agents, arms] += rewards
        learn(self, slot, agents, arms, rewards)

    def shared(self, slot, agents):
        rows = share(self, slot, agents)
        for agent, step, row in zip(agents.tolist(), self.steps[agents].tolist(), rows, strict=True):
            log[agent, step] = row.copy(), pulled[id(self)][:, agent].ravel().copy()
        return rows

    patch.setattr(kind, "learn", learnt)
    patch.setattr(kind, "share", shared)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("overrides", [
    (), ('links.peer.latency={ uniform = ["0 ms", "4 ms"] }',), ("links.peer.loss=0.3", "links.peer.duplicate=0.2"),
    ("links.peer.loss=0.1", "links.peer.jitter=2 ms", "links.peer.overtaking=true"), ("protocol.weights=metropolis",),
])  # fmt: skip
def test_sums_over_agents_are_all_pulls_and_all_rewards_in_every_step(tmp_path, monkeypatch, overrides):
    log = {}
    result, learner, _ = play(
        tmp_path, monkeypatch, "coop-ucb2", "run.horizon=150", *overrides,
        watch=lambda patch, kind: told_by_step(patch, kind, log),
    )  # fmt: skip
    steps = int(learner.steps.min())
    assert steps > 25
    for step in range(steps + 1):
        told, pulled = (sum(log[agent, step][which] for agent in range(6)) for which in (0, 1))
        np.testing.assert_allclose(told, pulled, rtol=1e-12)
    assert result.metrics["mass"] == pytest.approx(1, rel=1e-12)


@pytest.mark.ci
def test_stepping_in_every_slot_over_slow_hops_makes_counts_grow(tmp_path, monkeypatch):
    keys = ["links.peer.latency=3 slots", "protocol.pace=slot", "run.horizon=1500", "topology.agents=5"]
    result, _, _ = play(tmp_path, monkeypatch, "coop-ucb2", *keys)
    # What agents count grows by 1/(1 + (1 - P_ii)(h - 1)) a slot, on a ring P_ii = 1/3.
    assert result.metrics["mass"] == pytest.approx(1 / (1 + 2 / 3 * 2), rel=0.01)
    (remark,) = result.remarks
    assert remark.startswith("sums over agents were not preserved (mass = 0.4")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("overrides", [
    ("links.peer.latency=0 ms",), ("links.peer.latency=2.5 slots",), ("protocol.pace=slot", "links.peer.latency=1 ms"),
    ('links.peer.latency={ uniform = ["0.1 slots", "0.9 slots"] }', "bandit.kind=bernoulli"),
    ('links.peer.latency={ uniform = ["0 slots", "3 slots"] }', "links.peer.loss=0.2"),
    ("protocol.pace=slot", "links.peer.loss=0.2", "learner.discount=0.98"),
])  # fmt: skip
def test_all_at_once_is_message_by_message(tmp_path, monkeypatch, overrides):
    same_in_bulk(tmp_path, monkeypatch, "coop-ucb2", "run.horizon=60", *overrides)


def test_doubled_messages_change_nothing(tmp_path, monkeypatch):
    once, _, chosen = play(tmp_path, monkeypatch, "coop-ucb2", "links.peer.latency=1.5 slots")
    twice, _, same = play(
        tmp_path, monkeypatch, "coop-ucb2", "links.peer.latency=1.5 slots", "links.peer.duplicate=1.0"
    )
    assert chosen == same
    assert once.metrics["regret"] == twice.metrics["regret"]
    assert twice.metrics["duplicates"] > 1000


def test_alone_and_with_own_arms(tmp_path, monkeypatch):
    alone, learner, _ = play(tmp_path, monkeypatch, "coop-ucb2", "protocol.kind=silent")
    assert alone.metrics["messages"] == 0
    assert (learner.group == 1).all()
    assert alone.metrics["mass"] == pytest.approx(1, rel=1e-12)
    result, learner, _ = play(tmp_path, monkeypatch, "coop-ucb2", "bandit.arms_per_agent=2")
    own = result.metrics["regret"]
    assert own > 0
    assert (learner.counts == 2).all()


@pytest.mark.parametrize("overrides", [
    ("feedback.delay=2 s",), ("feedback.delay=1 ms", "feedback.never=1.0"),
    ("feedback.delay=90 ms", "learner.discount=0.5"), ("feedback.delay=2 s", "protocol.pace=slot"),
    ("feedback.delay=2 s", "protocol.kind=silent"),
])  # fmt: skip
def test_where_no_reward_comes_sums_have_no_mass(tmp_path, monkeypatch, overrides):
    found, _, _ = play(tmp_path, monkeypatch, "coop-ucb2", "run.horizon=60", "run.slot=1 ms", *overrides)
    assert found.metrics["mass"] is None


def test_what_does_not_go_together_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ScenarioError, match=r'learner\.index: must be "coop-ucb2" with protocol\.weights = "uniform"'):
        play(tmp_path, monkeypatch, "coop-ucb2", "learner.index=coop-ucb", "protocol.weights=uniform")
    with pytest.raises(ScenarioError, match=r'learner\.index: must be "coop-ucb2" for more than 3,000 agents'):
        play(tmp_path, monkeypatch, "coop-ucb2", "learner.index=coop-ucb", "topology.agents=3001")
