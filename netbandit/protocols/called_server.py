"""Synchronisations over a server: an agent asks it for one, the server calls all, they upload, it answers."""

from netbandit.network.clock import SENDS, Steps
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.calls import Callee, CallProtocol
from netbandit.protocols.protocol import Item, ProtocolSettings
from netbandit.protocols.server import Server

ASK = Kind("ASK")
CALL = Kind("CALL")


class CalledServer(CallProtocol):
    """The master and its workers, when synchronisations are called for.

    All agents are one group with one set of parameters. A call goes up (ASK) and down to everybody (CALL); who hears
    it releases after the decision of that slot, and uploads. When the server has all uploads it answers everybody, and
    an agent adopts the answer the moment it arrives. An ASK that reaches the server while a synchronisation is under
    way is dropped: the agent that sent it takes part in that one. Uplinks are not slotted: without latency everything
    takes place at the end of the slot. What starts without a call begins with the uploads.
    """

    uses_peer_links = False

    def __init__(self, settings: ProtocolSettings, network: Network, callee: Callee) -> None:
        super().__init__(settings, network, callee)
        self.groups = [0] * network.agents
        everybody = range(network.agents)
        self._server = Server(network, lambda round: everybody, self._conclude, self.end, self._adopt)
        self._called = 0  # the latest round that the server knows of
        self._adopted = [0] * network.agents
        self._steps: Steps[int] = Steps(self.clock, self._release, SENDS)

    def call(self, agent: int, parameters: int) -> None:
        """Ask the server for the next synchronisation."""
        round = self._adopted[agent] + 1
        self.network.send_up(Message(ASK, HEADER_BYTES, None, round), agent)

    def begin(self, agent: int, parameters: int) -> None:
        """Upload for the next synchronisation, uncalled."""
        self._upload(agent, self._adopted[agent] + 1)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Let the server call and collect, and agents release and adopt."""
        for arrival in arrivals:
            message = arrival[2]
            if message.kind is ASK:
                self._call(message.round)
            elif message.kind is CALL:
                self.callee.hush(node, 0)
                self._steps.at(self.clock.now, node, message.round)
            else:
                self._server.receive(node, arrival)

    def _call(self, round: int) -> None:
        if round > self._called:
            self._called = round
            self.network.send_down(Message(CALL, HEADER_BYTES, None, round), range(self.network.agents))

    def _release(self, due: list[tuple[int, list[int]]]) -> None:
        for agent, rounds in due:
            self._upload(agent, rounds[0])

    def _upload(self, agent: int, round: int) -> None:
        if self.clock.now < self.clock.end:
            self._server.upload(round, agent, self.callee.release(agent, 0))

    def _conclude(self, round: int, items: list[Item]) -> Item:
        return self.callee.conclude(items)

    def _adopt(self, round: int, agent: int, conclusion: Item) -> None:
        self._adopted[agent] = round
        self.callee.adopt(agent, 0, conclusion)
