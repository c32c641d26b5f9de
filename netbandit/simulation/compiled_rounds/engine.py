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
from netbandit.parts.component import state
from netbandit.protocols.protocol import Aggregation, CallbackRoundProtocol, NetworkProtocol
from netbandit.simulation.compiled_rounds.bookings import Bookings
from netbandit.simulation.compiled_rounds.faults import FaultArrays, all_kinds
from netbandit.simulation.compiled_rounds.links import doubled, machine_of, more_blocks, more_messages, write_back
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.compiled import machine_code
from netbandit.simulation.machine.execution import Loop
from netbandit.simulation.machine.rows import Machine, Rows


class CompiledLoop(NetworkProtocol):
    """What stands for a protocol whose loop is compiled: same messages, same fingerprint, same figures.

    SimPy's queue holds an event for the next arrival and one for the next step; from there the loop goes on for as long
    as nothing outside is due before.
    """

    kinds: ClassVar[tuple[Kind, ...]]
    """The kinds of its messages, by their numbers in the loop."""
    name: ClassVar[str]
    """What it stands for."""
    loop: ClassVar[Loop]
    """Its loop."""
    compiled_beside: ClassVar[tuple[Loop, ...]] = ()
    """What else is compiled."""
    step_columns: ClassVar[int] = 3
    """How many numbers a step is; see `netbandit.simulation.machine.steps`."""

    machine: Machine = state()
    """The network as arrays, and what is under way."""

    def prepare(self, network: Network, turn: EventPriority) -> None:
        """Make the arrays of *network*, to which it is connected; nothing has been sent.

        Args:
            network: The network.
            turn: The turn of an instant in which steps are made.
        """
        self._all_kinds = all_kinds(self.kinds, network)
        self.machine = self.arrays_of(network, self._all_kinds)
        self._wrong = FaultArrays(network, self.machine, len(self.kinds)) if network.unreliable else None
        if self._wrong is not None:
            self.machine = self.machine._replace(faults=self._wrong.faults)
        self._turn = turn
        self._environment = self.clock.environment
        self._fingerprint: Fingerprint = network.fingerprint
        self._bookings = Bookings(len(network.links))
        self._booked = 0
        self._slowest = int(self.machine.channels["latency"].max(initial=0))
        self._on_arrival: list[Callable[[Event], None]] = [self._arrive]
        self._on_step: list[Callable[[Event], None]] = [self._step]
        self._arrival: tuple[int, Event] | None = None
        self._appointed: set[int] = set()  # when (ns) steps may be due
        self._run: dict[Loop, Callable[..., int]] = {}
        network.before_close(self.count)

    def arrays_of(self, network: Network, kinds: tuple[Kind, ...]) -> Machine:
        """Return the links of *network* as arrays, for messages of these *kinds*."""
        return machine_of(network, kinds, self.step_columns)

    @abstractmethod
    def play(self, arrivals_until: int, steps_until: int) -> int:
        """Run the loop; see `advance` for the arguments. Return why it stopped."""

    def run(self, loop: Loop, *given: Any) -> int:
        """Call a *loop*, each time with arguments of the same types; return what it returns."""
        if loop not in self._run:
            self._run[loop] = machine_code(loop.over(self.network), *given)
        return self._run[loop](*given)

    def make_room(self, why: int) -> None:
        """Make room in the loop's own arrays, for lack of which it stopped."""
        raise RuntimeError(f"the loop of {self.name} has stopped for an unknown reason, {why}")

    def send(self, begin_or_go_on: Callable[[], int]) -> None:
        """Send messages from outside the loop.

        Args:
            begin_or_go_on: Sends what there is room for; returns when (ns) something is due next, or below zero if
                that was not all: why.
        """
        while (soonest := begin_or_go_on()) < 0:
            self.tell()
            self.more(-soonest)
        self.tell()  # now: if all of it is lost, the loop may never go on
        self.appoint_arrival(soonest)

    def expect(self, size: int) -> None:
        """Have the loop know what may go wrong with messages of up to *size* bytes; there may be some from now on."""
        if self._wrong is not None and self._wrong.expect(size, self.machine):
            self.machine = self.machine._replace(faults=self._wrong.faults)

    def used_messages(self) -> Rows:
        """Return the messages that something under way names."""
        messages = self.machine.messages
        found: Rows = messages[messages["round"] >= 0]
        return found

    def count(self) -> None:
        """Write back what was counted, at the end."""
        self._bookings.close()
        self.machine.links["activations"] += self._bookings.activations
        write_back(self.machine, self.network)
        if self._wrong is not None:
            self._wrong.write_back(self.network)

    @abstractmethod
    def inform(self) -> None:
        """Tell agents of what has happened, now."""

    def receive(self, node: int, arrivals: list[Arrival]) -> None:
        """See `NetworkProtocol.receive`; what arrives is handled in the loop."""
        raise RuntimeError("messages of a compiled loop are not on the network")

    def appoint_arrival(self, time: int) -> None:
        """Have the loop go on at *time*, when something arrives, unless it does so earlier."""
        if time < rows.NEVER and (self._arrival is None or time < self._arrival[0]):
            event = ScheduledEvent(self._on_arrival)
            self._arrival = time, event
            self._environment.schedule(event, ARRIVALS, time - self._environment.now)

    def appoint_step(self, time: int) -> None:
        """Have the loop make a step at *time*.

        That is asked for as soon as it is known, so that among all that has its turn then the step has its place; an
        earlier one that comes up does not cost it that.
        """
        if time < rows.NEVER and time not in self._appointed:
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
        why = rows.ENDED_ROUND
        while why != rows.STOPPED:
            limit, turn = self._environment.next_event(rows.NEVER)
            # At the instant of something outside all that arrives comes before it, unless a node changes; steps may.
            arrivals_until = limit if turn >= ARRIVALS else limit - 1
            steps_until = limit if turn > self._turn else limit - 1
            if my_turn:
                steps_until = max(steps_until, self.clock.now)
                my_turn = False
            why = self.play_on(arrivals_until, steps_until)
            self.react(why)
        self.appoint_arrival(int(self.machine.state[rows.NEXT_ARRIVAL]))
        self.appoint_steps()

    def appoint_steps(self) -> None:
        """Have the loop make the steps that are known."""
        self.appoint_step(int(self.machine.state[rows.NEXT_STEP]))

    def appoint_each_step(self) -> None:
        """Do so for each of the steps that there are, of which the last column says when (ns) they are due."""
        for time in set(self.machine.steps[: self.machine.state[rows.STEPS], -1].tolist()):
            self.appoint_step(time)

    def react(self, why: int) -> None:
        """Do now what the loop has stopped for."""
        if why == rows.ENDED_ROUND:
            self.inform()

    def play_on(self, arrivals_until: int, steps_until: int) -> int:
        """Run the loop until there is something to react to, or something outside is due; return which."""
        while True:
            why = self.play(arrivals_until, steps_until)
            self._environment.advance(int(self.machine.state[rows.NOW]))
            self.tell()
            if why in (rows.STOPPED, rows.HEARD_CALL, rows.ENDED_ROUND):
                return why
            if why != rows.EVENTS_FULL:
                self.more(why)

    def tell(self) -> None:
        """Tell the fingerprint what has arrived, and the ledger what was sent."""
        machine = self.machine
        events = int(machine.state[rows.EVENTS])
        if events:
            self._fingerprint.record_all(machine.events[:events])
            machine.state[rows.EVENTS] = 0
        if machine.state[rows.BANDWIDTH]:
            self._booked = int(machine.state[rows.BOOKINGS])
        if self._booked:
            # A loop may find out when a message was put on its link only when the one before has arrived.
            settled = (int(machine.state[rows.NOW]) - self._slowest) // self.clock.slot
            self._bookings.add(machine.booked[: self._booked], settled)
            machine.state[rows.BOOKINGS] = 0
        for kind, (_, messages, size) in zip(self._all_kinds, machine.kinds.tolist(), strict=True):
            if messages:
                counts = self.network.ledger.counts[kind]
                counts[0] += messages
                counts[1] += size
        machine.kinds["messages"] = machine.kinds["bytes"] = 0

    def more(self, why: int) -> None:
        """Make room for what the loop has stopped for want of."""
        machine = self.machine
        if why == rows.INBOX_FULL:
            self.machine = machine._replace(inbox=doubled(machine.inbox))
        elif why == rows.MESSAGES_FULL:
            self.machine = more_messages(machine, len(machine.messages))
        elif why == rows.ENTRIES_FULL:
            self.machine = more_blocks(machine, len(machine.blocks))
        elif why == rows.BOOKINGS_FULL:
            if not self._booked:  # else there is room now
                self.machine = machine._replace(booked=doubled(machine.booked))
        elif why == rows.STEPS_FULL:
            self.machine = machine._replace(steps=doubled(machine.steps), order=doubled(machine.order))
        elif self._wrong is not None and self._wrong.more(why, machine):
            self.machine = machine._replace(faults=self._wrong.faults)
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
