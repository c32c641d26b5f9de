"""Sink agent collection: one agent of each component collects its items and talks to the server."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.gis import Synchronization
from netbandit.protocols.protocol import (
    Aggregation,
    CallbackRoundProtocol,
    Item,
    Overhear,
    contributed,
)
from netbandit.protocols.server import ANSWER, UPLOAD, Server

COLLECT = Kind("COLLECT")

Labelled = tuple[int, Item]
"""An agent and what it contributes."""


class Sink(CallbackRoundProtocol):
    """The structure of HDP-MAB (Li & Song, Algorithms 4 and 5).

    The sink of a component is its agent with the smallest eccentricity, the lowest number among equals. When it
    has the items of its component it uploads what follows from them; the server waits for all sinks, answers them
    on their uplinks, and all other agents hear a broadcast. An agent that is a component of its own collects
    nothing and uploads at once.

    Slotted, with hops that fit a slot, the collection takes the largest eccentricity of a sink, in slots.
    """

    served: ClassVar[bool] = True

    collect: Literal["sink", "gis"] = "sink"
    """How the items of a component get to its sink: along a tree (``sink``), or by ``gis`` to everyone."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        topology = network.topology
        self._sinks = topology.sinks
        self._component: list[int] = topology.component.tolist()
        self._sizes = [len(members) for members in topology.components]
        self._server = Server(network, lambda round: self._sinks, self._conclude, self.end)
        slotted = self.slotted
        self._collection: Synchronization | TreeCollection
        if self.collect == "gis":
            groups = [members.tolist() for members in topology.components]
            self._collection = Synchronization(network, groups, slotted, aggregation.turn, self._collected)
        else:
            parents: list[int] = topology.sink_parents.tolist()
            self._collection = TreeCollection(
                network, parents, self._component, self._sizes, slotted, aggregation.turn, self._collected
            )

    def listen(self, overhear: Overhear) -> None:
        """Let a component that collects by gis be overheard; see `CallbackRoundProtocol.listen`."""
        if isinstance(self._collection, Synchronization):
            self._collection.listen(overhear)

    def answered(self, round: int) -> bool:
        """See `CallbackRoundProtocol.answered`."""
        return round <= self._server.latest

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Send the agent's item on its way; everybody waits for the server's answer."""
        item = contributed(item)
        component = self._component[agent]
        if self._sizes[component] == 1:
            self._collected(round, component, [item])
        else:
            self._collection.contribute(round, agent, item)
        return self._server.informed(round, agent)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Hand on what the server has to do with, and what is collected."""
        collected = []
        for arrival in arrivals:
            kind = arrival[2].kind
            if kind is ANSWER or kind is UPLOAD:
                self._server.receive(node, arrival)
            else:
                collected.append(arrival)
        if collected:
            self._collection.receive(node, collected)

    def _collected(self, round: int, component: int, items: list[Item]) -> None:
        """Let the sink of *component* upload what follows from its items."""
        self._server.upload(round, self._sinks[component], self.aggregation.aggregate(items))

    def _conclude(self, round: int, items: list[Item]) -> Item:
        return self.conclude(round, items, self._sizes)


class TreeCollection:
    """Items travel up trees, one in each component, to the roots; nothing is held back.

    Slotted, what a node has received goes on at the next slot boundary; asynchronous, at once. What a node sends
    to its parent at one instant is one message.

    Args:
        network: The network.
        parents: Each agent's parent, -1 for a root.
        component: The component of each agent.
        sizes: The number of agents of each component.
        slotted: Whether a hop ends at a slot boundary.
        turn: The turn of an instant in which nodes send on what they have.
        on_complete: Called with (round, component, items in order of their agents) when a root has all items.
    """

    def __init__(
        self,
        network: Network,
        parents: Sequence[int],
        component: Sequence[int],
        sizes: Sequence[int],
        slotted: bool,
        turn: EventPriority,
        on_complete: Callable[[int, int, list[Item]], None],
    ) -> None:
        self._network = network
        self._clock = network.clock
        self._parents = parents
        self._component = component
        self._sizes = sizes
        self._slotted = slotted
        self._on_complete = on_complete
        self._collected: dict[tuple[int, int], list[Labelled]] = {}
        self._steps: InstantQueue[tuple[int, list[Labelled]]] = InstantQueue(self._clock, self._act, turn)

    def contribute(self, round: int, agent: int, item: Item) -> None:
        """Let *agent* send its item, or keep it if it is a root, in this instant."""
        self._steps.at(self._clock.now, agent, (round, [(agent, item)]))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Take in what children have sent: now, or at the slot boundary that ends the hop."""
        now = self._clock.now
        for _, _, message in arrivals:
            items, begun = message.value
            due = self._clock.effective_time(begun, now) if self._slotted else now
            self._steps.at(due, node, (message.round, items))

    def _act(self, due: list[tuple[int, list[tuple[int, list[Labelled]]]]]) -> None:
        """Let nodes send what they have to their parents, and roots keep it."""
        now = self._clock.now
        network = self._network
        for node, parts in due:
            gathered: dict[int, list[Labelled]] = {}
            for round, items in parts:
                if round in gathered:
                    gathered[round] = gathered[round] + items  # what arrived is not this node's own to change
                else:
                    gathered[round] = items
            parent = self._parents[node]
            for round, items in gathered.items():
                if parent < 0:
                    self._keep(round, self._component[node], items)
                    continue
                size = HEADER_BYTES + sum(LABEL_BYTES + item.size for _, item in items)
                network.send(Message(COLLECT, size, (items, now), round), (network.channel(node, parent),))

    def _keep(self, round: int, component: int, items: list[Labelled]) -> None:
        kept = self._collected.setdefault((round, component), [])
        kept += items
        if len(kept) == self._sizes[component]:
            del self._collected[round, component]
            kept.sort(key=_agent)
            self._on_complete(round, component, [item for _, item in kept])


def _agent(labelled: Labelled) -> int:
    return labelled[0]
