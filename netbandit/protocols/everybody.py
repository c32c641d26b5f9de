"""The aggregation of a round in which all agents take part and all receive the aggregate."""

from collections.abc import Callable, Sequence

from simpy.events import EventPriority

from netbandit.network.clock import AGENTS
from netbandit.protocols.protocol import Item

Together = Callable[[Sequence[Item], Sequence[int] | None], Item]
"""Returns the aggregate of items, each of which may itself stand for as many as the second argument says."""


class Everybody:
    """See `Aggregation`.

    Args:
        agents: The number of agents.
        together: Returns what stands for some items, given how many agents' items each of them stands for (None: one);
            how they are put together makes no difference.
    """

    turn: EventPriority = AGENTS
    """Arrivals are processed before the decisions of their slot."""
    per_agent: bool = False
    """All conclude alike."""

    def __init__(self, agents: int, together: Together) -> None:
        self._agents = range(agents)
        self._together = together

    def participants(self, round: int) -> Sequence[int]:
        """Return all agents."""
        return self._agents

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return the aggregate of *items*."""
        return self._together(items, weights)

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Return the *aggregate* itself."""
        return aggregate
