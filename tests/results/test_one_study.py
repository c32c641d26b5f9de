"""Another scenario does not take the place of results by mistake."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from helpers.fake_study import FakeDocument, FakePoint, FakeStudy, fake_study, resolved
from helpers.finished_runs import files
from helpers.scenes import SMALL

from netbandit.cli import main
from netbandit.results.results_folder import OtherStudyError
from netbandit.running.sweeps import run


def named(name, *sizes, **more):
    return replace(fake_study(*sizes, **more), document=FakeDocument({"name": name}))


def other(name, size, replications=2):
    """A study with another horizon."""
    point = FakePoint({"topology.agents": size}, resolved(size, replications, run={"horizon": 500}))
    return FakeStudy([point], document=FakeDocument({"name": name}))


def test_another_study_is_refused_and_nothing_changes(tmp_path):
    run(named("first", 3, 4, replications=2), tmp_path)
    (tmp_path / "report.html").write_text("page")
    before = files(tmp_path)
    with pytest.raises(OtherStudyError) as caught:
        run(other("second", 3), tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} holds the results of another study, 'first': run.horizon is 1000 there and 500 here; these would "
        "be lost: 4 runs, table.csv, summary.csv, report.html; name another folder by --out (in Python out=), or let "
        "'second' take its place by --replace (replace=True)"
    )
    assert files(tmp_path) == before


def test_a_sweep_and_other_values_under_the_same_name_go_on(tmp_path):
    run(named("first", 3, replications=2), tmp_path)
    assert run(named("first", 3, 4, replications=2), tmp_path).reused == 2


def test_replacing_removes_what_is_ours_and_nothing_else(tmp_path):
    run(named("first", 3, 4, replications=2), tmp_path)
    (tmp_path / "report.html").write_text("page")
    (tmp_path / "regret.png").write_bytes(b"")
    (tmp_path / "mine.png").write_bytes(b"")
    (tmp_path / "notes").mkdir()
    (tmp_path / "pictures.json").write_text('{"files": ["regret.png", "../outside.png"]}')
    (tmp_path.parent / "outside.png").write_bytes(b"")
    result = run(other("second", 3, replications=1), tmp_path, replace=True)
    assert (result.done, result.reused) == (1, 0)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"runs", "study.json", "table.csv", "summary.csv", "mine.png", "notes"}
    assert len(list((tmp_path / "runs").iterdir())) == 1
    assert (tmp_path.parent / "outside.png").exists()


def test_replacing_with_the_same_study_removes_nothing(tmp_path):
    run(named("first", 3, replications=2), tmp_path)
    assert run(named("second", 3, replications=2), tmp_path, replace=True).reused == 2


def test_the_command_refuses_before_the_first_of_several_scenarios_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.toml").write_text(SMALL)
    monkeypatch.setattr("netbandit.plots.plot_folder", lambda folder, **how: [])
    call = CliRunner().invoke
    assert call(main, ["run", "b.toml", "--out", "out/c", "--set", "run.horizon=60"]).exit_code == 0
    before = files(tmp_path)
    refused = call(main, ["run", "a.toml", "c.toml", "--out", "out"])
    assert refused.exit_code == 2
    assert refused.stdout == ""
    start = "Error: out/c holds the results of another study, 'b': run.horizon is 60 there and 400 here; these would be"
    assert refused.stderr.startswith(start)
    assert refused.stderr.count("\n") == 1
    assert files(tmp_path) == before
    assert call(main, ["run", "a.toml", "c.toml", "--out", "out", "--replace"]).exit_code == 0
    assert call(main, ["run", "b.toml", "--out", "out/c"]).exit_code == 0  # what it is counts, not its name
    assert call(main, ["run", "c.toml", "--out", "out/c", "--set", "topology.agents=5"]).exit_code == 2
