"""Decides which broadcasts and exchanges can go in bulk, over all links at once. Whenever possible, it pays off."""

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from netbandit.learners.counts import CountingLearner, tells_observations
from netbandit.learners.slots import Learner
from netbandit.network.features import Feature
from netbandit.network.outages import Failing
from netbandit.protocols.consensus import Consensus
from netbandit.protocols.local import Local
from netbandit.protocols.pooled import Pooled
from netbandit.protocols.relay import Relay
from netbandit.simulation.dispatch.kernel_choice import (
    FATES_OPEN,
    NONE_FOR_PROTOCOL,
    SOME_MUTE,
    KernelChoice,
)
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.kernels import bulk_links
from netbandit.simulation.kernels.bulk_links import hop_slots, slots_of_hops

_MOST_HOPS = 1_000
_MOST_WORDS = 1 << 23
"""The most 64-bit words that may be kept: 64 MB."""

_MOST_SOURCES = 2_000  # some forty numbers are kept per source and agent
_LATEST = 1 << 60

_KNOWN_OF_POOLED = bulk_links.KNOWN | {Feature("faults.server", Failing), Feature("faults.outages.server")}


@dataclass(frozen=True)
class BulkChoice(KernelChoice):
    """Kernels that process the messages of all agents at once.

    Attributes:
        context: The replication context.
    """

    name: ClassVar[str] = "in bulk"

    context: ReplicationContext

    @property
    def unknown(self) -> Set[Feature]:
        """Which features of the network it does not process."""
        return bulk_links.unknown(self.context.network, bulk_links.KNOWN)

    def unprofitable_reason(self) -> str | None:
        """See `KernelChoice.unprofitable_reason`: it always pays off."""
        return None

    def _single_reason(self) -> str | None:
        """Return why messages must go event by event, whatever the protocol; None if they need not."""
        return FATES_OPEN if self.context.network.deferred_outcomes else bulk_links.reason_against(self.unknown)

    def _inactive_reason(self) -> str | None:
        """Return why some agents may not act in some slots; None if all act in every slot."""
        if self.context.some_are_mute:
            return SOME_MUTE
        every = self.context.run.activity == "every" and not self.context.run.idle
        return None if every else "not all agents decide in every slot"


def tells_several(context: ReplicationContext, learner: Learner) -> bool:
    """Return whether an agent may have several observations to send at once, or none, because rewards are delayed."""
    return context.feedback is not None and tells_observations(learner)


