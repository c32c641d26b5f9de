"""What a protocol does, played in one compiled call from one outside event to the next."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import ARRIVALS, ScheduledEvent
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import Arrival
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, NetworkProtocol
from netbandit.simulation.compiled_rounds.bookings import Bookings
from netbandit.simulation.compiled_rounds.faults import all_kinds
from netbandit.simulation.compiled_rounds.links import doubled, traffic_of, write_back
from netbandit.simulation.kernels import traffic as columns
from netbandit.simulation.kernels.compiled import machine_code
from netbandit.simulation.kernels.traffic import Traffic


class CompiledLoop(NetworkProtocol):
    """What stands for a protocol whose loop is compiled: same messages, same fingerprint, same figures.

    SimPy's queue holds an event for the next arrival and one for the next step; from there the loop goes on for as long
    as nothing outside is due before.
    """

    kinds: ClassVar[tuple[Kind, ...]]
    """The kinds of its messages, by their numbers in the loop."""
    name: ClassVar[str]
    """What it stands for."""
    compiled: ClassVar[Any]
    """Its loop."""
    compiled_with_faults: ClassVar[Any] = None
    """Its loop where something can go wrong in the network; None: it has none."""
    compiled_beside: ClassVar[tuple[Any, ...]] = ()
    """What else is compiled."""

    traffic: Traffic = state()
    """What is under way."""

    def prepare(self, network: Network, turn: EventPriority) -> None:
        """Make the arrays of *network*, to which it is connected; nothing has been sent.

        Args:
            network: The network.
            turn: The turn of an instant in which steps are made.
        """
        self._all_kinds = all_kinds(self.kinds, network)
        self.traffic = self.arrays_of(network, self._all_kinds)
        self._turn = turn
        self._environment = self.clock.environment
        self._fingerprint: Fingerprint = network.fingerprint
        self._bookings = Bookings(len(network.links))
        self._booked = 0
        self._slowest = int(self.traffic.channels[:, columns.LATENCY].max(initial=0))
        self._on_arrival: list[Callable[[Event], None]] = [self._arrive]
        self._on_step: list[Callable[[Event], None]] = [self._step]
        self._arrival: tuple[int, Event] | None = None
        self._appointed: set[int] = set()  # when (ns) steps may be due
        self._run: Callable[..., int] | None = None
        network.before_close(self.count)

    def arrays_of(self, network: Network, kinds: tuple[Kind, ...]) -> Traffic:
        """Return the links of *network* as arrays, for messages of these *kinds*."""
        return traffic_of(network, kinds)

    @abstractmethod
    def play(self, arrivals_until: int, steps_until: int) -> int:
        """Run the loop; see `advance` for the arguments. Return why it stopped."""

    def run(self, *given: Any) -> int:
        """Call the loop, each time with arguments of the same types; return why it stopped."""
        if self._run is None:
            self._run = machine_code(self.loop_over(self.network), *given)
        return self._run(*given)

    @classmethod
    def loop_over(cls, network: Network) -> Any:
        """Return its loop for *network*."""
        return cls.compiled_with_faults if network.unreliable else cls.compiled

    def make_room(self, why: int) -> None:
        """Make room in the loop's own arrays, for lack of which it stopped."""
        raise RuntimeError(f"the loop of {self.name} has stopped for an unknown reason, {why}")

    def count(self) -> None:
        """Write back what was counted, at the end."""
        self._bookings.close()
        self.traffic.links[:, columns.ACTIVATIONS] += self._bookings.activations
        write_back(self.traffic, self.network)

    @abstractmethod
    def inform(self) -> None:
        """Tell agents of what has happened, now."""

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """See `NetworkProtocol.receive`; what arrives is handled in the loop."""
        raise RuntimeError("messages of a compiled loop are not on the network")

    def appoint_arrival(self, time: int) -> None:
        """Have the loop go on at *time*, when something arrives, unless it does so earlier."""
        if time < columns.NEVER and (self._arrival is None or time < self._arrival[0]):
            event = ScheduledEvent(self._on_arrival)
            self._arrival = time, event
            self._environment.schedule(event, ARRIVALS, time - self._environment.now)

    def appoint_step(self, time: int) -> None:
        """Have the loop make a step at *time*.

        That is asked for as soon as it is known, so that among all that has its turn then the step has its place; an
        earlier one that comes up does not cost it that.
        """
        if time < columns.NEVER and time not in self._appointed:
            self._appointed.add(time)
            self._environment.schedule(ScheduledEvent(self._on_step), self._turn, time - self._environment.now)

    def _arrive(self, event: Event) -> None:
        if self._arrival is not None and event is self._arrival[1]:  # else overtaken by an earlier one
            self._arrival = None
            self._go_on(my_turn=False)

    def _step(self, event: Event) -> None:
        self._appointed.remove(self._environment.now)
        self.step()

    def step(self) -> None:
        """Go on at the time of a step."""
        self._go_on(my_turn=True)

    def _go_on(self, my_turn: bool) -> None:
        """Play until something outside is due.

        Args:
            my_turn: Whether it is the turn of a step.
        """
        why = columns.ENDED_ROUND
        while why != columns.STOPPED:
            limit, turn = self._environment.next_event(columns.NEVER)
            # At the instant of something outside, all that arrives comes before it, and steps may.
            steps_until = limit if turn > self._turn else limit - 1
            if my_turn:
                steps_until = max(steps_until, self.clock.now)
                my_turn = False
            if why == columns.ENDED_AND_LEFT and self._goes_on_at() > limit:
                break
            why = self.play_on(limit, steps_until)
            self.react(why)
        self.appoint_arrival(int(self.traffic.state[columns.NEXT_ARRIVAL]))
        self.appoint_steps()

    def appoint_steps(self) -> None:
        """Have the loop make the steps that are known."""
        self.appoint_step(int(self.traffic.state[columns.NEXT_STEP]))

    def appoint_each_step(self) -> None:
        """Do so for each of the steps that there are, of which the last column says when (ns) they are due."""
        for time in set(self.traffic.steps[: self.traffic.state[columns.STEPS], -1].tolist()):
            self.appoint_step(time)

    def _goes_on_at(self) -> int:
        """Return when (ns) the loop said that it would have gone on."""
        return int(min(self.traffic.state[columns.NEXT_ARRIVAL], self.traffic.state[columns.NEXT_STEP]))

    def react(self, why: int) -> None:
        """Do now what the loop has stopped for."""
        if why in columns.ROUND_ENDS:
            self.inform()

    def play_on(self, arrivals_until: int, steps_until: int) -> int:
        """Run the loop until there is something to react to, or something outside is due; return which."""
        while True:
            why = self.play(arrivals_until, steps_until)
            self._environment.advance(int(self.traffic.state[columns.NOW]))
            self.tell()
            if why in (columns.STOPPED, columns.HEARD_CALL, *columns.ROUND_ENDS):
                return why
            if why != columns.EVENTS_FULL:
                self.more(why)

    def tell(self) -> None:
        """Tell the fingerprint what has arrived, and the ledger what was sent."""
        traffic = self.traffic
        events = int(traffic.state[columns.EVENTS])
        if events:
            self._fingerprint.record_all(traffic.events[:events])
            traffic.state[columns.EVENTS] = 0
        if traffic.state[columns.BANDWIDTH]:
            self._booked = int(traffic.state[columns.BOOKINGS])
        if self._booked:
            # A loop may find out when a message was put on its link only when the one before has arrived.
            settled = (int(traffic.state[columns.NOW]) - self._slowest) // self.clock.slot
            self._bookings.add(traffic.booked[: self._booked], settled)
            traffic.state[columns.BOOKINGS] = 0
        for place, (_, messages, size) in enumerate(traffic.kinds.tolist()):
            if messages:
                counts = self.network.ledger.counts[self._all_kinds[place]]
                counts[0] += messages
                counts[1] += size
                traffic.kinds[place, columns.KIND_MESSAGES :] = 0

    def more(self, why: int) -> None:
        """Make room for what the loop has stopped for want of."""
        traffic = self.traffic
        if why == columns.INBOX_FULL:
            self.traffic = traffic._replace(inbox=doubled(traffic.inbox))
        elif why == columns.BOOKINGS_FULL:
            if not self._booked:  # else there is room now
                self.traffic = traffic._replace(booked=doubled(traffic.booked))
        elif why == columns.STEPS_FULL:
            self.traffic = traffic._replace(steps=doubled(traffic.steps), order=doubled(traffic.order))
        else:
            self.make_room(why)


class CompiledRounds(CompiledLoop, CallbackRoundProtocol):
    """What stands for a protocol of rounds; see `CompiledLoop`."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self.prepare(network, self.turn_of(aggregation))

    def turn_of(self, aggregation: Aggregation) -> EventPriority:
        """Return the turn of an instant in which steps are made."""
        return aggregation.turn
