"""Determines which agents decide when: all in every slot, some of them, or each when a user arrives."""

from abc import ABC, abstractmethod
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.scenario.activity import Activity, PoissonActivity, ShareActivity
from netbandit.util.streams import Streams

Agents = NDArray[np.int64]

_BLOCK = 1_024
"""Slots whose turns are drawn at once, unless there are very many agents or users."""

_MOST_DECISIONS = 1 << 22
"""How many decisions are drawn at once, in the mean, at most: some 100 MB while it is done."""

_GAPS = 256
"""Gaps between users that are drawn at once."""


class TurnBlock(NamedTuple):
    """Some turns, one after the other; a tuple, so that compiled loops can take it.

    Turn number ``first + k`` belongs to ``slots[k]``, and ``agents[starts[k]:starts[k + 1]]`` decide in it. It is the
    last of its slot if ``slots[k + 1]`` is another.

    Attributes:
        first: The number of the first turn.
        slots: The slot of each, and of the turn after them, shape (n + 1,).
        starts: Where the agents of each turn begin, shape (n + 1,).
        agents: The agents that decide, ascending within a turn.
    """

    first: int
    slots: NDArray[np.int64]
    starts: NDArray[np.int64]
    agents: Agents


class Turns(ABC):
    """The turns of a replication, in order of time: in each, some agents decide at the same instant, none twice.

    Each slot has at least one turn, at its beginning, possibly without agents, since some learners and protocols act at
    slot boundaries. Turns are known a block at a time; the driver advances by :meth:`reach`.

    Attributes:
        last: The number of the first turn that is not known yet.
        expected: The expected number of decisions of an agent by the horizon, mean over agents.
        decisions: The number of decisions that count in the turns reached so far, whether their agents are up or not.
        up: Which agents are up, shape (M,).
        here: The agents that are up, ascending.
        counted: Whether the decisions of each agent count, shape (M,); those of liars do not.
    """

    everybody: bool = False
    """Whether all agents decide in every slot, so that turn k is slot k."""

    last: int
    expected: float
    decisions: int
    up: NDArray[np.bool_]
    here: Agents
    counted: NDArray[np.bool_]

    def __init__(self, agents: int) -> None:
        self.up = np.ones(agents, dtype=np.bool_)
        self.here = np.arange(agents)
        self.counted = np.ones(agents, dtype=np.bool_)

    def note(self, agent: int, *, up: bool) -> None:
        """Note that *agent* goes down, and hence does not decide in its turns, or comes back up."""
        self.up[agent] = up
        self.here = np.flatnonzero(self.up)

    @abstractmethod
    def decided(self, first: int, last: int) -> int:
        """Return the number of decisions that count of agents that are up, from turn *first* to before *last*."""

    def count_only(self, counted: NDArray[np.bool_]) -> None:
        """Count the decisions of only these agents; called before the first turn."""
        self.counted = counted

    @abstractmethod
    def reach(self, turn: int) -> bool:
        """Draw turns until *turn* is known, which must not precede an earlier request; return whether it exists."""

    @abstractmethod
    def before(self, time: float) -> int:
        """Return the first turn at or after *time* (ns), but `last` at most."""

    @abstractmethod
    def after(self, slot: int) -> int:
        """Return the turn after the first one of *slot*, which is known or past."""

    @abstractmethod
    def time(self, turn: int) -> int:
        """Return the time (ns) of *turn*."""

    @abstractmethod
    def slot(self, turn: int) -> int:
        """Return the slot of *turn*."""

    @abstractmethod
    def agents(self, turn: int) -> Agents:
        """Return the agents that decide in *turn* and are up, ascending, shape (n,)."""

    @abstractmethod
    def ends(self, turn: int) -> bool:
        """Return whether *turn* is the last of its slot."""

    @abstractmethod
    def places(self, turn: int) -> tuple[int, int]:
        """Return the range of places, see :meth:`agent_at`, of the agents of *turn*, whether they are up or not."""

    @abstractmethod
    def agent_at(self, place: int) -> int:
        """Return the agent at a *place*."""


