"""The server's part in a round: it waits for all uploads, answers, and all agents receive the answer."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

from simpy import Event

from netbandit.network.clock import ScheduledEvent
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.protocols.deadline import DEADLINES
from netbandit.protocols.leave_notice import LEAVE
from netbandit.protocols.protocol import Item

UPLOAD = Kind("UPLOAD")
ANSWER = Kind("ANSWER")


class Server:
    """Collects the uploads of some agents, and answers when all have arrived.

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
        per_agent: Whether agents conclude individually: then each may receive an answer, by *tell*, and the server no
            longer waits for agents that have left.

    Attributes:
        late: The number of items that arrived after their round had been answered.
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
        per_agent: bool = False,
    ) -> None:
        self._network = network
        self._uploaders = uploaders
        self._conclude = conclude
        self._on_end = on_end
        self._tell = self._succeed if tell is None else tell
        self._deadline = deadline
        self._per_agent = per_agent
        self._answers: dict[int, Message] = {}
        self._done: dict[int, int] = {}
        self.late = 0
        self.latest = 0
        self._uploads: dict[int, dict[int, Item]] = {}
        self._answering: set[int] = set()
        self._informed: dict[tuple[int, int], Event] = {}
        self._uninformed: dict[int, set[int]] = {}

    def upload(self, round: int, agent: int, item: Item) -> None:
        """Let *agent* send its item over its uplink."""
        self._network.send_up(Message(UPLOAD, self._network.header + item.size, item, round), agent)

    def say_done(self, agent: int, round: int) -> None:
        """Announce that *agent* uploads no more from *round* on."""
        self._network.send_up(Message(LEAVE, HEADER_BYTES, None, round), agent)

    def informed(self, round: int, agent: int) -> Event:
        """Return the event that *agent* has received the answer of *round*, which is its value. To be called once.

        An agent that does not take part may receive the answer while it still explores, before this call: the first of
        the two, the call or the answer, creates the event.
        """
        event = self._informed.pop((round, agent), None)
        if event is None:
            event = self._informed[round, agent] = Event(self._network.clock.environment)
        return event

    def receive(self, node: int, arrival: Arrival) -> None:
        """Process an upload at the server, or the answer at an agent."""
        _, sender, message = arrival
        if message.kind is UPLOAD:
            self._collect(message.round, sender, message.value)
        elif message.kind is LEAVE:
            self._done[sender] = message.round
            for round in [round for round in self._uploads if round >= message.round]:
                self._answer_if_complete(round)
        else:
            self._inform(message.round, node, message.value)

    def _collect(self, round: int, sender: int, item: Item) -> None:
        if self._network.forgets:
            self._done.pop(sender, None)  # it has begun anew
        if round in self._answers:
            self.late += 1
            if self._network.forgets:  # it may have heard the answer, and lost its memory
                self._network.send_down(self._answers[round], [sender])
            return
        uploads = self._uploads.setdefault(round, {})
        uploads.setdefault(sender, item)
        first = len(uploads) == 1
        self._answer_if_complete(round)
        if self._deadline is not None and first and round in self._uploads:
            self._wait(round, self._deadline)

    def _wait(self, round: int, time: int) -> None:
        callbacks: list[Callable[[Event], None]] = [lambda _: self._pass_deadline(round)]
        self._network.clock.environment.schedule(ScheduledEvent(callbacks), DEADLINES, time)

    def _pass_deadline(self, round: int) -> None:
        if round not in self._uploads:
            return
        network, now = self._network, self._network.clock.now
        back: float = now
        if network.outages is not None:  # a server that is down answers when it is back
            back = network.outages.node(network.server).up(now)
        if back == now:
            self._answer(round)
        elif back < inf:
            self._wait(round, int(back) - now)

    def _expected(self, round: int) -> list[int]:
        """Return the agents that are to upload in *round*: all without an earlier leave notice."""
        return [agent for agent in self._uploaders(round) if self._done.get(agent, round + 1) > round]

    def _answer_if_complete(self, round: int) -> None:
        uploads = self._uploads[round]
        if not self._done:
            complete = len(uploads) == len(self._uploaders(round))
        else:
            complete = all(agent in uploads for agent in self._expected(round))
        if complete:
            self._answer(round)

    def _answer(self, round: int) -> None:
        """Answer with what has come until the server begins to put it together."""
        if round not in self._answering:
            self._answering.add(round)
            self._network.when_computed(
                self._network.server,
                "aggregate",
                partial(self._send_answer, round),
                lambda: dict(self._uploads[round]),
                partial(self._answer_anew, round),
            )

    def _answer_anew(self, round: int) -> None:
        """Answer once the server, which goes down now, is back."""
        self._answering.discard(round)
        self._pass_deadline(round)

    def _send_answer(self, round: int, uploads: dict[int, Item]) -> None:
        late = self._uploads.pop(round).keys() - uploads.keys()
        self.late += len(late)
        self._answering.discard(round)
        self.latest = max(self.latest, round)
        uploaders = self._expected(round) if self._done else self._uploaders(round)
        network = self._network
        items = [uploads[agent] for agent in self._uploaders(round) if agent in uploads]
        conclusion = self._conclude(round, items)
        answer = Message(ANSWER, network.header + conclusion.size, conclusion, round)
        if self._deadline is not None or self._per_agent:
            self._answers[round] = answer
        self._uninformed[round] = set(range(network.agents))
        network.send_down(answer, uploaders)
        if len(uploaders) < network.agents:
            chosen = frozenset(uploaders)
            others = [agent for agent in range(network.agents) if agent not in chosen]
            network.broadcast(answer, [agent for agent in others if self._done.get(agent, round + 1) > round])

    def _inform(self, round: int, agent: int, conclusion: Item) -> None:
        answered = self._informed.get((round, agent))
        if answered is not None and answered.triggered:
            return  # once more, before it has asked
        self._tell(round, agent, conclusion)
        uninformed = self._uninformed.get(round)
        # An agent that has lost its memory receives it once more.
        if self._per_agent or uninformed is None or agent not in uninformed:
            return
        uninformed.remove(agent)
        if not uninformed:
            del self._uninformed[round]
            self._on_end(round)

    def _succeed(self, round: int, agent: int, conclusion: Item) -> None:
        informed = self.informed(round, agent)
        if not informed.triggered:
            informed.succeed(conclusion)