@dataclass(frozen=True)
class BroadcastChoice(BulkChoice):
    """Broadcasts of all agents in every slot, over one hop or by floods, slotted, over links without queueing.

    Links may fail, and lose, delay or duplicate messages.

    Attributes:
        learner: The learner, not yet started.
    """

    learner: Learner

    @property
    def unknown(self) -> Set[Feature]:
        """See `BulkChoice.unknown`; what is pooled is not sent."""
        if isinstance(self.context.protocol, Pooled):
            return bulk_links.unknown(self.context.network, _KNOWN_OF_POOLED, unused="links.")
        return super().unknown

    def unsupported_reason(self) -> str | None:
        """See `KernelChoice.unsupported_reason`."""
        protocol = self.context.protocol
        if type(protocol) is not Pooled and (type(protocol) is not Local or not protocol.ttl):
            return NONE_FOR_PROTOCOL
        if self.learner.has("next_share"):
            return "agents do not tell something in every slot"
        if tells_several(self.context, self.learner):
            return "rewards may be late, and agents send each of them"
        if self.learner.may_be_silent:
            return "some agents may have nothing to tell"
        if (why := self._single_reason()) is not None:
            return why
        if isinstance(protocol, Local) and not protocol.slotted:
            return 'hops take effect at once (timing = "asynchronous")'
        return self._inactive_reason()

    def unsupported_event(self) -> str | None:
        """See `KernelChoice.unsupported_event`."""
        protocol = self.context.protocol
        if not isinstance(protocol, Local):
            return None
        if (why := bulk_links.too_many(self.context.network)) is not None:
            return why
        if protocol.carry is not None:
            return "what is told is carried for neighbours that come later (carry)"
        if to_neighbours(protocol):
            return None
        if protocol.route != "flood":
            return 'what is told goes along trees (route = "tree")'
        return self._flood_reason(protocol)

    def _flood_reason(self, protocol: Local) -> str | None:
        """Return why floods cannot go in bulk; None if their state fits in memory and absorption is known."""
        if protocol.absorb and type(self.learner).absorbs is not CountingLearner.absorbs:  # type: ignore[attr-defined]
            return "this learner has a method absorbs of its own"
        network = self.context.network
        agents, channels = self.context.topology.agents, sum(map(len, network.channels))
        words = -(-agents // 64)
        hop = hop_slots(network)
        slowest = int(hop[-1])
        ages = protocol.ttl * slowest + 1
        too_many = "what is under way at once is too much to be kept"
        if ages * len(hop) > _MOST_WORDS or protocol.ttl > _MOST_HOPS:
            return too_many
        contents = sum(map(len, slots_of_hops(hop, protocol.ttl - 1)))
        kept = slowest * channels * contents + channels * ages + ages * agents * protocol.ttl
        return None if kept * words <= _MOST_WORDS else too_many


@dataclass(frozen=True)
class TreeChoice(BulkChoice):
    """Broadcasts along trees without faults, by any agents at any time.

    Attributes:
        learner: The learner, not yet started.
    """

    learner: Learner

    def unsupported_reason(self) -> str | None:
        """See `KernelChoice.unsupported_reason`."""
        protocol, network = self.context.protocol, self.context.network
        if type(protocol) is not Relay and not (type(protocol) is Local and protocol.route == "tree" and protocol.ttl):
            return NONE_FOR_PROTOCOL
        if tells_several(self.context, self.learner):
            return "rewards may be late, and agents send each of them"
        if self.learner.may_be_silent:
            return "some agents may have nothing to tell"
        if network.agents <= 1:
            return "there is one agent alone"
        if network.agents > _MOST_SOURCES:
            return f"{network.agents:,} agents: its arrays would take many gigabytes (at most {_MOST_SOURCES:,})"
        if (why := self._single_reason()) is not None:
            return why
        if not bulk_links.nothing_goes_wrong(network):
            return "what goes along trees may be lost, late or doubled"
        return None

    def unsupported_event(self) -> str | None:
        """See `KernelChoice.unsupported_event`."""
        network = self.context.network
        if (why := bulk_links.too_many(network)) is not None:
            return why
        hops = sum(max((one.latency for one in near), default=0) for near in network.channels)
        fits = network.clock.end + hops + network.agents * network.clock.slot < _LATEST
        return None if fits else "times are longer than a loop counts"


def to_neighbours(protocol: Local) -> bool:
    """Return whether agents send to their neighbours only, which forward and absorb nothing."""
    return protocol.ttl == 1 and not protocol.absorb


@dataclass(frozen=True)
class ExchangeChoice(BulkChoice):
    """Exchanges of rows: all agents step together, or each steps once it holds the rows it needs."""

    def unsupported_reason(self) -> str | None:
        """See `KernelChoice.unsupported_reason`."""
        protocol = self.context.protocol
        if type(protocol) is not Consensus:
            return NONE_FOR_PROTOCOL
        if (why := self._single_reason()) is not None:
            return why
        if protocol.deadline is not None:
            return "agents step without others after a deadline"
        return self._inactive_reason()

    def unsupported_event(self) -> str | None:
        """See `KernelChoice.unsupported_event`."""
        return None if step_together(self.context) else bulk_links.too_many(self.context.network)


def step_together(context: ReplicationContext) -> bool:
    """Return whether every row takes the same number of slots, and none is lost, so that all agents step together."""
    protocol, network = context.protocol, context.network
    assert isinstance(protocol, Consensus)
    if not bulk_links.nothing_goes_wrong(network):
        return False
    slot = network.clock.slot
    delays = {max(1, -(-channel.latency // slot)) for channels in network.channels for channel in channels}
    return len(delays) <= 1 and (protocol.pace == "step" or delays <= {1})
