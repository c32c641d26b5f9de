"""Floods within a few hops: who hears what when, how many copies there are, and what shares a message."""

import networkx as nx
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.telling import ITEM, SLOT, told
from hypothesis import given, settings
from hypothesis import strategies as st

from netbandit.protocols.local_broadcast import LocalBroadcast, LocalTree
from netbandit.protocols.local_flood import LocalFlood


@pytest.mark.parametrize(
    ("graph", "ttl", "copies"),
    [
        (nx.path_graph(7), 2, sum(min(2, i) + min(2, 6 - i) for i in range(7))),  # a tree: one for each that hears it
        (nx.cycle_graph(9), 3, 9 * 2 * 3),
        (nx.complete_graph(6), 1, 6 * 5),
        (nx.complete_graph(6), 2, 6 * 25),
        (nx.complete_graph(6), 5, 6 * 25),
        (nx.star_graph(49), 2, 2_450),
        (nx.empty_graph(3), 2, 0),
        (nx.path_graph(3), 0, 0),
    ],
)
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_copies_of_an_observation(graph, ttl, copies, timing):
    log, protocol = told(LocalFlood, graph, 10, ttl=ttl, timing=timing)
    assert protocol.items == copies
    away = dict(nx.all_pairs_shortest_path_length(graph))
    pairs = {(agent, source) for agent in graph for source, hops in away[agent].items() if 0 < hops <= ttl}
    assert sorted((agent, source) for _, agent, source, _ in log) == sorted(pairs)
    assert protocol.reach == [1 + sum(agent == one for agent, _ in pairs) for one in graph]
    assert not protocol._furthest  # all is forgotten that can come no more
    assert not protocol._under_way


@settings(max_examples=60, deadline=None, derandomize=True)
@given(connected_graphs(most=9), st.integers(1, 4), st.sampled_from(["slotted", "asynchronous"]), st.data())
def test_whoever_is_near_enough_hears_once_whatever_the_latencies(graph, ttl, timing, data):
    """A fast detour may not keep an item from those whom only a slow short way can reach in time to live."""
    latency = {tuple(sorted(edge)): data.draw(st.integers(0, 5 * SLOT)) for edge in graph.edges}
    log, protocol = told(LocalFlood, graph, latency, ttl=ttl, timing=timing, times=(0, 2 * SLOT))
    away = dict(nx.all_pairs_shortest_path_length(graph))
    expected = [
        (agent, source, number)
        for number in (0, 1)
        for agent in graph
        for source in graph
        if 0 < away[agent][source] <= ttl
    ]
    assert sorted(entry[1:] for entry in log) == sorted(expected)
    assert not protocol._furthest


def test_it_is_heard_as_early_as_any_way_of_few_enough_hops_allows():
    """On a triangle with one slow side: within two hops around it, within one along it."""
    graph, latency = nx.complete_graph(3), {(0, 1): 0, (1, 2): 0, (0, 2): 9 * SLOT}
    for ttl, first in ((1, 9), (2, 2)):
        log, _ = told(LocalFlood, graph, latency, ttl=ttl)
        assert min(time for time, agent, source, _ in log if (agent, source) == (2, 0)) == first * SLOT


@pytest.mark.parametrize("ttl", [1, 2, 3])
def test_who_tells_in_every_slot_sends_one_message_a_channel_and_slot(ttl):
    graph = nx.cycle_graph(8)
    log, protocol = told(LocalFlood, graph, ttl=ttl, times=range(0, 10 * SLOT, SLOT))
    ((messages, size),) = protocol.network.ledger.kinds.values()
    drained = ttl - 1  # slots in which only what others told is passed on
    assert messages == 16 * (10 + drained)
    assert protocol.items == 8 * 2 * ttl * 10
    assert size == 20 * messages + (4 + ITEM) * protocol.items
    links = protocol.network.links
    assert [link.activations for link in links] == [10 + drained] * 8
    assert len(log) == len(set(log)) == 8 * 2 * ttl * 10


def test_agents_that_tell_in_every_slot_flood_unless_they_are_told_otherwise():
    ways = {route: LocalBroadcast(route=route).in_every_slot() for route in (None, "flood", "tree")}
    assert [way.route for way in ways.values()] == ["flood", "flood", "tree"]
    for route, kind in ((None, LocalTree), ("tree", LocalTree), ("flood", LocalFlood)):
        assert type(told(LocalBroadcast, nx.path_graph(2), route=route)[1]._way) is kind
