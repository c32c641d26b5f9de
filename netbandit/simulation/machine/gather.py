"""The compiled loop of `vertical`: users come slot by slot, and their parts go up a tree to node 0.

When a user is served or goes away, and what becomes of its parts, is said by `netbandit.protocols.vertical.come` and
`netbandit.protocols.vertical.hear_part`; here is what these are written in. A user is its row of `Gather.users`.
"""

from typing import NamedTuple

from netbandit.network.primitives import Message
from netbandit.protocols.vertical import GONE, come, hear_part
from netbandit.simulation.machine.calendar import due_channel
from netbandit.simulation.machine.hops import advance, draw, room_for, send, take
from netbandit.simulation.machine.primitives import message_of, release
from netbandit.simulation.machine.rows import (
    ARRIVED,
    CHANNEL,
    DUE_AT,
    DUE_END,
    END,
    ENDED_ROUND,
    INBOX_AT,
    INBOX_END,
    MESSAGE,
    NEVER,
    NODE,
    NOW,
    SLOT,
    SLOT_NS,
    STEP,
    STEP_AT,
    STEP_LABELS,
    STEP_TIME,
    STEPS,
    STEPS_BEGUN,
    STEPS_FULL,
    Integers,
    Machine,
)
from netbandit.simulation.machine.steps import add_step, begin_steps, end_steps, step_time
from netbandit.texts import text

# Places in `Gather.state`. `BLOCK` is that of the latest decision; `HORIZON` and `BLOCK_SLOTS` are in slots;
# `WHOLE_PASS` is where a pass ends of which only the beginning is dealt with as yet, else 0; `PATIENCE` (ns) is 0 where
# users wait for ever; `OLDEST` and `NEWEST` are rows of `Gather.users`, or `NOBODY`;
# `ANOTHER_BLOCK` is whether the latest decision is of another block than the one before.
NEXT_USER, HORIZON, UNDER_WAY, OUTCOMES, BLOCK, BLOCK_SLOTS, IN_PASSES, WHOLE_PASS = range(8)
PATIENCE, LAST_DEADLINE, OLDEST, NEWEST, LATE, ANOTHER_BLOCK = range(8, 14)
STATES = 14

# Columns of `Gather.users`, of `Gather.outcomes` behind the user there, and of `Gather.senders`.
USER, MISSING, OLDER, NEWER = range(4)
USER_COLUMNS = 4
DECIDED_AT = 1
PART_CHANNEL, PART_SIZE = range(2)

WENT_AWAY = -1
NOBODY = -1


class Gather(NamedTuple):
    """Users under way, whose parts are not all at node 0; of these there are never more than the pipeline is long.

    Attributes:
        state: Numbers by the places above: when (ns) the next user comes, and how many are under way; whether all that
            reaches an instant is delivered before anybody deals with it; the deadline (ns) of the last who was served;
            how many parts came when their users had gone away.
        users: A row for each user that can be under way: its slot, or `NOBODY`, of how many senders node 0 has not the
            part, and the rows of those under way that came before and after it.
        unused: The rows of `users` that are not used: from the place on that is the number of users under way.
        senders: A row a sender: the channel on which it puts its part, and the bytes of that.
        up: The channel on which each node passes parts on, shape (n,).
        outcomes: What has become of users: the slot of each, and when (ns) it was decided for, or `WENT_AWAY`.
    """

    state: Integers
    users: Integers
    unused: Integers
    senders: Integers
    up: Integers
    outcomes: Integers


@text
def _note(gather: Gather, user: int, decided_at: int) -> None:
    place = gather.state[OUTCOMES]
    gather.outcomes[place, USER] = user
    gather.outcomes[place, DECIDED_AT] = decided_at
    gather.state[OUTCOMES] = place + 1


@text
def _add(gather: Gather, user: int) -> int:
    """Let a *user* be under way; return its row."""
    state, users = gather.state, gather.users
    place = gather.unused[state[UNDER_WAY]]
    state[UNDER_WAY] += 1
    users[place, USER] = user
    users[place, MISSING] = len(gather.senders)
    users[place, OLDER] = state[NEWEST]
    users[place, NEWER] = NOBODY
    if state[NEWEST] == NOBODY:
        state[OLDEST] = place
    else:
        users[state[NEWEST], NEWER] = place
    state[NEWEST] = place
    return int(place)


