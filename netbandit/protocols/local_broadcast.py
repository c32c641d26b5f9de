"""Local broadcasts: an agent's message goes to all that are near."""

from typing import Self

from netbandit.network.link import Arrival
from netbandit.network.network import Network, Receive
from netbandit.part import Checks, Mistake, Others
from netbandit.protocols.broadcast import BroadcastProtocol, Hear
from netbandit.protocols.local_flood import LocalFlood
from netbandit.protocols.local_keys import LocalKeys
from netbandit.protocols.protocol import Item
from netbandit.protocols.relay import Relay


class LocalTree(LocalKeys, Relay):
    """As `Relay`, but a message is dropped after ttl hops."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        self.hops = self.ttl

    @property
    def reach(self) -> list[int]:
        """Those that its tree leads to; see `BroadcastProtocol.reach`."""
        return [1 + sum(map(len, self._tree(agent))) for agent in range(self.network.agents)]


class LocalBroadcast(LocalKeys, BroadcastProtocol):
    """Broadcasts within ttl hops, by `LocalFlood` or `LocalTree` as ``route`` says."""

    def start(self, network: Network, hear: Hear) -> None:
        """See `BroadcastProtocol.start`."""
        super().start(network, hear)
        kind: type[LocalFlood] | type[LocalTree] = LocalFlood if self.route == "flood" else LocalTree
        self._way: LocalFlood | LocalTree = kind.model_validate(self.table())
        self._way.start(network, hear)

    def check_with(self, others: Others) -> Checks:
        """Yield sets of parameters, which only agents that call for synchronisations keep."""
        if self.stride is not None:
            yield Mistake("stride", "leave it out: this learner has no sets of parameters")

    def in_every_slot(self) -> Self:
        """Return one that floods, unless ``route`` says else; see `BroadcastProtocol.in_every_slot`."""
        return self if self.route is not None else self.model_copy(update={"route": "flood"})

    @property
    def handler(self) -> Receive:
        """What its way does with messages."""
        return self._way.receive

    @property
    def reach(self) -> list[int]:
        """See `BroadcastProtocol.reach`."""
        return self._way.reach

    def figures(self) -> dict[str, float | int | None]:
        """See `BroadcastProtocol.figures`."""
        return self._way.figures()

    def broadcast(self, round: int, agent: int, item: Item) -> None:
        """See `BroadcastProtocol.broadcast`."""
        self._way.broadcast(round, agent, item)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Hand on what arrives."""
        self._way.receive(node, arrivals)
