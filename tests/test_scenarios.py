"""Every shipped scenario is valid, and runs when it is made short."""

from pathlib import Path

import pytest

from netbandit.scenario.load import load
from netbandit.simulation.check import check

ROOT = Path(__file__).parents[1]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_a_scenario_runs_at_every_point_of_its_sweep(file):
    study = check(load(file, ["run.horizon=600", "run.replications=1"]))
    for point in study.points:
        result = point.simulation(0).run()
        assert result.metrics["regret"] > 0
        assert result.curves["regret"].values[-1] == result.metrics["regret"]


def test_all_asked_for_scenarios_are_there():
    assert {"quickstart", "star", "ring", "random", "cost_vs_diameter", "delay_regret", "abilene"} <= {
        file.stem for file in SCENARIOS
    }


def test_delay_begins_to_cost_where_the_scenario_says():
    """A few slots a hop are lost in the rest of the regret; a hundred multiply it."""
    study = check(load(ROOT / "scenarios/delay_regret.toml", ["run.replications=4"]))
    regret = {
        point.parameters["links.peer.latency"]: sum(
            point.simulation(number).run().metrics["regret"] for number in range(4)
        )
        for point in study.points
        if point.parameters["protocol.kind"] == "gis"
    }
    assert regret["1 slots"] < 1.2 * regret["0 slots"]
    assert regret["100 slots"] > 3 * regret["0 slots"]
