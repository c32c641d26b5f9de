"""Notifies a listener when nodes go down and come back up."""

from collections.abc import Callable, Iterable
from heapq import heapify, heapreplace

from simpy import Event
from simpy.events import EventPriority

from netbandit.network.clock import Clock, ScheduledEvent
from netbandit.network.outages import Outages

CHANGES = EventPriority(-1)
"""Changes of state come before the arrivals of their instant."""

Changed = Callable[[int, bool], None]
"""Called with a node and whether it is up now."""


class NodeChanges:
    """Reports every change from the first slot to the horizon: one pending event for all nodes.

    Args:
        clock: The clock.
        outages: When nodes are down.
        nodes: The nodes that are watched.
        changed: The listener.
    """

    def __init__(self, clock: Clock, outages: Outages, nodes: Iterable[int], changed: Changed) -> None:
        self._clock = clock
        self._outages = outages
        self._changed = changed
        self._callbacks: list[Callable[[Event], None]] = [self._now]
        self._next: list[tuple[float, int]] = [(self._after(node, 0), node) for node in nodes]
        heapify(self._next)
        self._schedule()

    def _after(self, node: int, time: int) -> float:
        """Return when *node*, as it is at *time*, changes next."""
        down = self._outages.node(node)
        return down.up(time) if down.at(time) else down.down(time)

    def _schedule(self) -> None:
        time = self._next[0][0]
        if time < self._clock.end:
            environment = self._clock.environment
            environment.schedule(ScheduledEvent(self._callbacks), CHANGES, int(time) - environment.now)

    def _now(self, _: Event) -> None:
        now = self._clock.now
        while self._next[0][0] <= now:
            node = self._next[0][1]
            self._changed(node, not self._outages.node(node).at(now))
            heapreplace(self._next, (self._after(node, now), node))
        self._schedule()
