"""DDUCB against a lock-step reference, and the facts of its mixing."""

import networkx as nx
import numpy as np
import pytest
from helpers.exchanging_runs import GRAPHS, digests, play, same_in_bulk
from helpers.lockstep_exchanges import MEANS, dducb, weights

from netbandit.learners.dducb import stage_steps, step_factors
from netbandit.network.topology import Topology
from netbandit.protocols.mixing import mixing, second_eigenvalue

CASES = [
    ("ring", 6, {}, []),
    ("complete", 5, {}, []),
    ("path", 5, {"stage": 3}, ["learner.stage=3"]),
    ("star", 5, {"eta": 1.2, "precision": 0.2}, ["learner.exploration=1.2", "learner.precision=0.2"]),
    ("ring", 6, {"accelerate": False}, ["learner.accelerate=false"]),
    ("ring", 6, {"accelerate": False, "stage": 1}, ["learner.accelerate=false", "learner.stage=1"]),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("family", "agents", "keys", "overrides"), CASES)
def test_agents_choose_what_the_reference_chooses(tmp_path, monkeypatch, family, agents, keys, overrides):
    overrides = [f"topology.family={family}", f"topology.agents={agents}", *overrides]
    result, _, chosen = play(tmp_path, monkeypatch, "dducb", *overrides)
    arms, _ = dducb(weights(GRAPHS[family](agents)), 300, **keys)
    assert chosen == digests(arms)
    assert result.metrics["regret"] == pytest.approx((max(MEANS) - np.array(MEANS))[arms].sum())
    assert result.metrics["mass"] == pytest.approx(1, rel=1e-12)
    links = GRAPHS[family](agents).number_of_edges()
    assert result.metrics["messages"] == 2 * links * (300 - len(MEANS))
    assert result.metrics["bytes"] == result.metrics["messages"] * (20 + 16 * len(MEANS))


TABLE = [
    (nx.cycle_graph(50), 0.994743, 75),
    (nx.cycle_graph(100), 0.998684, 164),
    pytest.param(nx.cycle_graph(200), 0.999671, 355, marks=pytest.mark.ci),
    (nx.grid_2d_graph(10, 10), 0.980423, 43),
    (nx.grid_2d_graph(15, 15), 0.991259, 70),
    (nx.star_graph(49), 0.98, 39),
    (nx.path_graph(50), 0.998684, 150),
    (nx.complete_graph(7), 0.0, 1),
]


@pytest.mark.parametrize(("graph", "left", "steps"), TABLE)
def test_a_stage_takes_as_many_steps_as_the_graph_needs_and_evens_out(graph, left, steps):
    graph = nx.convert_node_labels_to_integers(graph)
    agents = len(graph)
    found = second_eigenvalue(mixing(agents, Topology(graph).edges, "max-degree"))
    assert found == pytest.approx(left, abs=5e-7)
    assert stage_steps(agents, found, 1 / 22) == steps
    matrix = weights(graph)
    before, now = None, np.eye(agents)
    for at_present, before_that in step_factors(steps, found):
        mixed = at_present * (matrix @ now)
        before, now = now, mixed if before is None else mixed - before_that * before
    np.testing.assert_allclose(now.sum(axis=0), 1, rtol=1e-12)
    assert np.linalg.norm(now - 1 / agents, 2) <= 1 / 22 / agents


