"""The server's part in a round: it waits for all uploads, answers, and everybody hears it."""

from collections.abc import Callable, Sequence

from simpy import Event

from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.protocol import Item

UPLOAD = Kind("UPLOAD")
ANSWER = Kind("ANSWER")


class Server:
    """Collects what some agents upload, and answers when it has it all.

    The answer goes back on the links of the round; all other agents hear it as a broadcast. Uplinks are not
    slotted: without latency and with unlimited bandwidth nothing here takes any time.

    Args:
        network: The network; its server is this one.
        uploaders: Returns the agents that upload in a round, in the order in which *conclude* gets their items.
        conclude: Called with (round, items) once a round, when all items are there; returns the answer.
        on_end: Called with the round when the last agent is informed.
        tell: Called with (round, agent, answer) when an agent hears the answer; by default the event of
            :meth:`informed` happens.
    """

    def __init__(
        self,
        network: Network,
        uploaders: Callable[[int], Sequence[int]],
        conclude: Callable[[int, list[Item]], Item],
        on_end: Callable[[int], None],
        tell: Callable[[int, int, Item], None] | None = None,
    ) -> None:
        self._network = network
        self._uploaders = uploaders
        self._conclude = conclude
        self._on_end = on_end
        self._tell = self._succeed if tell is None else tell
        self._uploads: dict[int, dict[int, Item]] = {}
        self._informed: dict[tuple[int, int], Event] = {}
        self._uninformed: dict[int, int] = {}

    def upload(self, round: int, agent: int, item: Item) -> None:
        """Let *agent* send its item over its uplink."""
        self._network.send_up(Message(UPLOAD, HEADER_BYTES + item.size, item, round), agent)

    def informed(self, round: int, agent: int) -> Event:
        """Return the event that *agent* has heard the answer of *round*; its value is the answer. Asked once.

        An agent that does not take part may hear the answer while it still explores, before it asks: whoever
        comes first, the agent or the answer, leaves the event for the other.
        """
        event = self._informed.pop((round, agent), None)
        if event is None:
            event = self._informed[round, agent] = Event(self._network.clock.environment)
        return event

    def receive(self, node: int, arrival: Arrival) -> None:
        """Take in an upload, or let an agent hear the answer."""
        _, sender, message = arrival
        if message.kind is UPLOAD:
            self._collect(message.round, sender, message.value)
        else:
            self._inform(message.round, node, message.value)

    def _collect(self, round: int, sender: int, item: Item) -> None:
        uploads = self._uploads.setdefault(round, {})
        uploads[sender] = item
        uploaders = self._uploaders(round)
        if len(uploads) < len(uploaders):
            return
        del self._uploads[round]
        network = self._network
        conclusion = self._conclude(round, [uploads[agent] for agent in uploaders])
        answer = Message(ANSWER, HEADER_BYTES + conclusion.size, conclusion, round)
        self._uninformed[round] = network.agents
        network.send_down(answer, uploaders)
        if len(uploaders) < network.agents:
            network.broadcast(answer, [agent for agent in range(network.agents) if agent not in uploads])

    def _inform(self, round: int, agent: int, conclusion: Item) -> None:
        self._tell(round, agent, conclusion)
        self._uninformed[round] -= 1
        if not self._uninformed[round]:
            del self._uninformed[round]
            self._on_end(round)

    def _succeed(self, round: int, agent: int, conclusion: Item) -> None:
        self.informed(round, agent).succeed(conclusion)
