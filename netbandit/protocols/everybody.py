"""The aggregation of a round in which everybody takes part, and what is on the way is as what comes out."""

from collections.abc import Callable, Sequence

from netbandit.protocols.protocol import Item


class Everybody:
    """See `Aggregation`.

    Args:
        agents: The number of agents.
        combine: Returns what stands for some items; how they are put together makes no difference.
    """

    def __init__(self, agents: int, combine: Callable[[Sequence[Item]], Item]) -> None:
        self._agents = range(agents)
        self.combine = combine

    def participants(self, round: int) -> Sequence[int]:
        """Return all agents."""
        return self._agents

    def conclude(self, round: int, group: int, items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
        """Return what stands for *items*."""
        return self.combine(items)
