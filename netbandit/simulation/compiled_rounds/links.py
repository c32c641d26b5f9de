"""The links of a network as arrays, and what was counted on them written back."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.simulation.kernels import traffic as columns
from netbandit.simulation.kernels.sorting import STACK
from netbandit.simulation.kernels.traffic import Traffic

_EVENTS = 1 << 14
_LEAST_ROOM = 1 << 10
_WIDEST_BITS = 30


def traffic_of(network: Network, kinds: tuple[Kind, ...]) -> Traffic:
    """Return the peer links of *network*, over which nothing has been sent, as arrays.

    Args:
        network: The network.
        kinds: The kinds of messages; they are numbers from here on.
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
    channels = np.zeros((len(table), columns.CHANNEL_COLUMNS), dtype=np.int64)
    channels[:, columns.RECEIVER] = table[:, 0]
    channels[:, columns.SENDER] = table[:, 1]
    channels[:, columns.LATENCY] = table[:, 2]
    channels[:, columns.FIRST] = -1
    channels[:, columns.BOOKED] = -1
    channels[:, columns.LINK] = _link_of(network, table[:, :2])
    channels[:, columns.REVERSE] = np.lexsort((table[:, 0], table[:, 1]))  # every link has both directions
    buckets = 1 << max(4, len(table)).bit_length()
    longest = int(table[:, 2].max(initial=0))
    state = np.zeros(columns.STATES + STACK, dtype=np.int64)
    state[columns.SLOT_NS] = clock.slot
    state[columns.END] = clock.end
    state[columns.BANDWIDTH] = network.peer_bandwidth or 0
    state[columns.WIDTH_BITS] = min((2 * longest // buckets).bit_length(), _WIDEST_BITS)
    state[columns.STEP_TIME] = columns.NEVER
    counts = np.zeros((len(kinds), 3), dtype=np.int64)
    counts[:, columns.CODE] = [kind.code for kind in kinds]
    rows = max(_LEAST_ROOM, 2 * len(table))
    return Traffic(
        state=state,
        channels=channels,
        links=np.column_stack([np.full(len(network.links), -1), np.zeros(len(network.links))]).astype(np.int64),
        starts=starts,
        out=out,
        buckets=np.full(buckets, -1, dtype=np.int64),
        window=np.zeros(2 * len(table) + 2, dtype=np.int64),
        inbox=np.empty((rows, 2), dtype=np.int64),
        events=np.empty((_EVENTS, 4), dtype=np.int64),
        kinds=counts,
        steps=np.empty((rows, 3), dtype=np.int64),
        order=np.empty(rows, dtype=np.int64),
        booked=np.empty((max(_EVENTS, rows) if network.peer_bandwidth else 0, 2), dtype=np.int64),
    )


def with_uplinks(traffic: Traffic, network: Network) -> Traffic:
    """Return *traffic*, on which nothing is under way, with rows for uplinks, which have no link there and no latency.

    Each agent has one up, one down, and behind that one for what is broadcast to it.
    """
    agents, server = np.arange(network.agents), np.full(network.agents, network.server)
    more = np.zeros((3 * network.agents, columns.CHANNEL_COLUMNS), dtype=np.int64)
    more[:, columns.RECEIVER] = np.concatenate([server, agents, agents])
    more[:, columns.SENDER] = np.concatenate([agents, server, server])
    more[:, [columns.FIRST, columns.LINK]] = -1
    channels = np.concatenate([traffic.channels, more])
    order = np.lexsort((channels[:, columns.SENDER], channels[:, columns.RECEIVER]))
    rows = np.empty_like(order)
    rows[order] = np.arange(len(order))
    channels[:, columns.REVERSE] = rows[channels[:, columns.REVERSE]]
    return traffic._replace(
        channels=channels[order], out=rows[traffic.out], window=np.zeros(2 * len(channels) + 2, dtype=np.int64)
    )


def _link_of(network: Network, ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the link of each channel, given its two ends."""
    links = np.array([sorted((link.first, link.second)) for link in network.links], dtype=np.int64).reshape(-1, 2)
    keys = links[:, 0] * network.agents + links[:, 1]
    order = np.argsort(keys)
    wanted = ends.min(axis=1, initial=network.agents) * network.agents + ends.max(axis=1, initial=0)
    found: NDArray[np.int64] = order[np.searchsorted(keys[order], wanted)]
    return found


def rows_of(channels: NDArray[np.int64], senders: NDArray[np.int64], receivers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row in `Traffic.channels` of each channel, given its ends, between which there is one; shape (n,)."""
    nodes = channels[:, [columns.RECEIVER, columns.SENDER]].max(initial=0) + 1
    keys = channels[:, columns.RECEIVER] * nodes + channels[:, columns.SENDER]  # ascending
    rows: NDArray[np.int64] = np.searchsorted(keys, receivers * nodes + senders)
    return rows


Integer = TypeVar("Integer", np.int32, np.int64)


def doubled(array: NDArray[Integer]) -> NDArray[Integer]:
    """Return *array* with as many rows again, which are not filled."""
    found = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    found[: len(array)] = array
    return found


def write_back(traffic: Traffic, network: Network) -> None:
    """Write what channels and links have carried to those of *network*."""
    messages = traffic.channels[traffic.out, columns.MESSAGES].tolist()
    size = traffic.channels[traffic.out, columns.BYTES].tolist()
    leaving = (channel for near in network.channels for channel in near)
    for channel, number, some in zip(leaving, messages, size, strict=True):
        channel.messages += number
        channel.bytes += some
    for link, activations in zip(network.links, traffic.links[:, columns.ACTIVATIONS].tolist(), strict=True):
        link.activations += activations
