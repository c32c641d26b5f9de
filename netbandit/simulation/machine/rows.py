"""The rows of a network that is executed in a compiled loop, and the places of its state."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.network.ledger import COUNTED_FATES

Integers = NDArray[np.int64]
Rows = NDArray[Any]
"""A structured array; see the types of rows below."""

NEVER = 1 << 62
"""Later than any time."""


def _row(*fields: tuple[str, type]) -> "np.dtype[np.void]":
    return np.dtype(list(fields), align=True)


def _all(kind: type, *names: str) -> list[tuple[str, type]]:
    return [(name, kind) for name in names]


CHANNEL_ROW = _row(
    *_all(np.int64, "latency", "receiver", "link", "messages", "bytes", "free_at", "last_due"),
    *_all(np.int32, "last", "unused"),
    *_all(np.int64, "sender", "reverse", "latest", "lost", "booked", "drawn"),
)
"""Of `Machine.channels`, in order of receiver and sender; see `netbandit.network.link.Channel`. `last` is the entry
that was added last, due at `last_due` (ns), -1 if it is due no more; `unused` the entry that is added next, if that is
not the first of a block; `reverse` the other direction; `booked` the latest slot for which it is booked where bandwidth
is limited; `drawn` for how many of its messages there are numbers. What is needed for each message comes first, in 64
bytes."""

QUEUE_ROW = _row(*_all(np.int64, "busy", "waited", "longest_wait"))
"""As `netbandit.network.link.Queue`."""

LINK_ROW = _row(*_all(np.int64, "latest", "activations"))
KIND_ROW = _row(*_all(np.int64, "code", "messages", "bytes"))

MESSAGE_ROW = _row(*_all(np.int64, "references", "kind", "size", "round", "begun", "labels", "count", "next"))
"""What is told: how much refers to it, and what its protocol has it say; the round of an unused row is -1. `next` leads
on among unused rows."""

ENTRY_ROW = _row(*_all(np.int64, "due"), *_all(np.int32, "message", "following"))
"""What arrives: when (ns), and the message; of an acknowledgement the packet that it acknowledges; -1: it is kept
outside. `following` leads to what arrives behind it on its channel, which is in no bucket before."""

BLOCK_BITS = 2
"""The entries of a channel come in blocks of 2^BLOCK_BITS, each in one line of a cache."""

BLOCK_ROW = _row(*_all(np.int32, "channel", "left", "next"))
"""A block of entries: the channel, and, where something can go wrong, how many are still to arrive, or to be added.
`next` leads on among unused rows."""

CARRIED_ROW = _row(*_all(np.int64, "packet", "kind", "waits", "serial"))
"""More of what arrives, where something can go wrong; see `netbandit.network.hop.take`. `serial` tells in which order
it was sent."""

FAULTY = True
"""Whether anything can go wrong."""

PACKET_ROW = _row(
    *_all(np.int64, "references", "message", "origin", "place", "since", "sent", "taken", "settled"),
    *_all(np.int64, "acknowledges", "next"),
    *_all(np.float64, "spread"),
)
"""As `netbandit.network.retry.Packet`; and how much refers to it, whether its message is a packet that it acknowledges,
and the number that it has drawn for its timeouts."""

LAW_ROW = _row(
    *_all(np.int64, "loses_bits", "loses_in_bursts", "overtaking", "attempts", "least_patience", "kinds"),
    *_all(np.int64, "loss_at", "jitter_at", "duplicate_at", "copy_at", "spread_at"),
    *_all(np.float64, "chance", "chance_while_bad", "duplicate", "timeout", "spread"),
)
"""As `netbandit.network.faults.Law`; and how many kinds of messages the protocol has (the repetitions of each follow,
then acknowledgements), and the column of `Faults.numbers` with what a message draws for its loss, its jitter, being
doubled, the jitter of its copy and its timeouts; -1: it draws nothing."""

TALLY_ROW = _row(*_all(np.int64, *COUNTED_FATES))
"""As `netbandit.network.ledger.Tally`."""

STAY_ROW = _row(*_all(np.int64, "next", "last", "is_bad"))
"""Of a channel where in `Faults.switches` are the next and the last of its times that are known, and whether it is bad
before these."""

# Columns of `Machine.inbox`, and the first ones of `Machine.due`.
CHANNEL, MESSAGE, ENTRY = range(3)
NODE, STEP_LABELS, STEP_COUNT = range(3)

# Places in `Machine.state`.
(
    NOW,
    SLOT,
    SLOT_ENDS,  # the time (ns) at which the slot of now ends
    SLOT_NS,
    END,
    BANDWIDTH,  # bits a second, 0: unlimited
    BOOKINGS,
    SERIAL,  # how much was put into the calendar so far, where anything can go wrong
    WINDOW,  # the bucket of time that the window holds, with all before it
    WIDTH_BITS,  # a bucket is 2^WIDTH_BITS ns long
    ROW_BITS,  # an entry of the window ends in so many bits for the row,
    KEY_BITS,  # and so many for channel and row
    WAITING,  # entries in buckets
    WINDOW_AT,
    WINDOW_SORTED,
    WINDOW_END,
    DUE_AT,
    DUE_END,
    INBOX_AT,
    INBOX_END,
    EVENTS,
    UNUSED_BLOCK,
    BLOCKS_LEFT,
    UNUSED_MESSAGE,
    MESSAGES_LEFT,
    STEP_TIME,  # when the steps below are due
    STEPS,
    STEP_AT,  # of the steps of this instant, the one that is next
    STEPS_BEGUN,  # whether this instant's have begun
    NEXT_ARRIVAL,  # when it stopped: when it would have gone on
    NEXT_STEP,
    HEARD_OVER,  # the channel that has brought the call for which it stopped, when (ns) that was sent, and its round
    HEARD_BEGUN,
    HEARD_ROUND,
) = range(34)
STATES = 34

# Places in `Faults.state`.
(
    TIMERS,  # how many rows `Faults.timers` has
    TIMERS_BEFORE,  # 0: the timers of this instant have been looked at; -1: not yet; else those with a lower serial are
    KNOWN_UNTIL,  # until when (ns) it is known in which state each channel is
    WANTED,  # how many numbers of one channel are needed at once
    UNUSED_PACKET,
    PACKETS_LEFT,
    LOSES_MEMORY,  # whether an agent that comes back knows nothing
) = range(7)
FAULT_STATES = 7

# Why a loop returns.
(
    STOPPED,
    ENDED_ROUND,
    EVENTS_FULL,
    MESSAGES_FULL,
    ENTRIES_FULL,
    INBOX_FULL,
    STEPS_FULL,
    LISTS_FULL,
    CHOICES_USED,
    BOOKINGS_FULL,
    PACKETS_FULL,
    TIMERS_FULL,
    DRAWS_USED,
    STATES_USED,
    HEARD_CALL,
) = range(15)
ARRIVED, STEP = 100, 101


class Faults(NamedTuple):
    """What goes wrong.

    Attributes:
        state: Numbers by the places above.
        law: What can go wrong, one row.
        tally: What has become of messages, one row.
        carried: A row for each of `Machine.entries`.
        packets: A row a packet, and unused rows.
        timers: A heap of when senders stop waiting in vain: when (ns); in which order that was found; packet; channel.
        numbers: What the messages of each channel draw, message k in row k modulo their number, a column for each
            purpose: in units of 2^-53, jitter in nanoseconds; shape (channels, window, purposes).
        left: At least so many numbers are left on each channel that leaves a node, shape (agents,).
        factors: What the k-th repetition multiplies the timeout by.
        stays: A row a channel.
        switches: When (ns) channels become bad or good.
        first_cuts: Where in `cuts` the rows of each link begin, and the end, shape (links + 1,); empty: none is down.
        cuts: From when until before when (ns) links are down, shape (n, 2).
        first_absences, absences: The same of agents.
    """

    state: Integers
    law: Rows
    tally: Rows
    carried: Rows
    packets: Rows
    timers: Integers
    numbers: Integers
    left: Integers
    factors: NDArray[np.float64]
    stays: Rows
    switches: Integers
    first_cuts: Integers
    cuts: Integers
    first_absences: Integers
    absences: Integers


class Machine(NamedTuple):
    """A network, and what is under way on it.

    Attributes:
        state: Numbers by the places above, and room to sort in.
        channels: A row a channel.
        queues: A row a channel where bandwidth is limited, else none.
        links: A row a link.
        kinds: A row a kind of message: its code, messages and bytes so far.
        starts, out: The channels that leave node v, by receiver: ``out[starts[v]:starts[v + 1]]``.
        messages: A row a message, and unused rows.
        entries: A row for all that is to arrive, and unused rows.
        blocks: A row a block of `entries`, and unused rows.
        buckets: For each bucket of time the first entry that is due in it, or -1.
        behind: For each entry in a bucket the next one, or -1.
        window: What arrives in the present bucket: time within it, channel and entry in one number, so that sorting
            these sorts by time and channel.
        due: The entries of this pass, in order: the channel, the message, and the entry.
        inbox: What has arrived in this pass: the channel, and a message.
        events: What has arrived since the fingerprint was told: time, node, code, size.
        steps: What nodes deal with at the next step: node, and what is learnt.
        order: Room to sort steps in.
        booked: Links and the slots in which messages are put on them, where bandwidth is limited: a queue books slots
            of the future, so the two directions of a link reach a slot in any order.
        called: The latest round to which a call has reached each agent, or, where agents fail, on which it has acted;
            empty: nobody calls.
        faults: What goes wrong; None: nothing, which is known when a loop is compiled, so that it costs nothing.
    """

    state: Integers
    channels: Rows
    queues: Rows
    links: Rows
    kinds: Rows
    starts: Integers
    out: Integers
    messages: Rows
    entries: Rows
    blocks: Rows
    buckets: Integers
    behind: NDArray[np.int32]
    window: Integers
    due: NDArray[np.int32]
    inbox: Integers
    events: Integers
    steps: Integers
    order: Integers
    booked: Integers
    called: Integers
    faults: Faults | None
