"""Leave notices: a departing agent floods one header-only message that holds for all later rounds."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from simpy.events import EventPriority

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.ttl_flood import DisseminationState, TtlFlood

LEAVE = Kind("DONE")
LEAVE_FLOODED = Kind("DONE")
"""The kind of notices that are flooded separately from other messages, and reported with the others by one name."""


class _LeaveNotice(NamedTuple):
    """The payload of a `LeaveFlood` message; see `netbandit.protocols.ttl_flood.FloodPacket`.

    Attributes:
        source: The departing agent.
        round: The first round without it.
        furthest: See there.
        left: The remaining hops.
        begun: When (ns) this hop began.
    """

    source: int
    round: int
    furthest: DisseminationState
    left: int
    begun: int


class LeaveFlood(TtlFlood[_LeaveNotice]):
    """A flooded leave notice, a header without payload; see `netbandit.protocols.ttl_flood`.

    Each copy counts separately, even if several arrive at once. Slotted, a hop takes effect at a boundary after the one
    it began at; asynchronous, at once.

    Args:
        network: The network.
        slotted: See above.
        hops: The hop limit; None: unlimited.
        hear: Called with (node, agent, round) when a node first learns that an agent has left from *round* on.
    """

    def __init__(
        self, network: Network, slotted: bool, hops: int | None, hear: Callable[[int, int, int], None]
    ) -> None:
        self.network = network
        self._slotted = slotted
        self._hops = network.agents if hops is None else hops
        self.hear = hear
        self._furthest: defaultdict[tuple[int, int], DisseminationState] = defaultdict(DisseminationState)
        self._steps: InstantQueue[tuple[int, _LeaveNotice]] = InstantQueue(network.clock, self._act, AGENTS)

    def say(self, agent: int, round: int) -> None:
        """Flood the notice of *agent*, in this instant."""
        now = self.network.clock.now
        self.originate(agent, _LeaveNotice(agent, round, self._furthest[agent, round], self._hops, now))

    def receive(self, node: int, arrival: Arrival) -> None:
        """Process an arrival at *node*, now or at the slot boundary."""
        arrived, sender, message = arrival
        packet: _LeaveNotice = message.value
        if self._slotted:
            self._steps.at(self.network.clock.effective_time(packet.begun, arrived), node, (sender, packet))
        else:
            self.receive_copies(node, [(sender, packet)])

    def _act(self, due: list[tuple[int, list[tuple[int, _LeaveNotice]]]]) -> None:
        for node, copies in due:
            for copy in copies:
                self.receive_copies(node, [copy])

    def on_new_packet(self, node: int, packet: _LeaveNotice) -> None:
        """See `TtlFlood.on_new_packet`."""
        self.hear(node, packet.source, packet.round)

    def forward(self, node: int, packet: _LeaveNotice, left: int, senders: Sequence[int]) -> None:
        """See `TtlFlood.forward`."""
        channels = [channel for channel in self.network.channels[node] if channel.receiver not in senders]
        if channels:
            forwarded = packet._replace(left=left, begun=self.network.clock.now)
            self.network.send(Message(LEAVE_FLOODED, HEADER_BYTES, forwarded, packet.round), channels)


class LeaveUpwards:
    """Sends a leave notice to the root of the agent's tree: a header that each node forwards to its parent.

    Args:
        network: The network.
        parents: Each agent's parent, -1 for a root.
        slotted: Whether a hop ends at a slot boundary.
        turn: The turn of an instant in which nodes pass it on.
        on_done: Called with (agent, round) when the root of *agent* knows.
    """

    def __init__(
        self,
        network: Network,
        parents: Sequence[int],
        slotted: bool,
        turn: EventPriority,
        on_done: Callable[[int, int], None],
    ) -> None:
        self._network = network
        self._parents = parents
        self._slotted = slotted
        self._on_done = on_done
        self._steps: InstantQueue[tuple[int, int]] = InstantQueue(network.clock, self._act, turn)

    def say(self, agent: int, round: int) -> None:
        """Announce that *agent* leaves from *round* on."""
        self._pass_on(agent, agent, round)

    def receive(self, node: int, arrival: Arrival) -> None:
        """Forward the notice of a child to the parent of *node*."""
        arrived, _, message = arrival
        agent, begun = message.value
        due = self._network.clock.effective_time(begun, arrived) if self._slotted else arrived
        self._steps.at(due, node, (agent, message.round))

    def _act(self, due: list[tuple[int, list[tuple[int, int]]]]) -> None:
        for node, packets in due:
            for agent, round in packets:
                self._pass_on(node, agent, round)

    def _pass_on(self, node: int, agent: int, round: int) -> None:
        parent = self._parents[node]
        if parent < 0:
            self._on_done(agent, round)
        else:
            message = Message(LEAVE, HEADER_BYTES, (agent, self._network.clock.now), round)
            self._network.send(message, (self._network.channel(node, parent),))
