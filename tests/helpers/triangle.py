"""A triangle of nodes and a log of what arrives, for tests of what networks make of messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from netbandit.network.clock import Clock, Environment
from netbandit.network.faults import Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import UniformJitter
from netbandit.network.link import Arrival, LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.network import Network
from netbandit.util.streams import Streams

PING = Kind("PING")
SLOT = 1_000


@dataclass
class Triangle:
    """Nodes 0, 1 and 2 with latencies 10 (0-1), 20 (0-2) and 30 (1-2) ns; uplinks of 5, 6 and 7 ns."""

    faults: Faults
    bandwidth: int | None = None
    horizon: int = 100
    seed: int = 0
    one_by_one: bool = False
    """Whether each message has its own place in the calendar, as where messages overtake."""
    log: list[tuple[int, int, list[tuple[int, int]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.environment = Environment()
        self.clock = Clock(self.environment, SLOT, self.horizon)
        self.fingerprint = Fingerprint()
        faults = self.faults
        if self.one_by_one:
            faults = replace(faults, uplink=replace(faults.uplink, jitter=UniformJitter(0)))
        self.network = Network(
            self.clock,
            [[1, 2], [0, 2], [0, 1]],
            LinkClass(self.bandwidth),
            {(0, 1): 10, (0, 2): 20, (1, 2): 30},
            LinkClass(self.bandwidth, cost=25.0),
            [5, 6, 7],
            self.fingerprint,
            streams=Streams(self.seed, 0),
            faults=faults,
        )
        self.network.attach(self._receive)

    def _receive(self, node: int, arrivals: list[Arrival]) -> None:
        self.log.append((self.environment.now, node, [(sender, message.size) for _, sender, message in arrivals]))

    def send(self, time: int, sender: int, receiver: int, size: int = 100) -> None:
        """Let *sender* send a message at *time* (ns); a receiver 3 is the server."""

        def act(message: Message) -> None:
            if receiver == 3:
                self.network.send_up(message, sender)
            elif sender == 3:
                self.network.send_down(message, [receiver])
            else:
                self.network.send(message, [self.network.channel(sender, receiver)])

        self._at(time, act, size)

    def broadcast(self, time: int, agents: Sequence[int], size: int = 100) -> None:
        """Let the server broadcast a message to *agents* at *time* (ns)."""
        self._at(time, lambda message: self.network.broadcast(message, agents), size)

    def _at(self, time: int, act: Callable[[Message], None], size: int) -> None:
        def acts() -> Any:
            yield self.environment.timeout(time)
            act(Message(PING, size, None, 1))

        self.environment.process(acts())

    def run(self) -> list[tuple[int, int, list[tuple[int, int]]]]:
        """Run to the end; make sure that every message ended in exactly one way, and return the log."""
        self.environment.run()
        self.network.close()
        return self.log
