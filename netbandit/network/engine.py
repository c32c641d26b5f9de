"""What all hops of a network share: its clock and its calendar, its counters, and what can happen in it."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappush
from typing import Any, Protocol

from simpy import Event
from simpy.core import Infinity

from netbandit.network.batteries import Batteries
from netbandit.network.clock import ARRIVALS, Clock, ScheduledEvent
from netbandit.network.downtimes import NEVER
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.ledger import Ledger, Tally
from netbandit.network.link import NOTHING_YET, Arrival, Channel, Fate
from netbandit.network.links import Links
from netbandit.network.message import HEADER_BYTES, Message
from netbandit.network.node_changes import NodeChanges
from netbandit.network.observer import Observer
from netbandit.network.outages import OutagePlan, Outages
from netbandit.network.trace_writer import Trace
from netbandit.network.transmit_queue import TransmitQueue
from netbandit.util.streams import Streams

Receive = Callable[[int, list[Arrival]], None]
"""Called with a node and all that reaches it in one instant, in order of the sender's number."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What can happen in a network, which follows from the models of its links.

    Attributes:
        in_order: Whether messages arrive on each channel in the order of sending, each transmission at most once.
        decides: Whether it must be decided on arrival whether a message is news.
        prompt: Whether it is known how long a message was under way: nothing queues, is late or copied, and no node is
            ever down.
        takes_time: Whether messages occupy links for a time.
        waits: Whether messages wait for a link that agents see down.
        drops: Whether a message is dropped where too many wait.
    """

    in_order: bool
    decides: bool
    prompt: bool
    takes_time: bool
    waits: bool
    drops: bool


class Inboxes(Protocol):
    """Where messages wait until nodes have handled them; see `netbandit.network.computing.Computing`."""

    jobs: Any

    def arrive(self, channel: Channel, message: Message) -> int:
        """Take in a *message* that has just arrived on *channel*."""

    def finish_jobs(self, now: int) -> None:
        """End all jobs that are due *now* (ns)."""


class Engine:
    """The state of a network that is run.

    Args:
        clock: The clock.
        agents: The number of agents; the server has the number that follows theirs.
        fingerprint: Takes in every delivery.
        trace: Where to write every message, or None.
        streams: The random streams of the nodes.
        plan: The outages and contacts.

    Attributes:
        deferred_outcomes: Whether the outcome of a message depends on other messages, so that it is resolved as it
            happens.
        flags: See `Flags`.
        links: The links and their channels.
        environment, slot, end: Those of the clock, the horizon in nanoseconds.
        server: The number of the server.
        handler: Gets all arrivals.
        observers: What is told of each message.
        trace: As given; drivers of agents may write their phases to it.
        ledger, tally: The counters of all messages.
        outages: When links and nodes are down; None where they never are.
        node_outages: When nodes are down; None where none ever is.
        batteries: Those of the agents, where they may run empty.
        computing: The jobs of all nodes, where these take time.
        carry: How long (ns) a message waits at most for its link.
        waits_for_slots: Whether it starts at slot boundaries.
        due, starts, timers: What arrives, begins, or is sent again at an instant.
        instants: A heap of these instants.
        header: The bytes of the header of messages that carry items; of others it is `HEADER_BYTES`.
        queues: The messages that wait for a channel where outcomes are deferred.
        appointed: When (ns) SimPy wakes the network next, to call *callbacks*.
        late_from: From when on (ns) what takes its latency alone may still be under way at the end.
    """

    header: int = HEADER_BYTES
    deferred_outcomes: bool = False
    batteries: Batteries | None = None
    computing: Inboxes | None
    flags: Flags
    links: Links
    late_from: int
    callbacks: list[Callable[[Event], None]]

    # Attributes used for every message: Python finds slots faster than the many other attributes.
    __slots__ = (
        "__dict__",
        "appointed",
        "appointment",
        "carry",
        "computing",
        "due",
        "end",
        "environment",
        "flags",
        "handler",
        "instants",
        "late_from",
        "ledger",
        "links",
        "node_outages",
        "observers",
        "outages",
        "pending",
        "queues",
        "serial",
        "server",
        "slot",
        "starts",
        "tally",
        "timers",
        "trace",
        "waits_for_slots",
    )

    def __init__(
        self,
        clock: Clock,
        agents: int,
        fingerprint: Fingerprint,
        trace: Trace | None,
        streams: Streams,
        plan: OutagePlan,
    ) -> None:
        self.clock, self.environment = clock, clock.environment
        self.slot, self.end = clock.slot, clock.end
        self.agents = self.server = agents
        self.fingerprint, self.pending = fingerprint, fingerprint.pending
        self.streams = streams
        self.trace = trace
        self.observers: Sequence[Observer] = () if trace is None else (trace,)
        self.handler: Receive = _nobody
        self.outages: Outages | None = None
        self.node_outages: Outages | None = None
        self.computing = None
        self.ledger, self.tally = Ledger(), Tally()
        self.carry = NEVER if plan.carry is None else plan.carry
        self.waits_for_slots = plan.waits_for_slots
        self.due: dict[int, list[Any]] = {}
        self.starts: dict[int, list[Any]] = {}
        self.timers: dict[int, list[Any]] = {}
        self.instants: list[int] = []
        self.queues: defaultdict[Channel, TransmitQueue] = defaultdict(TransmitQueue)
        self.serial = 0
        self.appointed: float = Infinity
        self.appointment: Event | None = None

    def enter(self, calendar: dict[int, list[Any]], time: int, what: Any) -> None:
        """Schedule *what*, in one of the calendars, for *time* (ns)."""
        if time in calendar:
            calendar[time].append(what)
        else:
            calendar[time] = [what]
            heappush(self.instants, time)
            if time < self.appointed:
                self.appoint(time)

    def expect(self, channel: Channel, entry: tuple[Any, ...]) -> None:
        """Schedule an *entry*, which begins with its arrival (ns), for its arrival on *channel*.

        Where messages arrive in the order of sending, the calendar holds the channel, and the channel its entries.
        """
        if self.flags.in_order:
            flight: deque[Any] = channel.flight
            if not flight:
                if flight is NOTHING_YET:
                    channel.flight = flight = deque()
                self.enter(self.due, entry[0], channel)
            flight.append(entry)
        else:
            self.serial += 1
            self.enter(self.due, entry[0], (channel.rank, self.serial, channel, entry))

    def appoint(self, arrival: int) -> None:
        """Schedule SimPy to wake the network at *arrival*; this replaces a later appointment."""
        self.appointed = arrival
        self.appointment = ScheduledEvent(self.callbacks)
        self.environment.schedule(self.appointment, ARRIVALS, arrival - self.environment.now)

    def never_begin(self, channel: Channel, message: Message, put_at: int, fate: Fate) -> None:
        """Count a message that was handed to *channel* at *put_at* (ns), and is never put on it."""
        channel.note(fate, message.size)
        for observer in self.observers:
            observer.fate(channel, message, fate, put_at)

    def is_down(self, node: int) -> bool:
        """Return whether *node*, an agent or the server, is down now."""
        return self.outages is not None and self.outages.any_nodes and self.outages.node(node).at(self.clock.now)

    def is_down_during(self, node: int, begin: int, end: int) -> bool:
        """Return whether *node*, an agent or the server, is down at any moment from *begin* to *end* (ns)."""
        return self.node_outages is not None and self.node_outages.node(node).during(begin, end)

    def incarnation(self, node: int, time: int) -> int:
        """Return how often *node* has lost its memory by a *time* (ns)."""
        return 0 if self.outages is None else self.outages.incarnation(node, time)

    def watch_agents(self, changed: Callable[[int, bool], None]) -> list[int]:
        """Call *changed* for every agent that goes down or comes back up; return those that are down now.

        It is called with the agent and whether it is up, before the arrivals of that instant.
        """
        if self.outages is None:
            return []
        if self.batteries is not None:
            self.batteries.watch(changed)
        else:
            NodeChanges(self.clock, self.outages, range(self.agents), changed)
        now, outages = self.clock.now, self.outages
        return [agent for agent in range(self.agents) if outages.node(agent).at(now)]


def _nobody(node: int, arrivals: list[Arrival]) -> None:
    raise RuntimeError(f"node {node} has nobody to receive its messages")
