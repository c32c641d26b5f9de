import networkx as nx
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.cliques import cliques
from netbandit.network.clock import DECISIONS, Clock, Environment, ScheduledEvent
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.component import Mistake, Others
from netbandit.protocols.local import RELEASE, SYNC, Local
from netbandit.protocols.protocol import Item

SLOT = 1_000


class Meetings:
    """Runs the protocol, and writes down who did what when."""

    def __init__(self, graph, ttl, latency, *, calls=(), begins=(), horizon=60, **keys):
        self.topology = Topology(graph)
        self.clock = Clock(Environment(), SLOT, horizon)
        latencies = {tuple(edge): latency for edge in self.topology.edges.tolist()}
        if not isinstance(latency, int):
            latencies = dict(zip(latencies, latency, strict=False))
        network = Network(
            self.clock,
            self.topology.neighbours,
            LinkClass(bandwidth=keys.pop("bandwidth", None)),
            latencies,
            LinkClass(),
            [0] * self.topology.agents,
            Fingerprint(),
            topology=self.topology,
        )
        self.latencies = latencies
        self.hushed, self.released, self.adopted, self.sent = [], [], [], []
        self.protocol = Local(ttl=ttl, **keys)
        self.protocol.start(network, self)
        network.attach(self.protocol.handler)
        self._watch(network)
        for acts, act in ((calls, self.protocol.call), (begins, self.protocol.begin)):
            for slot, agent in acts:
                event = ScheduledEvent(
                    [lambda _, act=act, slot=slot, agent=agent: act(agent, slot % self.protocol.sets)]
                )
                self.clock.environment.schedule(event, DECISIONS, slot * SLOT)
        self.clock.environment.run()

    def _watch(self, network):
        send = network.send

        def watched(message, links, *rest):
            for link in links:
                self.sent.append((self.clock.now, link.sender, link.receiver, message))
            send(message, links, *rest)

        network.send = watched

    def arrivals(self):
        """Return when each node was first told each word, in links without limits: (node, meeting, source, item)."""
        found = {}
        for sent, sender, receiver, message in self.sent:
            word = message.value
            key = receiver, word.meeting, word.source, word.item and word.item.value
            arrival = sent + self.latencies[min(sender, receiver), max(sender, receiver)]
            found[key] = min(arrival, found.get(key, arrival))
        return found

    def sync_started(self, agent, parameters):
        self.hushed.append((self.clock.now, agent, parameters))

    def release(self, agent, parameters):
        self.released.append((self.clock.now, agent, parameters))
        return Item(100, (self.clock.now, agent))

    release_size = 100

    def aggregate(self, items):
        return Item(100, [item.value for item in items])

    def apply_sync(self, agent, param_set, aggregate, round, included=None):
        self.adopted.append((self.clock.now, agent, param_set, aggregate.value))