@text
def _leave(gather: Gather, place: int) -> int:
    """Let the user of a row be under way no more; return who it was."""
    state, users = gather.state, gather.users
    user, older, newer = users[place, USER], users[place, OLDER], users[place, NEWER]
    if older == NOBODY:
        state[OLDEST] = newer
    else:
        users[older, NEWER] = newer
    if newer == NOBODY:
        state[NEWEST] = older
    else:
        users[newer, OLDER] = older
    users[place, USER] = NOBODY
    state[UNDER_WAY] -= 1
    gather.unused[state[UNDER_WAY]] = place
    return int(user)


@text
def _next_deadline(network: Machine, gather: Gather) -> int:
    """Return when (ns) somebody next goes away, or would if it were not decided for before; `NEVER`: nobody does."""
    state = gather.state
    if state[PATIENCE] == 0:
        return NEVER
    if state[OLDEST] == NOBODY:
        return int(state[LAST_DEADLINE])
    return int(gather.users[state[OLDEST], USER] * network.state[SLOT_NS] + state[PATIENCE])


@text
def _pass_deadline(network: Machine, gather: Gather) -> None:
    """Let the user go away whose deadline is now, if it is still under way and the horizon has not come."""
    state = gather.state
    if network.state[NOW] >= network.state[END]:
        state[PATIENCE] = 0
    elif state[OLDEST] == NOBODY:
        state[LAST_DEADLINE] = NEVER
    else:
        go_away(gather, _leave(gather, state[OLDEST]))


@text
def _can_come(network: Machine, gather: Gather) -> int:
    """Return why there is no room for the parts of a user, or for what becomes of it; or `ARRIVED`: there is."""
    why: int = room_for(network, len(gather.senders))
    if why != ARRIVED:
        return why
    for sender in range(len(gather.senders)):
        why = draw(network, network.channels[gather.senders[sender, PART_CHANNEL]].sender, 1)
        if why != ARRIVED:
            return why
    return ENDED_ROUND if gather.state[OUTCOMES] == len(gather.outcomes) else ARRIVED


@text
def _come(network: Machine, gather: Gather) -> None:
    """Let the user of this slot come, which it can."""
    slot = network.state[SLOT]
    come(network, gather, slot)
    gather.state[NEXT_USER] = (slot + 1) * network.state[SLOT_NS] if slot + 1 < gather.state[HORIZON] else NEVER


@text
def has_room(own: Gather) -> bool:
    return own.state[UNDER_WAY] < len(own.users)  # type: ignore[no-any-return]


@text
def serve(network: Machine, own: Gather, slot: int) -> int:
    now = network.state[NOW]
    place = _add(own, slot)
    own.state[LAST_DEADLINE] = now + own.state[PATIENCE]
    for sender in range(len(own.senders)):
        size = own.senders[sender, PART_SIZE]
        send(network, own.senders[sender, PART_CHANNEL], 0, size, place, now, slot, 0)
    return place


@text
def go_away(own: Gather, slot: int) -> None:
    _note(own, slot, WENT_AWAY)


@text
def missing_of(own: Gather, user: int) -> int:
    return own.users[user, MISSING]  # type: ignore[no-any-return]


@text
def need_less(own: Gather, user: int) -> int:
    own.users[user, MISSING] -= 1
    return own.users[user, MISSING]  # type: ignore[no-any-return]


@text
def decide(network: Machine, own: Gather, user: int) -> None:
    slot = _leave(own, user)
    _note(own, slot, network.state[NOW])
    block = slot // own.state[BLOCK_SLOTS]
    if block != own.state[BLOCK]:
        own.state[BLOCK] = block
        own.state[ANOTHER_BLOCK] = 1


@text
def pass_on(network: Machine, own: Gather, node: int, part: Message) -> None:
    now = network.state[NOW]
    if now < network.state[END]:
        row = message_of(network, part)
        send(network, own.up[node], 0, row.size, row.round, now, row.labels, 0)


