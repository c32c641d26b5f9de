"""The numbers of all shipped scenarios, cut short, and the script that writes them to tests/data/scenario_numbers.json.

    python tests/helpers/pin_scenarios.py            # all scenarios
    python tests/helpers/pin_scenarios.py NAME...    # only these, such as ring or papers/dpmab/fig4; the others stay

Run it with the name of a scenario that is new, after giving it a cut. For one that is there already run it only when
NUMBERS is raised deliberately: what it writes is what the test compares with.

Only the command line is used, so that the numbers outlive whatever is changed beneath it.
"""

import importlib
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner

from netbandit.cli import main

SCENARIOS = Path(__file__).parents[2] / "scenarios"
PINNED = Path(__file__).parents[1] / "data" / "scenario_numbers.json"

Cut = list[str]
"""What ``--set`` is given, so that a run is short and still sends messages and ends rounds."""


def _cut(names: str, *cut: str, paper: str = "") -> dict[str, Cut]:
    return {f"papers/{paper}/{name}" if paper else name: list(cut) for name in names.split()}


_SIXTY = "run.horizon=60"
_LAST_BETA = "sweep.learner.beta_scale=[0.3]"
_THREE_LATENCIES = 'sweep.links.peer.latency=["0 slots", "1 slots", "3 slots"]'

