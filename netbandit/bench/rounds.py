"""Large rounds, with everything counted: of `gis`, `gossip` and `sink`, over up to 10^4 agents, each in a process."""

import cProfile
import json
import pstats
import subprocess
import sys
import time
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import NamedTuple

from netbandit.bench.measure import Row
from netbandit.bench.scenario import point_of
from netbandit.memory import peak
from netbandit.simulation.choosing.network_loops import worth_it_from

ROUNDS = 5

_COMMON = """
run = { horizon = 10_000 }
bandit = { kind = "bernoulli", arms = 10, seed = 0 }
learner = { kind = "elimination", rounds = 1, gap = 0.5 }
"""

_RANDOM_LATENCY = 'links.peer.latency = { uniform = ["0.5 ms", "1.5 ms"] }'


class Case(NamedTuple):
    """A round.

    Attributes:
        name: What the table calls it.
        scenario: The tables that differ from case to case.
        engine: ``compiled``, or ``event`` if compiled loops are not to be used.
        times: How often it is run; the median counts.
    """

    name: str
    scenario: str
    engine: str
    times: int


_COMPLETE = 'topology = { family = "complete", agents = 500 }\nprotocol = { kind = "gis" }'
_EVERYBODY_HEARS = f"""
topology = {{ family = "random", agents = 1_000, mean_degree = 6 }}
{_RANDOM_LATENCY}
protocol = {{ kind = "gis", timing = "asynchronous" }}
"""
_DEEP = f"""
topology = {{ family = "grid", agents = 10_000 }}
{_RANDOM_LATENCY}
protocol = {{ kind = "sink", timing = "asynchronous" }}
"""
_MANY = """
topology = {{ family = "random", agents = 10_000, mean_degree = 20 }}
protocol = {{ kind = "{kind}" }}
"""

CASES: Mapping[str, Case] = {
    "complete": Case("gis, complete of 500", _COMPLETE, "compiled", ROUNDS),
    "complete-event": Case("gis, complete of 500", _COMPLETE, "event", 1),
    "everybody-hears": Case("gis, 1,000 of degree 6, item by item", _EVERYBODY_HEARS, "compiled", ROUNDS),
    "gossip": Case("gossip, 10,000 of degree 20", _MANY.format(kind="gossip"), "compiled", 1),
    "sink-deep": Case("sink, grid of 10,000, item by item", _DEEP, "event", 1),
    "sink": Case("sink, 10,000 of degree 20", _MANY.format(kind="sink"), "event", 1),
}


def bench() -> list[Row]:
    """Return for each case the median run by seconds: messages, seconds, peak memory, and the share in SimPy's loop."""
    rows: list[Row] = []
    for key, case in CASES.items():
        profiled = _in_a_process(key, "profiled")  # first: a loop that this machine has not compiled yet then is
        runs = [_in_a_process(key) for _ in range(case.times)]
        rows.append({**sorted(runs, key=lambda row: row["seconds"])[case.times // 2], **profiled})
    return rows


def _in_a_process(*arguments: str) -> Row:
    command = [sys.executable, "-m", "netbandit.bench.rounds", *arguments]
    row: Row = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return row


def measure(case: Case) -> Row:
    """Run it once, for time and memory."""
    with TemporaryDirectory() as folder, worth_it_from(0 if case.engine == "compiled" else sys.maxsize):
        point = point_of(_COMMON + case.scenario, folder)
        point.topology(0)
        began = time.perf_counter()
        result = point.simulation(0).run()
        seconds = time.perf_counter() - began
        most = peak() / 2**20
        messages = result.metrics["messages"]
        assert messages is not None
        row: Row = {"round": case.name, "engine": case.engine, "messages": messages, "seconds": seconds}
        return {**row, "peak_mib": most}


def measure_profiled(case: Case) -> Row:
    """Run it once under a profiler: the share that this finds in SimPy's own functions, callees not included."""
    with TemporaryDirectory() as folder, worth_it_from(0 if case.engine == "compiled" else sys.maxsize):
        point = point_of(_COMMON + case.scenario, folder)
        point.topology(0)
        profile = cProfile.Profile()
        profile.runcall(point.simulation(0).run)
    statistics = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # not in the stubs
    own = {where: figures[2] for where, figures in statistics.items()}
    in_simpy = sum(seconds for (file, _, _), seconds in own.items() if "simpy" in file)
    return {"in_simpy": in_simpy / sum(own.values())}


if __name__ == "__main__":
    print(json.dumps((measure_profiled if "profiled" in sys.argv[2:] else measure)(CASES[sys.argv[1]])))
