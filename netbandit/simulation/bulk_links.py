"""Messages on all links at once, sent at the beginning of slots: an array version of `Network.send`.

Without faults, a message arrives after the latency of its channel, and the order of arrivals is the same in each slot.
Loss, jitter and duplication are handled by the compiled loops of `netbandit.simulation.kernels.faulty_links`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netbandit.network.clock import Clock
from netbandit.network.faults import ChannelFaults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import GeometricJitter, UniformJitter
from netbandit.network.link import Fate
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.network.present_neighbours import PresentLinksBySlot

if TYPE_CHECKING:  # it imports numba, which is slow
    from netbandit.simulation.kernels.faulty_links import FaultyLinks

_A_MEGABYTE = 10**6
_MOST_UNDER_WAY = 1 << 22
_MOST_NANOSECONDS = 1 << 61


def unsupported_reason(network: Network) -> str | None:
    """Return why messages cannot go in bulk; None if none queues and each arrives, if at all, after a known time."""
    faults = network.peer_faults
    if network.nodes_fail:
        return "agents or the server are down at times"
    if network.waits:
        return "messages wait for links that agents see come and go"
    if network.trace is not None:
        return "a trace is written"
    if network.transmission(_A_MEGABYTE):
        return "messages queue for bandwidth"
    if faults.retry is not None:
        return "what is lost is repeated"
    if not isinstance(faults.jitter, UniformJitter | GeometricJitter | None):
        return "delays by jitter have no bound"
    channels = [channel for out in network.channels for channel in out]
    longest = max((channel.latency for channel in channels), default=0) + _longest(faults)
    slots = longest // network.clock.slot + 2
    number = slots * len(channels)
    fits = number <= _MOST_UNDER_WAY and network.clock.end <= _MOST_NANOSECONDS
    if network.unreliable:  # see `Channels.expected` of `netbandit.simulation.kernels.faulty_links`
        fits = fits and number * network.clock.slot <= _MOST_NANOSECONDS
    return None if fits else "too many messages are under way at once"


def hop_slots(network: Network) -> NDArray[np.int64]:
    """Return all possible delays (slots) of a message, ascending, each at least 1."""
    faults, slot = network.peer_faults, network.clock.slot
    latencies = np.array([channel.latency for out in network.channels for channel in out], dtype=np.int64)
    if faults.jitter is None:
        return np.unique(np.maximum(1, -(-latencies // slot))) if len(latencies) else np.ones(1, dtype=np.int64)
    longest = int(latencies.max(initial=0)) + _longest(faults)
    return np.arange(1, max(1, -(-longest // slot)) + 1)


def slots_of_hops(hop: NDArray[np.int64], hops: int) -> list[NDArray[np.int64]]:
    """Return the possible delays (slots) of 0, 1, ... *hops* hops, ascending, given those of one *hop*."""
    found = [np.zeros(1, dtype=np.int64)]
    for _ in range(hops):
        found.append(np.unique(np.add.outer(found[-1], hop)))
    return found


class BulkLinks:
    """All channels between agents, one row each, sorted by receiver, then sender.

    In each slot, at most one message is put on each channel, at the beginning of the slot. Time is slotted: a message
    takes effect at the first later boundary at which it has arrived. If agents see which of their links are up, no
    message is put on the others.

    Args:
        network: The network; see `unsupported_reason`. :meth:`finish` counts all messages in it.
        clock: Its clock.
        kind: The kind of all messages.
        fingerprint: Hashes every delivery.

    Attributes:
        receivers: The receiver of each channel, shape (channels,).
        senders: Its sender, shape (channels,).
        reverse: The row of the other direction of each channel, shape (channels,).
        delays: The delay (slots) of a message, shape (channels,); None if it varies between messages.
        slowest: The maximum delay (slots) of any message, at least 1.
        due: The boundary at which the message of each recent slot takes effect, shape (channels, slowest); slot u is
            column u mod slowest; -1 if the message never arrives or does not exist.
        used: Whether any message has been put on a channel.
    """

    def __init__(self, network: Network, clock: Clock, kind: Kind, fingerprint: Fingerprint) -> None:
        self._network, self._clock, self._kind, self._fingerprint = network, clock, kind, fingerprint
        rows = sorted(
            (channel.receiver, channel.sender, channel.latency) for out in network.channels for channel in out
        )
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self.receivers, self.senders, self._latencies = map(np.ascontiguousarray, table.T)
        self.reverse = np.lexsort((self.receivers, self.senders))  # sorted by sender, then receiver
        longest = int(self._latencies.max(initial=0)) + _longest(network.peer_faults)
        self.slowest = max(1, -(-longest // clock.slot))
        steady = network.peer_faults.jitter is None
        self.delays = np.maximum(1, -(-self._latencies // clock.slot)) if steady else None
        self.due = np.full((len(rows), self.slowest), -1)
        self.used = False
        self._present = None
        if network.sensed:
            self._present = PresentLinksBySlot(network.up_times, len(network.links), clock.slot)
        self._messages = np.zeros(len(rows), dtype=np.int64)
        self._bytes = np.zeros(len(rows), dtype=np.int64)
        self._activations = np.zeros(len(rows), dtype=np.int64)
        self._under_way = np.zeros((len(rows), 2), dtype=np.int64)
        self._faulty: FaultyLinks | None = None
        if network.unreliable:
            from netbandit.simulation.kernels import faulty_links

            self._link_of = _link_numbers(network, self.senders, self.receivers)
            self._faulty = faulty_links.FaultyLinks(network, kind, table.T, self._link_of, self.due)
            return
        self._windows = 0
        self._depth = longest // clock.slot + 1
        self._delivered = np.zeros((self._depth, len(rows)), dtype=np.int64)  # bytes; 0 if nothing arrives
        self._order_arrivals()

    def _order_arrivals(self) -> None:
        """Sort channels by delivery within a slot: by time, then earlier sent first, then receiver, then sender."""
        slot = self._clock.slot
        within, whole = self._latencies % slot, self._latencies // slot
        at_once = (within == 0) & (whole == 0)  # sent at the boundary at which others arrive, hence after them
        self._order = np.lexsort((self.senders, self.receivers, at_once, within))
        self._within, self._whole = within[self._order], whole[self._order]
        # If every channel delivers, receivers and kind are the same in every slot.
        self._events = np.full((len(within), 4), self._kind.code)
        self._events[:, 1] = self.receivers[self._order]

    def present(self, slot: int, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return *numbers*, one per channel, with 0 where the link is seen to be down at the beginning of *slot*.

        Must be called with ascending slots.
        """
        if self._present is None:
            return numbers
        return np.where(self._present.at(slot)[self._link_of], numbers, 0)

    def put(self, slot: int, sizes: NDArray[np.int64]) -> None:
        """Put a message on each channel at the beginning of *slot*, which comes after all slots before.

        Args:
            slot: The slot.
            sizes: The bytes of each message, shape (channels,); 0 for none, as on channels that are not `present`.
        """
        self.used = self.used or bool(sizes.any())
        sent = sizes > 0
        if self._faulty is not None:
            self.arrive(slot)
            self._faulty.put(slot, sizes, self._messages)
        else:
            assert self.delays is not None, "nothing is late where nothing can go wrong"
            self.due[:, slot % self.slowest] = np.where(sent, slot + self.delays, -1)
            self._delivered[slot % self._depth] = sizes
            self._record(slot)
            if slot >= self._clock.horizon - self._depth:
                late = sent & (slot * self._clock.slot + self._latencies >= self._clock.end)
                self._under_way += np.column_stack((late, late * sizes))
        self._messages += sent
        self._bytes += sizes
        self._activations += sent | sent[self.reverse]

    def arrive(self, boundary: int) -> None:
        """Deliver all messages that arrive up to a *boundary*."""
        if self._faulty is not None:
            for events in self._faulty.take(boundary):
                self._fingerprint.record_all(events)

    def _record(self, window: int) -> None:
        """Hash all deliveries within a slot, of messages sent in it or before."""
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
            kinds = np.full(np.count_nonzero(some), self._kind.code)
            events = np.column_stack((times[some], self.receivers[order][some], kinds, sizes[some]))
            self._fingerprint.record_all(events)

    def finish(self) -> None:
        """Record arrivals after the last slot, and count all messages in the network."""
        fates: Mapping[Fate, NDArray[np.int64]] = {"in_flight": self._under_way}
        if self._faulty is not None:
            self.arrive(self._clock.horizon + self.slowest)
            fates = self._faulty.fates
        else:
            for window in range(self._windows, self._windows + self._depth):
                self._delivered[window % self._depth] = 0  # nothing more is sent
                self._record(window)
        counts = zip(
            self.senders.tolist(),
            self.receivers.tolist(),
            self._messages.tolist(),
            self._bytes.tolist(),
            self._activations.tolist(),
            strict=True,
        )
        self._network.count_in_bulk(self._kind, counts, fates)


def _longest(faults: ChannelFaults) -> int:
    """Return the maximum jitter (ns)."""
    jitter = faults.jitter
    if isinstance(jitter, UniformJitter):
        return jitter.longest
    if isinstance(jitter, GeometricJitter):
        return jitter.largest * jitter.slot
    return 0


def _link_numbers(network: Network, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the link between each agent of *one* and the corresponding agent of *other*."""
    numbers = {(link.first, link.second): number for number, link in enumerate(network.links)}
    ends = zip(np.minimum(one, other).tolist(), np.maximum(one, other).tolist(), strict=True)
    return np.array([numbers[pair] for pair in ends], dtype=np.int64)
