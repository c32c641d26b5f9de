"""The last digit is the same however many threads linear algebra has."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy  # noqa: F401, brings a BLAS
import pytest
from helpers.processes import BACKSTOP
from threadpoolctl import threadpool_info, threadpool_limits

import netbandit
from netbandit.util.blas_threads import one_blas_thread

SCENARIO = """\
name = "digits"
[run]
horizon = {horizon}
replications = 2
[topology]
family = "random"
p = 0.5
agents = 6
[links.peer]
latency = {{ uniform = ["0 ms", "2 ms"] }}
[bandit]
{bandit}
[learner]
kind = "{learner}"
[protocol]
kind = "{protocol}"
"""

LINEAR = 'kind = "linear"\narms = 5\ndimension = 6'
VERTICAL = 'kind = "vertical"\ndimension = 12\narms = 4'
LEARNERS = {
    "elimination": (1000, 'kind = "bernoulli"\narms = 3', "gis"),
    "feducb": (30, LINEAR, "relay"),
    "pfcb": (20, 'kind = "procurement"', "gossip"),
    "linucb": (20, VERTICAL, "vertical"),
    "lints": (20, VERTICAL, "vertical"),
}


def threads():
    found = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
    assert found
    return found


def test_inside_there_is_one_and_outside_as_many_as_before(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    with threadpool_limits(limits=2, user_api="blas"):
        assert set(threads()) == {2}
        with one_blas_thread():
            assert set(threads()) == {1}
            assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
            with one_blas_thread():
                assert set(threads()) == {1}
            assert set(threads()) == {1}
        assert set(threads()) == {2}
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"


RUN = """\
import sys
from pathlib import Path
from netbandit.running.sweeps import run
from netbandit.scenario.load import load
from netbandit.checks.check import check
if __name__ == "__main__":
    jobs, trace, *files = sys.argv[1:]
    for file in files:
        run(check(load(file)), Path(jobs + trace, file), jobs=int(jobs), trace=trace == "trace")
"""


def tables(place, jobs, trace, **environment):
    """What all learners leave behind, but for the time it took: the table, and the fingerprint of each run."""
    path = str(Path(netbandit.__file__).parent.parent)
    command = [sys.executable, "-c", RUN, str(jobs), trace, *(f"{learner}.toml" for learner in LEARNERS)]
    subprocess.run(
        command, cwd=place, env=os.environ | {"PYTHONPATH": path} | environment, check=True, timeout=BACKSTOP
    )
    found = {}
    for learner in LEARNERS:
        folder = place / f"{jobs}{trace}" / f"{learner}.toml"
        with (folder / "table.csv").open(newline="") as file:
            found[learner] = [row for row in csv.DictReader(file) if row["metric"] != "wall_s"]
        found[learner] += [
            json.loads(path.read_text())["fingerprint"] for path in sorted(folder.glob("runs/*/result.json"))
        ]
    return found


@pytest.mark.compiled
@pytest.mark.ci  # twenty seconds in one piece
def test_all_is_the_same_for_any_jobs_trace_threads_hash_seed_and_compilation(tmp_path):
    for learner, (horizon, bandit, protocol) in LEARNERS.items():
        text = SCENARIO.format(horizon=horizon, bandit=bandit, learner=learner, protocol=protocol)
        (tmp_path / f"{learner}.toml").write_text(text)
    first = tables(tmp_path, 1, "plain", OPENBLAS_NUM_THREADS="2", PYTHONHASHSEED="1")
    assert all(len(rows) > 20 for rows in first.values())
    assert tables(tmp_path, 2, "trace", PYTHONHASHSEED="2") == first
    assert tables(tmp_path, 1, "interpreted", NUMBA_DISABLE_JIT="1") == first
