"""The account of decisions, slot by slot: regret, its curve, and a hash of all choices."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.regret import knots

PRIME = np.uint64(0x100000001B3)
"""The hashes are FNV's: ``(hash ^ choice) * PRIME`` modulo 2^64."""


class Account(NamedTuple):
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
    def open(cls, agents: int, horizon: int, *, each: bool = False) -> "Account":
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

    def add(self, slot: int, agents: NDArray[np.int64], missed: NDArray[np.float64], *, ends: bool = True) -> None:
        """Add the regret *missed* by *agents* in a turn of *slot*, shape (n,); *ends*: it is the last of the slot."""
        if len(self.regret) > 1:
            self.regret[agents] += missed
        elif len(missed):
            self.regret[0] += missed.cumsum()[-1]  # one after the other, as compiled loops add
        if not ends:
            return
        knot = self.next_knot[0]
        if self.knots[knot] == slot + 1:
            self.curve[:, knot] = self.regret
            self.next_knot[:] = knot + 1

    def add_to_row(self, row: int, slot: int, missed: float, ends: bool) -> None:
        """As `add`, in one *row*: for compiled loops."""
        self.regret[row] += missed
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
