"""Slots on top of nanoseconds, and queues of nodes that act together at an instant."""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar

import simpy
from simpy import Event
from simpy.events import NORMAL, URGENT, EventPriority

T = TypeVar("T")

ARRIVALS = URGENT
"""Messages arrive before anything else happens at their instant."""
AGENTS = NORMAL
"""Then agents end their phases and contribute."""
ADOPTIONS = EventPriority(2)
"""Then they adopt the items received by now."""
DECISIONS = EventPriority(3)
"""Then agents decide that do so in every slot."""
SENDS = EventPriority(4)
"""Then nodes forward new items."""
_LAST = EventPriority(100)


class ScheduledEvent(Event):
    """An event that is already triggered: it only waits for its time.

    SimPy's own events carry a value, a state and a list of callbacks. A simulation schedules millions of events, so
    these share one list of callbacks and store nothing else.
    """

    _ok = True
    _value = None

    def __init__(self, callbacks: list[Callable[[Event], None]]) -> None:
        self.callbacks = callbacks


class Environment(simpy.Environment):
    """SimPy's environment, in whole nanoseconds, with a clock that can be moved ahead."""

    if TYPE_CHECKING:
        _now: int

        @property
        def now(self) -> int:
            """The present time in nanoseconds."""

    def advance(self, time: int) -> bool:
        """Advance the clock to *time* (ns) unless a queued event is due earlier; return whether it advanced."""
        queue = self._queue
        if queue and queue[0][0] < time:
            return False
        self._now = time
        return True

    @property
    def idle(self) -> bool:
        """Whether no event is left."""
        return not self._queue


def effective_time(begun: int, delivered: int, slot: int) -> int:
    """Return when (ns) the payload of a slotted hop takes effect.

    That is the first slot boundary after the one at which the hop began by which its message has been delivered. So
    information moves at most one hop per slot, however fast the link is.

    Args:
        begun: When the hop, or the handshake it belongs to, began (ns, a slot boundary).
        delivered: When the message arrived (ns).
        slot: The length of a slot (ns).
    """
    return max(begun // slot + 1, -(-delivered // slot)) * slot


class Clock:
    """Translates between nanoseconds (integers, so that ties are exact) and slots.

    Args:
        environment: SimPy's environment, in nanoseconds.
        slot: Length of a slot in nanoseconds, at least 1.
        horizon: Number of slots; nothing starts at or after the end of the last one.

    Attributes:
        postpone: Where nodes may be down: returns when (ns) a node acts that would act at some time, which is that
            time itself unless it is down; infinity: never, or unknown.
        incarnation: Where nodes lose their memory when they go down: returns how often a node has by some time.
        when_up: Where recovery times are unknown in advance: calls something once a node has recovered.
    """

    def __init__(self, environment: Environment, slot: int, horizon: int) -> None:
        self.environment = environment
        self.slot = slot
        self.horizon = horizon
        self.end = slot * horizon
        self.postpone: Callable[[int, int], float] | None = None
        self.incarnation: Callable[[int, int], int] | None = None
        self.when_up: Callable[[int, Callable[[], object]], None] | None = None

    @property
    def now(self) -> int:
        """The present time in nanoseconds."""
        return self.environment._now  # its property takes four times as long to read

    def boundary(self, time: int) -> int:
        """Return the number of the first slot boundary at or after *time* (ns)."""
        return -(-time // self.slot)

    def effective_time(self, begun: int, delivered: int) -> int:
        """Return when (ns) the payload of a slotted hop takes effect; see the function of that name."""
        return effective_time(begun, delivered, self.slot)

    def at_end(self, act: Callable[[], None]) -> None:
        """Call *act* at the end of the last slot, after all other events in it.

        That is in its last nanosecond: what goes on from instant to instant stops before an event of an earlier one,
        but at the horizon itself would come before or behind this, as it happens to have been woken.
        """
        callbacks: list[Callable[[Event], None]] = [lambda _: act()]
        self.environment.schedule(ScheduledEvent(callbacks), _LAST, self.end - 1 - self.environment.now)

    def wait_until(self, boundary: int) -> Event:
        """Return an event at slot *boundary*, which must not lie in the past, in the agents' turn."""
        event = Event(self.environment)
        event._ok = True
        event._value = None
        self.environment.schedule(event, AGENTS, boundary * self.slot - self.environment.now)
        return event


class InstantQueue(Generic[T]):
    """Batches the nodes that act at the same instant, in order of number, after all arrivals.

    One event is pending per instant, however many nodes wait for it. A node that is down acts when it is up again,
    unless it has lost its memory, and with it its pending items.

    Args:
        clock: The clock.
        act: Called once per instant with (node, pending items) for each node that acts, ascending.
        turn: When in the instant they act.
    """

    def __init__(
        self,
        clock: Clock,
        act: Callable[[list[tuple[int, list[T]]]], None],
        turn: EventPriority,
    ) -> None:
        self._turn = turn
        self._clock = clock
        self._act = act
        self._due: dict[int, dict[int, list[T]]] = {}
        self._incarnations: dict[tuple[int, int], list[int]] = {}  # the node's incarnation when each was queued
        self._callbacks: list[Callable[[Event], None]] = [self._now]

    def at(self, time: int, node: int, item: T) -> None:
        """Queue *item* for *node* at *time* (ns), now or later."""
        due = self._due.get(time)
        if due is None:
            due = self._due[time] = {}
            environment = self._clock.environment
            environment.schedule(ScheduledEvent(self._callbacks), self._turn, time - environment.now)
        due.setdefault(node, []).append(item)
        if self._clock.incarnation is not None:
            self._incarnations.setdefault((time, node), []).append(self._clock.incarnation(node, self._clock.now))

    def _now(self, _: Event) -> None:
        due = sorted(self._due.pop(self._clock.now).items())
        if self._clock.incarnation is not None:
            due = self._remembered(due, self._clock.incarnation)
        elif self._clock.postpone is not None:
            due = self._up(due, self._clock.postpone)
        if due:
            self._act(due)

    def _remembered(
        self, due: list[tuple[int, list[T]]], incarnation: Callable[[int, int], int]
    ) -> list[tuple[int, list[T]]]:
        """Return the due items of nodes that have not been down since these were queued."""
        now = self._clock.now
        here = []
        for node, items in due:
            incarnations = self._incarnations.pop((now, node))
            present = None if self._is_down(node) else incarnation(node, now)
            kept = [item for item, then in zip(items, incarnations, strict=True) if then == present]
            if kept:
                here.append((node, kept))
        return here

    def _is_down(self, node: int) -> bool:
        now = self._clock.now
        return self._clock.postpone is not None and self._clock.postpone(node, now) != now

    def _up(self, due: list[tuple[int, list[T]]], postpone: Callable[[int, int], float]) -> list[tuple[int, list[T]]]:
        """Return the due items of nodes that are up; postpone the others until their nodes are up."""
        now = self._clock.now
        here = []
        for node, items in due:
            time = postpone(node, now)
            if time == now:
                here.append((node, items))
            elif time != inf:
                for item in items:
                    self.at(int(time), node, item)
            elif self._clock.when_up is not None:
                self._clock.when_up(node, partial(self._resume, node, items))
        return here

    def _resume(self, node: int, items: list[T]) -> None:
        """Queue *items* for *node*, which is up again, at the next boundary."""
        boundary = self._clock.boundary(self._clock.now)
        if boundary < self._clock.horizon:
            for item in items:
                self.at(boundary * self._clock.slot, node, item)
