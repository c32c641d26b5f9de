"""The server's part in a round: it waits for all uploads, answers, and everybody hears it."""

from collections.abc import Callable, Sequence

from simpy import Event

from netbandit.network.clock import AGENTS, ScheduledEvent
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
        deadline: How long (ns) after the first item of a round the server answers with what it has; None: it waits
            for all.

    Attributes:
        late: Items that came after their round had been answered.
        latest: The latest round that it has answered.
    """

    def __init__(
        self,
        network: Network,
        uploaders: Callable[[int], Sequence[int]],
        conclude: Callable[[int, list[Item]], Item],
        on_end: Callable[[int], None],
        tell: Callable[[int, int, Item], None] | None = None,
        deadline: int | None = None,
    ) -> None:
        self._network = network
        self._uploaders = uploaders
        self._conclude = conclude
        self._on_end = on_end
        self._tell = self._succeed if tell is None else tell
        self._deadline = deadline
        self._answered: set[int] = set()
        self.late = 0
        self.latest = 0
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
        if round in self._answered:
            self.late += 1
            return
        uploads = self._uploads.setdefault(round, {})
        uploads[sender] = item
        if len(uploads) == len(self._uploaders(round)):
            self._answer(round)
        elif self._deadline is not None and len(uploads) == 1:
            callbacks: list[Callable[[Event], None]] = [lambda _: self._pass_deadline(round)]
            self._network.clock.environment.schedule(ScheduledEvent(callbacks), AGENTS, self._deadline)

    def _pass_deadline(self, round: int) -> None:
        if round in self._uploads:
            self._answer(round)

    def _answer(self, round: int) -> None:
        """Answer with what has come."""
        uploads = self._uploads.pop(round)
        self.latest = max(self.latest, round)
        if self._deadline is not None:
            self._answered.add(round)
        uploaders = self._uploaders(round)
        network = self._network
        conclusion = self._conclude(round, [uploads[agent] for agent in uploaders if agent in uploads])
        answer = Message(ANSWER, HEADER_BYTES + conclusion.size, conclusion, round)
        self._uninformed[round] = network.agents
        network.send_down(answer, uploaders)
        if len(uploaders) < network.agents:
            chosen = frozenset(uploaders)
            network.broadcast(answer, [agent for agent in range(network.agents) if agent not in chosen])

    def _inform(self, round: int, agent: int, conclusion: Item) -> None:
        self._tell(round, agent, conclusion)
        self._uninformed[round] -= 1
        if not self._uninformed[round]:
            del self._uninformed[round]
            self._on_end(round)

    def _succeed(self, round: int, agent: int, conclusion: Item) -> None:
        self.informed(round, agent).succeed(conclusion)
