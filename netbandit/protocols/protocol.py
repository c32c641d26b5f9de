"""The base classes of network protocols and of round protocols, and their interface to the simulation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import Clock
from netbandit.network.engine import Receive
from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.component import CommunicationPattern, Part, state
from netbandit.parts.settings import PositiveDuration

Links = Literal["peer", "uplink"]
"""A table of ``[links]``: those between agents, and those between an agent and the server."""


class Item(NamedTuple):
    """A contribution of an agent, or a conclusion that it receives; opaque to the protocol.

    Attributes:
        size: Bytes, without the header of the message that carries it.
        value: The content, defined by the learner.
    """

    size: int
    value: Any


SERVER = -1
"""The group for which a server, or another node that answers for all, concludes."""


class Aggregation(Protocol):
    """The aggregation of the items of a round; provided by the simulation, which calls the learner.

    Attributes:
        turn: The turn of an instant in which nodes process arrivals and forward them.
        per_agent: Whether each agent concludes for itself, from the items that it holds, because agents may hold
            different ones. Then a group is an agent, or `SERVER`; and agents announce when they leave.
    """

    @property
    def turn(self) -> EventPriority:
        """See above."""

    @property
    def per_agent(self) -> bool:
        """See above."""

    def participants(self, round: int) -> Sequence[int]:
        """Return the agents that contribute to *round*, ascending."""

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return the aggregate of *items*: an item of the same kind, which may be aggregated again.

        Args:
            items: At least one, in order of their agents' numbers.
            weights: How many agents each item stands for; absent: one each.
        """

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Conclude *round* for a group of agents; return the item that they receive.

        Args:
            round: The number of the round, from 1.
            group: The group of agents that share what they know: 0, or the agent's own number where every
                agent is a group of its own.
            aggregate: The aggregate of all contributions of the round.
        """


SeenLinks = Literal["wait", "choose"]
"""Handling of messages for a link that is seen down: they wait for it; or only neighbours in contact are chosen."""


class NetworkProtocol(Part, ABC):
    """The base class of protocols: handles all messages of a network, once its handler is attached.

    The ``start`` of its pattern starts it, with the handlers of the agents.
    """

    timing: Literal["slotted", "asynchronous"] = "slotted"
    """``slotted``: what begins in a slot takes effect in a later one; ``asynchronous``: at once."""
    feedback_deadline: PositiveDuration | None = None
    """With ``elimination``: how long after a phase an agent waits for rewards that are late; absent: without limit."""

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset()
    """The communication patterns that it implements."""
    stand_ins: ClassVar[Mapping[CommunicationPattern, "type[NetworkProtocol]"]] = {}
    """The protocol, with the same keys, that stands for this one where agents talk in another pattern; by default an
    adapter does."""
    chooses: ClassVar[bool] = False
    """Whether a node (a server) can choose the participants of a round."""
    uses_peer_links: ClassVar[bool] = True
    """Whether agents communicate with their neighbours; if not, the network is built without peer links."""
    seen_links: ClassVar[SeenLinks | None] = None
    """The behaviour of agents that see which of their links are up; None: undefined."""
    uses_uplinks: ClassVar[bool] = True
    """Whether agents communicate with a server; ``check`` reports keys of links that are not used as ineffective."""

    ends_without: ClassVar[bool] = False
    """Whether a round may end without agents that are down, who then know something else than the others."""
    forgetful: ClassVar[bool] = False
    """Whether agents that lose their memory can go on over it, where they talk in rounds."""
    counts_slots: ClassVar[bool] = False
    """Whether it goes by slots in which every agent decides, so that no other activity fits."""
    counts_ties: ClassVar[bool] = False
    """Whether it sends fewer messages if several reach a node at the same instant."""
    out_of_band: ClassVar[bool] = False
    """Whether agents share data without any message."""
    speaks_for_groups: ClassVar[bool] = False
    """Whether sinks send aggregates of their components, so that a lying sink lies for all of them."""

    network: Network = state()
    """The network it talks over."""
    clock: Clock = state()
    """The network's clock."""
    ended: dict[int, int] = state()
    """For each round that has ended, the time (ns) at which the last agent was informed."""

    @property
    def isolated(self) -> bool:
        """Whether there is no communication, so that every agent is a separate group."""
        return False

    @property
    def differs(self) -> bool:
        """Whether agents may conclude a round from different items; by default where they wait for a deadline only."""
        return getattr(self, "deadline", None) is not None and not self.isolated

    def fewest_together(self, graph: Topology) -> int:
        """Return the smallest number of agents whose releases are aggregated at one node: by default all."""
        return graph.agents

    def over_seen_links(self, talk: str) -> SeenLinks | None:
        """Return `seen_links` for the communication pattern *talk*; None: undefined."""
        return self.seen_links

    @property
    def used_links(self) -> frozenset[Links]:
        """The tables of ``[links]`` whose links it may use."""
        tables: dict[Links, bool] = {"peer": self.uses_peer_links, "uplink": self.uses_uplinks}
        return frozenset(table for table, used in tables.items() if used)

    @property
    def slotted(self) -> bool:
        """Whether hops between agents take effect at slot boundaries."""
        return self.timing == "slotted"

    @property
    def handler(self) -> Receive:
        """The handler to attach to the network: :meth:`receive`, or the only handler that it would call."""
        return self.receive

    def connect(self, network: Network) -> None:
        """Connect to *network*; called by the ``start`` of a pattern."""
        self.network = network
        self.clock = network.clock
        self.ended = {}

    def end(self, round: int) -> None:
        """Note that the last agent has been informed of *round*, now."""
        self.ended[round] = self.clock.now

    @abstractmethod
    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle all that reaches *node* in this instant, in order of the sender's number."""


