"""Messages of a flood that reach their receivers alone: most of what happens in asynchronous time; compiled.

What several bring at once has to be looked at together, by receiver. What a receiver gets alone it passes on at once,
so that nothing is written down between, and the calendar is kept in variables, not arrays: that takes a tenth off.
"""

from netbandit.simulation.kernels.compiled import inlined
from netbandit.simulation.kernels.fresh_items import KNOWN, LACKED
from netbandit.simulation.kernels.said import (
    BUSY,
    CAPACITY,
    EARLIER,
    LABEL,
    MISSING,
    NUMBER,
    SAID,
    SIZE,
    TIME,
    Flood,
    next_said,
    say_back,
)
from netbandit.simulation.kernels.sorting import insert
from netbandit.simulation.kernels.traffic import (
    CHANNEL_BITS,
    CHANNEL_MASK,
    CODE,
    EVENTS,
    FEW,
    FIRST,
    LATENCY,
    NEVER,
    RECEIVER,
    SENDER,
    WAITING,
    WIDTH_BITS,
    WINDOW,
    WINDOW_AT,
    WINDOW_END,
    WINDOW_SORTED,
    Traffic,
    load,
    move_to,
    put_into,
)


@inlined
def deliver_lone_messages(traffic: Traffic, flood: Flood, until: int) -> None:
    """Deliver and pass on messages for as long as each is the only one that its receiver gets at that instant.

    Bandwidth is unlimited and all latencies are above zero, so that messages of one instant do not hinge on each other.
    What ends the round is left for others to deliver, as is what there is no room for.

    Args:
        traffic: What is under way; nothing of it has been taken off the calendar.
        flood: The round.
        until: Messages are delivered up to this time (ns), which is before the horizon.
    """
    state, channels, window, buckets = traffic.state, traffic.channels, traffic.window, traffic.buckets
    events, said, nodes, known = traffic.events, flood.said, flood.nodes, flood.state
    agents, capacity, goes_on = len(flood.sizes), flood.round[CAPACITY], flood.round[NUMBER] > 0
    at, sorted_to, end, bucket = state[WINDOW_AT], state[WINDOW_SORTED], state[WINDOW_END], state[WINDOW]
    event = state[EVENTS]
    while event < len(events) and end + len(channels) <= len(window):
        if at == end:
            at = sorted_to = end = 0
            farthest = bucket + len(buckets)
            while end == 0 and bucket < farthest and state[WAITING] > 0:
                bucket += 1
                if buckets[bucket & (len(buckets) - 1)] >= 0:
                    end = load(traffic, bucket)
            if end == 0 or end > FEW:
                break
        if sorted_to < end:
            insert(window, at, max(at, sorted_to), end)
            sorted_to = end
        within = window[at] >> CHANNEL_BITS
        channel = window[at] & CHANNEL_MASK
        sender, node = channels[channel, SENDER], channels[channel, RECEIVER]
        now = (bucket << state[WIDTH_BITS]) + within
        if now > until:
            break
        follows = at + 1 < end and window[at + 1] >> CHANNEL_BITS == within
        if follows and channels[window[at + 1] & CHANNEL_MASK, RECEIVER] == node:
            break
        place = channels[channel, FIRST]
        row = sender * capacity + (place & (capacity - 1))
        label, size = said[row, LABEL], said[row, SIZE]
        following = next_said(flood, sender, channel, place + 1)
        due = NEVER
        if following < nodes[sender, SAID]:
            row = sender * capacity + (following & (capacity - 1))
            due = said[row, TIME] + channels[channel, LATENCY]
        have = node * agents + label
        news = goes_on and place >= nodes[sender, EARLIER] and known[have] == LACKED
        if due == now or (news and flood.round[MISSING] == 1):
            break
        move_to(state, now)
        events[event, 0] = now
        events[event, 1] = node
        events[event, 2] = traffic.kinds[0, CODE]
        events[event, 3] = size
        event += 1
        at += 1
        if due < NEVER:
            channels[channel, FIRST] = following
            end = put_into(traffic, channel, due, bucket, end)
        else:
            channels[channel, FIRST] = -1
            nodes[sender, BUSY] -= 1
        if news:
            known[have] = KNOWN
            flood.round[MISSING] -= 1
            state[WINDOW], state[WINDOW_END] = bucket, end
            say_back(traffic, flood, node, label, channel)
            end = state[WINDOW_END]
    state[EVENTS] = event
    state[WINDOW], state[WINDOW_AT], state[WINDOW_SORTED], state[WINDOW_END] = bucket, at, sorted_to, end
