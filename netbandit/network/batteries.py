"""The batteries of all agents: energy accounting, and notification when an agent goes down or recovers."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import ceil, inf
from typing import NamedTuple

from simpy import Event

from netbandit.network import harvest
from netbandit.network.battery import Battery, Harvest
from netbandit.network.clock import Clock, ScheduledEvent
from netbandit.network.downtimes import Downtimes, Interval
from netbandit.network.draws import Draws
from netbandit.network.node_changes import CHANGES, Changed
from netbandit.util.streams import Streams

JOULE = 10**18
"""Attojoules."""

NANOWATT = 10**9
"""The energy of one watt in one nanosecond, in attojoules."""


_ENDLESS = 10**40
"""The capacity of a battery that never runs empty (aJ)."""

_SOON = 8
"""This many slots before an agent may run empty, the exact time is computed."""


class Price(NamedTuple):
    """The energy that a message costs an agent (aJ).

    Attributes:
        per_message: Per message.
        per_byte: Per byte.
    """

    per_message: int = 0
    per_byte: int = 0

    def of(self, messages: int, size: int) -> int:
        """Return the energy of so many *messages*, *size* bytes in total."""
        return messages * self.per_message + size * self.per_byte


class OnAndOff(NamedTuple):
    """A power that is on and off for exponential times.

    Attributes:
        power: The power (nW) while it is on.
        on_for: The mean on time (ns).
        off_for: The mean off time (ns).
    """

    power: int
    on_for: int
    off_for: int


class Daily(NamedTuple):
    """A power that is on for a fixed part of each period: see `netbandit.network.harvest.daily`."""

    power: int
    begin: int
    end: int
    every: int


@dataclass(frozen=True)
class EnergyPlan:
    """The energy supply of agents, and the consumption of each activity.

    Attributes:
        capacity: The smallest and the largest battery capacity (aJ); None: no agent ever runs empty.
        idle: The power of an agent while it is up (nW),
        send: and in place of that, while it sends; None: the same,
        receive: or while it receives.
        pull: The energy of a pull (aJ).
        harvested: The harvest of each agent: a power (nW), its law, or moments (ns) and the power (nW) from each.
        recover: The share of its capacity at which an agent that has run empty recovers; None: never.
        mains: Agents that never run empty.
        sending, receiving: The energy of a message at its sender and at its receiver, on links of each class.
    """

    capacity: tuple[int, int] | None = None
    idle: int = 0
    send: int | None = None
    receive: int | None = None
    pull: int = 0
    harvested: int | OnAndOff | Daily | Sequence[tuple[int, int]] = 0
    recover: float | None = None
    mains: frozenset[int] = frozenset()
    sending: tuple[Price, Price] = (Price(), Price())
    receiving: tuple[Price, Price] = (Price(), Price())

    def to_send(self, uplink: bool, messages: int, size: int, airtime: int) -> int:
        """Return the energy that messages cost their senders beyond idling (aJ).

        Args:
            uplink: Whether they go over uplinks.
            messages: How many they are,
            size: how many bytes all together,
            airtime: and for how long (ns) they occupy their channels.
        """
        beside = 0 if self.send is None else (self.send - self.idle) * airtime
        return self.sending[uplink].of(messages, size) + beside

    def to_receive(self, uplink: bool, messages: int, size: int, airtime: int) -> int:
        """As `to_send`, of their receivers."""
        beside = 0 if self.receive is None else (self.receive - self.idle) * airtime
        return self.receiving[uplink].of(messages, size) + beside


class Drained(NamedTuple):
    """The energy balance of a run.

    Attributes:
        begun: The energy in all batteries at the beginning (aJ).
        harvested: The energy added,
        spent: the energy consumed,
        left: and the energy left.
        first_death: When the first battery ran empty (ns); None: none did.
        half_dead: When half of the batteries, rounded up, had run empty at least once (ns); None: fewer did.
        alive: How many agents have not run empty, or have recovered.
        lifetime: After how long (ns) the first runs empty: `first_death`, else at the rate of the run; infinity: never;
            None: that cannot be said.
        drains: The mean net drain of each battery (W), harvest deducted: its capacity over its lifetime.
    """

    begun: int
    harvested: int
    spent: int
    left: int
    first_death: int | None
    half_dead: int | None
    alive: int
    lifetime: float | None
    drains: list[float | None]


class LiveDowntimes(Downtimes):
    """The downtimes of an agent up to the present; the future is unknown.

    Args:
        battery: Its battery.
        clock: The clock.
    """

    def __init__(self, battery: Battery, clock: Clock) -> None:
        super().__init__()
        self._battery = battery
        self._clock = clock
        self._begins, self._ends = battery.begins, battery.ends
        self._known = inf

    def during(self, begin: int, end: int) -> bool:
        """See `Downtimes.during`; *end* is no later than now."""
        assert end <= self._clock.now, "whether an agent will be down is not known"
        if end >= self._battery.steady_until:
            self._battery.advance(end)
        elif not self._begins:  # as for most messages
            return False
        return super().during(begin, end)

    def up(self, time: int) -> float:
        """Return the first moment at or after *time* at which the agent was up; infinity: it has not been up since."""
        self._battery.advance(self._clock.now)
        return super().up(time)

    def down(self, time: int) -> float:
        """Refuse to tell the future."""
        raise NotImplementedError("when an agent goes down next is not known")

    def ended(self, time: int) -> int:
        """See `Downtimes.ended`."""
        self._battery.advance(self._clock.now)
        return super().ended(time)

    def until(self, end: int) -> list[Interval]:
        """Return all intervals so far; the last may have no end."""
        self._battery.advance(self._clock.now)
        return super().until(end)


class Batteries:
    """A battery for each agent.

    Args:
        plan: The energy plan.
        clock: The clock.
        faulted: The downtimes of each agent from other causes.
        streams: The streams of the replication: ``battery`` draws capacities, ``harvest`` the harvest.
    """

    def __init__(self, plan: EnergyPlan, clock: Clock, faulted: Sequence[Downtimes], streams: Streams) -> None:
        assert plan.capacity is not None
        self._plan = plan
        self._clock = clock
        self._agents = len(faulted)
        self._draws = Draws(streams, "harvest", self._agents)
        self.all = [self._battery(agent, plan.capacity, known, streams) for agent, known in enumerate(faulted)]
        self.downtimes = [LiveDowntimes(battery, clock) for battery in self.all]
        self._watchers: list[Changed] = []
        self._returns: defaultdict[int, list[Callable[[], object]]] = defaultdict(list)
        self._up = [battery.is_up for battery in self.all]
        self._expected = [battery.next_change() for battery in self.all]
        self._heap = [(time, agent) for agent, time in enumerate(self._expected)]
        heapify(self._heap)
        self._appointed: float = inf
        self._callbacks: list[Callable[[Event], None]] = [self._now]
        self._appoint()

    def _battery(self, agent: int, capacity: tuple[int, int], faulted: Downtimes, streams: Streams) -> Battery:
        least, most = capacity
        full = least
        if most > least:
            full += int(streams.generator("battery", agent).random() * (most - least))
        plan = self._plan
        if agent in plan.mains:
            full = _ENDLESS
        return Battery(
            full,
            idle=plan.idle,
            pull=plan.pull,
            slot=self._clock.slot,
            end=self._clock.end,
            harvest=iter(()) if agent in plan.mains else self._harvest(agent),
            recover=None if plan.recover is None else max(1, ceil(plan.recover * full)),
            faulted=faulted,
        )

    def _harvest(self, agent: int) -> Harvest:
        law = self._plan.harvested
        if isinstance(law, int):
            return harvest.steady(law) if law else iter(())
        if isinstance(law, OnAndOff):
            return harvest.on_and_off(self._draws, agent, *law)
        return harvest.daily(*law) if isinstance(law, Daily) else harvest.listed(law)

    def pay_to_send(self, agent: int, *, uplink: bool, size: int, airtime: int) -> None:
        """Charge *agent* for sending *size* bytes that occupy its channel for *airtime* (ns)."""
        self._pay(agent, self._plan.to_send(uplink, 1, size, airtime))

    def pay_to_receive(self, agent: int, *, uplink: bool, size: int, airtime: int) -> None:
        """Charge *agent* for receiving *size* bytes that occupied its channel for *airtime* (ns)."""
        self._pay(agent, self._plan.to_receive(uplink, 1, size, airtime))

    def compute(self, agent: int, power: int) -> None:
        """Let *agent* take *power* (nW) from now on for computing, beside its other power."""
        self.all[agent].draw(self._clock.now, power)
        self._look_sooner(agent)

    def watch(self, changed: Changed) -> None:
        """Call *changed* for each agent that goes down or recovers, before the arrivals of that instant."""
        self._watchers.append(changed)

    def when_up(self, agent: int, act: Callable[[], object]) -> None:
        """Call *act* once when *agent*, which is down, recovers."""
        self._returns[agent].append(act)

    def drained(self) -> Drained:
        """Return the energy balance at the end of the run."""
        end = self._clock.end
        for battery in self.all:
            battery.advance(end)
        deaths = sorted(battery.first_death for battery in self.all if battery.first_death is not None)
        half = -(-(self._agents - len(self._plan.mains)) // 2)
        lives = [inf if agent in self._plan.mains else one.lifetime() for agent, one in enumerate(self.all)]
        known = [life for life in lives if life is not None]
        return Drained(
            begun=sum(one.capacity for one in self.all),
            harvested=sum(one.harvested for one in self.all),
            spent=sum(one.spent for one in self.all),
            left=sum(one.level for one in self.all),
            first_death=deaths[0] if deaths else None,
            half_dead=deaths[half - 1] if len(deaths) >= half > 0 else None,
            alive=sum(not one.empty for one in self.all),
            lifetime=deaths[0] if deaths else min(known) if len(known) == len(lives) else None,
            drains=[
                None if life is None else one.capacity / max(1.0, life) / NANOWATT
                for one, life in zip(self.all, lives, strict=True)
            ],
        )

    def _pay(self, agent: int, amount: int) -> None:
        if amount:
            self.all[agent].pay(self._clock.now, amount)
            self._look_sooner(agent)

    def _look_sooner(self, agent: int) -> None:
        """Schedule an earlier check of an agent that may run empty before the next one."""
        battery, now = self.all[agent], self._clock.now
        if (until := battery.lasts_until) < self._expected[agent]:
            # Payments are frequent: checking a little early is cheaper than looking ahead each time.
            early = now + int(until - now) * 7 // 8
            self._expect(agent, early if early > now + _SOON * self._clock.slot else battery.next_change())

    def _expect(self, agent: int, time: float) -> None:
        """Schedule a check of an agent at *time* (ns), no later than it may go down or recover next."""
        if time != self._expected[agent]:
            self._expected[agent] = time
            heappush(self._heap, (time, agent))
            self._appoint()

    def _appoint(self) -> None:
        while self._heap and self._heap[0][0] != self._expected[self._heap[0][1]]:
            heappop(self._heap)  # it was expected at another time
        first = self._heap[0][0] if self._heap else inf
        if first < min(self._appointed, self._clock.end):
            self._appointed = first
            environment = self._clock.environment
            environment.schedule(ScheduledEvent(self._callbacks), CHANGES, int(first) - environment.now)

    def _now(self, _: Event) -> None:
        now = self._clock.now
        if now < self._appointed:
            return
        self._appointed = inf
        changed = sorted(set(self._due(now)))
        for agent in changed:
            self.all[agent].advance(now)
        for agent in changed:
            self._tell(agent)
        for agent in changed:
            self._expected[agent] = inf
            self._expect(agent, self.all[agent].next_change())
        self._appoint()

    def _due(self, now: int) -> Iterator[int]:
        while self._heap and self._heap[0][0] <= now:
            time, agent = heappop(self._heap)
            if time == self._expected[agent]:
                yield agent

    def _tell(self, agent: int) -> None:
        up = self.all[agent].is_up
        if up != self._up[agent]:
            self._up[agent] = up
            for changed in self._watchers:
                changed(agent, up)
            if up:
                for act in self._returns.pop(agent, ()):
                    act()
