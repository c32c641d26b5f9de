import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import click
import numpy as np
import pytest
from click.testing import CliRunner

import netbandit
from netbandit.cli import main
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.result import Curve, LinkUse, RunResult
from netbandit.simulation.sweep_point import Point


@dataclass(frozen=True)
class Replication:
    point: "Point"
    number: int

    def run(self, trace=None):
        resolved = self.point.resolved
        failing = resolved["learner"].get("fails")
        if failing is not None and self.number == failing:
            raise ValueError("no route")
        if self.number == resolved["learner"].get("interrupts"):
            raise KeyboardInterrupt
        if trace is not None:
            trace.write_text("{}\n")
        agents, horizon = resolved["topology"]["agents"], resolved["run"]["horizon"]
        regret = float(agents + self.number)
        return RunResult(
            name=resolved["name"],
            parameters=self.point.parameters,
            resolved=resolved,
            seed=resolved["run"]["seed"],
            replication=self.number,
            metrics={"regret": regret, "cost": 3 * agents, "epsilon": None},
            kinds={},
            topology={"agents": agents, "links": 2, "diameter": 1, "radius": 1},
            curves={"regret": Curve(np.array([0, horizon]), np.array([0.0, regret]))},
            links=LinkUse(*(np.array([0]), np.array([1])), *(np.array([agents]) for _ in range(3))),
            fingerprint=f"{agents}-{self.number}",
            versions={},
        )


@dataclass(frozen=True)
class RunnablePoint(Point):
    def simulation(self, replication):
        return Replication(self, replication)


@dataclass(frozen=True)
class Study:
    document: object
    points: list
    notes: list = field(default_factory=list)
    unchecked: int = 0


def check(document, watch=None, own_code=True):
    """What stands for the simulator here: it knows no more of a scenario than this."""
    if document.data["topology"].get("agents") == 0:
        raise document.error([(("topology", "agents"), "must be at least 1, not 0"), (("run", "slots"), "unknown key")])
    from netbandit.scenario.sweep import expand

    points = []
    for point in expand(document.data, document.parameters):
        run = {"seed": 0, "replications": 1, **point.data["run"]}
        if not isinstance(run["seed"], int):
            raise document.error([(("run", "seed"), f"must be an integer, not {run['seed']!r}")])
        points.append(RunnablePoint(point.parameters, {**point.data, "run": run}))
    set_idly = "learner.delta" in document.parameters
    return Study(document, points, ["a.toml:1:1: learner.delta: not used"] if set_idly else [])


SCENARIO = """
[run]
horizon = 100
replications = 2
[topology]
family = "star"
agents = 3
[bandit]
kind = "bernoulli"
[learner]
kind = "elimination"
[protocol]
kind = "gis"
"""
SWEEP = SCENARIO + "[sweep]\n'topology.agents' = [3, 4]\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder to work in, with a simulator that does no simulation."""
    parts = ModuleType("netbandit.checks.check")
    parts.check = check
    monkeypatch.setitem(sys.modules, "netbandit.checks.check", parts)
    monkeypatch.setattr("netbandit.plots.plot_folder", draw)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "star.toml").write_text(SCENARIO)
    (tmp_path / "sizes.toml").write_text(SWEEP)
    return tmp_path


def draw(folder, **_how):
    (folder.path / "regret.png").write_bytes(b"")
    return [folder.path / "regret.png"]


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_a_run_prints_a_table_the_folder_and_the_pictures(place):
    done = call("run", "sizes.toml")
    assert (done.exit_code, [line for line in done.stderr.splitlines() if not line.startswith("imports ")]) == (0, [])
    lines = done.stdout.splitlines()
    assert lines[0] == "sizes, 2 points, 2 replications each"
    assert any("3.5 ± 6.4" in line for line in lines)
    assert lines[-2:] == [f"results: {Path('results/sizes')}", f"picture: {Path('results/sizes/regret.png')}"]
    assert sorted(path.name for path in (place / "results" / "sizes").iterdir() if path.is_file()) == [
        "regret.png",
        "study.json",
        "summary.csv",
        "table.csv",
    ]
    assert len(list((place / "results" / "sizes").glob("runs/*/result.json"))) == 4


