"""One battery: its level over time, in whole attojoules, and when the agent that it feeds is down.

One attojoule is one nanowatt times one nanosecond, so only the moments at which a level reaches a threshold are
rounded: up, to whole nanoseconds.
"""

from collections.abc import Iterator
from copy import copy
from math import ceil, inf

from netbandit.network.downtimes import NEVER_DOWN, Downtimes

Harvest = Iterator[tuple[int, int]]
"""From when on (ns) which power is harvested (nW): from 0 on, ascending."""


def _ceil(amount: int, divisor: int) -> int:
    return -(-amount // divisor)


class Battery:
    """The battery of an agent. Between payments its level is linear, bounded by 0 and its capacity.

    The agent idles, and pulls once at each slot boundary at which it is up. While down it only harvests.
    The action that empties the battery is completed; the agent is down from the next nanosecond on.

    Args:
        capacity: Its capacity (aJ); it begins full.
        idle: The power of the agent while it is up (nW); see `draw`.
        pull: The energy of a pull (aJ).
        slot: The length of a slot (ns).
        end: The end of the run (ns), after which only payments are made.
        harvest: The harvested power over time.
        recover: The level (aJ) at which an agent that has run empty recovers; None: never.
        faulted: The downtimes of the agent from other causes.

    Attributes:
        time: Up to when (ns) the level is known; payments at that very moment may still follow.
        level: The level then (aJ).
        empty: Whether it has run empty, and not recovered.
        spent: The energy taken out so far (aJ),
        harvested: and the energy harvested; what exceeds the capacity does not count.
        first_death: When it ran empty for the first time (ns); None: never.
        begins, ends: When the agent went down, and came back (ns; infinity: it has not).
        lasts_until: A lower bound (ns) on when it runs empty without further payments.
        steady_until: Up to when (ns) the agent certainly stays up.
    """

    def __init__(
        self,
        capacity: int,
        *,
        idle: int,
        pull: int,
        slot: int,
        end: int,
        harvest: Harvest = iter(()),  # noqa: B008 - an empty iterator
        recover: int | None = None,
        faulted: Downtimes = NEVER_DOWN,
    ) -> None:
        self.capacity = self.level = capacity
        self._idle, self._pull, self._slot, self._end = idle, pull, slot, end
        self._recover, self._faulted, self._harvest = recover, faulted, harvest
        self.time = self.spent = self.harvested = 0
        self.empty = False
        self.first_death: int | None = None
        self.begins: list[int] = []
        self.ends: list[float] = []
        self._dies = -1  # when it is down that has been emptied by a payment
        self._power = 0
        self._following = next(harvest, None)
        self._power_until: float = 0
        self._fault_until: float = 0
        self._is_faulted = False
        self._harvests = self._following is not None
        self._evenings: tuple[tuple[int, int], ...] = ()  # time and level when a harvest ended, the first and the last
        self._periods = 0  # how many harvests ended after the first
        self._night = (0, 0)  # the deepest fall while nothing was harvested, and how long that was
        self._computes = 0
        # The level less the energy of a pull, divided by that of a slot, is how many slots it lasts.
        self._takes = idle * slot + pull
        self.lasts_until: float = 0
        self.steady_until: float = 0
        self._look_around()

    @property
    def is_up(self) -> bool:
        """Whether the agent is up at `time`."""
        return not (self.empty or self._is_faulted)

    def advance(self, time: int) -> None:
        """Advance to *time* (ns), before the payments of that moment."""
        time = min(time, self._end)
        while self.time < time:
            self._advance_to(int(min(time, self._power_until, self._fault_until)))
            self._look_around()

    def pay(self, time: int, amount: int) -> None:
        """Take out *amount* (aJ), or all there is, at a *time* (ns) not before `time`; below zero: put it in."""
        if time < self.steady_until and not self._harvests:
            level = self.level - amount
            lasts = self._lasts(level)
            if time < lasts:  # the moment of payment makes no difference
                self.level = level
                self.spent += amount
                self.lasts_until = lasts
                self.steady_until = lasts if lasts < self._fault_until else self._fault_until
                return
        self.advance(time)
        self._take(amount)
        self._look_ahead()

    def draw(self, time: int, power: int) -> None:
        """Let the agent take *power* (nW) beside its idle power from a *time* (ns) on, not before `time`."""
        self.advance(time)
        self._idle += power - self._computes
        self._computes = power
        self._takes = self._idle * self._slot + self._pull
        self._look_ahead()

    def lifetime(self) -> float | None:
        """Return when (ns) it first runs empty at the mean rate so far, after the run; infinity: it is sustained.

        For an intermittent harvest, the rate is that between the first and the last end of a harvest, which are
        whole periods, and the level falls and rises in each as in a night and a day; None: there are no two.
        """
        if self.first_death is not None:
            return self.first_death
        if not self._harvests or (self._following is None and not self._evenings):
            drain = self.spent - self.harvested
            return self._end * self.capacity / drain if drain > 0 else inf
        if not self._periods:
            return None
        (first, before), (last, level) = self._evenings
        return inf if level >= before else self._forecast(last, level, (last - first, before - level))

    def _forecast(self, dusk: int, level: int, change: tuple[int, int]) -> float:
        """Return when (ns) it runs empty after the run, from the last dusk, and what all periods took together."""
        period, fall = (each / self._periods for each in change)
        night, length = self._night
        ahead = max(1, ceil((level - night) / fall))  # the first night that it does not last, after this one
        evening, last = dusk + ahead * period, level - (ahead - 1) * fall
        moments = [(evening, last - fall), (evening + length, last - fall - night)]
        if ahead > 1:
            moments.insert(0, (evening - period + length, last - night))
        if self._power == 0 and (left := dusk + length - self.time) > 0:  # the run ended at night
            moments.insert(0, (dusk + length, self.level - night * left / length))
        time, full = float(self.time), float(self.level)
        for end, rest in (moment for moment in moments if moment[0] > self.time):
            if rest <= 0:
                return time + full * (end - time) / (full - rest)
            time, full = end, rest
        return time

    def next_change(self) -> float:
        """Return when (ns) the agent goes down or recovers without payments, or, if earlier, when to ask again."""
        ahead = copy(self)
        ahead.begins, ahead.ends = [], []
        limit = int(min(self._end, self._power_until, self._fault_until))
        while ahead.time < limit and ahead.is_up == self.is_up:
            ahead._advance_to(limit)
        return ahead.time if ahead.time < self._end else inf

    def _take(self, amount: int) -> None:
        taken = min(amount, self.level)
        self.spent += taken
        self.level -= taken
        if self.level == 0 and amount > 0 and not self.empty and self._dies < 0:
            self._dies = self.time + 1

    def _lasts(self, level: int) -> float:
        """Return a lower bound (ns) on how long *level* lasts."""
        if level <= self._pull:
            return self.time
        return self.time + (level - self._pull) * self._slot // self._takes if self._takes else inf

    def _look_ahead(self) -> None:
        """Find a time up to which nothing can change."""
        self.lasts_until = self._lasts(self.level) if self._dies < 0 else self.time
        self.steady_until = min(self.lasts_until, self._fault_until) if self.is_up else self.time

    def _look_around(self) -> None:
        """Update the harvested power and the other downtimes; note if the agent goes down or recovers."""
        while self._following is not None and self._following[0] <= self.time:
            before, self._power = self._power, self._following[1]
            self._following = next(self._harvest, None)
            if before and not self._power:
                self._periods += bool(self._evenings)
                self._evenings = (*self._evenings[:1], (self.time, self.level))
            elif self._power and not before and self._evenings:
                dusk, level = self._evenings[-1]
                self._night = max(self._night, (level - self.level, self.time - dusk))
        self._power_until = inf if self._following is None else self._following[0]
        if self.time >= self._fault_until:
            self._is_faulted = self._faulted.at(self.time)
            change = self._faulted.up if self._is_faulted else self._faulted.down
            self._fault_until = change(self.time)
        was_up = not self.ends or self.ends[-1] != inf
        if was_up and not self.is_up:
            self.begins.append(self.time)
            self.ends.append(inf)
        elif self.is_up and not was_up:
            self.ends[-1] = self.time
        self._look_ahead()

    def _advance_to(self, stop: int) -> None:
        """Advance to *stop* (ns) at constant power, or to where the battery runs empty or has recovered."""
        if self._dies >= 0:
            self._drift(self.time + 1, 0)
            self._die()
        elif self.empty and self._recover is not None and self._power > 0:
            back = self.time + max(0, _ceil(self._recover - self.level, self._power))
            self._drift(min(stop, back), 0)
            self.empty = self.time < back
        elif not self.is_up:
            self._drift(stop, 0)
        elif not self._pull:
            self._idle_until(stop)
        else:
            self._play_until(stop)

    def _die(self) -> None:
        self._dies = -1
        self.empty = self._recover is None or self.level < self._recover
        if self.empty and self.first_death is None:
            self.first_death = self.time

    def _drift(self, stop: int, idle: int) -> None:
        """Advance to *stop* (ns) while *idle* (nW) is consumed; the level never falls below zero."""
        lasts = stop - self.time
        before = self.level
        level = min(self.capacity, before + (self._power - idle) * lasts)
        if before > self.capacity:  # a negative payment may exceed the capacity, and stays
            level = before + min(0, self._power - idle) * lasts
        spent = idle * lasts
        self.harvested += level - before + spent
        self.level = max(0, level)
        self.spent += spent + min(0, level)
        self.time = stop

    def _idle_until(self, stop: int) -> None:
        """Advance to *stop* (ns) between two pulls, or to where the battery runs empty."""
        drain = self._idle - self._power
        dies = drain > 0 and self.time + _ceil(self.level, drain) <= stop
        self._drift(self.time + _ceil(self.level, drain) if dies else stop, self._idle)
        if dies:
            self._die()

    def _play_until(self, stop: int) -> None:
        """Advance to *stop* (ns), with a pull at each slot boundary before it, or to where the battery runs empty."""
        boundary = _ceil(self.time, self._slot) * self._slot
        if boundary > self.time:
            self._idle_until(min(stop, boundary))
        elif (slots := self._slots_without_end((stop - boundary) // self._slot)) > 0:
            self._play(slots)
        else:
            self._take(self._pull)
            if self._dies < 0:
                self._idle_until(min(stop, boundary + self._slot))

    def _slots_without_end(self, slots: int) -> int:
        """Return how many of the next *slots* slots the battery certainly lasts, from a boundary on."""
        level, pull = self.level, self._pull
        gained = (self._power - self._idle) * self._slot - pull  # in a slot, where there is room
        if level > self.capacity or level <= pull:
            return 0
        if self._power <= self._idle:
            return min(slots, _ceil(level, -gained) - 1)
        if gained < 0:
            return min(slots, _ceil(level - pull, -gained))
        return slots

    def _play(self, slots: int) -> None:
        """Advance by so many *slots*, which the battery lasts."""
        gained = (self._power - self._idle) * self._slot - self._pull
        level = min(self.capacity, self.level + slots * gained)
        spent = slots * (self._pull + self._idle * self._slot)
        self.harvested += level - self.level + spent
        self.spent += spent
        self.level = level
        self.time += slots * self._slot
