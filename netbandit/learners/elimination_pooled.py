"""Pooled means and confidence widths of arms for agents that have received different items.

N_k agents name arm k, the agents i among them with S_i pulls of it; N0 agents are what S(r) and the noise were made
for. With N_k = N0 and equal S_i all of this is Algorithm 1 of Li & Song 2022.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.differing_sets import Told
from netbandit.learners.elimination_schedule import EliminationSchedule


@dataclass(frozen=True)
class PooledArms:
    """The pooled items of some agents, arm by arm; all of shape (a,).

    Attributes:
        arms: The arms named by any of the agents, ascending.
        means: The mean of the released values of each arm.
        agents: N_k, the number of agents that name the arm.
        inverse: The sum of 1 / S_i over these agents.
        squares: The sum of 1 / S_i^2.
        fewest: The smallest S_i.
        most: The largest.
    """

    arms: NDArray[np.int64]
    means: NDArray[np.float64]
    agents: NDArray[np.int64]
    inverse: NDArray[np.float64]
    squares: NDArray[np.float64]
    fewest: NDArray[np.int64]
    most: NDArray[np.int64]

    @classmethod
    def of(cls, *told: Told) -> "PooledArms":
        """Return what stands for one agent; for several that of each behind the other, arms not in order."""
        pulls = np.concatenate([np.broadcast_to(np.asarray(one.pulls, dtype=np.int64), one.arms.shape) for one in told])
        arms, means = np.concatenate([one.arms for one in told]), np.concatenate([one.means for one in told])
        return cls(arms, means, np.ones_like(pulls), 1 / pulls, 1 / pulls.astype(float) ** 2, pulls, pulls)

    def only(self, arms: NDArray[np.int64]) -> "PooledArms":
        """Return its values for those of *arms* that it contains; both ascending."""
        if np.array_equal(arms, self.arms):
            return self
        at = np.flatnonzero(np.isin(self.arms, arms))
        return PooledArms(
            self.arms[at],
            self.means[at],
            self.agents[at],
            self.inverse[at],
            self.squares[at],
            self.fewest[at],
            self.most[at],
        )


Combine = Callable[[NDArray[np.float64], NDArray[np.int64]], float]
"""Returns what stands for the means of one arm, given them and how many agents each stands for."""


def pooled(parts: Sequence[Told | PooledArms], *, weighted: bool = True, combine: Combine | None = None) -> PooledArms:
    """Return what stands for all *parts*; sums are exact before they are rounded, so their order makes no difference.

    Args:
        parts: What agents tell, or what stands for several of them.
        weighted: Whether each agent counts alike; if not, each part does, in the means alone.
        combine: What stands for the means of an arm; None: their mean.
    """
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return PooledArms(none, np.empty(0), none, np.empty(0), np.empty(0), none, none)
    told = [part for part in parts if isinstance(part, Told)]
    every = [part for part in parts if isinstance(part, PooledArms)] + ([PooledArms.of(*told)] if told else [])
    if len(parts) == 1 or not any(len(part.arms) for part in every):
        return every[0]
    arms, means, agents, inverse, squares, fewest, most = map(np.concatenate, zip(*map(_columns, every), strict=True))
    order = np.argsort(arms, kind="stable")
    arms, firsts = np.unique(arms[order], return_index=True)
    weights = agents if weighted else np.ones_like(agents)
    sums, counts, inverse, squares = (
        np.array([fsum(some.tolist()) for some in np.split(column[order], firsts[1:])])
        for column in (means * weights, weights, inverse, squares)
    )
    if combine is not None:
        split = (np.split(column[order], firsts[1:]) for column in (means, weights))
        sums, counts = np.array([combine(*of_arm) for of_arm in zip(*split, strict=True)]), np.ones(len(arms))
    return PooledArms(
        arms,
        sums / counts,
        np.add.reduceat(agents[order], firsts),
        inverse,
        squares,
        np.minimum.reduceat(fewest[order], firsts),
        np.maximum.reduceat(most[order], firsts),
    )


def _columns(part: PooledArms) -> tuple[NDArray[Any], ...]:
    return part.arms, part.means, part.agents, part.inverse, part.squares, part.fewest, part.most


def widths(schedule: EliminationSchedule, epoch: int, active: int, known: PooledArms) -> NDArray[np.float64]:
    """Return C_k of each arm of *known*, where *active* arms are left; shape (a,)."""
    found: dict[tuple[int, float, float, int, int], float] = {}
    result = np.empty(len(known.arms))
    columns = (known.agents, known.inverse, known.squares, known.fewest, known.most)
    for place, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        width = found.get(row)
        if width is None:
            agents, inverse, squares, fewest, most = row
            if agents == schedule.participants and fewest == most:
                width = schedule.width(epoch, fewest, active)
            else:
                width = schedule.width_of(epoch, active, agents, inverse, squares)
            found[row] = width
        result[place] = width
    return result


def left(means: NDArray[np.float64], width: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which arms stay: all but those with ``max_j (mean_j - C_j) >= mean_k + C_k``."""
    if (width == width[0]).all():
        return np.asarray(means.max() - means < 2 * width[0])  # as Algorithm 1 has it, to the last bit
    return np.asarray((means - width).max() < means + width)
