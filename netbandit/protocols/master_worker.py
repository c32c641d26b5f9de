"""Master and workers: participants upload to the server, which answers all."""

from typing import ClassVar

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.part import Checks, Mistake, Others
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item
from netbandit.protocols.server import Server


class MasterWorker(DeadlineKey, CallbackRoundProtocol):
    """The structure of CDP-MAB (Li & Song, Algorithm 1).

    The participants of a round send their items over their uplinks; when the server has them all it answers
    the participants on the same links, and all others hear a broadcast. Uplinks are not slotted: without
    latency and with unlimited bandwidth a round takes no time at all. At its `deadline`, counted from the first item of
    a round, the server answers with what it has; what comes later is late, and left out.
    """

    served: ClassVar[bool] = True
    chooses: ClassVar[bool] = True
    uses_peer_links: ClassVar[bool] = False

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        deadline = self.deadline_ns(network.clock.slot)
        self._server = Server(network, aggregation.participants, self.conclude, self.end, deadline=deadline)

    @property
    def late(self) -> int:
        """Items that came after the server had answered without them."""
        return self._server.late

    def check_with(self, others: Others) -> Checks:
        """Yield a deadline of learners that the server cannot do without."""
        if self.deadline is not None and "round" not in getattr(others.learner, "talks", ()):
            kind = others.kinds["learner"]
            yield Mistake("deadline", f'works with learners of rounds only, such as elimination, not with "{kind}"')

    def answered(self, round: int) -> bool:
        """See `CallbackRoundProtocol.answered`."""
        return round <= self._server.latest

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Upload the item of a participant; everybody waits for the answer."""
        if item is not None:
            self._server.upload(round, agent, item)
        return self._server.informed(round, agent)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Let the server collect uploads, and agents hear the answer."""
        for arrival in arrivals:
            self._server.receive(node, arrival)
