"""Measure the numbers of the page "Why trust it?" again: ``python docs/trust/measure.py [NAME...]``.

It writes ``measured.json`` beside it, from which the page is made. What compares with MABWiser needs ``pip install
mabwiser``, the audit ``netbandit[audit]``, and the emulation Linux and ``netbandit[emulate]``.
"""

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MEASURED = HERE / "measured.json"
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from netbandit.checks.check import check  # noqa: E402
from netbandit.scenario.load import load_tables  # noqa: E402
from netbandit.simulation.result import RunResult  # noqa: E402

Numbers = dict[str, Any]

FAILING = ("queues", "loss", "bursts", "churn", "outage", "battery", "lora", "meet")
"""The shipped scenarios in which messages are lost in many ways."""

COPYING = ("loss", "links.peer.duplicate=0.05")
"""One of them, run once more with links that deliver some messages twice: none of them does so as it is shipped."""

SCENARIOS_OF_THE_SWARM = 200
_MEANS = [0.2, 0.35, 0.5, 0.55, 0.7]
_SLOTS = 500
_PLAYERS = 100


def runs_of(tables: Mapping[str, Any], replications: int) -> list[RunResult]:
    """Run the only point of a scenario."""
    (point,) = check(load_tables(dict(tables))).points
    return [point.simulation(number).run() for number in range(replications)]


def conservation() -> Numbers:
    """Add up what became of all messages of scenarios in which they are lost in many ways, a run of each point."""
    from helpers.pin_scenarios import CUTS, numbers

    runs = [*((name, CUTS[name]) for name in FAILING), (COPYING[0], [*CUTS[COPYING[0]], COPYING[1]])]
    points = [point["metrics"] for name, cut in runs for point in numbers(ROOT / "scenarios" / f"{name}.toml", cut)]
    fates = ("delivered", "lost", "dropped", "duplicates_dropped", "unsent", "in_flight")
    count = {name: sum(point.get(name) or 0 for point in points) for name in ("handed", "duplicates", *fates)}
    wrong = sum(
        point["handed"] + point["duplicates"] != sum(point.get(fate) or 0 for fate in fates) for point in points
    )
    return {"scenarios": len(FAILING), "points": len(points), "points_unbalanced": wrong, **count}


def swarm() -> Numbers:
    """Run random scenarios over all keys, and count those that break an invariant."""
    from netbandit.testing.properties import ALWAYS
    from netbandit.testing.swarm import failure, keys

    failed = sum(failure(0, number) is not None for number in range(SCENARIOS_OF_THE_SWARM))
    return {"scenarios": SCENARIOS_OF_THE_SWARM, "failed": failed, "invariants": len(ALWAYS), "all_keys": len(keys())}


RELAY: Mapping[str, Any] = {
    "run": {"horizon": 400, "slot": "10 ms"},
    "topology": {"family": "ring", "agents": 10},
    "bandit": {"kind": "bernoulli", "means": _MEANS},
    "learner": {"kind": "ucb"},
    "protocol": {"kind": "relay"},
}


def closed_forms() -> Numbers:
    """Compare simulated figures with formulas, in standard errors (z) where they are random."""
    found: Numbers = {}

    def compared(name: str, what: str, theory: float, values: list[float]) -> None:
        mean, error = float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))
        exact = all(math.isclose(value, theory) for value in values)
        z = None if exact else (mean - theory) / error
        found[name] = {"what": what, "theory": theory, "measured": mean, "z": z, "runs": len(values)}

    lossy = runs_of({**RELAY, "links": {"peer": {"loss": 0.1}}}, 60)
    shares = [run.metrics["lost"] / run.metrics["messages"] for run in lossy]
    compared("loss", "share of messages lost, loss = 0.1", 0.1, shares)
    bursts = {"good": 0.01, "bad": 0.6, "good_for": "200 ms", "bad_for": "50 ms"}
    bursty = runs_of({**RELAY, "links": {"peer": {"loss": bursts}}}, 60)
    shares = [run.metrics["lost"] / run.metrics["messages"] for run in bursty]
    theory = (0.01 * 200 + 0.6 * 50) / 250
    compared("bursts", "share of messages lost in bursts (Gilbert and Elliott)", theory, shares)
    failing = {"nodes": {"up_for": "300 ms", "down_for": "100 ms"}}
    down = runs_of({**RELAY, "faults": failing}, 60)
    shares = [run.metrics["availability"] for run in down]
    compared("availability", "share of slots that agents are up: 300 ms up, 100 ms down", 0.75, shares)
    powered = runs_of({**RELAY, "energy": {"idle": "2 mW"}}, 3)
    compared(
        "energy", "joules of ten agents that idle at 2 mW for 4 s", 0.08, [run.metrics["energy_j"] for run in powered]
    )
    rounds = {**RELAY, "learner": {"kind": "elimination"}, "protocol": {"kind": "flooding", "timing": "asynchronous"}}
    ring = runs_of({**rounds, "run": {"horizon": 4_000}, "links": {"peer": {"latency": "10 ms"}}}, 3)
    compared(
        "round",
        "slots of a round on a ring of ten: its diameter times the latency",
        50.0,
        [run.metrics["round_slots"] for run in ring],
    )
    return found


