"""The calendar of what arrives: buckets of time, of which the present one is sorted.

Entries of one instant come out by channel, and on a channel in the order of sending. What is put on a channel and does
not arrive before what was put on it before waits behind that, so that the calendar grows with the channels in use.

Source:
    R. Brown, Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem,
    Communications of the ACM 31(10), 1988.
"""

import numpy as np

from netbandit.network.primitives import Network
from netbandit.simulation.machine.fetching import fetch
from netbandit.simulation.machine.free_rows import give_back, take_row
from netbandit.simulation.machine.rows import (
    BLOCK_BITS,
    BLOCKS_LEFT,
    CHANNEL,
    DUE_AT,
    DUE_END,
    ENTRY,
    FAULTY,
    KEY_BITS,
    MESSAGE,
    NEVER,
    NOW,
    ROW_BITS,
    SERIAL,
    STATES,
    UNUSED_BLOCK,
    WAITING,
    WIDTH_BITS,
    WINDOW,
    WINDOW_AT,
    WINDOW_END,
    WINDOW_SORTED,
)
from netbandit.simulation.machine.sorting import insert, sort
from netbandit.texts import text

_IN_BLOCK = (1 << BLOCK_BITS) - 1
_FEW = 16
"""So many entries of the window are sorted by insertion."""


@text
def expect(network: Network, channel: int, message: int, arrival: int) -> int:
    """Have something come out when it arrives (ns) on a channel; return its entry, for which there is room."""
    channel_row = network.channels[channel]
    row = np.int64(channel_row.unused)
    if row & _IN_BLOCK == 0:
        row = np.int64(begin_block(network, channel))
    channel_row.unused = row + 1
    entry = network.entries[row]
    entry.due = arrival
    entry.message = message
    entry.following = -1
    if FAULTY:
        network.state[SERIAL] += 1
        network.faults.carried[row].serial = network.state[SERIAL]
    before = channel_row.last
    channel_row.last = row
    follows = before >= 0 and channel_row.last_due <= arrival
    channel_row.last_due = arrival
    if follows:
        network.entries[before].following = row
    else:
        enter(network, channel, row, arrival)  # type: ignore[arg-type]
    return row  # type: ignore[return-value]


@text
def begin_block(network: Network, channel: int) -> int:
    """Return the first entry of an unused block, which there is, and from now on is of a channel."""
    block = take_row(network.blocks, network.state, UNUSED_BLOCK, BLOCKS_LEFT)
    network.blocks[block].channel = channel
    if FAULTY:
        network.blocks[block].left = _IN_BLOCK + 1
    return block << BLOCK_BITS  # type: ignore[no-any-return]


@text
def enter(network: Network, channel: int, row: int, arrival: int) -> None:
    """Put an entry into its bucket, or into the window."""
    state = network.state
    bucket = arrival >> state[WIDTH_BITS]
    if bucket < state[WINDOW]:
        put_back(network)
        state[WINDOW] = bucket
    if bucket == state[WINDOW]:
        within = arrival - (bucket << state[WIDTH_BITS])
        network.window[state[WINDOW_END]] = (within << state[KEY_BITS]) | (channel << state[ROW_BITS]) | row
        state[WINDOW_END] += 1
    else:
        place = bucket & (len(network.buckets) - 1)
        network.behind[row] = network.buckets[place]
        network.buckets[place] = row
        state[WAITING] += 1


@text
def put_back(network: Network) -> None:
    """Put what is in the window back into its bucket: something comes before it."""
    state = network.state
    place = state[WINDOW] & (len(network.buckets) - 1)
    mask = (1 << state[ROW_BITS]) - 1
    for at in range(state[WINDOW_AT], state[WINDOW_END]):
        row = network.window[at] & mask
        network.behind[row] = network.buckets[place]
        network.buckets[place] = row
        state[WAITING] += 1
    state[WINDOW_AT] = 0
    state[WINDOW_SORTED] = 0
    state[WINDOW_END] = 0


@text
def load(network: Network, bucket: int) -> None:
    """Move what is due in *bucket*, not laps later, to the window, which is empty."""
    state = network.state
    place = bucket & (len(network.buckets) - 1)
    row = network.buckets[place]
    kept = -1
    end = 0
    while row >= 0:
        following = network.behind[row]
        entry = network.entries[row]
        fetch(network.messages, entry.message)
        fetch(network.entries, entry.following)
        due = entry.due
        if due >> state[WIDTH_BITS] == bucket:
            within = due - (bucket << state[WIDTH_BITS])
            channel = np.int64(network.blocks[row >> BLOCK_BITS].channel)
            network.window[end] = (within << state[KEY_BITS]) | (channel << state[ROW_BITS]) | row
            end += 1
        else:
            network.behind[row] = kept
            kept = row
        row = np.int64(following)
    network.buckets[place] = kept
    state[WAITING] -= end
    state[WINDOW_END] = end


