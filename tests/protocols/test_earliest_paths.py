"""Flooding over links that agents see come and go: each item takes the earliest path over time, exactly."""

import pytest
from helpers.contact_lists import earliest, linked, sensed
from helpers.examples import examples
from helpers.one_round import SLOT, one_round
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.clock import effective_time
from netbandit.protocols.flooding import Flooding


class Held(Flooding):
    """Writes down when each agent first holds each item."""

    def start(self, network, aggregation):
        super().start(network, aggregation)
        self.held = {}

    def receive(self, node, arrivals):
        for time, _, message in arrivals:
            when = effective_time(message.begun, time, SLOT) if self.slotted else time
            key = message.labels.bit_length() - 1, node
            self.held[key] = min(when, self.held.get(key, when))
        super().receive(node, arrivals)


def flooded(contacts, agents, latency, timing, **more):
    faults = sensed(contacts, slotted=timing == "slotted")
    result = one_round(Held, linked(contacts, agents), latency=latency, timing=timing, faults=faults, **more)
    return result.protocol.held | {(agent, agent): 0 for agent in range(agents)}


def expected(contacts, agents, latency, timing, horizon):
    slot = SLOT if timing == "slotted" else None
    known = {one: earliest(contacts, latency, one, 0, horizon * SLOT, slot) for one in range(agents)}
    return {(one, other): time for one, own in known.items() for other, time in own.items()}


CONTACT = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 6 * SLOT), st.integers(1, 2 * SLOT))
LISTS = st.lists(CONTACT, min_size=1, max_size=14)


@examples(80)
@given(LISTS, st.sampled_from(["slotted", "asynchronous"]), st.integers(0, 10**6), st.sampled_from([1, 100, SLOT]))
def test_each_item_takes_the_earliest_path(drawn, timing, seed, grain):
    """Whatever the contacts and latencies; their times are coarse at times, so that much happens at one instant."""
    contacts = [
        (min(one, other), max(one, other), begin // grain * grain, begin // grain * grain + -(-span // grain) * grain)
        for one, other, begin, span in drawn
        if one != other
    ]
    latency = {
        (one, other): (seed * (3 * one + 7 * other + 1) % SLOT) // grain * grain for one, other, _, _ in contacts
    }
    found = flooded(contacts, 5, latency, timing, horizon=9)
    assert found == expected(contacts, 5, latency, timing, 9)


def test_a_list_by_hand():
    contacts = [(0, 1, 0, 10), (1, 2, 5, 8), (0, 2, 20, 30), (1, 2, 40, 60)]
    found = flooded(contacts, 3, 4, "asynchronous")
    assert [found[0, node] for node in range(3)] == [0, 4, 24]
    assert [found[2, node] for node in range(3)] == [24, 44, 0]


@pytest.mark.parametrize("length", [4, 5])
def test_a_contact_as_long_as_the_latency_is_too_short(length):
    found = flooded([(0, 1, 0, length)], 2, 4, "asynchronous")
    assert ((0, 1) in found) == (length > 4)


def test_a_path_whose_links_are_up_together():
    contacts = [(one, one + 1, begin, begin + 30) for one in range(19) for begin in range(0, 1_000, 100)]
    assert flooded(contacts, 20, 7, "asynchronous")[0, 19] == 421


def test_a_path_whose_links_come_up_one_after_the_other():
    contacts = [(one, one + 1, begin, begin + 30) for one in range(6) for begin in range(40 * one, 9_000, 1_000)]
    found = flooded(contacts, 7, 15, "asynchronous")
    assert (found[0, 6], found[6, 0]) == (215, 5_015)
