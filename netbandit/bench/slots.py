"""A learner of one's own, in numpy over the whole population: seconds of 24 agents, alone, and sharing in every slot.

Beside it, what sharing costs: seconds more than alone, and microseconds of that a message. One item is put on each link
of a ring in either direction in every slot, or on each of a complete network.
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
from netbandit.simulation.parts import PointConfig

ROUNDS = 3
AGENTS = 24
HORIZON = 10_000
COMPLETE_HORIZON = 500

_SCENARIO = """
run = {{ horizon = {horizon} }}
topology = {{ family = "{family}", agents = {agents} }}
bandit = {{ kind = "bernoulli", arms = 10 }}
learner = {{ kind = "netbandit.bench.slots:{learner}" }}
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
        ("alone", "Alone", "silent", "ring", HORIZON),
        ("with neighbours on a ring", "Neighbours", "local", "ring", HORIZON),
        ("alone, fewer slots", "Alone", "silent", "complete", COMPLETE_HORIZON),
        ("with all others", "Neighbours", "local", "complete", COMPLETE_HORIZON),
    ]
    messages: dict[str, int] = {}
    with TemporaryDirectory() as folder:
        subjects: list[Callable[[], float]] = [
            partial(_seconds, name, _point(folder, learner, protocol, family, horizon), messages)
            for name, learner, protocol, family, horizon in cases
        ]
    seconds = [median(figures) for figures in in_turns(subjects, ROUNDS)]
    rows: list[Row] = []
    for place, (name, _, _, _, horizon) in enumerate(cases):
        more = seconds[place] - seconds[place - place % 2]
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
    return rows


def _point(folder: str, learner: str, protocol: str, family: str, horizon: int) -> PointConfig:
    text = _SCENARIO.format(learner=learner, protocol=protocol, family=family, horizon=horizon, agents=AGENTS)
    return point_of(text, folder)


def _seconds(name: str, point: PointConfig, messages: dict[str, int]) -> float:
    began = time.perf_counter()
    metrics = point.simulation(0).run().metrics
    passed = time.perf_counter() - began
    count = metrics["messages"]
    assert isinstance(count, int)
    messages[name] = count
    return passed
