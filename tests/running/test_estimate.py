"""What a study will take, before it runs: from short runs of its points, and close to what it does take."""

import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.results.safe_files import sealed, unsealed
from netbandit.running import estimate as estimating
from netbandit.running.estimate import PointEstimate, StudyEstimate, estimate, size_text
from netbandit.scenario.load import load
from netbandit.simulation.replication import RunnablePoint

SCENARIO = """
run = { horizon = 30_000, replications = 4 }
topology = { family = "ring", agents = 4 }
bandit = { kind = "bernoulli", arms = 3 }
learner = { kind = "thompson" }
protocol = { kind = "local" }
sweep.topology.agents = [3, 4, 24]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("estimate") / "one.toml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture(scope="module")
def found(file):
    return estimate(check(load(file)).points, enough=0.02)


@pytest.mark.parametrize(
    ("learner", "replications", "points", "said"),
    [("elimination", 20, 3, True), ("elimination", 29, 3, False), ("elimination", 20, 1, False), ("ucb", 20, 3, False)],
)
def test_means_that_results_will_not_compare_are_told_of(file, learner, replications, points, said):
    keys = [f"learner.kind={learner}", f"run.replications={replications}", "protocol.kind=relay"]
    tried = [PointEstimate(point, 1.0, 1.0) for point in check(load(file, keys)).points]
    lines = StudyEstimate(60, 1.0, 1.0, tuple(tried), points).lines()
    text = "20 replications can miss failures that happen in up to 14 % of runs"
    assert [line.startswith(text) for line in lines[1:]] == [True] * said


@pytest.mark.ci
def test_every_point_counts_with_its_replications(found):
    assert (found.runs, found.points, len(found.tried), found.failed) == (12, 3, 3, ())
    assert found.seconds == pytest.approx(4 * sum(one.seconds for one in found.tried))
    assert min(one.seconds for one in found.tried) > 0


def test_what_is_compiled_within_a_trial_is_not_taken_for_slots(file, monkeypatch):
    exchanged = set()

    def timed(point, slots, trace):
        compiling = 20.0 if slots >= 400 and not exchanged else 0.0  # the first exchange comes after 200 slots
        exchanged.update([slots] if slots >= 400 else [])
        return 0.01 + slots * point.resolved["topology"]["agents"] / 1e4 + compiling, (1.0, 1.0, 0.0)

    monkeypatch.setattr(estimating, "_timed", timed)
    assert [one.seconds for one in estimate(check(load(file)).points).tried] == pytest.approx([9.01, 12.01, 72.01])


@pytest.mark.ci
def test_what_dominates_is_said(found):
    uneven = [PointEstimate(one.point, seconds, 1.0) for one, seconds in zip(found.tried, (1.0, 1.0, 8.0), strict=True)]
    assert StudyEstimate(12, 40.0, 12.0, tuple(uneven), 3).dominating == "80 % of the time: topology.agents = 24"
    alike = [PointEstimate(one.point, 2.0, 1.0) for one in found.tried]
    assert StudyEstimate(12, 24.0, 12.0, tuple(alike), 3).dominating == ""


@pytest.mark.ci
def test_the_size_is_that_of_the_folders(found, tmp_path):
    one = found.tried[1]
    short = tmp_path / "short.toml"
    short.write_text(SCENARIO.replace("30_000", "3_000").replace("3, 4, 24", "3, 4"))
    points = check(load(short)).points
    guessed = estimate(points, enough=0.0).tried[1].bytes  # of 100 slots
    done = CliRunner().invoke(main, ["run", str(short), "--out", str(tmp_path / "out"), "--replications", "1"])
    assert done.exit_code == 0, done.output
    folders = [folder for folder in (tmp_path / "out" / "runs").iterdir() if '"agents": 4' in _text(folder)]
    size = sum(-(-file.stat().st_size // 4096) * 4096 for file in folders[0].iterdir())
    assert guessed == pytest.approx(size, rel=0.6)
    assert one.bytes >= 4096


def _text(folder):
    return (folder / "result.json").read_text()


@pytest.mark.ci
def test_some_points_stand_for_all(file):
    found = estimate(check(load(file)).points, most=2, enough=0.0)
    assert [one.point.parameters["topology.agents"] for one in found.tried] == [3, 24]
    assert "from 2 of 3 points" in found.lines()[0]
    few, long = (replace(one, seconds=seconds) for one, seconds in zip(found.tried, (1.0, 10.0), strict=True))
    differ = replace(found, tried=(few, long))
    assert differ.lines()[0].endswith("from 2 of 3 points, which differ by a factor of 10")


@pytest.mark.ci
def test_the_command_writes_nothing_and_says_it(file, tmp_path):
    done = CliRunner().invoke(main, ["run", str(file), "--estimate", "--jobs", "2", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert re.match(r"estimate: 12 runs, about \S+ \w+ on 2 idle cores, \S+ \w+ on one, \S+ kB on disk\n", done.stdout)
    assert not (tmp_path / "out").exists()


def test_a_point_whose_start_fails_is_said(tmp_path, monkeypatch):
    (tmp_path / "failing.py").write_text(
        "import netbandit as nb\n"
        "class Failing(nb.ArmBandit):\n"
        "    def means_at(self, slot):\n"
        "        raise RuntimeError('no data today')\n"
    )
    file = tmp_path / "fails.toml"
    file.write_text(SCENARIO.replace('kind = "bernoulli", arms = 3', 'kind = "failing:Failing"'))
    done = CliRunner().invoke(main, ["run", str(file), "--estimate"])
    assert done.exit_code == 0, done.output
    assert "what it takes cannot be said" in done.stdout
    assert "no data today" in done.stdout


@pytest.mark.ci
def test_a_study_that_may_be_long_is_run_and_not_tried(tmp_path, monkeypatch):
    """Ten million slots of twenty agents, which decide in epochs."""
    file = tmp_path / "long.toml"
    file.write_text(
        "run = { horizon = 10_000_000, replications = 2 }\n"
        'topology = { family = "star", agents = 20 }\n'
        'bandit = { kind = "bernoulli", arms = 3 }\n'
        'learner = { kind = "elimination" }\n'
        'protocol = { kind = "gis" }\n'
    )
    made = []
    simulation = RunnablePoint.simulation
    monkeypatch.setattr(
        RunnablePoint, "simulation", lambda point, number: made.append(number) or simulation(point, number)
    )
    done = CliRunner().invoke(main, ["run", str(file), "--out", str(tmp_path / "out")])
    assert (done.exit_code, done.stderr) == (0, "")
    assert made == [0, 1]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "took 5 times as long"), (5.0, "took 0.2 times as long"), (0.6, "")]
)
def test_an_estimate_that_runs_in_the_folder_refute_says_so(file, tmp_path, monkeypatch, seconds, said):
    """Each run in the folder took a second."""
    command = ["run", str(file), "--set", "run.horizon=100", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, [*command, "--replications", "0:2"])
    assert done.exit_code == 0, done.output
    for path in tmp_path.glob("runs/*/result.json"):
        whole = unsealed(path.read_bytes())
        whole["metrics"]["wall_s"] = 1.0
        path.write_text(sealed(whole))
    monkeypatch.setattr(estimating, "_tried", lambda point, *_: PointEstimate(point, seconds, 1.0))
    done = CliRunner().invoke(main, [*command, "--estimate"])
    assert ("already in" in done.stdout) == bool(said)
    if said:
        assert (
            f"the 6 runs already in {tmp_path} {said} as estimated: by these, all runs take about 12 s" in done.stdout
        )


@pytest.mark.ci
def test_equal_runs_are_counted_once(tmp_path):
    file = tmp_path / "one.toml"
    file.write_text(
        SCENARIO.replace('kind = "local"', 'kind = "silent"') + 'sweep.links.peer.latency = ["0 ms", "5 ms"]\n'
    )
    found = estimate(check(load(file)).points, enough=0.0)
    assert (found.runs, found.points, len(found.tried)) == (24, 3, 3)
    assert found.seconds == pytest.approx(4 * sum(one.seconds for one in found.tried))


@pytest.mark.parametrize(("size", "text"), [(10.0, "1 kB"), (8.2e6, "8.2 MB"), (3e9, "3 GB")])
def test_sizes_read_as_words(size, text):
    assert size_text(size) == text
