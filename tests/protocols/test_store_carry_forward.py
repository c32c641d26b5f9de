"""Local floods that carry items for neighbours that come later: who hears what and when, against plain Python."""

from heapq import heappop, heappush

from helpers.contact_lists import linked, merged, sensed
from helpers.examples import examples
from helpers.telling import SLOT, told
from hypothesis import given
from hypothesis import strategies as st

from netbandit.parts.component import Mistake, Others
from netbandit.protocols.local import Local

HORIZON = 1_000 * SLOT


def flooded(contacts, agents, carry, *, ttl=3, latency=0, timing="slotted", times=(0,)):
    faults = sensed(contacts, slotted=timing == "slotted", waits=False, carry=carry)
    keys = {"ttl": ttl, "route": "flood", "timing": timing, "carry": None if carry is None else f"{carry} ns"}
    return told(Local, linked(contacts, agents), latency, faults=faults, times=times, **keys)


def expected(contacts, agents, carry, ttl, latency, slot, said):
    """Return when each agent first hears what each other says at a time (ns): {(agent, source): time}.

    Who gets a copy that may go further than any before tells each neighbour at the first moment at which it is there:
    at once, or later while the item is young. What does not arrive within that contact is lost.
    """
    near = {}
    for (one, other), own in merged(contacts).items():
        near.setdefault(one, []).append((other, own))
        near.setdefault(other, []).append((one, own))
    heard = {}
    for source in range(agents):
        furthest = {}
        todo = [(said, -ttl, source)]
        while todo:
            time, left, node = heappop(todo)
            if (node == source and time > said) or -left <= furthest.get(node, -1):
                continue
            furthest[node] = -left
            heard.setdefault((node, source), time)
            for other, own in near.get(node, ()) if left else ():
                starts = ((boundary(max(time, begin), slot), end) for begin, end in own)
                start, end = next(((start, end) for start, end in starts if start < end), (HORIZON, 0))
                if start < HORIZON and (start == time or start <= said + carry) and start + latency < end:
                    effective = max(start + slot, boundary(start + latency, slot)) if slot > 1 else start + latency
                    heappush(todo, (effective, left + 1, other))
    return {pair: time for pair, time in heard.items() if pair[0] != pair[1]}


def boundary(time, slot):
    return -(-time // slot) * slot


CONTACT = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 40), st.integers(1, 15))


@examples(150)
@given(
    st.lists(CONTACT, min_size=1, max_size=14),
    st.integers(-1, 12),
    st.integers(1, 4),
    st.sampled_from([0, 400, 1_700]),
    st.sampled_from(["slotted", "asynchronous"]),
)
def test_who_comes_later_is_told_while_an_item_is_young(drawn, carry, ttl, latency, timing):
    """Times are in quarters of a slot; a carry below zero: there is none."""
    contacts = [
        (min(one, other), max(one, other), begin * SLOT // 4, (begin + span) * SLOT // 4)
        for one, other, begin, span in drawn
        if one != other
    ]
    if not contacts:
        return
    slot = SLOT if timing == "slotted" else 1
    log, _ = flooded(
        contacts, 4, None if carry < 0 else carry * SLOT, ttl=ttl, latency=latency, timing=timing, times=(0, SLOT)
    )
    for number in range(2):
        found = {(agent, source): time for time, agent, source, round in reversed(log) if round == number}
        said = number * SLOT
        assert found == expected(contacts, 4, max(-1, carry * SLOT - (carry < 0)), ttl, latency, slot, said)


def test_what_is_carried_shares_a_message():
    """0 tells 1 in each of five slots, while 1 is away; then all goes in one message."""
    contacts = [(0, 1, 7 * SLOT, 9 * SLOT)]
    log, protocol = flooded(contacts, 2, 20 * SLOT, ttl=1, times=[slot * SLOT for slot in range(5)])
    assert sorted(log) == [(8 * SLOT, 1 - source, source, number) for source in (1, 0) for number in range(5)]
    assert protocol.network.ledger.kinds["ITEMS"] == (2, 2 * (20 + 5 * 84))


def test_nobody_is_told_twice_what_it_was_told_before():
    contacts = [(0, 1, 0, 2 * SLOT), (0, 1, 4 * SLOT, 6 * SLOT), (0, 1, 8 * SLOT, 9 * SLOT)]
    _, protocol = flooded(contacts, 2, 100 * SLOT, ttl=1, times=(0, 3 * SLOT))
    assert protocol.figures()["items"] == 4


def test_what_calls_say_is_not_carried():
    others = Others(slot=SLOT, slowest_hop=lambda around: 1)
    said = list(Local(carry="1 s", deadline="3 ms").check_with(others))
    assert [one.key for one in said if isinstance(one, Mistake)] == ["carry"]
