import csv
import errno
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fake_study import FakePoint, FakeStudy, fake_study, resolved
from helpers.finished_runs import files, finished_runs
from helpers.processes import is_alive

from netbandit.results.results_folder import OtherStudyError
from netbandit.results.run_folder import load_run
from netbandit.results.run_keys import run_key, run_keys
from netbandit.results.safe_files import StorageError
from netbandit.running import sweeps as sweep
from netbandit.running.cluster import SchedulerError
from netbandit.running.sweeps import Interrupted


def with_log(study, folder):
    folder.mkdir(exist_ok=True)
    return replace(study, points=[replace(point, log=folder) for point in study.points])


def said(run):
    """What a failure says, without the place in the helper that has raised it."""
    text, _, where = run.failure.text.partition(", in ")
    assert "fake_study.py, line " in where
    return text


def logged(folder):
    return [path.read_text() for path in sorted(folder.iterdir())]


def test_every_replication_of_every_point_leaves_a_folder(tmp_path):
    study = fake_study(3, 4, replications=2)
    result = sweep.run(study, tmp_path / "out")
    assert (result.done, result.reused, result.failed) == (4, 0, [])
    folders = sorted(path.name for path in (tmp_path / "out" / "runs").iterdir())
    assert folders == sorted(key for point in study.points for key in run_keys(point))
    assert [(run.topology["agents"], run.replication) for run in finished_runs(tmp_path / "out")] == [
        (3, 0),
        (3, 1),
        (4, 0),
        (4, 1),
    ]
    assert [len(point.finished) for point in result.study.points] == [2, 2]


def test_only_what_is_missing_is_run(tmp_path):
    log = tmp_path / "log"
    out = tmp_path / "out"
    sweep.run(with_log(fake_study(3, replications=2), log), out)
    assert len(logged(log)) == 2
    result = sweep.run(with_log(fake_study(3, replications=2), log), out)
    assert (result.done, result.reused) == (0, 2)
    assert len(logged(log)) == 2
    result = sweep.run(with_log(fake_study(3, replications=5), log), out)
    assert (result.done, result.reused) == (3, 2)
    assert logged(log)[2:] == [f"{{'topology.agents': 3}} {replication}" for replication in (2, 3, 4)]
    assert [run.replication for run in result.study.points[0].finished] == [0, 1, 2, 3, 4]


def test_fewer_replications_than_before_leave_the_others_in_the_table(tmp_path):
    sweep.run(fake_study(3, replications=5), tmp_path)
    result = sweep.run(fake_study(3, replications=2), tmp_path)
    assert (result.done, result.reused) == (0, 2)
    assert len(result.study.points[0].finished) == 5


def test_only_the_last_replications_are_run_where_others_do_the_first(tmp_path):
    result = sweep.run(fake_study(3, replications=5), tmp_path, first=3)
    assert (result.done, result.reused, result.failed) == (2, 0, [])
    assert [run.replication for run in result.study.points[0].finished] == [3, 4]
    result = sweep.run(fake_study(3, replications=2), tmp_path)
    assert [run.replication for run in result.study.points[0].finished] == [0, 1, 3, 4]


def test_a_damaged_result_is_run_again(tmp_path):
    study = fake_study(3, replications=3)
    sweep.run(study, tmp_path)
    before = (tmp_path / "table.csv").read_bytes()
    damaged = tmp_path / "runs" / run_key(study.points[0], 1) / "result.json"
    damaged.write_bytes(damaged.read_bytes()[:40])
    result = sweep.run(study, tmp_path)
    assert (result.done, result.reused) == (1, 2)
    assert result.repeated == (f"{damaged.parent}: result.json does not match its checksum",)
    assert (tmp_path / "table.csv").read_bytes() == before


def test_a_trace_asked_for_later_runs_again(tmp_path):
    study = fake_study(3, replications=1)
    folder = tmp_path / "runs" / run_key(study.points[0], 0)
    sweep.run(study, tmp_path)
    assert not (folder / "trace.jsonl").exists()
    assert sweep.run(study, tmp_path, trace=True).done == 1
    assert (folder / "trace.jsonl").read_text() == '{"t": 0}\n'
    assert sweep.run(study, tmp_path, trace=True).done == 0
    assert sweep.run(study, tmp_path).done == 0
    assert not list(folder.glob("*.partial")) + list(folder.glob(".*"))


