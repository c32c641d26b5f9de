"""Messages on all links at once, at the beginning of a slot, of which nobody asks but when they take effect."""

from netbandit.simulation.machine.hops import advance, draw, move_to, put_message, room_for, take
from netbandit.simulation.machine.primitives import release, write
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
def put_all(network: Machine, sizes: Integers, time: int) -> int:
    """Put a message on each channel at a *time* (ns), up to which all that arrives has; return why not, or `ARRIVED`.

    Args:
        network: The network.
        sizes: The bytes of each message, shape (channels,); 0: there is none.
        time: See above.
    """
    move_to(network, time)
    why: int = room_for(network, len(sizes))
    for node in range(len(network.starts) - 1):
        if why == ARRIVED:
            why = draw(network, node, 1)
    if why == ARRIVED:
        message = write(network, 0, 0, 0, time, 0, 0)
        for channel in range(len(sizes)):
            if sizes[channel] > 0:
                if sizes[channel] != network.messages[message].size:  # what is alike is written once
                    release(network, message)
                    message = write(network, 0, sizes[channel], 0, time, 0, 0)
                put_message(network, channel, message)
        release(network, message)
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
    begun, column, boundary = -1, 0, 0
    for number in range(state[INBOX_END]):
        message = inbox[number, MESSAGE]
        if network.messages[message].begun != begun:
            begun = network.messages[message].begun
            column = begun // state[SLOT_NS] % due.shape[1]
            boundary = step_time(network, begun) // state[SLOT_NS]
        due[inbox[number, CHANNEL], column] = boundary
        release(network, message)
    state[INBOX_END] = 0