def test_json_is_one_object_on_stdout_and_all_else_is_on_stderr(place):
    done = call("run", "sizes.toml", "--json", "--out", "here")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["scenario"] == "sizes"
    assert found["version"] == netbandit.__version__
    assert [point["parameters"] for point in found["points"]] == [{"topology.agents": 3}, {"topology.agents": 4}]
    assert found["points"][0]["metrics"]["regret"]["values"] == [3.0, 4.0]
    assert found["points"][0]["fingerprints"] == ["3-0", "3-1"]
    assert "results: here" in done.stderr
    assert "2 points" in done.stderr


def test_set_seed_and_replications_change_the_scenario(place):
    done = call("run", "star.toml", "--set", "topology.agents=7", "--seed", "5", "--replications", 3, "--json")
    point = json.loads(done.stdout)["points"][0]
    assert point["parameters"]["topology.agents"] == 7
    assert point["parameters"]["run.seed"] == 5
    assert point["metrics"]["regret"]["values"] == [7.0, 8.0, 9.0]


def test_what_is_there_is_not_done_again(place):
    call("run", "star.toml")
    done = call("run", "star.toml", "--replications", 5)
    assert f"results: {Path('results/star')} (2 runs of 5 already there)" in done.stdout.splitlines()


def test_all_mistakes_of_all_files_are_told_and_nothing_is_written(place):
    (place / "none.toml").write_text(SCENARIO.replace("agents = 3", "agents = 0"))
    before = sorted(place.iterdir())
    done = call("run", "none.toml", "star.toml", "missing.toml", "--out", "here")
    assert (done.exit_code, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("none.toml:2:1: run.slots: ")
    assert lines[1].startswith("none.toml:7:1: topology.agents: must be at least 1, not 0")
    assert lines[2].startswith("missing.toml:1:1: ")
    assert len(lines) == 3
    assert sorted(place.iterdir()) == before


@pytest.mark.usefixtures("place")
def test_a_value_that_the_shell_has_cut_is_told_to_be_quoted():
    done = call("check", "star.toml", "--set", "run.slot=5", "ms")
    advice = "ms:1:1: file: no such file; if this is part of a value, quote it: --set 'run.slot=5 ms'"
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, advice)
    assert call("check", "star.toml", "--set", "run.slot=5 ms").exit_code == 0
    assert call("check", "star.toml", "none", "--set", "name=x").stderr.endswith("none:1:1: file: no such file\n")


def test_a_bad_seed_is_told_like_a_set(place):
    done = call("run", "star.toml", "--seed", "many")
    assert (done.exit_code, done.stderr) == (2, "--set run.seed: run.seed: must be an integer, not 'many'\n")


def test_a_mistake_in_set_is_told_once_for_all_files(place):
    done = call("run", "star.toml", "sizes.toml", "--set", "topology")
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1


def test_several_files_have_a_folder_each(place):
    done = call("run", "star.toml", "sizes.toml", "--out", "all")
    assert done.exit_code == 0
    assert sorted(path.name for path in (place / "all").iterdir()) == ["sizes", "star"]


def test_several_files_of_one_name_are_a_mistake(place):
    (place / "deeper").mkdir()
    (place / "deeper" / "star.toml").write_text(SCENARIO)
    done = call("run", "star.toml", Path("deeper/star.toml"))
    assert done.exit_code == 2
    assert "have the same name" in done.stderr
    assert not (place / "results").exists()


