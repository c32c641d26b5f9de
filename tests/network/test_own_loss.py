"""A loss model of another package: its keys are checked, it is run and counted, and nothing here knows it."""

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import netbandit as nb
from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.parts.plugins import look_again
from netbandit.results.run_keys import run_key
from netbandit.scenario.errors import ScenarioError
from netbandit.testing.conservation import breaches
from netbandit.testing.properties import differences
from netbandit.testing.trial import Trial

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "own_link_model.md"
FADING = GUIDE.read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
LOSS = {"losses": [0.0, 0.25, 1.0], "stays": ["20 ms", "10 ms", "5 ms"]}


@pytest.fixture
def fading(tmp_path, monkeypatch):
    """Install a distribution that offers the model."""
    folder = tmp_path / "site"
    info = folder / "fadings-1.2.dist-info"
    info.mkdir(parents=True)
    (folder / "fading.py").write_text(FADING)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fadings\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[netbandit.links]\nfading = fading:Fading\n")
    monkeypatch.setattr("sys.path", [*sys.path, str(folder)])
    monkeypatch.delitem(sys.modules, "fading", raising=False)
    look_again()
    yield
    look_again()


def scenario(loss, protocol="local", **links):
    return nb.Scenario(
        run={"horizon": 400, "slot": "1 ms"},
        topology={"family": "ring", "agents": 4},
        links={"peer": {"latency": "0.2 ms", "loss": loss, **links}},
        bandit={"kind": "bernoulli", "means": [0.9, 0.1]},
        learner={"kind": "ucb"},
        protocol={"kind": protocol},
    )


def point_of(loss, *args, **links):
    return check(scenario(loss, *args, **links).document()).points[0]


def test_it_is_run_and_counted(fading):
    point = point_of(LOSS)
    result = point.simulation(0).run()
    found = result.metrics
    assert found["messages"] == 8 * 400
    # In the long run a channel is in states for 20, 10 and 5 of 35 ms, as each of the others follows as often.
    assert found["faded"] / found["messages"] == pytest.approx(1 / 7, abs=0.04)
    assert found["lost"] / found["messages"] == pytest.approx((0.25 * 10 + 5) / 35, abs=0.04)
    assert found["delivered"] == found["messages"] - found["lost"] - found["in_flight"]
    assert result.versions["fadings"] == "1.2"
    assert point.identities["links.peer.loss"]
    assert run_key(point, 0) != run_key(point_of({**LOSS, "losses": [0.0, 0.25, 0.9]}), 0)
    assert point.resolved["links"]["peer"]["loss"] == LOSS
    without = point_of(0.0).simulation(0).run()
    assert "faded" not in without.metrics
    assert "fadings" not in without.versions


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("protocol", "links"), [("local", {}), ("relay", {}), ("local", {"retry": {"timeout": "2 ms"}, "duplicate": 0.2})]
)
def test_it_is_executed_event_by_event_and_compiled_with_the_same_numbers(fading, protocol, links):
    point = point_of(LOSS, protocol, **links)
    refused = {choice.part: choice.reason for choice in point.simulation(0).choices()}
    assert "retry" in links or refused["messages"] == (
        "only event by event is it known what links.peer.loss (FadingLoss) does"
    )
    trial = Trial(point)
    assert list(differences(trial.plain, trial.compiled, digits=10)) == []
    assert list(breaches(trial.traced.result, trial.traced.lines, trial.end, trial.server)) == []
    assert trial.plain.metrics["lost"] > 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ({"losses": [0.1, 0.2]}, r"links\.peer\.loss\.stays: is missing"),
        ({**LOSS, "losses": [0.1, 2.0, 0.3]}, r"links\.peer\.loss\.losses\[1\]: must be a number from 0 to 1, not 2"),
        ({**LOSS, "losses": [0.1, 0.2]}, r"links\.peer\.loss: losses has 2 states, and stays 3: must be as many"),
        ({**LOSS, "bad": 1}, r"links\.peer\.loss"),  # a key of bursts
    ],
)
def test_its_keys_are_checked_with_the_place_of_each_mistake(fading, loss, said):
    with pytest.raises(ScenarioError, match=said):
        point_of(loss)


@pytest.mark.ci
def test_it_goes_through_a_file(fading, tmp_path):
    file = tmp_path / "fading.toml"
    scenario(LOSS).to_toml(file)
    ran = CliRunner().invoke(main, ["run", str(file), "--out", str(tmp_path / "r"), "--all"])
    assert ran.exit_code == 0, ran.output
    assert re.search(r"faded\s+\d+", ran.output), ran.output
    assert "faded: Messages that begin in the last state." in CliRunner().invoke(main, ["parts", "metrics"]).output


def test_it_is_not_imported_where_own_code_is_not(fading, tmp_path):
    file = tmp_path / "fading.toml"
    scenario(LOSS).to_toml(file)
    look_again()
    sys.modules.pop("fading", None)
    found = CliRunner().invoke(main, ["check", str(file), "--no-own-code"])
    assert found.exit_code == 0, found.output
    assert "links.peer.loss: the model was not imported: its keys were not checked" in found.output
    assert "fading" not in sys.modules


def test_a_model_that_is_broken_is_named_with_its_package(fading, tmp_path, monkeypatch):
    (tmp_path / "site" / "fading.py").write_text("Fading = 3\n")
    with pytest.raises(
        ScenarioError, match=r'links\.peer\.loss: "fading" of the package fadings 1\.2: .* is not a link'
    ):
        point_of(LOSS)


def test_a_scenario_without_its_package_names_what_loss_takes():
    with pytest.raises(ScenarioError, match=r'links\.peer\.loss\.losses: unknown key, must be one of "good"'):
        point_of(LOSS)
