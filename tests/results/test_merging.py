"""Runs of one study from several folders, and runs of no study."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from helpers.fake_study import FakePoint, FakeStudy, fake_study, resolved
from helpers.finished_runs import files, finished_runs
from helpers.scenes import SMALL

from netbandit.cli import main
from netbandit.results.merging import MergeError, leftovers, merge
from netbandit.results.results_folder import ResultsFolder
from netbandit.running.sweeps import run


def invoke(*arguments, **more):
    return CliRunner().invoke(main, list(map(str, arguments)), **more)


def test_parts_of_the_replications_are_the_whole(tmp_path):
    run(fake_study(3, 4, replications=2), tmp_path / "a")
    run(fake_study(3, 4, replications=5), tmp_path / "b", first=2)
    before = files(tmp_path / "b")
    study, copied, damaged = merge(tmp_path / "a", [tmp_path / "b"])
    assert (copied, damaged, study.missing) == (6, [], ())
    run(fake_study(3, 4, replications=5), tmp_path / "whole")
    assert (tmp_path / "a" / "table.csv").read_bytes() == (tmp_path / "whole" / "table.csv").read_bytes()
    assert files(tmp_path / "b") == before
    assert run(fake_study(3, 4, replications=5), tmp_path / "a").done == 0


def test_parts_of_the_points_come_into_a_folder_of_their_own(tmp_path):
    run(fake_study(3, 4, replications=2), tmp_path / "a")
    run(fake_study(4, 5, replications=3), tmp_path / "b")
    study, copied, _ = merge(tmp_path / "c", [tmp_path / "a", tmp_path / "b"])
    assert copied == 8
    assert [point.parameters["topology.agents"] for point in study.points] == [3, 4, 5]
    assert [len(point.finished) for point in study.points] == [2, 3, 3]
    assert len(finished_runs(tmp_path / "c")) == 8


def test_what_is_missing_is_said_and_what_is_damaged_left(tmp_path):
    run(fake_study(3, replications=1), tmp_path / "a")
    run(fake_study(3, replications=4), tmp_path / "b", first=2)
    keys = ResultsFolder(tmp_path / "b").study().points[0].keys
    run_folder = tmp_path / "b" / "runs" / keys[2]
    (run_folder / "curves.json").write_text("{}")
    study, copied, damaged = merge(tmp_path / "a", [tmp_path / "b"])
    assert copied == 1
    assert damaged == [f"{run_folder}: curves.json does not match its checksum"]
    gone = [(replication, tmp_path / "a" / "runs" / keys[replication]) for replication in (1, 2)]
    assert study.missing == tuple(
        f"topology.agents = 3, replication {replication}: {folder} has no result.json" for replication, folder in gone
    )


def test_another_study_is_not_merged(tmp_path):
    run(fake_study(3, replications=2), tmp_path / "a")
    other = FakeStudy([FakePoint({"topology.agents": 3}, resolved(3, 2, run={"horizon": 500}))])
    run(other, tmp_path / "b")
    before = files(tmp_path)
    with pytest.raises(MergeError, match=r"another study than .*: run\.horizon is 1000 there and 500 here"):
        merge(tmp_path / "a", [tmp_path / "b"])
    with pytest.raises(MergeError, match="is not a results folder"):
        merge(tmp_path / "a", [tmp_path / "nowhere"])
    assert files(tmp_path) == before


def test_runs_made_with_another_file_are_not_merged(tmp_path):
    for folder, text in (("a", "one"), ("b", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net").write_text(text)
        study = fake_study(3, replications=1)
        points = [replace(point, inputs={"topology.file": tmp_path / folder / "net"}) for point in study.points]
        run(replace(study, points=points), tmp_path / folder / "out")
    with pytest.raises(MergeError, match="a file or a class that they name has not the same content"):
        merge(tmp_path / "a" / "out", [tmp_path / "b" / "out"])


def test_runs_of_no_study_are_listed_before_they_go(tmp_path):
    run(fake_study(3, replications=2), tmp_path)
    assert leftovers(tmp_path) == []
    run(fake_study(4, replications=1), tmp_path, alone=True)
    assert [one.folder.parent.name for one in leftovers(tmp_path)] == ["runs", "runs"]
    asked = invoke("clean", tmp_path, input="n\n")
    assert asked.exit_code == 0
    assert asked.output.count(str(tmp_path / "runs")) == 2
    assert "nothing removed" in asked.output
    assert len(list((tmp_path / "runs").iterdir())) == 3
    assert "removed: 2 runs of no study" in invoke("clean", tmp_path, "--yes").output
    assert len(list((tmp_path / "runs").iterdir())) == 1
    assert len(ResultsFolder(tmp_path).study().points[0].finished) == 1
    assert "every run belongs to its study" in invoke("clean", tmp_path).output
    assert invoke("clean", tmp_path / "runs").exit_code == 2


def test_commands_run_parts_and_put_them_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("netbandit.plots.plot_folder", lambda folder, **how: [])
    (tmp_path / "a.toml").write_text(SMALL)
    for part, out in (("0:2", "one"), ("2:3", "two")):
        assert invoke("run", "a.toml", "--replications", part, "--out", out).exit_code == 0
    assert [run.replication for run in finished_runs(tmp_path / "two")] == [2]
    merged = invoke("merge", "one", "two")
    assert merged.output == "results: one, 1 point, 3 runs (1 copied)\n"
    assert [run.replication for run in finished_runs(tmp_path / "one")] == [0, 1, 2]
    empty = invoke("run", "a.toml", "--replications", "3:3", "--out", "one")
    assert empty.exit_code == 2
    assert "--replications 3:3 is empty" in empty.output
    assert invoke("merge", "one").exit_code == 2
    assert "Error: nowhere is not a results folder" in invoke("merge", "one", "nowhere").output
