import networkx as nx
import pytest
from helpers.examples import examples
from helpers.graphs import connected
from helpers.telling import ITEM, SLOT, told
from hypothesis import given
from hypothesis import strategies as st

import netbandit as nb
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.local import Local
from netbandit.protocols.master_worker import MasterWorker
from netbandit.protocols.relay import Relay
from netbandit.protocols.silent import Silent
from netbandit.protocols.sink import Sink
from netbandit.results.remarks import trouble_lines

CARRIERS = {
    "gis": (Gis, {}),
    "flooding": (Flooding, {}),
    "gossip": (Gossip, {}),
    "master-worker": (MasterWorker, {}),
    "sink": (Sink, {}),
    "sink by gis": (Sink, {"collect": "gis"}),
}


@given(
    connected(8),
    st.data(),
    st.sampled_from(sorted(CARRIERS)),
    st.sampled_from(["slotted", "asynchronous"]),
    st.integers(0, 5_000),
)
@examples(200)
def test_everybody_hears_everybody_else_once_a_round_however_rounds_overlap(graph, data, name, timing, uplink):
    kind, keys = CARRIERS[name]
    latency = {tuple(sorted(edge)): data.draw(st.integers(0, 5_000)) for edge in graph.edges}
    log, protocol = told(kind, graph, latency, uplink=uplink, times=(0, SLOT, 9 * SLOT), timing=timing, **keys)
    agents = range(len(graph))
    assert sorted((agent, source, number) for _, agent, source, number in log) == [
        (agent, source, number) for agent in agents for source in agents if agent != source for number in range(3)
    ]
    assert protocol.reach == [len(graph)] * len(graph)
    assert sorted(protocol.ended) == [0, 1, 2]


@given(connected(8), st.sampled_from([Gis, Flooding, Relay]))
@examples(100)
def test_what_neighbours_pass_on_is_heard_after_a_slot_a_hop(graph, kind):
    log, _ = told(kind, graph)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    assert sorted(log) == sorted(
        (hops[source][agent] * SLOT, agent, source, 0) for agent in graph for source in graph if agent != source
    )


@pytest.mark.parametrize("kind", [Gis, Flooding])
def test_asynchronous_items_are_heard_the_moment_they_arrive(kind):
    handshake = 3 if kind is Gis else 1  # advertised, requested, delivered
    log, _ = told(kind, nx.path_graph(5), 70, timing="asynchronous")
    assert sorted(log) == sorted(
        (abs(agent - source) * handshake * 70, agent, source, 0)
        for agent in range(5)
        for source in range(5)
        if agent != source
    )


def test_a_server_tells_all_what_all_told_with_its_answer():
    log, protocol = told(MasterWorker, nx.star_graph(3), uplink=400)
    assert sorted(log) == [(800, agent, source, 0) for agent in range(4) for source in range(4) if agent != source]
    assert protocol.network.ledger.kinds == {
        "ANSWER": (4, 4 * (HEADER_BYTES + 4 * (LABEL_BYTES + ITEM))),
        "UPLOAD": (4, 4 * (HEADER_BYTES + ITEM)),
    }


def test_a_component_that_collects_by_gis_hears_itself_before_the_server():
    graph = nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))
    log, _ = told(Sink, graph, uplink=10 * SLOT, collect="gis")
    component = [0, 0, 0, 1, 1]
    for time, agent, source, _ in log:
        near = component[agent] == component[source]
        assert time == (abs(agent - source) * SLOT if near else 22 * SLOT)
    assert len(log) == 5 * 4


def test_nobody_hears_anything_in_silence():
    log, protocol = told(Silent, nx.star_graph(3), times=(0, SLOT))
    assert log == []
    assert protocol.reach == [1] * 4


@pytest.mark.parametrize(("down", "unanswered"), [("3 slots", 3), ("60 slots", 29), (None, None)])
def test_rounds_that_the_server_never_answers_are_counted_and_come_first(tmp_path, down, unanswered):
    """An agent that is down uploads nothing: no agent has an answer, though all is quiet (stalled is 0).

    The answer to the last round could come after the end.
    """
    (tmp_path / "cells.toml").write_text(
        """run = { horizon = 50, slot = "1 s" }
topology = { family = "star", agents = 4 }
bandit = { kind = "bernoulli", means = [0.2, 0.7] }
learner.kind = "ucb"
protocol.kind = "sink"
"""
        + (f'faults.outages = [{{ nodes = [1], from = "20 slots", for = "{down}" }}]' if down else "")
    )
    scenario = nb.Scenario.from_toml(tmp_path / "cells.toml")
    assert ("(unanswered)" in str(scenario.notes())) == bool(down)
    study = scenario.run(out=tmp_path / "out").study
    (run,) = study.points[0].finished
    expected = unanswered and min(unanswered, 30)
    assert (run.metrics.get("unanswered"), run.metrics["stalled"]) == (expected, 0)
    lines = [
        line for line in trouble_lines(study) if line.startswith(f"in {expected} of 50 rounds no agent had an answer")
    ]
    assert len(lines) == bool(down)


@pytest.mark.parametrize("ttl", [0, 1, 2, 9])
def test_local_messages_reach_those_within_ttl_hops(ttl):
    graph = nx.path_graph(6)
    log, protocol = told(Local, graph, ttl=ttl)
    near = [(one, other) for one in graph for other in graph if 0 < abs(one - other) <= ttl]
    assert sorted(log) == sorted((abs(one - other) * SLOT, one, other, 0) for one, other in near)
    assert protocol.network.peer_totals().messages == len(near)
    assert protocol.reach == [1 + sum(one == agent for one, _ in near) for agent in graph]
