"""How old the newest thing is that agents have heard of one another, where links come and go."""

import numpy as np
from numpy.typing import NDArray

from netbandit.simulation.driver import ReplicationContext

MOST_AGENTS = 1_000
"""For more agents nobody asks: a number is kept of each pair."""

Numbers = NDArray[np.int64]


class Ages:
    """Of each pair of agents, from which slot the newest thing is that the one has heard of the other.

    In slot t that from slot s is t - s old; before anything is heard, it is as if all had told something in slot -1. So
    it is 1 where all hear of all in the next slot.

    Args:
        agents: M.
        horizon: T.
    """

    def __init__(self, agents: int, horizon: int) -> None:
        self._agents, self._horizon = agents, horizon
        self._newest: Numbers = np.full(agents * agents, -1)
        self._younger = 0  # what has been heard takes so much off the ages of all pairs and slots

    def hear(self, slot: int, listeners: Numbers, sources: Numbers, said: Numbers) -> None:
        """Note what agents know from *slot* on: of whom, and from which slot; all of shape (n,)."""
        pairs = listeners * self._agents + sources
        heard = np.unique(pairs)
        before = self._newest[heard]
        np.maximum.at(self._newest, pairs, said)
        self._younger += int((self._newest[heard] - before).sum()) * (self._horizon - slot)

    def forget(self, slot: int, agent: int) -> None:
        """Note that *agent* knows nothing of the others from *slot* on."""
        own = self._newest[agent * self._agents : (agent + 1) * self._agents]
        self._younger -= int((own + 1).sum()) * max(0, self._horizon - slot)
        own[:] = -1

    @property
    def mean(self) -> float | None:
        """The mean age over slots and ordered pairs of different agents (slots); None: there is one agent alone."""
        pairs = self._agents * (self._agents - 1)
        if not pairs:
            return None
        return (self._horizon + 1) / 2 - self._younger / (pairs * self._horizon)


def ages_of(context: ReplicationContext) -> Ages | None:
    """Return the ages of what agents hear; None: links neither come nor go, or there are too many agents."""
    agents = context.topology.agents
    if context.network.faults.plan.contacts is None or agents > MOST_AGENTS:
        return None
    return Ages(agents, context.clock.horizon)


def age_figures(ages: Ages | None) -> dict[str, float | None]:
    """Return ``age_slots``, where it is known."""
    return {} if ages is None else {"age_slots": ages.mean}
