"""A learner of one's own, in numpy over the whole population: seconds of 24 agents, alone, and sharing in every slot.

Beside it, what sharing costs: seconds more than alone, and microseconds of that a message. One item is put on each link
of a ring in either direction in every slot, or on each of a complete network. Then `ucb` as it is shipped, beside a
bare compiled loop of its decisions, rewards drawn ahead.
"""

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Done, Found, Row, Subject, point_of
from netbandit.learners.slots import Learner
from netbandit.learners.world import World

PROCESSES, VALUES, WARMUPS = 3, 1, 1
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

    def receive(
        self,
        slot: int,
        agents: NDArray[np.int64],
        sources: NDArray[np.int64],
        payloads: NDArray[np.float64],
        sent_slots: NDArray[np.int64],
    ) -> None:
        """Count what others have seen."""
        arms = payloads[:, 0].astype(np.int64)
        np.add.at(self.pulls, (agents, arms), 1)
        np.add.at(self.sums, (agents, arms), payloads[:, 1])


def subjects() -> dict[str, Subject]:
    """Return each way to share; what is alone stands before what is shared."""
    cases = {
        "alone": (f"{__name__}:Alone", "silent", "ring", HORIZON),
        "with neighbours on a ring": (f"{__name__}:Neighbours", "local", "ring", HORIZON),
        "alone, fewer slots": (f"{__name__}:Alone", "silent", "complete", COMPLETE_HORIZON),
        "with all others": (f"{__name__}:Neighbours", "local", "complete", COMPLETE_HORIZON),
        "ucb alone": ("ucb", "silent", "ring", COMPILED_HORIZON),
    }
    simulated: dict[str, Subject] = {name: partial(_simulated, *case) for name, case in cases.items()}
    return {**simulated, "a bare compiled loop of it": _bare_loop}


def rows(found: Found) -> list[Row]:
    """Return the seconds of each way to share, and what sharing costs."""
    table: list[Row] = []
    alone = 0.0
    for what, one in found.items():
        slots, sent = round(one.counts["slots"]), round(one.counts["messages"])
        alone = alone if sent else one.seconds
        row: Row = {"what": what, "slots": slots, "seconds": one.seconds, "µs a slot": 1e6 * one.seconds / slots}
        table.append({**row, "messages": sent, "µs a message": 1e6 * (one.seconds - alone) / sent if sent else ""})
    return table


_LOOPS: dict[str, Any] = {}


def _bare_loop() -> Done:
    """Play UCB1 in one compiled loop that keeps nothing but its counts."""
    if not _LOOPS:
        from numba import njit

        _LOOPS["bare"] = njit(_bare, error_model="numpy")
    means = np.random.default_rng(0).random(10)
    began = time.perf_counter()
    uniforms = np.stack([np.random.default_rng(agent).random(COMPILED_HORIZON) for agent in range(AGENTS)])
    _LOOPS["bare"](uniforms, means)
    return Done(time.perf_counter() - began, 1, {"slots": COMPILED_HORIZON, "messages": 0})


def _bare(uniforms: NDArray[np.float64], means: NDArray[np.float64]) -> float:
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


def _simulated(learner: str, protocol: str, family: str, horizon: int) -> Done:
    text = _SCENARIO.format(learner=learner, protocol=protocol, family=family, horizon=horizon, agents=AGENTS)
    point = point_of(text)
    began = time.perf_counter()
    metrics = point.simulation(0).run().metrics
    return Done(time.perf_counter() - began, 1, {"slots": horizon, "messages": metrics["messages"] or 0})