def test_factors_stay_finite_where_the_polynomials_do_not():
    factors = step_factors(20_000, 0.5)
    assert np.isfinite(factors).all()
    assert factors[-1] == pytest.approx([4 * (2 - np.sqrt(3)), (2 - np.sqrt(3)) ** 2])  # w grows by 2 + sqrt(3) a step


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("family", "agents"), [("ring", 9), ("star", 7), ("path", 6)])
def test_after_a_stage_agents_know_all_pulls_up_to_its_precision(tmp_path, monkeypatch, family, agents):
    ends, pulled = [], []

    def watch(patch, kind):
        mix, learn = kind.mix, kind.learn

        def mixed(self, slot, agents, rows, largest):
            mix(self, slot, agents, rows, largest)
            if not (self.steps % len(self.factors)).any():
                ends.append((slot, self.alpha[:, 0].copy(), self.times.copy()))

        def learnt(self, slot, agents, arms, rewards):
            learn(self, slot, agents, arms, rewards)
            pulled.append(np.bincount(arms, minlength=len(MEANS)))
            now.append((self.times.copy(), self.alpha[:, 0].sum(axis=1)))

        patch.setattr(kind, "mix", mixed)
        patch.setattr(kind, "learn", learnt)

    now = []
    overrides = [f"topology.family={family}", f"topology.agents={agents}", "run.horizon=400"]
    _, learner, _ = play(tmp_path, monkeypatch, "dducb", *overrides, watch=watch)
    counts = np.cumsum(pulled, axis=0)
    began = len(MEANS)
    assert len(ends) > 5
    for slot, alpha, times in ends:
        until = counts[began - 1]
        assert (abs(agents * alpha - until) <= until / 22).all()
        assert (times == agents * began).all()
        began = slot
    assert began - ends[-2][0] == len(learner.factors)
    for times, known in now:  # from then on each own pull counts once on either side
        np.testing.assert_allclose(agents * known, times, rtol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("accelerate", ["true", "false"])
@pytest.mark.parametrize("overrides", [
    ('links.peer.latency={ uniform = ["0 ms", "4 ms"] }',), ("links.peer.loss=0.3", "links.peer.duplicate=0.2"),
])  # fmt: skip
def test_sums_are_kept_whatever_the_links(tmp_path, monkeypatch, accelerate, overrides):
    keys = [f"learner.accelerate={accelerate}", "learner.stage=4"]
    result, learner, _ = play(tmp_path, monkeypatch, "dducb", *keys, *overrides)
    assert learner.steps.min() > 50
    assert result.metrics["mass"] == pytest.approx(1, rel=1e-9)
    assert result.remarks == ()


@pytest.mark.ci
def test_a_run_says_that_what_is_missing_is_amplified(tmp_path, monkeypatch):
    keys = ["links.peer.loss=0.3", "protocol.pace=slot", "run.horizon=800", "topology.agents=12"]
    result, _, _ = play(tmp_path, monkeypatch, "dducb", *keys)
    (remark,) = result.remarks
    assert "which accelerated steps amplify (accelerate = false avoids this)" in remark
    assert 'with protocol.pace = "step" and no deadline no value is missing' in remark
    (plain,) = play(tmp_path, monkeypatch, "dducb", *keys, "learner.accelerate=false")[0].remarks
    assert "amplify" not in plain
    waiting, _, _ = play(tmp_path, monkeypatch, "dducb", *keys, "protocol.pace=step")
    assert waiting.remarks == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("overrides", [
    ("links.peer.latency=0 ms",), ("links.peer.latency=2.5 slots", "learner.stage=3"), ("protocol.pace=slot",),
    ('links.peer.latency={ uniform = ["0.1 slots", "0.9 slots"] }', "learner.accelerate=false"),
    ('links.peer.latency={ uniform = ["0 slots", "3 slots"] }', "links.peer.loss=0.2", "learner.stage=3"),
    ("protocol.pace=slot", "links.peer.loss=0.2", "links.peer.latency=2 slots"),
])  # fmt: skip
def test_all_at_once_is_message_by_message(tmp_path, monkeypatch, overrides):
    same_in_bulk(tmp_path, monkeypatch, "dducb", "run.horizon=60", *overrides)


def test_doubled_messages_change_nothing(tmp_path, monkeypatch):
    keys = ["links.peer.latency=1.5 slots", "learner.stage=4"]
    _, _, chosen = play(tmp_path, monkeypatch, "dducb", *keys)
    _, _, same = play(tmp_path, monkeypatch, "dducb", *keys, "links.peer.duplicate=1.0")
    assert chosen == same


def test_an_agent_alone_has_nobody_to_wait_for(tmp_path, monkeypatch):
    for alone in ("protocol.kind=silent", "topology.family=path"):
        agents = "topology.agents=1" if alone.startswith("topology") else "topology.agents=6"
        result, learner, _ = play(tmp_path, monkeypatch, "dducb", alone, agents)
        assert len(learner.factors) == 1
        assert (learner.group == 1).all()
        np.testing.assert_allclose(learner.alpha[:, 0].sum(axis=1), learner.times, rtol=1e-12)
        assert (learner.times == 299).all()  # what was pulled in the last stage is not in it
        assert result.metrics["messages"] == 0
