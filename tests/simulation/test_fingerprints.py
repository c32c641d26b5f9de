"""The same seed gives the same run, anywhere; anything else that matters gives another."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import BACKSTOP
from helpers.scenes import SMALL, run, study

import netbandit

RANDOM = [
    "topology.family=random",
    "topology.agents=8",
    "topology.p=0.5",
    "run.horizon=2000",
    'links.peer.latency={ uniform = ["0 ms", "2 ms"] }',
]


def in_a_process(folder, **environment):
    (folder / "scene.toml").write_text(SMALL)
    sets = [word for override in RANDOM for word in ("--set", override)]
    command = [sys.executable, "-m", "netbandit", "run", "scene.toml", "--json", "--replications", "3", *sets]
    path = str(Path(netbandit.__file__).parent.parent)
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        timeout=BACKSTOP,
        check=True,
    )
    found = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))
    return found["points"][0]["fingerprints"]


@pytest.mark.ci
def test_equal_in_another_process(tmp_path):
    """For numbers of workers, traces and other hash seeds see `test_blas_threads`."""
    here = [run(tmp_path, *RANDOM, replication=number).fingerprint for number in range(3)]
    assert len(set(here)) == 3
    assert in_a_process(tmp_path, PYTHONHASHSEED="1") == here


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "change",
    ["run.seed=1", "run.horizon=2500", 'run.slot="2 ms"', "topology.p=0.9", "topology.agents=9", "learner.epsilon=0.05",
     'links.peer.latency="1 ms"', "protocol.timing=asynchronous", "protocol.kind=flooding", "topology.seed=1",
     "bandit.arms=4", 'links.peer.bandwidth="100 kbit/s"'],
)  # fmt: skip
def test_what_matters_changes_it(tmp_path, change):
    assert run(tmp_path, *RANDOM, change).fingerprint != run(tmp_path, *RANDOM).fingerprint


@pytest.mark.parametrize("change", ["links.peer.cost=7", "name=other", "run.replications=5", "links.uplink.cost=3"])
def test_what_does_not_matter_leaves_it(tmp_path, change):
    assert run(tmp_path, *RANDOM, change).fingerprint == run(tmp_path, *RANDOM).fingerprint


def edges(point, replication):
    return point.topology(replication).edges.tolist()


def test_a_seed_of_the_topology_fixes_the_graph_and_its_latencies(tmp_path):
    free = study(tmp_path, *RANDOM).points[0]
    assert edges(free, 0) != edges(free, 1)
    assert edges(free, 0) == edges(study(tmp_path, *RANDOM).points[0], 0)
    fixed = study(tmp_path, *RANDOM, "topology.seed=3").points[0]
    other = study(tmp_path, *RANDOM, "topology.seed=3", "run.seed=9").points[0]
    assert edges(fixed, 0) == edges(fixed, 1) == edges(other, 0)
    waits = {point.simulation(number).run().metrics["round_slots"] for point in (fixed, other) for number in range(3)}
    assert len(waits) == 1


def test_a_seed_of_the_bandit_fixes_the_means(tmp_path):
    def played(*more, replication):
        # Without an end of the first phase the regret is that of the means alone.
        return run(tmp_path, "run.horizon=50", "bandit.arms=3", *more, replication=replication).metrics["regret"]

    lively = ["learner.rounds=1", "learner.gap=1.0"]
    assert played(*lively, replication=0) != played(*lively, replication=1)
    fixed = {played("bandit.seed=4", "run.seed=1", replication=number) for number in range(4)}
    assert len(fixed) == 1
