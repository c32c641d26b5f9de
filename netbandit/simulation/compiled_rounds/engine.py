"""Rounds of a protocol that are played in one compiled call from one outside event to the next."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from simpy import Event

from netbandit.network.clock import ARRIVALS, ScheduledEvent
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import Arrival
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, Item, contributed
from netbandit.simulation.compiled_rounds.links import doubled, traffic_of, write_back
from netbandit.simulation.kernels import traffic as columns
from netbandit.simulation.kernels.traffic import Traffic


class CompiledRounds(CallbackRoundProtocol):
    """What stands for a protocol of rounds whose loop is compiled: same messages, same fingerprint, same figures.

    All agents contribute to a round before the next begins. SimPy's queue holds one event, for the next arrival or the
    next step; from there the loop goes on for as long as nothing outside is due before.
    """

    kinds: ClassVar[tuple[Kind, ...]]
    """The kinds of its messages, by their numbers in the loop."""
    name: ClassVar[str]
    """What it stands for."""
    compiled: ClassVar[Any]
    """Its loop."""

    traffic: Traffic = state()
    """What is under way."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self.traffic = traffic_of(network, self.kinds)
        self._turn = aggregation.turn
        self._environment = self.clock.environment
        self._fingerprint: Fingerprint = network.fingerprint
        self._callbacks: list[Callable[[Event], None]] = [self._wake]
        self._appointment: Event | None = None
        self._appointed: tuple[int, int] | None = None
        self._number = 0
        self._items: list[Item | None] = []
        self._informed = self._environment.event()
        self._left = 0
        network.before_close(self.count)

    @abstractmethod
    def begin(self, round: int) -> None:
        """Begin a round, in which nobody has contributed yet."""

    @abstractmethod
    def take(self, agent: int, size: int) -> None:
        """Let *agent*, whose item has *size* bytes, deal with it in this instant."""

    @abstractmethod
    def play(self, arrivals_until: int, steps_until: int) -> int:
        """Run the loop; see `advance` for the arguments. Return why it stopped."""

    def make_room(self, why: int) -> None:
        """Make room in the loop's own arrays, for lack of which it stopped."""
        raise RuntimeError(f"the loop of {self.name} has stopped for an unknown reason, {why}")

    def count(self) -> None:
        """Write back what was counted, at the end."""
        write_back(self.traffic, self.network)

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """See `CallbackRoundProtocol.contribute`."""
        item = contributed(item)
        if round != self._number:
            assert not self._left, "a round begins when the one before has ended"
            self._number = round
            self._items = [None] * self.network.agents
            self._left = 1
            self._informed = self._environment.event()
            self.begin(round)
        self._items[agent] = item
        now = self.clock.now
        state = self.traffic.state
        assert state[columns.STEP_TIME] in (columns.NEVER, now), "nothing is due between now and what is due next"
        if state[columns.STEPS] == len(self.traffic.steps):
            self._more(columns.STEPS_FULL)
        self.take(agent, item.size)
        state[columns.STEP_TIME] = now
        self._appoint(now, self._turn)
        return self._informed

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """See `NetworkProtocol.receive`; what arrives is handled in the loop."""
        raise RuntimeError("messages of compiled rounds are not on the network")

    def _appoint(self, time: int, turn: Any) -> None:
        """Have the loop go on at *time*, in a turn of that instant, unless it does so earlier."""
        when = time, int(turn)
        if self._appointed is not None and self._appointed <= when:
            return
        self._appointed = when
        self._appointment = ScheduledEvent(self._callbacks)
        self._environment.schedule(self._appointment, turn, time - self._environment.now)

    def _wake(self, event: Event) -> None:
        if event is not self._appointment:
            return  # overtaken by an earlier one
        my_turn = self._appointed == (self.clock.now, int(self._turn))
        self._appointed = self._appointment = None
        why = columns.ENDED_ROUND
        while why != columns.STOPPED:
            limit, turn = self._environment.next_event(columns.NEVER)
            # At the instant of something outside, all that arrives comes before it, and steps may.
            steps_until = limit if turn > self._turn else limit - 1
            if my_turn:
                steps_until = max(steps_until, self.clock.now)
            why = self._play_on(limit, steps_until)
            if why == columns.ENDED_ROUND:
                self._end()
        arrival, step = (int(self.traffic.state[place]) for place in (columns.NEXT_ARRIVAL, columns.NEXT_STEP))
        if step < arrival:
            self._appoint(step, self._turn)
        elif arrival < columns.NEVER:
            self._appoint(arrival, ARRIVALS)

    def _play_on(self, arrivals_until: int, steps_until: int) -> int:
        """Run the loop until a round has ended or something outside is due; return which."""
        while True:
            why = self.play(arrivals_until, steps_until)
            self._environment.advance(int(self.traffic.state[columns.NOW]))
            self._tell()
            if why in (columns.STOPPED, columns.ENDED_ROUND):
                return why
            if why != columns.EVENTS_FULL:
                self._more(why)

    def _tell(self) -> None:
        """Tell the fingerprint what has arrived, and the ledger what was sent."""
        traffic = self.traffic
        events = int(traffic.state[columns.EVENTS])
        if events:
            self._fingerprint.record_all(traffic.events[:events])
            traffic.state[columns.EVENTS] = 0
        for kind, row in zip(self.kinds, traffic.kinds, strict=True):
            if row[columns.KIND_MESSAGES]:
                counts = self.network.ledger.counts[kind]
                counts[0] += int(row[columns.KIND_MESSAGES])
                counts[1] += int(row[columns.KIND_BYTES])
                row[columns.KIND_MESSAGES] = row[columns.KIND_BYTES] = 0

    def _more(self, why: int) -> None:
        traffic = self.traffic
        if why == columns.INBOX_FULL:
            self.traffic = traffic._replace(inbox=doubled(traffic.inbox))
        elif why == columns.STEPS_FULL:
            self.traffic = traffic._replace(steps=doubled(traffic.steps), order=doubled(traffic.order))
        else:
            self.make_room(why)

    def _end(self) -> None:
        self._left = 0
        self.end(self._number)
        items = [item for item in self._items if item is not None]
        self._informed.succeed(self.conclude(self._number, items))
