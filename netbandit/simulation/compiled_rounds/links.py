"""The links of a network as arrays, and what was counted on them written back."""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.network.link import Queue
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.calendar import enter, put_back
from netbandit.simulation.machine.execution import with_attributes
from netbandit.simulation.machine.rows import Machine
from netbandit.simulation.machine.sorting import STACK

_EVENTS = 1 << 14
_LEAST_ROOM = 1 << 10
_WIDEST_BITS = 30
_LINE = 64
_BITS = 63
"""Of an entry of `Machine.window`."""


def machine_of(network: Network, kinds: tuple[Kind, ...], step_columns: int = 3) -> Machine:
    """Return the peer links of *network*, over which nothing has been sent, as arrays; nothing goes wrong.

    Args:
        network: The network.
        kinds: The kinds of messages; they are numbers from here on.
        step_columns: How many numbers a step is.
    """
    clock = network.clock
    starts = np.zeros(network.agents + 1, dtype=np.int64)
    np.cumsum([len(near) for near in network.channels], out=starts[1:])
    leaving = [
        (one.receiver, one.sender, one.latency, place)
        for place, one in enumerate(channel for near in network.channels for channel in near)
    ]
    table = np.array(leaving, dtype=np.int64).reshape(-1, 4)
    order = np.lexsort((table[:, 1], table[:, 0]))
    table = table[order]
    out = np.empty(len(table), dtype=np.int64)
    out[table[:, 3]] = np.arange(len(table))
    channels = np.zeros(len(table), dtype=rows.CHANNEL_ROW)
    channels["receiver"], channels["sender"], channels["latency"] = table[:, :3].T
    channels["booked"] = channels["last"] = -1
    channels["link"] = _link_of(network, table[:, :2])
    channels["reverse"] = np.lexsort((table[:, 0], table[:, 1]))  # every link has both directions
    links = np.zeros(len(network.links), dtype=rows.LINK_ROW)
    links["latest"] = -1
    buckets = 1 << max(4, len(table)).bit_length()
    longest = int(table[:, 2].max(initial=0))
    state = np.zeros(rows.STATES + STACK, dtype=np.int64)
    state[rows.SLOT_NS] = clock.slot
    state[rows.END] = clock.end
    state[rows.BANDWIDTH] = network.peer_bandwidth or 0
    state[rows.WIDTH_BITS] = min((2 * longest // buckets).bit_length(), _WIDEST_BITS)
    state[rows.STEP_TIME] = rows.NEVER
    counts = np.zeros(len(kinds), dtype=rows.KIND_ROW)
    counts["code"] = [kind.code for kind in kinds]
    room = max(_LEAST_ROOM, 2 * len(table))
    machine = Machine(
        state=state,
        channels=channels,
        queues=np.zeros(len(channels) if network.peer_bandwidth else 0, dtype=rows.QUEUE_ROW),
        links=links,
        kinds=counts,
        starts=starts,
        out=out,
        messages=np.empty(0, dtype=rows.MESSAGE_ROW),
        entries=np.empty(0, dtype=rows.ENTRY_ROW),
        blocks=np.empty(0, dtype=rows.BLOCK_ROW),
        buckets=np.full(buckets, -1, dtype=np.int64),
        behind=np.empty(0, dtype=np.int32),
        window=np.empty(0, dtype=np.int64),
        due=np.empty((0, 3), dtype=np.int32),
        inbox=np.empty((room, 2), dtype=np.int64),
        events=np.empty((_EVENTS, 4), dtype=np.int64),
        steps=np.empty((room, step_columns), dtype=np.int64),
        order=np.empty(room, dtype=np.int64),
        booked=np.empty((max(_EVENTS, room) if network.peer_bandwidth else 0, 2), dtype=np.int64),
        called=np.empty(0, dtype=np.int64),
        faults=None,
    )
    machine.state[[rows.UNUSED_MESSAGE, rows.UNUSED_BLOCK]] = -1
    return more_blocks(more_messages(machine, room), room)


def more_messages(machine: Machine, more: int) -> Machine:
    """Return *machine* with room for so many messages more."""
    before = len(machine.messages)
    messages = with_unused_rows(machine.messages, more, machine.state, rows.UNUSED_MESSAGE, rows.MESSAGES_LEFT)
    messages["round"][before:] = -1
    return machine._replace(messages=messages)


def more_blocks(machine: Machine, more: int) -> Machine:
    """Return *machine* with so many more blocks for messages that are under way."""
    put_back(with_attributes(machine))
    machine.state[rows.WINDOW] -= 1  # that bucket is looked at next
    entries = extended_rows(machine.entries, more << rows.BLOCK_BITS)
    machine = machine._replace(
        entries=entries,
        blocks=with_unused_rows(machine.blocks, more, machine.state, rows.UNUSED_BLOCK, rows.BLOCKS_LEFT),
        behind=extended_rows(machine.behind, more << rows.BLOCK_BITS),
        due=extended_rows(machine.due, more << rows.BLOCK_BITS),
        window=np.empty(2 * len(entries), dtype=np.int64),
    )
    if machine.faults is not None:
        carried = extended_rows(machine.faults.carried, more << rows.BLOCK_BITS)
        machine = machine._replace(faults=machine.faults._replace(carried=carried))
    _fit_keys(machine)
    return machine


def _fit_keys(machine: Machine) -> None:
    """Divide the bits of an entry of the window, which is empty, between time, channel and entry."""
    state = machine.state
    assert state[rows.WINDOW_END] == 0
    state[rows.ROW_BITS] = len(machine.entries).bit_length()
    state[rows.KEY_BITS] = state[rows.ROW_BITS] + len(machine.channels).bit_length()
    narrowest = min(int(state[rows.WIDTH_BITS]), _BITS - int(state[rows.KEY_BITS]))
    if narrowest < state[rows.WIDTH_BITS]:
        _rebuild(machine, narrowest)


def _rebuild(machine: Machine, width: int) -> None:
    """Put all that is under way into buckets of 2^*width* ns; the window is empty."""
    state, entries, buckets = machine.state, machine.entries, machine.buckets
    waiting = []
    for first in buckets.tolist():
        while first >= 0:
            waiting.append(first)
            first = int(machine.behind[first])
    buckets[:] = -1
    state[rows.WINDOW] = int(state[rows.WINDOW]) << (int(state[rows.WIDTH_BITS]) - width)
    state[rows.WIDTH_BITS] = width
    state[rows.WAITING] = 0
    network = with_attributes(machine)
    for row in waiting:
        enter(network, int(machine.blocks["channel"][row >> rows.BLOCK_BITS]), row, int(entries["due"][row]))


def with_unused_rows(array: NDArray[Any], more: int, state: NDArray[np.int64], unused: int, left: int) -> NDArray[Any]:
    """Return *array* with so many more rows, all of them unused, of which *state* says the first and how many."""
    found = extended_rows(array, more)
    before = len(array)
    found["next"][before:] = np.arange(before + 1, before + more + 1)
    found["next"][-1] = state[unused]
    state[unused] = before
    state[left] += more
    return found


def extended_rows(array: NDArray[Any], more: int) -> NDArray[Any]:
    """Return *array* with so many more rows, which are not filled; it begins where a line of a cache does."""
    length = len(array) + more
    size = array.itemsize * prod(array.shape[1:])
    store = np.empty(length * size + _LINE, dtype=np.uint8)
    begin = -store.ctypes.data % _LINE
    found = store[begin : begin + length * size].view(array.dtype).reshape(length, *array.shape[1:])
    found[: len(array)].view(np.uint8)[:] = array.view(np.uint8)  # numpy would copy rows field by field
    return found


def doubled(array: NDArray[Any]) -> NDArray[Any]:
    """Return *array* with as many rows again, which are not filled."""
    return extended_rows(array, len(array))


def _link_of(network: Network, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the link of each channel, given its two ends."""
    links = np.array([sorted((link.first, link.second)) for link in network.links], dtype=np.int64).reshape(-1, 2)
    keys = links[:, 0] * network.agents + links[:, 1]
    order = np.argsort(keys)
    wanted = ends.min(axis=1, initial=network.agents) * network.agents + ends.max(axis=1, initial=0)
    found: NDArray[np.int64] = order[np.searchsorted(keys[order], wanted)]
    return found


def rows_of(channels: NDArray[Any], senders: NDArray[np.int64], receivers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row in `Machine.channels` of each channel, given its ends, between which there is one; shape (n,)."""
    nodes = max(channels["receiver"].max(initial=0), channels["sender"].max(initial=0)) + 1
    keys = channels["receiver"] * nodes + channels["sender"]  # ascending
    found: NDArray[np.int64] = np.searchsorted(keys, receivers * nodes + senders)
    return found


def write_back(machine: Machine, network: Network) -> None:
    """Write what channels and links have carried to those of *network*."""
    carried = machine.channels[machine.out]
    leaving = (channel for near in network.channels for channel in near)
    for channel, number, some, lost in zip(
        leaving, carried["messages"].tolist(), carried["bytes"].tolist(), carried["lost"].tolist(), strict=True
    ):
        channel.messages += number
        channel.bytes += some
        channel.lost += lost
    for link, activations in zip(network.links, machine.links["activations"].tolist(), strict=True):
        link.activations += activations
    if len(machine.queues):
        leaving = (channel for near in network.channels for channel in near)
        for channel, kept in zip(leaving, machine.queues[machine.out].tolist(), strict=True):
            channel.queue = Queue(*kept)
