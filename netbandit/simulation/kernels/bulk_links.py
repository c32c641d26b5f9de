"""Messages on all links at once, sent at the beginning of slots: an array version of `Network.send`.

Without faults, a message arrives after the latency of its channel, and the order of arrivals is the same in each slot.
Loss, jitter and duplication are handled by the compiled loops of `netbandit.simulation.kernels.faulty_links`.
"""

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netbandit.network.batteries import EnergyPlan
from netbandit.network.clock import Clock
from netbandit.network.computing import ComputePlan
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.features import Feature, features
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import ExponentialJitter, GeometricJitter, LognormalJitter, UniformJitter
from netbandit.network.link import Fate, LinkClass
from netbandit.network.message import Kind
from netbandit.network.models.loss import BitLoss, BurstLoss, ConstantLoss
from netbandit.network.models.retransmission import Retry
from netbandit.network.network import Network
from netbandit.network.outages import Failing, Outage, OutagePlan, Redrawn
from netbandit.network.present_neighbours import PresentLinksBySlot

if TYPE_CHECKING:  # it imports numba, which is slow
    from netbandit.simulation.kernels.faulty_links import FaultyLinks

_MOST_UNDER_WAY = 1 << 22
_MOST_NANOSECONDS = 1 << 61

_CLASSES = ("links.peer", "links.uplink")
_PRICES = ("cost", "energy_per_message", "energy_per_byte", "received_per_message", "received_per_byte")

COUNTED = frozenset(
    {
        *(Feature(links, model) for links in _CLASSES for model in (LinkClass, ChannelFaults)),
        *(Feature(f"{links}.{key}") for links in _CLASSES for key in _PRICES),
        *(Feature(f"{links}.overtaking") for links in _CLASSES),
        Feature("links.uplink.bandwidth"),
        *(Feature("faults", model) for model in (Faults, OutagePlan)),
        *(Feature(f"faults.{key}") for key in ("memory", "sensed", "waits_for_slots")),
        Feature("energy", EnergyPlan),
        *(Feature(f"energy.{key}") for key in ("idle", "send", "receive", "sending", "receiving", "pull")),
        *(Feature(f"energy.{key}") for key in ("harvested", "recover", "mains")),
    }
)
"""Features that decide nothing about a message between agents: by these it is counted, or they need another to act."""

KNOWN = COUNTED | {
    *(Feature("links.peer.loss", model) for model in (ConstantLoss, BitLoss, BurstLoss)),
    *(Feature("links.peer.jitter", model) for model in (UniformJitter, GeometricJitter)),
    Feature("links.peer.jitter.shortest"),
    Feature("links.peer.duplicate"),
    *(Feature(f"links.peer.{key}") for key in ("most_waiting", "counts_bytes")),  # without bandwidth nothing waits
    *(Feature("faults.links", model) for model in (Failing, Redrawn)),
    Feature("faults.outages", Outage),
    *(Feature(f"faults.outages.{key}") for key in ("links", "group", "every")),
    Feature("faults.contacts"),
}
"""What :class:`BulkLinks` processes, whatever uplinks do."""

_NODES = "agents or the server are down at times"
_QUEUES = "messages queue for bandwidth"
_UNBOUNDED = "delays by jitter have no bound"
_WHY: Mapping[Feature, str] = {
    Feature("compute", ComputePlan): "nodes take time to handle messages, or to compute what they send (compute)",
    Feature("trace"): "a trace is written",
    Feature("faults.nodes", Failing): _NODES,
    Feature("faults.outages.nodes"): _NODES,
    Feature("faults.server", Failing): _NODES,
    Feature("faults.outages.server"): _NODES,
    Feature("faults.waits"): "messages wait for links that agents see come and go",
    Feature("faults.carry"): "what is told is carried for neighbours that come later (carry)",
    Feature("links.peer.bandwidth"): _QUEUES,
    Feature("links.peer.retry", Retry): "what is lost is repeated",
    Feature("links.peer.jitter", ExponentialJitter): _UNBOUNDED,
    Feature("links.peer.jitter", LognormalJitter): _UNBOUNDED,
}
"""Why something is in no list of what is known, in the order in which that is said."""


def unknown(network: Network, known: Set[Feature], unused: str = "links.uplink") -> Set[Feature]:
    """Return the features of *network* beyond those that are *known*.

    Args:
        network: The network.
        known: What a kernel processes.
        unused: How the keys begin of links over which it sends nothing.
    """
    return {feature for feature in features(network) - known if not feature.key.startswith(unused)}


def nothing_goes_wrong(network: Network) -> bool:
    """Return whether every message is delivered, on uplinks too, so that all are counted at once."""
    return features(network) <= COUNTED


def reason_against(unknown: Set[Feature]) -> str | None:
    """Return why messages go event by event where a feature is *unknown* to a kernel; None if none is."""
    why = next((why for feature, why in _WHY.items() if feature in unknown), None)
    if why is None and unknown:
        why = f"only event by event is it known what {min(map(str, unknown))} does"
    return why


def too_many(network: Network) -> str | None:
    """Return why too many messages are in flight at once; None if they are not."""
    channels = [channel for out in network.channels for channel in out]
    longest = max((channel.latency for channel in channels), default=0) + _longest(network.faults.peer)
    slots = longest // network.clock.slot + 2
    number = slots * len(channels)
    fits = number <= _MOST_UNDER_WAY and network.clock.end <= _MOST_NANOSECONDS
    if network.unreliable:  # see `Channels.expected` of `netbandit.simulation.kernels.faulty_links`
        fits = fits and number * network.clock.slot <= _MOST_NANOSECONDS
    return None if fits else "too many messages are under way at once"


def hop_slots(network: Network) -> NDArray[np.int64]:
    """Return all possible delays (slots) of a message, ascending, each at least 1."""
    faults, slot = network.faults.peer, network.clock.slot
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
        network: The network, with features of `KNOWN` only; see `too_many`. :meth:`finish` counts all messages in it.
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
        longest = int(self._latencies.max(initial=0)) + _longest(network.faults.peer)
        self.slowest = max(1, -(-longest // clock.slot))
        steady = network.faults.peer.jitter is None
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
        order, sent_at = self._order, window - self._whole
        sizes = self._delivered[sent_at % self._depth, order]
        times = window * self._clock.slot + self._within
        some = (sizes > 0) & (sent_at >= 0)
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
