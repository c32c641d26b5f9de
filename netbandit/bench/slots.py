"""A learner of one's own, in numpy over the whole population: seconds of 24 agents, alone, and sharing in every slot.

Beside it, what sharing costs: seconds more than alone, and microseconds of that a message. One item is put on each link
of a ring in either direction in every slot, or on each of a complete network. Then `ucb` as it is shipped, beside a
bare compiled loop of its decisions, rewards drawn ahead.
"""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netbandit.bench.measure import Row, in_turns
from netbandit.bench.scenario import point_of
from netbandit.learners.slots import Learner
from netbandit.learners.world import World
from netbandit.simulation.point import RunnablePoint

ROUNDS = 3
AGENTS = 24
HORIZON = 10_000
COMPLETE_HORIZON = 500
COMPILED_HORIZON = 100_000

_SCENARIO = """
run = {{ horizon = {horizon} }}
topology = {{ family = "{family}", agents = {agents} }}
bandit = {{ kind = "bernoulli", arms = 10 }}
learner = {{ kind = "{learner}" }}
protocol = {{ kind = "{protocol}" }}
"""


class Alone(Learner):
    """UCB1."""

    def start(self, world: World, agents: int, rng: np.random.Generator) -> None:
        """Know nothing yet."""
        self.pulls, self.sums = np.zeros((2, agents, world.arms))

    def choose(self, slot: int, agents: NDArray[np.int64]) -> NDArray[Any]:
        """Return the arm with the largest index."""
        pulls = np.maximum(self.pulls[agents], 1e-9)
        return np.asarray(np.argmax(self.sums[agents] / pulls + np.sqrt(2 * np.log(slot + 1) / pulls), axis=1))

    def learn(self, slot: int, agents: NDArray[np.int64], arms: NDArray[Any], rewards: NDArray[Any]) -> None:
        """Count."""
        self.pulls[agents, arms] += 1
        self.sums[agents, arms] += rewards
        self.seen = np.stack([arms, rewards], axis=1)


class Neighbours(Alone):
    """UCB1 with all that neighbours have seen."""

    def share(self, slot: int, agents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Tell what was seen in this slot."""
        return self.seen

    def hear(
        self,
        slot: int,
        agents: NDArray[np.int64],
        sources: NDArray[np.int64],
        told: NDArray[np.float64],
        said: NDArray[np.int64],
    ) -> None:
        """Count what others have seen."""
        arms = told[:, 0].astype(np.int64)
        np.add.at(self.pulls, (agents, arms), 1)
        np.add.at(self.sums, (agents, arms), told[:, 1])


def bench() -> list[Row]:
    """Return the seconds of each way to share, and what sharing costs."""
    cases = [
        ("alone", f"{__name__}:Alone", "silent", "ring", HORIZON),
        ("with neighbours on a ring", f"{__name__}:Neighbours", "local", "ring", HORIZON),
        ("alone, fewer slots", f"{__name__}:Alone", "silent", "complete", COMPLETE_HORIZON),
        ("with all others", f"{__name__}:Neighbours", "local", "complete", COMPLETE_HORIZON),
        ("ucb alone", "ucb", "silent", "ring", COMPILED_HORIZON),
    ]
    messages: dict[str, int] = {}
    with TemporaryDirectory() as folder:
        subjects: list[Callable[[], float]] = [
            partial(_seconds, name, _point(folder, learner, protocol, family, horizon), messages)
            for name, learner, protocol, family, horizon in cases
        ]
    *seconds, bare = [median(figures) for figures in in_turns([*subjects, _bare_seconds], ROUNDS)]
    rows: list[Row] = []
    for place, (name, _, _, _, horizon) in enumerate(cases):
        more = seconds[place] - seconds[place - place % 2]  # alone stands before what is shared
        sent = messages[name]
        rows.append(
            {
                "what": name,
                "slots": horizon,
                "seconds": seconds[place],
                "µs a slot": 1e6 * seconds[place] / horizon,
                "messages": sent,
                "µs a message": 1e6 * more / sent if sent else "",
            }
        )
    rows.append(
        {
            "what": "a bare compiled loop of it",
            "slots": COMPILED_HORIZON,
            "seconds": bare,
            "µs a slot": 1e6 * bare / COMPILED_HORIZON,
            "messages": 0,
            "µs a message": "",
        }
    )
    return rows


_LOOPS: dict[str, Any] = {}


def _bare_seconds() -> float:
    """Play UCB1 in one compiled loop that keeps nothing but its counts."""
    if not _LOOPS:
        from numba import njit

        _LOOPS["bare"] = njit(_bare, error_model="numpy")
    means = np.random.default_rng(0).random(10)
    began = time.perf_counter()
    uniforms = np.stack([np.random.default_rng(agent).random(COMPILED_HORIZON) for agent in range(AGENTS)])
    _LOOPS["bare"](uniforms, means)
    return time.perf_counter() - began


def _bare(uniforms, means):  # type: ignore[no-untyped-def]
    agents, horizon = uniforms.shape
    arms = len(means)
    pulls = np.zeros((agents, arms))
    sums = np.zeros((agents, arms))
    regret = 0.0
    for slot in range(horizon):
        width = 0.5 * np.sqrt(8 * np.log(max(slot, 1)))
        for agent in range(agents):
            best = slot
            if slot >= arms:
                highest = -np.inf
                for arm in range(arms):
                    index = sums[agent, arm] / pulls[agent, arm] + width / np.sqrt(pulls[agent, arm])
                    if index > highest:
                        highest = index
                        best = arm
            pulls[agent, best] += 1.0
            if uniforms[agent, slot] < means[best]:
                sums[agent, best] += 1.0
            regret += means.max() - means[best]
    return regret


def _point(folder: str, learner: str, protocol: str, family: str, horizon: int) -> RunnablePoint:
    text = _SCENARIO.format(learner=learner, protocol=protocol, family=family, horizon=horizon, agents=AGENTS)
    return point_of(text, folder)


def _seconds(name: str, point: RunnablePoint, messages: dict[str, int]) -> float:
    began = time.perf_counter()
    metrics = point.simulation(0).run().metrics
    passed = time.perf_counter() - began
    count = metrics["messages"]
    assert isinstance(count, int)
    messages[name] = count
    return passed
