"""Rounds over any broadcast protocol: a round ends for an agent when it has heard all others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Self

from simpy import Event

from netbandit.network.engine import Receive
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.broadcast import BroadcastProtocol, Heard
from netbandit.protocols.deadline import DeadlineKey, WaitList
from netbandit.protocols.leave_notice import LEAVE_FLOODED, LeaveFlood
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item, contributed


class CountedRound:
    """One round.

    Attributes:
        number: Its number.
        items: The contribution of each agent; None until it has contributed.
        missing: For each agent, how many items it still lacks.
        informed: For each agent, the event that it has them all.
        uninformed: How many agents that act here still lack items.
        conclusion: The conclusion from the items, once any agent has all of them.
        heard: For each agent, whose items it has, where one may come again after its source has lost its memory.
    """

    def __init__(self, number: int, informed: list[Event], acting: int) -> None:
        agents = len(informed)
        self.number = number
        self.items: list[Item | None] = [None] * agents
        self.missing = [agents] * agents
        self.informed = informed
        self.uninformed = acting
        self.conclusion: Item | None = None
        self.heard: list[set[int]] = [set() for _ in range(agents)]


class RoundsOverBroadcast(CallbackRoundProtocol):
    """Every agent broadcasts its item, and concludes the moment it has received all others.

    No clock ends the round: each agent counts items, so central agents go on earlier.

    If agents conclude individually, because an agent receives only from those nearby, or waits only until a deadline,
    it counts those from which it can receive and that have not left; items of a round that it has not reached are kept
    until then.
    """

    broadcasts: BroadcastProtocol = state()
    """The protocol of broadcasts."""

    @classmethod
    def over(cls, broadcasts: BroadcastProtocol) -> Self:
        """Return the rounds over a protocol of broadcasts, which is started with them."""
        found = cls(timing=broadcasts.timing)
        found.broadcasts = broadcasts
        return found

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self.broadcasts.start(network, self._hear)
        self._rounds: dict[int, CountedRound] = {}
        self._alone = self.broadcasts.hops_at_most == 0
        self._per_agent = aggregation.per_agent
        if self._per_agent:
            self._start_per_agent(network)

    def _start_per_agent(self, network: Network) -> None:
        deadline = self.broadcasts.deadline_ns(self.clock.slot) if isinstance(self.broadcasts, DeadlineKey) else None
        self._wait_list = WaitList(self.clock, deadline, self._holds, self._conclude_per_agent)
        agents = range(network.agents)
        self._near = _within(network, self.broadcasts.hops_at_most)
        self._heard: list[dict[int, dict[int, Item]]] = [{} for _ in agents]
        self._done: list[dict[int, int]] = [{} for _ in agents]
        self._signal = LeaveFlood(network, self.slotted, self.broadcasts.hops_at_most, self._note_done)

    @property
    def reach(self) -> list[int] | None:
        """See `CallbackRoundProtocol.reach`."""
        near = self.broadcasts.hops_at_most is not None and self._per_agent and not self._alone
        return [1 + len(others) for others in self._near] if near else None

    @property
    def has_deadline(self) -> bool:
        """Whether the broadcasts have one."""
        return getattr(self.broadcasts, "deadline", None) is not None

    @property
    def late(self) -> int:
        """Items that reached an agent when it had gone on without them."""
        return self._wait_list.late if self._per_agent else 0

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Broadcast the item of *agent*."""
        item = contributed(item)
        if self._alone:
            return Event(self.clock.environment).succeed(self.conclude(round, [item], group=agent))
        if self._per_agent:
            informed = self._wait_list.wait(round, agent)
            self._heard[agent].setdefault(round, {})[agent] = item
            self.broadcasts.broadcast(round, agent, item)
            self._conclude_if_complete(round, agent)
            return informed
        found = self._begun(round)
        found.items[agent] = item
        self.broadcasts.broadcast(round, agent, item)
        self._count_heard(found, agent, 1)
        return found.informed[agent]

    def note_items(self, round: int, items: Mapping[int, Item]) -> None:
        """See `CallbackRoundProtocol.note_items`."""
        if not self._per_agent:
            for source, item in items.items():
                self._begun(round).items[source] = item

    def _begun(self, round: int) -> CountedRound:
        found = self._rounds.get(round)
        if found is None:
            informed = [Event(self.clock.environment) for _ in range(self.network.agents)]
            found = self._rounds[round] = CountedRound(round, informed, len(self.network.acting))
        return found

    def done(self, agent: int, round: int) -> None:
        """Announce it to all agents in reach."""
        self._heard[agent].clear()
        self._wait_list.done(agent)
        if self.broadcasts.out_of_band:
            for other in range(self.network.agents):
                if other != agent:
                    self._note_done(other, agent, round)
        elif not self.broadcasts.announce(round, agent):
            self._signal.say(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`."""
        if not self._per_agent:
            return
        self._wait_list.forget(agent)
        self._heard[agent].clear()
        self._done[agent].clear()

    @property
    def handler(self) -> Receive:
        """The handler of the broadcasts: of all messages, unless agents conclude individually."""
        alone = self._per_agent or type(self).receive is not RoundsOverBroadcast.receive
        return self.receive if alone else self.broadcasts.handler

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Pass arrivals to the broadcast protocol, and process leave notices."""
        rest = []
        for arrival in arrivals:
            if arrival[2].kind is LEAVE_FLOODED:
                self._signal.receive(node, arrival)
            else:
                rest.append(arrival)
        if rest:
            self.broadcasts.receive(node, rest)

    def _hear_apart(self, agent: int, heard: list[Heard]) -> None:
        forgets = self.network.forgets
        for source, round, item in heard:
            if item is None:
                self._note_done(agent, source, round)
            elif self._wait_list.went_on(round, agent):
                self._wait_list.late += 1
            elif source != agent and not self._wait_list.is_done(agent):
                if forgets:
                    self._done[agent].pop(source, None)  # it has begun anew
                self._heard[agent].setdefault(round, {}).setdefault(source, item)
        for round in sorted({one.round for one in heard}):
            self._conclude_if_complete(round, agent)

    def _note_done(self, node: int, agent: int, round: int) -> None:
        """Record at *node* that *agent* leaves from *round* on."""
        self._done[node][agent] = round
        for open_round in sorted(self._heard[node]):
            if open_round >= round:
                self._conclude_if_complete(open_round, node)

    def _conclude_if_complete(self, round: int, agent: int) -> None:
        """Inform *agent* if it waits in *round* and lacks no item."""
        if not self._wait_list.waits(round, agent):
            return
        heard, done = self._heard[agent][round], self._done[agent]
        if len(heard) + len(done) <= len(self._near[agent]):
            return
        if all(other in heard or done.get(other, round + 1) <= round for other in self._near[agent]):
            self._wait_list.inform(round, agent, self._holds(round, agent))

    def _holds(self, round: int, agent: int) -> list[Item]:
        """Return what *agent* has heard of *round*, in order of their agents, and of which it has no more need."""
        return [item for _, item in sorted(self._heard[agent].pop(round).items(), key=_source)]

    def _conclude_per_agent(self, round: int, items: Sequence[Item], agent: int) -> Item:
        return self.conclude(round, items, group=agent)

    def _hear(self, agent: int, heard: list[Heard]) -> None:
        if self._per_agent:
            self._hear_apart(agent, heard)
            return
        if self.network.forgets:
            heard = [one for one in heard if self._is_new(agent, one)]
        for round, items in sorted(Counter(one.round for one in heard).items()):
            self._count_heard(self._rounds[round], agent, items)

    def _is_new(self, agent: int, one: Heard) -> bool:
        """Return whether *agent* has not been counted to have this item, in any incarnation."""
        state = self._rounds.get(one.round)
        if state is None or one.source in state.heard[agent]:
            return False
        state.heard[agent].add(one.source)
        return True

    def _count_heard(self, round: CountedRound, agent: int, items: int) -> None:
        """Note that *agent* has so many items more of a round; with those of all it goes on."""
        round.missing[agent] -= items
        if round.missing[agent]:
            return
        if round.conclusion is None:
            round.conclusion = self.conclude(round.number, [item for item in round.items if item is not None])
        round.informed[agent].succeed(round.conclusion)
        round.uninformed -= 1
        if not round.uninformed:
            del self._rounds[round.number]
            self.end(round.number)


def _source(entry: tuple[int, Item]) -> int:
    return entry[0]


def _within(network: Network, hops: int | None) -> list[list[int]]:
    """Return for each agent the others that are at most so many hops away; None: all others."""
    agents = range(network.agents)
    if hops is None:
        return [[other for other in agents if other != agent] for agent in agents]
    far = [network.topology.hops(agent).tolist() for agent in agents]
    return [[other for other in agents if 0 < far[agent][other] <= hops] for agent in agents]
