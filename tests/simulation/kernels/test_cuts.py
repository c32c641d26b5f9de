"""When links are down is known in bulk for as long as it matters: until what is sent in the last slot arrives."""

import random
from types import SimpleNamespace

import pytest
from helpers.triangle import Triangle

from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.outages import Failing, Outage, OutagePlan, Redrawn
from netbandit.simulation.kernels.faulty_links import _cuts_of, _is_down

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
    first, cuts = _cuts_of(network)
    rng = random.Random(1)
    begins = [0, END - 1, *(rng.randrange(END) for _ in range(200))]
    for begin in begins:
        for arrival in (begin, rng.randint(begin, END + 9), rng.randint(begin, 20 * END)):
            for number, link in enumerate(network.links):
                down = network.link_downtimes(*sorted((link.first, link.second))).during(begin, arrival)
                assert _is_down(cuts, first[number], first[number + 1], begin, arrival) == down


def test_a_network_without_links_has_no_cuts_of_two_columns():
    network = SimpleNamespace(link_downtimes=lambda *_: None, clock=SimpleNamespace(end=END), links=[])
    first, cuts = _cuts_of(network)
    assert (first.tolist(), cuts.shape) == ([0], (0, 2))
