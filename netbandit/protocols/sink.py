"""Sink collection: one agent of each component collects its items and talks to the server."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal

from simpy import Event

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.component import Checks, Others, state
from netbandit.protocols.deadline import DEADLINES, DeadlineKey, WaitList, deadline_without_rounds, only_a_server
from netbandit.protocols.gis import Gis
from netbandit.protocols.leave_notice import LEAVE, LeaveUpwards
from netbandit.protocols.node import AgentMask, OpenRound
from netbandit.protocols.open_rounds import OpenRounds
from netbandit.protocols.protocol import (
    SERVER,
    Aggregation,
    CallbackRoundProtocol,
    Item,
    Overhear,
    contributed,
)
from netbandit.protocols.server import ANSWER, UPLOAD, Server
from netbandit.protocols.store_carry_forward import CarryKey
from netbandit.protocols.tree_collection import TreeCollection

Uploaded = Callable[[int, int, Item], Item]
"""Called with a sink, a round and what stands for the items of its component; returns what the sink uploads."""


class Sink(CarryKey, DeadlineKey, CallbackRoundProtocol):
    """Rounds along trees to one sink in each component; sinks talk to a server over uplinks.

    The structure of HDP-MAB (Li & Song, Algorithms 4 and 5).

    The sink of a component is its agent with the smallest eccentricity, the lowest number among equals. When it
    has the items of its component it uploads their aggregate; the server waits for all sinks, answers them
    on their uplinks, and all other agents hear a broadcast. An agent that is a component of its own collects
    nothing and uploads at once. With a `deadline` the sink uploads, and the server answers, with what it has when so
    much time has passed since its first item of the round; an agent that has heard no answer three deadlines after its
    own contribution goes on without.

    Slotted, with hops that fit a slot, the collection takes the largest eccentricity of a sink, in slots.
    """

    served: ClassVar[bool] = True
    forgetful: ClassVar[bool] = True
    speaks_for_groups: ClassVar[bool] = True

    collect: Literal["sink", "gis"] = "sink"
    """How the items of a component get to its sink: along a tree (``sink``), or by ``gis`` to everyone."""

    uploaded: Uploaded | None = state(default=None)
    """See `Uploaded`; None: what stands for the items of its component."""

    def fewest_together(self, graph: Topology) -> int:
        """See `NetworkProtocol.fewest_together`: those of the smallest component."""
        return min(map(len, graph.components))

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        topology = network.topology
        self._per_agent = aggregation.per_agent
        self._sinks = topology.sinks
        self._component: list[int] = topology.component.tolist()
        self._sizes = [len(members) for members in topology.components]
        self._deadline = self.deadline_ns(network.clock.slot)
        wait = None if self._deadline is None else 3 * self._deadline
        self._wait_list = WaitList(network.clock, wait, lambda round, agent: (), only_a_server)
        tell = self._wait_list.answer if self._per_agent else None
        self._server = Server(
            network,
            lambda round: self._sinks,
            self._conclude,
            self.end,
            tell,
            deadline=self._deadline,
            per_agent=self._per_agent,
        )
        slotted = self.slotted
        parents: list[int] = topology.sink_parents.tolist()
        self._collection: OpenRounds | TreeCollection
        if self.collect == "gis":
            groups = [members.tolist() for members in topology.components]
            self._collection = OpenRounds(
                network, groups, Gis(), slotted, aggregation.turn, self._synchronized, self._per_agent
            )
            if self._per_agent:
                self._collection.listen_to_news(self._note_news)
        else:
            self._collection = TreeCollection(
                network, parents, self._component, self._sizes, slotted, aggregation.turn, self._collected
            )
            if self._per_agent:
                self._collection.collect_apart(self._deadline, self._late_at_sink)
        self._done: list[dict[int, int]] = [{} for _ in self._sinks]
        self._done_upwards = LeaveUpwards(network, parents, slotted, aggregation.turn, self._note_done)
        self._uploaded: set[tuple[int, int]] = set()
        self._counts: dict[tuple[int, int], int] = {}
        self._begun: set[tuple[int, int]] = set()
        self._deadlines: InstantQueue[tuple[int, int]] = InstantQueue(self.clock, self._pass_deadlines, DEADLINES)
        self._late = 0

    @property
    def late(self) -> int:
        """Items that a sink or the server had gone on without, and answers that came after agents had gone on."""
        return self._late + self._server.late + self._wait_list.late

    def check_with(self, others: Others) -> Checks:
        """Yield a deadline of learners that the server cannot do without."""
        yield from deadline_without_rounds(self, others)

    def listen(self, overhear: Overhear) -> None:
        """Let a component that collects by gis be overheard; see `CallbackRoundProtocol.listen`."""
        if isinstance(self._collection, OpenRounds):
            self._collection.listen(overhear)

    def answered(self, round: int) -> bool:
        """See `CallbackRoundProtocol.answered`."""
        return round <= self._server.latest

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Send the agent's item on its way; everybody waits for the server's answer."""
        item = contributed(item)
        component = self._component[agent]
        if self._sizes[component] == 1:
            self._put_together(round, component, lambda: [item])
        else:
            self._collect(round, agent, item)
        return self._wait_list.wait(round, agent) if self._per_agent else self._server.informed(round, agent)

    def _collect(self, round: int, agent: int, item: Item) -> None:
        """Send the item of an agent that is not alone on its way to the sink of its component."""
        self._collection.contribute(round, agent, item)

    def done(self, agent: int, round: int) -> None:
        """Tell the sink of its component, which tells the server when all of them are done."""
        self._wait_list.done(agent)
        if isinstance(self._collection, OpenRounds) and self._sizes[self._component[agent]] > 1:
            self._collection.done(agent, round)
        self._done_upwards.say(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`."""
        self._wait_list.forget(agent)
        component = self._component[agent]
        if isinstance(self._collection, OpenRounds):
            self._collection.forget(agent)
        if agent == self._sinks[component]:
            self._done[component].clear()
            for marks in (self._uploaded, self._begun):
                marks.difference_update([key for key in marks if key[1] == component])
            if isinstance(self._collection, TreeCollection):
                self._collection.forget(component)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Pass arrivals to the server's part, or to the collection along trees."""
        collected = []
        for arrival in arrivals:
            kind = arrival[2].kind
            if kind is ANSWER or kind is UPLOAD or (kind is LEAVE and node == self.network.server):
                self._server.receive(node, arrival)
            elif kind is LEAVE:
                self._done_upwards.receive(node, arrival)
            else:
                collected.append(arrival)
        if collected:
            self._collection.receive(node, collected)

    def _synchronized(self, round: OpenRound, labels: AgentMask) -> None:
        component = round.group
        items = round.named(round.nodes[self._sinks[component]].held & labels)  # a sink that was down may lack some
        if items and (round.number, component) not in self._uploaded:
            self._put_together(round.number, component, lambda: items)

    def _put_together(self, round: int, component: int, items: Callable[[], list[Item]]) -> None:
        """Let the sink of *component* put together the *items* that it has when it begins, and upload."""

        def take() -> list[Item]:
            self._uploaded.add((round, component))
            return items()

        sink = self._sinks[component]
        self.network.when_computed(sink, "aggregate", partial(self._collected, round, component), take)

    def _collected(self, round: int, component: int, items: list[Item]) -> None:
        """Let the sink of *component* upload the aggregate of its items."""
        self._uploaded.add((round, component))
        if len(items) < self._sizes[component]:
            self._counts[round, component] = len(items)
        sink, item = self._sinks[component], self.aggregation.aggregate(items)
        self._server.upload(round, sink, item if self.uploaded is None else self.uploaded(sink, round, item))

    def _conclude(self, round: int, items: list[Item]) -> Item:
        if self._per_agent:  # what a sink uploads says itself how many it stands for
            return self.conclude(round, items, group=SERVER)
        sizes = [self._counts.get((round, component), size) for component, size in enumerate(self._sizes)]
        return self.conclude(round, items, sizes)

    def _note_done(self, agent: int, round: int) -> None:
        """Let the sink of *agent* know that it is done."""
        component = self._component[agent]
        done = self._done[component]
        done[agent] = round
        if isinstance(self._collection, TreeCollection):
            self._collection.note_done(agent, component, round)
        if len(done) == self._sizes[component]:
            self._server.say_done(self._sinks[component], max(done.values()))

    def _late_at_sink(self, component: int, items: int) -> None:
        self._late += items

    def _note_news(self, round: int, node: int, items: int) -> None:
        """Start the deadline of a synchronising sink with its first item, and count late items."""
        component = self._component[node]
        if node != self._sinks[component] or not items:
            return
        key = round, component
        if key in self._uploaded:
            self._late += items
        elif key not in self._begun and self._deadline is not None:
            self._begun.add(key)
            self._deadlines.at(self.clock.now + self._deadline, node, key)

    def _pass_deadlines(self, due: list[tuple[int, list[tuple[int, int]]]]) -> None:
        assert isinstance(self._collection, OpenRounds)
        for sink, keys in due:
            for number, component in keys:
                round = self._collection.get(number, sink)
                if round is not None and (number, component) not in self._uploaded and self.clock.now < self.clock.end:
                    self._put_together(number, component, partial(_held, round, sink))


def _held(round: OpenRound, sink: int) -> list[Item]:
    return round.named(round.nodes[sink].held)
