"""The scenarios that are asked for are there, and say what is so; all of them run in `test_scenario_numbers`."""

from pathlib import Path

import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load

ROOT = Path(__file__).parents[1]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))


def test_all_asked_for_scenarios_are_there():
    assert {"quickstart", "star", "ring", "random", "cost_vs_diameter", "delay_regret", "abilene"} <= {
        file.stem for file in SCENARIOS
    }


@pytest.mark.ci
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
