"""Delayed feedback of agents that explore in phases: when the last reward of a phase has come, and which have by then.

The epoch driver asks; learners see nothing of it but sums.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import FiniteBandit
from netbandit.conditions.feedback_plan import FeedbackPlan
from netbandit.learners.learner import Phase
from netbandit.network.delays import INFINITE
from netbandit.network.draws import Draws
from netbandit.parts.metric import Metric
from netbandit.util.streams import Streams

Agents = NDArray[np.int64]
Slots = NDArray[np.int64]

FOR_EVER = 1 << 60
"""A slot that never comes."""


class PhaseRewards(NamedTuple):
    """The pulls of m agents in a phase of n pulls of each of a arms, and what is learned of each.

    Attributes:
        sums: What is learned in all, shape (m, a).
        delays: From each pull to its report, or the end of its window (ns); `INFINITE` if neither comes; shape
            (m, a, n), as are all others.
        rewards: What is learned of each pull; None if all is known by the next slot.
        censored: Whether nothing is ever learned of it.
        late: Whether its report comes after its window.
    """

    sums: NDArray[np.int64]
    delays: NDArray[np.int64]
    rewards: NDArray[np.int64] | None
    censored: NDArray[np.bool_]
    late: NDArray[np.bool_]


class AwaitedRewards(NamedTuple):
    """The rewards of one agent's phase, all but sums of shape (a, n).

    Attributes:
        until: The slot up to which the agent waits for them.
        slots: The slot of each pull.
        known_in: The slot from which on its reward is known, or known to be missing; `FOR_EVER` if neither happens.
        delays: From each pull to its report (ns).
        censored, late: As of `PhaseRewards`.
        rewards: What is learned of each pull; None if all is known by the next slot.
        sums: What is learned of each arm in all, shape (a,).
    """

    until: int
    slots: Slots
    known_in: Slots
    delays: NDArray[np.int64]
    censored: NDArray[np.bool_]
    late: NDArray[np.bool_]
    rewards: NDArray[np.int64] | None
    sums: NDArray[np.int64]

    def known(self, slot: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the sum of the rewards of each arm known in *slot*, and how many these are; shape (a,) each."""
        if self.rewards is None:
            return self.sums, np.full(len(self.sums), self.slots.shape[1])
        some = ~(self.censored | self.late) & (self.known_in <= slot)
        return np.where(some, self.rewards, 0).sum(axis=1), some.sum(axis=1)