CUTS: dict[str, Cut] = {
    # Elimination computes phase by phase: a horizon that is long enough for rounds to end is cheap.
    **_cut(
        "abilene advice delay_regret equal_cost hybrid quickstart random ring star structures", "run.horizon=10_000"
    ),
    "continents": ["run.horizon=10_000", 'sweep.run.slot=["100 ms", "3 ms", "100 us"]'],
    "emulate": [],
    "identify": ["run.replications=1"],
    "prompts": [_SIXTY, "run.replications=1", "sweep.bandit.made.spread=[0.0, 2.0]"],
    "routing": [_SIXTY, "run.replications=1", "sweep.bandit.cost_weight=[0.0, 0.5]"],
    "cost_vs_diameter": ["run.horizon=10_000", "sweep.topology.agents=[10, 40]"],
    # Long enough for a round to stall, or for an outage to end.
    **_cut("bursts churn deadline loss outage", "run.horizon=3_000", "run.replications=1"),
    **_cut("meet orbit", "run.horizon=2_000", "run.replications=1"),
    "lora": ["run.horizon=10_000", "run.replications=1"],
    "lorawan": ["run.horizon=1_000", "run.replications=1"],
    "battery": ["run.horizon=3_000", "run.replications=1", "sweep.energy.idle=[0.0564, 1e-6]"],
    "walk": [
        *("run.horizon=1_200", "run.replications=1", 'sweep.topology.range=["200 m"]'),
        'sweep.topology.speed=[["5 m/s", "20 m/s"]]',
    ],
    **_cut("bursts bursts-base bursts-single", "run.horizon=3_000", "run.replications=1", paper="unreliable"),
    **_cut("deadline deadline-none waits-base", "run.replications=1", paper="unreliable"),
    **_cut("fwa fwa-alone fwa-base", "run.horizon=40", "run.replications=1", "topology.agents=20", paper="changing"),
    **_cut("random petersen", _SIXTY, "run.replications=1", paper="changing"),
    **_cut("carried carried-base carried-references", "run.horizon=600", "run.replications=1", paper="changing"),
    **_cut("carried-once", "run.horizon=100", "run.replications=1", paper="changing"),
    **_cut("gossip", "run.replications=1", paper="changing"),
    **_cut("battery", "run.horizon=3_000", "run.replications=1", paper="changing"),
    "papers/changing/flooding": ["run.replications=1", "run.horizon=400", "sweep.topology.changes.dies=[0.9]"],
    "papers/unreliable/waits-lost": ["run.replications=1", "run.horizon=1000", "sweep.links.peer.loss=[0.0, 0.3]"],
    "papers/unreliable/waits-jitter": ["run.replications=1", "run.horizon=1000"],
    # Liars: one point of each kind of lie, and of each defence.
    "liars": ["run.replications=1", "run.horizon=3_000", "sweep.adversary.share=[0.3]"],
    **_cut("attacks-base attacks-delay mom", "run.replications=1", "run.horizon=3_000", paper="byzantine"),
    "papers/byzantine/attacks-elimination": [
        *("run.replications=1", "run.horizon=3_000", "sweep.adversary.share=[0.4]"),
        "sweep.adversary.attack=['hidden', 'noise']",
    ],
    "papers/byzantine/attacks-linear": [
        *("run.replications=1", "run.horizon=150", "sweep.adversary.share=[0.4]"),
        "sweep.adversary.attack=['collude', 'noise']",
    ],
    "papers/byzantine/mitra": ["run.replications=1", "run.horizon=3_000", "sweep.topology.agents=[10]"],
    "papers/byzantine/linear": ["run.replications=1", "run.horizon=150", "sweep.adversary.share=[0.4]"],
    **_cut("swarm swarm-alone swarm-base swarm-false-counts", _SIXTY, "run.replications=1", paper="byzantine"),
    **_cut("vial vial-alone vial-base vial-line vial-line-end", _SIXTY, "run.replications=1", paper="byzantine"),
    **_cut("base beyond-cdp fig10 fig10-cdp fig11 fig11-case6 fig11-weighted", "run.horizon=10_000", paper="dpmab"),
    **_cut("equal fig3 fig9 protocols", paper="dpmab"),
    **_cut("budget-agents budget-alone budget-cdp budget-gis budget-sink", "run.horizon=100_000", paper="dpmab"),
    **_cut("fig12-cdp fig12-ddp fig12-hdp fig4 fig5 fig7-free fig8", "run.horizon=10_000", paper="dpmab"),
    "papers/dpmab/beyond": ["run.horizon=10_000", 'sweep.links.peer.latency=["0 slots", "3 slots", "100 slots"]'],
    "papers/dpmab/rounds": ["run.horizon=1000"],
    **_cut("remarks remarks-budget", "run.horizon=10_000", paper="dpmab"),
    # With a budget of rounds the first phase alone may take more than 10,000 slots.
    "budget": ["run.horizon=100_000", "sweep.learner.participation=[0.125, 0.5, 1.0]"],
    **_cut("fig6 fig7", "run.horizon=100_000", paper="dpmab"),
    # Learners that decide in every slot, some of them telling others in each.
    "drift": ["run.horizon=400"],
    "baselines": ["run.horizon=60"],
    "late_rewards": ["run.horizon=300"],
    "stragglers": ["run.horizon=1_000", "run.replications=1"],
    "queues": ["run.horizon=300", "run.replications=1"],
    **_cut("base which queues counts", "run.horizon=300", "run.replications=1", paper="delay"),
    **_cut("silence", "sweep.run.horizon=[300]", "run.replications=1", paper="delay"),
    **_cut("deadline deadline-none stragglers", "run.horizon=3_000", "run.replications=1", paper="delay"),
    **_cut("base changes five five-references latency loss same twenty twenty-references", _SIXTY, paper="coop"),
    **_cut("base cycle-100 cycle-200 grid-100 grid-225 learners same stage", _SIXTY, paper="dducb"),
    "papers/dducb/links": [_SIXTY, "topology.agents=12"],
    **_cut("base fifty long same six", _SIXTY, paper="decucb"),
    **_cut("base alone fig3a fig3b fig3c fig3e links", "run.horizon=60", paper="rcl"),
    **_cut("base alone asks links told", "run.horizon=300", paper="gosine"),
    **_cut("base alone dynamic fig3 fig3-stop", "run.horizon=30", paper="fwa"),
    **_cut("base latency graphs synthetic", "run.horizon=300", "run.replications=1", paper="fedelim"),
    # One agent decides in each slot, and deposits what it knows.
    "asynchronous": ["run.horizon=400", 'sweep.links.peer.latency=["0 slots", "30 slots"]'],
    **_cut("base frontier he he-bound", "run.horizon=400", paper="asynchronous"),
    "papers/asynchronous/he-everything": ["run.horizon=60"],
    "papers/asynchronous/latency": ["run.horizon=400", 'sweep.links.uplink.latency=["0 ms", "30 ms"]'],
    "papers/asynchronous/latency-networks": ["run.horizon=400", 'sweep.links.peer.latency=["0 ms", "30 ms"]'],
    "papers/asynchronous/latency-far": ["run.horizon=400", 'sweep.run.slot=["10 ms", "1 ms"]'],
    "papers/asynchronous/latency-alone": ["run.horizon=400"],
    # Each of its activities has a horizon of its own.
    "papers/asynchronous/arrivals": ["bandit.dimension=3", "bandit.arms=3"],
    **_cut("li li-alone li-base", "run.horizon=300", "topology.agents=20", paper="asynchronous"),
    "papers/asynchronous/li-everything": ["run.horizon=300"],
    # FedUCB, synchronised when the agents ask for it.
    "feducb": ["run.horizon=1000"],
    "feducb_delay": ["run.horizon=200", _THREE_LATENCIES],
    **_cut("complete neighbours prop1", "run.horizon=300", paper="feducb"),
    "papers/feducb/remark4": ["run.horizon=32"],
    **_cut("growth growth-local", "run.horizon=300", _LAST_BETA, paper="feducb"),
    **_cut("topology", "run.horizon=300", _LAST_BETA, paper="feducb"),
    **_cut("delay", "run.horizon=200", _LAST_BETA, _THREE_LATENCIES, paper="feducb"),
    # Synchronised by a schedule: as declared nobody shares before slot 2,000, or 200 where there are a hundred agents.
    "feducb_private": ["run.horizon=100"],
    **_cut("agents", "run.horizon=100", paper="feducb"),
    **_cut("base pays", "run.horizon=250", "learner.every=100", paper="feducb"),
    **_cut("fig1a fig2 fig2-long private", "run.horizon=250", "learner.every=100", _LAST_BETA, paper="feducb"),
    "papers/feducb/fig1b": ["run.horizon=100", "sweep.learner.every=[80, 31]", "sweep.learner.epsilon=[1.0, inf]"],
    **_cut("fig1c fig1c-square", "run.horizon=60", "learner.every=25", _LAST_BETA, paper="feducb"),
    # Half of its cases ask for a synchronisation at a threshold, which takes more than 2,000 slots.
    "papers/feducb/noise": ["run.horizon=2500", _LAST_BETA, "sweep.learner.epsilon=[1.0, 10.0]"],
    # Synchronised in every slot, or alone.
    **_cut("fig1b-alone fig1b-full full neighbours-full", "run.horizon=40", paper="feducb"),
    **_cut("noise-references pays-full private-alone", "run.horizon=40", paper="feducb"),
    **_cut("fig1c-references fig2-references", "run.horizon=40", _LAST_BETA, paper="feducb"),
    # P-FCB shares in slots 200, 400, 800 and so on; what is a second under way takes a thousand slots.
    **_cut("pfcb pfcb_threshold", "run.horizon=1000"),
    "pfcb_delay": ["run.horizon=3000"],
    "pfcb_structures": ["run.horizon=3000"],
    **_cut("base", "run.horizon=1000", paper="pfcb"),
    **_cut("binding exp1 exp2 exp3 readings readings-fcb", "run.horizon=1000", "sweep.bandit.seed=[1]", paper="pfcb"),
    # Everything told in every slot.
    **_cut("exp1-fcb fig2", "run.horizon=250", "sweep.bandit.seed=[1]", paper="pfcb"),
    # A decision in every slot, or as often as contexts arrive, which are up to a hundred slots under way.
    "vertical": ["run.horizon=200"],
    "papers/vertical/delay": ["run.horizon=200", 'sweep.links.peer.latency=["0 ms", "5 ms", "100 ms"]'],
    "papers/vertical/delay-bandwidth": [
        "run.horizon=200",
        'sweep.links.peer.bandwidth=["1 Mbit/s", "10 Mbit/s", "300 Mbit/s"]',
    ],
    **_cut("base delay-slowest fig4 fig4-lints fig6 fig6-lints", "run.horizon=100", paper="vertical"),
    # What a single slot costs, by the dimension.
    **_cut("fig5 fig5-lints", "sweep.bandit.dimension=[5, 100, 500]", "sweep.bandit.arms=[10, 100]", paper="vertical"),
    "papers/vertical/theorem42": ["run.replications=1"],
    "papers/vertical/fig5-masks": ["sweep.bandit.dimension=[10, 100]"],
    **_cut("base digits-alone", _SIXTY, "run.replications=1", paper="contexts"),
    "papers/contexts/digits": [_SIXTY, "run.replications=1", 'sweep.links.uplink.latency=["1 ms", "15 ms"]'],
    "papers/contexts/unlike": [_SIXTY, "run.replications=1", "sweep.bandit.made.spread=[0.0, 2.0]"],
    # Of a log one event in forty counts.
    "replay": ["run.horizon=5000"],
    **_cut("fig6-log fig6-log-sum", "run.horizon=5000", paper="vertical"),
    "papers/vertical/fig6-criteo": ["run.horizon=5000", "run.replications=2", "sweep.bandit.partial=[0.2, 1.0]"],
}