def test_json_of_several_files_is_a_mistake(place):
    done = call("run", "star.toml", "sizes.toml", "--json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert not (place / "results").exists()


def test_failed_runs_are_told_at_the_end(place):
    done = call("run", "sizes.toml", "--set", "learner.fails=1", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["points"][0]["metrics"]["regret"]["values"] == [3.0, None]
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()[-2:]
    assert lines[0] == "2 runs failed; the same command tries again:"
    assert lines[1].startswith(
        "  topology.agents = 3, learner.fails = 1, replication 1: ValueError: no route, in "
    ) or lines[1].startswith("  learner.fails = 1, topology.agents = 3, replication 1: ValueError: no route, in ")
    assert lines[1].endswith("; the same in 1 other run")  # that of the other point
    report = Path(lines[1].rpartition("(see ")[2].partition(")")[0])
    assert report.read_text().startswith("Traceback")


def test_when_every_run_fails_there_is_no_picture(place):
    done = call("run", "star.toml", "--set", "learner.fails=0", "--replications", 1)
    assert done.exit_code == 1
    assert "picture" not in done.output


def test_pictures_that_cannot_be_drawn_do_not_take_the_results_along(place, monkeypatch):
    def fails(folder, **how):
        raise RuntimeError("no colours")

    monkeypatch.setattr("netbandit.plots.plot_folder", fails)
    done = call("run", "star.toml")
    assert done.exit_code == 1
    assert done.stderr == "the pictures could not be drawn: RuntimeError: no colours\n"
    assert "results: " in done.stdout


def test_ctrl_c_says_how_to_go_on(place):
    done = call("run", "star.toml", "--replications", 4, "--set", "learner.interrupts=2")
    assert done.exit_code == 130
    assert done.stderr == "\nstopped: 2 of 4 runs are done; the same command continues from there\n"
    assert done.stdout == ""


def test_results_that_cannot_be_written_are_one_line(place):
    (place / "here").write_text("mine")
    done = call("run", "star.toml", "--out", "here")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "there is a file where a folder should be" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (place / "here").read_text() == "mine"


def test_a_scheduler_that_is_not_there_is_one_line(place, monkeypatch):
    monkeypatch.setattr("netbandit.running.cluster._PATIENCE", 0.5)
    done = call("run", "star.toml", "--scheduler", "tcp://127.0.0.1:9")
    assert (done.exit_code, done.stderr) == (1, "Error: no dask scheduler answers at tcp://127.0.0.1:9\n")


def test_a_trace_is_written_where_it_is_asked_for(place):
    call("run", "star.toml", "--trace", "--replications", 1)
    assert len(list(place.glob("results/star/runs/*/trace.jsonl"))) == 1


def test_check_counts_points_and_runs_and_passes_notes_on(place):
    done = call("check", "star.toml", "sizes.toml", "--set", "learner.delta=0.1")
    assert (done.exit_code, [line for line in done.stderr.splitlines() if not line.startswith("imports ")]) == (0, [])
    assert done.stdout.splitlines() == [
        "star.toml: ok, 1 point, 2 runs",
        "a.toml:1:1: learner.delta: not used",
        "sizes.toml: ok, 2 points, 4 runs",
        "a.toml:1:1: learner.delta: not used",
    ]
    assert not (place / "results").exists()
    done = call("run", "star.toml", "--set", "learner.delta=0.1")
    assert (done.exit_code, done.stderr) == (0, "a.toml:1:1: learner.delta: not used\n")


@pytest.mark.parametrize("differs", [False, True])
def test_check_says_once_how_points_are_executed_if_it_is_the_same(place, monkeypatch, differs):
    def plan(point):
        return ["messages: in bulk", f"decisions: {point.parameters if differs else 'in a compiled loop'}"]

    monkeypatch.setattr("netbandit.checks.execution_plan.execution_plan", plan)
    done = call("check", "sizes.toml", "--execution")
    head, *lines = done.stdout.splitlines()
    assert (done.exit_code, head, len(lines)) == (0, "sizes.toml: ok, 2 points, 4 runs", 4 if differs else 2)
    assert lines[0] == "  topology.agents = 3: messages: in bulk" if differs else "  messages: in bulk"
    assert not (place / "results").exists()


def test_check_tells_mistakes(place):
    done = call("check", "star.toml", "--set", "topology.agents=0")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("--set topology.agents: topology.agents: must be at least 1")


def test_plot_draws_the_pictures_of_a_folder(place):
    call("run", "star.toml")
    done = call("plot", Path("results/star"))
    assert (done.exit_code, done.stdout) == (0, f"{Path('results/star/regret.png')}\n")


def test_plot_of_what_is_not_a_results_folder_is_one_line(place):
    (place / "empty").mkdir()
    for folder, code in (("empty", 2), ("missing", 2), ("star.toml", 2)):
        done = call("plot", folder)
        assert done.exit_code == code
        assert "Error: " in done.stderr
        assert "Traceback" not in done.stderr


def test_the_version_is_that_of_the_package():
    assert call("--version").stdout == f"netbandit, version {netbandit.__version__}\n"


@pytest.mark.parametrize("arguments", [["run"], ["check"], ["run", "a.toml", "--jobs", "-1"], ["fly"], ["run", "--x"]])
def test_a_mistake_on_the_command_line_ends_with_two(arguments):
    done = call(*arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr


SLOW = [
    "numba",
    "matplotlib",
    "pandas",
    "dask",
    "distributed",
    "scipy",
    "pydantic",
    "numpy",
    "networkx",
    "rich",
    "jinja2",
]


def test_the_help_lists_every_command_in_a_group_of_its_own_and_cuts_no_line():
    text = CliRunner().invoke(main, ["--help"]).stdout
    groups = [block.splitlines() for block in text.split("\n\n")][-3:]
    assert [lines[0] for lines in groups] == ["A study:", "Look inside:", "Evidence and upkeep:"]
    assert [line.split()[0] for lines in groups for line in lines[1:]] == [*main.commands]
    assert not [line for lines in groups for line in lines if line.endswith("...")]


def test_the_help_of_a_command_with_many_options_begins_with_five_common_ones():
    for name, command in main.commands.items():
        text = CliRunner().invoke(main, [name, "--help"]).stdout
        options = [option for option in command.params if isinstance(option, click.Option)]
        common, _, others = text.partition("Other options:")
        assert bool(others) == (len(options) > 7)
        if others:
            listed = common.partition("Common options:")[2].splitlines()
            assert [line.split()[0].strip(",") for line in listed if line[:3] == "  -"] == [
                o.opts[0] for o in options[:5]
            ]


@pytest.mark.parametrize("code", ["import netbandit", "from netbandit.cli import main; main(['--help'])"])
def test_help_and_import_load_nothing_slow(code):
    script = f"import sys, atexit; atexit.register(lambda: print([m for m in {SLOW} if m in sys.modules])); {code}"
    environment = os.environ | {"PYTHONPATH": str(Path(netbandit.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_package_offers_run_and_load_results(place):
    table = netbandit.run("sizes.toml", out="here", run__replications=3, topology__family="ring")
    assert list(table.columns)[-5:] == ["replication", "seed", "metric", "value", "run"]
    regret = table[table["metric"] == "regret"]
    assert regret["topology.agents"].tolist() == [3, 3, 3, 4, 4, 4]
    assert regret["value"].tolist() == [3.0, 4.0, 5.0, 4.0, 5.0, 6.0]
    assert table[table["metric"] == "epsilon"]["value"].isna().all()
    assert netbandit.load_results("here").equals(table)
    assert {"run", "load_results"} <= set(dir(netbandit))
    with pytest.raises(AttributeError, match="has no attribute 'fly'"):
        netbandit.fly  # noqa: B018


def test_the_package_raises_what_the_command_prints(place):
    with pytest.raises(ScenarioError, match=r"run\.seed: must be an integer"):
        netbandit.run("star.toml", run__seed="many")
    from netbandit.api import RunsFailedError

    with pytest.raises(RunsFailedError, match="1 run failed, the first is replication 1 of"):
        netbandit.run("star.toml", learner__fails=1)
    with pytest.raises(FileNotFoundError):
        netbandit.load_results(place)


@pytest.mark.parametrize("value", ["word", 'a "b" \\ c', 3, 2.5, True, [1, [2, 3]], float("inf"), {"a b": "1 ms"}])
def test_values_given_from_python_arrive_as_they_are(place, value):
    from netbandit.scenario.toml_text import toml_value

    document = load("star.toml", [f"learner.value={toml_value(value)}"])
    assert document.data["learner"]["value"] == value


def shown(*arguments):
    done = call("topology", *arguments)
    assert (done.exit_code, [line for line in done.stderr.splitlines() if not line.startswith("imports ")]) == (0, [])
    return dict(line.rsplit("  ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("family", "links", "diameter", "radius", "slots", "activations"),
    [("complete", 1225, 1, 1, 1, 1225), ("star", 49, 2, 1, 2, 98), ("ring", 50, 25, 25, 25, 1250)],
)
def test_topology_shows_the_figures_of_a_family(family, links, diameter, radius, slots, activations):
    found = {name.strip(): value for name, value in shown(family, "--agents", 50).items()}
    assert found == {
        "nodes": "50",
        "links": str(links),
        "diameter": str(diameter),
        "radius": str(radius),
        "sink": "0",
        "hops of a round of gis": str(slots),
        "links of a round of gis": str(activations),
        # Links take no time here, but slotted a hop takes a slot, and a handshake no longer.
        "link latency (ms)": "0 to 0",
        "round of master-worker": "0 ms, 0 slots",
        "round of gis": f"{slots} ms, {slots} slot{'s' * (slots > 1)}",
        "round of flooding": f"{slots} ms, {slots} slot{'s' * (slots > 1)}",
        "round of sink": f"{radius} ms, {radius} slot{'s' * (radius > 1)}",
        "bridges": {
            "star": "49: 0 - 1 (49 pairs), 0 - 2 (49 pairs), 0 - 3 (49 pairs), 0 - 4 (49 pairs), "
            "0 - 5 (49 pairs) and 44 more"
        }.get(family, "none"),
        "cut nodes": {"star": "1: 0 (1176 pairs)"}.get(family, "none"),
    }


def test_topology_takes_the_keys_of_a_family():
    found = {name.strip(): value for name, value in shown("hybrid", "--set", "components=[20, 20, 20]").items()}
    assert (found["components"], found["sinks"], found["links"]) == ("3", "0, 20, 40", "570")
    one = shown("random", "--agents", 50, "--set", "topology.p=0.2", "--set", "seed=1")
    other = shown("random", "--agents", 50, "--set", "topology.p=0.2", "--set", "seed=2")
    assert one == shown("random", "--agents", 50, "--set", "p=0.2", "--set", "seed=1")
    assert one != other


def test_topology_takes_a_family_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "wheels_of_mine.py").write_text(
        "import networkx\nimport netbandit as nb\n\nclass Wheel(nb.Family):\n    agents: int\n\n"
        "    def build(self, rng):\n        return networkx.wheel_graph(self.agents)\n"
    )
    monkeypatch.chdir(tmp_path)
    found = {name.strip(): value for name, value in shown("wheels_of_mine:Wheel", "--agents", 9).items()}
    assert (found["nodes"], found["links"], found["diameter"], found["hops of a round of gis"]) == ("9", "16", "2", "2")
    done = call("topology", "wheels_of_mine:Wheel", "--agents", 9, "--plot", "wheel.svg")
    assert (done.exit_code, (tmp_path / "wheel.svg").exists()) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["ring"], "--agents: agents: "),
        (["ring", "--agents", "2"], "--agents: agents: a ring has at least 3 agents"),
        (["ring", "--agents", "few"], "--agents: agents: must be an integer"),
        (["random", "--agents", "9"], "--set p: p: missing"),
        (["random", "--agents", "9", "--set", "p=0.5", "--set", "q=1"], "--set q: q: unknown key"),
        (["random", "--agents", "9", "--set", "p.q=1"], "--set p.q: p.q: "),
        (["circle", "--agents", "9"], "circle: neither a file nor a family"),
        (["nowhere:Circle", "--agents", "9"], "nowhere:Circle: cannot import nowhere: ModuleNotFoundError"),
        (["missing.toml"], "missing.toml:1:1: "),
    ],
)
def test_a_mistake_in_a_topology_is_one_line(arguments, line):
    done = call("topology", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(line)
    assert len(done.stderr.splitlines()) == 1


def test_topology_draws_a_picture(tmp_path):
    done = call("topology", "star", "--agents", 5, "--plot", tmp_path / "star.svg")
    assert done.exit_code == 0
    assert (tmp_path / "star.svg").read_text().startswith("<?xml")
    for file, code in ((tmp_path / "star.gif", 2), (tmp_path / "missing" / "star.png", 1)):
        done = call("topology", "star", "--agents", 5, "--plot", file)
        assert done.exit_code == code
        assert "Traceback" not in done.stderr


@pytest.mark.ci
def test_compare_looks_at_decisions_where_users_went_away(tmp_path):
    """Who is not served adds no regret: by that the farthest participants would look best."""
    from helpers.gathering import SCENARIO

    file, out = tmp_path / "far.toml", tmp_path / "far"
    file.write_text(SCENARIO + '[sweep]\nlinks.peer.latency = ["0 ms", "3.5 ms"]\n')
    runner = CliRunner()
    assert runner.invoke(main, ["run", str(file), "--replications", "2", "--out", str(out), "--json"]).exit_code == 0
    compared = runner.invoke(main, ["compare", str(out)])
    assert compared.exit_code == 0
    assert "regret per decision" in compared.stdout.replace("_", " ")


def test_check_names_the_valid_files_beside_the_mistakes_of_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = (
        'run = { horizon = 9 }\nbandit = { kind = "bernoulli", arms = 2 }\nlearner = { kind = "ucb" }\n'
        'protocol = { kind = "silent" }\n'
    )
    (tmp_path / "good.toml").write_text(tables + 'topology = { family = "ring", agents = 3 }\n')
    (tmp_path / "bad.toml").write_text(tables + 'topology = { kind = "ring", agents = 3 }\n')
    done = call("check", "bad.toml", "good.toml")
    assert (done.exit_code, done.stdout) == (2, "good.toml: ok, 1 point, 1 run\n")
    assert done.stderr.startswith("bad.toml:5:1: topology.family: is missing, must be a string: a known family, or ")
    assert done.stderr.endswith('(did you mean "family" for "kind"?)\n')
    (tmp_path / "bad.toml").write_text(tables + 'topology = { family = "ring", kind = "ring", agents = 3 }\n')
    assert call("check", "bad.toml").stderr.endswith('(did you mean "family"?)\n')


@pytest.mark.parametrize("arguments", [["report", "nowhere"], ["trace", "nowhere"], ["reproduce", "nowhere"]])
def test_every_mistake_that_stands_in_no_file_has_the_same_prefix(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")


def options_of_commands(command=main, path=()):
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from options_of_commands(inner, (*path, name))
    for name in [name for one in command.params if isinstance(one, click.Option) for name in one.opts]:
        if path and name.startswith("--"):
            yield path, name


TURNED = {"maximize": "minimize", "minimize": "maximize", "maximise": "minimize", "minimise": "maximize"}


def test_no_option_is_suggested_for_its_opposite():
    suggested = 0
    for path, name in options_of_commands():
        plain = name.removeprefix("--no-").removeprefix("--")
        for word in {f"--{plain}", f"--no-{plain}", f"--un{plain}", f"--{TURNED.get(plain, plain)}"} - {name}:
            said = CliRunner().invoke(main, [*path, word, "x"]).stderr
            assert f"'{name}'" not in said.replace(f"option '{word}'", ""), (path, word)
        near = CliRunner().invoke(main, [*path, f"{name}e", "x"]).stderr
        suggested += f"'{name}'" in near
    assert suggested >= 100
    assert "Did you mean '--maximize'?" in CliRunner().invoke(main, ["optimize", "a", "--maximise", "alive"]).stderr
