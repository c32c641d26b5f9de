"""Local floods: who hears what and when, and how many copies that takes."""

from math import ceil, inf

import networkx as nx
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from helpers.telling import ITEM, SLOT, told
from hypothesis import given
from hypothesis import strategies as st

from netbandit.parts.component import Mistake, Note, Others
from netbandit.protocols.local import Local
from netbandit.protocols.local_broadcast import LocalBroadcast
from netbandit.protocols.local_flood import LocalFlood


def flooded(graph, ttl, latency=0, **keys):
    return told(Local, graph, latency, ttl=ttl, route="flood", **keys)


def copies(graph, ttl):
    """Return how many copies of the items of all agents are put on links."""
    return flooded(graph, ttl)[1].figures()["items"]


@pytest.mark.parametrize("ttl", [1, 2, 3])
def test_copies_of_an_item_on_well_known_graphs(ttl):
    assert copies(nx.cycle_graph(9), ttl) == 9 * 2 * ttl
    tree = nx.balanced_tree(2, 3)
    within = sum(len(nx.ego_graph(tree, node, ttl)) - 1 for node in tree)
    assert copies(tree, ttl) == within
    assert copies(nx.complete_graph(6), ttl) == 6 * (5 if ttl == 1 else 25)
    assert copies(nx.star_graph(49), 2) == 2_450


@pytest.mark.parametrize("graph", [nx.cycle_graph(7), nx.star_graph(5), nx.complete_graph(5), nx.path_graph(4)])
@pytest.mark.parametrize("ttl", [1, 2, 4])
def test_what_shares_a_link_and_a_slot_shares_a_message(graph, ttl):
    """Whatever the ttl, agents that tell in every slot send a message a slot each way."""
    slots = 12
    log, protocol = flooded(graph, ttl, times=[slot * SLOT for slot in range(slots)])
    ledger = protocol.network.ledger.kinds
    further = ttl - 1  # after the last item was told the others go on
    fewest = 2 * graph.number_of_edges() * slots
    assert fewest <= ledger["ITEMS"][0] <= fewest + 2 * graph.number_of_edges() * further
    assert ledger["ITEMS"][1] == 20 * ledger["ITEMS"][0] + (4 + ITEM) * protocol.figures()["items"]
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    expected = [
        (slot * SLOT + distance[source][agent] * SLOT, agent, source, slot)
        for slot in range(slots)
        for source in graph
        for agent in graph
        if 0 < distance[source][agent] <= ttl
    ]
    assert sorted(log) == sorted(expected)
    assert protocol.reach == [sum(hops <= ttl for hops in distance[agent].values()) for agent in graph]
    assert protocol.way._furthest == {}  # nothing is kept of what is over


def earliest(graph, source, ttl, hop):
    """Return when an item reaches each agent over at most *ttl* hops, as Bellman and Ford would have it."""
    reached = dict.fromkeys(graph, inf) | {source: 0}
    for _ in range(ttl):
        before = dict(reached)
        for first, second in graph.edges:
            for sender, receiver in ((first, second), (second, first)):
                reached[receiver] = min(reached[receiver], before[sender] + hop(sender, receiver))
    return reached


@examples(80)
@given(
    connected_graphs(9),
    st.integers(0, 5),
    st.sampled_from(["slotted", "asynchronous"]),
    st.randoms(use_true_random=False),
)
def test_over_any_latencies_all_within_ttl_hops_hear_once_and_at_the_earliest(graph, ttl, timing, random):
    latency = {(min(link), max(link)): random.randint(0, 5 * SLOT) for link in graph.edges}

    def hop(sender, receiver):
        time = latency[min(sender, receiver), max(sender, receiver)]
        return max(1, ceil(time / SLOT)) * SLOT if timing == "slotted" else time

    log, protocol = flooded(graph, ttl, latency, timing=timing, times=(0, 3 * SLOT))
    expected = []
    for number, begun in enumerate((0, 3 * SLOT)):
        for source in graph:
            reached = earliest(graph, source, ttl, hop)
            expected += [
                (begun + time, agent, source, number)
                for agent, time in reached.items()
                if agent != source and time < inf
            ]
    assert sorted(log) == sorted(expected)
    assert protocol.way._furthest == {}
    assert protocol.figures()["items"] == 0 or ttl > 0


def test_a_copy_that_may_go_further_is_passed_on_again():
    """0-1-2-3-4 is a fast path, 0-2 a slow link: with ttl 3 the fast copy dies at 3, the slow one gets to 4."""
    graph = nx.path_graph(5)
    graph.add_edge(0, 2)
    latency = dict.fromkeys(map(tuple, map(sorted, graph.edges)), 0) | {(0, 2): 4 * SLOT}
    log, _ = flooded(graph, 3, latency)
    heard = {agent: time // SLOT for time, agent, source, _ in log if source == 0}
    assert heard == {1: 1, 2: 2, 3: 3, 4: 6}


def test_who_has_the_arm_does_not_pass_it_on():
    graph = nx.path_graph(7)

    def count(absorbs):
        class Absorbing(LocalBroadcast):
            def start(self, network, hear):
                super().start(network, hear)
                self.absorbs = absorbs

        return told(Absorbing, graph, ttl=4, route="flood", absorb=True)

    everybody, protocol = count(lambda agent, item: True)
    assert {(agent, source) for _, agent, source, _ in everybody} == set(nx.DiGraph(graph).edges)
    assert protocol.figures()["items"] == 2 * 6  # 2E, as with ttl 1
    nobody, protocol = count(lambda agent, item: False)
    assert len(nobody) == len(flooded(graph, 4)[0])
    evens, _ = count(lambda agent, item: agent % 2 == 0)
    assert {agent for _, agent, source, _ in evens if source == 0} == {1, 2}  # 1 passes it on, 2 keeps it
    assert {agent for _, agent, source, _ in evens if source == 3} == {2, 4}


def test_what_cannot_be_is_said():
    class Counting:
        def absorbs(self): ...

    others = Others(learner=Counting(), kinds={"learner": "ucb"})
    assert list(LocalBroadcast(route="flood", absorb=True).check_with(others)) == []
    assert [mistake.key for mistake in LocalBroadcast(absorb=True).check_with(others)] == ["absorb"]
    without = Others(learner=object(), kinds={"learner": "pfcb"})
    assert list(LocalBroadcast(route="flood", absorb=True).check_with(without)) == [
        Mistake("absorb", "leave it out: pfcb does not say which items an agent keeps")
    ]
    calls = Others(slot=SLOT, slowest_hop=lambda around: 1)
    assert all(isinstance(found, Note) for found in Local(route="flood").check_with(calls))
    assert [found.key for found in Local(route="flood", absorb=True).check_with(calls)] == ["route", "absorb"]


def test_it_is_a_route_of_local():
    assert LocalFlood.patterns >= {"broadcast"}
    assert isinstance(flooded(nx.path_graph(2), 1)[1].way, LocalFlood)