def test_points_that_are_the_same_are_run_once(tmp_path):
    point = FakePoint({}, resolved(3, 2), log=tmp_path / "log")
    (tmp_path / "log").mkdir()
    result = sweep.run(FakeStudy([point, replace(point, parameters={"a": 1})]), tmp_path / "out")
    assert (result.done, len(logged(tmp_path / "log"))) == (2, 2)
    assert [len(found.finished) for found in result.study.points] == [2, 2]


def test_a_run_that_fails_is_told_and_the_others_go_on(tmp_path):
    study = fake_study(3, 4, replications=3, fails={1: ValueError("no\nroute")})
    result = sweep.run(study, tmp_path)
    assert (result.done, result.reused) == (4, 0)
    assert [(run.parameters, run.replication, said(run)) for run in result.failed] == [
        ({"topology.agents": 3}, 1, "ValueError: no route"),
        ({"topology.agents": 4}, 1, "ValueError: no route"),
    ]
    report = result.failed[0].failure.report
    assert report.read_text().startswith("Traceback")
    assert [[run is None for run in point.runs] for point in result.study.points] == [[False, True, False]] * 2
    with (tmp_path / "table.csv").open() as file:
        assert {row["replication"] for row in csv.DictReader(file)} == {"0", "2"}


def test_what_failed_is_run_again_and_its_report_goes(tmp_path):
    failed = sweep.run(fake_study(3, replications=2, fails={1: MemoryError()}), tmp_path).failed
    assert said(failed[0]) == "MemoryError"
    report = failed[0].failure.report
    result = sweep.run(fake_study(3, replications=2), tmp_path)
    assert (result.done, result.reused, result.failed) == (1, 1, [])
    assert not report.exists()


def test_a_full_disk_stops_the_sweep_with_one_line(tmp_path):
    log = tmp_path / "log"
    study = with_log(fake_study(3, replications=3, fails={1: OSError(28, "No space left on device")}), log)
    with pytest.raises(StorageError, match="No space left on device"):
        sweep.run(study, tmp_path / "out")
    assert len(logged(log)) == 2


