"""A large round: DDP-MAB on a complete graph of 500, one round of `gis`, in a process of its own."""

import json
import resource
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

from netbandit.bench.measure import Row
from netbandit.bench.scenario import point_of

ROUNDS = 5

_SCENARIO = """
run = { horizon = 10_000 }
topology = { family = "complete", agents = 500 }
bandit = { kind = "bernoulli", arms = 10, seed = 0 }
learner = { kind = "elimination", rounds = 1, gap = 0.5 }
protocol = { kind = "gis" }
"""


def bench() -> list[Row]:
    """Return the median run by seconds: messages, seconds, peak memory, and the share spent in SimPy's loop."""
    command = [sys.executable, "-m", "netbandit.bench.rounds"]
    rows: list[Row] = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(ROUNDS)
    ]
    return [sorted(rows, key=lambda row: row["seconds"])[ROUNDS // 2]]


def _once() -> Row:
    """Run it once plainly, for time and memory, and once under a profiler, for the share."""
    with TemporaryDirectory() as folder:
        point = point_of(_SCENARIO, folder)
    point.topology(0)
    began = time.perf_counter()
    result = point.simulation(0).run()
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    messages = result.metrics["messages"]
    assert messages is not None
    return {"messages": messages, "seconds": seconds, "peak_mib": peak, "in_simpy": _share_in_simpy()}


def _share_in_simpy() -> float:
    """Return the share of a second run that a profiler finds in SimPy's own functions, callees not included."""
    import cProfile
    import pstats

    with TemporaryDirectory() as folder:
        point = point_of(_SCENARIO, folder)
    point.topology(0)
    profile = cProfile.Profile()
    profile.runcall(point.simulation(0).run)
    statistics = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # not in the stubs
    own = {where: figures[2] for where, figures in statistics.items()}
    in_simpy = sum(seconds for (file, _, _), seconds in own.items() if "simpy" in file)
    return float(in_simpy / sum(own.values()))


if __name__ == "__main__":
    print(json.dumps(_once()))
