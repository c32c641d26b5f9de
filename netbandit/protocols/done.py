"""Who takes part in rounds no more says so, once for all later rounds: a header that nodes pass on."""

from collections.abc import Callable, Sequence

from simpy.events import EventPriority

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network

DONE = Kind("DONE")
DONE_FLOODED = Kind("DONE")
"""The same, where it is flooded apart from all else."""


class DoneFlood:
    """A header that every node passes on to its other neighbours, when it is new or may go further than before.

    Slotted, a hop takes effect at a boundary after the one it began at; asynchronous, at once.

    Args:
        network: The network.
        slotted: See above.
        hops: How far it goes; None: to everybody.
        hear: Called with (node, agent, round) when a node first hears that an agent takes part in *round* and all later
            ones no more.
    """

    def __init__(
        self, network: Network, slotted: bool, hops: int | None, hear: Callable[[int, int, int], None]
    ) -> None:
        self._network = network
        self._slotted = slotted
        self._hops = network.agents if hops is None else hops
        self._hear = hear
        self._furthest: dict[tuple[int, int, int], int] = {}
        self._steps: InstantQueue[tuple[int, Message]] = InstantQueue(network.clock, self._act, AGENTS)

    def say(self, agent: int, round: int) -> None:
        """Let *agent* say it to its neighbours, in this instant."""
        self._pass_on(agent, agent, round, self._hops, -1)

    def receive(self, node: int, arrival: Arrival) -> None:
        """Let *node* hear what has arrived, now or at the slot boundary."""
        arrived, sender, message = arrival
        if self._slotted:
            begun = message.value[2]
            self._steps.at(self._network.clock.effective_time(begun, arrived), node, (sender, message))
        else:
            self._take_in(node, sender, message)

    def _act(self, due: list[tuple[int, list[tuple[int, Message]]]]) -> None:
        for node, words in due:
            for sender, message in words:
                self._take_in(node, sender, message)

    def _take_in(self, node: int, sender: int, message: Message) -> None:
        agent, left, _ = message.value
        key = node, agent, message.round
        known = self._furthest.get(key, -1)
        if agent == node or left <= known:
            return
        self._furthest[key] = left
        self._pass_on(node, agent, message.round, left, sender)
        if known < 0:
            self._hear(node, agent, message.round)

    def _pass_on(self, node: int, agent: int, round: int, left: int, sender: int) -> None:
        channels = [channel for channel in self._network.channels[node] if channel.receiver != sender]
        if left and channels:
            message = Message(DONE_FLOODED, HEADER_BYTES, (agent, left - 1, self._network.clock.now), round)
            self._network.send(message, channels)


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
