"""Learners of one's own, in numpy over the whole population: which methods they have says how their agents talk."""

import networkx as nx
import numpy as np
import pytest

from netbandit.checks.check import check
from netbandit.learners.slots import Learner
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.util.streams import Streams

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms" }}
topology = {{ family = "{family}", agents = 5 }}
links.peer.latency = "{latency}"
bandit = {{ {bandit} }}
learner = {{ kind = "{kind}"{keys} }}
protocol = {{ kind = "{protocol}"{more} }}
"""

LOG = []


class Logged(Learner):
    """Pulls arm (slot + agent) mod K, and writes down all that it is told."""

    def start(self, world, agents, rng):
        LOG.append(("start", world, agents, rng))
        self.world = world

    def choose(self, slot, agents):
        return (slot + agents) % self.world.arms

    def learn(self, slot, agents, arms, rewards):
        LOG.append(("learn", slot, agents.tolist(), arms.tolist(), rewards.tolist()))


class Telling(Logged):
    """Tells its number and the slot."""

    def share(self, slot, agents):
        return np.stack([agents, np.full(len(agents), slot)], axis=1).astype(float)

    def receive(self, slot, agents, sources, told, said):
        assert told.tolist() == np.stack([sources, said], axis=1).tolist()
        LOG.extend(zip(["hear"] * len(agents), [slot] * len(agents), agents, sources, said, strict=True))


class Rarely(Telling):
    """Tells in every tenth slot."""

    def next_share(self, slot):
        return -(-slot // 10) * 10


class Averaging(Logged):
    """Shares its number and the slot in every tenth slot; adopts the mean."""

    every: int = 10

    def share(self, slot, agents):
        return np.stack([agents, np.full(len(agents), slot)], axis=1).astype(float)

    def next_share(self, slot):
        return -(-slot // self.every) * self.every

    def adopt(self, slot, agents, combined):
        LOG.append(("adopt", slot, agents.tolist(), combined.tolist()))


class Asking(Averaging):
    """Agent 2 asks for a synchronisation in every slot."""

    def wants(self, slot, agents):
        return agents == 2


@pytest.fixture
def run(tmp_path):
    def runs(kind, *, protocol="silent", horizon=30, family="ring", latency="0 ms", bandit=None, keys="", more=""):
        LOG.clear()
        file = tmp_path / "own.toml"
        text = SCENARIO.format(
            kind=f"{__name__}:{kind.__name__}",
            protocol=protocol,
            horizon=horizon,
            family=family,
            latency=latency,
            bandit=bandit or 'kind = "bernoulli", means = [0.2, 0.5, 0.9]',
            keys=keys,
            more=more,
        )
        file.write_text(text)
        return check(load(file)).points[0].simulation(0).run()

    return runs


def told(name):
    return [entry[1:] for entry in LOG if entry[0] == name]


def test_the_reward_of_a_slot_is_that_of_the_agents_own_number(run):
    found = run(Logged, horizon=2_000)
    uniforms = np.stack([Streams(0, 0).generator("rewards", agent).random(2_000) for agent in range(5)])
    learnt = told("learn")
    assert [slot for slot, *_ in learnt] == list(range(2_000))
    for slot, agents, arms, rewards in learnt:
        assert agents == list(range(5))
        assert arms == [(slot + agent) % 3 for agent in range(5)]
        assert rewards == [float(uniforms[agent, slot] < [0.2, 0.5, 0.9][arm]) for agent, arm in enumerate(arms)]
    pulls = np.bincount(np.concatenate([arms for _, _, arms, _ in learnt]), minlength=3)
    assert found.metrics["regret"] == pytest.approx(pulls @ [0.7, 0.4, 0.0])
    assert found.metrics["messages"] == found.metrics["epsilon"] == 0
    (world, agents, rng), *others = told("start")
    assert (world.arms, world.agents, agents, world.horizon, others) == (3, 5, 5, 2_000, [])
    assert rng.random() == Streams(0, 0).generator("learner").random()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("protocol", "more", "reach"), [("local", ", ttl = 1", 1), ("local", ", ttl = 2", 2), ("relay", "", 9)]
)
@pytest.mark.parametrize(("latency", "hop"), [("0 ms", 1), ("1 ms", 1), ("2.5 ms", 3)])
@pytest.mark.parametrize("kind", [Telling, Rarely])
def test_each_hears_all_in_reach_as_many_slots_later_as_there_are_hops(run, kind, protocol, more, reach, latency, hop):
    found = run(kind, protocol=protocol, more=more, family="path", latency=latency)
    away = dict(nx.all_pairs_shortest_path_length(nx.path_graph(5)))
    spoken = range(0, 30, 1 if kind is Telling else 10)
    expected = {
        (said + hop * away[source][agent], agent, source, said)
        for said in spoken
        for source in range(5)
        for agent in range(5)
        if 0 < away[source][agent] <= reach and said + hop * away[source][agent] < 30
    }
    heard = told("hear")
    assert set(heard) == expected
    assert len(heard) == len(expected)
    assert heard == sorted(heard, key=lambda entry: entry[0])
    assert found.metrics["rounds"] == len(spoken)
    assert found.metrics["epsilon"] is None  # nothing is private
    delays = [slot - said for slot, _, _, said in expected]
    assert found.metrics["delay_slots"] == pytest.approx(np.mean(delays))


@pytest.mark.parametrize("protocol", ["flooding", "gis", "gossip", "sink", "master-worker"])
def test_rounds_of_any_protocol_bring_broadcasts(run, protocol):
    run(Rarely, protocol=protocol)
    heard = told("hear")
    assert {(agent, source) for _, agent, source, said in heard if said == 0} == {
        (agent, source) for agent in range(5) for source in range(5) if agent != source
    }
    assert len({entry[1:] for entry in heard}) == len(heard)  # nothing twice


def test_who_decides_no_more_hears_no_more(run):
    run(Telling, protocol="relay", horizon=3, latency="3 ms")
    assert told("hear") == []


@pytest.mark.parametrize("protocol", ["master-worker", "flooding", "gis", "gossip", "sink", "relay"])
def test_rounds_known_ahead_end_with_the_mean(run, protocol):
    found = run(Averaging, protocol=protocol, horizon=49)
    adopted = told("adopt")
    assert {said for *_, (_, said) in adopted} == {0.0, 10.0, 20.0, 30.0, 40.0} or protocol == "gossip"
    for slot, agents, (mean, said) in adopted:
        assert mean == 2.0  # of 0 to 4, in whichever portions it was put together
        assert slot > said
        assert len(agents) == len(set(agents))
    assert found.metrics["rounds"] == len({said for *_, (_, said) in adopted})
    assert "CALL" not in found.kinds


def test_components_count_by_their_size(run, tmp_path):
    """Two of one and three agents: their sinks average what they have, and the server weighs these."""
    found = run(Averaging, protocol="sink", family='hybrid", components = [1, 4], inside = "path')
    assert {mean for *_, (mean, _) in told("adopt")} == {2.0}
    assert found.metrics["rounds"] == 3


@pytest.mark.parametrize("protocol", ["master-worker", "flooding", "relay"])
def test_a_round_begins_when_an_agent_asks(run, protocol):
    found = run(Asking, protocol=protocol, horizon=20)
    rounds = found.metrics["rounds"]
    assert rounds > 2
    assert found.kinds["CALL"][0] > 0
    assert {mean for *_, (mean, _) in told("adopt")} == {2.0}


def test_sets_of_parameters_are_learners_of_their_own(run):
    found = run(Asking, protocol="local", more=", ttl = 2", family="path")
    worlds = [world for world, *_ in told("start")]
    assert [(world.param_set, world.sets) for world in worlds] == [(0, 2), (1, 2)]
    assert [slot for slot, *_ in told("learn")] == list(range(30))
    # A call in slot 0 is heard, and then a release, two slots later each, by the clique of agent 2.
    (first, *_) = told("adopt")
    assert first == (4, [0, 1, 2], [1.0, 2.0])
    assert found.metrics["rounds"] > 4


@pytest.mark.parametrize(
    ("bandit", "line"),
    [
        ('kind = "procurement"', "it chooses among arms, and this bandit asks for quantities"),
        ('kind = "vertical", dimension = 5, arms = 3', "it decides in every slot, which this bandit"),
    ],
)
def test_what_cannot_be_played_is_refused(run, bandit, line):
    with pytest.raises(ScenarioError, match=f"learner.kind: .* cannot play bandit.kind = .*: {line}"):
        run(Logged, bandit=bandit)


@pytest.mark.parametrize("actions", ["fixed", "fresh"])
def test_arms_of_a_linear_world_are_arms(run, actions):
    bandit = f'kind = "linear", dimension = 2, arms = 3, actions = "{actions}"'
    found = run(Telling, bandit=bandit, protocol="local")
    world = told("start")[0][0]
    assert world.actions(np.arange(5)).shape == (5, 3, 2)
    assert (world.fixed_actions is None) == (actions == "fresh")
    assert found.metrics["regret"] > 0
