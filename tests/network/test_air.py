"""Who hears what where agents share the air, against a reference in plain Python."""

from math import exp, sqrt

import numpy as np
from helpers.shared_air import both_ways, heard
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.air import Air

BEGINS = 1


def received(transmissions, latency, agents, ends=0):
    """Return all (number of the transmission, receiver) that `Air` leaves whole.

    At an instant, receptions end before transmissions begin if *ends* is 0, and behind if it is 2.
    """
    air = Air(agents)
    near = [[(other, delay) for (one, other), delay in latency.items() if one == agent] for agent in range(agents)]
    events = []
    for number, (start, airtime, sender) in enumerate(transmissions):
        events.append((start, BEGINS, number, sender))
        events += [(start + airtime + delay, ends, number, receiver) for receiver, delay in near[sender]]
    found = set()
    for time, what, number, agent in sorted(events):
        _, airtime, sender = transmissions[number]
        if what == BEGINS:
            air.transmit(sender, time, airtime, near[sender])
        elif not air.is_destroyed(sender, agent, time):
            found.add((number, agent))
    return found


def test_what_overlaps_on_a_path_is_destroyed():
    """The first and the second destroy one another at 1, the third and the fourth at 2; 3 hears the second."""
    path = both_ways({(0, 1): 0, (1, 2): 0, (2, 3): 0})
    transmissions = [(0, 10, 0), (5, 10, 2), (14, 4, 1), (15, 3, 3)]
    whole = {(1, 3), (2, 0)}
    assert heard(transmissions, path) == whole
    assert received(transmissions, path, 4) == whole


@st.composite
def conversations(draw):
    """Transmissions of up to five agents on a random graph with latencies; those of an agent do not overlap."""
    agents = draw(st.integers(2, 5))
    pairs = [(one, other) for other in range(agents) for one in range(other)]
    links = {pair: draw(st.integers(0, 4)) for pair in pairs if draw(st.booleans())}
    transmissions = []
    for sender in range(agents):
        time = 0
        for silence, airtime in draw(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8)), max_size=4)):
            transmissions.append((time + silence, airtime, sender))
            time += silence + airtime
    return agents, both_ways(links), transmissions


@given(conversations(), st.sampled_from([0, 2]))
def test_receptions_are_those_of_the_reference(conversation, ends):
    agents, latency, transmissions = conversation
    assert received(transmissions, latency, agents, ends) == heard(transmissions, latency)


def test_an_agent_hears_what_has_begun_before():
    air = Air(3)
    air.transmit(0, 10, 5, [(1, 2)])
    assert [time for time in range(9, 20) if air.hears_something(1, time)] == [13, 14, 15, 16]
    assert not any(air.hears_something(2, time) for time in range(9, 20))


def test_of_poisson_traffic_of_many_agents_one_hears_a_share_of_exp_minus_2_g():
    """Pure ALOHA (Abramson 1970). Whether one gets through depends on the gaps around it, each longer than the airtime
    with probability exp(-G): neighbouring ones share a gap. Wrong in one of 10^7 runs."""
    load, number, airtime = 0.5, 20_000, 1_000_000
    gaps = np.random.default_rng(1).exponential(airtime / load, number)
    air, transmissions = Air(number + 1), np.cumsum(np.ceil(gaps)).astype(int).tolist()
    through, pending = 0, []
    for sender, start in enumerate(transmissions):
        while pending and pending[0][0] <= start:
            end, who = pending.pop(0)
            through += not air.is_destroyed(who, number, end)
        air.transmit(sender, start, airtime, [(number, 0)])
        pending.append((start + airtime, sender))
    share, expected = through / (number - len(pending)), exp(-2 * load)
    variance = expected * (1 - expected) + 2 * (exp(-3 * load) - expected**2)
    assert abs(share - expected) < 5.33 * sqrt(variance / number)
