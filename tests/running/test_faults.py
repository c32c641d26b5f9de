"""Sweeps that lose a worker, their driver, the disk or a point: every result arrives once, and nothing else is left."""

import csv
import os
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from helpers.processes import BACKSTOP, eventually, members, started, without_progress

import netbandit
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_folder import RESULT, complete

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kills processes and looks for them in /proc")

SCENARIO = """\
[run]
horizon = 200
replications = {replications}
[topology]
family = "ring"
[bandit]
kind = "slow:Slow"
arms = 3
[learner]
kind = "elimination"
[protocol]
kind = "gis"
[sweep]
topology.agents = {points}
"""

SLOW = '''\
"""A bandit that says which process runs it; with POISON it fails, dies, or dies at first.

From the fortieth run on it waits while there is a file "hold" beside it.
"""

import os
import re
import re
import signal
import time
from pathlib import Path

from netbandit.bandits.bernoulli import Bernoulli


class Slow(Bernoulli):
    def start(self, agents, generator):
        said = Path(__file__).with_name("log")
        with said.open("a") as log:
            log.write(f"{os.getpid()} {agents}\\n")
        if "POISON" in os.environ and agents == 7:
            raise ArithmeticError("poisoned")
        if "POISON" in os.environ and agents == 8:
            os.kill(os.getpid(), signal.SIGKILL)
        if "POISON" in os.environ and agents == 6 and len(re.findall(" 6$", said.read_text(), re.MULTILINE)) <= 2:
            os.kill(os.getpid(), signal.SIGKILL)
        while len(said.read_text().splitlines()) > 40 and said.with_name("hold").exists():
            time.sleep(0.02)
        super().start(agents, generator)
'''


@pytest.fixture
def place(tmp_path):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "log").touch()
    return tmp_path


def start(place, points, replications, *more, workers=("--jobs", 2), **environment):
    (place / "sweep.toml").write_text(SCENARIO.format(points=points, replications=replications))
    return started(place, "run", "sweep.toml", *workers, "--out", "out", *more, **environment)


