import networkx as nx
import numpy as np
import pytest
from helpers.apart_round import down, rounds_apart
from helpers.examples import examples
from helpers.one_round import ITEM, SLOT, one_round, union
from hypothesis import given
from hypothesis import strategies as st

from netbandit.protocols.sink import Sink

CASES = {
    "{20x5} complete": (union(*[nx.complete_graph(20)] * 5), 345, 1200),
    "{53,24,10,6,7} complete": (union(*map(nx.complete_graph, (53, 24, 10, 6, 7))), 345, 1985),
    "{100} complete": (nx.complete_graph(100), 149, 5000),
    "{20x5} star": (union(*[nx.star_graph(19)] * 5), 345, 440),
    "{1x100}": (nx.empty_graph(100), 5000, 5000),
}


def cost(result):
    return result.network.peer_totals().cost + result.network.uplink_totals().cost


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_costs_of_a_round_are_those_of_the_cases(case):
    graph, by_tree, by_gis = CASES[case]
    assert cost(one_round(Sink, graph)) == by_tree
    assert cost(one_round(Sink, graph, collect="gis")) == by_gis


def test_every_event_of_a_round_on_two_components():
    # A path 0-1-2-3 with the sink 1, and a pair 4-5 with the sink 4.
    graph = union(nx.path_graph(4), nx.path_graph(2))
    result = one_round(Sink, graph)
    one = 20 + 4 + ITEM
    assert result.arrivals == [
        (0, 0, 1, "COLLECT", one),
        (0, 2, 1, "COLLECT", one),
        (0, 3, 2, "COLLECT", one),
        (0, 5, 4, "COLLECT", one),
        (SLOT, 2, 1, "COLLECT", one),  # the item of agent 3, which agent 2 has taken in at the boundary
        (SLOT, 4, 6, "UPLOAD", 20 + ITEM),  # the pair has finished before
        (2 * SLOT, 1, 6, "UPLOAD", 20 + ITEM),
        (2 * SLOT, 6, 0, "ANSWER", 32),
        (2 * SLOT, 6, 1, "ANSWER", 32),
        (2 * SLOT, 6, 2, "ANSWER", 32),
        (2 * SLOT, 6, 3, "ANSWER", 32),
        (2 * SLOT, 6, 4, "ANSWER", 32),
        (2 * SLOT, 6, 5, "ANSWER", 32),
    ]
    assert result.informed == dict.fromkeys(range(6), 2 * SLOT)
    assert result.aggregation.concluded == [(1, 0, [[0, 1, 2, 3], [4, 5]], [4, 2])]
    assert result.network.ledger.kinds == {"ANSWER": (2, 64), "COLLECT": (5, 5 * one), "UPLOAD": (2, 200)}
    assert result.network.ledger.broadcasts == 1
    assert result.protocol.ended == {1: 2 * SLOT}


