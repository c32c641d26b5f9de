"""Local: agents near each other synchronise, by messages with a small hop limit."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from netbandit.network.cliques import cliques
from netbandit.network.clock import ADOPTIONS, AGENTS, SENDS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.component import Checks, CommunicationPattern, Mistake, Others, state
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.latest_versions import LatestVersions, Releasing, VersionedSum
from netbandit.protocols.local_broadcast import LocalBroadcast, LocalKeys, unused_by_calls
from netbandit.protocols.protocol import Item, NetworkProtocol, SeenLinks
from netbandit.protocols.ttl_flood import DisseminationState, TtlFlood

SYNC = Kind("SYNC")
RELEASE = Kind("RELEASE")


_MOST_SETS = 10_000

_AROUND = HEADER_BYTES + LABEL_BYTES
"""The bytes of a message besides the release that it carries; a call has another label in its place."""


class Meeting(NamedTuple):
    """A synchronisation of a clique.

    Attributes:
        clique: The clique.
        param_set: The set of parameters.
        slot: The slot in which it was called for.
    """

    clique: int
    param_set: int
    slot: int


class Progress:
    """How far a meeting has come.

    Only its participants and its messages refer to it: when none is left, even if the last message was lost, it is
    garbage-collected.

    Attributes:
        number: Its number among all synchronisations, from 1.
        furthest: `FloodPacket.furthest` of each packet, by (source, whether it is a call). An agent that releases twice
            sends copies of one packet: their contents are the same to all others.
        heard: For each member that takes part, the releases it has heard, by their source.
        concluded: The aggregate of the releases of these sources.
        joined: The number of members that take part; fewer than all if a call arrives so late that some are already in
            the next meeting.
        adopted: How many members have adopted.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.furthest: dict[tuple[int, bool], DisseminationState] = {}
        self.heard: dict[int, dict[int, Item]] = {}
        self.concluded: dict[tuple[int, ...], Item] = {}
        self.joined = 0
        self.adopted = 0


class Participation:
    """A meeting that an agent takes part in, until it adopts or goes down."""

    __slots__ = ("meeting", "progress")

    def __init__(self, meeting: Meeting, progress: Progress) -> None:
        self.meeting = meeting
        self.progress = progress


class SyncPacket(NamedTuple):
    """The payload of a message; see `netbandit.protocols.ttl_flood.FloodPacket`.

    Attributes:
        meeting: Its meeting.
        progress: The progress of the meeting.
        source: The agent that originated it.
        item: The release of this agent; None: a call.
        furthest: See there.
        left: The remaining hops.
        begun: When (ns) this hop began.
    """

    meeting: Meeting
    progress: Progress
    source: int
    item: Item | None
    furthest: DisseminationState
    left: int
    begun: int


_Copy = tuple[int, SyncPacket]
"""The sender, and the payload."""


