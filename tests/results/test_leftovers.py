"""What commands leave unfinished, and several that write into one folder at once."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from socket import gethostname

import pytest
from click.testing import CliRunner
from helpers.fake_study import FakePoint, FakeStudy, fake_study, resolved
from helpers.finished_runs import files, finished_runs

import netbandit as nb
from netbandit.cli import main
from netbandit.results import merging, results_folder
from netbandit.results.held_folders import opened
from netbandit.results.merging import MergeError, merge
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.safe_files import partial, remove_leftovers, whole
from netbandit.running.sweeps import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows locks no folders")


def test_a_folder_that_is_copied_from_an_old_one_is_not_taken_for_a_leftover(tmp_path):
    (tmp_path / "run").mkdir()
    os.utime(tmp_path / "run", (0, 0))
    with whole(tmp_path / "copy") as part:
        shutil.copytree(tmp_path / "run", part)
        assert remove_leftovers(tmp_path) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "run"]


@pytest.fixture(scope="module")
def dead():
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


OPENING = {
    "a reader": lambda out: ResultsFolder(out).finished_study(),
    "load_results": nb.load_results,
    "run": lambda out: run(fake_study(3, replications=2), out),
    "merge": lambda out: merge(out, [out]),
    "clean": lambda out: CliRunner().invoke(main, ["clean", str(out)]),
    "table": lambda out: CliRunner().invoke(main, ["table", str(out)]),
}


@pytest.mark.parametrize("opening", OPENING)
def test_what_killed_processes_left_is_gone_with_the_next_command_and_nothing_else(tmp_path, dead, opening):
    out = tmp_path / "out"
    run(fake_study(3, replications=2), out)
    before = files(out)
    (run_folder, _) = sorted((out / "runs").iterdir())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (out / "runs" / "abc").symlink_to(elsewhere)
    left = [folder / f".curves.json.{gethostname()}.{dead}.partial" for folder in (out, run_folder)]
    kept = [folder / f".curves.json.{gethostname()}.{os.getppid()}.partial" for folder in (out, run_folder)]
    kept += [elsewhere / left[0].name, out / f".curves.json.another-host.{dead}.partial"]
    copied = [out / "runs" / f".def.{gethostname()}.{process}.partial" for process in (dead, os.getppid())]
    for file in [*left, *kept, *(folder / "curves.json" for folder in copied)]:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    found = OPENING[opening](out)
    assert getattr(found, "exit_code", 0) == 0
    assert ("removed: 3 unfinished files" in getattr(found, "output", "")) == (opening == "clean")
    assert set(tmp_path.rglob("*.partial")) == {*kept, copied[1]}
    assert before.items() <= files(out).items()


def test_what_a_copy_has_not_finished_is_not_copied(tmp_path):
    run(fake_study(3, replications=1), tmp_path / "a")
    (run_folder,) = (tmp_path / "a" / "runs").iterdir()
    partial(run_folder / "page.html").touch()
    _, copied, _ = merge(tmp_path / "b", [tmp_path / "a"])
    assert copied == 1
    assert not list((tmp_path / "b").rglob("*.partial"))


def test_merges_into_one_folder_at_once_keep_all_runs(tmp_path):
    parts = [tmp_path / f"part {size}" for size in range(4, 10)]
    for size, part in enumerate(parts, 4):
        run(fake_study(3, size, replications=3), part)
    with ThreadPoolExecutor(len(parts)) as threads:
        assert sum(copied for _, copied, _ in threads.map(lambda part: merge(tmp_path / "out", [part]), parts)) == 21
    study = ResultsFolder(tmp_path / "out").study()
    assert sorted(point.parameters["topology.agents"] for point in study.points) == list(range(3, 10))
    assert study.missing == ()


@pytest.mark.parametrize("command", ["merge", "run"])
def test_a_folder_is_described_by_one_command_at_a_time(tmp_path, monkeypatch, command):
    run(fake_study(3, replications=1), tmp_path / "a")
    monkeypatch.setattr(merging, "write_table", lambda out, study: seen.append(is_free(out)))
    monkeypatch.setattr(results_folder, "write_table", lambda out, study: seen.append(is_free(out)))
    seen = []
    if command == "merge":
        merge(tmp_path / "b", [tmp_path / "a"])
    else:
        run(fake_study(3, replications=2), tmp_path / "b")
    assert seen == [False]
    assert is_free(tmp_path / "b")


def is_free(out):
    with opened(out) as other:
        return other.alone()


def test_a_merge_that_is_refused_makes_no_folder(tmp_path):
    run(fake_study(3, replications=1), tmp_path / "a")
    run(FakeStudy([FakePoint({}, resolved(3, 2, run={"horizon": 500}))]), tmp_path / "b")
    with pytest.raises(MergeError):
        merge(tmp_path / "c", [tmp_path / "a", tmp_path / "b"])
    assert not (tmp_path / "c").exists()


def test_a_results_folder_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    run(fake_study(3, 4, replications=1), tmp_path / "out")
    run(fake_study(4, 5, replications=1), tmp_path / "other")
    assert merge(tmp_path / "out", [tmp_path / "other"])[1] == 1
    assert (tmp_path / "out").is_symlink()
    assert len(finished_runs(tmp_path / "real")) == 3
