"""The horizon: the same scenario of CDP-MAB at 10^5 and at 10^9 slots."""

import time
from functools import partial

from benchmarks.measure import Done, Found, Row, Subject, median_ratio, point_of

PROCESSES, VALUES, WARMUPS = 3, 3, 1
HORIZONS = (10**5, 10**9)

_SCENARIO = """
run = { horizon = 100_000 }
topology = { family = "star", agents = 50 }
bandit = { kind = "bernoulli", arms = 100, seed = 0 }
learner = { kind = "elimination", epsilon = 1.0 }
protocol = { kind = "master-worker" }
"""


def subjects() -> dict[str, Subject]:
    """Return ten replications of either."""
    return {str(horizon): partial(_play, horizon) for horizon in HORIZONS}


def rows(found: Found) -> list[Row]:
    """Return seconds for both horizons, and their ratio."""
    short = found[str(HORIZONS[0])]
    both = [(horizon, found[str(horizon)]) for horizon in HORIZONS]
    return [{"horizon": horizon, "seconds": one.seconds, "ratio": median_ratio(one, short)} for horizon, one in both]


def _play(horizon: int) -> Done:
    point = point_of(_SCENARIO, f"run.horizon={horizon}")
    began = time.perf_counter()
    for replication in range(10):
        point.simulation(replication).run()
    return Done(time.perf_counter() - began)
