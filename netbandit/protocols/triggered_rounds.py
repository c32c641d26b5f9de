"""Synchronisations over any round protocol: a call message, then a round in which all take part."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Self

from simpy import Event

from netbandit.network.clock import AGENTS, SENDS, InstantQueue, ScheduledEvent
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.deadline import DEADLINES, DeadlineKey
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.latest_versions import LatestVersions, Releases, Releasing, VersionedSum
from netbandit.protocols.protocol import CallbackRoundProtocol, Item

ASK = Kind("ASK")
CALL = Kind("CALL")


class TriggeredRounds(CallProtocol):
    """Rounds of another protocol, each begun by a call of the agent that first wants one.

    All agents are one group with one set of parameters. A call is flooded from neighbour to neighbour, or goes up to
    the server and down to all agents, which contribute after the decision of the slot in which they receive it. A call
    during a synchronisation is dropped: its sender takes part in that one. A synchronisation without a call begins
    with the contributions.

    A call to a server, or its answer, may be lost. With a `deadline`, an agent that has received nothing two deadlines
    after its call may call again; the server then informs it of the current round.

    If messages can be lost, the server, or without one each agent, keeps the latest release of every agent, and a sum
    is labelled with the releases that it contains. An agent that goes down leaves the current synchronisation.
    """

    rounds: CallbackRoundProtocol = state()
    """The protocol of rounds."""

    @classmethod
    def over(cls, rounds: CallbackRoundProtocol) -> Self:
        """Return the synchronisations over a protocol of rounds, which is started with them."""
        found = cls(timing=rounds.timing)
        found.rounds = rounds
        return found

    @property
    def isolated(self) -> bool:
        """Whether the rounds are isolated: see `NetworkProtocol.isolated`."""
        return self.rounds.isolated

    def start(self, network: Network, sync_handler: SyncHandler) -> None:
        """See `CallProtocol.start`."""
        super().start(network, sync_handler)
        self._per_agent = self.rounds.has_deadline
        self._naming = network.may_lose or self._per_agent
        self._sums = VersionedSum(sync_handler.aggregate)
        self._releasing = Releasing(network.agents)
        self._held = [LatestVersions() for _ in range(network.agents)]
        everybody = Everybody(network.agents, sync_handler.aggregate)
        if self._naming:
            everybody = EverybodyNamed(network.agents, self._sums, served=self.rounds.served, per_agent=self._per_agent)
        self.rounds.start(network, everybody)
        self._receive_round = self.rounds.handler
        if not self._naming:  # else a round may end for some alone
            self.rounds.ended = self.ended
        self.groups = [0] * network.agents
        served, by_peers = self.rounds.served, self.rounds.uses_peer_links
        signal = FloodedCall if not served else SinkCall if by_peers else ServerCall
        self._signal: Signal = signal(network, self.slotted, self._hear, self.rounds.answered)
        self._joined = [0] * network.agents  # the round that each agent takes part in, or took part in last
        self._answered = [0] * network.agents  # the number of the latest answer of the server that it has heard
        self._calls = [0] * network.agents  # how often each has called, or gone down
        self._unheard = [0] * network.agents  # the round that it has called for in vain
        deadline = self.rounds.deadline_ns(network.clock.slot) if isinstance(self.rounds, DeadlineKey) else None
        self._patience = 2 * deadline if deadline is not None and network.may_lose else None
        self._contributed = [0] * network.agents  # the latest round, in any incarnation
        self._left = [0] * network.agents  # the round that it took part in when it went down
        self._steps: InstantQueue[int] = InstantQueue(self.clock, self._contribute, SENDS)

    def call(self, agent: int, param_set: int) -> None:
        """Call everybody to the next round."""
        round = self._joined[agent] + 1
        if round == self._unheard[agent]:
            self._signal.repeat(agent, round)
        else:
            self._signal.call(agent, round)
        if self._joined[agent] < round and self._patience is not None:  # a server is to pass the call on
            self._calls[agent] += 1
            number = self._calls[agent]
            missed = ScheduledEvent([lambda _: self._miss_call(agent, round, number)])
            self.clock.environment.schedule(missed, DEADLINES, self._patience)

    def _miss_call(self, agent: int, round: int, number: int) -> None:
        """Allow *agent* a new call if its call of that *number* had no effect."""
        if number == self._calls[agent] and self._joined[agent] < round and self.clock.now <= self.clock.end:
            self._unheard[agent] = round
            self.sync_handler.sync_missed(agent, 0)

    def begin(self, agent: int, param_set: int) -> None:
        """Contribute to the next round, uncalled."""
        self._hear(agent, self._joined[agent] + 1)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle calls, and pass messages of rounds to the round protocol."""
        rest = []
        for arrival in arrivals:
            kind = arrival[2].kind
            if kind is CALL or kind is ASK:
                self._signal.receive(node, arrival)
            else:
                rest.append(arrival)
        if rest:
            self._receive_round(node, rest)

    def _hear(self, agent: int, round: int) -> None:
        """Let *agent* contribute to *round*, after the decision of this slot."""
        if round > self._joined[agent]:
            self._joined[agent] = round
            self.sync_handler.sync_started(agent, 0)
            self._steps.at(self.clock.now, agent, round)

    def _contribute(self, due: list[tuple[int, list[int]]]) -> None:
        if self.clock.now >= self.clock.end:
            return
        for agent, round in ((agent, round) for agent, rounds in due for round in rounds):
            if not self.rounds.served and round in self.rounds.ended:  # while it was down
                self.sync_handler.sync_missed(agent, 0)
                continue
            if round <= self._contributed[agent]:  # in an earlier incarnation, and the round is still open
                if self._per_agent:
                    self.sync_handler.sync_missed(agent, 0)
                continue
            self._contributed[agent] = round
            item = self.sync_handler.release(agent, 0)
            if item is None:
                continue
            if self._naming:
                item = self._releasing.name(agent, item)
                self._held[agent].take(item.value)
            self.network.when_computed(agent, "item", partial(self._contribute_computed, agent, round, item))

    def _contribute_computed(self, agent: int, round: int, item: Item, _: object) -> None:
        informed = self.rounds.contribute(round, agent, item)
        if informed.callbacks is None:  # the answer came first
            self._inform(agent, round, informed)
        else:
            informed.callbacks.append(partial(self._inform, agent, round))

    def _inform(self, agent: int, round: int, informed: Event) -> None:
        """Let *agent* apply what it is informed of, once it has put that together itself where no server does."""
        if self.rounds.served or informed.value is None or self.network.is_down(agent):
            self._apply(agent, round, informed)
        else:
            self.network.when_computed(agent, "aggregate", lambda _: self._apply(agent, round, informed))

    def _apply(self, agent: int, round: int, informed: Event) -> None:
        """Let *agent* apply the conclusion of a round, unless it is, or was meanwhile, down."""
        if self.network.is_down(agent):
            return
        if round <= self._left[agent] and not self.rounds.served:
            self.sync_handler.sync_missed(agent, 0)
            return
        aggregate: Item | None = informed.value
        if aggregate is None:  # its deadline has passed, and it has heard nothing
            self.sync_handler.sync_missed(agent, 0)
            return
        if not self._naming:
            self.sync_handler.apply_sync(agent, 0, aggregate, round)
            return
        releases: Releases
        if self.rounds.served:
            number, releases, total = aggregate.value
            if number < self._answered[agent]:  # the server has answered it later, and with more
                if round == self._joined[agent]:
                    self.sync_handler.sync_missed(agent, 0)
                return
            self._answered[agent] = number
        else:  # it sums by itself
            self._held[agent].take(aggregate.value)
            releases = self._held[agent]
            total = self._sums.of(releases)
        included = self._releasing.included(agent, releases)
        self.sync_handler.apply_sync(agent, 0, total, round, included)
        self.end(round)  # others may never be informed

    def figures(self) -> dict[str, float | int | None]:
        """Return how much came too late to be used, if there is a deadline."""
        late: int | None = getattr(self.rounds, "late", None)
        return {"late": late} if self._per_agent and late is not None else {}

    def leave(self, agent: int, *, forgets: bool) -> None:
        """See `CallProtocol.leave`."""
        self._left[agent] = self._joined[agent]
        self._calls[agent] += 1
        if forgets:
            self.rounds.forget(agent)
            self._joined[agent] = 0
            self._signal.forget(agent)
            self._held[agent].clear()
            self._releasing.begin_anew(agent)


