"""Tree collection: items travel up to the root of each component."""

from collections.abc import Callable, Sequence
from functools import partial

from simpy.events import EventPriority

from netbandit.network.clock import InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.deadline import DEADLINES
from netbandit.protocols.protocol import Item

COLLECT = Kind("COLLECT")

_ALREADY = -1
"""Marks a root that has uploaded, in place of the number of items that it waits for."""

Labelled = tuple[int, Item]
"""An agent and its contribution."""


class TreeCollection:
    """Items travel up trees, one in each component, to the roots; nothing is held back.

    Slotted, a node forwards received items at the next slot boundary; asynchronous, at once. What a node sends
    to its parent at one instant is one message.

    Args:
        network: The network.
        parents: Each agent's parent, -1 for a root.
        component: The component of each agent.
        sizes: The number of agents of each component.
        slotted: Whether a hop ends at a slot boundary.
        turn: The turn of an instant in which nodes forward items.
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
        self._roots = {component[node]: node for node, parent in enumerate(parents) if parent < 0}
        self._handing_over: set[tuple[int, int]] = set()
        self._per_agent = False

    def collect_apart(self, deadline: int | None, late: Callable[[int, int], None]) -> None:
        """Let roots upload without agents that have left, and at a *deadline* without missing ones.

        Args:
            deadline: How long (ns) a root waits from its first item of a round; None: for ever.
            late: Called with a component and the number of items that have come too late for its root.
        """
        self._per_agent = True
        self._deadline = deadline
        self._late = late
        self._done: list[dict[int, int]] = [{} for _ in self._sizes]
        self._uploaded: set[tuple[int, int]] = set()
        self._deadlines: InstantQueue[tuple[int, int]] = InstantQueue(self._clock, self._pass_deadlines, DEADLINES)

    def note_done(self, agent: int, component: int, round: int) -> None:
        """Note at the root of a *component* that *agent* has left from *round* on."""
        self._done[component][agent] = round
        for key in [key for key in self._collected if key[1] == component and key[0] >= round]:
            if not self._missing(*key):
                self._deliver(*key)

    def forget(self, component: int) -> None:
        """Discard all that the root of a *component* knows."""
        for key in [key for key in self._collected if key[1] == component]:
            del self._collected[key]
        if not self._per_agent:
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
        """Let nodes forward their items to their parents; roots keep theirs."""
        for node, parts in due:
            gathered: dict[int, list[Labelled]] = {}
            for round, items in parts:
                if round in gathered:
                    gathered[round] = gathered[round] + items  # what arrived is not this node's own to change
                else:
                    gathered[round] = items
            for round, items in gathered.items():
                self._pass_up(node, round, items)

    def _pass_up(self, node: int, round: int, items: list[Labelled]) -> None:
        """Let *node* send its parent all items of a round that it has come to hold at one instant, in one message.

        A root keeps them, and hands them over when it has all.
        """
        if self._parents[node] >= 0:
            size = self._network.header + sum(LABEL_BYTES + item.size for _, item in items)
            message = Message(COLLECT, size, (items, self._clock.now), round)
            self._network.send(message, (self._network.channel(node, self._parents[node]),))
        elif self._keep(round, self._component[node], items) == 0:
            self._deliver(round, self._component[node])

    def _keep(self, round: int, component: int, items: list[Labelled]) -> int:
        """Let the root of a *component* keep items of a *round*; return for how many it has to wait."""
        if self._per_agent:
            return self._keep_apart(round, component, items)
        kept = self._collected.setdefault((round, component), [])
        kept += items
        return self._sizes[component] - len(kept)

    def _deliver(self, round: int, component: int) -> None:
        """Deliver the items of a *round* that the root of a *component* holds."""
        key = round, component
        if key not in self._handing_over:
            self._handing_over.add(key)
            self._network.when_computed(
                self._roots[component],
                "aggregate",
                partial(self._on_complete, round, component),
                partial(self._take, key),
                partial(self._handing_over.discard, key),
            )

    def _take(self, key: tuple[int, int]) -> list[Item]:
        """Return the items of a round that a root holds, in order of their agents."""
        self._handing_over.discard(key)
        if self._per_agent:
            self._uploaded.add(key)
        kept = self._collected.pop(key)
        kept.sort(key=_agent)
        return [item for _, item in kept]

    def _keep_apart(self, round: int, component: int, items: list[Labelled]) -> int:
        key = round, component
        if key in self._uploaded:
            self._late(component, len(items))
            return _ALREADY
        if self._network.forgets:
            for agent, _ in items:
                self._done[component].pop(agent, None)  # it has begun anew
        first = key not in self._collected
        kept = self._collected.setdefault(key, [])
        known = {agent for agent, _ in kept}
        kept += [(agent, item) for agent, item in items if agent not in known]
        missing = self._missing(round, component)
        if first and self._deadline is not None and missing:
            self._deadlines.at(self._clock.now + self._deadline, self._roots[component], key)
        return missing

    def _missing(self, round: int, component: int) -> int:
        """Return of how many agents a root has no items that are not done."""
        here = {agent for agent, _ in self._collected[round, component]}
        here.update(agent for agent, done in self._done[component].items() if done <= round)
        return self._sizes[component] - len(here)

    def _pass_deadlines(self, due: list[tuple[int, list[tuple[int, int]]]]) -> None:
        for _, keys in due:
            for key in keys:
                if key in self._collected and self._clock.now < self._clock.end:
                    self._deliver(*key)


def _agent(labelled: Labelled) -> int:
    return labelled[0]
