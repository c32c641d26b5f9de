"""Compiled broadcasts along the tree of each source."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from netbandit.network import distances
from netbandit.network.clock import AGENTS
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.protocol import Item
from netbandit.protocols.relay import RELAY
from netbandit.simulation.compiled_rounds.engine import CompiledLoop
from netbandit.simulation.compiled_rounds.heard import HeardRows
from netbandit.simulation.compiled_rounds.links import rows_of
from netbandit.simulation.kernels import trees as kernel
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.execution import Loop
from netbandit.simulation.machine.rows import Machine

Agents = NDArray[np.int64]


def trees_of(
    network: Network, machine: Machine, hops: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where in the second array the channels of each source and node begin, and the channels.

    Args:
        network: The network.
        machine: Its links.
        hops: How many hops a tree reaches; None: as many as there are.
    """
    agents = network.agents
    pairs = np.array([(link.first, link.second) for link in network.links], dtype=np.int64).reshape(-1, 2)
    graph = distances.adjacency(agents, pairs)
    counts = np.zeros(agents * agents + 1, dtype=np.int32)
    trees = []
    for source in range(agents):
        parents = np.asarray(distances.bfs_tree(graph, source), dtype=np.int64)
        if hops is not None:
            parents[distances.hops(graph, source) > hops] = -1
        children = np.flatnonzero(parents >= 0)
        children = children[np.argsort(parents[children], kind="stable")]
        counts[1 + source * agents : 1 + (source + 1) * agents] = np.bincount(parents[children], minlength=agents)
        trees.append(rows_of(machine.channels, parents[children], children).astype(np.int32))
    return np.cumsum(counts, dtype=np.int32), np.concatenate(trees)


class CompiledTrees(CompiledLoop, BroadcastProtocol):
    """Stands for `Relay`, and for `LocalTree`, where agents never fail.

    What agents hear is kept until it is asked for: nobody hears anything between two decisions that could change what
    happens before the second.
    """

    kinds: ClassVar[tuple[Kind, ...]] = (RELAY,)
    name: ClassVar[str] = "trees"
    loop: ClassVar[Loop] = Loop(kernel.play)
    telling: ClassVar[Loop] = Loop(kernel.broadcast)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (telling,)

    hops: int | None = state(default=None)
    """How many hops a message goes at most; None: as many as there are."""
    trees: kernel.Trees = state()
    """What has been heard."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self.prepare(network, AGENTS)
        first, tree = trees_of(network, self.machine, self.hops)
        agents = network.agents
        starts = first[::agents]
        self._others = np.diff(starts).astype(np.int64)
        self._heard = HeardRows(4)
        self.trees = kernel.Trees(
            state=np.zeros(3, dtype=np.int64),
            first=first,
            tree=tree,
            heard=np.empty((0, 4), dtype=np.int64),
            named=np.empty(0, dtype=np.int64),
        )

    @property
    def reach(self) -> list[int]:
        """See `BroadcastProtocol.reach`."""
        found: list[int] = (self._others + 1).tolist()
        return found

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """See `BroadcastProtocol.broadcast`."""
        self.broadcast_all(round, np.array([agent]), item.size)

    def broadcast_all(self, first: int, agents: Agents, size: int) -> None:
        """Let *agents* tell all others an item of *size* bytes each, from this instant on.

        Args:
            first: The number of the first item; the others follow. What an agent tells later has a higher one.
            agents: Who tells.
            size: Of each item.
        """
        size += HEADER_BYTES + LABEL_BYTES
        now = self.clock.now
        self.send(lambda: self.run(self.telling, self.machine, self.trees, agents, first, size, now))

    def oldest(self, otherwise: int) -> int:
        """Return the lowest number of an item that is under way or not yet asked for; if there is none, *otherwise*."""
        under_way = self.used_messages()["round"]
        return self._heard.oldest(kernel.ITEM, under_way, otherwise)

    def heard(self) -> NDArray[np.int64]:
        """Return what has been heard since this was asked last, in order, shape (n, 4).

        A row: who, whose, which item, and the first slot boundary at or after the instant.
        """
        return self._heard.taken()

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        room = max(len(self.machine.inbox), len(self.machine.steps))
        if len(self.trees.named) < room:  # as many may reach a node at once
            heard = np.empty((room, 4), dtype=np.int64)
            self.trees = self.trees._replace(heard=heard, named=np.empty(room, dtype=np.int64))
        return self.run(self.loop, self.machine, self.trees, arrivals_until, steps_until, self.slotted)

    def tell(self) -> None:
        """See `CompiledLoop.tell`."""
        super().tell()
        self._heard.keep(self.trees.heard, self.trees.state, kernel.HEARD)

    def inform(self) -> None:
        """See `CompiledLoop.inform`; those who hear ask."""

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why != rows.LISTS_FULL:  # else there is room now, as all has been kept
            super().make_room(why)
