"""Consensus: every step is exactly P, whatever the latencies, so sums are kept."""

import networkx as nx
import numpy as np
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.clock import DECISIONS, Clock, Environment, ScheduledEvent
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.models.loss import ConstantLoss
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.component import Mistake, Note, Others
from netbandit.protocols.consensus import Consensus
from netbandit.protocols.mixing import mixing

SLOT = 1_000


class Exchanging:
    """Agents who add something to their row in every slot, with every row that is told, by its step."""

    def __init__(self, graph, latency=0, *, slots=40, bandwidth=None, gather=True, network=Network, **keys):
        topology = Topology(graph)
        self.agents = agents = topology.agents
        environment = Environment()
        self.clock = Clock(environment, SLOT, slots)
        latencies = {
            pair: latency[pair] if isinstance(latency, dict) else latency
            for pair in map(tuple, topology.edges.tolist())
        }
        link = LinkClass(bandwidth=bandwidth)
        self.network = network(
            self.clock, topology.neighbours, link, latencies, link, [0] * agents, Fingerprint(), topology=topology
        )
        self.protocol = Consensus(**keys)
        self.protocol.start(self.network, self.mix)
        self.network.attach(self.protocol.handler)
        rng = np.random.default_rng(0)
        self.gathered = rng.normal(size=(slots, agents, 2)) if gather else np.zeros((slots, agents, 2))
        self.state = rng.normal(size=(agents, 2))
        self.first = self.state.copy()
        self.fresh = np.zeros((agents, 2))
        self.told = [[] for _ in range(agents)]  # of each agent, by step: its row, and what it had gathered for it
        self.stepped = []  # (slot, agent)
        self.largest = {}
        for slot in range(slots):
            event = ScheduledEvent([lambda _, slot=slot: self.decide(slot)])
            environment.schedule(event, DECISIONS, slot * SLOT)
        environment.run()

    def decide(self, slot):
        self.fresh += self.gathered[slot]
        ready = np.flatnonzero(self.protocol.ready)
        if not len(ready):
            return
        rows = self.state[ready] + self.fresh[ready]
        for agent, row in zip(ready, rows, strict=True):
            self.told[agent].append((row, self.fresh[agent].copy()))
        self.fresh[ready] = 0
        self.protocol.tell(ready, rows, 16)

    def mix(self, agents, mixed, largest):
        assert self.clock.now % SLOT == 0
        self.state[agents] = mixed
        self.stepped += [(self.clock.now // SLOT, agent) for agent in agents.tolist()]
        for agent, row in zip(agents.tolist(), largest, strict=True):
            self.largest[agent, len(self.told[agent])] = row

    @property
    def steps(self):
        return min(map(len, self.told))

    def rows(self, step):
        return np.array([self.told[agent][step][0] for agent in range(self.agents)])

    def fresh_in(self, step):
        return np.array([self.told[agent][step][1] for agent in range(self.agents)])


def dense(graph, rule="max-degree"):
    kept = mixing(len(graph), Topology(graph).edges, rule)
    matrix = np.diag(kept.own)
    matrix[kept.receivers, kept.senders] = kept.weights
    return matrix


rules = st.sampled_from(["max-degree", "metropolis", "uniform"])


@examples(60)
@given(
    connected_graphs(8),
    rules,
    st.sampled_from(["slotted", "asynchronous"]),
    st.sampled_from([None, 10**9, 5 * 10**8]),
    st.randoms(use_true_random=False),
)
def test_every_step_is_exactly_p_and_sums_are_kept_whatever_the_links(graph, rule, timing, bandwidth, random):
    latency = {(min(link), max(link)): random.randint(0, 4 * SLOT) for link in graph.edges}
    run = Exchanging(graph, latency, weights=rule, timing=timing, bandwidth=bandwidth)
    matrix = dense(graph, rule)
    assert run.steps >= 5
    for step in range(run.steps - 1):
        after = run.rows(step + 1) - run.fresh_in(step + 1)
        np.testing.assert_allclose(after, matrix @ run.rows(step), rtol=1e-12, atol=1e-12)
        if rule != "uniform":
            np.testing.assert_allclose(after.sum(axis=0), run.rows(step).sum(axis=0), rtol=1e-12, atol=1e-12)
    for (agent, step), row in run.largest.items():
        if step <= run.steps:
            near = [agent, *graph[agent]]
            assert (row == run.rows(step - 1)[near].max(axis=0)).all()


@examples(40)
@given(connected_graphs(8), st.randoms(use_true_random=False))
def test_neighbours_are_never_more_than_one_step_apart(graph, random):
    latency = {(min(link), max(link)): random.randint(0, 6 * SLOT) for link in graph.edges}
    run = Exchanging(graph, latency)
    steps = dict.fromkeys(graph, 0)
    for _, agent in run.stepped:
        steps[agent] += 1
        assert all(abs(steps[agent] - steps[near]) <= 1 for near in graph[agent])


@pytest.mark.parametrize("graph", [nx.path_graph(2), nx.cycle_graph(6), nx.star_graph(4), nx.empty_graph(1)])
@pytest.mark.parametrize(("latency", "slots_a_step"), [(0, 1), (SLOT, 1), (SLOT + 1, 2), (3 * SLOT, 3)])
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_a_step_takes_a_hop_and_sends_a_message_each_way(graph, latency, slots_a_step, timing):
    run = Exchanging(graph, latency, timing=timing, slots=30)
    if len(graph) == 1:
        slots_a_step = 1
    expected = [(slot, agent) for slot in range(slots_a_step, 30, slots_a_step) for agent in graph]
    assert run.stepped == expected
    links = graph.number_of_edges()
    told = len(range(0, 30, slots_a_step))
    assert run.network.ledger.kinds == ({"MIX": (2 * links * told, 2 * links * told * 36)} if links else {})
    assert run.network.peer_totals().activations == links * told


def test_equal_latencies_mix_in_lock_step_to_the_last_bit():
    """Own term first, then neighbours ascending."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))
    run = Exchanging(graph, 500)
    kept = mixing(12, Topology(graph).edges, "max-degree")
    state = run.first.copy()
    for step in range(run.steps):
        told = state + run.fresh_in(step)
        assert (run.rows(step) == told).all()
        for agent in graph:
            total = kept.own[agent] * told[agent]
            for link in range(kept.first[agent], kept.first[agent + 1]):
                total = total + kept.weights[link] * told[kept.senders[link]]
            state[agent] = total


@examples(40)
@given(connected_graphs(8), rules, st.randoms(use_true_random=False))
def test_at_the_pace_of_slots_constants_are_kept_and_everybody_steps_in_every_slot(graph, rule, random):
    latency = {(min(link), max(link)): random.randint(0, 4 * SLOT) for link in graph.edges}
    run = Exchanging(graph, latency, weights=rule, pace="slot", gather=False, slots=20)
    assert run.stepped == [(slot, agent) for slot in range(1, 20) for agent in graph]

    class Constant(Exchanging):
        def decide(self, slot):
            if slot == 0:
                self.state[:] = 3.0
            super().decide(slot)

    constant = Constant(graph, latency, weights=rule, pace="slot", gather=False, slots=20)
    np.testing.assert_allclose(constant.state, 3.0, rtol=1e-13)


def test_at_the_pace_of_slots_what_is_not_there_is_replaced_by_the_own_row():
    """On a path of two with hops of two slots, in a reference that looks at nothing but the slot."""
    run = Exchanging(nx.path_graph(2), 2 * SLOT, pace="slot", slots=12)
    state, told = run.first.copy(), []
    weight = 0.5
    for slot in range(12):
        if slot:
            own = told[slot - 1]
            other = told[slot - 2][::-1] if slot >= 2 else own
            state = (1 - weight) * own + weight * other
        told.append(state + run.gathered[slot])
        np.testing.assert_allclose(run.rows(slot), told[slot], rtol=1e-12)


def test_at_the_pace_of_slots_no_row_is_used_twice():
    """Over a link that takes a row in two slots every second one is the own row."""
    run = Exchanging(nx.path_graph(2), 0, pace="slot", slots=10, bandwidth=36 * 8 * 10**9 // (2 * SLOT), gather=False)
    first, second = run.first
    own, other, states = [first], [second], []
    for slot in range(1, 10):
        arrived = slot % 2 == 0  # row k, told in slot k, arrives at 2 (k + 1)
        row_first, row_second = (own[slot // 2 - 1], other[slot // 2 - 1]) if arrived else (own[-1], other[-1])
        mixed = 0.5 * own[-1] + 0.5 * (row_second if arrived else own[-1])
        mixed_other = 0.5 * other[-1] + 0.5 * (row_first if arrived else other[-1])
        own.append(mixed)
        other.append(mixed_other)
        states.append((mixed, mixed_other))
    np.testing.assert_allclose([run.rows(slot)[0] for slot in range(10)], own, rtol=1e-12)
    np.testing.assert_allclose([run.rows(slot)[1] for slot in range(10)], other, rtol=1e-12)


def test_what_cannot_even_out_is_refused():
    ring = Topology(nx.cycle_graph(5))
    others = Others(components=1, agents=5, graph=ring, kinds={"protocol": "consensus"})
    (mistake,) = Consensus(step=2.0).check_with(others)
    assert mistake.key == "step"
    assert "differences do not even out, a step makes 2.62 times as much of them" in mistake.text
    assert list(Consensus(step=0.9).check_with(others)) == []
    even = Others(components=1, agents=4, graph=Topology(nx.cycle_graph(4)), kinds={"protocol": "consensus"})
    assert [mistake.key for mistake in Consensus(step=1.0).check_with(even)] == ["step"]  # -1: it swings for ever
    apart = Others(components=2, agents=4, graph=Topology(nx.empty_graph(4)), kinds={"protocol": "consensus"})
    assert list(Consensus().check_with(apart)) == [
        Mistake("kind", "consensus needs a connected graph, but this one has 2 components")
    ]
    assert list(Consensus(step=0.5, weights="metropolis").check()) == [
        Note("step", 'has no effect with weights = "metropolis"')
    ]


class Losing(Network):
    """Loses four of ten messages, each direction for itself."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, faults=Faults(peer=ChannelFaults(loss=ConstantLoss(0.4))), **keywords)

    @property
    def sent(self):
        return self.peer_totals().messages

    @property
    def lost(self):
        return self.lost_for_good()["peer"]


@examples(40)
@given(connected_graphs(7), st.sampled_from(["max-degree", "metropolis"]), st.randoms(use_true_random=False))
def test_steps_are_exact_where_messages_are_lost(graph, rule, random):
    latency = {(min(link), max(link)): random.randint(0, 2 * SLOT) for link in graph.edges}
    run = Exchanging(graph, latency, weights=rule, slots=80, network=Losing)
    matrix = dense(graph, rule)
    assert run.steps >= 5
    for step in range(run.steps - 1):
        after = run.rows(step + 1) - run.fresh_in(step + 1)
        np.testing.assert_allclose(after, matrix @ run.rows(step), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(after.sum(axis=0), run.rows(step).sum(axis=0), rtol=1e-12, atol=1e-12)
    steps = dict.fromkeys(graph, 0)
    for _, agent in run.stepped:
        steps[agent] += 1
        assert all(abs(steps[agent] - steps[near]) <= 1 for near in graph[agent])


def test_where_messages_are_lost_an_agent_tells_its_last_two_rows_in_every_slot():
    graph = nx.cycle_graph(6)
    run = Exchanging(graph, slots=50, network=Losing)
    assert run.network.sent == 12 * 50
    assert run.network.lost > 0.3 * run.network.sent
    messages, size = run.network.ledger.kinds["MIX"]
    assert messages == run.network.sent
    assert size <= (20 + 2 * 16) * messages  # two rows, but for those who have not stepped yet
    assert size >= (20 + 2 * 16) * messages - 16 * 12 * max(slot for slot, _ in run.stepped[:6])


@examples(40)
@given(connected_graphs(6), st.sampled_from(["max-degree", "metropolis", "uniform"]), st.integers(1, 6), st.randoms())
def test_at_its_deadline_an_agent_steps_with_its_own_row_for_those_that_are_missing(graph, rule, patience, random):
    """Each step is at the boundary at which the last row is there, or so many slots after the own was told."""
    latency = {tuple(sorted(edge)): random.randrange(0, 5 * SLOT) for edge in graph.edges}
    run = Exchanging(graph, latency, weights=rule, deadline=f"{patience} slots")
    matrix = mixing(run.agents, Topology(graph).edges, rule)
    told_in = [[0] + [slot for slot, other in run.stepped if other == agent] for agent in range(run.agents)]
    late = set()
    for agent in range(run.agents):
        near = slice(matrix.first[agent], matrix.first[agent + 1])
        weights = dict(zip(matrix.senders[near].tolist(), matrix.weights[near].tolist(), strict=True))
        for step in range(len(run.told[agent]) - 1):
            arrivals = {
                other: told_in[other][step] + max(1, -(-latency[min(agent, other), max(agent, other)] // SLOT))
                for other in weights
                if step < len(told_in[other])
            }
            due = told_in[agent][step] + patience
            complete = max(arrivals.values(), default=0) if len(arrivals) == len(weights) else 10**9
            complete = max(complete, told_in[agent][step] + 1)
            assert told_in[agent][step + 1] == min(complete, due)
            own = run.told[agent][step][0]
            mixed = matrix.own[agent] * own
            for other, weight in weights.items():
                there = arrivals.get(other, 10**9) <= told_in[agent][step + 1]
                mixed = mixed + weight * (run.told[other][step][0] if there else own)
                if not there and other in arrivals:
                    late.add((agent, other, step))
            following, fresh = run.told[agent][step + 1]
            np.testing.assert_allclose(following - fresh, mixed, rtol=1e-12, atol=1e-12)
    assert run.protocol.late == len(late)


def test_a_deadline_that_nobody_needs_changes_nothing():
    graph, latency = nx.cycle_graph(5), 2 * SLOT
    plain, patient = Exchanging(graph, latency), Exchanging(graph, latency, deadline="3 slots")
    np.testing.assert_array_equal(plain.state, patient.state)
    assert plain.stepped == patient.stepped
    assert patient.protocol.late == 0


def test_sums_are_not_kept_where_a_row_is_missing():
    """Two agents a link of five slots apart, who wait for two: each mixes its own row for the other's."""
    graph = nx.path_graph(2)
    run = Exchanging(graph, 5 * SLOT, gather=False, deadline="2 slots", slots=30)
    np.testing.assert_array_equal(run.state, run.first)
    assert run.protocol.late > 0
    assert np.abs(Exchanging(graph, 5 * SLOT, gather=False, slots=30).state - run.first).max() > 0.01


def test_a_deadline_is_of_no_use_at_the_pace_of_slots():
    (note,) = Consensus(pace="slot", deadline="3 slots").check()
    assert isinstance(note, Note)
    assert note.key == "deadline"
