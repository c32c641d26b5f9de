"""Master and workers: participants upload to the server, which answers all."""

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.protocol import Aggregation, Item, ProtocolSettings, RoundProtocol

UPLOAD = Kind("UPLOAD")
ANSWER = Kind("ANSWER")


class MasterWorker(RoundProtocol):
    """The structure of CDP-MAB (Li & Song, Algorithm 1).

    The participants of a round send their items over their uplinks; when the server has them all it answers
    the participants on the same links, and all others hear a broadcast. Uplinks are not slotted: without
    latency and with unlimited bandwidth a round takes no time at all.
    """

    chooses = True
    uses_peer_links = False

    def __init__(self, settings: ProtocolSettings, network: Network, aggregation: Aggregation) -> None:
        super().__init__(settings, network, aggregation)
        self._uploads: dict[int, dict[int, Item]] = {}
        self._informed: dict[tuple[int, int], Event] = {}
        self._uninformed: dict[int, int] = {}

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """Upload the item of a participant; everybody waits for the answer."""
        if item is not None:
            upload = Message(UPLOAD, HEADER_BYTES + item.size, item, round)
            self.network.send_up(upload, agent)
        return self._event(round, agent)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Let the server collect uploads, and agents hear the answer."""
        for _, sender, message in arrivals:
            if message.kind is UPLOAD:
                self._collect(sender, message)
            else:
                self._inform(message.round, node, message.value)

    def _collect(self, sender: int, upload: Message) -> None:
        round = upload.round
        uploads = self._uploads.setdefault(round, {})
        uploads[sender] = upload.value
        participants = self.aggregation.participants(round)
        if len(uploads) < len(participants):
            return
        del self._uploads[round]
        conclusion = self.aggregation.conclude(round, 0, [uploads[agent] for agent in participants])
        answer = Message(ANSWER, HEADER_BYTES + conclusion.size, conclusion, round)
        self._uninformed[round] = self.network.agents
        self.network.send_down(answer, participants)
        if len(participants) < self.network.agents:
            chosen = frozenset(participants)
            self.network.broadcast(answer, [agent for agent in range(self.network.agents) if agent not in chosen])

    def _inform(self, round: int, agent: int, conclusion: Item) -> None:
        self._event(round, agent).succeed(conclusion)
        del self._informed[round, agent]
        self._uninformed[round] -= 1
        if not self._uninformed[round]:
            del self._uninformed[round]
            self.ended[round] = self.clock.now

    def _event(self, round: int, agent: int) -> Event:
        """Return the event that *agent* is informed of *round*.

        Whoever comes first makes it: an agent that the server did not choose may hear the answer while it
        still explores.
        """
        event = self._informed.get((round, agent))
        if event is None:
            event = self._informed[round, agent] = self.clock.environment.event()
        return event
