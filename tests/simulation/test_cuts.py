"""When links and agents are down is known to loops for as long as it matters, however long messages queue."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.triangle import Triangle

from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.outages import Failing, Outage, OutagePlan, Redrawn
from netbandit.network.retry import Retry
from netbandit.simulation.compiled_rounds.cuts import absences_of, cuts_of, why_no_cuts
from netbandit.simulation.machine.primitives import is_link_down, is_node_down

END = 100_000
BITS_A_SECOND = 8_000_000  # a byte takes a microsecond: messages arrive long after the horizon
PLANS = [
    OutagePlan(links=Failing(9_000, 2_000), nodes=Failing(9_000, 2_000)),
    OutagePlan(links=Failing(90_000, 90_000), nodes=Failing(90_000, 90_000)),
    OutagePlan(links=Redrawn(0.7, 1_000), nodes=Failing(200_000, 9_000)),
    OutagePlan(outages=[Outage(200, 900, links=frozenset({(0, 1)})), Outage(150_000, 160_000, nodes=frozenset({1}))]),
    OutagePlan(outages=[Outage(99_999, 100_001, links=frozenset({(0, 1)})), Outage(0, 5, nodes=frozenset({0}))]),
]


def triangle(plan, **peer):
    return Triangle(Faults(plan=plan, peer=ChannelFaults(**peer)), BITS_A_SECOND).network


@pytest.mark.parametrize("plan", PLANS)
def test_a_link_is_known_to_go_down_under_a_message_that_begins_before_the_horizon(plan):
    network = triangle(plan)
    assert why_no_cuts(network) is None
    first, cuts = cuts_of(network)
    loop = SimpleNamespace(
        channels=[SimpleNamespace(link=number) for number in range(len(network.links))],
        faults=SimpleNamespace(first_cuts=first, cuts=cuts),
    )
    rng = random.Random(1)
    begins = [0, END - 1, *(rng.randrange(END) for _ in range(200))]
    for begin in begins:
        for arrival in (begin, rng.randint(begin, END + 9), rng.randint(begin, 20 * END)):
            for number, link in enumerate(network.links):
                down = network.link_downtimes(*sorted((link.first, link.second))).during(begin, arrival)
                assert is_link_down(loop, number, begin, arrival) == down


@pytest.mark.parametrize("peer", [{}, {"retry": Retry(3_000, 2.0, 2.0, 4)}])
@pytest.mark.parametrize("plan", PLANS)
def test_an_agent_is_known_to_be_down_until_the_largest_message_arrives(plan, peer):
    network = triangle(plan, **peer)
    first, absences = absences_of(network, size=500)
    loop = SimpleNamespace(faults=SimpleNamespace(first_absences=first, absences=absences))
    latest = END + 500 * 1_000 + 30 + ("retry" in peer) * 2 * 3_000 * 2**3
    rng = random.Random(2)
    for time in [0, END - 1, latest, *(rng.randint(0, latest) for _ in range(300))]:
        for node in range(3):
            begin = rng.randint(0, time)
            assert is_node_down(loop, node, begin, time) == network.node_downtimes[node].during(begin, time)


def test_where_nothing_queues_what_is_known_of_agents_is_the_same_for_all_sizes():
    network = Triangle(Faults(plan=PLANS[0])).network
    for one, other in zip(absences_of(network, 1), absences_of(network, 10**9), strict=True):
        assert np.array_equal(one, other)