class Local(TtlFlood[SyncPacket], LocalKeys, CallProtocol):
    """Messages reach agents at most ttl hops away; synchronisations are those of cliques.

    Decentralized FedUCB (Dubey & Pentland 2020, Algorithm 3).

    Agents are partitioned into cliques of the ttl-th power of the graph. With delta = ttl times the slots that a
    release takes over the slowest link: who calls in slot t tells the others by SYNC; members of its clique release
    after the decision of slot t + delta, and all adopt what they have heard of the clique's releases before the
    decision of slot t + 2 delta. What everybody knows ahead is released in slot t at once, and adopted before the
    decision of slot t + delta. A `deadline` takes the place of delta: what takes longer is late, and left out.

    Every message goes from neighbour to neighbour, but not back to those it came from, and is dropped after ttl hops; a
    node passes it on again only if it may go further than any copy before. Slotted, a hop takes effect at a boundary
    after the one it began at; asynchronous, at once. Where several messages queue for a link of limited bandwidth, one
    may come too late: it is then left out by those who have not heard it. Where something can be lost, or with a
    deadline, who has not heard the release of a member in time goes on with the newest one that it has of it.

    In rounds an agent concludes when it has heard all agents within ttl hops, or at its `deadline`.
    """

    uses_uplinks: ClassVar[bool] = False
    counts_slots: ClassVar[bool] = True
    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"call", "broadcast", "round"})
    stand_ins: ClassVar[Mapping[CommunicationPattern, type[NetworkProtocol]]] = {
        "broadcast": LocalBroadcast,
        "round": LocalBroadcast,
    }
    forgetful: ClassVar[bool] = True

    delay: int = state()
    """delta, in slots."""
    late: int = state(default=0)
    """Releases of an agent's own clique that it heard too late to use."""

    def over_seen_links(self, talk: str) -> SeenLinks | None:
        """See `NetworkProtocol.over_seen_links`: trees wait, and floods go to those who are there, or come later."""
        if talk == "call":
            return None if self.deadline is None else "choose"
        return "wait" if self.route == "tree" else "choose"

    @property
    def isolated(self) -> bool:
        """Whether messages go nowhere."""
        return self.ttl == 0

    @property
    def differs(self) -> bool:
        """Whether agents hear of different agents in a round: those near them."""
        return not self.isolated

    def fewest_together(self, graph: Topology) -> int:
        """See `NetworkProtocol.fewest_together`: those of the smallest clique."""
        return int(np.bincount(cliques(graph, self.ttl)).min())

    def start(self, network: Network, sync_handler: SyncHandler) -> None:
        """See `CallProtocol.start`."""
        super().start(network, sync_handler)
        self._slotted = self.slotted
        self.groups = cliques(network.topology, self.ttl)
        patience = self.deadline_ns(self.clock.slot)
        if patience is None:
            slowest = max((channel.latency for out in network.channels for channel in out), default=0)
            slowest += network.transmission(network.header + LABEL_BYTES + sync_handler.release_size)
            self.delay = self.ttl * max(1, self.clock.boundary(slowest))
        else:
            self.delay = self.clock.boundary(patience)
        self.sets = max(1, self.delay if self.stride is None else self.stride)
        if self.sets < self.delay:
            raise ValueError(
                f"protocol.stride must be at least {self.delay}: with their bandwidth, {self.ttl} hops take that long"
            )
        self._members = [0] * (max(self.groups, default=-1) + 1)
        for clique in self.groups:
            self._members[clique] += 1
        self._meetings: WeakValueDictionary[Meeting, Progress] = WeakValueDictionary()
        self._met = 0
        self._naming = network.may_lose or self.deadline is not None
        self._sums = [VersionedSum(sync_handler.aggregate) for _ in range(self.sets)]
        self._releasing = Releasing(network.agents, self.sets)
        # Of each agent and set of parameters, where something can be lost.
        self._held: defaultdict[tuple[int, int], LatestVersions] = defaultdict(LatestVersions)
        self._joined: list[dict[int, Participation]] = [{} for _ in self.groups]
        self._hops: InstantQueue[_Copy] = InstantQueue(self.clock, self._hear_all, AGENTS)
        self._adoptions: InstantQueue[Participation] = InstantQueue(self.clock, self._adopt, ADOPTIONS)
        self._releases: InstantQueue[Participation] = InstantQueue(self.clock, self._release, SENDS)

    def check_with(self, others: Others) -> Checks:
        """Yield fewer sets than the slots that ttl hops take: a set would be used again before it is synchronised."""
        yield from unused_by_calls(self)
        if self.carry is not None:
            yield Mistake(
                "carry", "must be left out: calls and releases go to those who are there, and wait for nobody"
            )
        patience = self.deadline_ns(others.slot)
        if patience is None:
            hop = others.slowest_hop(_AROUND)
            needed = self.ttl * hop
            hops = f"{self.ttl:,} hop{'s' * (self.ttl > 1)} of {hop:,} slot{'s' * (hop > 1)}"
        else:
            needed = -(-patience // others.slot)
            hops = f"{needed:,} slot{'s' * (needed > 1)} of the deadline"
        if needed > _MOST_SETS:
            text = f"asks for {needed:,} sets of parameters, {hops}; an agent can keep {_MOST_SETS:,}"
            shorter = "links faster or slots longer"
            if patience is None:
                yield Mistake("ttl", f"{text}: make it smaller, {shorter}")
            else:
                yield Mistake("deadline", f"{text}: make it shorter, or slots longer")
        elif self.stride is not None and self.stride < needed:
            yield Mistake("stride", f"must be at least {needed}: {hops} take that long")

    def figures(self) -> dict[str, float | int | None]:
        """Return how many releases came too late to be used."""
        return {"late": self.late}

    def call(self, agent: int, param_set: int) -> None:
        """Call the members of the agent's clique to synchronise the set of this slot."""
        meeting = Meeting(self.groups[agent], param_set, self.clock.now // self.clock.slot)
        progress = self._progress(meeting)
        self._join(agent, meeting, progress, self.delay)
        self._say(agent, meeting, progress, None)

    def begin(self, agent: int, param_set: int) -> None:
        """Release at once: the whole clique does."""
        meeting = Meeting(self.groups[agent], param_set, self.clock.now // self.clock.slot)
        self._join(agent, meeting, self._progress(meeting), 0)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Process arrivals, now or at the slot boundary."""
        if not self._slotted:
            self.receive_copies(node, [(sender, message.value) for _, sender, message in arrivals])
            return
        for arrived, sender, message in arrivals:
            packet: SyncPacket = message.value
            self._hops.at(self.clock.effective_time(packet.begun, arrived), node, (sender, packet))

    def _hear_all(self, due: list[tuple[int, list[_Copy]]]) -> None:
        for node, copies in due:
            self.receive_copies(node, copies)

    def on_new_packet(self, node: int, packet: SyncPacket) -> None:
        """Process a call or a release of the node's own clique."""
        if self.groups[node] != packet.meeting.clique:
            return
        if packet.item is None:
            self._join(node, packet.meeting, packet.progress, self.delay)
        else:
            if self._naming:
                self._held[node, packet.meeting.param_set].take(packet.item.value)
            part = self._joined[node].get(packet.meeting.param_set)
            if part is not None and part.progress is packet.progress:
                packet.progress.heard.setdefault(node, {})[packet.source] = packet.item
            else:
                self.late += 1

    def forward(self, node: int, packet: SyncPacket, left: int, senders: Sequence[int]) -> None:
        """See `TtlFlood.forward`."""
        there = self.network.present_neighbours.of(self.network.channels[node])
        channels = [channel for channel in there if channel.receiver not in senders]
        if channels:
            kind = SYNC if packet.item is None else RELEASE
            told_bytes = _AROUND if packet.item is None else self.network.header + packet.item.size
            size = told_bytes + LABEL_BYTES
            forwarded = packet._replace(left=left, begun=self.clock.now)
            self.network.send(Message(kind, size, forwarded, packet.progress.number), channels)

    def _say(self, agent: int, meeting: Meeting, progress: Progress, item: Item | None, _: object = None) -> None:
        """Let *agent* send its release, or with None a call."""
        furthest = progress.furthest.setdefault((agent, item is None), DisseminationState())
        self.originate(agent, SyncPacket(meeting, progress, agent, item, furthest, self.ttl, self.clock.now))

    def _progress(self, meeting: Meeting) -> Progress:
        progress = self._meetings.get(meeting)
        if progress is None:
            self._met += 1
            progress = self._meetings[meeting] = Progress(self._met)
        return progress

    def _join(self, agent: int, meeting: Meeting, progress: Progress, wait: int) -> None:
        """Let *agent* take part in *meeting*, *wait* slots after it was called for, unless it takes part in one."""
        joined = self._joined[agent]
        if meeting.param_set in joined:
            return
        part = joined[meeting.param_set] = Participation(meeting, progress)
        progress.joined += 1
        self.ended.pop(progress.number, None)  # it is not over yet
        self.sync_handler.sync_started(agent, meeting.param_set)
        slot = self.clock.slot
        # A call that queued behind others may come late.
        released = max((meeting.slot + wait) * slot, self.clock.now)
        adopted = max(meeting.slot + wait + self.delay, released // slot + 1) * slot
        self._releases.at(released, agent, part)
        self._adoptions.at(adopted, agent, part)

    def leave(self, agent: int, *, forgets: bool) -> None:
        """See `CallProtocol.leave`."""
        for part in self._joined[agent].values():
            part.progress.heard.pop(agent, None)
            part.progress.joined -= 1
            self._end_if_over(part.progress)
        self._joined[agent].clear()
        if forgets:
            self._releasing.begin_anew(agent)
            for param_set in range(self.sets):
                self._held.pop((agent, param_set), None)
            for progress in self._meetings.values():
                for furthest in progress.furthest.values():
                    furthest.pop(agent, None)

    def _release(self, due: list[tuple[int, list[Participation]]]) -> None:
        if self.clock.now >= self.clock.end:
            return
        for agent, parts in due:
            for part in parts:
                meeting, progress = part.meeting, part.progress
                if self._joined[agent].get(meeting.param_set) is not part:
                    continue  # it was down meanwhile
                item = self.sync_handler.release(agent, meeting.param_set)
                if item is None:
                    self._drop_out(agent, part)
                    continue
                if self._naming:
                    item = self._releasing.name(agent, item, meeting.param_set)
                    self._held[agent, meeting.param_set].take(item.value)
                progress.heard.setdefault(agent, {})[agent] = item
                self.network.when_computed(agent, "item", partial(self._say, agent, meeting, progress, item))

    def _drop_out(self, agent: int, part: Participation) -> None:
        """Let *agent* take part in a meeting no more, which it tells nothing."""
        del self._joined[agent][part.meeting.param_set]
        part.progress.heard.pop(agent, None)
        part.progress.joined -= 1
        self._end_if_over(part.progress)
        self.sync_handler.sync_missed(agent, part.meeting.param_set)

    def _adopt(self, due: list[tuple[int, list[Participation]]]) -> None:
        if self.clock.now > self.clock.end:
            return
        for agent, parts in due:
            for part in parts:
                param_set, progress = part.meeting.param_set, part.progress
                if self._joined[agent].get(param_set) is not part:
                    continue  # it was down meanwhile
                del self._joined[agent][param_set]
                heard = progress.heard.pop(agent)
                if self._naming:
                    held = self._held[agent, param_set]
                    included = self._releasing.included(agent, held)
                    self.sync_handler.apply_sync(
                        agent, param_set, self._sums[param_set].of(held), progress.number, included
                    )
                else:
                    self.sync_handler.apply_sync(agent, param_set, self._conclusion(progress, heard), progress.number)
                progress.adopted += 1
                self._end_if_over(progress)

    def _end_if_over(self, progress: Progress) -> None:
        """End a meeting if all its participants have adopted; its messages may still reach others."""
        if progress.adopted and progress.adopted == progress.joined:
            self.end(progress.number)

    def _conclusion(self, progress: Progress, heard: dict[int, Item]) -> Item:
        """Return the aggregate of the releases *heard*, computed once for each set of sources."""
        sources = tuple(sorted(heard))
        found = progress.concluded.get(sources)
        if found is None:
            found = progress.concluded[sources] = self.sync_handler.aggregate([heard[source] for source in sources])
        return found
