"""Calls to a round, which are on the same links as the messages of rounds; compiled.

What follows from a call is decided by `netbandit.protocols.triggered_rounds.FloodedCall`: the loop stops for the first
one to a round that reaches an agent; all later ones have no effect.
"""

from netbandit.simulation.kernels.compiled import compiled, inlined
from netbandit.simulation.kernels.message_rows import BEGUN, KIND, ROUND
from netbandit.simulation.kernels.queues import Queues, put, release, room
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    CHANNEL,
    END,
    HEARD_BEGUN,
    HEARD_OVER,
    INBOX_AT,
    MESSAGE,
    NEVER,
    NEXT_STEP,
    RECEIVER,
    STEP_TIME,
    Traffic,
    move_to,
)

_HANDLED = -1
"""No round has this number."""


@inlined
def hears_call(traffic: Traffic, queues: Queues, kind: int, node: int, at: int, end: int) -> bool:
    """Return whether *node* hears of a round for the first time by a call among what has just reached it.

    The loop is to stop then, and ask once more when it goes on; calls are to be left to it to give back, as messages of
    no round.

    Args:
        traffic: The links.
        queues: What is under way on them.
        kind: The kind of calls.
        node: The node.
        at: Where in the inbox what has reached it begins,
        end: and ends.
    """
    if len(queues.called) == 0:
        return False
    state, inbox, messages = traffic.state, traffic.inbox, queues.messages
    for number in range(at, end):
        message = inbox[number, MESSAGE]
        round = messages[message, ROUND]
        if messages[message, KIND] == kind and round != _HANDLED:
            messages[message, ROUND] = _HANDLED
            if round > queues.called[node]:
                queues.called[node] = round
                state[HEARD_OVER] = inbox[number, CHANNEL]
                state[HEARD_BEGUN] = messages[message, BEGUN]
                state[NEXT_STEP] = min(state[NEXT_STEP], state[STEP_TIME])  # some may have been added since
                return True
    return False


@inlined
def without_calls(traffic: Traffic, queues: Queues, at: int, end: int) -> int:
    """Give back the calls among what has just reached a node, all of them heard; return where in the inbox the rest is.

    Args:
        traffic: The links.
        queues: What is under way on them.
        at: Where in the inbox what has reached the node begins,
        end: and ends.
    """
    inbox = traffic.inbox
    if len(queues.called) > 0:
        for number in range(at, end):
            message = inbox[number, MESSAGE]
            if queues.messages[message, ROUND] == _HANDLED:
                for place in range(number, at, -1):
                    inbox[place, CHANNEL] = inbox[place - 1, CHANNEL]
                    inbox[place, MESSAGE] = inbox[place - 1, MESSAGE]
                release(queues, message)
                at += 1
        traffic.state[INBOX_AT] = at
    return at


@compiled
def call(traffic: Traffic, queues: Queues, node: int, told_by: int, kind: int, size: int, round: int, now: int) -> int:
    """Let *node* call all its neighbours but *told_by*, of whom it has heard of *round*, unless the horizon has come.

    Return when (ns) something is first due of that; below zero: nothing was sent for want of room, and why.
    """
    move_to(traffic.state, now)
    first, last = traffic.starts[node], traffic.starts[node + 1]
    why: int = room(traffic, queues, node, last - first, 1)
    if why != ARRIVED:
        return -why
    queues.called[node] = max(queues.called[node], round)
    soonest = NEVER
    if now < traffic.state[END]:
        for place in range(first, last):
            channel = traffic.out[place]
            if traffic.channels[channel, RECEIVER] != told_by:
                soonest = min(soonest, put(traffic, queues, channel, kind, size, round, now, 0, 0))
    return soonest
