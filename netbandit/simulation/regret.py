"""Adds up regret by phases, slot by slot, or decision by decision, and thins its curves.

Agents that work in epochs pull in blocks, each of which costs the same few numbers at any length: `PhaseAccount` counts
pulls and multiplies. Agents that decide in slots are added up in the order of their turns, by `SlotAccount`, which
compiled loops write into. The regret of users that arrive one by one is `regret_of_decisions`.
"""

from collections.abc import Hashable
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.result import Curve

MOST_KNOTS = 2_000
"""The most knots of a curve."""

_EVERY_SLOT = 500
"""How many slots a thinned curve keeps at its beginning, one by one."""

PRIME = np.uint64(0x100000001B3)
"""The hashes are FNV's: ``(hash ^ choice) * PRIME`` modulo 2^64."""


class PhaseAccount:
    """Adds up the pseudo-regret of all agents: each pull of an arm costs the arm's gap.

    Agents that act alike at the same time are counted together, so the account grows only with distinct behaviour.

    Args:
        gaps: How much worse than the best arm each arm is, shape (K,).
        horizon: T, in slots; later pulls do not count.
    """

    def __init__(self, gaps: NDArray[np.float64], horizon: int) -> None:
        self._gaps = gaps
        self._horizon = horizon
        self._explored: dict[tuple[int, Hashable], int] = {}
        self._phases: dict[Hashable, tuple[NDArray[np.int64], int]] = {}
        self._exploited: dict[tuple[int, int, int], int] = {}

    def explore(self, start: int, phase: Hashable, arms: NDArray[np.int64], pulls: int) -> None:
        """Let one agent pull each of *arms*, in order, *pulls* times from slot *start* on.

        Args:
            start: The first slot.
            phase: Names the phase; the same for all agents that pull the same arms as often.
            arms: The arms, shape (a,).
            pulls: Pulls of each arm.
        """
        self._phases[phase] = (arms, pulls)
        self._explored[start, phase] = self._explored.get((start, phase), 0) + 1

    def exploit(self, start: int, end: int, arm: int) -> None:
        """Let one agent pull *arm* from slot *start* until before slot *end*."""
        if end > start:
            self._exploited[start, end, arm] = self._exploited.get((start, end, arm), 0) + 1

    @property
    def pulls(self) -> int:
        """All pulls of all agents so far that count."""
        starts, ends, _, agents = self._blocks()
        return sum((ends - starts)[block] * count for block, count in enumerate(agents.tolist()))

    def total_and_curve(self) -> tuple[float, Curve]:
        """Return the regret of all agents at the horizon, and how it grew."""
        starts, ends, arms, agents = self._blocks()
        lengths = ends - starts
        # Exact: the pulls of an arm are an integer, however many agents and slots there were.
        pulls = [0] * len(self._gaps)
        for arm, length, count in zip(arms.tolist(), lengths.tolist(), agents.tolist(), strict=True):
            pulls[arm] += length * count
        total = fsum(count * gap for count, gap in zip(pulls, self._gaps.tolist(), strict=True))
        rates = self._gaps[arms] * agents
        slots, where = np.unique(np.concatenate([starts, ends, [0, self._horizon]]), return_inverse=True)
        changes = np.bincount(where[: 2 * len(rates)], np.concatenate([rates, -rates]), len(slots))
        # A difference of equal floats is zero, but not one of their sums: no slope may end up below zero.
        slopes = np.maximum(np.cumsum(changes)[:-1], 0.0)
        values = np.concatenate([[0.0], np.cumsum(slopes * np.diff(slots))])
        values = np.minimum(values, total)
        values[-1] = total
        return total, thinned(Curve(slots.astype(np.int64), values))

    def _blocks(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return start, end, arm and number of agents of each block of pulls of one arm, cut at the horizon."""
        starts, ends, arms, agents = [], [], [], []
        for (start, phase), count in self._explored.items():
            phase_arms, pulls = self._phases[phase]
            # A phase cut by the horizon may be too long for 64 bits; few of its arms then begin before the horizon.
            begun = min(len(phase_arms), -(-(self._horizon - start) // pulls))
            bounds = [min(start + step * pulls, self._horizon) for step in range(begun + 1)]
            starts.append(np.array(bounds[:-1], dtype=np.int64))
            ends.append(np.array(bounds[1:], dtype=np.int64))
            arms.append(phase_arms[:begun])
            agents.append(np.full(begun, count, dtype=np.int64))
        if self._exploited:
            columns = np.array([(*block, count) for block, count in self._exploited.items()], dtype=np.int64).T
            for column, part in zip((starts, ends, arms, agents), columns, strict=True):
                column.append(part)
        empty = np.empty(0, dtype=np.int64)
        first, second, third, fourth = (
            np.concatenate(column) if column else empty for column in (starts, ends, arms, agents)
        )
        return first, second, third, fourth


class SlotAccount(NamedTuple):
    """The account of all decisions; a tuple, so that compiled loops can use it.

    Regret is added up in rows: one for all agents together, slot after slot, or one for each agent.

    Attributes:
        regret: The pseudo-regret so far, shape (rows,).
        knots: The slots at which the curve is noted, shape (k,), from 0 to the horizon.
        next_knot: The next of these to be reached, shape (rows,).
        curve: The regret at each knot, shape (rows, k).
        digests: A hash of all choices of each agent, shape (M,), uint64.
        calls: The agents that want to synchronise after the slot played last, shape (M,), bool.
    """

    regret: NDArray[np.float64]
    knots: NDArray[np.int64]
    next_knot: NDArray[np.int64]
    curve: NDArray[np.float64]
    digests: NDArray[np.uint64]
    calls: NDArray[np.bool_]

    @classmethod
    def open(cls, agents: int, horizon: int, *, each: bool = False) -> "SlotAccount":
        """Return an account of no decisions yet, with a row for *each* agent or one for all."""
        slots = knots(horizon)
        rows = agents if each else 1
        return cls(
            regret=np.zeros(rows),
            knots=slots,
            next_knot=np.ones(rows, dtype=np.int64),
            curve=np.zeros((rows, len(slots))),
            digests=np.full(agents, 0xCBF29CE484222325, dtype=np.uint64),
            calls=np.zeros(agents, dtype=np.bool_),
        )

    def add(self, slot: int, agents: NDArray[np.int64], regrets: NDArray[np.float64], *, ends: bool = True) -> None:
        """Add the *regrets* of *agents* in a turn of *slot*, shape (n,); *ends*: it is the last of the slot."""
        if len(self.regret) > 1:
            self.regret[agents] += regrets
        elif len(regrets):
            self.regret[0] += regrets.cumsum()[-1]  # one after the other, as compiled loops add
        if not ends:
            return
        knot = self.next_knot[0]
        if self.knots[knot] == slot + 1:
            self.curve[:, knot] = self.regret
            self.next_knot[:] = knot + 1

    def add_to_row(self, row: int, slot: int, regret: float, ends: bool) -> None:
        """As `add`, in one *row*: for compiled loops."""
        self.regret[row] += regret
        knot = self.next_knot[row]
        if ends and self.knots[knot] == slot + 1:
            self.curve[row, knot] = self.regret[row]
            self.next_knot[row] = knot + 1

    def note_arm(self, agent: int, arm: Any) -> None:
        """Add the *arm* that *agent* chose to its hash."""
        self.digests[agent] = (self.digests[agent] ^ np.uint64(arm + 1)) * PRIME

    def pass_over(self, absent: NDArray[np.int64], last: int) -> None:
        """Note that agents, each with its own row, were *absent* up to slot *last*, without regret."""
        end = int(np.searchsorted(self.knots, last, side="right"))
        for agent in absent.tolist():
            self.curve[agent, self.next_knot[agent] : end] = self.regret[agent]
            self.next_knot[agent] = end

    def total(self) -> NDArray[np.float64]:
        """Return the regret of all agents at each knot, shape (k,)."""
        return np.asarray(self.curve.sum(axis=0) if len(self.curve) > 1 else self.curve[0])


class PullCounts:
    """Counts the pulls of each agent, to find the one that is worst off.

    Args:
        agents: The number M of agents.
        gaps: How much worse than the best arm each arm is, shape (K,).
        horizon: T, in slots; later pulls do not count.
    """

    def __init__(self, agents: int, gaps: NDArray[np.float64], horizon: int) -> None:
        self._gaps = gaps
        self._horizon = horizon
        self._counts = np.zeros((agents, len(gaps)), dtype=np.int64)

    def explore(self, agent: int, start: int, arms: NDArray[np.int64], pulls: int) -> None:
        """Let *agent* pull each of *arms*, in order, *pulls* times from slot *start* on."""
        pulls = min(pulls, self._horizon)  # it may exceed 64 bits
        self._counts[agent, arms] += np.clip(self._horizon - start - pulls * np.arange(len(arms)), 0, pulls)

    def exploit(self, agent: int, start: int, end: int, arm: int) -> None:
        """Let *agent* pull *arm* from slot *start* until before slot *end*."""
        self._counts[agent, arm] += max(end - start, 0)

    def most_regret(self) -> float:
        """Return the largest regret of an agent."""
        return max(fsum(row) for row in (self._counts * self._gaps).tolist())


def regret_of_decisions(
    slots: NDArray[np.int64],
    regrets: NDArray[np.float64],
    horizon: int,
    unserved: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None,
) -> tuple[float, Curve]:
    """Return the regret of *unserved* users and of decisions at the horizon, and how it grew.

    Args:
        slots: The slot by which each decision counts, ascending, shape (n,).
        regrets: The regret of each decision, shape (n,); NaN if it does not count.
        horizon: T, in slots.
        unserved: The same two arrays for users that left unserved.
    """
    decided = np.cumsum(np.nan_to_num(regrets))
    total = float(decided[-1]) if len(decided) else 0.0
    if unserved is None:
        return total, curve_of_decisions(slots, decided, horizon)
    slots = np.concatenate([slots, unserved[0]])
    order = np.argsort(slots, kind="stable")
    steps = np.concatenate([np.diff(decided, prepend=0.0), unserved[1]])
    return total + float(unserved[1].sum()), curve_of_decisions(slots[order], np.cumsum(steps[order]), horizon)


def curve_of_decisions(slots: NDArray[np.int64], values: NDArray[np.float64], horizon: int) -> Curve:
    """Return the curve of a quantity that is zero at first and has these *values* after each decision."""
    return level_to_the_end(np.append(0, slots), np.append(0.0, values), horizon)


def level_to_the_end(slots: NDArray[np.int64], values: NDArray[np.float64], horizon: int) -> Curve:
    """Return the curve through *values* at *slots*, ascending; of several at one slot the last; level to the end."""
    if slots[-1] < horizon:
        slots, values = np.append(slots, horizon), np.append(values, values[-1])
    first = np.append(True, np.diff(slots) > 0)  # several decisions can be made in one slot
    ends = np.flatnonzero(np.append(first[1:], True))
    return thinned(Curve(slots[ends], values[ends]))


def thinned(curve: Curve) -> Curve:
    """Return *curve* with at most `MOST_KNOTS` knots: every slot at first, then log-spaced ones."""
    if len(curve.slots) <= MOST_KNOTS:
        return curve
    slots = knots(int(curve.slots[-1]))
    return Curve(slots, curve.at(slots))


def knots(horizon: int) -> NDArray[np.int64]:
    """Return at most `MOST_KNOTS` slots from 0 to *horizon*: every slot at first, then log-spaced ones."""
    if horizon < MOST_KNOTS:
        return np.arange(horizon + 1)
    rest = np.geomspace(_EVERY_SLOT, horizon, MOST_KNOTS - _EVERY_SLOT)
    return np.unique(np.concatenate([np.arange(_EVERY_SLOT), np.rint(rest).astype(np.int64), [horizon]]))
