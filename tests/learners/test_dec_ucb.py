"""Dec_UCB against a lock-step reference, and what it keeps."""

import numpy as np
import pytest
from helpers.exchanging_runs import GRAPHS, digests, play, same_in_bulk
from helpers.lockstep_exchanges import MEANS, dec_ucb, weights

from netbandit.scenario.errors import ScenarioError

CASES = [
    ("ring", 6, {}, []),
    ("star", 6, {}, []),
    ("star", 5, {"theorem": 1}, ["learner.theorem=1"]),
    ("path", 4, {"every": 3}, ["links.peer.latency=2.5 slots"]),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("family", "agents", "keys", "overrides"), CASES)
def test_agents_choose_what_the_reference_chooses(tmp_path, monkeypatch, family, agents, keys, overrides):
    rule = "uniform" if keys.get("theorem") == 1 else "metropolis"
    overrides = [
        f"topology.family={family}", f"topology.agents={agents}", f"protocol.weights={rule}", "run.horizon=800",
        *overrides,
    ]  # fmt: skip
    result, _, chosen = play(tmp_path, monkeypatch, "dec-ucb", *overrides)
    graph = GRAPHS[family](agents)
    arms = dec_ucb(weights(graph, rule), graph, 800, **keys)
    assert chosen == digests(arms)
    assert result.metrics["messages"] == 2 * graph.number_of_edges() * len(range(len(MEANS), 800, keys.get("every", 1)))


def test_an_agent_alone_is_ucb_with_alpha_6(tmp_path, monkeypatch):
    alone = ["topology.family=path", "topology.agents=1", "run.horizon=1000"]
    _, _, chosen = play(tmp_path, monkeypatch, "dec-ucb", *alone)
    _, _, same = play(tmp_path, monkeypatch, "ucb", *alone, "protocol.kind=silent", "learner.exploration=6.0")
    assert chosen == same


@pytest.mark.sampled(5)
@pytest.mark.parametrize("overrides", [
    (), ('links.peer.latency={ uniform = ["0 ms", "4 ms"] }',), ("links.peer.loss=0.3", "links.peer.duplicate=0.2"),
])  # fmt: skip
def test_estimates_add_up_to_the_own_means_in_every_step(tmp_path, monkeypatch, overrides):
    log = {}

    def watch(patch, kind):
        share, learn = kind.share, kind.learn
        means = []

        def learnt(self, slot, agents, arms, rewards):
            means[:] = [self.sums / np.maximum(self.own_pulls, 1)]
            learn(self, slot, agents, arms, rewards)

        def shared(self, slot, agents):
            rows = share(self, slot, agents)
            if rows is not None:
                for agent, step, row in zip(agents.tolist(), self.steps[agents].tolist(), rows, strict=True):
                    log[agent, step] = row[: len(MEANS)].copy(), means[0][agent]
            return rows

        patch.setattr(kind, "share", shared)
        patch.setattr(kind, "learn", learnt)

    keys = ["protocol.weights=metropolis", "topology.family=path", "run.horizon=200"]
    _, learner, _ = play(tmp_path, monkeypatch, "dec-ucb", *keys, *overrides, watch=watch)
    assert learner.steps.min() > 25
    for step in range(int(learner.steps.min()) + 1):
        told, means = (sum(log[agent, step][which] for agent in range(6)) for which in (0, 1))
        np.testing.assert_allclose(told, means, rtol=1e-12)


@pytest.mark.ci
@pytest.mark.parametrize("lowest", [True, False])
def test_who_is_behind_pulls_the_lowest_such_arm_or_a_random_one(tmp_path, monkeypatch, lowest):
    places = []

    def watch(patch, kind):
        choose = kind.choose

        def chosen(self, slot, agents):
            behind = self.own_pulls <= self.most - self.world.arms
            arms = choose(self, slot, agents)
            for agent in np.flatnonzero(behind.any(axis=1)) if slot >= len(MEANS) else ():
                assert behind[agent, arms[agent]]
                if behind[agent].sum() > 1:
                    places.append(np.flatnonzero(behind[agent]).tolist().index(arms[agent]))
            return arms

        patch.setattr(kind, "choose", chosen)

    # On a star of slow hops, the leaves explore more than the centre and are heard of late.
    keys = ["topology.family=star", "topology.agents=12", "run.horizon=3000", "bandit.means=[0.5, 0.5, 0.5, 0.5]"]
    more = ["protocol.weights=metropolis", f"learner.catch_up={str(lowest).lower()}", "links.peer.latency=20 slots"]
    play(tmp_path, monkeypatch, "dec-ucb", *keys, *more, watch=watch)
    assert len(places) > 20
    assert (set(places) == {0}) == lowest


@pytest.mark.sampled(2)
@pytest.mark.parametrize("overrides", [
    ("links.peer.latency=0 ms",), ("links.peer.latency=2.5 slots",), ("protocol.pace=slot", "learner.catch_up=false"),
    ('links.peer.latency={ uniform = ["0.1 slots", "0.9 slots"] }', "protocol.weights=metropolis"),
    ('links.peer.latency={ uniform = ["0 slots", "3 slots"] }', "links.peer.loss=0.2"),
    ("protocol.pace=slot", "links.peer.loss=0.2", "learner.catch_up=false"),
])  # fmt: skip
def test_all_at_once_is_message_by_message(tmp_path, monkeypatch, overrides):
    same_in_bulk(tmp_path, monkeypatch, "dec-ucb", "run.horizon=80", *overrides)


def test_doubled_messages_change_nothing(tmp_path, monkeypatch):
    keys = ["links.peer.latency=1.5 slots", "protocol.weights=metropolis"]
    _, _, chosen = play(tmp_path, monkeypatch, "dec-ucb", *keys)
    _, _, same = play(tmp_path, monkeypatch, "dec-ucb", *keys, "links.peer.duplicate=1.0")
    assert chosen == same


def test_arms_of_ones_own_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ScenarioError, match=r"bandit\.arms_per_agent: cannot be with dec-ucb, which mixes estimates"):
        play(tmp_path, monkeypatch, "dec-ucb", "bandit.arms_per_agent=2")
