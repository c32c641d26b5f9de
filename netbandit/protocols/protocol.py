"""What every protocol of rounds offers, and what it is told when it is built."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from simpy import Event
from simpy.events import EventPriority

from netbandit.network.link import Arrival
from netbandit.network.network import Network, Receive
from netbandit.settings import Problem, Settings

Pattern = Literal["round", "call", "broadcast", "gather"]
"""A communication pattern. ``round``: everyone contributes and it has an end; ``call``: a round that somebody calls
for; ``broadcast``: an item reaches others one by one; ``gather``: one node needs a part from every other before it can
act."""


class ProtocolSettings(Settings):
    """Keys that every protocol has.

    Attributes:
        kind: Which protocol.
        timing: ``slotted``: what begins in a slot takes effect in a later one; ``asynchronous``: at once.
    """

    kind: str
    timing: Literal["slotted", "asynchronous"] = "slotted"

    @classmethod
    def problems(cls, table: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield the mistakes between keys of a raw *table*, paths relative to it."""
        yield from ()


class Item(NamedTuple):
    """What an agent contributes, or hears in the end: a size and a value, both opaque to the protocol.

    Attributes:
        size: Bytes, without the header of the message that carries it.
        value: Whatever the learner makes of it.
    """

    size: int
    value: Any


class GraphFacts(NamedTuple):
    """What a protocol must know of the graph to say whether it can run there.

    Attributes:
        agents: The number of agents.
        components: The number of connected components.
        slowest_hop: Returns the slots that a hop of a release over the slowest link takes at most, without queueing;
            its argument is the bytes that the message has besides the release.
    """

    agents: int
    components: int
    slowest_hop: Callable[[int], int] = lambda around: 1


class Aggregation(Protocol):
    """What is made of the items of a round; given by the simulation, which asks the learner.

    Attributes:
        turn: The turn of an instant in which nodes take in what hops have brought, and pass it on.
    """

    @property
    def turn(self) -> EventPriority:
        """See above."""

    def participants(self, round: int) -> Sequence[int]:
        """Return the agents that contribute to *round*, ascending."""

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return what stands for *items*: an item of the same kind, which may be aggregated again.

        Args:
            items: At least one, in order of their agents' numbers.
            weights: How many agents each item stands for; absent: one each.
        """

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Let a group of agents conclude *round*; return what they are told.

        Args:
            round: The number of the round, from 1.
            group: The group of agents that share what they know: 0, or the agent's own number where every
                agent is a group of its own.
            aggregate: What stands for all contributions of the round.
        """


class NetworkProtocol(ABC):
    """What every protocol is: what handles all messages of a network, once its handler is attached to it.

    Args:
        settings: The protocol's own settings.
        network: The network it talks over.

    Attributes:
        ended: For each round that has ended, the time (ns) at which the last agent was informed.
    """

    Settings: ClassVar[type[ProtocolSettings]] = ProtocolSettings
    patterns: ClassVar[frozenset[Pattern]] = frozenset()
    """The communication patterns it offers."""
    stand_ins: ClassVar[Mapping[Pattern, "type[NetworkProtocol]"]] = {}
    """The protocol that stands for this one where agents talk in another pattern; by default an adapter does."""
    isolated: bool = False
    """Whether nobody ever hears anything, so that every agent is a group of its own."""
    chooses: ClassVar[bool] = False
    """Whether there is somebody (a server) who can choose the participants of a round."""
    uses_peer_links: ClassVar[bool] = True
    """Whether agents talk to their neighbours; if not, the network is built without the links between them."""

    def __init__(self, settings: ProtocolSettings, network: Network) -> None:
        self.network = network
        self.clock = network.clock
        self.ended: dict[int, int] = {}

    @property
    def handler(self) -> Receive:
        """What is to be attached to the network: :meth:`receive`, or what it would do alone."""
        return self.receive

    @classmethod
    def problems(cls, settings: ProtocolSettings, graph: GraphFacts) -> Iterator[tuple[str, str]]:
        """Yield (key, text) for each reason why this protocol cannot run on such a graph."""
        yield from ()

    def end(self, round: int) -> None:
        """Note that the last agent has been informed of *round*, now."""
        self.ended[round] = self.clock.now

    @abstractmethod
    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Handle all that reaches *node* in this instant, in order of the sender's number."""


def contributed(item: Item | None) -> Item:
    """Return what an agent contributes where nobody can choose the participants.

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

    The fast layer: `netbandit.protocols.rounds.RoundProtocol` is the easy one on top of it.

    Args:
        settings: The protocol's own settings.
        network: The network it talks over.
        aggregation: What is made of the items.

    Attributes:
        overhear: Told of items that reach agents on the way, if anybody listens.
    """

    patterns: ClassVar[frozenset[Pattern]] = frozenset({"round", "call", "broadcast"})
    served: ClassVar[bool] = False
    """Whether there is a server, so that calls go up to it and down from it; if not, they are flooded."""

    def __init__(self, settings: ProtocolSettings, network: Network, aggregation: Aggregation) -> None:
        super().__init__(settings, network)
        self.aggregation = aggregation
        self.overhear: Overhear | None = None

    def listen(self, overhear: Overhear) -> None:
        """Have *overhear* told what reaches agents on the way; of a protocol that never tells, conclusions alone."""
        self.overhear = overhear

    def conclude(self, round: int, items: Sequence[Item], weights: Sequence[int] | None = None, group: int = 0) -> Item:
        """Return what *group* is told of *round*, of which these are all contributions; see `Aggregation`."""
        return self.aggregation.conclude(round, group, self.aggregation.aggregate(items, weights))

    @abstractmethod
    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Take the contribution of *agent* to *round*, at the end of its phase.

        Args:
            round: The number of the round, from 1.
            agent: The agent.
            item: What it contributes; None if it is not among the participants.

        Returns:
            An event that happens when the agent is informed; its value is the conclusion, an :class:`Item`.
        """


Rounds = Callable[[ProtocolSettings, Network, Aggregation], CallbackRoundProtocol]
"""Builds a protocol of rounds."""
