"""Compiled draws of the ``linear`` bandit: sets of actions, and rewards."""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from netbandit.bandits.draws import beta, normal, uniform

LAWS = ("beta", "bernoulli", "gaussian")
"""The laws of the rewards, numbered as in :attr:`World.law`."""


class World(NamedTuple):
    """A linear bandit as a compiled loop sees it.

    Attributes:
        theta: The unknown vector, shape (d,).
        bands: Lowest and highest mean of the best arm, then of the others, shape (2, 2).
        law: The law of the rewards, an index of `LAWS`.
        deviation: Of Gaussian rewards.
        sets: States of the streams of the sets, shape (1 or M, 4).
        rewards: States of the streams of the rewards, shape (M, 4).
        means: The means of the sets drawn last, shape (1 or M, K).
    """

    theta: NDArray[np.float64]
    bands: NDArray[np.float64]
    law: int
    deviation: float
    sets: NDArray[np.uint64]
    rewards: NDArray[np.uint64]
    means: NDArray[np.float64]


@njit(cache=True)
def draw_set(world, source, actions):  # type: ignore[no-untyped-def]
    """Draw the next set of *source* into *actions*, shape (K, d), and its means into ``world.means[source]``."""
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
def draw_reward(world, agent, mean):  # type: ignore[no-untyped-def]
    """Return the agent's next reward, of this *mean*."""
    state = world.rewards[agent]
    if world.law == 0:
        return beta(state, mean)
    if world.law == 1:
        return 1.0 if uniform(state) < mean else 0.0
    return mean + world.deviation * normal(state)


@njit(cache=True)
def draw_sets(world, agents, actions):  # type: ignore[no-untyped-def]
    """Draw the next set of each of *agents* into its part of *actions*, shape (M, K, d)."""
    for agent in agents:
        draw_set(world, agent, actions[agent])


@njit(cache=True)
def draw_rewards(world, fixed, agents, arms, rewards, missed):  # type: ignore[no-untyped-def]
    """Draw what *arms* of the sets drawn last pay *agents* into *rewards*, and their regret into *missed*, shape (n,).

    Args:
        world: `World`.
        fixed: Whether all agents have the same set in all slots.
        agents: The agents, shape (n,).
        arms: The arm of each, shape (n,).
        rewards: Takes the rewards, shape (n,).
        missed: Takes how much less than the best arm each pays on average, shape (n,).
    """
    for row in range(agents.size):
        agent = agents[row]
        means = world.means[0 if fixed else agent]
        rewards[row] = draw_reward(world, agent, means[arms[row]])
        missed[row] = means.max() - means[arms[row]]
