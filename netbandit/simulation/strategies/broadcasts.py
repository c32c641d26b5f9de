"""The broadcast strategy: agents send to all others in slots known ahead, and receive on arrival.

`Slots` calls `Broadcasts`, which calls the learner and a carrier: a protocol, message by message, or a kernel.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.network.features import Feature, features
from netbandit.protocols.adapters import broadcast_protocol
from netbandit.protocols.broadcast import Heard
from netbandit.protocols.broadcast_over_rounds import BroadcastOverRounds
from netbandit.protocols.earliest import Earliest
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.local import Local
from netbandit.protocols.master_worker import MasterWorker
from netbandit.protocols.pooled import Pooled
from netbandit.protocols.protocol import Item
from netbandit.protocols.relay import Relay
from netbandit.simulation.byzantine_vectors import RowLies
from netbandit.simulation.carriers import BroadcastCarrier, Numbers, Received
from netbandit.simulation.dispatch.kernel_choice import chosen
from netbandit.simulation.dispatch.messages import BroadcastChoice, TreeChoice, to_neighbours
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.kernels.bulk_links import COUNTED, hop_slots
from netbandit.simulation.result import Metric
from netbandit.simulation.return_validation import figures_of
from netbandit.simulation.strategies.ages import age_figures, ages_of
from netbandit.simulation.strategies.communication import CommunicationStrategy, Learners
from netbandit.simulation.strategies.trace_phases import Phases


def bulk_carrier(context: ReplicationContext, learner: Learner) -> BroadcastCarrier | None:
    """Return the kernel for all broadcasts; None if they must go message by message."""
    protocol = context.protocol
    if chosen(BroadcastChoice(context, learner)):
        from netbandit.simulation.kernels.bulk_broadcasts import NeighboursInBulk, PooledInBulk

        if isinstance(protocol, Pooled):
            return PooledInBulk(context)
        assert isinstance(protocol, Local)
        if to_neighbours(protocol):
            return NeighboursInBulk(context)
        from netbandit.simulation.kernels.bulk_floods import FloodsInBulk

        return FloodsInBulk(context)
    if chosen(TreeChoice(context, learner)):
        from netbandit.simulation.kernels.bulk_trees import TreesInBulk

        return TreesInBulk(context)
    return None


_UNUSED: Mapping[type, tuple[str, ...]] = {
    Pooled: ("links.",),
    MasterWorker: ("links.peer",),
    Earliest: ("links.uplink",),
    Relay: ("links.uplink",),
    Local: ("links.uplink",),
    Flooding: ("links.uplink",),
    Gis: ("links.uplink",),
}
"""Protocols that may be causal, and how the keys begin of links that they do not use."""


class Broadcasts(CommunicationStrategy):
    """Agents that broadcast to each other in slots known ahead, and receive on arrival.

    With the protocol `Pooled` and ``when = "pull"``, each agent shares after its pull, and all others that are up
    receive before the next agent decides, within the same slot.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    lies: RowLies

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        super().__init__(context, learner)
        protocol = context.protocol
        self.in_turn = isinstance(protocol, Pooled) and protocol.when == "pull"
        if isinstance(protocol, Pooled) and self.in_turn:
            self.log = protocol.log
        carrier = None if self.in_turn else bulk_carrier(context, learner)
        self.carrier: BroadcastCarrier = carrier or BroadcastsByMessage(context, learner)
        self.members = self.carrier.members
        self.isolated = not (self.members > 1).any()
        self._times = 0  # slots in which agents have sent
        self._ages = None if self.in_turn else ages_of(context)

    def causal(self) -> bool:
        """See `CommunicationStrategy.causal`.

        So it is where nothing goes wrong, and all is known to all at once, or by the answers of a server, which come in
        the order of rounds, or comes along paths of which none is faster: no detour over an agent that learns from a
        message then overtakes the message itself.
        """
        protocol, network = self.context.protocol, self.context.network
        if self.isolated or type(protocol) not in _UNUSED:
            return self.isolated
        unused = "trace", "conditions", *_UNUSED[type(protocol)]  # what only watches changes nothing
        wrong = features(network) - COUNTED | features(network) & {Feature("links.uplink.bandwidth")}
        if any(not one.key.startswith(unused) for one in wrong):
            return False
        if type(protocol) in (Pooled, MasterWorker, Earliest):
            return getattr(protocol, "deadline", None) is None
        latencies = {channel.latency for out in network.channels for channel in out}
        if protocol.slotted and type(protocol) in (Relay, Local):
            latencies = set(hop_slots(network).tolist())
        return len(latencies) <= 1 and not getattr(protocol, "stop", 0.0)  # of paths of fewest hops

    def open(self, learners: Learners) -> None:
        """Attach the learner, and find when agents first broadcast."""
        super().open(learners)
        (self._learner,) = learners
        self.carrier.open(self._learner)
        self._all_tell = self._learner.has("next_share") or self.carrier.needs_all
        self._next = None if self.in_turn else self._learner.next_share(0)
        explored = self._learner.explored_slots()
        if self.isolated and explored is None:
            self._next = None  # no agent could receive it

    def should_send(self, slot: int, calls: NDArray[np.bool_]) -> bool:
        """Return whether a broadcast is due; if agents share in every slot, only those that decided in it send."""
        if self._next is None:
            return False
        return slot == self._next if self._all_tell else len(self.deciding) > 0

    def last(self, first: int, last: int) -> int:
        """Stop after the next slot in which agents broadcast; after each turn if those that decided send."""
        if self._next is not None and not self._all_tell:
            return first + 1
        return last if self._next is None else max(first + 1, min(last, self._next + 1))

    def send(self, slot: int, calls: NDArray[np.bool_]) -> None:
        """Let agents broadcast their rows."""
        if self.in_turn:
            self._send_at_once(slot)
            return
        self._next = self._learner.next_share(slot + 1)
        agents = self.present if self._all_tell else self.deciding
        if self.new_observations is not None:
            self._times += 1
            observed = self.new_observations(agents)
            if self.idle is not None:
                observed = [some[: 0 if idle else None] for some, idle in zip(observed, self.idle[agents], strict=True)]
            self.carrier.send(slot, agents, observed)
            return
        payload = self._learner.share(slot, agents) if len(agents) else None
        if payload is not None:
            silent = np.all(np.ma.getmaskarray(payload), axis=1)
            if self.idle is not None:
                silent |= self.idle[agents]
        if payload is None or silent.all():
            self.carrier.forward(slot)
            return
        payload = self.lies.sent(slot, agents, np.ma.getdata(payload))
        speaking = self.lies.speaking(agents)
        if len(speaking) < len(agents):
            speaks = np.isin(agents, speaking)
            agents, payload, silent = speaking, payload[speaks], silent[speaks]
        self._times += 1
        # No row is to the carrier what no observation is.
        rows = (
            [row[: not quiet] for row, quiet in zip(payload[:, np.newaxis], silent, strict=True)]
            if silent.any()
            else payload
        )
        self.carrier.send(slot, agents, rows)

    def _send_at_once(self, slot: int) -> None:
        """Let the agent that has just decided broadcast to all others, which receive it before the next one decides."""
        (agent,) = self.deciding.tolist()
        others = self.present[self.present != agent]
        payload = self._learner.share(slot, self.deciding)
        if payload is None or np.ma.getmaskarray(payload).all() or not len(others) or self.lies.is_mute(agent):
            return
        payload = self.lies.sent(slot, self.deciding, payload)
        sources, sent_at = np.full(len(others), agent), np.full(len(others), slot)
        if self._learn_of(slot, Received(others, sources, np.repeat(payload, len(others), axis=0), sent_at)):
            self._times = slot + 1
            self.carrier.heard += len(others)

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`."""
        self.carrier.on_down(agent, forgets=forgets)
        if forgets and self._ages is not None:
            self._ages.forget(self.clock.boundary(self.clock.now), agent)

    def apply_received(self, slot: int) -> None:
        """Pass all items received since the last decision to the learner, in order of arrival."""
        received = self.carrier.received(slot)
        if received is not None:
            self._learn_of(slot, received)

    def _learn_of(self, slot: int, received: Received) -> int:
        """Pass the rows that pass validation to the learner, see `Learner.receive`; return their number."""
        listeners, sources, payload, sent_at = received
        if self._ages is not None:
            self._ages.hear(slot, listeners, sources, sent_at)
        valid = self.lies.valid(sources, payload, sent_at)
        if valid is not None:
            listeners, sources, payload, sent_at = listeners[valid], sources[valid], payload[valid], sent_at[valid]
        if len(listeners):
            self._learner.receive(slot, listeners, sources, payload, sent_at)
        return len(listeners)

    @property
    def releases(self) -> int:
        """The number of releases; 0 if no agent could receive them."""
        shared = self.context.network.ledger.kinds or self.context.protocol.out_of_band
        return self._times if shared and not self.isolated else 0

    def metrics(self) -> dict[str, Metric]:
        """Return the number of slots with broadcasts, and their delay to the receivers."""
        carrier = self.carrier
        return {
            "rounds": self.releases,
            "round_slots": 0.0,
            "delay_slots": carrier.waited / carrier.heard if carrier.heard else None,
            **age_figures(self._ages),
            **carrier.figures(),
        }

    def finish(self) -> None:
        """Count the messages of kernels, and write the last phases to the trace."""
        self.carrier.finish()


class BroadcastsByMessage(BroadcastCarrier):
    """Carries each item by a protocol, event by event.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
    """

    def __init__(self, context: ReplicationContext, learner: Learner) -> None:
        self._context = context
        self._clock = context.clock
        self.protocol = broadcast_protocol(context.protocol, context.network, self._hear)
        self.protocol.absorbs = self._absorbs if hasattr(learner, "absorbs") else None
        self.members = np.array(self.protocol.reach, dtype=np.int64)
        self.needs_all = isinstance(self.protocol, BroadcastOverRounds)
        self._sent_at: list[int] = []
        self._heard: list[tuple[int, int, NDArray[np.float64], int]] = []
        self._phases: Phases | None = None

    def open(self, learner: Learner) -> None:
        """Attach the learner, and set up the trace of its phases, if any."""
        super().open(learner)
        trace, explored = self._context.network.trace, learner.explored_slots()
        if trace is not None and explored is not None:
            others = (self.members - 1).tolist()
            self._phases = Phases(trace, self._clock.slot, explored.tolist(), others, len(list(self._slots())))

    def _slots(self) -> Iterator[int]:
        """Yield the slots in which agents broadcast."""
        slot = self.learner.next_share(0)
        while slot is not None and slot < self._clock.horizon:
            yield slot
            slot = self.learner.next_share(slot + 1)

    def send(self, slot: int, agents: Numbers, payload: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> None:
        """See `BroadcastCarrier.send`; an agent without observations sends only if all must."""
        self._sent_at.append(slot)
        if self._phases is not None:
            self._phases.tell(slot)
        if not len(agents):
            return
        size = self.learner.item_bytes(payload[0].shape[-1])
        for agent, rows in zip(agents.tolist(), payload, strict=True):
            count = 1 if rows.ndim == 1 else len(rows)
            if count or self.needs_all:
                self._broadcast(agent, Item(count * size, rows))

    def _broadcast(self, agent: int, item: Item) -> None:
        """Let *agent* send its *item* of the newest broadcast, once that has been computed."""
        number = len(self._sent_at)
        self._context.network.when_computed(agent, "item", lambda _: self.protocol.broadcast(number, agent, item))

    def _absorbs(self, agent: int, item: Item) -> bool:
        return bool(self.learner.absorbs(agent, item.value))  # type: ignore[attr-defined]  # see above

    def _hear(self, agent: int, heard: list[Heard]) -> None:
        """Buffer the items that *agent* receives until its next decision, if it has one."""
        boundary = self._clock.boundary(self._clock.now)
        if boundary >= self._clock.horizon:
            return
        for source, round, item in heard:
            slot = self._sent_at[round - 1]
            self.waited += boundary - slot
            self._heard += [(agent, source, row, slot) for row in np.atleast_2d(item.value)]
        self.heard += len(heard)
        if self._phases is not None:
            self._phases.hear(agent, (message.round for message in heard), boundary)

    def received(self, slot: int) -> Received | None:
        """See `BroadcastCarrier.received`."""
        if not self._heard:
            return None
        listeners, sources, payload, sent_at = zip(*self._heard, strict=True)
        self._heard = []
        return Received(np.array(listeners), np.array(sources), np.array(payload), np.array(sent_at))

    def on_down(self, agent: int, *, forgets: bool) -> None:
        """See `CommunicationStrategy.on_down`."""
        self.protocol.leave(agent, forgets=forgets)
        if forgets:
            self._heard = [heard for heard in self._heard if heard[0] != agent]

    def figures(self) -> Mapping[str, Metric]:
        """Return the protocol's own metrics."""
        return figures_of(self.protocol, self.protocol.figures(), taken=("delay_slots", "age_slots"))

    def finish(self) -> None:
        """Write the last phases to the trace."""
        if self._phases is not None:
            self._phases.end(self._clock.horizon)
