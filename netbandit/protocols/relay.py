"""Relay: each agent's message goes to all others along shortest paths."""

from collections.abc import Iterable
from itertools import chain
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.component import Checks, Others, state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear, Heard
from netbandit.protocols.deadline import DeadlineKey, deadline_without_rounds
from netbandit.protocols.leave_notice import LEAVE
from netbandit.protocols.protocol import Item
from netbandit.protocols.store_carry_forward import CarryKey

Integers = NDArray[np.int64]

RELAY = Kind("RELAY")

_SOURCE_AND_ROUND = itemgetter(0, 1)


def in_order(heard: Iterable[Heard]) -> list[Heard]:
    """Return simultaneous items in the order in which an agent receives them: by source, then by round."""
    return sorted(heard, key=_SOURCE_AND_ROUND)


def message_bytes(header: int, item_bytes: int) -> int:
    """Return the bytes of a message with a *header*, an item of so many bytes, and its label."""
    return header + LABEL_BYTES + item_bytes


def links_of_tree(topology: Topology, source: int, hops: int | None) -> tuple[Integers, Integers]:
    """Return the breadth-first tree of *source*: parents and their children, two arrays, the second ascending.

    Args:
        topology: The graph.
        source: The agent.
        hops: The largest depth; None: unlimited.
    """
    parents = topology.bfs_tree(source)
    children = np.flatnonzero(parents >= 0)
    if hops is not None:
        children = children[topology.hops(source)[children] <= hops]
    return parents[children], children


class Relay(CarryKey, DeadlineKey, BroadcastProtocol):
    """Every agent reaches all others along a tree of its own, without rounds or a server.

    A broadcast tree for each source: its breadth-first tree, the lowest-numbered parent among equals.

    No agent receives a message twice, nor its own. Slotted, a message moves one hop a slot and reaches an agent k hops
    away k slots after it was sent, if each hop fits a slot; an agent forwards it at the boundary at which it hears it.
    Asynchronous, it is heard and passed on the moment it arrives. On the complete graph every message takes one hop,
    as in Solanki et al. 2022. In a graph of several components a message stays in its own. In rounds an agent goes on
    when it has heard everybody, or at its `deadline`.
    """

    uses_uplinks: ClassVar[bool] = False
    forgetful: ClassVar[bool] = True

    hops: int | None = state(default=None)
    """How many hops a message goes at most; None: as many as there are."""

    def check_with(self, others: Others) -> Checks:
        """Yield a deadline that has no effect."""
        yield from deadline_without_rounds(self, others)

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self._slotted = self.slotted
        self._trees: dict[int, list[list[Channel]]] = {}
        # Items take effect in the agents' turn, after the arrivals of the instant and before its sends.
        self._steps: InstantQueue[list[Message]] = InstantQueue(self.clock, self._hear, AGENTS)

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """Send the *item* of *agent* to all others, from this instant on."""
        self._tell(agent, RELAY, message_bytes(self.network.header, item.size), Heard(agent, round, item))

    def announce(self, round: int, agent: int) -> bool:
        """Send the header along the agent's tree."""
        heard: Any = Heard(agent, round, None)  # type: ignore[arg-type]  # see Heard
        self._tell(agent, LEAVE, HEADER_BYTES, heard)
        return True

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Process and forward arrivals, now or at the slot boundary."""
        if self._slotted:
            begun: dict[int, list[Message]] = {}
            for _, _, message in arrivals:
                begun.setdefault(message.value[1], []).append(message)
            for time, messages in begun.items():
                self._steps.at(self.clock.effective_time(time, self.clock.now), node, messages)
        else:
            self._hear([(node, [[message for _, _, message in arrivals]])])

    def tree(self, source: int) -> list[list[Channel]]:
        """Return the channels on which each node forwards the messages of *source*."""
        tree = self._trees.get(source)
        if tree is None:
            tree = self._trees[source] = [[] for _ in range(self.network.agents)]
            parents, children = links_of_tree(self.network.topology, source, self.hops)
            for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
                tree[parent].append(self.network.channel(parent, child))
        return tree

    def _tell(self, agent: int, kind: Kind, size: int, heard: Heard) -> None:
        self._pass_on(agent, Message(kind, size, (heard, self.clock.now), heard.round))

    def _hear(self, due: list[tuple[int, list[list[Message]]]]) -> None:
        """Let nodes hear, in order of sources and rounds, and then pass it on in order of arrival."""
        for node, inboxes in due:
            self.hear(node, in_order(message.value[0] for message in chain.from_iterable(inboxes)))
        for node, inboxes in due:
            for message in chain.from_iterable(inboxes):
                self._pass_on(node, message)

    def _pass_on(self, node: int, message: Message) -> None:
        """Let *node* forward a *message*, its own or another's, along the tree of its source."""
        heard = message.value[0]
        branch = self.tree(heard.source)[node]
        if branch:
            payload = heard, self.network.environment._now  # a hop begins now
            self.network.send(Message(message.kind, message.size, payload, message.round), branch)
