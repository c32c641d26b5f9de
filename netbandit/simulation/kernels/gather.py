"""The compiled loop of `vertical`: users come slot by slot, and their parts go up a tree to node 0."""

from typing import NamedTuple

from netbandit.simulation.kernels.compiled import compiled, inlined
from netbandit.simulation.kernels.message_rows import BEGUN, LABELS, ROUND, SIZE
from netbandit.simulation.kernels.queues import Queues, put, release, room_for, take
from netbandit.simulation.kernels.traffic import (
    ARRIVED,
    CHANNEL,
    CHANNEL_MASK,
    END,
    ENDED_ROUND,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NEVER,
    NODE,
    NOW,
    PASS_END,
    RECEIVER,
    SLOT,
    SLOT_NS,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    WINDOW_AT,
    Integers,
    Traffic,
    add_step,
    advance,
    begin_steps,
    end_steps,
    step_time,
)

# Places in `Gather.state`. `BLOCK` is that of the latest decision; `HORIZON` and `BLOCK_SLOTS` are in slots.
NEXT_USER, HORIZON, PIPELINE, SERVED, DECIDED, OUTCOMES, BLOCK, BLOCK_SLOTS, IN_PASSES = range(9)
STATES = 9

# Columns of `Gather.outcomes` and `Gather.senders`.
USER, DECIDED_AT = range(2)
PART_CHANNEL, PART_SIZE = range(2)

WENT_AWAY = -1


class Gather(NamedTuple):
    """Users under way, whose parts are not all at node 0; of these there are never more than the pipeline is long.

    Attributes:
        state: Numbers by the places above: when (ns) the next user comes, how many were served, and how many of these
            were decided for, which happens in the order in which they came; whether an answer may arrive at the very
            instant of what it answers.
        missing: Of how many senders node 0 has not the part, for each user under way: served as number u, at place u
            modulo its length.
        senders: A row a sender: the channel on which it puts its part, and the bytes of that.
        up: The channel on which each node passes parts on, shape (n,).
        outcomes: What has become of users: the slot of each, and when (ns) it was decided for, or `WENT_AWAY`.
    """

    state: Integers
    missing: Integers
    senders: Integers
    up: Integers
    outcomes: Integers


@inlined
def _note(gather: Gather, user: int, decided_at: int) -> None:
    place = gather.state[OUTCOMES]
    gather.outcomes[place, USER] = user
    gather.outcomes[place, DECIDED_AT] = decided_at
    gather.state[OUTCOMES] = place + 1


@inlined
def _come(traffic: Traffic, queues: Queues, gather: Gather) -> None:
    """Let the user of this slot come; there are rows for its parts, and for what becomes of it."""
    state = gather.state
    user, now = traffic.state[SLOT], traffic.state[NOW]
    if state[SERVED] - state[DECIDED] < state[PIPELINE]:
        place = state[SERVED] % len(gather.missing)
        gather.missing[place] = len(gather.senders)
        for sender in range(len(gather.senders)):
            size = gather.senders[sender, PART_SIZE]
            put(traffic, queues, gather.senders[sender, PART_CHANNEL], 0, size, place, now, user, 0)
        state[SERVED] += 1
    else:
        _note(gather, user, WENT_AWAY)
    state[NEXT_USER] = (user + 1) * traffic.state[SLOT_NS] if user + 1 < state[HORIZON] else NEVER


@inlined
def _handle(traffic: Traffic, queues: Queues, gather: Gather, node: int, message: int) -> bool:
    """Let *node* pass a part on, or node 0 keep it; return whether somebody of another block was decided for."""
    messages, state, now = queues.messages, gather.state, traffic.state[NOW]
    place, size, user = messages[message, ROUND], messages[message, SIZE], messages[message, LABELS]
    release(queues, message)
    if node > 0:
        if now < traffic.state[END]:
            put(traffic, queues, gather.up[node], 0, size, place, now, user, 0)
        return False
    gather.missing[place] -= 1
    if gather.missing[place] > 0:
        return False
    state[DECIDED] += 1
    _note(gather, user, now)
    block = user // state[BLOCK_SLOTS]
    another = block != state[BLOCK]
    state[BLOCK] = block
    return bool(another)


@inlined
def _to_node_0_first(traffic: Traffic) -> None:
    """Let a pass end behind what reaches node 0, if anything does: it decides before anything reaches other nodes."""
    state = traffic.state
    end = state[WINDOW_AT]
    while end < state[PASS_END] and traffic.channels[traffic.window[end] & CHANNEL_MASK, RECEIVER] == 0:
        end += 1
    if end > state[WINDOW_AT]:
        state[PASS_END] = end


@compiled
def play(traffic: Traffic, queues: Queues, gather: Gather, slotted: bool) -> int:
    """Let users come, and their parts go up, until decisions are to be looked at; return why it stopped.

    Nothing outside is ever due.

    Args:
        traffic: The links.
        queues: What is under way on them.
        gather: The users.
        slotted: Whether what arrives takes effect at a slot boundary; the second column of a step is a message.
    """
    state, channels, inbox, steps = traffic.state, traffic.channels, traffic.inbox, traffic.steps
    why: int
    while True:
        if state[WINDOW_AT] < state[PASS_END]:
            why = take(traffic, queues)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at = state[INBOX_AT]
            node, message = channels[inbox[at, CHANNEL], RECEIVER], inbox[at, MESSAGE]
            if slotted:
                if state[STEPS] == len(steps):
                    return STEPS_FULL
                add_step(traffic, step_time(traffic, queues.messages[message, BEGUN]), node, message, 0)
                state[INBOX_AT] = at + 1
                continue
            why = room_for(traffic, queues, 1)
            if why != ARRIVED:
                return why
            if gather.state[OUTCOMES] == len(gather.outcomes):
                return ENDED_ROUND
            state[INBOX_AT] = at + 1
            if _handle(traffic, queues, gather, node, message):
                return ENDED_ROUND
        if not state[STEPS_BEGUN]:
            why = advance(traffic, NEVER, NEVER, min(state[STEP_TIME], gather.state[NEXT_USER]))
            if why == ARRIVED:
                if not gather.state[IN_PASSES]:
                    _to_node_0_first(traffic)
                continue
            if why != STEP:
                return ENDED_ROUND if gather.state[OUTCOMES] > 0 else why
            if state[STEP_TIME] > state[NOW]:
                why = room_for(traffic, queues, len(gather.senders))
                if why != ARRIVED:
                    return why
                if gather.state[OUTCOMES] == len(gather.outcomes):
                    return ENDED_ROUND
                _come(traffic, queues, gather)
                continue
            begin_steps(traffic)
        while state[STEP_AT] < state[STEPS]:
            place = traffic.order[state[STEP_AT]]
            why = room_for(traffic, queues, 1)
            if why != ARRIVED:
                return why
            if gather.state[OUTCOMES] == len(gather.outcomes):
                return ENDED_ROUND
            state[STEP_AT] += 1
            if _handle(traffic, queues, gather, steps[place, NODE], steps[place, STEP_LABELS]):
                return ENDED_ROUND
        end_steps(traffic)
