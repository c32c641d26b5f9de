"""Records the actions and messages of a driver's agents: in a simulation, in its replay, or in a process."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from zlib import crc32

from simpy import Event

from netbandit.learners.learner import Commit, Phase
from netbandit.network.clock import ARRIVALS, ScheduledEvent
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import Arrival, Channel
from netbandit.network.message import Message
from netbandit.network.network import Network, Send
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.protocol import CallbackRoundProtocol
from netbandit.protocols.rounds import RoundProtocol
from netbandit.simulation.driver import ReplicationContext, concludes_per_agent
from netbandit.simulation.drivers.epochs import Epochs
from netbandit.simulation.execution import executed
from netbandit.simulation.replication import RunnablePoint
from netbandit.studies.emulation.forks import apart
from netbandit.studies.emulation.wire import Carries, begun_of

Choice = tuple[int, ...]
"""An agent's next action: its arms, followed by how often it pulls each; 0: one arm until the end."""

RoundAndKind = tuple[int, str]

MessageKey = tuple[int, int, int]
"""A message by its sender, its receiver, and its number on this channel."""


class Hop(NamedTuple):
    """A message in transit; times are virtual (ns).

    Attributes:
        sender: Its sender.
        receiver: Its receiver.
        number: Its number on its channel, from 0.
        round: The round that it belongs to.
        kind: The name of its kind.
        size: Its bytes in the ledger.
        caused: The time of the event that caused it to be sent.
        sent: The time it was put on its channel.
        due: Its arrival time; -1: it is lost.
    """

    sender: int
    receiver: int
    number: int
    round: int
    kind: str
    size: int
    caused: int
    sent: int
    due: int

    @property
    def key(self) -> MessageKey:
        """The message of which it is."""
        return self.sender, self.receiver, self.number


@dataclass
class Notes:
    """The record of a run, or of some of its agents.

    Attributes:
        choices: For each agent its choices, in order.
        waits: For each round and agent the times (ns) at which it began to wait, and continued.
        hops: The messages, in order of sending.
        ends: The time (ns) at which the simulator's clock ended each round, where its agents learn of it later.
        slack: The shortest time (ns) from an arrival to the slot boundary at which it takes effect; -1: none does.
        stalled: The number of agents that wait at the horizon for a message that cannot arrive any more.
        regret: The regret of all its agents.
        lasts: The time (ns) at which the last agent continued from its last round.
    """

    choices: dict[int, list[Choice]] = field(default_factory=dict)
    waits: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    hops: list[Hop] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    slack: int = -1
    stalled: int = 0
    regret: float = 0.0

    @property
    def lasts(self) -> int:
        """See above."""
        return max((end for _, end in self.waits.values()), default=0)

    def ledger(self) -> dict[RoundAndKind, tuple[int, int]]:
        """Return messages and bytes of each round and kind, of messages caused before the round's end."""
        counts: Counter[RoundAndKind] = Counter()
        sizes: Counter[RoundAndKind] = Counter()
        for hop in self.hops:
            if hop.caused < self.ends.get(hop.round, hop.caused + 1):
                counts[hop.round, hop.kind] += 1
                sizes[hop.round, hop.kind] += hop.size
        return {key: (count, sizes[key]) for key, count in sorted(counts.items())}

    @property
    def afterwards(self) -> int:
        """The number of messages caused after their round had ended, unknown to their senders."""
        return len(self.hops) - sum(count for count, _ in self.ledger().values())


class Noted(Epochs):
    """The driver, which records its agents' choices and how long they wait."""

    notes: Notes
    chosen: Callable[[int, int, Choice], None] = staticmethod(lambda agent, number, choice: None)
    """Called with each choice of an agent: its number, from 0, and the choice."""

    def _goes_on_with(self, agent: int, action: Phase | Commit) -> None:
        super()._goes_on_with(agent, action)
        arms, pulls = ([action.arm], 0) if isinstance(action, Commit) else (action.arms.tolist(), action.pulls)
        made = self.notes.choices.setdefault(agent, [])
        made.append((*arms, pulls))
        self.chosen(agent, len(made) - 1, made[-1])

    def _exploit(self, agent: int, round: int, start: int, end: int, arm: int) -> None:
        super()._exploit(agent, round, start, end, arm)
        if round and agent not in self._waits.now:
            self.notes.waits[round, agent] = start * self._clock.slot, self._clock.now

    def still_waiting(self) -> list[tuple[int, int]]:
        """Return the rounds in which agents wait, and these agents."""
        return sorted((number, agent) for agent, (number, _, _) in self._waits.now.items())


