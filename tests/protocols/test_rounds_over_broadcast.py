from types import SimpleNamespace

import networkx as nx
import pytest
from helpers.apart_round import down, rounds_apart
from helpers.examples import examples
from helpers.graphs import connected
from helpers.one_round import SLOT, one_round
from hypothesis import given
from hypothesis import strategies as st

from netbandit.parts.component import Mistake, Note, Others
from netbandit.protocols.adapters import check_with
from netbandit.protocols.local import Local
from netbandit.protocols.relay import Relay
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast


def relayed(graph, **keys):
    return one_round(lambda **own: RoundsOverBroadcast.over(Relay(**own)), graph, **keys)


@given(connected(8))
@examples(80)
def test_an_agent_goes_on_when_it_has_heard_the_farthest_one(graph):
    result = relayed(graph)
    assert result.informed == {node: distance * SLOT for node, distance in nx.eccentricity(graph).items()}
    assert result.aggregation.concluded == [(1, 0, list(graph), None)]
    assert result.protocol.ended == {1: nx.diameter(graph) * SLOT}
    assert len(result.arrivals) == len(graph) * (len(graph) - 1)


@given(connected(8), st.data(), st.sampled_from(["slotted", "asynchronous"]))
@examples(80)
def test_rounds_that_overlap_are_concluded_once_each(graph, data, timing):
    starts = [data.draw(st.integers(0, 9 * SLOT)) for _ in graph]
    result = relayed(graph, starts=starts, rounds=3, timing=timing, latency=700)
    assert result.aggregation.concluded == [(number, 0, list(graph), None) for number in (1, 2, 3)]
    assert sorted(result.protocol.ended) == [1, 2, 3]


def test_a_graph_of_several_components_is_no_network_for_a_round():
    parts = Others(components=2, talk="round", kinds={"protocol": "relay"})
    text = "a round over relay needs a connected graph, but this one has 2 components"
    assert list(check_with(Relay(), parts)) == [Mistake("kind", text)]
    kinds, graph = {"protocol": "relay", "topology": "hybrid"}, SimpleNamespace(components=[[0, 1], [2]])
    noted = "2 components of 1 to 2 agents, which hear nothing of one another over relay: each learns on its own"
    found = list(check_with(Relay(), Others(components=2, talk="broadcast", kinds=kinds, graph=graph)))
    assert found == [Note("components", noted, "topology")]


PATH = nx.path_graph(4)


def known(found, round=1):
    return [found.get((round, agent)) for agent in range(4)]


@pytest.mark.parametrize("route", ["tree", "flood"])
def test_over_local_an_agent_concludes_when_it_has_heard_those_near_it(route):
    found, protocol = rounds_apart(Local(ttl=1, route=route), PATH)
    assert known(found) == [(1, {0, 1}), (1, {0, 1, 2}), (1, {1, 2, 3}), (1, {2, 3})]
    assert protocol.reach == [2, 3, 3, 2]
    found, protocol = rounds_apart(Local(ttl=2, route=route), PATH)
    assert known(found) == [(2, {0, 1, 2}), (2, {0, 1, 2, 3}), (2, {0, 1, 2, 3}), (2, {1, 2, 3})]
    assert protocol.reach == [3, 4, 4, 3]


def test_far_enough_local_is_relay():
    for deadline in ("1 slot", "2 slots", "9 slots"):
        local, relay = (
            rounds_apart(kind, PATH) for kind in (Local(ttl=3, deadline=deadline), Relay(deadline=deadline))
        )
        assert local[0] == relay[0]
        assert local[1].late == relay[1].late


def test_items_of_who_is_ahead_are_kept_until_they_are_due():
    """0 contributes in slot 0, 1 in slot 5, 2 in slot 0, 3 in slot 30, and each again two slots after it goes on."""
    found, _ = rounds_apart(Local(ttl=1), PATH, rounds=2, starts=[0, 5, 0, 30])
    assert known(found) == [(6, {0, 1}), (5, {0, 1, 2}), (31, {1, 2, 3}), (30, {2, 3})]
    # 0 has heard of 1, which told round 2 in slot 7, and waits for no 2; 1 waits for 2, which tells it in slot 33.
    assert known(found, 2) == [(8, {0, 1}), (34, {0, 1, 2}), (33, {1, 2, 3}), (34, {2, 3})]


def test_what_is_lost_is_missed_once():
    found, protocol = rounds_apart(Local(ttl=1, deadline="2 slots"), PATH, [down(0, 1, links=[(1, 2)])], rounds=2)
    assert known(found) == [(1, {0, 1}), (2, {0, 1}), (2, {2, 3}), (1, {2, 3})]
    assert known(found, 2) == [(5, {0, 1}), (5, {0, 1, 2}), (5, {1, 2, 3}), (5, {2, 3})]
    assert protocol.late == 0


def test_who_is_done_says_so_to_those_near_it():
    """Agent 1 says so in slot 0, for all rounds, with a header that reaches 0 and 2 in slot 1, and 3 a slot later."""
    found, protocol = rounds_apart(Local(ttl=2), PATH, done=[(1, 0)], rounds=2)
    assert known(found) == [(2, {0, 2}), None, (2, {0, 2, 3}), (2, {2, 3})]
    assert known(found, 2) == [(6, {0, 2}), None, (6, {0, 2, 3}), (5, {2, 3})]
    kinds = {kind.name: counts for kind, counts in protocol.network.ledger.counts.items()}
    assert kinds["DONE"] == [3, 60]


def test_who_hears_nothing_goes_on_at_its_deadline():
    found, _ = rounds_apart(Relay(deadline="3 slots"), PATH, [down(0, 99, links=[(0, 1), (1, 2), (2, 3)])])
    assert known(found) == [(3, None)] * 4