class PhaseFeedback:
    """Draws how late the rewards of phases are, and counts what becomes of them.

    The delay of pull n of an agent's phases, counted over all its incarnations, follows from random number n, as in
    `netbandit.conditions.feedback_queue.FeedbackQueue`. What an agent pulls while it waits enters no estimate and is
    not counted.

    Args:
        plan: How rewards are delayed.
        streams: The streams of the replication.
        agents: The number M of agents.
        slot: The length of a slot (ns).
        horizon: T, in slots.
        deadline: How long after a phase its feedback is waited for (ns); None: for ever.
    """

    def __init__(
        self, plan: FeedbackPlan, streams: Streams, agents: int, slot: int, horizon: int, deadline: int | None
    ) -> None:
        self._plan, self._slot, self._horizon = plan, slot, horizon
        self._patience = FOR_EVER if deadline is None else -(-deadline // slot)
        self._draws, self._never_draws = (Draws(streams, purpose, agents) for purpose in ("feedback", "feedback.never"))
        self._numbers = np.zeros(agents, dtype=np.int64)
        self._pulls = self._learned = self._lags = self._censored = self._late = 0
        self._outstanding = self._most = self._waits = self._waited = 0

    def of_phase(self, bandit: FiniteBandit, rng: np.random.Generator, agents: Agents, phase: Phase) -> PhaseRewards:
        """Draw the rewards of *agents*, whose phases have been equally long so far, and how late each is.

        Rewards are drawn in blocks, as without delays, unless some are not known by the next slot.
        """
        plan, shape = self._plan, (len(agents), len(phase.arms), phase.pulls)
        uniforms = self._uniforms(self._draws, agents, phase.slots).reshape(shape)
        delays = np.empty(shape, dtype=np.int64)
        for index, arm in enumerate(phase.arms.tolist()):
            for row, agent in enumerate(agents.tolist()) if plan.by == "agent" else [(slice(None), 0)]:
                law = plan.laws[{"all": 0, "arm": arm, "agent": agent}[plan.by]]
                delays[row, index] = law.times(uniforms[row, index])
        censored = delays == INFINITE
        if any(plan.never):
            shares = np.array([plan.never[arm % len(plan.never)] for arm in phase.arms.tolist()])
            numbers = self._uniforms(self._never_draws, agents, phase.slots).reshape(shape)
            censored |= numbers < shares[:, np.newaxis]
        self._numbers[agents] += phase.slots
        late = ~censored & (plan.window != INFINITE) & (delays > plan.window)
        in_blocks = not (plan.nonzero or censored.any() or late.any() or (delays > self._slot).any())
        if in_blocks:
            sums = bandit.pull_blocks(rng, agents, phase.arms, phase.pulls)
            return PhaseRewards(sums, delays, None, censored, late)
        single = np.repeat(agents, phase.pulls)
        drawn = [bandit.pull_blocks(rng, single, phase.arms[[index]], 1) for index in range(len(phase.arms))]
        rewards = np.concatenate(drawn, axis=1).reshape(len(agents), phase.pulls, -1).transpose(0, 2, 1)
        if plan.nonzero:
            censored |= rewards == 0
            late &= ~censored
        missing = censored | late
        rewards = np.where(missing, 0, rewards)
        delays = np.where(missing, plan.window, delays)
        if plan.as_zero:
            censored, late = np.zeros((2, *shape), dtype=bool)
        return PhaseRewards(rewards.sum(axis=2), delays, rewards, censored, late)

    def _uniforms(self, draws: Draws, agents: Agents, count: int) -> NDArray[np.float64]:
        """Return the numbers of the next *count* pulls of *agents*, shape (m, count)."""
        first = int(self._numbers[agents[0]])
        block = first // draws.rows
        tables = [draws.table(number)[agents] for number in range(block, -(-(first + count) // draws.rows))]
        return np.concatenate(tables, axis=1)[:, first - block * draws.rows :][:, :count]

    def of_agent(self, found: PhaseRewards, row: int, slots: Slots, end: int) -> AwaitedRewards:
        """Return the rewards of one agent's phase.

        Args:
            found: Those of all.
            row: The agent's row.
            slots: The slots of its pulls, shape (a n,).
            end: The first slot after the phase.
        """
        delays = found.delays[row]
        slots = slots.reshape(delays.shape)
        known = np.where(delays == INFINITE, FOR_EVER, slots + np.maximum(-(-delays // self._slot), 1))
        until = min(max(int(known.max()), end), end + self._patience)
        rewards = None if found.rewards is None else found.rewards[row]
        return AwaitedRewards(
            until, slots, known, delays, found.censored[row], found.late[row], rewards, found.sums[row]
        )

    def note(self, awaited: AwaitedRewards, end: int, stop: int, back: Callable[[int], int] | None) -> None:
        """Count what becomes of the rewards of an agent's phase.

        Args:
            awaited: The rewards.
            end: The first slot after the phase.
            stop: The slot in which the agent has waited for them; the horizon: it does so to the end.
            back: Returns the first slot from one on in which the agent is up; None: it always is.
        """
        reported = ~(awaited.censored | awaited.late)
        slots, known, delays = (part[reported] for part in (awaited.slots, awaited.known_in, awaited.delays))
        self._pulls += reported.size
        self._censored += int(awaited.censored.sum())
        self._late += int(awaited.late.sum())
        if back is not None:
            times, places = np.unique(known, return_inverse=True)
            known = np.array([back(time) for time in times.tolist()], dtype=np.int64)[places]
        if stop < self._horizon:
            learned = known <= stop
            self._late += int((~learned).sum())
            self._waited += 1
            self._waits += stop - end
        else:
            learned = slots * self._slot + delays < self._horizon * self._slot
            self._outstanding += int((~learned).sum())
        self._learned += int(learned.sum())
        self._lags += int((known - slots)[learned].sum())
        before = np.arange(1, len(slots) + 1) - np.searchsorted(np.sort(known), slots + 1, side="right")
        self._most = max(self._most, int(before.max(initial=0)))

    def metrics(self, agents: int) -> dict[str, Metric]:
        """Return what became of the rewards of so many *agents*."""
        return {
            "feedback_slots": self._lags / self._learned if self._learned else None,
            "feedback_wait_slots": self._waits / self._waited if self._waited else None,
            "outstanding": self._outstanding / agents,
            "outstanding_most": self._most,
            "censored": self._censored / self._pulls if self._pulls else None,
            "feedback_late": self._late,
        }
