"""Calls to a round, which are on the same links as the messages of rounds; compiled.

What follows from a call is decided by `netbandit.protocols.triggered_rounds.FloodedCall`: the loop stops for the first
one to a round that reaches an agent; all later ones have no effect.
"""

from netbandit.simulation.machine.hops import move_to, next_due, put_message, room
from netbandit.simulation.machine.primitives import release, write
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    END,
    HEARD_BEGUN,
    HEARD_OVER,
    INBOX_AT,
    MESSAGE,
    NEXT_STEP,
    STEP_TIME,
    Machine,
)
from netbandit.texts import text


@text
def hears_call(network: Machine, kind: int, node: int, at: int, end: int) -> bool:
    """Return whether *node* hears of a round for the first time by a call among what has just reached it.

    The loop is to stop then, and ask once more when it goes on; it gives calls back like other messages.

    Args:
        network: The network, and what is under way.
        kind: The kind of calls.
        node: The node.
        at: Where in the inbox what has reached it begins,
        end: and ends.
    """
    if len(network.called) == 0:
        return False
    state, inbox, messages = network.state, network.inbox, network.messages
    for number in range(at, end):
        message = inbox[number, MESSAGE]
        round = messages[message].round
        if messages[message].kind == kind and round > network.called[node]:
            network.called[node] = round
            state[HEARD_OVER] = inbox[number, CHANNEL]
            state[HEARD_BEGUN] = messages[message].begun
            state[NEXT_STEP] = min(state[NEXT_STEP], state[STEP_TIME])  # some may have been added since
            return True
    return False


@text
def without_calls(network: Machine, kind: int, at: int, end: int) -> int:
    """Give back the calls among what has just reached a node, all of them heard; return where in the inbox the rest is.

    Args:
        network: The network, and what is under way.
        kind: The kind of calls.
        at: Where in the inbox what has reached the node begins,
        end: and ends.
    """
    inbox = network.inbox
    if len(network.called) > 0:
        for number in range(at, end):
            message = inbox[number, MESSAGE]
            if network.messages[message].kind == kind:
                for place in range(number, at, -1):
                    inbox[place, CHANNEL] = inbox[place - 1, CHANNEL]
                    inbox[place, MESSAGE] = inbox[place - 1, MESSAGE]
                release(network, message)
                at += 1
        network.state[INBOX_AT] = at
    return at


@text
def call(network: Machine, node: int, told_by: int, kind: int, size: int, round: int, now: int) -> int:
    """Let *node* call all its neighbours but *told_by*, of whom it has heard of *round*, unless the horizon has come.

    Return when (ns) something is due next of all that is under way; below zero: nothing was sent for want of room, and
    why.
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
            if network.channels[channel].receiver != told_by:
                put_message(network, channel, message)
        release(network, message)
    return next_due(network)
