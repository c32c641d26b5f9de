"""Relay: each agent's message goes to all others along shortest paths."""

from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar

from netbandit.network import distances
from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.part import Checks, Others, state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.deadline import DeadlineKey, deadline_without_rounds
from netbandit.protocols.done import DONE
from netbandit.protocols.protocol import Item

RELAY = Kind("RELAY")

_SOURCE_AND_ROUND = itemgetter(0, 1)


class Relay(DeadlineKey, BroadcastProtocol):
    """A broadcast tree for each source: its breadth-first tree, the lowest-numbered parent among equals.

    Nobody hears a message twice, nor its own. Slotted, a message moves one hop a slot and reaches an agent k hops away
    k slots after it was sent, if each hop fits a slot; an agent passes it on at the boundary at which it hears it.
    Asynchronous, it is heard and passed on the moment it arrives. On the complete graph every message takes one hop,
    as in Solanki et al. 2022. In a graph of several components a message stays in its own. In rounds an agent goes on
    when it has heard everybody, or at its `deadline`.
    """

    uses_uplinks: ClassVar[bool] = False
    forgetful: ClassVar[bool] = True

    hops: int | None = state(default=None)
    """How many hops a message goes at most; None: as many as there are."""

    def check_with(self, others: Others) -> Checks:
        """Yield a deadline where nobody waits."""
        yield from deadline_without_rounds(self, others)

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._slotted = self.slotted
        self._trees: dict[int, list[list[Channel]]] = {}
        self._adjacency: distances.Adjacency | None = None
        # Heard in the agents' turn, after the arrivals of the instant and before what is sent in it.
        self._steps: InstantQueue[list[Message]] = InstantQueue(self.clock, self._hear, AGENTS)

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Let *agent* tell all others its *item*, from this instant on."""
        size = HEADER_BYTES + LABEL_BYTES + item.size
        heard = Heard(agent, round, item)
        self._pass_on(agent, Message(RELAY, size, (heard, self.clock.now), round))

    def announce(self, round: int, agent: int) -> bool:
        """Send the header along the agent's tree."""
        heard: Any = Heard(agent, round, None)  # type: ignore[arg-type]  # see Heard
        self._pass_on(agent, Message(DONE, HEADER_BYTES, (heard, self.clock.now), round))
        return True

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Hear and pass on what arrives, now or at the slot boundary."""
        if self._slotted:
            begun: dict[int, list[Message]] = {}
            for _, _, message in arrivals:
                begun.setdefault(message.value[1], []).append(message)
            for time, messages in begun.items():
                self._steps.at(self.clock.effective_time(time, self.clock.now), node, messages)
        else:
            self._hear([(node, [[message for _, _, message in arrivals]])])

    def _hear(self, due: list[tuple[int, list[list[Message]]]]) -> None:
        for node, inboxes in due:
            self.hear(
                node, sorted((message.value[0] for message in chain.from_iterable(inboxes)), key=_SOURCE_AND_ROUND)
            )
        now = self.clock.now
        for node, inboxes in due:
            for message in chain.from_iterable(inboxes):
                heard, _ = message.value
                self._pass_on(node, Message(message.kind, message.size, (heard, now), message.round))

    def _pass_on(self, node: int, message: Message) -> None:
        heard, _ = message.value
        channels = self._tree(heard.source)[node]
        if channels:
            self.network.send(message, channels)

    def _tree(self, source: int) -> list[list[Channel]]:
        """Return the channels on which each node passes on what *source* says."""
        tree = self._trees.get(source)
        if tree is None:
            tree = self._trees[source] = [[] for _ in range(self.network.agents)]
            graph = self._graph()
            far = [False] * self.network.agents
            if self.hops is not None:
                far = (distances.hops(graph, source) > self.hops).tolist()
            for child, parent in enumerate(distances.bfs_tree(graph, source).tolist()):
                if parent >= 0 and not far[child]:
                    tree[parent].append(self.network.channel(parent, child))
        return tree

    def _graph(self) -> "distances.Adjacency":
        if self._adjacency is None:
            import numpy as np

            pairs = [(link.first, link.second) for link in self.network.links]
            edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
            self._adjacency = distances.adjacency(self.network.agents, edges)
        return self._adjacency
