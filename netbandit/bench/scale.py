"""HDP-MAB with 10^3, 10^4 and 10^5 agents in random components of a hundred, each in a process of its own."""

import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from tempfile import TemporaryDirectory

from netbandit.bench.measure import Row
from netbandit.bench.scenario import point_of
from netbandit.memory import peak
from netbandit.simulation.result import RunResult

COMPONENTS = (10, 100, 1_000)

_SCENARIO = """
run = {{ horizon = 10_000_000 }}
topology = {{ family = "hybrid", components = [{sizes}], inside = "random", mean_degree = 8 }}
bandit = {{ kind = "bernoulli", arms = 20 }}
learner = {{ kind = "elimination", epsilon = 1.0 }}
protocol = {{ kind = "sink" }}
"""

_MEANS = [round(0.5 + 1e-5 * arm, 5) for arm in range(20)]
_THREE_ROUNDS = ("learner.rounds=3", "learner.gap=0.01", f"bandit.means={_MEANS}")


def bench() -> list[Row]:
    """Return a row for each size: seconds from the text of the scenario to its result, and peak memory.

    More agents need fewer rounds. So that growth compares like with like, each size runs once more with arms too
    close to tell apart and a budget of three rounds: ``same_rounds`` are its seconds, and ``growth`` is the exponent b
    of ``same_rounds ~ agents^b`` since the size before; 1 is linear.
    """
    rows: list[Row] = []
    for components in COMPONENTS:
        command = [sys.executable, "-m", "netbandit.bench.scale", str(components)]
        row: Row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        row["growth"] = _exponent(rows[-1], row) if rows else "-"
        rows.append(row)
    return rows


def _exponent(smaller: Row, larger: Row) -> float:
    seconds = float(larger["same_rounds"]) / float(smaller["same_rounds"])
    return math.log(seconds) / math.log(float(larger["agents"]) / float(smaller["agents"]))


def measure_once(components: int) -> Row:
    """Run it in this process, as it is."""
    result, seconds = _run(components)
    figures: Sequence[str] = ("rounds", "messages", "events")
    return {
        "agents": 100 * components,
        **{name: result.metrics[name] or 0 for name in figures},
        "seconds": seconds,
        "peak_mib": peak() / 2**20,
    }


def measure(components: int) -> Row:
    """Run it in this process: as it is, then with as many rounds at every size."""
    row = measure_once(components)
    same, seconds = _run(components, *_THREE_ROUNDS)
    assert same.metrics["rounds"] == 3
    return {**row, "same_rounds": seconds}


def _run(components: int, *changes: str) -> tuple[RunResult, float]:
    """Return a run and the seconds it took, reading its scenario and drawing its graph included."""
    began = time.perf_counter()
    with TemporaryDirectory() as folder:
        point = point_of(_SCENARIO.format(sizes=", ".join(["100"] * components)), folder, *changes)
    return point.simulation(0).run(), time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps((measure_once if "once" in sys.argv[2:] else measure)(int(sys.argv[1]))))
