"""Sink agent collection: one agent of each component collects its items and talks to the server."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

import numpy as np
from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.part import Checks, Others
from netbandit.protocols.deadline import DeadlineKey, deadline_without_rounds
from netbandit.protocols.done import DONE
from netbandit.protocols.gis import Synchronization
from netbandit.protocols.known_items import KnownItems, Labels
from netbandit.protocols.patience import DEADLINES, Patience, only_a_server
from netbandit.protocols.protocol import (
    SERVER,
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


class Sink(DeadlineKey, CallbackRoundProtocol):
    """The structure of HDP-MAB (Li & Song, Algorithms 4 and 5).

    The sink of a component is its agent with the smallest eccentricity, the lowest number among equals. When it
    has the items of its component it uploads what follows from them; the server waits for all sinks, answers them
    on their uplinks, and all other agents hear a broadcast. An agent that is a component of its own collects
    nothing and uploads at once. With a `deadline` the sink uploads, and the server answers, with what it has when so
    much time has passed since its first item of the round; an agent that has heard no answer three deadlines after its
    own contribution goes on without.

    Slotted, with hops that fit a slot, the collection takes the largest eccentricity of a sink, in slots.
    """

    served: ClassVar[bool] = True
    forgetful: ClassVar[bool] = True

    collect: Literal["sink", "gis"] = "sink"
    """How the items of a component get to its sink: along a tree (``sink``), or by ``gis`` to everyone."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        topology = network.topology
        self._apart = aggregation.apart
        self._sinks = topology.sinks
        self._component: list[int] = topology.component.tolist()
        self._sizes = [len(members) for members in topology.components]
        self._deadline = self.deadline_ns(network.clock.slot)
        wait = None if self._deadline is None else 3 * self._deadline
        self._patience = Patience(network.clock, wait, lambda round, agent: (), only_a_server)
        tell = self._patience.answer if self._apart else None
        self._server = Server(
            network,
            lambda round: self._sinks,
            self._conclude,
            self.end,
            tell,
            deadline=self._deadline,
            apart=self._apart,
        )
        slotted = self.slotted
        parents: list[int] = topology.sink_parents.tolist()
        self._collection: Synchronization | TreeCollection
        if self.collect == "gis":
            groups = [members.tolist() for members in topology.components]
            self._collection = Synchronization(
                network, groups, slotted, aggregation.turn, self._synchronized, self._apart
            )
            if self._apart:
                self._collection.listen_to_news(self._note_news)
        else:
            self._collection = TreeCollection(
                network, parents, self._component, self._sizes, slotted, aggregation.turn, self._collected
            )
            if self._apart:
                self._collection.collect_apart(self._deadline, self._late_at_sink)
        self._done: list[dict[int, int]] = [{} for _ in self._sinks]
        self._done_upwards = DoneUpwards(network, parents, slotted, aggregation.turn, self._note_done)
        self._uploaded: set[tuple[int, int]] = set()
        self._counts: dict[tuple[int, int], int] = {}
        self._begun: set[tuple[int, int]] = set()
        self._deadlines: InstantQueue[tuple[int, int]] = InstantQueue(self.clock, self._pass_deadlines, DEADLINES)
        self._late = 0

    @property
    def late(self) -> int:
        """Items that came after a sink, or the server, had gone on without, and answers after agents had."""
        return self._late + self._server.late + self._patience.late

    def check_with(self, others: Others) -> Checks:
        """Yield a deadline of learners that the server cannot do without."""
        yield from deadline_without_rounds(self, others)

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
        return self._patience.wait(round, agent) if self._apart else self._server.informed(round, agent)

    def done(self, agent: int, round: int) -> None:
        """Tell the sink of its component, which tells the server when all of them are done."""
        self._patience.done(agent)
        if isinstance(self._collection, Synchronization) and self._sizes[self._component[agent]] > 1:
            self._collection.done(agent, round)
        self._done_upwards.say(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`."""
        self._patience.forget(agent)
        component = self._component[agent]
        if isinstance(self._collection, Synchronization):
            self._collection.forget(agent)
        if agent == self._sinks[component]:
            self._done[component].clear()
            for marks in (self._uploaded, self._begun):
                marks.difference_update([key for key in marks if key[1] == component])
            if isinstance(self._collection, TreeCollection):
                self._collection.forget(component)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Hand on what the server has to do with, and what is collected."""
        collected = []
        for arrival in arrivals:
            kind = arrival[2].kind
            if kind is ANSWER or kind is UPLOAD or (kind is DONE and node == self.network.server):
                self._server.receive(node, arrival)
            elif kind is DONE:
                self._done_upwards.receive(node, arrival)
            else:
                collected.append(arrival)
        if collected:
            self._collection.receive(node, collected)

    def _synchronized(self, round: int, component: int, lists: KnownItems, labels: Labels) -> None:
        label = self._label_of_sink(component)
        items = lists.named(lists.known[label] & labels)  # a sink that was down may lack some
        if items and (round, component) not in self._uploaded:
            self._collected(round, component, items)

    def _label_of_sink(self, component: int) -> int:
        """Return the place of the sink among the members of a *component*."""
        return int(np.searchsorted(self.network.topology.components[component], self._sinks[component]))

    def _collected(self, round: int, component: int, items: list[Item]) -> None:
        """Let the sink of *component* upload what follows from its items."""
        self._uploaded.add((round, component))
        if len(items) < self._sizes[component]:
            self._counts[round, component] = len(items)
        self._server.upload(round, self._sinks[component], self.aggregation.aggregate(items))

    def _conclude(self, round: int, items: list[Item]) -> Item:
        if self._apart:  # what a sink uploads says itself how many it stands for
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
        """Let a sink that synchronises begin to wait with its first item, and count what comes too late."""
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
        assert isinstance(self._collection, Synchronization)
        for sink, keys in due:
            for round, component in keys:
                lists = self._collection.open(round, sink)
                if lists is not None and (round, component) not in self._uploaded and self.clock.now < self.clock.end:
                    label = self._label_of_sink(component)
                    self._collected(round, component, lists.named(lists.known[label]))


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
        self._apart = False

    def collect_apart(self, deadline: int | None, late: Callable[[int, int], None]) -> None:
        """Have roots upload without those who are done, and at a *deadline* without those who are missing.

        Args:
            deadline: How long (ns) a root waits from its first item of a round; None: for ever.
            late: Told of a component, and of how many items have come too late for its root.
        """
        self._apart = True
        self._roots = {self._component[node]: node for node, parent in enumerate(self._parents) if parent < 0}
        self._deadline = deadline
        self._late = late
        self._done: list[dict[int, int]] = [{} for _ in self._sizes]
        self._uploaded: set[tuple[int, int]] = set()
        self._deadlines: InstantQueue[tuple[int, int]] = InstantQueue(self._clock, self._pass_deadlines, DEADLINES)

    def note_done(self, agent: int, component: int, round: int) -> None:
        """Let the root of a *component* know that *agent* contributes to *round* and later ones no more."""
        self._done[component][agent] = round
        for key in [key for key in self._collected if key[1] == component and key[0] >= round]:
            self._complete(*key)

    def forget(self, component: int) -> None:
        """Let the root of a *component* know nothing any more."""
        for key in [key for key in self._collected if key[1] == component]:
            del self._collected[key]
        if not self._apart:
            return
        self._done[component].clear()
        self._uploaded -= {key for key in self._uploaded if key[1] == component}

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
        if self._apart:
            self._keep_apart(round, component, items)
            return
        kept = self._collected.setdefault((round, component), [])
        kept += items
        if len(kept) == self._sizes[component]:
            self._hand_over(round, component)

    def _hand_over(self, round: int, component: int) -> None:
        kept = self._collected.pop((round, component))
        kept.sort(key=_agent)
        self._on_complete(round, component, [item for _, item in kept])

    def _keep_apart(self, round: int, component: int, items: list[Labelled]) -> None:
        key = round, component
        if key in self._uploaded:
            self._late(component, len(items))
            return
        if self._network.forgets:
            for agent, _ in items:
                self._done[component].pop(agent, None)  # it has begun anew
        first = key not in self._collected
        kept = self._collected.setdefault(key, [])
        known = {agent for agent, _ in kept}
        kept += [(agent, item) for agent, item in items if agent not in known]
        self._complete(round, component)
        if first and self._deadline is not None and key in self._collected:
            self._deadlines.at(self._clock.now + self._deadline, self._roots[component], key)

    def _complete(self, round: int, component: int) -> None:
        """Hand over what a root has, if all who are not done are among it."""
        here = {agent for agent, _ in self._collected[round, component]}
        here.update(agent for agent, done in self._done[component].items() if done <= round)
        if len(here) == self._sizes[component]:
            self._uploaded.add((round, component))
            self._hand_over(round, component)

    def _pass_deadlines(self, due: list[tuple[int, list[tuple[int, int]]]]) -> None:
        for _, keys in due:
            for key in keys:
                if key in self._collected and self._clock.now < self._clock.end:
                    self._uploaded.add(key)
                    self._hand_over(*key)


class DoneUpwards:
    """Who takes part no more says so to the root of its tree: a header that each node passes on to its parent.

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
        """Let *agent* say that it takes part in *round* and all later ones no more."""
        self._pass_on(agent, agent, round)

    def receive(self, node: int, arrival: Arrival) -> None:
        """Let *node* pass on what a child has said."""
        arrived, _, message = arrival
        agent, begun = message.value
        due = self._network.clock.effective_time(begun, arrived) if self._slotted else arrived
        self._steps.at(due, node, (agent, message.round))

    def _act(self, due: list[tuple[int, list[tuple[int, int]]]]) -> None:
        for node, words in due:
            for agent, round in words:
                self._pass_on(node, agent, round)

    def _pass_on(self, node: int, agent: int, round: int) -> None:
        parent = self._parents[node]
        if parent < 0:
            self._on_done(agent, round)
        else:
            message = Message(DONE, HEADER_BYTES, (agent, self._network.clock.now), round)
            self._network.send(message, (self._network.channel(node, parent),))


def _agent(labelled: Labelled) -> int:
    return labelled[0]
