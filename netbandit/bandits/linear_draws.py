"""Compiled draws of the ``linear`` bandit: sets of actions, and rewards."""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.bandits.draws import beta, normal, uniform
from netbandit.util.jit import Floats, Integers, njit

LAWS = ("beta", "bernoulli", "gaussian")
"""The laws of the rewards, numbered as in :attr:`World.law`."""

WAYS = ("bands", "cube", "pool")
"""How sets are drawn, numbered as in :attr:`World.way`."""


class World(NamedTuple):
    """A linear bandit as a compiled loop sees it.

    Attributes:
        theta: The unknown vector, shape (d,).
        way: How sets are drawn, an index of `WAYS`.
        bands: Lowest and highest mean of the best arm, then of the others, shape (2, 2).
        pool: The vectors of which a set shows some, shape (P, d); no rows where there is no pool.
        order: The numbers from 0 to P - 1, in order between draws.
        law: The law of the rewards, an index of `LAWS`.
        deviation: Of Gaussian rewards.
        sets: States of the streams of the sets, shape (1 or M, 4).
        rewards: States of the streams of the rewards, shape (M, 4).
        means: The means of the sets drawn last, shape (1 or M, K).
    """

    theta: NDArray[np.float64]
    way: int
    bands: NDArray[np.float64]
    pool: NDArray[np.float64]
    order: NDArray[np.int64]
    law: int
    deviation: float
    sets: NDArray[np.uint64]
    rewards: NDArray[np.uint64]
    means: NDArray[np.float64]


@njit(cache=True)
def draw_set(world: World, source: int, actions: Floats) -> None:
    """Draw the next set of *source* into *actions*, shape (K, d), and its means into ``world.means[source]``."""
    if world.way == 0:
        _draw_from_bands(world, source, actions)
        return
    if world.way == 1:
        _draw_from_cube(world.sets[source], actions)
    else:
        _draw_from_pool(world, world.sets[source], actions)
    theta = world.theta
    means = world.means[source]
    count, dimension = actions.shape
    for arm in range(count):
        action = actions[arm]
        mean = 0.0
        for axis in range(dimension):
            mean += action[axis] * theta[axis]
        means[arm] = mean


@njit(cache=True)
def _draw_from_cube(state: NDArray[np.uint64], actions: Floats) -> None:
    """Draw every entry uniformly in [-1, 1] / sqrt(d)."""
    count, dimension = actions.shape
    half = 1.0 / sqrt(dimension)
    for arm in range(count):
        action = actions[arm]
        for axis in range(dimension):
            action[axis] = half * (2.0 * uniform(state) - 1.0)


@njit(cache=True)
def _draw_from_pool(world: World, state: NDArray[np.uint64], actions: Floats) -> None:
    """Draw vectors of the pool, none twice: the first steps of a shuffle, which are then undone."""
    order, pool = world.order, world.pool
    count, dimension = actions.shape
    size = len(order)
    places = np.empty(count, dtype=np.int64)
    for arm in range(count):
        place = min(arm + int(uniform(state) * (size - arm)), size - 1)
        places[arm] = place
        order[arm], order[place] = order[place], order[arm]
        action, vector = actions[arm], pool[order[arm]]
        for axis in range(dimension):
            action[axis] = vector[axis]
    for arm in range(count - 1, -1, -1):  # what others have drawn must not matter
        place = places[arm]
        order[arm], order[place] = order[place], order[arm]


@njit(cache=True)
def _draw_from_bands(world: World, source: int, actions: Floats) -> None:
    """Draw the means from their bands, and then actions that have them."""
    state = world.sets[source]
    theta = world.theta
    means = world.means[source]
    count, dimension = actions.shape
    square = 0.0
    for axis in range(dimension):
        square += theta[axis] * theta[axis]
    best = min(int(uniform(state) * count), count - 1)
    for arm in range(count):
        band = world.bands[0 if arm == best else 1]
        mean = band[0] + (band[1] - band[0]) * uniform(state)
        means[arm] = mean
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


@njit(cache=True)
def draw_reward(world: World, agent: int, mean: float) -> float:
    """Return the agent's next reward, of this *mean*."""
    state = world.rewards[agent]
    if world.law == 0:
        return beta(state, mean)
    if world.law == 1:
        return 1.0 if uniform(state) < mean else 0.0
    return mean + world.deviation * normal(state)


@njit(cache=True)
def draw_sets(world: World, agents: Integers, actions: Floats) -> None:
    """Draw the next set of each of *agents* into its part of *actions*, shape (M, K, d)."""
    for agent in agents:
        draw_set(world, agent, actions[agent])


@njit(cache=True)
def draw_rewards(world: World, fixed: bool, agents: Integers, arms: Integers, rewards: Floats, regrets: Floats) -> None:
    """Draw what *arms* of the sets drawn last pay *agents* into *rewards*, and their regret into *regrets*, shape (n,).

    Args:
        world: `World`.
        fixed: Whether all agents have the same set in all slots.
        agents: The agents, shape (n,).
        arms: The arm of each, shape (n,).
        rewards: Takes the rewards, shape (n,).
        regrets: Takes how much less than the best arm each pays on average, shape (n,).
    """
    for row in range(agents.size):
        agent = agents[row]
        means = world.means[0 if fixed else agent]
        rewards[row] = draw_reward(world, agent, means[arms[row]])
        regrets[row] = means.max() - means[arms[row]]
