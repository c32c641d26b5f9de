"""A candidate of a search is measured with the seed of the scenario, a winner again with one that nobody has seen."""

import pytest

from netbandit.running.candidates import ScenarioMeasure
from netbandit.running.search import FRESH, RefusedError
from netbandit.scenario.errors import ScenarioError


def test_winners_have_fresh_seeds(tmp_path):
    asked = []

    def refused(values):
        asked.append(values)
        raise ScenarioError(["topology.agents: is missing"])

    measure = ScenarioMeasure(refused, lambda metrics: [], tmp_path, 7)
    for fresh in (False, True):
        with pytest.raises(RefusedError, match=r"topology\.agents: is missing"):
            measure({"learner.exploration": 2.0}, 3, fresh)
    wanted = {"learner.exploration": 2.0, "run.replications": 3}
    assert asked == [wanted | {"run.seed": 7}, wanted | {"run.seed": 7 + FRESH}]
