"""Nobody communicates: the baseline in which every agent learns alone."""

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.protocols.protocol import Item, RoundProtocol


class Silent(RoundProtocol):
    """Every agent concludes from its own item at once; no message, no wait, no round to count."""

    alone = True
    uses_peer_links = False

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Conclude for *agent* alone."""
        items = [] if item is None else [item]
        return self.clock.environment.event().succeed(self.aggregation.conclude(round, agent, items))

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Never called: nobody sends."""
        raise RuntimeError("a message was sent although nobody communicates")
