"""What every protocol of rounds offers, and what it is told when it is built."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.settings import Problem, Settings

if TYPE_CHECKING:
    from netbandit.protocols.broadcast import BroadcastProtocol
    from netbandit.protocols.calls import CallProtocol


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
    """What is made of the items of a round; given by the simulation, which asks the learner."""

    def participants(self, round: int) -> Sequence[int]:
        """Return the agents that contribute to *round*, ascending."""

    def combine(self, items: Sequence[Item]) -> Item:
        """Return what stands for *items* on the way to the server: an item of the same kind."""

    def conclude(self, round: int, group: int, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return what follows from *items*, the contributions of a round in order of their agents' numbers.

        Args:
            round: The number of the round, from 1.
            group: The group of agents that share what they know: 0, or the agent's own number where every
                agent is a group of its own.
            items: One item per participant, or one for each of several sets of them, made by :meth:`combine`.
            weights: How many agents each item stands for; absent: one each.
        """


class NetworkProtocol(ABC):
    """What every protocol is: the receiver of all messages of a network.

    Args:
        settings: The protocol's own settings.
        network: The network it talks over.

    Attributes:
        ended: For each round that has ended, the time (ns) at which the last agent was informed.
    """

    Settings: ClassVar[type[ProtocolSettings]] = ProtocolSettings
    talks: ClassVar[frozenset[str]]
    """The ways to talk it offers: ``round``, ``call``, ``broadcast``, ``gather``."""
    alone: ClassVar[bool] = False
    """Whether every agent is a group of its own, so that nothing is shared."""
    chooses: ClassVar[bool] = False
    """Whether there is somebody (a server) who can choose the participants of a round."""
    broadcasts: ClassVar["type[BroadcastProtocol] | None"] = None
    """The protocol that stands for this one where agents tell each other what they know; by default its rounds do."""
    uses_peer_links: ClassVar[bool] = True
    """Whether agents talk to their neighbours; if not, the network is built without the links between them."""

    def __init__(self, settings: ProtocolSettings, network: Network) -> None:
        self.network = network
        self.clock = network.clock
        self.ended: dict[int, int] = {}
        network.receive = self.receive

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


class RoundProtocol(NetworkProtocol):
    """A protocol of rounds: everyone contributes an item, and a round has an end.

    Args:
        settings: The protocol's own settings.
        network: The network it talks over.
        aggregation: What is made of the items.

    Attributes:
        overhear: Told of items that reach agents on the way, if anybody listens.
    """

    talks: ClassVar[frozenset[str]] = frozenset({"round", "call", "broadcast"})
    called: ClassVar["type[CallProtocol] | None"] = None
    """The protocol that stands for this one where somebody calls for a round; by default calls go before its rounds."""
    served: ClassVar[bool] = False
    """Whether there is a server, so that calls go up to it and down from it; if not, they are flooded."""

    def __init__(self, settings: ProtocolSettings, network: Network, aggregation: Aggregation) -> None:
        super().__init__(settings, network)
        self.aggregation = aggregation
        self.overhear: Overhear | None = None

    def listen(self, overhear: Overhear) -> None:
        """Have *overhear* told what reaches agents on the way; of a protocol that never tells, conclusions alone."""
        self.overhear = overhear

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


Rounds = Callable[[ProtocolSettings, Network, Aggregation], RoundProtocol]
"""Builds a protocol of rounds."""
