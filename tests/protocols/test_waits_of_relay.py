"""How long agents wait for everybody over links that are drawn afresh in each slot."""

import networkx as nx
import pytest
from helpers.telling import SLOT, told

from netbandit.network.contacts import GeneratedContacts
from netbandit.network.faults import Faults
from netbandit.network.outages import OutagePlan, Redrawn
from netbandit.network.topology import Topology
from netbandit.protocols.relay import Relay
from netbandit.util.streams import Streams

RUNS = 20


@pytest.mark.ci
def test_on_a_complete_graph_each_waits_for_the_last_of_independent_links():
    """P(wait <= t) = (1 - (1 - p)^t)^(M - 1): for 20 agents and p = .1 a mean of 34.17 slots."""
    graph, waits = nx.complete_graph(20), []
    edges = Topology(graph).edges
    for seed in range(RUNS):
        contacts = GeneratedContacts(Redrawn(0.1, SLOT), edges, Streams(seed, 0))
        plan = OutagePlan(contacts=contacts, sensed=True, waits=True, waits_for_slots=True)
        log, _ = told(Relay, graph, faults=Faults(plan=plan))
        waits += [max(time for time, agent, *_ in log if agent == one) // SLOT for one in range(20)]
    law = [(1 - 0.9**slots) ** 19 for slots in range(1_000)]
    mean = sum(1 - by for by in law)
    variance = sum((2 * slots + 1) * (1 - by) for slots, by in enumerate(law)) - mean**2
    assert mean == pytest.approx(34.17, abs=0.005)
    # The two ends of a link share its luck, so that waits count as half as many at the least; 5 standard deviations.
    count = len(waits) / 2
    assert sum(waits) / len(waits) == pytest.approx(mean, abs=5 * (variance / count) ** 0.5)
    assert sum(wait <= 30 for wait in waits) / len(waits) == pytest.approx(law[30], abs=5 * (0.25 / count) ** 0.5)