class EverybodyNamed(Everybody):
    """As `Everybody`, where some may be missing: the server keeps the newest release of each agent.

    Args:
        agents: The number of agents.
        sums: Computes the sums.
        served: Whether there is a server; if not, each agent sums by itself.
        per_agent: Whether agents wait for a deadline only, and so may hold different releases.
    """

    def __init__(self, agents: int, sums: VersionedSum, *, served: bool, per_agent: bool) -> None:
        super().__init__(agents, self._put_together)
        self.per_agent = per_agent
        self._sums = sums
        self._kept = LatestVersions() if served else None
        self._answers = 0

    def _put_together(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        found = LatestVersions()
        for item in items:
            found.take(item.value)
        return Item(self._sums.of(found).size, found)

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Return the sum of the newest releases at the server, and its number; or the *aggregate* itself."""
        if self._kept is None:
            return aggregate
        self._kept.take(aggregate.value)
        self._answers += 1
        total = self._sums.of(self._kept)
        return Item(total.size, (self._answers, dict(self._kept), total))


class Signal(ABC):
    """Propagates a call to all agents.

    An agent that has missed calls, because it was down or they were lost, may call for an earlier round: it is then
    informed of the latest one.

    Args:
        network: The network.
        slotted: Whether a hop between agents takes effect at a slot boundary.
        hear: Called with (agent, round) when an agent hears the call to a round.
        over: Says whether a round has ended.
    """

    def __init__(
        self, network: Network, slotted: bool, hear: Callable[[int, int], None], over: Callable[[int], bool]
    ) -> None:
        self._network = network
        self._clock = network.clock
        self._slotted = slotted
        self._tell = hear
        self._over = over

    @abstractmethod
    def call(self, agent: int, round: int) -> None:
        """Call all agents to *round* on behalf of *agent*."""

    def repeat(self, agent: int, round: int) -> None:
        """Let *agent* repeat its call for *round*, to which it has received no answer."""
        self.call(agent, round)

    @abstractmethod
    def receive(self, node: int, arrival: Arrival) -> None:
        """Let *node* process and forward an arrival."""

    def forget(self, agent: int) -> None:
        """Discard the memory of *agent*; by default there is none."""
        return


class FloodedCall(Signal):
    """A flooded label: every node forwards it to its other neighbours when it is new."""

    def __init__(
        self, network: Network, slotted: bool, hear: Callable[[int, int], None], over: Callable[[int], bool]
    ) -> None:
        super().__init__(network, slotted, hear, over)
        self._heard = [0] * network.agents
        self._heard_at = [-1] * network.agents
        self._steps: InstantQueue[tuple[int, int]] = InstantQueue(self._clock, self._hear_all, AGENTS)

    def call(self, agent: int, round: int) -> None:
        """See :meth:`Signal.call`. An agent that has just received a call joins that round, and calls for no other."""
        if self._heard_at[agent] != self._clock.now:
            self._hear(agent, -1, round)

    def receive(self, node: int, arrival: Arrival) -> None:
        """See :meth:`Signal.receive`."""
        _, sender, message = arrival
        if message.round <= self._heard[node]:
            if message.round < self._heard[node] and self._network.agents_fail:
                self._call(node, self._heard[node], [self._network.channel(node, sender)])
            return
        if self._slotted:
            self._steps.at(self._clock.effective_time(message.value, self._clock.now), node, (sender, message.round))
        else:
            self._hear(node, sender, message.round)

    def _hear_all(self, due: list[tuple[int, list[tuple[int, int]]]]) -> None:
        for node, calls in due:
            for sender, round in calls:
                self._hear(node, sender, round)

    def _hear(self, node: int, sender: int, round: int) -> None:
        if round <= self._heard[node]:
            return
        self._heard[node] = round
        self._heard_at[node] = self._clock.now
        self._tell(node, round)
        self._call(node, round, [channel for channel in self._network.channels[node] if channel.receiver != sender])

    def _call(self, node: int, round: int, channels: Sequence[Channel]) -> None:
        self._network.send(Message(CALL, HEADER_BYTES + LABEL_BYTES, self._clock.now, round), channels)

    def forget(self, agent: int) -> None:
        """See :meth:`Signal.forget`."""
        self._heard[agent] = 0


class ServerCall(Signal):
    """A request up to the server, and a call down to all agents. Uplinks are never slotted."""

    def __init__(
        self, network: Network, slotted: bool, hear: Callable[[int, int], None], over: Callable[[int], bool]
    ) -> None:
        super().__init__(network, slotted, hear, over)
        self._called = 0

    def call(self, agent: int, round: int) -> None:
        """See :meth:`Signal.call`."""
        self._ask(agent, round, again=False)

    def repeat(self, agent: int, round: int) -> None:
        """See :meth:`Signal.repeat`."""
        self._ask(agent, round, again=True)

    def _ask(self, agent: int, round: int, *, again: bool) -> None:
        self._network.send_up(Message(ASK, HEADER_BYTES, again, round), agent)

    def receive(self, node: int, arrival: Arrival) -> None:
        """See :meth:`Signal.receive`."""
        _, sender, message = arrival
        if message.kind is CALL:
            self._tell(node, message.round)
            return
        round = message.round
        if round <= self._called and (self._network.agents_fail or message.value):
            if not self._over(self._called):
                self._network.send_down(Message(CALL, HEADER_BYTES, None, self._called), (sender,))
                return
            round = self._called + 1
        if round > self._called:
            self._called = round
            self._network.send_down(Message(CALL, HEADER_BYTES, None, round), range(self._network.agents))


class SinkCall(FloodedCall):
    """A label flooded within a component; its sink informs the server, which informs the sinks of other components."""

    def __init__(
        self, network: Network, slotted: bool, hear: Callable[[int, int], None], over: Callable[[int], bool]
    ) -> None:
        super().__init__(network, slotted, hear, over)
        self._sinks = network.topology.sinks
        self._called = 0

    def receive(self, node: int, arrival: Arrival) -> None:
        """See :meth:`Signal.receive`."""
        _, sender, message = arrival
        server = self._network.server
        if node == server:
            if message.round > self._called:
                self._called = message.round
                others = [sink for sink in self._sinks if sink != sender]
                self._network.send_down(Message(CALL, HEADER_BYTES, None, message.round), others)
        elif sender == server:
            self._hear(node, sender, message.round)
        else:
            super().receive(node, arrival)

    def _hear(self, node: int, sender: int, round: int) -> None:
        fresh = round > self._heard[node]
        super()._hear(node, sender, round)
        if fresh and len(self._sinks) > 1 and sender != self._network.server and node in self._sinks:
            self._network.send_up(Message(ASK, HEADER_BYTES, None, round), node)
