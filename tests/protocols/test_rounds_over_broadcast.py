import networkx as nx
from helpers.graphs import connected
from helpers.one_round import SLOT, one_round
from hypothesis import given, settings
from hypothesis import strategies as st

from netbandit.part import Mistake, Others
from netbandit.protocols.adapters import check_with
from netbandit.protocols.relay import Relay
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast


def relayed(graph, **keys):
    return one_round(lambda **own: RoundsOverBroadcast.over(Relay(**own)), graph, **keys)


@given(connected(8))
@settings(max_examples=80, deadline=None)
def test_an_agent_goes_on_when_it_has_heard_the_farthest_one(graph):
    result = relayed(graph)
    assert result.informed == {node: distance * SLOT for node, distance in nx.eccentricity(graph).items()}
    assert result.aggregation.concluded == [(1, 0, list(graph), None)]
    assert result.protocol.ended == {1: nx.diameter(graph) * SLOT}
    assert len(result.arrivals) == len(graph) * (len(graph) - 1)


@given(connected(8), st.data(), st.sampled_from(["slotted", "asynchronous"]))
@settings(max_examples=80, deadline=None)
def test_rounds_that_overlap_are_concluded_once_each(graph, data, timing):
    starts = [data.draw(st.integers(0, 9 * SLOT)) for _ in graph]
    result = relayed(graph, starts=starts, rounds=3, timing=timing, latency=700)
    assert result.aggregation.concluded == [(number, 0, list(graph), None) for number in (1, 2, 3)]
    assert sorted(result.protocol.ended) == [1, 2, 3]


def test_a_graph_of_several_components_is_no_network_for_a_round():
    parts = Others(components=2, talk="round", kinds={"protocol": "relay"})
    text = "a round over relay needs a connected graph, but this one has 2 components"
    assert list(check_with(Relay(), parts)) == [Mistake("kind", text)]
    assert list(check_with(Relay(), Others(components=2, talk="broadcast", kinds={"protocol": "relay"}))) == []
