"""Decisions: microseconds of one of FedUCB or OFUL inside a whole simulation, beside loops without any network.

Three loops make the decisions of as many agents that learn alone, with the same bandit: a whole simulation, network
included; a loop in Python over numpy; and a compiled loop as one writes it for this alone, which scores every arm with
the inverse and updates that by Sherman and Morrison's formula. Columns: microseconds, times what the bare loop takes,
times as fast as numpy, synchronisations.
"""

import time
from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Done, Found, Row, Subject, median_ratio, point_of
from netbandit.bandits.linear import Linear
from netbandit.util.streams import Streams

if TYPE_CHECKING:
    from netbandit.bandits.linear_draws import World

PROCESSES, VALUES, WARMUPS = 3, 2, 1
AGENTS = 100
HORIZON = 10_000
NUMPY_AGENTS = 10
NUMPY_HORIZON = 1_000
WIDTH = 0.2

_SCENARIO = f"""
run = {{ horizon = {HORIZON} }}
topology = {{ family = "star", agents = {AGENTS} }}
bandit = {{ kind = "linear", dimension = 10, arms = 10 }}
learner = {{ kind = "feducb", epsilon = inf, threshold = 100, beta_scale = 0.1 }}
protocol = {{ kind = "master-worker" }}
"""

_ONE = ("run.activity=one", f"run.horizon={AGENTS * HORIZON}")

_CASES = {
    "not private, threshold 100": (),
    "private, the paper's threshold": ("learner.epsilon=1.0", "learner.threshold=paper"),
    "private, threshold 100": ("learner.epsilon=1.0",),
    "not private, half the agents": (f"topology.agents={AGENTS // 2}",),
    "not private, twice the slots": (f"run.horizon={2 * HORIZON}",),
    "alone": ("protocol.kind=silent",),
    "one agent a slot, answered": (*_ONE, "learner={kind='oful', radius=0.2}", "protocol={kind='parameter-server'}"),
    "one agent a slot, pushed": (
        *_ONE,
        "learner={kind='oful', radius=0.2, upload=5}",
        "protocol={kind='parameter-server', answer='lagging'}",
    ),
}


_BARE, _IN_NUMPY = "a bare compiled loop", "a loop over numpy"


def subjects() -> dict[str, Subject]:
    """Return all loops; a unit of work is a decision."""
    simulated: dict[str, Subject] = {name: partial(_simulated, *overrides) for name, overrides in _CASES.items()}
    return {**simulated, _BARE: _compiled, _IN_NUMPY: _numpy}


def rows(found: Found) -> list[Row]:
    """Return the microseconds a decision of all loops, beside numpy's and the bare compiled one."""
    return [
        {
            "what": name,
            "µs": 1e6 * one.seconds,
            "of bare": median_ratio(one, found[_BARE]),
            "faster": median_ratio(found[_IN_NUMPY], one),
            "syncs": round(one.counts["rounds"]) if one.counts else "",
        }
        for name, one in found.items()
    ]


def _simulated(*overrides: str) -> Done:
    point = point_of(_SCENARIO, *overrides)
    began = time.perf_counter()
    metrics = point.simulation(0).run().metrics
    passed = time.perf_counter() - began
    decisions = metrics.get("decisions", point.scenario.run.horizon * point.topology(0).agents)
    assert isinstance(decisions, int)
    return Done(passed, decisions, {"rounds": metrics["rounds"] or 0})


def _world(agents: int) -> Linear:
    streams = Streams(0, 0)
    world = Linear(dimension=10, arms=10)
    world.start(agents, streams.generator)
    world.begin(streams.generator)
    return world


def _numpy() -> Done:
    """Play with numpy in Python."""
    world = _world(NUMPY_AGENTS)
    actions = world.actions(np.arange(1))[0]
    inverses = [np.eye(10) for _ in range(NUMPY_AGENTS)]
    responses = [np.zeros(10) for _ in range(NUMPY_AGENTS)]
    generators = [np.random.default_rng(agent) for agent in range(NUMPY_AGENTS)]
    means = actions @ world.vector
    regret = 0.0
    began = time.perf_counter()
    for _ in range(NUMPY_HORIZON):
        for agent, rng in enumerate(generators):
            inverse, response = inverses[agent], responses[agent]
            widths = np.einsum("ki,ij,kj->k", actions, inverse, actions)
            arm = int(np.argmax(actions @ (inverse @ response) + WIDTH * np.sqrt(widths)))
            reward = rng.beta(means[arm], 1 - means[arm])
            action = actions[arm]
            product = inverse @ action
            inverse -= np.outer(product, product) / (1 + action @ product)
            response += reward * action
            regret += means.max() - means[arm]
    return Done(time.perf_counter() - began, NUMPY_HORIZON * NUMPY_AGENTS)


_LOOPS: dict[str, Any] = {}


def _compiled() -> Done:
    """Play in one compiled loop."""
    if "bare" not in _LOOPS:
        from numba import njit

        from netbandit.bandits.linear_draws import beta_reward

        _LOOPS["reward"] = njit(beta_reward)
        _LOOPS["bare"] = njit(_bare)
    world = _world(AGENTS)
    began = time.perf_counter()
    _LOOPS["bare"](world.world, world.actions(np.arange(1))[0], _LOOPS["reward"], HORIZON, AGENTS)
    return Done(time.perf_counter() - began, HORIZON * AGENTS)


def _bare(
    world: "World", actions: NDArray[np.float64], draw_reward: Callable[..., float], horizon: int, agents: int
) -> float:
    count, dimension = actions.shape
    inverses = np.zeros((agents, dimension, dimension))
    estimates = np.zeros((agents, dimension))
    product = np.zeros(dimension)
    means = world.means[0]
    regret = 0.0
    for agent in range(agents):
        for row in range(dimension):
            inverses[agent, row, row] = 1.0
    for _ in range(horizon):
        for agent in range(agents):
            inverse = inverses[agent]
            estimate = estimates[agent]
            best = 0
            highest = -np.inf
            for arm in range(count):
                fit = 0.0
                width = 0.0
                for row in range(dimension):
                    fit += actions[arm, row] * estimate[row]
                    partial_sum = 0.0
                    for column in range(dimension):
                        partial_sum += inverse[row, column] * actions[arm, column]
                    width += actions[arm, row] * partial_sum
                score = fit + WIDTH * sqrt(width)
                if score > highest:
                    highest = score
                    best = arm
            reward = draw_reward(world, agent, means[best])
            width = 0.0
            expected = 0.0
            for row in range(dimension):
                product[row] = 0.0
                for column in range(dimension):
                    product[row] += inverse[row, column] * actions[best, column]
                width += actions[best, row] * product[row]
                expected += actions[best, row] * estimate[row]
            for row in range(dimension):
                for column in range(dimension):
                    inverse[row, column] -= product[row] * product[column] / (1.0 + width)
                estimate[row] += (reward - expected) / (1.0 + width) * product[row]
            regret += means.max() - means[best]
    return regret
