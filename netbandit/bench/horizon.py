"""The horizon: the same scenario of CDP-MAB at 10^5 and at 10^9 slots."""

import time
from statistics import median
from tempfile import TemporaryDirectory

from netbandit.bench.measure import Row, in_turns, median_ratio
from netbandit.bench.scenario import point_of
from netbandit.simulation.point import RunnablePoint

ROUNDS = 7

_SCENARIO = """
run = { horizon = 100_000 }
topology = { family = "star", agents = 50 }
bandit = { kind = "bernoulli", arms = 100, seed = 0 }
learner = { kind = "elimination", epsilon = 1.0 }
protocol = { kind = "master-worker" }
"""


def bench() -> list[Row]:
    """Return seconds for both horizons, and their ratio."""
    with TemporaryDirectory() as folder:
        short, long = (point_of(_SCENARIO, folder, f"run.horizon={horizon}") for horizon in (10**5, 10**9))
    few, many = in_turns([lambda: _seconds(short), lambda: _seconds(long)], ROUNDS)
    return [
        {"horizon": 10**5, "seconds": median(few), "ratio": 1.0},
        {"horizon": 10**9, "seconds": median(many), "ratio": median_ratio(many, few)},
    ]


def _seconds(point: RunnablePoint) -> float:
    """Return the seconds of ten replications."""
    began = time.perf_counter()
    for replication in range(10):
        point.simulation(replication).run()
    return time.perf_counter() - began