def shipped() -> dict[str, Path]:
    """Return the scenario files by name: their path without the ending, from the folder of the scenarios."""
    files = [file for file in SCENARIOS.rglob("*.toml") if file.name != "claims.toml"]
    return {file.relative_to(SCENARIOS).with_suffix("").as_posix(): file for file in sorted(files)}


def pinned() -> dict[str, dict[str, Any]]:
    """Return what has been written: for each scenario its ``cut`` and the numbers of its ``points``."""
    found: dict[str, dict[str, Any]] = json.loads(PINNED.read_text())
    return found


def numbers(file: Path, cut: Cut) -> list[dict[str, Any]]:
    """Return parameters, fingerprint and metrics of every point of a scenario, one replication of each."""
    sets = [word for override in cut for word in ("--set", override)]
    with TemporaryDirectory() as out, _unshown():
        command = ["run", str(file), *sets, "--replications", "1", "--out", out, "--json"]
        done = CliRunner().invoke(main, command)
    if done.exit_code:
        raise AssertionError(f"{file} with {cut} ended with {done.exit_code}: {done.stderr}") from done.exception
    everywhere = {"run.replications", *(override.partition("=")[0] for override in cut)}
    return [
        {
            "parameters": {key: value for key, value in point["parameters"].items() if key not in everywhere},
            "fingerprint": point["fingerprints"][0],
            # How long it took is the machine's affair.
            "metrics": {key: metric["values"][0] for key, metric in point["metrics"].items() if key != "wall_s"},
        }
        for point in json.loads(done.stdout)["points"]
    ]


