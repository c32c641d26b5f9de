"""Random numbers of agents, drawn ahead in blocks, of which each decision takes the next ones."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.bandit import GeneratorOf

BLOCK = 1_024
"""Decisions per block of random numbers, unless there are very many agents."""
MOST_NUMBERS = 1 << 23
"""The most numbers drawn at once: 64 MB."""

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def uniform(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Draw *count* numbers from [0, 1)."""
    return rng.random(count)


class DecisionNumbers:
    """Numbers for agents that may skip slots: number k of an agent's stream decides its k-th decision.

    Args:
        generator: Provides the streams.
        agents: The number M of agents.
        draw: Draws a given count of the next numbers of a stream.
        width: How many numbers a decision takes; None: one, and there is no axis for it.
        purpose: The purpose of the streams; the index is the agent.
    """

    def __init__(
        self, generator: GeneratorOf, agents: int, draw: Draw, width: int | None = None, purpose: str = "rewards"
    ) -> None:
        self._generators = [generator(purpose, agent) for agent in range(agents)]
        self._draw = draw
        self._width = width or 1
        count = max(1, min(BLOCK, MOST_NUMBERS // max(1, agents * self._width)))
        self._block = np.empty((agents, count, *(() if width is None else (width,))))
        self._places = np.full(agents, count)

    def of(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the next numbers of *agents*, whatever the *slot*, each named once, shape (n,) or (n, width)."""
        count = self._block.shape[1]
        for agent in agents[self._places[agents] == count].tolist():
            numbers = self._draw(self._generators[agent], count * self._width)
            self._block[agent] = numbers.reshape(self._block.shape[1:])
            self._places[agent] = 0
        found = self._block[agents, self._places[agents]]
        self._places[agents] += 1
        return np.asarray(found)
