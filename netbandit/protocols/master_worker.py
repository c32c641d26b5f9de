"""Master and workers: participants upload to the server, which answers all agents."""

from typing import ClassVar

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.network import Network
from netbandit.parts.component import Checks, Others
from netbandit.protocols.deadline import DeadlineKey, WaitList, deadline_without_rounds, only_a_server
from netbandit.protocols.protocol import SERVER, Aggregation, CallbackRoundProtocol, Item
from netbandit.protocols.server import Server


class MasterWorker(DeadlineKey, CallbackRoundProtocol):
    """Rounds over a server: agents upload over their uplinks, it answers all.

    The structure of CDP-MAB (Li & Song, Algorithm 1).

    The participants of a round send their items over their uplinks; when the server has them all it answers
    the participants on the same links, and all others hear a broadcast. Uplinks are not slotted: without
    latency and with unlimited bandwidth a round takes no time at all. At its `deadline`, counted from the first item of
    a round, the server answers with what it has; what comes later is late, and left out. An agent that has heard no
    answer two deadlines after its own contribution goes on without.
    """

    served: ClassVar[bool] = True
    chooses: ClassVar[bool] = True
    uses_peer_links: ClassVar[bool] = False
    forgetful: ClassVar[bool] = True

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        deadline = self.deadline_ns(network.clock.slot)
        self._per_agent = aggregation.per_agent
        self._wait_list = WaitList(
            network.clock, None if deadline is None else 2 * deadline, lambda round, agent: (), only_a_server
        )
        tell = self._wait_list.answer if self._per_agent else None
        self._server = Server(
            network, aggregation.participants, self._conclude, self.end, tell, deadline, self._per_agent
        )

    @property
    def late(self) -> int:
        """Items that came after the server had answered without them, and answers after agents had gone on."""
        return self._server.late + self._wait_list.late

    def check_with(self, others: Others) -> Checks:
        """Yield a deadline of learners that the server cannot do without."""
        yield from deadline_without_rounds(self, others)

    def answered(self, round: int) -> bool:
        """See `CallbackRoundProtocol.answered`."""
        return round <= self._server.latest

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Upload the item of a participant; everybody waits for the answer."""
        if item is not None:
            self._server.upload(round, agent, item)
        return self._wait_list.wait(round, agent) if self._per_agent else self._server.informed(round, agent)

    def done(self, agent: int, round: int) -> None:
        """Tell the server."""
        self._wait_list.done(agent)
        self._server.say_done(agent, round)

    def forget(self, agent: int) -> None:
        """See `CallbackRoundProtocol.forget`."""
        self._wait_list.forget(agent)

    def _conclude(self, round: int, items: list[Item]) -> Item:
        return self.conclude(round, items, group=SERVER if self._per_agent else 0)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Let the server collect uploads, and agents hear the answer."""
        for arrival in arrivals:
            self._server.receive(node, arrival)