@contextmanager
def _unshown() -> Iterator[None]:
    """Leave out tables and pictures, which take longer than some runs; should they move, they are made after all."""
    with ExitStack() as stack:
        for module, name in (("netbandit.plots", "plot_folder"), ("netbandit.results.columns", "show")):
            with suppress(ImportError):
                unshown = patch.object(importlib.import_module(module), name, lambda *_, **__: [], create=True)
                stack.enter_context(unshown)
        yield


def _pin(names: Iterable[str]) -> None:
    """Write the numbers of some scenarios; all others that are still shipped keep theirs."""
    files = shipped()
    found = {name: one for name, one in pinned().items() if name in files} if PINNED.exists() else {}
    for name in names:
        print(name, flush=True)
        found[name] = {"cut": CUTS[name], "points": numbers(files[name], CUTS[name])}
    PINNED.parent.mkdir(exist_ok=True)
    PINNED.write_text(_text({name: found[name] for name in sorted(found)}))


def _text(found: dict[str, dict[str, Any]]) -> str:
    """Return JSON with one point on each line, so that a comparison of versions shows which have changed."""
    scenarios = [
        f'{json.dumps(name)}: {{\n"cut": {json.dumps(one["cut"])},\n"points": [\n'
        + ",\n".join(json.dumps(point, allow_nan=False) for point in one["points"])
        + "\n]}"
        for name, one in found.items()
    ]
    return "{\n" + ",\n".join(scenarios) + "\n}\n"


if __name__ == "__main__":
    _pin(sys.argv[1:] or shipped())
