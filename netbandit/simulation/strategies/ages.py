"""Age of information: how old the newest observation is that agents hold of one another in a time-varying graph."""

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.driver import ReplicationContext

MOST_AGENTS = 1_000
"""Ages are not tracked for more agents: they take a number per pair."""

Numbers = NDArray[np.int64]


class Ages:
    """Age of information for each ordered pair of agents, from the slot of the newest item that one holds of the other.

    In slot t an item from slot s has age t - s. Initially all agents count as having sent an item in slot -1. The age
    is 1 if all agents hear all others in the next slot.

    Args:
        agents: M.
        horizon: T.
    """

    def __init__(self, agents: int, horizon: int) -> None:
        self._agents, self._horizon = agents, horizon
        self._newest: Numbers = np.full(agents * agents, -1)
        self._younger = 0  # the reduction of the ages, summed over pairs and slots, by the items heard

    def hear(self, slot: int, listeners: Numbers, sources: Numbers, sent_at: Numbers) -> None:
        """Note which *sources* agents know of from *slot* on, by items *sent_at* which slots; all of shape (n,)."""
        pairs = listeners * self._agents + sources
        heard = np.unique(pairs)
        before = self._newest[heard]
        np.maximum.at(self._newest, pairs, sent_at)
        self._younger += int((self._newest[heard] - before).sum()) * (self._horizon - slot)

    def forget(self, slot: int, agent: int) -> None:
        """Note that *agent* knows nothing of the others from *slot* on."""
        own = self._newest[agent * self._agents : (agent + 1) * self._agents]
        self._younger -= int((own + 1).sum()) * max(0, self._horizon - slot)
        own[:] = -1

    @property
    def mean(self) -> float | None:
        """The mean age over slots and ordered pairs of different agents (slots); None if there is only one agent."""
        pairs = self._agents * (self._agents - 1)
        if not pairs:
            return None
        return (self._horizon + 1) / 2 - self._younger / (pairs * self._horizon)


def ages_of(context: ReplicationContext) -> Ages | None:
    """Return a tracker of ages; None if the graph is static or there are too many agents."""
    agents = context.topology.agents
    if context.network.faults.plan.contacts is None or agents > MOST_AGENTS:
        return None
    return Ages(agents, context.clock.horizon)


def age_figures(ages: Ages | None) -> dict[str, float | None]:
    """Return ``age_slots``, if it is tracked."""
    return {} if ages is None else {"age_slots": ages.mean}
