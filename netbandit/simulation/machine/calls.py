"""Calls to a round, which are on the same links as the messages of rounds; compiled.

What follows from a call is decided by `netbandit.protocols.triggered_rounds.FloodedCall`, for which the loop stops: for
the first one to a round that reaches an agent; where agents fail, for all but those that have no effect.
"""

from netbandit.network.hop import NODES_FAIL
from netbandit.simulation.machine.hops import move_to, next_due, put_message, room
from netbandit.simulation.machine.primitives import release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    END,
    HEARD_BEGUN,
    HEARD_OVER,
    HEARD_ROUND,
    INBOX_AT,
    MESSAGE,
    NEXT_STEP,
    STEP_TIME,
    Machine,
)
from netbandit.texts import text


@text
def hears_call(network: Machine, kind: int, node: int, end: int) -> bool:
    """Give back the calls among what has just reached *node*, up to one that has an effect; return whether any has.

    The loop is to stop then, and to ask once more when it goes on. Where nodes fail, who hears a call to an old round
    answers it, and who is to act on a call at a boundary may have forgotten it by then: only what has been acted on has
    no effect.

    Args:
        network: The network, and what is under way.
        kind: The kind of calls.
        node: The node.
        end: Where in the inbox what has reached it ends; the rest of it begins at `INBOX_AT`.
    """
    if len(network.called) == 0:
        return False
    state, inbox, messages = network.state, network.inbox, network.messages
    for number in range(state[INBOX_AT], end):
        channel = inbox[number, CHANNEL]
        message = inbox[number, MESSAGE]
        if messages[message].kind == kind:
            round = messages[message].round
            begun = messages[message].begun
            for place in range(number, state[INBOX_AT], -1):
                inbox[place, CHANNEL] = inbox[place - 1, CHANNEL]
                inbox[place, MESSAGE] = inbox[place - 1, MESSAGE]
            state[INBOX_AT] += 1
            release(network, message)
            if round > network.called[node] or (NODES_FAIL and round < network.called[node]):
                if not NODES_FAIL:
                    network.called[node] = round
                state[HEARD_OVER] = channel
                state[HEARD_BEGUN] = begun
                state[HEARD_ROUND] = round
                state[NEXT_STEP] = min(state[NEXT_STEP], state[STEP_TIME])  # some may have been added since
                return True
    return False


@text
def call(network: Machine, node: int, told_by: int, answer: bool, kind: int, size: int, round: int, now: int) -> int:
    """Let *node* call its neighbours to *round*, unless the horizon has come.

    That is all but *told_by*, of whom it has heard of the round; as an *answer* to a call, this neighbour alone. Return
    when (ns) something is due next of all that is under way; below zero: nothing was sent for want of room, and why.
    """
    move_to(network, now)
    first, last = network.starts[node], network.starts[node + 1]
    why: int = room(network, node, last - first, 1)
    if why != ARRIVED:
        return -why
    network.called[node] = max(network.called[node], round)
    if now < network.state[END]:
        message = write(network, kind, size, round, now, 0, 0)
        for place in range(first, last):
            channel = network.out[place]
            if (network.channels[channel].receiver == told_by) == answer:
                put_message(network, channel, message)
        release(network, message)
    return next_due(network)
