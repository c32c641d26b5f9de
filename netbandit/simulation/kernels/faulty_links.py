"""Messages on all links at once, at the beginning of a slot, if links fail, or lose, delay or duplicate messages.

The outcome of each message equals that of `begin` in `netbandit.network.wire`, without queueing, waiting or
retransmission, and without node outages.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.compilation.compile_notice import announce
from netbandit.network.downtimes import failing
from netbandit.network.draws import Draws
from netbandit.network.jitter import Jitter
from netbandit.network.link import Fate
from netbandit.network.message import Kind
from netbandit.network.models.loss import BitLoss, BurstLoss, ConstantLoss, Loss, chance_of_bits
from netbandit.network.network import Network
from netbandit.util.jit import njit

Numbers = NDArray[np.int64]

_NEVER = 1 << 62

_chance_of_bits = njit(cache=True)(chance_of_bits)


class Channels(NamedTuple):
    """Channels, sorted by receiver, then sender, with the random numbers of their messages and the messages in flight.

    D is the longest delay of a message in slots. Random numbers of messages have shape (channels, W): that of
    message n is in column n mod W; where they draw none for a purpose, W is 0.

    Attributes:
        latencies: The latency of each (ns), shape (channels,).
        links: The link of each, shape (channels,).
        first_cuts: Where the times of each link begin in *cuts*, shape (links + 1,); empty: no link is ever down.
        cuts: When links are down, from and until (ns), shape (n, 2).
        losses: The random numbers of messages for loss.
        jitters: Their jitter (ns).
        duplicates: Their random numbers for duplication.
        copy_jitters: The jitter (ns) of copies.
        bad: Whether each channel is bad now, shape (channels,).
        latest: The arrival (ns) on each behind which others are held back, shape (channels,).
        due: At which boundary the message of each channel and slot takes effect, shape (channels, D), that of slot u in
            column u mod D; -1: never.
        expected: What arrives of the messages, and then of the copies, of the latest D slots, shape (n, 2): its rank,
            and the row of another that arrives at the same boundary; -1: there is none. Ranks are in order of the time
            since the boundary before, then of the channel, then of the slot: ((ns * channels) + channel) * D + D - d
            for a message that takes effect d slots after it was sent.
        firsts: The first row of *expected* of each boundary, shape (D,), that of boundary b at b mod D.
        number: How many there are, shape (D,).
        fates: How many messages of each channel, and bytes, have each fate of `_COUNTED`, shape (4, channels, 2).
    """

    latencies: Numbers
    links: Numbers
    first_cuts: Numbers
    cuts: Numbers
    losses: NDArray[np.float64]
    jitters: Numbers
    duplicates: NDArray[np.float64]
    copy_jitters: Numbers
    bad: NDArray[np.bool_]
    latest: Numbers
    due: Numbers
    expected: Numbers
    firsts: Numbers
    number: Numbers
    fates: Numbers


_COUNTED: tuple[Fate, ...] = ("lost", "in_flight", "duplicates", "duplicates_dropped")
_LOST, _IN_FLIGHT, _DUPLICATES, _DUPLICATES_DROPPED = range(4)


@njit(cache=True)
def _is_down(cuts: Numbers, first: int, end_of_rows: int, begin: int, end: int) -> bool:
    """Return whether a link is down at any moment from *begin* to *end* (ns), by the rows of *cuts* that tell of it."""
    low, high = first, end_of_rows
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle, 0] <= end:
            low = middle + 1
        else:
            high = middle
    return low > first and cuts[low - 1, 1] > begin


@njit(cache=True)
def _expect(
    expected: Numbers, firsts: Numbers, number: Numbers, slot: int, slot_ns: int, channels: int, channel: int,
    copy: int, arrival: int,
) -> int:  # fmt: skip
    """Enter the *arrival* (ns) of a message put on a *channel* in a *slot*; return the boundary of its effect."""
    depth = len(firsts)
    boundary = max(slot + 1, -(-arrival // slot_ns))
    within = arrival - (boundary - 1) * slot_ns
    row = (copy * depth + slot % depth) * channels + channel
    expected[row, 0] = (within * channels + channel) * depth + slot + depth - boundary
    expected[row, 1] = firsts[boundary % depth]
    firsts[boundary % depth] = row
    number[boundary % depth] += 1
    return boundary


@njit(cache=True)
def _note(fates: Numbers, fate: int, channel: int, size: int) -> None:
    """Count a message of a *channel* that has a fate."""
    fates[fate, channel, 0] += 1
    fates[fate, channel, 1] += size


@njit(cache=True)
def _is_lost_by(cuts: Numbers, first: int, end_of_rows: int, begin: int, arrival: int, end: int) -> bool:
    """As `netbandit.network.wire.Wire.is_lost_in_time`, of a message that is cut."""
    return arrival < end or _is_down(cuts, first, end_of_rows, begin, end - 1)


@njit(cache=True)
def put_all(
    own: Channels, slot: int, slot_ns: int, sizes: Numbers, messages: Numbers, end: int,
    law: tuple[float, float, bool, float, bool],
) -> None:  # fmt: skip
    """Put a message on each channel at the beginning of a *slot*, and note when it arrives, if it does.

    Args:
        own: The channels.
        slot: The slot.
        slot_ns: The length of a slot (ns).
        sizes: The bytes of each message, shape (channels,); 0: there is none.
        messages: How many messages were put on each channel before, shape (channels,).
        end: The end of the run (ns): what arrives then or later is under way.
        law: The chance that a message is lost, that it is while its channel is bad, whether the chance is that of a
            bit, the chance that a message is doubled, and whether messages overtake each other.
    """
    # Arrays by themselves: the references to those of a tuple would be counted in each turn of the loop.
    latencies, latest, due, bad, fates = own.latencies, own.latest, own.due, own.bad, own.fates
    losses, jitters, duplicates, copy_jitters = own.losses, own.jitters, own.duplicates, own.copy_jitters
    links, first_cuts, cuts = own.links, own.first_cuts, own.cuts
    expected, firsts, number = own.expected, own.firsts, own.number
    chance, chance_while_bad, loses_bits, duplicate, overtaking = law
    channels, depth = due.shape
    column, begin = slot % depth, slot * slot_ns
    width = max(losses.shape[1], jitters.shape[1], duplicates.shape[1], 1)
    size, chance_of_size = 0, chance
    cut_from = cut_to = 0
    for channel in range(channels):
        due[channel, column] = -1
        if sizes[channel] == 0:
            continue
        index = messages[channel] % width
        arrival = begin + latencies[channel]
        if jitters.shape[1]:
            arrival += jitters[channel, index]
            if not overtaking:
                arrival = max(arrival, latest[channel])
        is_lost = False
        if losses.shape[1]:
            if loses_bits and sizes[channel] != size:
                size = sizes[channel]
                chance_of_size = _chance_of_bits(chance, size)
            is_lost = losses[channel, index] < (chance_while_bad if bad[channel] else chance_of_size)
        if len(cuts):
            cut_from, cut_to = first_cuts[links[channel]], first_cuts[links[channel] + 1]
        if is_lost or _is_down(cuts, cut_from, cut_to, begin, arrival):
            is_lost = is_lost or _is_lost_by(cuts, cut_from, cut_to, begin, arrival, end)
            _note(fates, _LOST if is_lost else _IN_FLIGHT, channel, sizes[channel])
            continue
        if arrival >= end:
            _note(fates, _IN_FLIGHT, channel, sizes[channel])
        latest[channel] = arrival
        boundary = _expect(expected, firsts, number, slot, slot_ns, channels, channel, 0, arrival)
        due[channel, column] = boundary
        if duplicates.shape[1] and duplicates[channel, index] < duplicate:
            _note(fates, _DUPLICATES, channel, sizes[channel])
            arrival_of_copy = begin + latencies[channel]
            if copy_jitters.shape[1]:
                arrival_of_copy += copy_jitters[channel, index]
            if not overtaking:
                arrival_of_copy = max(arrival_of_copy, arrival)
            if _is_down(cuts, cut_from, cut_to, begin, arrival_of_copy):
                is_lost = _is_lost_by(cuts, cut_from, cut_to, begin, arrival_of_copy, end)
                _note(fates, _LOST if is_lost else _IN_FLIGHT, channel, sizes[channel])
                continue
            if arrival_of_copy >= end:
                _note(fates, _IN_FLIGHT, channel, sizes[channel])
            elif arrival < end:
                _note(fates, _DUPLICATES_DROPPED, channel, sizes[channel])
            boundary = _expect(expected, firsts, number, slot, slot_ns, channels, channel, 1, arrival_of_copy)
            due[channel, column] = min(due[channel, column], boundary)


@njit(cache=True)
def take_all(expected: Numbers, firsts: Numbers, number: Numbers, bucket: int, ranks: Numbers) -> None:
    """Take all that arrives at a boundary: fill in its ranks, shape (number[bucket],); see `Channels`."""
    row = firsts[bucket]
    for index in range(len(ranks)):
        ranks[index] = expected[row, 0]
        row = expected[row, 1]
    firsts[bucket] = -1
    number[bucket] = 0


@njit(cache=True)
def write_events(
    ranks: Numbers, boundary: int, slot_ns: int, receivers: Numbers, sizes: Numbers, events: Numbers
) -> None:
    """Write the arrivals at a *boundary*, by their *ranks* in ascending order.

    Args:
        ranks: See `Channels`.
        boundary: The boundary.
        slot_ns: The length of a slot (ns).
        receivers: The receiver of each channel, shape (channels,).
        sizes: The bytes of each message, shape (D, channels), those of slot u in row u mod D.
        events: Filled in: when (ns) each arrives, where, and in the last column its bytes; shape (n, 4).
    """
    depth, channels = sizes.shape
    for index in range(len(ranks)):
        rest = ranks[index] // depth
        within = rest // channels
        channel = rest - within * channels
        slot = ranks[index] - rest * depth + boundary  # and D more
        events[index, 0] = (boundary - 1) * slot_ns + within
        events[index, 1] = receivers[channel]
        events[index, 3] = sizes[slot % depth, channel]


class FaultyLinks:
    """Channels between agents, with faults.

    Args:
        network: The network; see `netbandit.simulation.kernels.bulk_links.KNOWN`.
        kind: The kind of all messages.
        channels: Of each channel the receiver, the sender and the latency (ns), sorted; shape (3, channels).
        links: The number of its link.
        due: See `Channels`; filled in.

    Attributes:
        fates: How many messages of each channel, and bytes, have each fate, shape (channels, 2).
    """

    def __init__(self, network: Network, kind: Kind, channels: Numbers, links: Numbers, due: Numbers) -> None:
        announce(put_all, "messages on all links", take_all, write_events)
        self._receivers, senders, latencies = map(np.ascontiguousarray, channels)
        self._code = kind.code
        faults = network.faults.peer
        number, depth = due.shape
        firsts = np.array([link.first for link in network.links], dtype=np.int64)
        columns = 2 * links + (senders != firsts[links])
        first_cuts, cuts = _cuts_of(network)
        self._law = *_chances(faults.loss), float(faults.duplicate), faults.overtaking
        self._slot, self._end = network.clock.slot, network.clock.end
        self._sizes = np.zeros((depth, number), dtype=np.int64)
        self._last = self._taken = -1  # the last slot of messages, and the last boundary up to which all is taken
        drawn = self._drawn = _Drawn(network, columns)
        self._bursts = _Bursts(network, faults.loss, columns) if isinstance(faults.loss, BurstLoss) else None
        self._own = Channels(
            latencies=latencies,
            links=links,
            first_cuts=first_cuts,
            cuts=cuts,
            losses=drawn.keep("loss", faults.loss is not None),
            jitters=drawn.keep("jitter", faults.jitter is not None),
            duplicates=drawn.keep("duplicate", faults.duplicate > 0),
            copy_jitters=drawn.keep("duplicate.jitter", faults.duplicate > 0 and faults.jitter is not None),
            bad=np.zeros(number, dtype=np.bool_) if self._bursts is None else self._bursts.bad,
            latest=np.zeros(number, dtype=np.int64),
            due=due,
            expected=np.empty((depth * number * (2 if faults.duplicate else 1), 2), dtype=np.int64),
            firsts=np.full(depth, -1),
            number=np.zeros(depth, dtype=np.int64),
            fates=np.zeros((len(_COUNTED), number, 2), dtype=np.int64),
        )
        self.fates: Mapping[Fate, Numbers] = dict(zip(_COUNTED, self._own.fates, strict=True))

    def put(self, slot: int, sizes: Numbers, messages: Numbers) -> None:
        """Put a message on each channel at the beginning of *slot*, up to which all that arrives is taken.

        Args:
            slot: The slot.
            sizes: The bytes of each message, shape (channels,); 0: there is none.
            messages: How many messages were put on each channel before, shape (channels,).
        """
        self._drawn.look_ahead(messages)
        if self._bursts is not None:
            self._bursts.move_to(slot * self._slot)
        put_all(self._own, slot, self._slot, sizes, messages, self._end, self._law)
        self._sizes[slot % len(self._sizes)] = sizes
        self._last = slot

    def take(self, boundary: int) -> Iterator[Numbers]:
        """Yield the arrivals up to a *boundary*: time (ns), receiver, kind and bytes, in order; shape (n, 4)."""
        own = self._own
        depth = len(own.firsts)
        for taken in range(self._taken + 1, min(boundary, self._last + depth) + 1):
            number = own.number[taken % depth]
            if number:
                ranks = np.empty(number, dtype=np.int64)
                take_all(own.expected, own.firsts, own.number, taken % depth, ranks)
                ranks.sort()
                events = np.full((number, 4), self._code)
                write_events(ranks, taken, self._slot, self._receivers, self._sizes, events)
                yield events
        self._taken = max(self._taken, boundary)


def _chances(loss: Loss | None) -> tuple[float, float, bool]:
    """Return the chances of a loss model, see `put_all`: of a message or a bit, of one while its channel is bad."""
    if isinstance(loss, BurstLoss):
        return float(loss.good), float(loss.bad), False
    known = loss if isinstance(loss, ConstantLoss | BitLoss) else ConstantLoss(0.0)
    return float(known.probability), 0.0, isinstance(known, BitLoss)


def _cuts_of(network: Network) -> tuple[Numbers, Numbers]:
    """Return `Channels.first_cuts` and `Channels.cuts`.

    What is put on a link begins before the horizon, and is lost if the link goes down before it arrives: one that goes
    down after the horizon might as well stay so.
    """
    downtimes = network.link_downtimes
    if downtimes is None:
        return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    end, found = network.clock.end, []
    for link in network.links:
        times = downtimes(min(link.first, link.second), max(link.first, link.second))
        found.append([*times.until(end), (times.down(end), _NEVER)])
    first = np.cumsum([0, *map(len, found)])
    rows = [(min(begin, _NEVER), min(until, _NEVER)) for some in found for begin, until in some]
    return first, np.array(rows, dtype=np.int64).reshape(-1, 2)


class _Drawn:
    """The random numbers of the next messages of each channel, of which at most one is put on it at once."""

    def __init__(self, network: Network, columns: Numbers) -> None:
        self._network, self._columns = network, columns
        self._rows = Draws(network.streams, "", 2 * len(network.links)).rows
        self._known = np.zeros(len(columns), dtype=np.int64)
        self._left = 0
        self._kept: list[tuple[Draws, Jitter | None, NDArray[Any]]] = []

    def keep(self, purpose: str, is_drawn: bool) -> NDArray[Any]:
        """Return the array of random numbers of messages for a *purpose*; see `Channels`."""
        delays = purpose.endswith("jitter")
        shape = len(self._columns), 2 * self._rows if is_drawn else 0
        numbers = np.empty(shape, dtype=np.int64 if delays else np.float64)
        if is_drawn:
            draws = Draws(self._network.streams, f"{purpose}.peer", 2 * len(self._network.links))
            self._kept.append((draws, self._network.faults.peer.jitter if delays else None, numbers))
        return numbers

    def look_ahead(self, messages: Numbers) -> None:
        """Provide all random numbers of one more message of each channel, given how many were put on each."""
        if self._left:
            self._left -= 1
            return
        self._left = self._rows - 1
        while len(few := np.flatnonzero(self._known - messages < self._rows)) and self._kept:
            for block in np.unique(self._known[few] // self._rows).tolist():
                rows = few[self._known[few] == block * self._rows]
                begin = block % 2 * self._rows
                for draws, jitter, numbers in self._kept:
                    drawn = draws.table(block)[self._columns[rows]]
                    numbers[rows, begin : begin + self._rows] = drawn if jitter is None else jitter.times(drawn)
            self._known[few] += self._rows


class _Bursts:
    """Which channels are bad; time goes on.

    Attributes:
        bad: Whether each is, shape (channels,).
    """

    def __init__(self, network: Network, loss: BurstLoss, columns: Numbers) -> None:
        states = Draws(network.streams, "bursts.peer", 2 * len(network.links))
        self._switches = [
            chain.from_iterable(failing(states, column, loss.good_for, loss.bad_for)) for column in columns.tolist()
        ]
        self._next = np.array([min(next(switches), _NEVER) for switches in self._switches], dtype=np.int64)
        self.bad = np.zeros(len(columns), dtype=np.bool_)

    def move_to(self, time: int) -> None:
        """Look up which channels are bad at a *time* (ns), not earlier than before."""
        for channel in np.flatnonzero(self._next <= time).tolist():
            switch: float = self._next[channel]
            while switch <= time:
                self.bad[channel] ^= True
                switch = next(self._switches[channel])
            self._next[channel] = min(switch, _NEVER)