def test_a_disk_that_is_full_at_any_moment_leaves_nothing_half_written(tmp_path, monkeypatch):
    """Each write of the sweep in turn is the one that finds no space, and the same call goes on from there."""
    study = fake_study(3, replications=2)
    rename, left = Path.replace, [0]

    def full(file, target):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(file, target)

    monkeypatch.setattr(Path, "replace", full)
    left[0] = 1000
    sweep.run(study, tmp_path / "whole")
    writes = 1000 - left[0]
    assert writes == 3 + 2 * 3  # study.json and two tables, and for each run curves, links and result
    for before in range(writes):
        out = tmp_path / str(before)
        left[0] = before
        with pytest.raises(StorageError, match="No space left on device"):
            sweep.run(study, out)
        left[0] = 1000
        assert not list(out.rglob("*.partial"))
        assert all(load_run(result.parent) is not None for result in out.glob("runs/*/result.json"))
        assert len(list(out.glob("runs/*/result.json"))) == max(0, before - 1) // 3
        assert not (out / "summary.csv").exists()  # which is written last
        again = sweep.run(study, out)
        assert (again.reused, again.failed) == (max(0, before - 1) // 3, [])
        assert files(out) == files(tmp_path / "whole")


def test_a_file_in_place_of_the_results_folder_stops_before_the_first_run(tmp_path):
    (tmp_path / "out").write_text("mine")
    study = with_log(fake_study(3), tmp_path / "log")
    with pytest.raises(StorageError, match="there is a file where a folder should be"):
        sweep.run(study, tmp_path / "out")
    with pytest.raises(StorageError, match="there is a file where a folder should be"):
        sweep.run(study, tmp_path / "out" / "deeper")
    assert logged(tmp_path / "log") == []
    assert (tmp_path / "out").read_text() == "mine"


def test_progress_is_told_from_the_first_run_to_the_last(tmp_path):
    told = []
    sweep.run(fake_study(3, replications=3), tmp_path, progress=lambda *numbers: told.append(numbers))
    assert told == [(0, 3, 0, 1), (1, 3, 0, 1), (2, 3, 0, 1), (3, 3, 1, 1)]
    told.clear()
    sweep.run(fake_study(3, replications=3), tmp_path, progress=lambda *numbers: told.append(numbers))
    assert told == []
    sweep.run(fake_study(3, 4, 5, replications=4), tmp_path, progress=lambda *numbers: told.append(numbers))
    assert [numbers[:2] for numbers in told] == [(done, 9) for done in range(10)]
    assert [numbers[2:] for numbers in told] == [(done, 3) for done in (0, 1, 1, 1, 1, 2, 2, 2, 2, 3)]


def test_an_interrupted_sweep_keeps_what_has_ended_and_goes_on_from_there(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Interrupted) as caught:
        sweep.run(fake_study(3, replications=4, fails={2: KeyboardInterrupt()}), out, trace=True)
    assert (caught.value.finished, caught.value.total) == (2, 4)
    assert len(finished_runs(out)) == 2
    assert len(list((out / "runs").iterdir())) == 2
    assert not (out / "table.csv").exists()
    result = sweep.run(fake_study(3, replications=4), out, trace=True)
    assert (result.done, result.reused) == (2, 2)


def test_a_study_that_another_command_describes_meanwhile_keeps_its_own_results(tmp_path):
    """Two commands in one folder: each runs its own, and the folder holds the points of both."""

    def meanwhile(done, total, points_done, points):
        if done == 2:
            other = sweep.run(fake_study(7, replications=2), tmp_path)
            assert (other.done, other.failed, len(other.study.points)) == (2, [], 2)

    result = sweep.run(fake_study(3, 4, replications=2), tmp_path, progress=meanwhile)
    assert (result.done, result.reused, result.failed) == (4, 0, [])
    assert [point.parameters for point in result.study.points] == [{"topology.agents": size} for size in (7, 3, 4)]
    assert [run.topology["agents"] for run in finished_runs(tmp_path)] == [7, 7, 3, 3, 4, 4]
    with (tmp_path / "table.csv").open() as file:
        assert {row["topology.agents"] for row in csv.DictReader(file)} == {"3", "4", "7"}


def longer(agents):
    return FakeStudy([FakePoint({"topology.agents": agents}, resolved(agents, run={"horizon": 2_000}))])


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(("finished", "why"), [(0, "no run of it has ended yet"), (2, "run.horizon is 1000 there")])
def test_another_study_is_refused_while_one_is_running(tmp_path, finished, why, replace):
    other = longer(7)
    before = []

    def meanwhile(done, total, points_done, points):
        if done == finished:
            before.append(files(tmp_path))
            with pytest.raises(OtherStudyError, match=f"is in use: another study, 'fake', is running into it: .*{why}"):
                sweep.run(other, tmp_path, replace=replace)
            before.append(files(tmp_path))

    result = sweep.run(fake_study(3, 4, replications=2), tmp_path, progress=meanwhile)
    assert before[0] == before[1]
    assert (result.done, result.failed) == (4, [])
    assert [run.topology["agents"] for run in finished_runs(tmp_path)] == [3, 3, 4, 4]
    with pytest.raises(OtherStudyError, match="these would be lost: 4 runs"):
        sweep.run(other, tmp_path)
    assert sweep.run(other, tmp_path, replace=True).done == 3


def test_the_same_study_may_run_in_two_processes_before_any_run_has_ended(tmp_path):
    """One with more replications, and one with fewer points."""

    def meanwhile(done, total, points_done, points):
        if not done:
            assert sweep.run(fake_study(3, 4, replications=3), tmp_path).done == 6
            assert sweep.run(fake_study(4, replications=2), tmp_path).reused == 2

    sweep.run(fake_study(3, 4, replications=2), tmp_path, progress=meanwhile)
    assert len(finished_runs(tmp_path)) == 6


def test_a_folder_is_free_again_when_a_study_has_failed(tmp_path):
    with pytest.raises(Interrupted):
        sweep.run(fake_study(3, fails={0: KeyboardInterrupt()}), tmp_path)
    assert sweep.run(longer(7), tmp_path).done == 3


@pytest.mark.ci
def test_workers_leave_what_one_process_leaves_and_report_what_fails(tmp_path):
    log = tmp_path / "log"
    study = fake_study(3, 4, replications=3, fails={2: ValueError("no route")})
    here = sweep.run(study, tmp_path / "here", trace=True)
    told = []
    there = sweep.run(
        with_log(study, log), tmp_path / "there", jobs=2, trace=True, progress=lambda *numbers: told.append(numbers)
    )
    assert (there.done, there.reused) == (here.done, here.reused) == (4, 0)
    assert [(run.parameters, run.replication, run.failure.text) for run in there.failed] == [
        (run.parameters, run.replication, run.failure.text) for run in here.failed
    ]
    assert [numbers[:2] for numbers in told] == [(done, 6) for done in range(7)]
    assert [told[0][2:], told[-1][2:]] == [(0, 2), (2, 2)]
    processes = {int(path.name.rpartition("-")[2]) for path in log.iterdir()}
    assert os.getpid() not in processes
    assert len(logged(log)) == 6
    left, right = files(tmp_path / "here"), files(tmp_path / "there")
    for side in (left, right):
        for name in [name for name in side if name.endswith("error.txt")]:
            del side[name]  # a traceback names the code that called
    assert left == right
    assert not any(is_alive(process) for process in processes)


@pytest.mark.ci
def test_what_every_worker_compiles_is_told_once(tmp_path, capfd):
    study = fake_study(3, replications=6, waits=dict.fromkeys(range(6), 0.3), compiles=tmp_path)
    result = sweep.run(study, tmp_path / "out", jobs=2)
    assert (result.done, result.failed) == (6, [])
    line = "compiling the loop of fake and fake, once on this machine: about 1 s\n"
    assert capfd.readouterr().err == line
    sweep.run(fake_study(3, replications=1, compiles=tmp_path), tmp_path / "here")
    assert capfd.readouterr().err == line


def test_a_scheduler_that_is_not_there_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setattr("netbandit.running.cluster._PATIENCE", 0.5)
    with pytest.raises(SchedulerError, match=r"^no dask scheduler answers at tcp://127\.0\.0\.1:9$"):
        sweep.run(fake_study(3), tmp_path, scheduler="tcp://127.0.0.1:9")


@pytest.mark.slow
def test_workers_on_all_cores_are_busy_for_85_percent_of_the_time(tmp_path):
    """Forty runs of a second for each core, from before the workers start until after they have ended."""
    cores, each = os.cpu_count() or 1, 40
    study = fake_study(3, replications=cores * each, waits=dict.fromkeys(range(cores * each), 1.0))
    began = time.monotonic()
    result = sweep.run(study, tmp_path, jobs=0)
    took = time.monotonic() - began
    assert (result.done, result.failed) == (cores * each, [])
    assert each / took >= 0.85, f"{each / took:.0%}"


@pytest.mark.ci
def test_a_hundred_thousand_replications_are_under_way_in_seconds(tmp_path):
    told = []

    def stopping(*numbers):
        told.append(numbers)
        raise KeyboardInterrupt

    began = time.process_time()
    with pytest.raises(Interrupted):
        sweep.run(fake_study(3, replications=10**5), tmp_path, progress=stopping)
    assert told == [(0, 10**5, 0, 1)]
    assert time.process_time() - began < 4


def test_a_results_folder_that_goes_away_is_not_blamed_on_workers(tmp_path):
    def removing(done, total, points_done, points):
        if done == 2:
            shutil.rmtree(tmp_path / "out")

    result = sweep.run(fake_study(3, replications=3), tmp_path / "out", progress=removing)
    assert [(run.replication, run.failure.text) for run in result.failed] == [
        (0, "the run ended, but its folder has been removed since"),
        (1, "the run ended, but its folder has been removed since"),
    ]
    assert (tmp_path / "out" / "table.csv").exists()


def test_what_is_looked_at_before_the_first_run_is_told(tmp_path):
    sweep.run(fake_study(3, replications=3), tmp_path)
    told = []
    study = fake_study(3, replications=4)
    sweep.run(
        study,
        tmp_path,
        looking=lambda done, total: told.append((done, total)),
        progress=lambda *numbers: told.append(numbers),
    )
    assert told == [(1, 3), (2, 3), (3, 3), (0, 1, 0, 1), (1, 1, 1, 1)]