@text
def earliest_bucket(network: Network) -> int:
    """Return the bucket of time in which the first entry is due, however far away."""
    earliest = NEVER
    for place in range(len(network.buckets)):
        row = network.buckets[place]
        while row >= 0:
            earliest = min(earliest, network.entries[row].due)
            row = np.int64(network.behind[row])
    return earliest >> network.state[WIDTH_BITS]  # type: ignore[no-any-return]


@text
def first_arrival(network: Network) -> int:
    """Return when (ns) the next entry is due, and have it first in the window; `NEVER`: there is none."""
    state = network.state
    if state[WINDOW_AT] == state[WINDOW_END]:
        state[WINDOW_AT] = 0
        state[WINDOW_SORTED] = 0
        state[WINDOW_END] = 0
        if state[WAITING] == 0:
            return NEVER
        bucket = state[WINDOW]
        looked = 0
        while state[WINDOW_END] == 0:
            bucket += 1
            looked += 1
            if looked > len(network.buckets):
                bucket = earliest_bucket(network)
            if network.buckets[bucket & (len(network.buckets) - 1)] >= 0:
                load(network, bucket)
        state[WINDOW] = bucket
    elif state[WINDOW_END] + len(network.entries) > len(network.window):  # let go of what has come out
        at = state[WINDOW_AT]
        for place in range(at, state[WINDOW_END]):
            network.window[place - at] = network.window[place]
        state[WINDOW_SORTED] = max(0, state[WINDOW_SORTED] - at)
        state[WINDOW_AT] = 0
        state[WINDOW_END] -= at
    if state[WINDOW_SORTED] < state[WINDOW_END]:
        begin = max(state[WINDOW_SORTED], state[WINDOW_AT])
        if state[WINDOW_END] - begin > _FEW:
            sort(network.window, state[WINDOW_AT], state[WINDOW_END], state, STATES)
        else:
            insert(network.window, state[WINDOW_AT], begin, state[WINDOW_END])
        state[WINDOW_SORTED] = state[WINDOW_END]
    within = network.window[state[WINDOW_AT]] >> state[KEY_BITS]
    return (state[WINDOW] << state[WIDTH_BITS]) + within  # type: ignore[no-any-return]


@text
def begin_pass(network: Network) -> None:
    """Have all that arrives now come out of the window, which is sorted."""
    state, window, due, now = network.state, network.window, network.due, network.state[NOW]
    in_row = (1 << state[ROW_BITS]) - 1
    in_channel = (1 << (state[KEY_BITS] - state[ROW_BITS])) - 1
    at = state[WINDOW_AT]
    time = window[at] >> state[KEY_BITS]
    end = 0
    while at < state[WINDOW_END] and window[at] >> state[KEY_BITS] == time:
        # Where nothing can go wrong nothing overtakes: a channel has one entry in the window.
        if FAULTY and at + 1 < state[WINDOW_END] and window[at] >> state[ROW_BITS] == window[at + 1] >> state[ROW_BITS]:
            sort_by_serial(network, at)
        row = window[at] & in_row
        channel = (window[at] >> state[ROW_BITS]) & in_channel
        while row >= 0 and network.entries[row].due == now:
            due[end, CHANNEL] = channel
            due[end, MESSAGE] = network.entries[row].message
            due[end, ENTRY] = row
            end += 1
            fetch(network.entries, network.entries[row | _IN_BLOCK].following)
            row = np.int64(network.entries[row].following)
        if row >= 0:
            enter(network, channel, row, network.entries[row].due)
        elif network.channels[channel].last == due[end - 1, ENTRY]:
            network.channels[channel].last = -1
        at += 1
    state[WINDOW_AT] = at
    state[DUE_AT] = 0
    state[DUE_END] = end


@text
def sort_by_serial(network: Network, first: int) -> None:
    """Sort what arrives on the channel of the entry at a place of the window, at the same instant."""
    window, carried = network.window, network.faults.carried
    mask = (1 << network.state[ROW_BITS]) - 1
    at = first + 1
    while at < network.state[WINDOW_END] and (window[at] & ~mask) == (window[first] & ~mask):
        later = window[at]
        place = at
        while place > first and carried[window[place - 1] & mask].serial > carried[later & mask].serial:
            window[place] = window[place - 1]
            place -= 1
        window[place] = later
        at += 1


@text
def end_entry(network: Network, row: int) -> None:
    """Note that an entry has arrived; if all of its block have, that is used again."""
    block = row >> BLOCK_BITS
    is_last = row & _IN_BLOCK == _IN_BLOCK  # where nothing overtakes
    if FAULTY:
        network.blocks[block].left -= 1
        is_last = network.blocks[block].left == 0
    if is_last:
        give_back(network.blocks, network.state, UNUSED_BLOCK, BLOCKS_LEFT, block)


@text
def due_channel(network: Network, place: int) -> int:
    """Return the channel of what is at a *place* of this pass."""
    return np.int64(network.due[place, CHANNEL])  # type: ignore[return-value]


@text
def due_row(network: Network, place: int) -> int:
    """Return the entry that is at a *place* of this pass."""
    return np.int64(network.due[place, ENTRY])  # type: ignore[return-value]