def contributed(item: Item | None) -> Item:
    """Return the contribution of an agent in a protocol that does not choose participants.

    Raises:
        ValueError: It contributes nothing.
    """
    if item is None:
        raise ValueError("every agent contributes: nobody can choose the participants")
    return item


Overhear = Callable[[int, int, Sequence[Item]], None]
"""Called with an agent, a round and items of that round that reach the agent before the round ends."""


class CallbackRoundProtocol(NetworkProtocol):
    """A protocol of rounds, written as callbacks: everyone contributes an item, and a round has an end.

    The fast layer; `netbandit.protocols.rounds.RoundProtocol` is the convenience layer on top of it.
    """

    patterns: ClassVar[frozenset[CommunicationPattern]] = frozenset({"round", "call", "broadcast"})
    served: ClassVar[bool] = False
    """Whether there is a server, so that calls go up to it and down from it; if not, they are flooded."""

    aggregation: Aggregation = state()
    """The aggregation of the items."""
    overhear: Overhear | None = state(default=None)
    """Called with items that reach agents before the round ends; None: nothing listens."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """Connect to *network*; the event loop has not run yet.

        Args:
            network: The network.
            aggregation: The aggregation of the items.
        """
        self.connect(network)
        self.aggregation = aggregation

    def listen(self, overhear: Overhear) -> None:
        """Call *overhear* with items that reach agents before the round ends; by default it is only stored."""
        self.overhear = overhear

    def conclude(self, round: int, items: Sequence[Item], weights: Sequence[int] | None = None, group: int = 0) -> Item:
        """Return the conclusion of *round* for *group*, from all its contributions; see `Aggregation`."""
        return self.aggregation.conclude(round, group, self.aggregation.aggregate(items, weights))

    def answered(self, round: int) -> bool:
        """Return whether the server has answered *round*, where there is one."""
        return round in self.ended

    @abstractmethod
    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Take the contribution of *agent* to *round*, at the end of its phase.

        Args:
            round: The number of the round, from 1.
            agent: The agent.
            item: What it contributes; None if it is not among the participants.

        Returns:
            An event that happens when the agent is informed; its value is the conclusion, an :class:`Item`, or None
            where agents conclude individually and this one goes on without having heard anything.
        """

    @property
    def reach(self) -> Sequence[int] | None:
        """For each agent the number of agents that share in a round, itself included; None: all."""
        return None

    @property
    def has_deadline(self) -> bool:
        """Whether agents wait for others no longer than a deadline."""
        return getattr(self, "deadline", None) is not None

    def note_items(self, round: int, items: Mapping[int, Item]) -> None:
        """Store items, by agent, of agents in other processes, before a message that names them is delivered.

        By default it does nothing: messages carry their items.
        """
        return

    def done(self, agent: int, round: int) -> None:
        """Announce that *agent* leaves from *round* on; where each agent concludes for itself."""

    def forget(self, agent: int) -> None:
        """Discard the memory of *agent*, which goes down now; the other agents keep what they hold."""
