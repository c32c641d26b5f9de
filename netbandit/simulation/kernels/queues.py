"""Channels on each of which messages of its own are under way, one after the other."""

from typing import NamedTuple

from netbandit.simulation.kernels.compiled import inlined
from netbandit.simulation.kernels.traffic import (
    ACTIVATIONS,
    ARRIVED,
    BANDWIDTH,
    BYTES,
    CHANNEL,
    CHANNEL_MASK,
    CODE,
    EVENTS,
    EVENTS_FULL,
    FIRST,
    FREE_AT,
    INBOX_END,
    INBOX_FULL,
    KIND_BYTES,
    KIND_MESSAGES,
    LAST,
    LATENCY,
    LATEST,
    LINK,
    MESSAGE,
    MESSAGES,
    NEVER,
    NOW,
    PASS_END,
    RECEIVER,
    SLOT,
    WINDOW_AT,
    Integers,
    Traffic,
    expect,
    queue,
)

# Columns of `Queues.messages`. `FOLLOWING` leads to the next on the channel, or among unused rows; `LABELS` and `COUNT`
# say what it tells, as its protocol has it.
ARRIVAL, FOLLOWING, KIND, SIZE, ROUND, BEGUN, LABELS, COUNT = range(8)
MESSAGE_COLUMNS = 8

# Places in `Queues.unused`: the first unused row, and how many there are.
UNUSED, UNUSED_COUNT = range(2)


class Queues(NamedTuple):
    """The messages under way.

    Attributes:
        messages: A row a message, and unused rows.
        unused: See above.
    """

    messages: Integers
    unused: Integers


@inlined
def put(
    traffic: Traffic,
    queues: Queues,
    channel: int,
    kind: int,
    size: int,
    round: int,
    begun: int,
    labels: int,
    count: int,
) -> int:
    """Put a message on a channel now, before the horizon; there is an unused row for it.

    Return when it arrives; `NEVER`: it would have to queue up to the horizon, and is not sent.
    """
    channels, messages, unused = traffic.channels, queues.messages, queues.unused
    limited = traffic.state[BANDWIDTH] > 0
    arrival = traffic.state[NOW] + channels[channel, LATENCY]
    if limited:
        if not queue(traffic, channel, size, traffic.state[NOW]):
            return NEVER
        arrival = channels[channel, FREE_AT] + channels[channel, LATENCY]
    message = unused[UNUSED]
    unused[UNUSED] = messages[message, FOLLOWING]
    unused[UNUSED_COUNT] -= 1
    messages[message, ARRIVAL] = arrival
    messages[message, FOLLOWING] = -1
    messages[message, KIND] = kind
    messages[message, SIZE] = size
    messages[message, ROUND] = round
    messages[message, BEGUN] = begun
    messages[message, LABELS] = labels
    messages[message, COUNT] = count
    if channels[channel, FIRST] < 0:
        channels[channel, FIRST] = message
        expect(traffic, channel, arrival)
    else:
        messages[channels[channel, LAST], FOLLOWING] = message
    channels[channel, LAST] = message
    channels[channel, MESSAGES] += 1
    channels[channel, BYTES] += size
    link = channels[channel, LINK]
    slot = traffic.state[SLOT]
    if not limited and traffic.links[link, LATEST] != slot:
        traffic.links[link, LATEST] = slot
        traffic.links[link, ACTIVATIONS] += 1
    traffic.kinds[kind, KIND_MESSAGES] += 1
    traffic.kinds[kind, KIND_BYTES] += size
    return int(arrival)


@inlined
def release(queues: Queues, message: int) -> None:
    """Give back the row of a message that has been handled."""
    queues.messages[message, FOLLOWING] = queues.unused[UNUSED]
    queues.unused[UNUSED] = message
    queues.unused[UNUSED_COUNT] += 1


@inlined
def take(traffic: Traffic, queues: Queues) -> int:
    """Take off the channels what arrives in this pass; return why it stopped, or that all is in the inbox."""
    state, channels, messages = traffic.state, traffic.channels, queues.messages
    now = state[NOW]
    while state[WINDOW_AT] < state[PASS_END]:
        channel = traffic.window[state[WINDOW_AT]] & CHANNEL_MASK
        message = channels[channel, FIRST]
        receiver = channels[channel, RECEIVER]
        while message >= 0 and messages[message, ARRIVAL] == now:
            place, event = state[INBOX_END], state[EVENTS]
            if event == len(traffic.events):
                return EVENTS_FULL
            if place == len(traffic.inbox):
                return INBOX_FULL
            traffic.inbox[place, CHANNEL] = channel
            traffic.inbox[place, MESSAGE] = message
            state[INBOX_END] = place + 1
            traffic.events[event, 0] = now
            traffic.events[event, 1] = receiver
            traffic.events[event, 2] = traffic.kinds[messages[message, KIND], CODE]
            traffic.events[event, 3] = messages[message, SIZE]
            state[EVENTS] = event + 1
            message = messages[message, FOLLOWING]
            channels[channel, FIRST] = message
        state[WINDOW_AT] += 1
        if message >= 0:
            expect(traffic, channel, messages[message, ARRIVAL])
    return ARRIVED
