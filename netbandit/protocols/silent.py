"""Nobody communicates: the baseline in which every agent learns alone."""

from collections.abc import Mapping
from typing import ClassVar

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.protocols.calls import CallProtocol, SyncHandler
from netbandit.protocols.protocol import (
    CallbackRoundProtocol,
    Item,
    NetworkProtocol,
    Pattern,
    contributed,
)


class CalledSilent(CallProtocol):
    """Every agent is a group of its own, and nobody calls."""

    uses_peer_links: ClassVar[bool] = False

    @property
    def isolated(self) -> bool:
        """Nobody hears anything."""
        return True

    def start(self, network: Network, sync_handler: SyncHandler) -> None:
        """See `CallProtocol.start`."""
        super().start(network, sync_handler)
        self.groups = range(network.agents)

    def call(self, agent: int, param_set: int) -> None:
        """Do nothing: there is nobody to hear it."""

    def begin(self, agent: int, param_set: int) -> None:
        """Do nothing: there is nobody to share with."""

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: nobody sends."""
        raise RuntimeError("a message was sent although nobody communicates")


class Silent(CallbackRoundProtocol):
    """Every agent concludes from its own item at once; no message, no wait, no round to count."""

    stand_ins: ClassVar[Mapping[Pattern, type[NetworkProtocol]]] = {"call": CalledSilent}
    uses_peer_links: ClassVar[bool] = False

    @property
    def isolated(self) -> bool:
        """Nobody hears anything."""
        return True

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Conclude for *agent* alone."""
        return self.clock.environment.event().succeed(self.conclude(round, [contributed(item)], group=agent))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: nobody sends."""
        raise RuntimeError("a message was sent although nobody communicates")
