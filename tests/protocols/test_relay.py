import networkx as nx
import pytest
from helpers.examples import examples
from helpers.telling import ITEM, SLOT, told
from hypothesis import given
from hypothesis import strategies as st

from netbandit.protocols.relay import Relay


@pytest.mark.parametrize(
    ("timing", "latency", "hop"),
    [
        *(("asynchronous", latency, latency) for latency in (0, 1, 999, 1_000, 1_001, 2_500)),
        *(
            ("slotted", latency, slots * SLOT)
            for latency, slots in [(0, 1), (999, 1), (1_000, 1), (1_001, 2), (2_500, 3)]
        ),
    ],
)
def test_a_hop_takes_its_latency_or_whole_slots_and_messages_are_passed_on_at_once(timing, latency, hop):
    log, _ = told(Relay, nx.path_graph(5), latency, timing=timing)
    assert sorted(log) == sorted(
        (abs(agent - source) * hop, agent, source, 0) for agent in range(5) for source in range(5) if agent != source
    )


def test_messages_queue_behind_one_another():
    log, _ = told(Relay, nx.path_graph(3), 10, timing="asynchronous", bandwidth=8_000_000_000)  # a byte a nanosecond
    size = 20 + 4 + ITEM
    assert sorted(log) == [
        (size + 10, 0, 1, 0),
        (size + 10, 1, 0, 0),
        (size + 10, 1, 2, 0),
        (size + 10, 2, 1, 0),
        (2 * (size + 10), 0, 2, 0),
        (2 * (size + 10), 2, 0, 0),
    ]


@st.composite
def graphs(draw):
    agents = draw(st.integers(1, 9))
    graph = nx.empty_graph(agents)
    for node in range(1, agents):
        if draw(st.booleans()) or draw(st.booleans()):  # else a component of its own begins here
            graph.add_edge(node, draw(st.integers(0, node - 1)))
    for first, second in draw(st.lists(st.tuples(*[st.integers(0, agents - 1)] * 2), max_size=8)):
        if first != second:
            graph.add_edge(first, second)
    return graph


@given(graphs(), st.data(), st.sampled_from(["slotted", "asynchronous"]))
@examples(150)
def test_everybody_in_reach_hears_every_message_once_and_nobody_its_own(graph, data, timing):
    latency = {tuple(sorted(edge)): data.draw(st.integers(0, 5_000)) for edge in graph.edges}
    times = (0, 3 * SLOT, 4 * SLOT)
    log, relay = told(Relay, graph, latency, timing=timing, times=times)
    pairs = [(one, other) for part in nx.connected_components(graph) for one in part for other in part if one != other]
    assert sorted((agent, source, number) for _, agent, source, number in log) == sorted(
        (*pair, number) for pair in pairs for number in range(3)
    )
    # A broadcast tree has a link less than nodes.
    assert relay.network.peer_totals().messages == 3 * sum(
        len(part) * (len(part) - 1) for part in nx.connected_components(graph)
    )
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    for time, agent, source, number in log:
        assert time - times[number] >= (hops[source][agent] * SLOT if timing == "slotted" else 0)
