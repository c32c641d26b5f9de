"""Round times computed from the graph against those of the protocols themselves."""

import networkx as nx
import numpy as np
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from helpers.one_round import SLOT, one_round
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.topology import Topology
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.master_worker import MasterWorker
from netbandit.protocols.sink import Sink
from netbandit.studies.advice.round_times import distances, round_times
from netbandit.studies.advice.timed_graph import TimedGraph

PROTOCOLS = {"gis": Gis, "flooding": Flooding, "sink": Sink, "master-worker": MasterWorker}


@examples(60)
@given(connected_graphs(), st.booleans(), st.sampled_from([0, 300, SLOT, 3 * SLOT]), st.randoms(use_true_random=False))
def test_they_are_those_of_a_run(graph, slotted, longest, random):
    topology = Topology(graph)
    latency = {(first, second): random.randint(0, longest) for first, second in topology.edges.tolist()}
    uplinks = [random.randint(0, longest) for _ in range(topology.agents)]
    timed = TimedGraph(
        topology, np.array(list(latency.values()), dtype=np.int64), SLOT, slotted, np.array(uplinks, dtype=np.int64)
    )
    timing = "slotted" if slotted else "asynchronous"
    for found in round_times(timed):
        run = one_round(PROTOCOLS[found.protocol], graph, latency=latency, uplink=uplinks, timing=timing)
        assert found.nanoseconds == max(run.informed.values()), found.protocol
        assert found.slots == run.slots


def test_a_disconnected_graph_ends_no_round_of_those_who_must_reach_everybody():
    graph = nx.disjoint_union(nx.path_graph(2), nx.path_graph(3))
    timed = TimedGraph(Topology(graph), np.full(3, 10), SLOT, False, np.full(5, 7))
    found = {each.protocol: each.nanoseconds for each in round_times(timed)}
    assert found == {"gis": None, "flooding": None, "sink": 10 + 7 + 7, "master-worker": 14}


@pytest.mark.parametrize("time", [0, 7])
def test_distances_count_each_hop(time):
    timed = TimedGraph(Topology(nx.path_graph(4)), np.full(3, time), SLOT, False, np.zeros(4, dtype=np.int64))
    expected = abs(np.arange(4)[:, None] - np.arange(4)) * time
    assert (distances(timed, timed.hop_times()) == expected).all()
