"""Every command and function that reads results says which runs are missing, and why."""

import pytest
from click.testing import CliRunner
from helpers.scenes import SMALL

import netbandit as nb
from netbandit.cli import main
from netbandit.results.results_folder import ResultsFolder


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Results of two points, of which a run was removed and another has failed."""
    place = tmp_path_factory.mktemp("missing")
    (place / "scene.toml").write_text(SMALL)
    words = ["--set", "sweep.topology.agents=[3, 4]", "--replications", "3", "--out", str(place / "out")]
    assert CliRunner().invoke(main, ["run", str(place / "scene.toml"), *words]).exit_code == 0
    keys = [key for point in ResultsFolder(place / "out").study().points for key in point.keys]
    for key in keys[1:4:2]:
        (place / "out" / "runs" / key / "result.json").unlink()
    (place / "out" / "runs" / keys[3] / "error.txt").write_text("it was cold")
    return place / "out"


def lines(out):
    removed, failed = (
        out / "runs" / key for key in [key for point in ResultsFolder(out).study().points for key in point.keys][1:4:2]
    )
    return [
        f"topology.agents = 3, replication 1: {removed} has no result.json",
        f"topology.agents = 4, replication 0: it failed, see {failed / 'error.txt'}",
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("command", ["plot", "table", "compare", "report", "links", "nodes"])
def test_commands_name_them(out, command):
    done = CliRunner().invoke(main, [command, str(out)])
    assert done.exit_code == 0
    heading = "2 runs of the study are missing; run the scenario again, or merge what was run elsewhere:"
    assert done.stderr.splitlines()[:3] == [heading, *(f"  {line}" for line in lines(out))]
    if command == "report":
        assert f"2 runs missing: {'; '.join(lines(out))}" in (out / "report.html").read_text()


def test_python_warns_of_them(out):
    with pytest.warns(
        UserWarning, match="2 runs missing; run the scenario again: topology.agents = 3, replication 1: "
    ):
        assert len(nb.load_results(out).query("metric == 'regret'")) == 4


@pytest.mark.ci
def test_all_are_counted_and_ten_are_named(out, tmp_path):
    words = ["--set", "sweep.topology.agents=[3, 4]", "--replications", "19:20", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(main, ["run", str(out.parent / "scene.toml"), *words]).exit_code == 0
    said = CliRunner().invoke(main, ["table", str(tmp_path / "out")]).stderr.splitlines()
    assert said[0].startswith("38 runs of the study are missing; ")
    assert [line.partition(":")[0] for line in said[1:11]] == [
        f"  topology.agents = 3, replication {replication}" for replication in range(10)
    ]
    assert said[11:] == ["  and 28 more"]
