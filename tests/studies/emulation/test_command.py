"""``netbandit emulate``: its table, its files, and its exit codes."""

import json
import re

import pytest
from click.testing import CliRunner
from helpers.hub import Hub

from netbandit import Scenario, ScenarioError
from netbandit.cli import main
from netbandit.studies.emulation import Emulation, emulation, node, processes
from netbandit.studies.emulation.comparison import Row
from netbandit.studies.emulation.notes import Notes, put

SCENARIO = """
[run]
horizon = 40_000
[topology]
family = "star"
agents = 3
[links.peer]
latency = "2 ms"
[bandit]
kind = "bernoulli"
means = [0.9, 0.85, 0.1]
[learner]
kind = "elimination"
rounds = 2
gap = 0.8
[protocol]
kind = "relay"
timing = "asynchronous"
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def untimed(monkeypatch):
    """What times are on a busy host decides no test."""
    monkeypatch.setattr(emulation.comparison, "time_rows", lambda *arguments, **more: [])


def called(*arguments):
    return CliRunner().invoke(main, ["emulate", *map(str, arguments)])


@pytest.mark.ci
def test_all_equal(scenario, tmp_path, untimed):
    found = called(scenario, "--dilation", 2, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "replay" in found.stdout
    assert "bytes sent" in found.stdout
    kept = json.loads((tmp_path / "out" / "emulation.json").read_text())
    assert all(row[4] != "differs" for row in kept["rows"])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"emulation.{end}" for end in ("json", "png", "svg")
    }
    assert len(kept["round_times"]) == 2
    assert len(kept["hop_times"]) == kept["wire_rows"][0][2] == 12
    assert kept["calibration_s"] == []


def test_not_equal(scenario, monkeypatch):
    monkeypatch.setattr(emulation, "replayed", lambda point, replication, delays: Notes())
    found = called(scenario, "--dilation", 2, "--processes", 1)
    assert found.exit_code == 1
    assert "differs" in found.stdout


@pytest.mark.ci
@pytest.mark.parametrize(("verdict", "code"), [("differs", 1), ("host too noisy", 0)])
def test_a_time_that_differs_is_told_by_the_exit_code_and_its_cure(scenario, monkeypatch, verdict, code):
    row = Row("time", "a round", "0 %", "+10.91 % [+10.02, +11.80]", verdict)
    monkeypatch.setattr(emulation.comparison, "time_rows", lambda *arguments, **more: [row])
    found = called(scenario, "--dilation", 2, "--processes", 1)
    assert found.exit_code == code
    note = "note: times include what this host takes: a larger --dilation makes that less, and auto measures it\n"
    assert (note in found.stdout) == (code == 1)


@pytest.mark.slow
@pytest.mark.ci
def test_a_link_that_is_slower_than_the_scenario_says_differs(scenario, monkeypatch, untimed):
    def slower(network, engine, message, channel):
        due = put(network, engine, message, channel)
        return due + (due - network.environment._now) // 10 if (channel.sender, channel.receiver) == (0, 2) else due

    monkeypatch.setattr(node, "put", slower)
    found = called(scenario, "--dilation", 2)
    assert found.exit_code == 1
    assert re.search(r"delays of links +2\.000 ms +2\.200 ms \(0 to 2\) +differs", found.stdout)


def test_refused_at_its_place(scenario):
    found = called(scenario, "--set", "learner.kind=ucb")
    assert found.exit_code == 2
    text = 'learner.kind: emulate plays learners of rounds; "ucb" decides for all agents in one call'
    assert found.stderr.startswith(f"--set learner.kind: {text}")


@pytest.mark.ci
def test_no_end(scenario, monkeypatch):
    monkeypatch.setattr(emulation, "_PATIENCE", 2.0)
    found = called(scenario, "--set", "protocol.kind=helpers.emulated:Telepathy", "--dilation", 1, "--retries", 1)
    assert found.exit_code == 3
    assert "tried again at twice the dilation\nrunning for 0 s, at dilation 2\n" in found.stderr
    assert "no end: the process of agent" in found.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments", [("--point", 2), ("--dilation", "nan"), ("--tolerance", "much"), ("--processes", 0)]
)
def test_mistakes_on_the_command_line(scenario, arguments):
    assert called(scenario, *arguments).exit_code == 2


def test_from_python(scenario, untimed):
    found = Scenario.from_toml(scenario, protocol={"kind": Hub}).emulate(dilation=1.0, transport="udp")
    assert isinstance(found, Emulation)
    assert found.equal
    assert list(found.exact.columns) == ["basis", "quantity", "simulated", "emulated", "verdict"]
    assert [len(each) for each in (found.rounds, found.hops)] == [2, 8]
    with pytest.raises(ScenarioError, match="is not emulated yet"):
        Scenario.from_toml(scenario, links__peer__duplicate=0.1).emulate()
    with pytest.raises(ValueError, match="point must be from 1 to 1, not 2"):
        Scenario.from_toml(scenario).emulate(point=2)


def test_a_process_that_ends_of_itself_is_named(scenario, monkeypatch):
    monkeypatch.setattr(processes.Node, "run", lambda node: None)
    found = called(scenario, "--dilation", 1)
    assert found.exit_code == 1
    assert "the process of agent" in found.stderr
