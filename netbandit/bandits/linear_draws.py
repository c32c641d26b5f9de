"""Draws of the ``linear`` bandit, sets of actions and rewards: steps, which are compiled as parts of loops."""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.draws import beta, normal, uniform
from netbandit.util.jit import Floats


class World(NamedTuple):
    """A linear bandit as a compiled loop sees it.

    Attributes:
        theta: The unknown vector, shape (d,).
        bands: Lowest and highest mean of the best arm, then of the others, shape (2, 2).
        pool: The vectors of which a set shows some, shape (P, d); no rows where there is no pool.
        order: The numbers from 0 to P - 1, in order between draws.
        deviation: Of Gaussian rewards.
        sets: States of the streams of the sets, shape (1 or M, 4).
        rewards: States of the streams of the rewards, shape (M, 4).
        means: The means of the sets drawn last, shape (1 or M, K).
        best: The largest of each, shape (1 or M,).
    """

    theta: NDArray[np.float64]
    bands: NDArray[np.float64]
    pool: NDArray[np.float64]
    order: NDArray[np.int64]
    deviation: float
    sets: NDArray[np.uint64]
    rewards: NDArray[np.uint64]
    means: NDArray[np.float64]
    best: NDArray[np.float64]


def _note_means(world: World, source: int, actions: Floats) -> None:
    """Write the means of *actions*, shape (K, d), and the best of them."""
    theta = world.theta
    means = world.means[source]
    count, dimension = actions.shape
    best = -np.inf
    for arm in range(count):
        action = actions[arm]
        mean = 0.0
        for axis in range(dimension):
            mean += action[axis] * theta[axis]
        means[arm] = mean
        best = max(best, mean)
    world.best[source] = best


def draw_from_cube(world: World, source: int, actions: Floats) -> None:
    """Draw every entry uniformly in [-1, 1] / sqrt(d); see `SETS`."""
    state = world.sets[source]
    count, dimension = actions.shape
    half = 1.0 / sqrt(dimension)
    for arm in range(count):
        action = actions[arm]
        for axis in range(dimension):
            action[axis] = half * (2.0 * uniform(state) - 1.0)
    _note_means(world, source, actions)


def draw_from_pool(world: World, source: int, actions: Floats) -> None:
    """Draw vectors of the pool, none twice: the first steps of a shuffle, which are then undone; see `SETS`."""
    state = world.sets[source]
    order, pool = world.order, world.pool
    count, dimension = actions.shape
    size = len(order)
    places = np.empty(count, dtype=np.int64)
    for arm in range(count):
        index = min(arm + int(uniform(state) * (size - arm)), size - 1)
        places[arm] = index
        order[arm], order[index] = order[index], order[arm]
        action, vector = actions[arm], pool[order[arm]]
        for axis in range(dimension):
            action[axis] = vector[axis]
    for arm in range(count - 1, -1, -1):  # what others have drawn must not matter
        index = places[arm]
        order[arm], order[index] = order[index], order[arm]
    _note_means(world, source, actions)


def draw_from_bands(world: World, source: int, actions: Floats) -> None:
    """Draw the means from their bands, and then actions that have them; see `SETS`."""
    state = world.sets[source]
    theta = world.theta
    means = world.means[source]
    count, dimension = actions.shape
    square = 0.0
    for axis in range(dimension):
        square += theta[axis] * theta[axis]
    index = min(int(uniform(state) * count), count - 1)
    best = -np.inf
    for arm in range(count):
        band = world.bands[0 if arm == index else 1]
        mean = band[0] + (band[1] - band[0]) * uniform(state)
        means[arm] = mean
        best = max(best, mean)
        action = actions[arm]
        along = mean / square
        if dimension == 1:
            action[0] = along * theta[0]
            continue
        # A direction at right angles to theta, and a length uniform in the ball that is left.
        dot = 0.0
        for axis in range(dimension):
            action[axis] = normal(state)
            dot += action[axis] * theta[axis]
        length = 0.0
        for axis in range(dimension):
            action[axis] -= dot / square * theta[axis]
            length += action[axis] * action[axis]
        room = sqrt(max(0.0, 1.0 - mean * mean / square))
        scale = room * uniform(state) ** (1.0 / (dimension - 1)) / sqrt(length)
        for axis in range(dimension):
            action[axis] = along * theta[axis] + scale * action[axis]
    world.best[source] = best


SETS = {"bands": draw_from_bands, "cube": draw_from_cube, "pool": draw_from_pool}
"""What draws the next set of a source into its actions, shape (K, d), and notes its means."""


def beta_reward(world: World, agent: int, mean: float) -> float:
    """Return the agent's next reward, see `REWARDS`: Beta(m, 1 - m)."""
    return beta(world.rewards[agent], mean)


def bernoulli_reward(world: World, agent: int, mean: float) -> float:
    """Return the agent's next reward, see `REWARDS`: Bernoulli(m)."""
    return 1.0 if uniform(world.rewards[agent]) < mean else 0.0


def gaussian_reward(world: World, agent: int, mean: float) -> float:
    """Return the agent's next reward, see `REWARDS`: Gaussian around m."""
    return mean + world.deviation * normal(world.rewards[agent])


REWARDS = {"beta": beta_reward, "bernoulli": bernoulli_reward, "gaussian": gaussian_reward}
"""What draws the next reward of an agent, of a mean m, by its law."""