@dataclass
class Stage:
    """A replication whose driver records what happens.

    Attributes:
        context: The context of the driver.
        driver: The driver.
        protocol: The protocol, once `start` was called.
        carries: The content of its messages.
        notes: The record.
    """

    context: ReplicationContext
    driver: Noted
    notes: Notes
    protocol: CallbackRoundProtocol = field(init=False)
    carries: Carries = field(init=False)

    @classmethod
    def of(cls, point: RunnablePoint, replication: int) -> "Stage":
        """Return a replication of *point* that has not started."""
        context = point.simulation(replication).context(point.topology(replication), Fingerprint(), None)
        driver = Noted(context)
        driver.notes = Notes()
        return cls(context, driver, driver.notes)

    def start(self) -> None:
        """Start the agents that act here."""
        with executed("plain"):
            self.driver.start()
        self.protocol = self.driver.aggregation.protocol
        layers: tuple[tuple[type, Carries], ...] = ((NeighbourRounds, "labels"), (RoundProtocol, "payload"))
        self.carries = next((carries for kind, carries in layers if isinstance(self.protocol, kind)), "heard")

    def finish(self) -> Notes:
        """Return the record, after the last event."""
        self.notes.regret = self.driver.finish().regret or 0.0
        return self.notes

    def hop(self, message: Message, channel: Channel, number: int, caused: int, due: int) -> Hop:
        """Record a *message* that was put on a *channel* now."""
        place = channel.sender, channel.receiver, number, message.round, message.kind.name
        hop = Hop(*place, message.size, caused, self.context.clock.now, due)
        self.notes.hops.append(hop)
        return hop


def put(network: Network, engine: Send, message: Message, channel: Channel) -> int:
    """Have the *engine* put a *message* on a *channel* now; return when it is due (ns), -1: it is lost.

    Nothing is delivered: the network's own messages go another way, see `Network.speak_through`.
    """
    engine(message, (channel,))
    due = next(iter(network.due), -1)
    network.due.clear()
    network.instants.clear()
    if channel.flight:
        channel.flight.clear()
    return due


def is_apart(point: RunnablePoint) -> bool:
    """Return whether each agent of *point* concludes separately."""
    return concludes_per_agent(point.learner, point.protocol, fail=False, forget=False)


def simulated(point: RunnablePoint, replication: int) -> Notes:
    """Return the record of a simulated replication, which runs in its own process."""
    return apart(lambda: _simulated(point, replication))


def _simulated(point: RunnablePoint, replication: int) -> Notes:
    stage = Stage.of(point, replication)
    network, clock, notes = stage.context.network, stage.context.clock, stage.notes
    send, slotted = network.send, point.protocol.slotted

    def noted(message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        for channel in channels:
            if channel.receiver != excepted:
                number, lost = channel.messages, channel.count_of("lost")
                send(message, (channel,))
                if channel.messages > number:
                    stage.hop(message, channel, number, clock.now, -(channel.count_of("lost") - lost))

    network.send = noted
    stage.start()
    handle = network.handler

    def handled(node: int, arrivals: list[Arrival]) -> None:
        if slotted:
            for now, _, message in arrivals:
                slack = clock.effective_time(begun_of(message), now) - now
                notes.slack = slack if notes.slack < 0 else min(notes.slack, slack)
        handle(node, arrivals)

    def at_end() -> None:
        if clock.environment.idle:
            notes.stalled = len(stage.driver.stalled())

    network.attach(handled)
    clock.at_end(at_end)
    clock.environment.run()
    return stage.finish()


def replayed(point: RunnablePoint, replication: int, delays: Mapping[tuple[int, int, int, int], int]) -> Notes:
    """Return the record of the simulation with measured delays; see `simulated`.

    Args:
        point: The scenario's point.
        replication: The replication.
        delays: The time (ns) from the cause of a message until it was handled, by its sender, its receiver, its round
            and its number among those of that round and channel, from 0; missing messages are lost.
    """
    return apart(lambda: _replayed(point, replication, delays))


def _replayed(point: RunnablePoint, replication: int, delays: Mapping[tuple[int, int, int, int], int]) -> Notes:
    stage = Stage.of(point, replication)
    network, clock = stage.context.network, stage.context.clock
    used: Counter[tuple[int, int, int]] = Counter()

    def send(message: Message, channels: Sequence[Channel], excepted: int = -1) -> None:
        for channel in channels:
            if channel.receiver == excepted or clock.now >= clock.end:
                continue
            key = channel.sender, channel.receiver, message.round
            number, used[key] = used[key], used[key] + 1
            delay = delays.get((*key, number), -1)
            stage.hop(message, channel, number, clock.now, -1 if delay < 0 else clock.now + delay)
            if delay >= 0:
                arrives = ScheduledEvent([_arrives(network, channel, message)])
                clock.environment.schedule(arrives, ARRIVALS, delay)

    network.speak_through(send, network.acting)
    stage.start()
    clock.environment.run()
    return stage.finish()


def _arrives(network: Network, channel: Channel, message: Message) -> Callable[[Event], None]:
    return lambda _: network.handler(channel.receiver, [(network.environment._now, channel.sender, message)])


def digest(choice: Choice) -> int:
    """Return a digest of a *choice* for reports."""
    return crc32(repr(choice).encode())
