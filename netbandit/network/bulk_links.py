"""Messages on all links at once, where each is delivered, late or lost by itself: what `Network.send` does, in arrays.

The law is that of single messages, number for number: what a message draws is number n of its channel, n the messages
that the channel has been given so far. Nothing queues, nothing is repeated and no node is ever down, so what becomes of
a message is known when it is sent.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.network.clock import Clock
from netbandit.network.draws import Draws
from netbandit.network.faults import ChannelFaults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import GeometricJitter, UniformJitter
from netbandit.network.loss_laws import BitLoss, BurstLoss, ConstantLoss, bursts
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.streams import Streams

_A_MEGABYTE = 10**6
_MOST_UNDER_WAY = 1 << 22
_MOST_NANOSECONDS = 1 << 61
_NEVER = (1 << 63) - 1


def why_not(network: Network) -> str | None:
    """Return why messages cannot go all at once; None: nothing queues, and all arrive, if at all, in a known time."""
    faults = network.peer_faults
    if network.nodes_fail:
        return "agents or the server are down at times"
    if network.trace is not None:
        return "a trace is written"
    if network.transmission(_A_MEGABYTE):
        return "messages queue for bandwidth"
    if faults.retry is not None:
        return "what is lost is repeated"
    if not isinstance(faults.jitter, UniformJitter | GeometricJitter | None):
        return "delays by jitter have no bound"
    if faults.duplicate and network.link_downtimes is not None:
        return "messages are doubled over links that are down at times"
    channels = [channel for out in network.channels for channel in out]
    longest = max((channel.latency for channel in channels), default=0) + _longest(faults)
    slots = longest // network.clock.slot + 2
    fits = slots * len(channels) <= _MOST_UNDER_WAY and network.clock.end <= _MOST_NANOSECONDS
    return None if fits else "too many messages are under way at once"


def hop_slots(network: Network) -> NDArray[np.int64]:
    """Return in how many slots a message may take effect: all numbers there can be, ascending, at least one."""
    faults, slot = network.peer_faults, network.clock.slot
    latencies = np.array([channel.latency for out in network.channels for channel in out], dtype=np.int64)
    if faults.jitter is None:
        return np.unique(np.maximum(1, -(-latencies // slot))) if len(latencies) else np.ones(1, dtype=np.int64)
    longest = int(latencies.max(initial=0)) + _longest(faults)
    return np.arange(1, max(1, -(-longest // slot)) + 1)


def slots_of_hops(hop: NDArray[np.int64], hops: int) -> list[NDArray[np.int64]]:
    """Return in how many slots 0, 1, ... *hops* hops can be made, ascending, if one takes as many as *hop* lists."""
    found = [np.zeros(1, dtype=np.int64)]
    for _ in range(hops):
        found.append(np.unique(np.add.outer(found[-1], hop)))
    return found


class BulkLinks:
    """All channels between agents, a row each, sorted by receiver, then sender.

    In a slot at most one message is put on each channel, at the beginning of the slot. Slotted: it takes effect at the
    first later boundary at which it has arrived.

    Args:
        network: The network; see `why_not`. All that is put on links is counted in it by :meth:`finish`.
        clock: Its clock.
        kind: The kind of all messages.
        fingerprint: Takes in every delivery.

    Attributes:
        receivers: The receiver of each channel, shape (channels,).
        senders: Its sender, shape (channels,).
        reverse: The row of the other direction of each channel, shape (channels,).
        delays: In how many slots a message takes effect, shape (channels,); None: that differs from one to the next.
        slowest: In how many slots any message takes effect at most, at least 1.
    """

    def __init__(self, network: Network, clock: Clock, kind: Kind, fingerprint: Fingerprint) -> None:
        self._network, self._clock, self._kind, self._fingerprint = network, clock, kind, fingerprint
        rows = sorted(
            (channel.receiver, channel.sender, 2 * number + direction, channel.latency)
            for number, link in enumerate(network.links)
            for direction, channel in enumerate(
                (network.channel(link.first, link.second), network.channel(link.second, link.first))
            )
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
        self.receivers, self.senders, self._columns, self._latencies = map(np.ascontiguousarray, table.T)
        self.reverse = np.lexsort((self.receivers, self.senders))  # sorted by sender, then receiver
        faults = network.peer_faults
        self._faults = faults
        self._numbers = _Numbers(faults, len(rows), self._columns, network.streams)
        loss = faults.loss
        self._bursts = _Bursts(loss, self._columns, network.streams) if isinstance(loss, BurstLoss) else None
        slot = clock.slot
        longest = int(self._latencies.max(initial=0)) + _longest(faults)
        self.slowest = max(1, -(-longest // slot))
        steady = faults.jitter is None
        self.delays = np.maximum(1, -(-self._latencies // slot)) if steady else None
        self._messages = np.zeros(len(rows), dtype=np.int64)
        self._bytes = np.zeros(len(rows), dtype=np.int64)
        self._lost = np.zeros(len(rows), dtype=np.int64)
        self._activations = np.zeros(len(rows), dtype=np.int64)
        self._copies = 0
        end = clock.end + longest
        down = network.link_downtimes
        self._cuts = None if down is None else _Cuts(down(a, b).until(end + 1) for a, b in self._pairs())
        self._sure = not faults and self._cuts is None  # whether all that is sent arrives when it is known to
        self._latest = np.zeros(len(rows), dtype=np.int64)
        self._windows = 0
        self._arriving: dict[int, list[NDArray[np.int64]]] = {}
        self._depth = longest // slot + 1
        self._delivered = np.zeros((self._depth, len(rows)), dtype=np.int64)  # sizes; 0: nothing arrives
        self._order_arrivals()

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the two ends of the link of each channel, the lower number first."""
        for receiver, sender in zip(self.receivers.tolist(), self.senders.tolist(), strict=True):
            yield min(receiver, sender), max(receiver, sender)

    def _order_arrivals(self) -> None:
        """Sort channels as they deliver within a slot: by time, what was sent earlier first, then receiver, sender."""
        slot = self._clock.slot
        within, whole = self._latencies % slot, self._latencies // slot
        at_once = (within == 0) & (whole == 0)  # sent at the boundary at which others arrive, so after them
        self._order = np.lexsort((self.senders, self.receivers, at_once, within))
        self._within, self._whole = within[self._order], whole[self._order]
        # Where something arrives on every channel, receivers and kind are the same in every slot.
        self._events = np.full((len(within), 4), self._kind.code)
        self._events[:, 1] = self.receivers[self._order]

    def put(self, slot: int, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put a message on each channel at the beginning of *slot*, which comes after all slots before.

        Args:
            slot: The slot.
            sizes: The bytes of each message, shape (channels,); 0: there is none.

        Returns:
            The boundary at which each message takes effect, shape (channels,); -1: it is lost, or there is none.
        """
        sent = sizes > 0
        clock = self._clock
        drawn = self._messages
        self._messages = drawn + sent
        self._bytes += sizes
        self._activations += sent | sent[self.reverse]
        if self._sure and self.delays is not None:
            self._delivered[slot % self._depth] = sizes
            self._record(slot)
            return np.where(sent, slot + self.delays, -1)
        begun = slot * clock.slot
        lost = self._losses(begun, drawn, sizes, sent)
        arrivals = self._arrivals(begun, drawn)
        cut = self._cuts.between(begun, arrivals) if self._cuts is not None else None
        if cut is not None:
            lost = sent & cut if lost is None else sent & (lost | cut)
        if lost is not None:
            self._lost += lost
        arrived = sent if lost is None else sent & ~lost
        if self.delays is not None and not self._faults.duplicate:
            self._delivered[slot % self._depth] = np.where(arrived, sizes, 0)
            self._record(slot)
            return np.where(arrived, slot + self.delays, -1)
        self._latest = np.where(arrived, arrivals, self._latest)
        first = self._copy(begun, drawn, arrived, arrivals, sizes)
        self._expect(begun, arrivals, arrived, sizes)
        self._record_expected(slot)
        return np.where(arrived, np.maximum(slot + 1, -(-first // clock.slot)), -1)

    def _losses(
        self, begun: int, drawn: NDArray[np.int64], sizes: NDArray[np.int64], sent: NDArray[np.bool_]
    ) -> NDArray[np.bool_] | None:
        """Return which of the messages that are sent at *begun* are lost; None: none can be."""
        loss = self._faults.loss
        if loss is None:
            return None
        uniforms = self._numbers.of("loss", drawn)
        if self._bursts is not None:
            return sent & (uniforms < self._bursts.chances(begun))
        if isinstance(loss, ConstantLoss):
            return sent & (uniforms < loss.probability)
        assert isinstance(loss, BitLoss)
        different, inverse = np.unique(sizes, return_inverse=True)
        chances = np.array([loss.of_size(size) for size in different.tolist()])[inverse]
        return sent & (uniforms < chances)

    def _arrivals(self, begun: int, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return when (ns) messages arrive that are sent at *begun*, unless they are lost."""
        arrivals = begun + self._latencies
        if self._faults.jitter is not None:
            arrivals = arrivals + self._faults.jitter.times(self._numbers.of("jitter", drawn))
        if not self._faults.overtaking:
            arrivals = np.maximum(arrivals, self._latest)
        return arrivals

    def _copy(
        self,
        begun: int,
        drawn: NDArray[np.int64],
        arrived: NDArray[np.bool_],
        arrivals: NDArray[np.int64],
        sizes: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Let some messages arrive once more; return when (ns) each arrives first: copies are dropped unread."""
        faults = self._faults
        if not faults.duplicate:
            return arrivals
        twice = arrived & (self._numbers.of("duplicate", drawn) < faults.duplicate)
        copies = begun + self._latencies
        if faults.jitter is not None:
            copies = copies + faults.jitter.times(self._numbers.of("duplicate.jitter", drawn))
        if not faults.overtaking:
            copies = np.maximum(copies, arrivals)
        self._copies += int(twice.sum())
        self._expect(begun, copies, twice, sizes)
        return np.where(twice, np.minimum(arrivals, copies), arrivals)

    def _expect(
        self, begun: int, arrivals: NDArray[np.int64], which: NDArray[np.bool_], sizes: NDArray[np.int64]
    ) -> None:
        """Note deliveries for the slots in which they fall: time, whether at once, receiver, sender, begun and size."""
        rows = np.flatnonzero(which)
        times = arrivals[rows]
        columns = (times, times == begun, self.receivers[rows], self.senders[rows], np.full_like(rows, begun))
        table = np.column_stack((*columns, sizes[rows]))
        windows = times // self._clock.slot
        for window in np.unique(windows).tolist():
            self._arriving.setdefault(window, []).append(table[windows == window])

    def _record_expected(self, window: int) -> None:
        """Take in all deliveries within a slot, in order of time, receiver and sender, then of sending."""
        self._windows = window + 1
        noted = self._arriving.pop(window, None)
        if noted is None:
            return
        times, at_once, receivers, senders, begun, sizes = np.concatenate(noted).T
        order = np.lexsort((begun, senders, receivers, at_once, times))
        self._hash(times[order], receivers[order], sizes[order])

    def _record(self, window: int) -> None:
        """Take in all deliveries within a slot, of what was sent in it and before."""
        self._windows = window + 1
        order, said = self._order, window - self._whole
        sizes = self._delivered[said % self._depth, order]
        times = window * self._clock.slot + self._within
        some = (sizes > 0) & (said >= 0)
        if some.all():
            self._events[:, 0] = times
            self._events[:, 3] = sizes
            self._fingerprint.record_all(self._events)
        else:
            self._hash(times[some], self.receivers[order][some], sizes[some])

    def _hash(self, times: NDArray[np.int64], receivers: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        kinds = np.full_like(times, self._kind.code)
        self._fingerprint.record_all(np.column_stack((times, receivers, kinds, sizes)))

    def finish(self) -> None:
        """Take in what arrives after the last slot, and count all messages in the network."""
        if self.delays is not None and not self._faults.duplicate:
            for window in range(self._windows, self._windows + self._depth):
                self._delivered[window % self._depth] = 0  # nothing is sent any more
                self._record(window)
        for window in sorted(self._arriving):
            self._record_expected(window)
        counts = zip(
            self.senders.tolist(),
            self.receivers.tolist(),
            self._messages.tolist(),
            self._bytes.tolist(),
            self._lost.tolist(),
            self._activations.tolist(),
            strict=True,
        )
        self._network.count_in_bulk(self._kind, counts, self._copies)


class _Cuts:
    """When the link of each channel is down.

    Args:
        downtimes: The intervals of each, disjoint and ascending (ns).
    """

    def __init__(self, downtimes: Iterable[Sequence[tuple[int, float]]]) -> None:
        lists = [list(intervals) for intervals in downtimes]
        never = (_NEVER, _NEVER)
        lengths = np.array([len(intervals) + 1 for intervals in lists], dtype=np.int64)
        flat = [(begin, int(min(end, _NEVER))) for intervals in lists for begin, end in (*intervals, never)]
        self._begins, self._ends = np.array(flat, dtype=np.int64).reshape(-1, 2).T
        self._next = np.cumsum(lengths) - lengths  # of each channel, the first interval that is not over

    def between(self, begun: int, arrivals: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which links are down at any moment from *begun*, which never decreases, to *arrivals* (ns)."""
        while True:
            over = self._ends[self._next] <= begun
            if not over.any():
                return np.asarray(self._begins[self._next] <= arrivals)
            self._next += over


class _Bursts:
    """With what probability each channel loses a message: it is looked up once for each stay.

    Args:
        loss: The law.
        columns: The column of each row.
        streams: The streams of the replication.
    """

    def __init__(self, loss: BurstLoss, columns: NDArray[np.int64], streams: Streams) -> None:
        states = Draws(streams, "bursts.peer", len(columns))
        self._loss = loss
        self._stays = [bursts(loss, states, column) for column in columns.tolist()]
        self._until = np.zeros(len(columns), dtype=np.int64)
        self._chances = np.zeros(len(columns))

    def chances(self, begun: int) -> NDArray[np.float64]:
        """Return the probability of each channel at *begun* (ns), which never decreases, shape (channels,)."""
        for row in np.flatnonzero(self._until <= begun).tolist():
            stay = self._stays[row]
            self._chances[row] = self._loss.bad if stay.is_bad(begun) else self._loss.good
            self._until[row] = min(stay.until, _NEVER)
        return self._chances


class _Numbers:
    """What messages draw, by the place of each on its channel.

    Args:
        faults: What can go wrong.
        channels: The number of channels.
        columns: The column of each row.
        streams: The streams of the replication.
    """

    def __init__(self, faults: ChannelFaults, channels: int, columns: NDArray[np.int64], streams: Streams) -> None:
        self._columns = columns
        self._draws = {
            purpose: Draws(streams, f"{purpose}.peer", channels)
            for purpose in ("loss", "jitter", "duplicate", "duplicate.jitter")
        }

    def of(self, purpose: str, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return number *numbers[row]* of each row's column, uniform in [0, 1), shape (channels,)."""
        draws = self._draws[purpose]
        if not len(numbers):
            return np.empty(0)
        blocks, rows = np.divmod(numbers, draws.rows)
        found = np.empty(len(numbers))
        for block, chosen in _each(blocks):
            found[chosen] = draws.table(block)[self._columns[chosen], rows[chosen]]
        return found


def _each(blocks: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.bool_] | slice]]:
    """Yield each different block, ascending, and the rows that have it."""
    first = int(blocks[0])
    if (blocks == first).all():
        yield first, slice(None)
        return
    for block in np.unique(blocks).tolist():
        yield block, blocks == block


def _longest(faults: ChannelFaults) -> int:
    """Return the longest jitter (ns)."""
    jitter = faults.jitter
    if isinstance(jitter, UniformJitter):
        return jitter.longest
    if isinstance(jitter, GeometricJitter):
        return jitter.largest * jitter.slot
    return 0
