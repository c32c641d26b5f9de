"""Nodes that act together at an instant, and what they still have to deal with when they have been down."""

from math import inf

import pytest

from netbandit.network.clock import AGENTS, Clock, Environment, InstantQueue

SLOT = 10


def acted(things, *, down=(), forgets=False):
    """Let nodes deal with (told at, due at, node, what), node 1 being *down* at times; return (time, node, what)."""
    clock = Clock(Environment(), SLOT, 100)
    found = []
    queue = InstantQueue(
        clock, lambda due: found.extend((clock.now, node, what) for node, whats in due for what in whats), AGENTS
    )

    def postponed(node, time):
        begin, end = down
        return end if node == 1 and begin <= time < end else time

    if down:
        clock.postpone = postponed
        if forgets:
            clock.incarnation = lambda node, time: int(node == 1 and time >= down[1])

    def tell(told_at, due_at, node, what):
        yield clock.environment.timeout(told_at)
        queue.at(due_at, node, what)

    for thing in things:
        clock.environment.process(tell(*thing))
    clock.environment.run()
    return found


THINGS = [(0, 5, 1, "before"), (0, 30, 0, "other"), (0, 30, 1, "while"), (0, 60, 1, "over it"), (50, 60, 1, "after")]


def test_nodes_act_in_order_of_time_then_of_their_numbers():
    assert acted(reversed(THINGS)) == [
        (5, 1, "before"), (30, 0, "other"), (30, 1, "while"), (60, 1, "over it"), (60, 1, "after"),
    ]  # fmt: skip


def test_who_is_down_acts_when_it_is_back():
    assert acted(THINGS, down=(20, 40)) == [
        (5, 1, "before"), (30, 0, "other"), (40, 1, "while"), (60, 1, "over it"), (60, 1, "after"),
    ]  # fmt: skip


@pytest.mark.parametrize("end", [40, inf])
def test_who_loses_its_memory_never_deals_with_what_came_before(end):
    expected = [(5, 1, "before"), (30, 0, "other")]
    if end < inf:
        expected.append((60, 1, "after"))
    assert acted(THINGS, down=(20, end), forgets=True) == expected


def test_a_last_slot_ends_behind_all_in_it_and_before_what_goes_on_at_the_horizon():
    clock = Clock(Environment(), SLOT, 100)
    found = []

    def from_instant_to_instant():
        yield clock.environment.timeout(990)
        found.extend(time for time in (990, 999, 1000) if clock.environment.advance(time))

    clock.at_end(lambda: found.append("end"))
    clock.environment.process(from_instant_to_instant())
    clock.environment.run()
    assert found == [990, 999, "end"]
