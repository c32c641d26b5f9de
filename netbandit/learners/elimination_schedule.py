"""The schedule of elimination: the pulls S(r) and the confidence widths C(r) of all epochs.

Source: Li & Song 2022, Algorithm 1 and its form under communication constraints (Section IV-B). All logarithms are
natural. Quotients are exact fractions: no epsilon or gap is too small, the number of pulls is a plain int of any
size (the horizon cuts a phase that is too long), and nothing overflows or underflows on the way.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, log, sqrt

from netbandit.byzantine.aggregation.cover import Cover
from netbandit.util.text import pluralize


def count_participants(participation: float, members: int) -> int:
    """Return N = ceil(p M) for the p that was written: 0.1 of 30 agents are 3, though the float is above 1/10."""
    return ceil(Fraction(repr(float(participation))) * members)


@dataclass(frozen=True)
class EliminationSchedule:
    """The lengths and confidences of all epochs r = 1, 2, ...

    Attributes:
        arms: The number K of all arms.
        horizon: T, in slots.
        participants: The number N of agents whose means are averaged in a round.
        epsilon: Privacy parameter; ``inf``: no noise, its terms vanish.
        rounds: Budget R of rounds, or None.
        gap: With a budget: the smallest sub-optimality gap above zero.
        members: The number M of agents that participants are drawn from.
        difference: The most that the means of one arm differ between two agents; the width then covers that N of M
            agents were drawn. 0: it does not, as in the paper.
        cover: How much less certain than a mean that which is aggregated is; by default it is the mean.
    """

    arms: int
    horizon: int
    participants: int
    epsilon: float
    rounds: int | None = None
    gap: float | None = None
    members: int | None = None
    difference: float = 0.0
    cover: Cover = Cover()  # noqa: RUF009 - it is never changed

    def __post_init__(self) -> None:
        if self.arms < 1 or self.horizon < 1 or self.participants < 1 or not self.epsilon > 0:
            raise ValueError(f"no schedule for {self}")
        if self.rounds is not None and (self.rounds < 1 or self.gap is None or not 0 < self.gap <= 1):
            raise ValueError(
                f"a budget of {pluralize(self.rounds, 'round')} needs a gap > 0 and at most 1, not {self.gap}"
            )

    def target_gap(self, epoch: int) -> Fraction:
        """Return D_r, the gap that the epoch resolves: 2^-r (Algorithm 1 line 3), with a budget gap^(r/R)."""
        if self.rounds is None or self.gap is None:
            return Fraction(1, 2**epoch)
        return Fraction(self.gap ** (epoch / self.rounds))

    def cumulative_pulls(self, epoch: int, previous: int, active: int) -> int:
        """Return S(r), the pulls of each active arm by each agent up to the end of the epoch.

        ``ceil(max{8 ln(8 |I| r^2 T) / (N D_r^2), 8 r sqrt(2 ln(8 K r^2 T)) / (N^1.5 epsilon D_r)})``, and at least
        ``S(r-1) + 1`` (Algorithm 1 line 4, with N for M). With a cover (c, b), which fits no noise, it is
        ``ceil(16 (c sqrt(ln(8 |I| r^2 T) / (2 N)) + b / 2)^2 / D_r^2)``, so that C(r) is again at most D_r / 4.

        Args:
            epoch: Its number r, from 1.
            previous: S(r-1), 0 for the first epoch.
            active: The number |I| of arms active in the epoch.
        """
        target = self.target_gap(epoch)
        if self.cover == Cover():
            needed = Fraction(8 * self._log(active, epoch)) / (self.participants * target**2)
        else:
            spread = self.cover.loss * sqrt(self._log(active, epoch) / (2 * self.participants))
            needed = Fraction(16 * (spread + self.cover.bias / 2) ** 2) / target**2
        if self.epsilon != inf:
            noise = Fraction(8 * epoch * sqrt(2 * self._log(self.arms, epoch)))
            needed = max(needed, noise / (self._privacy * target))
        return max(ceil(needed), previous + 1)

    def width(self, epoch: int, pulls: int, active: int) -> float:
        """Return C(r), the half-width of the confidence interval of an aggregated mean.

        ``sqrt(ln(8 |I| r^2 T) / (2 N S)) + r sqrt(8 ln(8 K r^2 T)) / (N^1.5 epsilon S)`` (Algorithm 1 line 5, with N
        for M), and what :meth:`drawing` adds; the first term with a cover (c, b) times c, and b / (2 sqrt(S)) more.

        Args:
            epoch: Its number r, from 1.
            pulls: The rounded S = S(r).
            active: The number |I| of arms active in the epoch.
        """
        sampling = self.cover.loss * sqrt(Fraction(self._log(active, epoch)) / (2 * self.participants * pulls))
        sampling += self.cover.bias * sqrt(Fraction(1, 4 * pulls))
        sampling += self.drawing(epoch, active)
        if self.epsilon == inf:
            return sampling
        noise = Fraction(epoch * sqrt(8 * self._log(self.arms, epoch)))
        return sampling + float(noise / (self._privacy * pulls))

    def width_of(self, epoch: int, active: int, agents: int, inverse: float, squares: float) -> float:
        """Return C_k, the half-width for the mean over N_k agents, not all of whom have pulled an arm as often.

        ``sqrt(ln(8 |I| r^2 T) sum 1/S_i / 2) / N_k + r sqrt(8 ln(8 K r^2 T)) sqrt(sum 1/S_i^2) / (N epsilon N_k)``, and
        what :meth:`drawing` adds, larger by sqrt(N / N_k). With N_k = N and equal S_i it is :meth:`width`.

        Args:
            epoch: Its number r, from 1.
            active: The number |I| of arms active in the epoch.
            agents: N_k.
            inverse: The sum of 1 / S_i over these agents.
            squares: The sum of 1 / S_i^2.
        """
        sampling = self.cover.loss * sqrt(self._log(active, epoch) * inverse / 2) / agents
        sampling += self.cover.bias / 2 * sqrt(inverse / agents)
        sampling += self.drawing(epoch, active) * sqrt(self.participants / agents)
        if self.epsilon == inf:
            return sampling
        noise = epoch * sqrt(8 * self._log(self.arms, epoch)) * sqrt(squares)
        return sampling + float(Fraction(noise) / (Fraction(self.epsilon) * self.participants * agents))

    def drawing(self, epoch: int, active: int) -> float:
        """Return how far the mean over N agents may lie from that over all M, without which C(r) covers no drawing.

        ``difference sqrt(rho ln(8 |I| r^2 T) / (2 N))`` with rho = 1 - (N - 1) / M up to N = M / 2, and
        (1 - N / M) (1 + 1 / N) beyond: N agents are drawn without replacement (Serfling 1974; Bardenet & Maillard
        2015, Theorem 2.4). It is exceeded as rarely as the first term of C(r) is, with probability 1 / (4 |I| r^2 T) an
        arm, and as agents are drawn afresh in each round it does not shrink: only a larger N helps.
        """
        drawn = self.participants
        if self.members is None or drawn >= self.members or not self.difference:
            return 0.0
        left = 1 - (drawn - 1) / self.members if 2 * drawn <= self.members else 0.0
        rho = left or (1 - drawn / self.members) * (1 + 1 / drawn)
        return self.difference * sqrt(rho * self._log(active, epoch) / (2 * drawn))

    def _log(self, arms: int, epoch: int) -> float:
        return log(8 * arms * epoch**2 * self.horizon)

    @property
    def _privacy(self) -> Fraction:
        return Fraction(self.participants**1.5) * Fraction(self.epsilon)
