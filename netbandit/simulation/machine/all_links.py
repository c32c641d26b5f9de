"""Messages on all links at once, at the beginning of a slot, of which nobody asks but when they take effect."""

from netbandit.simulation.machine.hops import advance, move_to, room, send, take
from netbandit.simulation.machine.primitives import release
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    DUE_AT,
    DUE_END,
    INBOX_END,
    MESSAGE,
    NEVER,
    SLOT_NS,
    Integers,
    Machine,
)
from netbandit.simulation.machine.steps import step_time
from netbandit.texts import text


@text
def put_all(network: Machine, sizes: Integers, at: Integers, time: int) -> int:
    """Put a message on each channel.

    Args:
        network: The network, on which all that arrives up to then has.
        sizes: The bytes of each message, shape (channels,); 0: there is none.
        at: The node whose messages come next, one number, which is updated.
        time: When (ns).

    Returns:
        `ARRIVED`: all messages are sent; else why not.
    """
    move_to(network, time)
    why = ARRIVED
    while why == ARRIVED and at[0] < len(network.starts) - 1:
        first, last = network.starts[at[0]], network.starts[at[0] + 1]
        why = room(network, at[0], last - first, 1)
        if why == ARRIVED:
            for place in range(first, last):
                channel = network.out[place]
                if sizes[channel] > 0:
                    send(network, channel, 0, sizes[channel], 0, time, 0, 0)
            at[0] += 1
    return why


@text
def arrive(network: Machine, due: Integers, until: int) -> int:
    """Let all messages arrive that do so up to a time (ns); return why it stopped.

    Args:
        network: The network.
        due: At which boundary the message of each channel and slot takes effect, shape (channels, D), that of slot u in
            column u mod D; filled in.
        until: See above.
    """
    state = network.state
    while True:
        why: int = ARRIVED
        if state[DUE_AT] < state[DUE_END]:
            why = take(network)
            note_effects(network, due)
        if why == ARRIVED:
            why = advance(network, until, until, NEVER)
        if why != ARRIVED:
            return why


@text
def note_effects(network: Machine, due: Integers) -> None:
    """Note when what is in the inbox takes effect, and empty it."""
    state, inbox = network.state, network.inbox
    for number in range(state[INBOX_END]):
        message = inbox[number, MESSAGE]
        begun = network.messages[message].begun
        column = begun // state[SLOT_NS] % due.shape[1]
        due[inbox[number, CHANNEL], column] = step_time(network, begun) // state[SLOT_NS]
        release(network, message)
    state[INBOX_END] = 0
