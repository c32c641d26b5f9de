"""Results as a pandas table: in a notebook, and in a Parquet file."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
from click.testing import CliRunner
from helpers.fake_study import fake_study, with_parameters
from helpers.processes import BACKSTOP, without_progress

import netbandit
from netbandit.api.results import Results
from netbandit.cli import main
from netbandit.results.safe_files import StorageError
from netbandit.results.tables import write_parquet
from netbandit.running import sweeps as sweep
from netbandit.scenario.errors import ScenarioError

TABLES = {
    "run": {"horizon": 300, "replications": 2},
    "topology": {"family": "ring", "agents": 4},
    "links": {"peer": {"latency": {"uniform": ["0 ms", "2 ms"]}}},
    "bandit": {"kind": "bernoulli", "arms": 3},
    "learner": {"kind": "elimination", "epsilon": float("inf")},
    "protocol": {"kind": "gis"},
}


def test_results_are_a_table_and_what_is_taken_from_them_a_plain_one(tmp_path):
    sweep.run(fake_study(3, 4), tmp_path)
    found = netbandit.load_results(tmp_path)
    assert isinstance(found, Results)
    assert type(found[["metric", "value"]]) is pandas.DataFrame
    assert found.pivot_table(index="topology.agents", columns="metric", values="value")["cost"].tolist() == [
        301.0,
        401.0,
    ]
    assert [point.parameters for point in found.study.points] == [{"topology.agents": 3}, {"topology.agents": 4}]


def test_a_notebook_shows_what_was_found(tmp_path):
    sweep.run(replace(fake_study(3, 4), document=replace(fake_study(3).document, data={"name": "a<b"})), tmp_path)
    page = netbandit.load_results(tmp_path)._repr_html_()
    assert "<caption>a&lt;b: 2 points, 6 runs, 48 rows; at every point: rounds 4</caption>" in page
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    assert len(rows) == 3
    assert ["301.0 ± 2.5" in row for row in rows] == [False, True, False]
    assert len({len(re.findall(r"<t[hd]\b", row)) for row in rows}) == 1
    tags = re.findall(r"<(/?)(\w+)", page)
    assert all(tags.count(("", name)) == tags.count(("/", name)) for _, name in tags)


def test_one_point_is_shown_by_metric(tmp_path):
    sweep.run(fake_study(3), tmp_path)
    assert "regret per agent" in netbandit.load_results(tmp_path)._repr_html_()


def test_a_parquet_file_is_the_same_table(tmp_path):
    sweep.run(fake_study(3, 4), tmp_path)
    found = netbandit.load_results(tmp_path)
    path = write_parquet(tmp_path, found.study)
    again = pandas.read_parquet(path)
    assert again["value"].tolist()[:3] == found["value"].tolist()[:3]
    pandas.testing.assert_frame_equal(again, pandas.DataFrame(found), check_dtype=False)
    assert not list(tmp_path.glob(".*"))


def test_values_of_several_kinds_are_text_in_a_parquet_file(tmp_path):
    study = with_parameters({"a": [1, 2], "b": 1, "d": 1}, {"a": "word", "b": 2.5, "c": True})
    result = sweep.run(study, tmp_path)
    table = pandas.read_parquet(write_parquet(tmp_path, result.study)).drop_duplicates("run")
    assert table["a"].tolist() == ["[1, 2]", "word"]
    assert table["b"].tolist() == [1.0, 2.5]
    assert table["c"].isna().tolist() == [True, False]
    assert table["d"].isna().tolist() == [False, True]


def test_lists_and_tables_can_be_grouped_by(tmp_path):
    sweep.run(with_parameters({"a": [1, 2], "b": {"c": 1}}, {"a": [3], "b": 4}), tmp_path)
    found = netbandit.load_results(tmp_path)
    costs = found[found["metric"] == "cost"].groupby(["a", "b"])["value"].sum()
    assert costs.to_dict() == {("[1, 2]", '{"c": 1}'): 300.0, ("[3]", 4): 400.0}
    assert found.links().groupby("a")["link"].count().to_dict() == {"[1, 2]": 2, "[3]": 3}
    assert netbandit.compare(found, "cost", {"a": [1, 2], "b": {"c": 1}})["difference"].tolist() == [100.0]


def test_a_parquet_file_that_cannot_be_written_is_one_clear_error(tmp_path):
    result = sweep.run(fake_study(3), tmp_path)
    (tmp_path / "table.parquet").mkdir()
    with pytest.raises(StorageError):
        write_parquet(tmp_path, result.study)
    assert not list(tmp_path.glob(".*"))


def test_a_stale_parquet_file_goes_with_the_next_runs(tmp_path):
    result = sweep.run(fake_study(3), tmp_path)
    write_parquet(tmp_path, result.study)
    sweep.run(fake_study(3), tmp_path)
    assert (tmp_path / "table.parquet").exists()
    sweep.run(fake_study(3, replications=4), tmp_path)
    assert not (tmp_path / "table.parquet").exists()


def test_the_command_writes_it_or_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    netbandit.run(TABLES, out="first")
    from netbandit.scenario.toml_text import toml_text

    (tmp_path / "s.toml").write_text(toml_text(TABLES))
    done = CliRunner().invoke(main, ["run", "s.toml", "--parquet"])
    assert done.exit_code == 0, done.output
    read = pandas.read_parquet("results/s/table.parquet")
    pandas.testing.assert_frame_equal(read, pandas.DataFrame(netbandit.load_results("results/s")), check_dtype=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed
    done = CliRunner().invoke(main, ["run", "s.toml", "--parquet", "--out", "other"])
    assert done.exit_code == 2
    assert "pip install 'netbandit[parquet]'" in done.stderr
    assert not (tmp_path / "other").exists()


def regret(found):
    return found[found["metric"] == "regret"]["value"].tolist()


def test_tables_run_like_the_file_that_has_them(tmp_path, monkeypatch):
    from netbandit.scenario.toml_text import toml_text

    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(toml_text(TABLES))
    from_tables = netbandit.run(TABLES)
    assert len(list((tmp_path / "results").glob("scenario-????????/table.csv"))) == 1  # a scenario without a name
    assert regret(from_tables) == regret(netbandit.run("s.toml"))
    assert regret(from_tables) != regret(netbandit.run(TABLES, run__seed=1, out="other"))


def test_a_mistake_in_tables_is_told_with_its_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"scenario: run\.horizont: .*did you mean \"horizon\""):
        netbandit.run(TABLES | {"run": {"horizont": 3}})
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_runs_all_combinations_of_its_lists(tmp_path):
    found = netbandit.sweep(
        TABLES, topology__family=["star", "ring"], topology__agents=(4, 5), run__horizon=200, out=tmp_path
    )
    points = [
        (point.parameters["topology.family"], point.parameters["topology.agents"]) for point in found.study.points
    ]
    assert points == [("star", 4), ("star", 5), ("ring", 4), ("ring", 5)]
    assert len(regret(found)) == 8
    assert found.study.points[0].finished[0].resolved["run"]["horizon"] == 200
    alone = netbandit.run(TABLES, topology__family="ring", topology__agents=5, run__horizon=200, out=tmp_path / "one")
    assert regret(alone) == regret(found)[-2:]


@pytest.mark.ci
def test_a_script_without_a_main_guard_may_use_several_processes(tmp_path):
    (tmp_path / "script.py").write_text(
        f"import netbandit\n"
        f"inf = float('inf')\n"
        f"found = netbandit.sweep({TABLES!r}, topology__agents=[3, 4], jobs=2, out='out')\n"
        f"print(len(found[found.metric == 'regret']))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(netbandit.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=BACKSTOP
    )
    assert (done.returncode, done.stdout, without_progress(done.stderr)) == (0, "4\n", "")