SCHEDULER = """\
import dask, sys
from distributed import LocalCluster
if __name__ == "__main__":
    dask.config.set({"distributed.scheduler.worker-saturation": 1.0, "distributed.scheduler.allowed-failures": 0})
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(params=["local", pytest.param("dask", marks=pytest.mark.ci)])
def workers(request, place):
    """How a sweep is told of its workers: two processes of its own, or of a scheduler, which may poison them."""
    if request.param == "local":
        yield "--jobs", 2
        return
    (place / "scheduler.py").write_text(SCHEDULER)
    with subprocess.Popen(
        [sys.executable, "scheduler.py"],
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(Path(netbandit.__file__).parent.parent), "POISON": "yes"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield "--scheduler", process.stdout.readline().strip()
        process.stdin.close()


def end(process):
    """Exit code, what was printed, and what was said on stderr besides the progress, and after what is imported."""
    output, errors = process.communicate(timeout=BACKSTOP)
    assert "Traceback" not in errors
    imported = "imports slow.py, beside the scenario\n"
    assert errors.startswith(imported)
    return process.returncode, output, without_progress(errors.removeprefix(imported))


def results(place):
    return list(place.glob(f"out/runs/*/{RESULT}"))


def said(place):
    """For each start of a run: its process, and the agents of its point."""
    return [tuple(map(int, line.split())) for line in (place / "log").read_text().splitlines()]


def no_process_left(group):
    return eventually(lambda: not members(group))


def check_whole(place, points, replications):
    """Every result is there, once, whole and in the table, and there is nothing beside."""
    study = ResultsFolder(place / "out").study()
    assert [point.parameters["topology.agents"] for point in study.points] == points
    for point in study.points:
        assert [run and run.replication for run in point.runs] == list(range(replications))
    keys = [key for point in study.points for key in point.keys]
    assert len(set(keys)) == len(keys)
    assert {path.parent.name for path in results(place)} == set(keys)
    with (place / "out" / "table.csv").open(newline="") as file:
        rows = Counter((row["topology.agents"], row["replication"], row["metric"]) for row in csv.DictReader(file))
    regrets = {row: count for row, count in rows.items() if row[2] == "regret"}
    assert len(regrets) == len(keys)
    assert set(rows.values()) == {1}
    assert not [path for path in (place / "out").rglob("*") if path.name.startswith(".") or "partial" in path.name]


@pytest.mark.ci
def test_a_worker_is_killed_in_the_middle_of_a_hundred_runs(place, workers):
    (place / "hold").touch()
    process = start(place, [5], 100, workers=workers)
    assert eventually(lambda: len(results(place)) >= 30)
    worker = said(place)[-1][0]
    assert worker != process.pid
    os.kill(worker, signal.SIGKILL)
    (place / "hold").unlink()
    code, output, errors = end(process)
    assert (code, errors) == (0, "")
    assert "results: out\n" in output
    check_whole(place, [5], 100)
    assert 100 <= len(said(place)) <= 102  # what the worker was doing is done again, not what it had done
    assert len({process for process, _ in said(place)}) >= 3
    assert no_process_left(process.pid)


@pytest.mark.ci
def test_the_driver_is_killed_and_started_again_over_damaged_results(place, workers):
    ours = workers[0] == "--jobs"
    (place / "tmp").mkdir()
    (place / "hold").touch()
    process = start(place, [5], 100, "--trace", workers=workers, TMPDIR=str(place / "tmp"))
    assert eventually(lambda: len(results(place)) >= 30)
    process.kill()
    process.communicate(timeout=BACKSTOP)
    assert no_process_left(process.pid)
    assert bool([*(place / "tmp").iterdir()]) == ours  # nobody was there to remove it: who starts next does
    (place / "hold").unlink()
    finished = len(results(place))
    assert 30 <= finished < 100
    for path in results(place):  # nothing that says it is complete is not
        assert complete(path.parent, trace=True)
    cut, emptied, shortened = results(place)[:3]
    cut.write_bytes(cut.read_bytes()[:-20])
    emptied.write_bytes(b"")
    curves = shortened.with_name("curves.json")
    curves.write_bytes(curves.read_bytes()[:-1])
    finished -= 3
    (place / "log").write_text("")
    again = start(place, [5], 100, "--trace", workers=workers, TMPDIR=str(place / "tmp"))
    code, output, errors = end(again)
    assert code == 0
    assert not [*(place / "tmp").iterdir()]
    heading, *lines = errors.splitlines()
    assert heading == "3 runs repeated, as their files were damaged or of an unknown format:"
    runs = {f"  {path.parent}: {name} does not match its checksum" for path, name in (
        (cut, "result.json"), (emptied, "result.json"), (shortened, "curves.json")
    )}  # fmt: skip
    assert set(lines) == runs
    there = int(re.search(r"results: out \((\d+) runs of 100 already there\)", output)[1])
    # A scheduler learns a moment later that nobody waits any more, and workers end what they are in.
    assert there == finished if ours else finished <= there < 100
    assert len(said(place)) == 100 - there if ours else len(said(place)) <= 100 - finished
    check_whole(place, [5], 100)
    assert no_process_left(again.pid)


@pytest.mark.ci
def test_a_terminal_that_is_closed_ends_the_sweep_and_leaves_nothing(place):
    (place / "hold").touch()
    (place / "tmp").mkdir()
    process = start(place, [5], 100, TMPDIR=str(place / "tmp"))
    assert eventually(lambda: len(results(place)) >= 3)
    process.send_signal(signal.SIGHUP)
    code, output, errors = end(process)
    assert (code, output) == (130, "")
    assert re.fullmatch(r"\nstopped: \d+ of 100 runs are done; the same command continues from there\n", errors)
    assert not [*(place / "tmp").iterdir()]
    assert no_process_left(process.pid)


@pytest.mark.ci
def test_poisoned_points_are_told_at_the_end_and_the_others_finish(place, workers):
    process = start(place, [8, 6, 5, 7], 1, workers=workers, POISON="yes")
    code, _, errors = end(process)
    assert code == 1
    line = SLOW.splitlines().index('            raise ArithmeticError("poisoned")') + 1
    starts = [
        "2 runs failed; the same command tries again:",
        "  topology.agents = 8, replication 0: the worker process died, each time it was tried, at last with no",
        f"  topology.agents = 7, replication 0: ArithmeticError: poisoned, in {place / 'slow.py'}, line {line} (see ",
    ]
    lines = errors.splitlines()
    assert len(lines) == len(starts), errors
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts
    finished = ResultsFolder(place / "out").study(details=False)
    assert [len(point.finished) for point in finished.points] == [0, 1, 1, 0]
    tried = Counter(agents for _, agents in said(place))
    # Runs in which a worker has died, or that waited for it, are tried twice at the end, alone.
    assert 2 <= tried.pop(8) <= 3
    assert tried.pop(7) >= 1  # what a worker has found out and not yet told dies with it
    assert tried == {5: 1, 6: 3}
    assert no_process_left(process.pid)
    (place / "log").write_text("")
    code, _, errors = end(start(place, [8, 6, 5, 7], 1, "--jobs", 1))
    assert (code, errors) == (0, "")
    assert Counter(agents for _, agents in said(place)) == {8: 1, 7: 1}
    check_whole(place, [8, 6, 5, 7], 1)


@pytest.mark.ci
def test_files_that_cannot_grow_stop_the_sweep_with_one_line(place):
    """Like a full disk: each file may have 600 bytes, too few for a run."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    for jobs in (1, 2):
        process = start(place, [4], 8, "--jobs", jobs, first=limit, PYTHONDONTWRITEBYTECODE="1")
        code, output, errors = end(process)
        assert (code, output) == (1, "")
        assert len(errors.splitlines()) == 1
        assert errors.startswith(f"Error: cannot write to {place / 'out'}")
        assert "File too large" in errors
        assert results(place) == []
        assert no_process_left(process.pid)
    code, _, errors = end(start(place, [4], 8, "--jobs", 1))
    assert (code, errors) == (0, "")
    check_whole(place, [4], 8)
