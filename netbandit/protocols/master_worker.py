"""Master and workers: participants upload to the server, which answers all."""

from typing import ClassVar

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item
from netbandit.protocols.server import Server


class MasterWorker(CallbackRoundProtocol):
    """The structure of CDP-MAB (Li & Song, Algorithm 1).

    The participants of a round send their items over their uplinks; when the server has them all it answers
    the participants on the same links, and all others hear a broadcast. Uplinks are not slotted: without
    latency and with unlimited bandwidth a round takes no time at all.
    """

    served: ClassVar[bool] = True
    chooses: ClassVar[bool] = True
    uses_peer_links: ClassVar[bool] = False

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self._server = Server(network, aggregation.participants, self.conclude, self.end)

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Upload the item of a participant; everybody waits for the answer."""
        if item is not None:
            self._server.upload(round, agent, item)
        return self._server.informed(round, agent)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Let the server collect uploads, and agents hear the answer."""
        for arrival in arrivals:
            self._server.receive(node, arrival)