def references() -> Numbers:
    """Compare the regret of learners with that of MABWiser's, and of a loop of a few lines here, in standard errors."""
    found: Numbers = {"players": _PLAYERS, "slots": _SLOTS}
    alone = {
        **RELAY,
        "run": {"horizon": _SLOTS},
        "topology": {"family": "ring", "agents": 3},
        "protocol": {"kind": "silent"},
    }
    for kind in ("ucb", "thompson"):
        ours = [run.metrics["regret"] / 3 for run in runs_of({**alone, "learner": {"kind": kind}}, _PLAYERS)]
        for name, others in (("mabwiser", _mabwiser(kind)), ("loop", _loop(kind))):
            error = math.sqrt(np.var(ours, ddof=1) / len(ours) + np.var(others, ddof=1) / len(others))
            z = float((np.mean(ours) - np.mean(others)) / error)
            found[f"{kind}_{name}"] = {"ours": float(np.mean(ours)), "theirs": float(np.mean(others)), "z": z}
    return found


def _mabwiser(kind: str) -> list[float]:
    from mabwiser.mab import MAB, LearningPolicy

    policy = LearningPolicy.UCB1(alpha=1.0) if kind == "ucb" else LearningPolicy.ThompsonSampling()
    regrets = []
    for player in range(_PLAYERS):
        rng, mab, regret, first = np.random.default_rng(player), MAB([*range(5)], policy, seed=player), 0.0, [*range(5)]
        for slot in range(_SLOTS):
            arm = first[slot] if kind == "ucb" and slot < 5 else mab.predict() if slot else 0
            (mab.partial_fit if slot else mab.fit)([arm], [int(rng.random() < _MEANS[arm])])
            regret += max(_MEANS) - _MEANS[arm]
        regrets.append(regret)
    return regrets


def _loop(kind: str) -> list[float]:
    rng = np.random.default_rng(1)
    pulls, sums, regret = np.zeros((_PLAYERS, 5)), np.zeros((_PLAYERS, 5)), np.zeros(_PLAYERS)
    means, everybody = np.array(_MEANS), np.arange(_PLAYERS)
    for slot in range(_SLOTS):
        if kind == "thompson":
            arms = rng.beta(1 + sums, 1 + pulls - sums).argmax(axis=1)
        elif slot < 5:
            arms = np.full(_PLAYERS, slot)
        else:
            arms = (sums / pulls + np.sqrt(2 * math.log(slot) / pulls)).argmax(axis=1)
        pulls[everybody, arms] += 1
        sums[everybody, arms] += rng.random(_PLAYERS) < means[arms]
        regret += means.max() - means[arms]
    return [float(value) for value in regret]


def audit() -> Numbers:
    """Bound the epsilon of each mechanism from below."""
    command = [sys.executable, "-m", "netbandit", "audit", "--json"]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    return {
        each["mechanism"]: {
            "stated": each["epsilon"],
            "exact": each["epsilon_exact"],
            "audited": each["epsilon_audited"],
            "caught": each["caught"],
            "setting": each["setting"],
        }
        for each in done
    }


def emulation() -> Numbers:
    """Play a scenario over real sockets, and count in what it differs from its simulation."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "netbandit", "emulate", "scenarios/emulate.toml", "--dilation", "20"]
        subprocess.run([*command, "--set", "links.peer.jitter=0.001 ms", "--out", folder], check=False, cwd=ROOT)
        found = json.loads((Path(folder) / "emulation.json").read_text(encoding="utf-8"))
    exact = [verdict for basis, *_, verdict in found["rows"] if basis != "time"]
    differ = sum(verdict != "equal" for verdict in exact)
    frames = len(found["hop_times"])
    return {"compared": len(exact), "differ": differ, "frames": frames, "processes": found["processes"]}


MEASURES: Mapping[str, Callable[[], Numbers]] = {
    each.__name__: each for each in (conservation, swarm, closed_forms, references, audit, emulation)
}


def measured() -> Iterator[str]:
    """Measure what is named on the command line, or all of it; yield what has been written."""
    for name in sys.argv[1:] or MEASURES:
        began = time.process_time()
        found = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
        found[name] = MEASURES[name]()
        text = json.dumps({key: found[key] for key in MEASURES if key in found}, indent=1, allow_nan=False)
        MEASURED.write_text(text + "\n", encoding="utf-8")
        yield f"{name}: {time.process_time() - began:.0f} s"


if __name__ == "__main__":
    for line in measured():
        print(line, flush=True)
