"""The regret of honest agents that play in phases: what liars pull is not counted."""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.learner import Commit, Phase
from netbandit.simulation.drivers.presence import Presence
from netbandit.simulation.regret import PhaseAccount, PullCounts
from netbandit.simulation.result import Curve, Metric


class HonestRegret:
    """Counts the pulls of agents in the slots in which they are up.

    Args:
        gaps: The gap of each arm to the best one, shape (K,).
        agents: The number M of agents.
        liars: The agents that lie.
        presence: When agents are up.
        horizon: T, in slots.
        together: Whether agents with one phase and one first slot play alike.
        idle: Whether agents that have committed pull no more.
    """

    def __init__(
        self,
        gaps: NDArray[np.float64],
        agents: int,
        liars: frozenset[int],
        presence: Presence,
        horizon: int,
        *,
        together: bool,
        idle: bool = False,
    ) -> None:
        self._idle = idle
        self._agents, self._liars, self._presence, self._horizon = agents, liars, presence, horizon
        self._together = together and presence.always
        self._account = PhaseAccount(gaps, horizon)
        # What each honest agent has pulled is asked for where some lie.
        self._pulls = PullCounts(agents, gaps, horizon) if liars else None
        self._is_best = gaps == 0
        self._best_lost = False

    def goes_on_with(self, agent: int, action: Phase | Commit) -> None:
        """Note if an honest agent goes on without the best arm, of which there may be several."""
        left = action.arm if isinstance(action, Commit) else action.arms
        self._best_lost |= agent not in self._liars and not self._is_best[left].any()

    def explore(self, epoch: tuple[int, int], agent: int, start: int, limit: int, phase: Phase) -> int:
        """Count what *agent* plays in a phase from slot *start* on; return the boundary at which it ends.

        A phase skips slots in which the agent is down, so its pulls are complete; those from slot *limit* on do not
        count.
        """
        if self._together:
            if agent not in self._liars:
                self._account.explore(start, epoch, phase.arms, phase.pulls)
                if self._pulls is not None:
                    self._pulls.explore(agent, start, phase.arms, phase.pulls)
            return start + phase.slots
        for index, arm in enumerate(phase.arms.tolist()):
            if start >= limit:  # what the horizon cuts may be of any length
                return start + phase.pulls * (len(phase.arms) - index)
            end = self._presence.end(agent, start, phase.pulls)
            self.exploit(agent, start, min(end, limit), arm)
            start = end
        return start

    def exploit(self, agent: int, start: int, end: int, arm: int) -> None:
        """Count the pulls of one *arm* by *agent* from slot *start* to before *end*."""
        if agent in self._liars:
            return
        for first, last in self._presence.spans(agent, start, end):
            self._account.exploit(first, last, arm)
            if self._pulls is not None:
                self._pulls.exploit(agent, first, last, arm)

    def total_and_curve(self) -> tuple[float, Curve]:
        """Return the regret of all honest agents at the horizon, and how it grew."""
        if not (self._presence.always or self._idle):
            honest = (agent for agent in range(self._agents) if agent not in self._liars)
            spans = (span for agent in honest for span in self._presence.spans(agent, 0, self._horizon))
            played = sum(last - first for first, last in spans)
            assert self._account.pulls == played, "every agent plays all slots in which it is up, and no other"
        return self._account.total_and_curve()

    @property
    def pulls(self) -> int:
        """All pulls of honest agents."""
        return self._account.pulls

    @property
    def best_lost(self) -> int:
        """1 if an honest agent went on without the best arm, else 0."""
        return int(self._best_lost)

    def metrics(self) -> dict[str, Metric]:
        """Return the regret of the worst-off honest agent, where some lie."""
        return {} if self._pulls is None else {"regret_worst_agent": self._pulls.most_regret()}
