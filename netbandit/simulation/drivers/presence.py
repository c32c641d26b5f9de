"""When agents are up, by outages and batteries, for drivers that let agents sleep."""

from collections.abc import Callable, Generator, Sequence
from functools import cached_property, partial
from math import inf
from typing import Any

from simpy import Event

from netbandit.network.clock import Clock
from netbandit.network.network import Network
from netbandit.simulation.drivers.up_slots import UpSlots, UpSlotsSoFar

Waiting = Generator[Event, Any, int]
"""Waits for events, and returns a slot."""


def presence_of(network: Network, *, forgets: bool) -> "Presence":
    """Return when the agents of *network* are up; *forgets*: whether they lose their memory when they go down."""
    outages = network.outages
    if outages is None or not outages.any_agents:
        return Presence(network.clock)
    return (PresenceAhead if network.batteries is None else PresenceSoFar)(network, forgets)


class Presence:
    """Agents that are always up.

    Args:
        clock: The clock.

    Attributes:
        always: Whether all agents are always up.
        forgets: Whether they lose their memory when they go down.
    """

    always = True
    forgets = False

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def watch(self, changed: Callable[[int, bool], None]) -> Sequence[int]:
        """Call *changed* with each agent that goes down or up, and whether it is up; return those down now."""
        return ()

    def is_gone(self, agent: int) -> bool:
        """Return whether *agent* is down at the horizon, and does not come back."""
        return False

    def next(self, agent: int, slot: int) -> int:
        """Return the first slot from *slot* on in which *agent* is up, as far as is known."""
        return slot

    def spans(self, agent: int, start: int, end: int) -> Sequence[tuple[int, int]]:
        """Return the slots from *start* to before *end* in which *agent* is up, as ascending ranges."""
        return [(start, end)]

    def end(self, agent: int, start: int, slots: int) -> int:
        """Return the boundary at which *agent* has played *slots* slots from *start* on."""
        return start + slots

    def life_end(self, agent: int) -> int:
        """Return the first slot that *agent* no longer plays in its present incarnation."""
        return self._clock.horizon

    def until_up(self, agent: int, slot: int) -> Waiting:
        """Return the first slot from *slot* on in which *agent* is up, waiting for it if outages are not known ahead.

        A slot at or after the horizon means that there is none.
        """
        yield from ()
        return self.next(agent, slot)

    def until_played(self, agent: int, start: int, slots: int, count: Callable[[], int]) -> Waiting:
        """Return the boundary at which *agent* has played its slots, once it has come if outages are not known ahead.

        Args:
            agent: The agent.
            start: The slot in which it begins.
            slots: How many slots it plays.
            count: Counts what it has played, and returns that boundary.
        """
        yield from ()
        return count()

    def count_to_the_end(self, agent: int, count: Callable[[], object]) -> None:
        """Call *count* for the pulls of *agent* to the horizon: now, or then if outages are not known ahead."""
        count()

    def count_meanwhile(self, agent: int, count: Callable[[], object]) -> None:
        """Call *count* at the horizon, unless `counted` is called before."""

    def counted(self, agent: int) -> None:
        """Note that the pulls of *agent* are counted."""

    def close(self) -> None:
        """Count all pulls that have not been counted, at the horizon."""


class PresenceAhead(Presence):
    """Agents whose outages are known ahead.

    Args:
        network: The network.
        forgets: Whether they lose their memory when they go down.
    """

    always = False

    def __init__(self, network: Network, forgets: bool) -> None:
        super().__init__(network.clock)
        assert network.outages is not None
        self._network, self._outages, self.forgets = network, network.outages, forgets

    @cached_property
    def _up(self) -> Sequence[UpSlots]:
        return [self._up_slots(agent) for agent in range(self._network.agents)]

    def watch(self, changed: Callable[[int, bool], None]) -> Sequence[int]:
        """See `Presence.watch`."""
        return self._network.watch_agents(changed)

    def is_gone(self, agent: int) -> bool:
        """See `Presence.is_gone`."""
        return self._outages.is_gone(agent, self._clock.end)

    def _absent(self, agent: int) -> Sequence[tuple[int, int]]:
        return self._outages.absent_slots(agent, self._clock.slot, self._clock.horizon)

    def _up_slots(self, agent: int) -> UpSlots:
        return UpSlots(self._absent(agent))

    def next(self, agent: int, slot: int) -> int:
        """See `Presence.next`."""
        return self._up[agent].next(slot)

    def spans(self, agent: int, start: int, end: int) -> Sequence[tuple[int, int]]:
        """See `Presence.spans`."""
        return self._up[agent].spans(start, end)

    def end(self, agent: int, start: int, slots: int) -> int:
        """See `Presence.end`."""
        return self._up[agent].end(start, slots)

    def life_end(self, agent: int) -> int:
        """See `Presence.life_end`."""
        clock = self._clock
        if not self.forgets:
            return clock.horizon
        down = self._outages.node(agent).down(clock.now)
        return clock.horizon if down == inf else min(clock.horizon, clock.boundary(int(down)))


class PresenceSoFar(PresenceAhead):
    """Agents that go down when their batteries are empty: nothing is known ahead."""

    def __init__(self, network: Network, forgets: bool) -> None:
        super().__init__(network, forgets)
        self._uncounted: dict[int, Callable[[], object]] = {}

    def _up_slots(self, agent: int) -> UpSlots:
        return UpSlotsSoFar(partial(self._absent, agent))

    def until_up(self, agent: int, slot: int) -> Waiting:
        """See `Presence.until_up`."""
        clock = self._clock
        while (slot := max(slot, clock.boundary(clock.now))) < clock.horizon:
            yield clock.wait_until(slot)
            if not self._network.is_down(agent):
                break
            yield self._back(agent)
        return slot

    def until_played(self, agent: int, start: int, slots: int, count: Callable[[], int]) -> Waiting:
        """See `Presence.until_played`."""
        clock = self._clock
        self.count_meanwhile(agent, count)
        while True:
            while self._network.is_down(agent):
                yield self._back(agent)
            end = self.end(agent, start, slots)
            if end >= clock.horizon:
                return end
            if end * clock.slot <= clock.now:
                self.counted(agent)
                return count()
            yield clock.wait_until(end)

    def _back(self, agent: int) -> Event:
        """Return the event that *agent*, which has run out of energy, is back up."""
        batteries, back = self._network.batteries, Event(self._clock.environment)
        assert batteries is not None
        batteries.when_up(agent, back.succeed)
        return back

    def count_to_the_end(self, agent: int, count: Callable[[], object]) -> None:
        """See `Presence.count_to_the_end`."""
        self._uncounted[agent] = count

    count_meanwhile = count_to_the_end

    def counted(self, agent: int) -> None:
        """See `Presence.counted`."""
        self._uncounted.pop(agent, None)

    def close(self) -> None:
        """See `Presence.close`."""
        for _, count in sorted(self._uncounted.items()):
            count()