def test_items_that_meet_share_the_message():
    # A spider: the sink 0, three legs of two; 7 and 8 hang on agent 2, which is one hop from the sink.
    graph = nx.Graph([(0, 1), (0, 2), (0, 3), (1, 4), (2, 7), (2, 8), (3, 6), (4, 5)])
    result = one_round(Sink, graph)
    up = [(time // SLOT, sender, receiver, size) for time, sender, receiver, _, size in result.of("COLLECT")]
    assert sorted(up) == sorted(
        [(0, node, parent, 20 + 4 + ITEM) for node, parent in ((1, 0), (2, 0), (3, 0), (4, 1), (5, 4), (6, 3))]
        + [(0, 7, 2, 20 + 4 + ITEM), (0, 8, 2, 20 + 4 + ITEM)]
        + [(1, 1, 0, 20 + 4 + ITEM), (1, 2, 0, 20 + 2 * (4 + ITEM)), (1, 3, 0, 20 + 4 + ITEM)]
        + [(1, 4, 1, 20 + 4 + ITEM), (2, 1, 0, 20 + 4 + ITEM)]
    )
    assert result.slots == 3  # the eccentricity of the sink


def test_an_agent_alone_collects_nothing():
    result = one_round(Sink, nx.empty_graph(3))
    assert result.slots == 0
    assert {kind for _, _, _, kind, _ in result.arrivals} == {"UPLOAD", "ANSWER"}
    assert result.network.ledger.broadcasts == 0


@pytest.mark.parametrize("collect", ["sink", "gis"])
def test_a_slow_uplink_delays_all_by_both_ways(collect):
    graph = union(nx.star_graph(3), nx.empty_graph(1))
    result = one_round(Sink, graph, uplink=[700, 100, 200, 300, 5_000], collect=collect)
    ready = SLOT if collect == "sink" else 2 * SLOT
    # The server hears agent 4 last, and answers over the uplinks of the sinks 0 and 4; the others hear it with theirs.
    assert result.of("UPLOAD") == [(ready + 700, 0, 5, "UPLOAD", 100), (5_000, 4, 5, "UPLOAD", 100)]
    assert result.informed == {0: 5_700, 1: 5_100, 2: 5_200, 3: 5_300, 4: 10_000}
    assert result.protocol.ended == {1: 10_000}
    assert result.network.ledger.kinds["ANSWER"] == (2, 64)


def test_slotted_hops_wait_for_the_boundary_and_asynchronous_ones_do_not():
    graph = nx.path_graph(5)
    assert one_round(Sink, graph, latency=300).protocol.ended == {1: 2 * SLOT}
    assert one_round(Sink, graph, latency=1_300).protocol.ended == {1: 4 * SLOT}
    assert one_round(Sink, graph, latency=300, timing="asynchronous").protocol.ended == {1: 600}
    # A round that took the time d has cost ceil(d/s) slots: the next phase begins at the boundary after it.
    assert one_round(Sink, graph, latency=1_300, timing="asynchronous").slots == 3


def test_asynchronous_items_share_a_message_only_at_one_instant():
    # Agents 3 and 4 are one hop from 1, which is one from the sink 0 (0-2-5 keeps the sink in the middle).
    graph = nx.Graph([(0, 1), (1, 3), (1, 4), (0, 2), (2, 5), (2, 6)])
    latency = {(0, 1): 100, (1, 3): 100, (1, 4): 100, (0, 2): 100, (2, 5): 100, (2, 6): 150}
    result = one_round(Sink, graph, latency=latency, timing="asynchronous")
    at_sink = [(time, sender, size) for time, sender, receiver, _, size in result.of("COLLECT") if receiver == 0]
    assert at_sink == [
        (100, 1, 104),
        (100, 2, 104),
        (200, 1, 20 + 2 * 84),
        (200, 2, 104),
        (250, 2, 104),
    ]


def test_bandwidth_holds_up_the_items_behind_one_another():
    # 104 bytes over 1.04 Gbit/s take 800 ns; three hops of a path to the sink in the middle of seven.
    result = one_round(Sink, nx.path_graph(7), bandwidth=1_040_000_000, timing="asynchronous")
    assert result.protocol.ended == {1: 3 * 800}


def test_agents_that_contribute_late_are_waited_for():
    graph = nx.star_graph(3)
    result = one_round(Sink, graph, starts=[0, 0, 2 * SLOT, 5 * SLOT])
    assert result.protocol.ended == {1: 6 * SLOT}
    assert result.aggregation.concluded[0][2] == [[0, 1, 2, 3]]


def test_what_the_horizon_cuts_is_not_sent():
    result = one_round(Sink, nx.path_graph(9), horizon=3)
    assert result.protocol.ended == {}
    assert max(time for time, *_ in result.arrivals) == 2 * SLOT


@pytest.mark.parametrize("collect", ["sink", "gis"])
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_rounds_follow_one_another_although_agents_hear_at_different_times(collect, timing):
    graph = union(nx.path_graph(4), nx.complete_graph(3), nx.empty_graph(1))
    uplink = [0, 2_500, 100, 3_700, 900, 0, 40_000, 1_100]
    result = one_round(Sink, graph, uplink=uplink, latency=70, rounds=4, collect=collect, timing=timing)
    assert [round for round, *_ in result.aggregation.concluded] == [1, 2, 3, 4]
    assert all(parts == [[0, 1, 2, 3], [4, 5, 6], [7]] for _, _, parts, _ in result.aggregation.concluded)
    assert sorted(result.protocol.ended) == [1, 2, 3, 4]


@st.composite
def components(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    graphs = []
    for size in draw(st.lists(st.integers(1, 12), min_size=1, max_size=4)):
        tree = nx.random_labeled_tree(size, seed=seed + size) if size > 1 else nx.empty_graph(1)
        extra = np.random.default_rng(seed + 7 * size).integers(size, size=(size // 2, 2)).tolist()
        tree.add_edges_from((first, second) for first, second in extra if first != second)
        graphs.append(tree)
    return union(*graphs)


@examples(60)
@given(components())
def test_collection_takes_the_radius_and_costs_no_more_than_the_bound(graph):
    result = one_round(Sink, graph)
    parts = [graph.subgraph(part) for part in nx.connected_components(graph)]
    assert result.slots == max(nx.radius(part) for part in parts)
    # Theorem: no more than c2 x diameter x links, and c1 for each component.
    peer = result.network.peer_totals()
    diameter = max(nx.diameter(part) for part in parts)
    assert peer.activations <= diameter * graph.number_of_edges()
    assert result.network.uplink_totals().activations == len(parts)
    # An item is on one link in one slot: the number of items on the way is the sum of the distances.
    sinks = [min(part, key=lambda node, part=part: (nx.eccentricity(part, node), node)) for part in parts]
    distances = sum(
        sum(nx.single_source_shortest_path_length(part, sink).values()) for part, sink in zip(parts, sinks, strict=True)
    )
    assert peer.bytes == 20 * peer.messages + (4 + ITEM) * distances
    assert peer.messages <= distances
    synchronised = one_round(Sink, graph, collect="gis")
    assert synchronised.slots == diameter
    assert synchronised.network.peer_totals().activations <= diameter * graph.number_of_edges()


def test_parents_are_the_lowest_numbered():
    # Agent 5 may go by 1, 3 or 4 to the sink 0.
    graph = nx.Graph([(0, 4), (0, 3), (0, 1), (0, 2), (5, 4), (5, 3), (5, 1)])
    result = one_round(Sink, graph)
    assert [(sender, receiver) for time, sender, receiver, _, _ in result.of("COLLECT") if sender == 5] == [(5, 1)]


def everybody(agents, slot, items):
    return {(1, agent): (slot, items) for agent in agents}


@pytest.mark.parametrize("collect", ["sink", "gis"])
def test_a_sink_uploads_at_its_deadline_what_it_has(collect):
    """Path 0-1-2-3-4, sink 2, which has its own item in slot 0 and those of its neighbours a slot later."""
    path = nx.path_graph(5)
    found, protocol = rounds_apart(Sink(deadline="1 slot", collect=collect), path)
    assert (found, protocol.late) == (everybody(range(5), 1, {1, 2, 3}), 2)
    found, protocol = rounds_apart(Sink(deadline="4 slots", collect=collect), path)
    all_known = {"sink": 2, "gis": 4}[collect]  # at the sink, or at everybody
    assert (found, protocol.late) == (everybody(range(5), all_known, {0, 1, 2, 3, 4}), 0)
    found, protocol = rounds_apart(Sink(deadline="3 slots", collect=collect), path, [down(0, 3, links=[(1, 2)])])
    assert (found, protocol.late) == (everybody(range(5), 3, {2, 3, 4}), 0)


def test_the_server_answers_without_a_component_whose_sink_is_down():
    """The sink 1 of 0-1-2 is down; that of 3-4 uploads in slot 1, and the server waits four slots more."""
    graph = union(nx.path_graph(3), nx.path_graph(2))
    found, protocol = rounds_apart(Sink(deadline="4 slots"), graph, [down(0, 99, nodes=[1])], starts=[0, 100, 0, 0, 0])
    # Back in slot 100, it uploads four slots later, too late, and waits twelve for an answer that was given long ago.
    assert found == everybody([0, 2, 3, 4], 5, {3, 4}) | {(1, 1): (112, None)}
    assert protocol.late == 1


@pytest.mark.parametrize("collect", ["sink", "gis"])
def test_sinks_and_the_server_wait_for_nobody_who_is_done(collect):
    found, _ = rounds_apart(Sink(deadline="50 slots", collect=collect), nx.path_graph(5), done=[(0, 0)])
    assert found == everybody([1, 2, 3, 4], 3 if collect == "gis" else 2, {1, 2, 3, 4})
    graph = union(nx.path_graph(3), nx.path_graph(2))
    found, _ = rounds_apart(Sink(deadline="50 slots", collect=collect), graph, done=[(3, 0), (4, 0)])
    assert found == everybody([0, 1, 2], 2 if collect == "gis" else 1, {0, 1, 2})
