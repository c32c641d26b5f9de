"""HDP-MAB with 10^3, 10^4 and 10^5 agents in random components of a hundred, each in a process of its own."""

import math
import time
from functools import partial

from benchmarks.measure import Done, Found, Measured, Row, Subject, point_of
from netbandit.util.memory import peak

PROCESSES, VALUES, WARMUPS = 1, 1, 0
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


def subjects() -> dict[str, Subject]:
    """Return each size as it is, then with as many rounds at every size."""
    found: dict[str, Subject] = {}
    for components in COMPONENTS:
        found[str(components)] = partial(once, components)
        found[f"{components}, three rounds"] = partial(once, components, *_THREE_ROUNDS)
    return found


def rows(found: Found) -> list[Row]:
    """Return a row for each size: seconds from the text of the scenario to its result, and peak memory.

    More agents need fewer rounds. So that growth compares like with like, each size runs once more with arms too
    close to tell apart and a budget of three rounds: ``same_rounds`` are its seconds, and ``growth`` is the exponent b
    of ``same_rounds ~ agents^b`` since the size before; 1 is linear.
    """
    table: list[Row] = []
    for components in COMPONENTS:
        one = row(found[str(components)])
        same = found[f"{components}, three rounds"]
        assert same.counts["rounds"] == 3
        one["same_rounds"] = same.seconds
        one["growth"] = _exponent(table[-1], one) if table else "-"
        table.append(one)
    return table


def row(measured: Measured) -> Row:
    """Return what was counted, the seconds, and the peak memory."""
    counts = dict(measured.counts)
    most = counts.pop("peak_mib")
    whole = {name: round(count) for name, count in counts.items()}
    return {**whole, "seconds": measured.seconds, "peak_mib": most}


def _exponent(smaller: Row, larger: Row) -> float:
    seconds = float(larger["same_rounds"]) / float(smaller["same_rounds"])
    return math.log(seconds) / math.log(float(larger["agents"]) / float(smaller["agents"]))


def once(components: int, *changes: str) -> Done:
    """Run it in this process, reading its scenario and drawing its graph included."""
    text = _SCENARIO.format(sizes=", ".join(["100"] * components))
    point_of(_SCENARIO.format(sizes="10")).simulation(0).run()  # imports what such a run needs
    began = time.perf_counter()
    metrics = point_of.__wrapped__(text, *changes).simulation(0).run().metrics
    seconds = time.perf_counter() - began
    counts = {name: metrics[name] or 0 for name in ("rounds", "messages", "events")}
    return Done(seconds, 1, {"agents": 100 * components, **counts, "peak_mib": peak() / 2**20})