def test_a_clique_releases_after_ttl_hops_and_adopts_after_as_many_again():
    run = Meetings(nx.path_graph(3), 2, 0, calls=[(4, 0)])
    assert run.protocol.groups == [0, 0, 0]
    assert run.protocol.sets == 2
    assert sorted(run.released) == [(6 * SLOT, agent, 0) for agent in range(3)]
    heard = [(6 * SLOT, agent) for agent in range(3)]
    assert sorted(run.adopted) == [(8 * SLOT, agent, 0, heard) for agent in range(3)]
    assert [agent for _, agent, _ in run.hushed] == [0, 1, 2]
    assert [time // SLOT for time, _, _ in run.hushed] == [4, 5, 6]


def test_what_all_know_ahead_needs_no_call():
    run = Meetings(nx.complete_graph(3), 1, 0, begins=[(4, agent) for agent in range(3)])
    assert {time for time, *_ in run.released} == {4 * SLOT}
    assert {time for time, *_ in run.adopted} == {5 * SLOT}
    assert {message.kind for *_, message in run.sent} == {RELEASE}


def test_calls_of_one_slot_count_once():
    run = Meetings(nx.complete_graph(4), 1, 0, calls=[(4, agent) for agent in range(4)])
    assert len(run.released) == len(run.adopted) == 4
    assert len(run.protocol.ended) == 1


def test_sizes_are_a_header_labels_and_the_release():
    run = Meetings(nx.path_graph(2), 1, 0, calls=[(0, 0)])
    assert [(message.kind, message.size) for *_, message in run.sent] == [(SYNC, 28), (RELEASE, 124), (RELEASE, 124)]


def test_ttl_zero_is_silence():
    run = Meetings(nx.complete_graph(4), 0, 0)
    assert run.protocol.isolated
    assert run.protocol.groups == [0, 1, 2, 3]
    assert run.protocol.sets == 1


def test_a_slow_link_takes_more_slots_a_hop():
    # 124 bytes at 800 Mbit/s take 1,240 ns, more than a slot of 1,000.
    run = Meetings(nx.path_graph(2), 1, 0, calls=[(4, 0)], bandwidth=800_000_000)
    assert run.protocol.delay == 2
    assert run.protocol.late == 0
    assert {time // SLOT for time, *_ in run.adopted} == {8}


def test_what_queues_too_long_is_left_out_and_counted():
    # The hub passes on three releases over each link at once.
    run = Meetings(nx.star_graph(3), 2, 0, calls=[(0, 0)], bandwidth=800_000_000, horizon=1_000)
    missing = [4 - len(heard) for *_, heard in run.adopted]
    assert run.protocol.late == sum(missing) > 0
    run.sent.clear()  # messages that this test has kept
    assert not run.protocol._meetings


@st.composite
def networks(draw):
    agents = draw(st.integers(1, 9))
    graph = nx.gnp_random_graph(agents, draw(st.sampled_from([0.2, 0.4, 0.8])), seed=draw(st.integers(0, 10**6)))
    latency = draw(st.lists(st.integers(0, 3 * SLOT), min_size=36, max_size=36))
    return graph, latency


@examples(150)
@given(
    network=networks(),
    ttl=st.integers(1, 4),
    wishes=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 8)), min_size=1, max_size=4),
    timing=st.sampled_from(["slotted", "asynchronous"]),
)
def test_nothing_goes_further_than_ttl_hops_or_is_used_before_it_is_there(network, ttl, wishes, timing):
    graph, latency = network
    calls = sorted({(slot, agent % len(graph)) for slot, agent in wishes})
    quiet_before = {}
    kept = []
    for slot, agent in calls:  # an agent does not call again before it has adopted
        if slot >= quiet_before.get(agent, 0):
            kept.append((slot, agent))
            quiet_before[agent] = slot + 40
    run = Meetings(graph, ttl, latency, calls=kept, horizon=10_000, timing=timing)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    delta = run.protocol.delay
    for agent in graph:
        for other in graph:
            if run.protocol.groups[agent] == run.protocol.groups[other]:
                assert hops[agent][other] <= ttl
    for _, sender, receiver, message in run.sent:
        word = message.value
        assert hops[word.source][sender] <= ttl - 1 - word.left
        assert hops[word.source][receiver] <= ttl
    assert run.protocol.late == 0
    arrivals = run.arrivals()
    for sent, sender, _, message in run.sent:
        word = message.value
        if sender != word.source:  # nobody passes on what has not arrived
            assert arrivals[sender, word.meeting, word.source, word.item and word.item.value] <= sent
    arrived = {}
    for (node, _, _, item), time in arrivals.items():
        arrived.setdefault((node, item), []).append(time)
    for time, agent, _, heard in run.adopted:  # nor uses it
        for at, source in heard:
            assert source == agent or min(arrived[agent, (at, source)]) <= time
    released = {(agent, time) for time, agent, _ in run.released}
    for time, agent, _, heard in run.adopted:
        members = [other for other in graph if run.protocol.groups[other] == run.protocol.groups[agent]]
        assert [source for _, source in heard] == members
        for at, source in heard:
            assert (source, at) in released
            assert time - at == delta * SLOT
    assert len(run.adopted) == len(run.released)
    ends = {slot + 2 * delta for slot, _ in kept}
    assert {time // SLOT for time, *_ in run.adopted} <= ends


@examples(100)
@given(network=networks(), hops=st.integers(0, 4))
def test_cliques_are_those_of_networkx(network, hops):
    graph, _ = network
    near = nx.power(graph, hops) if hops else nx.create_empty_copy(graph)
    colours = nx.greedy_color(nx.complement(near), "largest_first")
    found = cliques(Topology(graph), hops)
    assert {frozenset(i for i in graph if found[i] == c) for c in found} == {
        frozenset(i for i in graph if colours[i] == c) for c in colours.values()
    }
    assert found[0] == 0
    assert max(found) + 1 == len(set(found))


def test_sets_must_not_be_used_again_before_they_are_synchronised():
    others = Others(slot=SLOT, slowest_hop=lambda around: 2)
    found = list(Local(ttl=3, stride=5).check_with(others))
    assert found == [Mistake("stride", "must be at least 6: 3 hops of 2 slots take that long")]
    assert not list(Local(ttl=3, stride=6).check_with(others))


@pytest.mark.parametrize("stride", [4, 7])
def test_a_larger_stride_keeps_more_sets(stride):
    run = Meetings(nx.path_graph(3), 2, 0, calls=[(5, 0)], stride=stride)
    assert run.protocol.sets == stride
    assert {parameters for *_, parameters in run.released} == {5 % stride}


@pytest.mark.parametrize("bandwidth", [None, 800_000_000, 50_000_000])
def test_nothing_is_kept_of_what_is_over(bandwidth):
    calls = [(slot, slot % 5) for slot in range(0, 900, 30)]
    run = Meetings(nx.path_graph(6), 2, 0, calls=calls, horizon=10_000, bandwidth=bandwidth)
    if bandwidth is None:
        assert len(run.protocol.ended) == len(calls)
    assert len(run.protocol.ended) == run.protocol._met
    run.sent.clear()  # messages that this test has kept
    assert not run.protocol._meetings


def test_nobody_is_told_what_it_has_told():
    run = Meetings(nx.path_graph(3), 2, 0, begins=[(4, agent) for agent in range(3)])
    # Each release goes over each of the two links once.
    assert len(run.sent) == 6


def test_an_agent_does_not_keep_sets_without_end():
    (mistake,) = Local(ttl=1_000).check_with(Others(slot=SLOT, slowest_hop=lambda around: 50))
    assert mistake == Mistake(
        "ttl",
        "asks for 50,000 sets of parameters, 1,000 hops of 50 slots; an agent can keep 10,000: "
        "make it smaller, links faster or slots longer",
    )


@pytest.mark.parametrize("deadline", ["4 slots", "3900 ns"])
def test_a_deadline_takes_the_place_of_the_time_that_hops_take(deadline):
    """Over two hops of one slot each, two slots would do; who waits four hears all the same."""
    run = Meetings(nx.path_graph(3), 2, 0, calls=[(4, 0)], deadline=deadline)
    assert run.protocol.delay == run.protocol.sets == 4
    assert {time for time, *_ in run.released} == {8 * SLOT}
    heard = [(8 * SLOT, agent) for agent in range(3)]
    assert sorted(run.adopted) == [(12 * SLOT, agent, 0, heard) for agent in range(3)]
    assert run.protocol.late == 0


def test_what_takes_longer_than_the_deadline_is_late():
    """Hops of three slots: a neighbour's release is there after three, that of the other end after six."""
    run = Meetings(nx.path_graph(3), 2, 3 * SLOT, begins=[(4, agent) for agent in range(3)], deadline="4 slots")
    assert {(time, agent): [source for _, source in heard] for time, agent, _, heard in run.adopted} == {
        (8 * SLOT, 0): [0, 1],
        (8 * SLOT, 1): [0, 1, 2],
        (8 * SLOT, 2): [1, 2],
    }
    assert run.protocol.late == 2
    run.sent.clear()  # messages that this test has kept
    assert not run.protocol._meetings


def test_a_deadline_asks_for_sets_as_hops_do():
    others = Others(slot=SLOT, slowest_hop=lambda around: 2)
    assert list(Local(ttl=3, stride=4, deadline="4 slots").check_with(others)) == []
    (mistake,) = Local(ttl=3, stride=3, deadline="4 slots").check_with(others)
    assert mistake == Mistake("stride", "must be at least 4: 4 slots of the deadline take that long")
    (mistake,) = Local(deadline="20000 slots").check_with(others)
    assert mistake.key == "deadline"