@text
def user_of(network: Machine, own: Gather, part: Message) -> int:
    row = message_of(network, part)
    return row.round if own.users[row.round, USER] == row.labels else GONE


@text
def count_late(own: Gather) -> None:
    own.state[LATE] += 1


@text
def _can_handle(network: Machine, gather: Gather, node: int) -> int:
    """Return why *node* cannot deal with a part, or `ARRIVED`: it can."""
    why: int = room_for(network, 1)
    if why == ARRIVED:
        why = draw(network, node, 1)
    if why != ARRIVED:
        return why
    return ENDED_ROUND if gather.state[OUTCOMES] == len(gather.outcomes) else ARRIVED


@text
def _handle(network: Machine, gather: Gather, node: int, message: int) -> bool:
    """Let *node* hear a part, which it can; return whether somebody of another block was decided for."""
    hear_part(network, gather, node, message)
    release(network, message)
    another = gather.state[ANOTHER_BLOCK] == 1
    gather.state[ANOTHER_BLOCK] = 0
    return bool(another)


@text
def _to_node_0_first(network: Machine, gather: Gather) -> None:
    """Let a pass end behind what reaches node 0, if anything does: it decides before anything reaches other nodes."""
    state = network.state
    end = state[DUE_AT]
    while end < state[DUE_END] and network.channels[due_channel(network, end)].receiver == 0:
        end += 1
    if state[DUE_AT] < end < state[DUE_END]:
        gather.state[WHOLE_PASS] = state[DUE_END]
        state[DUE_END] = end


@text
def play(network: Machine, gather: Gather, arrivals_until: int, steps_until: int, slotted: bool) -> int:
    """Let users come, and their parts go up, until decisions are to be looked at; return why it stopped.

    Args:
        network: The network, and what is under way.
        gather: The users.
        arrivals_until: See `advance`.
        steps_until: See `advance`.
        slotted: Whether what arrives takes effect at a slot boundary; the second column of a step is a message.
    """
    state, channels, inbox, steps = network.state, network.channels, network.inbox, network.steps
    why: int
    while True:
        if state[DUE_AT] < state[DUE_END]:
            why = take(network)
            if why != ARRIVED:
                return why
        while state[INBOX_AT] < state[INBOX_END]:
            at = state[INBOX_AT]
            node, message = channels[inbox[at, CHANNEL]].receiver, inbox[at, MESSAGE]
            if slotted:
                if state[STEPS] == len(steps):
                    return STEPS_FULL
                add_step(network, step_time(network, network.messages[message].begun), node, message, 0)
                state[INBOX_AT] = at + 1
                continue
            why = _can_handle(network, gather, node)
            if why != ARRIVED:
                return why
            state[INBOX_AT] = at + 1
            if _handle(network, gather, node, message):
                return ENDED_ROUND
        if gather.state[WHOLE_PASS] > 0:
            state[DUE_END] = gather.state[WHOLE_PASS]
            gather.state[WHOLE_PASS] = 0
            continue
        if not state[STEPS_BEGUN]:
            deadline = _next_deadline(network, gather)
            step = min(state[STEP_TIME], deadline, gather.state[NEXT_USER])
            why = advance(network, arrivals_until, steps_until, step)
            if why == ARRIVED:
                if not gather.state[IN_PASSES]:
                    _to_node_0_first(network, gather)
                continue
            if why != STEP:
                return ENDED_ROUND if gather.state[OUTCOMES] > 0 else why
            if state[STEP_TIME] > state[NOW] and deadline <= state[NOW]:
                if gather.state[OUTCOMES] == len(gather.outcomes):
                    return ENDED_ROUND
                _pass_deadline(network, gather)
                continue
            if state[STEP_TIME] > state[NOW]:
                why = _can_come(network, gather)
                if why != ARRIVED:
                    return why
                _come(network, gather)
                continue
            begin_steps(network)
        while state[STEP_AT] < state[STEPS]:
            place = network.order[state[STEP_AT]]
            node, message = steps[place, NODE], steps[place, STEP_LABELS]
            why = _can_handle(network, gather, node)
            if why != ARRIVED:
                return why
            state[STEP_AT] += 1
            if _handle(network, gather, node, message):
                return ENDED_ROUND
        end_steps(network)
