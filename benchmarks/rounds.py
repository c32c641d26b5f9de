"""Large rounds, with everything counted: of `gis`, `gossip` and `sink`, over up to 10^4 agents, each in a process."""

import cProfile
import pstats
import time
from functools import partial
from typing import NamedTuple

from benchmarks.measure import Done, Found, Row, Subject, point_of
from netbandit.util.memory import peak

PROCESSES, VALUES, WARMUPS = 3, 1, 0

_COMMON = """
run = { horizon = 10_000 }
bandit = { kind = "bernoulli", arms = 10, seed = 0 }
learner = { kind = "elimination", rounds = 1, gap = 0.5 }
"""

_RANDOM_LATENCY = 'links.peer.latency = { uniform = ["0.5 ms", "1.5 ms"] }'
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


class Case(NamedTuple):
    """A round: its name, and the tables that differ."""

    name: str
    scenario: str


CASES = (
    Case("gis, complete of 500", _COMPLETE),
    Case("gis, 1,000 of degree 6, item by item", _EVERYBODY_HEARS),
    Case("gossip, 10,000 of degree 20", _MANY.format(kind="gossip")),
    Case("sink, grid of 10,000, item by item", _DEEP),
    Case("sink, 10,000 of degree 20", _MANY.format(kind="sink")),
)


def subjects() -> dict[str, Subject]:
    """Return each case, and each under a profiler."""
    found: dict[str, Subject] = {}
    for case in CASES:
        found[f"{case.name}, profiled"] = partial(play, case, profiled=True)
        found[case.name] = partial(play, case)
    return found


def rows(found: Found) -> list[Row]:
    """Return for each case messages, seconds, peak memory, and the share in SimPy's own functions."""
    table: list[Row] = []
    for case in CASES:
        one, profiled = found[case.name], found[f"{case.name}, profiled"]
        row: Row = {"round": case.name, "engine": "event", "messages": round(one.counts["messages"])}
        row |= {"seconds": one.seconds, "peak_mib": one.counts["peak_mib"]}
        table.append({**row, "in_simpy": profiled.counts["in_simpy"]})
    return table


def play(case: Case, *, profiled: bool = False) -> Done:
    """Run it, for time and memory or under a profiler: the share of SimPy's functions, callees not included."""
    point = point_of(_COMMON + case.scenario)
    point.topology(0)
    profile = cProfile.Profile()
    began = time.perf_counter()
    run = point.simulation(0).run
    result = profile.runcall(run) if profiled else run()
    seconds = time.perf_counter() - began
    if not profiled:
        return Done(seconds, 1, {"messages": result.metrics["messages"] or 0, "peak_mib": peak() / 2**20})
    statistics = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # not in the stubs
    own = {where: figures[2] for where, figures in statistics.items()}
    in_simpy = sum(seconds for (file, _, _), seconds in own.items() if "simpy" in file)
    return Done(seconds, 1, {"in_simpy": in_simpy / sum(own.values())})
