"""Pull gossip: an agent sends a request to one random neighbour, which responds."""

from functools import partial
from typing import NamedTuple

from netbandit.network.clock import AGENTS, InstantQueue
from netbandit.network.link import Arrival
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.network.network import Network
from netbandit.parts.component import Checks, Others
from netbandit.protocols.deadline import DeadlineKey, deadline_without_rounds
from netbandit.protocols.protocol import Item
from netbandit.protocols.requests import Answer, HearResponse, RequestProtocol

REQUEST = Kind("REQ")
ANSWER = Kind("ANSWER")


class _Message(NamedTuple):
    """The payload of a message.

    Attributes:
        sender: Its sender.
        answer: The response; None: it is a request.
        begun: When (ns) its hop began.
    """

    sender: int
    answer: Item | None
    begun: int


class PullGossip(DeadlineKey, RequestProtocol):
    """The communication of GosInE (Chawla et al. 2020): a header-only request to a random neighbour, and its response.

    Slotted, each of the two takes effect at a boundary after the one it was sent at; asynchronous, at once, so that
    over links without latency the response arrives at the instant of the request. Lost messages are not repeated.
    """

    def check_with(self, others: Others) -> Checks:
        """Yield a deadline that has no effect."""
        yield from super().check_with(others)
        yield from deadline_without_rounds(self, others)

    def start(self, network: Network, answer: Answer, hear: HearResponse) -> None:
        """See `RequestProtocol.start`; each node draws from its own stream ``gossip``."""
        super().start(network, answer, hear)
        self._slotted = self.slotted
        self._generators = [network.streams.generator("gossip", node) for node in range(network.agents)]
        self._steps: InstantQueue[_Message] = InstantQueue(self.clock, self._take_in, AGENTS)

    def ask(self, agent: int, avoided: frozenset[int] = frozenset()) -> None:
        """See `RequestProtocol.ask`; without such a neighbour it sends nothing."""
        channels = self.network.channels[agent]
        if avoided:
            channels = [channel for channel in channels if channel.receiver not in avoided]
        if channels:
            drawn = channels[int(self._generators[agent].integers(len(channels)))]
            chosen = self.network.present_neighbours.one_of(agent, channels, drawn)
            if chosen is not None:
                self._say(REQUEST, HEADER_BYTES, agent, chosen.receiver, None)

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """Process arrivals, now or at the slot boundary."""
        answers = [message.value for _, _, message in arrivals]
        if not self._slotted:
            self._take_in([(node, answers)])
            return
        for one in answers:
            self._steps.at(self.clock.effective_time(one.begun, self.clock.now), node, one)

    def _take_in(self, due: list[tuple[int, list[_Message]]]) -> None:
        for node, answers in due:
            for sender, answer, _ in sorted(answers, key=lambda one: one.sender):
                if answer is not None:
                    self.hear(node, sender, answer)
                    continue
                item = self.answer(node, sender)
                if item is None:
                    continue
                answer_now = partial(self._say, ANSWER, self.network.header + item.size, node, sender, item)
                self.network.when_computed(node, "item", answer_now)

    def _say(self, kind: Kind, size: int, sender: int, receiver: int, answer: Item | None, _: object = None) -> None:
        message = Message(kind, size, _Message(sender, answer, self.clock.now), 0)
        self.network.send(message, (self.network.channel(sender, receiver),))