class EverySlot(Turns):
    """All agents decide in every slot.

    Args:
        agents: The number M of agents.
        slot: The length of a slot (ns).
        horizon: T, in slots.
    """

    everybody = True

    def __init__(self, agents: int, slot: int, horizon: int) -> None:
        super().__init__(agents)
        self._slot = slot
        self.last = horizon
        self.expected = float(horizon)
        self.decisions = agents * horizon
        self._deciding = agents

    def note(self, agent: int, *, up: bool) -> None:
        """See `Turns.note`."""
        super().note(agent, up=up)
        self._deciding = int(self.counted[self.here].sum())

    def reach(self, turn: int) -> bool:
        """See `Turns.reach`."""
        return turn < self.last

    def before(self, time: float) -> int:
        """See `Turns.before`."""
        return self.last if time == inf else min(self.last, -(-int(time) // self._slot))

    def after(self, slot: int) -> int:
        """See `Turns.after`."""
        return slot + 1

    def time(self, turn: int) -> int:
        """See `Turns.time`."""
        return turn * self._slot

    def slot(self, turn: int) -> int:
        """See `Turns.slot`."""
        return turn

    def agents(self, turn: int) -> Agents:
        """See `Turns.agents`."""
        return self.here

    def decided(self, first: int, last: int) -> int:
        """See `Turns.decided`."""
        return self._deciding * (last - first)

    def count_only(self, counted: NDArray[np.bool_]) -> None:
        """See `Turns.count_only`."""
        super().count_only(counted)
        self.decisions = int(counted.sum()) * self.last
        self._deciding = int(counted[self.here].sum())

    def ends(self, turn: int) -> bool:
        """See `Turns.ends`."""
        return True

    def places(self, turn: int) -> tuple[int, int]:
        """See `Turns.places`."""
        return 0, self.here.shape[0]

    def agent_at(self, place: int) -> int:
        """See `Turns.agent_at`."""
        return int(self.here[place])


class DrawnTurns(Turns):
    """Turns that are drawn, some slots at a time.

    Args:
        agents: The number M of agents.
        slot: The length of a slot (ns).
        horizon: T, in slots.
        expected: Decisions of an agent by the horizon, in the mean over agents.
    """

    def __init__(self, agents: int, slot: int, horizon: int, expected: float) -> None:
        super().__init__(agents)
        self._count = agents
        self._slot = slot
        self._horizon = horizon
        a_slot = max(agents * expected / horizon, 1.0, self._work())
        self._slots_at_once = int(max(1, min(_BLOCK, _MOST_DECISIONS // a_slot)))
        self.expected = expected
        self.decisions = 0
        self.last = 0
        self._drawn = 0  # slots
        self._begins = np.zeros(0, dtype=np.int64)  # the turn with which each slot of the block begins
        self._first_slot = 0
        self._times = np.zeros(0, dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        self._block = TurnBlock(0, none, none, none)

    def _work(self) -> float:
        """Return how many random numbers are drawn in a slot."""
        return 1.0

    @abstractmethod
    def _draw(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw the decisions of the slots from *first* to before *last*: times (ns) and agents, in any order."""

    def reach(self, turn: int) -> bool:
        """See `Turns.reach`."""
        while turn >= self.last and self._drawn < self._horizon:
            first, last = self._drawn, min(self._horizon, self._drawn + self._slots_at_once)
            self._drawn = last
            self._fill(first, last, *self._draw(first, last))
        return turn < self.last

    def _fill(self, first: int, last: int, times: NDArray[np.int64], agents: Agents) -> None:
        """Group decisions into turns by instant; a second decision of an agent at it belongs to the next turn."""
        order = np.lexsort((agents, times))
        times, agents = times[order], agents[order]
        rank = _ranks(times, agents)
        boundaries = np.arange(first, last) * self._slot
        # Each beginning of a slot is marked by the agent -1, which sorts before all others.
        times = np.concatenate([boundaries, times])
        rank = np.concatenate([np.zeros_like(boundaries), rank])
        agents = np.concatenate([np.full(last - first, -1), agents])
        order = np.lexsort((agents, rank, times))
        times, rank, agents = times[order], rank[order], agents[order]
        begins = np.flatnonzero(np.diff(times, prepend=-1) | np.diff(rank, prepend=-1))
        marks = agents < 0
        decided = np.cumsum(~marks)
        turns = len(begins)
        starts = np.empty(turns + 1, dtype=np.int64)
        starts[:-1] = decided[begins] - ~marks[begins]
        starts[-1] = decided[-1]
        self._hold(first, last, times[begins], starts, np.ascontiguousarray(agents[~marks]))

    def _hold(self, first: int, last: int, times: NDArray[np.int64], starts: NDArray[np.int64], agents: Agents) -> None:
        """Store the turns of the slots from *first* to before *last* in the block."""
        turns = len(times)
        self._times = times
        slots = np.append(times // self._slot, last)
        self._begins = self.last + np.searchsorted(slots[:-1], np.arange(first, last))
        self._first_slot = first
        self._block = TurnBlock(self.last, slots, starts, agents)
        self.last += turns
        self.decisions += int(self.counted[agents].sum())

    def before(self, time: float) -> int:
        """See `Turns.before`."""
        if time == inf:
            return self.last
        return self._block.first + int(np.searchsorted(self._times, int(time)))

    def after(self, slot: int) -> int:
        """See `Turns.after`."""
        if slot < self._first_slot:
            return self._block.first
        if slot >= self._first_slot + len(self._begins):
            return self.last
        return int(self._begins[slot - self._first_slot]) + 1

    def time(self, turn: int) -> int:
        """See `Turns.time`."""
        return int(self._times[turn - self._block.first])

    def slot(self, turn: int) -> int:
        """See `Turns.slot`."""
        return int(self._block.slots[turn - self._block.first])

    def agents(self, turn: int) -> Agents:
        """See `Turns.agents`."""
        block = self._block
        place = turn - block.first
        found = block.agents[block.starts[place] : block.starts[place + 1]]
        return found if len(self.here) == self._count else found[self.up[found]]

    def decided(self, first: int, last: int) -> int:
        """See `Turns.decided`."""
        block = self._block
        begin, end = block.starts[[first - block.first, last - block.first]]
        if len(self.here) == self._count and self.counted.all():
            return int(end - begin)
        return int((self.up & self.counted)[block.agents[begin:end]].sum())

    def ends(self, turn: int) -> bool:
        """See `Turns.ends`."""
        slots = self._block.slots
        place = turn - self._block.first
        return bool(slots[place] != slots[place + 1])

    def places(self, turn: int) -> tuple[int, int]:
        """See `Turns.places`."""
        place = turn - self._block.first
        return int(self._block.starts[place]), int(self._block.starts[place + 1])

    def agent_at(self, place: int) -> int:
        """See `Turns.agent_at`."""
        return int(self._block.agents[place])


class OneASlot(DrawnTurns):
    """One agent decides in each slot, drawn from the stream ``activity``, index 0.

    Args:
        agents: The number M of agents.
        slot: The length of a slot (ns).
        horizon: T, in slots.
        streams: The streams of the replication.
        skew: Agent i is chosen in proportion to ``(i + 1)^-skew``.
    """

    def __init__(self, agents: int, slot: int, horizon: int, streams: Streams, skew: float) -> None:
        super().__init__(agents, slot, horizon, horizon / agents)
        self._bounds = np.cumsum(weights(agents, skew))
        self._rng = streams.generator("activity", 0)

    def _draw(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        numbers = self._rng.random(last - first) * self._bounds[-1]
        chosen = np.searchsorted(self._bounds, numbers, side="right")
        return np.arange(first, last) * self._slot, np.minimum(chosen, self._count - 1)

    def _fill(self, first: int, last: int, times: NDArray[np.int64], agents: Agents) -> None:
        """Make a turn of each decision, one per slot."""
        self._hold(first, last, times, np.arange(last - first + 1), agents)


class ShareOfAll(DrawnTurns):
    """Each agent decides in each slot with a fixed probability, drawn from its stream ``activity``.

    Args:
        agents: The number M of agents.
        slot: The length of a slot (ns).
        horizon: T, in slots.
        streams: The streams of the replication.
        share: The probability.
    """

    def __init__(self, agents: int, slot: int, horizon: int, streams: Streams, share: float) -> None:
        super().__init__(agents, slot, horizon, share * horizon)
        self._share = share
        self._rngs = [streams.generator("activity", agent) for agent in range(agents)]

    def _work(self) -> float:
        return self._count

    def _draw(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = [np.flatnonzero(rng.random(last - first) < self._share) for rng in self._rngs]
        agents = np.repeat(np.arange(self._count), [len(slots) for slots in found])
        return (first + np.concatenate(found)) * self._slot, agents


class UsersOf(DrawnTurns):
    """Users arrive at each agent by a Poisson process, at whole nanoseconds, and are served on arrival.

    Gaps are exponential, from the stream ``activity`` of the agent.

    Args:
        agents: The number M of agents.
        slot: The length of a slot (ns).
        horizon: T, in slots.
        streams: The streams of the replication.
        gap: The mean time (ns) from one user to the next, by the mean rate of all agents.
        skew: Users come to agent i in proportion to ``(i + 1)^-skew``.
    """

    def __init__(self, agents: int, slot: int, horizon: int, streams: Streams, gap: float, skew: float) -> None:
        super().__init__(agents, slot, horizon, horizon * slot / gap)
        shares = weights(agents, skew)
        gaps = np.divide(gap, shares, out=np.full(agents, inf), where=shares > 0)
        self._arrivals = [
            _Arrivals(streams.generator("activity", agent), own) for agent, own in enumerate(gaps.tolist())
        ]

    def _work(self) -> float:
        return self._count

    def _draw(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = [arrivals.until(last * self._slot) for arrivals in self._arrivals]
        return np.concatenate(found), np.repeat(np.arange(self._count), [len(times) for times in found])


class _Arrivals:
    """The times (ns) of a Poisson process, rounded down; they do not depend on how they are requested.

    Args:
        rng: The stream of the gaps.
        gap: Their mean (ns).
    """

    def __init__(self, rng: np.random.Generator, gap: float) -> None:
        self._rng = rng
        self._gap = gap
        self._base, self._rest = 0, 0.0  # the latest time: whole nanoseconds, and the remainder
        self._ahead = np.zeros(0, dtype=np.int64)

    def until(self, end: int) -> NDArray[np.int64]:
        """Return the times before *end* that were not returned before."""
        parts = [self._ahead]
        while self._base < end:
            passed = self._rest + np.cumsum(self._rng.standard_exponential(_GAPS) * self._gap)
            whole = np.floor(passed)
            if self._base + whole[-1] > _NEVER:
                whole = np.minimum(whole, _NEVER - self._base)
            parts.append(self._base + whole.astype(np.int64))
            self._base += int(whole[-1])
            self._rest = float(passed[-1] - whole[-1]) % 1.0
        times = np.concatenate(parts)
        here = int(np.searchsorted(times, end))
        self._ahead = times[here:]
        return times[:here]


_NEVER = 4 * 10**18


def _ranks(times: NDArray[np.int64], agents: Agents) -> NDArray[np.int64]:
    """Return for each decision the number of earlier ones of its agent at its instant; sorted by time, then agent."""
    if not len(times):
        return np.zeros(0, dtype=np.int64)
    fresh = np.ones(len(times), dtype=np.bool_)
    fresh[1:] = (np.diff(times) != 0) | (np.diff(agents) != 0)
    places = np.arange(len(times))
    return np.asarray(places - np.maximum.accumulate(np.where(fresh, places, 0)))


def weights(agents: int, skew: float) -> NDArray[np.float64]:
    """Return the relative activity of each agent, ``(i + 1)^-skew`` scaled to a mean of 1, shape (M,)."""
    found = (1.0 + np.arange(agents)) ** -skew
    return np.asarray(found / found.mean())


def turns_of(activity: Activity, skew: float, agents: int, slot: int, horizon: int, streams: Streams) -> Turns:
    """Return the turns of a replication.

    Args:
        activity: ``run.activity``.
        skew: ``run.skew``.
        agents: The number M of agents.
        slot: The length of a slot (ns).
        horizon: T, in slots.
        streams: The streams of the replication; purpose ``activity``.
    """
    if activity == "one":
        return OneASlot(agents, slot, horizon, streams, skew)
    if isinstance(activity, ShareActivity):
        return ShareOfAll(agents, slot, horizon, streams, activity.share)
    if isinstance(activity, PoissonActivity):
        return UsersOf(agents, slot, horizon, streams, activity.gap(slot), skew)
    return EverySlot(agents, slot, horizon)
