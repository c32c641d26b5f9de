"""The aggregation of a round in which everybody takes part, and all are told what stands for the items."""

from collections.abc import Callable, Sequence

from simpy.events import EventPriority

from netbandit.network.clock import AGENTS
from netbandit.protocols.protocol import Item


class Everybody:
    """See `Aggregation`.

    Args:
        agents: The number of agents.
        together: Returns what stands for some items; how they are put together makes no difference.
    """

    turn: EventPriority = AGENTS
    """What a hop brings is there before the decision of its slot."""

    def __init__(self, agents: int, together: Callable[[Sequence[Item]], Item]) -> None:
        self._agents = range(agents)
        self._together = together

    def participants(self, round: int) -> Sequence[int]:
        """Return all agents."""
        return self._agents

    def aggregate(self, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return what stands for *items*, however many agents each of them stands for."""
        return self._together(items)

    def conclude(self, round: int, group: int, aggregate: Item) -> Item:
        """Return the *aggregate* itself."""
        return aggregate
