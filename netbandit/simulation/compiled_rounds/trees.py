"""Rounds along the tree of each source, in compiled loops."""

from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from simpy.events import EventPriority

from netbandit.network.clock import AGENTS
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.broadcast import Hear, Heard
from netbandit.protocols.done import DONE
from netbandit.protocols.protocol import Aggregation, Item
from netbandit.protocols.relay import RELAY, Relay, in_order, links_of_tree, message_bytes
from netbandit.protocols.rounds_over_broadcast import CountedRound, RoundsOverBroadcast
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledLoop, CalledRounds
from netbandit.simulation.compiled_rounds.engine import CompiledLoop
from netbandit.simulation.compiled_rounds.heard import HeardRows
from netbandit.simulation.compiled_rounds.links import rows_of
from netbandit.simulation.compiled_rounds.places import moved
from netbandit.simulation.machine import inboxes, rows
from netbandit.simulation.machine import trees as columns
from netbandit.simulation.machine.execution import Loop, texts_of
from netbandit.simulation.machine.rows import Machine
from netbandit.simulation.machine.steps import STEP_COLUMNS
from netbandit.simulation.machine.trees import Trees

Agents = NDArray[np.int64]


def trees_of(network: Network, machine: Machine) -> Trees:
    """Return the tree of each agent, as nobody has heard anything yet.

    Args:
        network: The network.
        machine: Its links.
    """
    agents = network.agents
    counts = np.zeros(agents * agents + 1, dtype=np.int32)
    trees = []
    for source in range(agents):
        parents, children = links_of_tree(network.topology, source, None)
        order = np.argsort(parents, kind="stable")
        counts[1 + source * agents : 1 + (source + 1) * agents] = np.bincount(parents, minlength=agents)
        trees.append(rows_of(machine.channels, parents[order], children[order]).astype(np.int32))
    return Trees(
        state=np.zeros(columns.TREE_STATES, dtype=np.int64),
        first=np.cumsum(counts, dtype=np.int32),
        tree=np.concatenate(trees),
        heard=np.empty((0, columns.HEARD_COLUMNS), dtype=np.int64),
        missing=np.zeros((1, agents), dtype=np.int64),
    )


class TreeLoop(CompiledLoop):
    """What goes along trees."""

    telling: ClassVar[Loop]
    """What agents begin to tell something by."""
    step_columns: ClassVar[int] = STEP_COLUMNS

    trees: Trees = state()
    """Where it goes, and what has been heard."""

    def tell_all(self, agents: Agents, first: int, more: int, size: int) -> None:
        """Let *agents* tell all others an item of *size* bytes each, from this instant on.

        Args:
            agents: Who tells.
            first: The number of the first item,
            more: and by how much that of each other is more than the one before.
            size: Of each item.
        """
        self.put_all(agents, first, more, 0, message_bytes(size))

    def put_all(self, agents: Agents, first: int, more: int, kind: int, size: int) -> None:
        """As `tell_all`, in messages of this *size* and kind."""
        self.expect(size)
        given = agents, first, more, kind, size, self.clock.now
        self.send(lambda: self.run(self.telling, self.machine, self.trees, *given))

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.loop, self.machine, self.trees, arrivals_until, steps_until, self.slotted)


def _loops(name: str, **constants: Any) -> tuple[Loop, Loop]:
    texts = {**texts_of(columns), **constants}
    return Loop(inboxes.play, texts, name), Loop(columns.tell_all, texts, name)


class CalledTreeLoop(CalledLoop, TreeLoop):
    """Rounds along trees, for which agents may call."""

    def appoint_steps(self) -> None:
        """See `CompiledLoop.appoint_steps`; there may be several."""
        super().appoint_steps()
        if self.slotted:
            self.appoint_each_step()


class CompiledRelay(CalledTreeLoop, Relay):
    """Stands for `Relay` where it is for others to say what follows from what is heard."""

    kinds: ClassVar[tuple[Kind, ...]] = (RELAY, DONE, CALL)
    name: ClassVar[str] = "relay"
    loop, telling = _loops("relayed", IN_ROUNDS=False, CALL=2)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (*CalledLoop.compiled_beside, telling)

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self.prepare(network, AGENTS)
        self.trees = trees_of(network, self.machine)
        self.kept = HeardRows(columns.HEARD_COLUMNS)
        self._told: dict[int, Heard] = {}  # what may be under way, by its number in the loop
        self._number = self._look_at = 0

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        room = len(self.machine.inbox)
        if len(self.trees.heard) < room:  # as many may reach a node at once
            self.trees = self.trees._replace(heard=np.empty((room, columns.HEARD_COLUMNS), dtype=np.int64))
        return super().play(arrivals_until, steps_until)

    def tell(self) -> None:
        """See `CompiledLoop.tell`."""
        super().tell()
        self.kept.keep(self.trees.heard, self.trees.state, columns.HEARD)

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why != rows.LISTS_FULL:  # else there is room now, as all has been kept
            super().make_room(why)

    def _tell(self, agent: int, kind: Kind, size: int, heard: Heard) -> None:
        if len(self._told) >= self._look_at:
            under_way = set(self.used_messages()["round"].tolist())
            self._told = {number: told for number, told in self._told.items() if number in under_way}
            self._look_at = 2 * len(self._told) + self.network.agents
        self._told[self._number] = heard
        self.put_all(np.array([agent]), self._number, 0, self.kinds.index(kind), size)
        self._number += 1

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        for agent, heard in groupby(self.kept.taken().tolist(), key=itemgetter(columns.AGENT)):
            self.hear(agent, in_order(self._told[row[columns.ITEM]] for row in heard))


class CompiledTreeRounds(CalledTreeLoop, CalledRounds, RoundsOverBroadcast):
    """Stands for `RoundsOverBroadcast` over `Relay`, which is not started: a loop passes items on, and counts them."""

    kinds: ClassVar[tuple[Kind, ...]] = (RELAY, CALL)
    name: ClassVar[str] = "relay"
    loop, telling = _loops("relay", IN_ROUNDS=True, CALL=1)
    compiled_beside: ClassVar[tuple[Loop, ...]] = (*CalledRounds.compiled_beside, telling)

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self.trees = trees_of(network, self.machine)
        self._make_places(1)

    def start_broadcasts(self, network: Network) -> None:
        """See `RoundsOverBroadcast.start_broadcasts`."""

    def turn_of(self, aggregation: Aggregation) -> EventPriority:
        """Return the agents' turn: `Relay` hears then."""
        return AGENTS

    def begin(self, round: int) -> CountedRound:
        """See `RoundsOverBroadcast.begin`; in a place in which no other round goes on."""
        places = len(self.trees.missing)
        while len({number % places for number in (*self._rounds, round)}) <= len(self._rounds):
            places *= 2
        if places > len(self.trees.missing):
            self._make_places(places)
        self.trees.missing[round % places] = self.network.agents
        return super().begin(round)

    def _make_places(self, places: int) -> None:
        missing = moved(self.trees.missing, list(self._rounds), places)
        heard = np.empty((missing.size, columns.HEARD_COLUMNS), dtype=np.int64)
        self.trees = self.trees._replace(missing=missing, heard=heard)

    def tell_item(self, round: CountedRound, agent: int, item: Item) -> None:
        """See `RoundsOverBroadcast.tell_item`."""
        self.tell_all(np.array([agent]), round.number, 0, item.size)
        self.inform()

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        heard = self.trees.heard[: self.trees.state[columns.HEARD]].tolist()
        self.trees.state[columns.HEARD] = 0
        for agent, number in sorted(heard):
            self.go_on(self._rounds[number], agent)
