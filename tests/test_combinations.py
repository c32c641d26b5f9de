"""The table of learners and protocols says what can be run, and what cannot."""

import pytest
from helpers.combinations import head_and_rows, scenario, table

from netbandit.checks.check import check
from netbandit.parts.registry import BUILT_IN
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.testing.scenes import WORLDS

TABLE = list(table())


def test_every_learner_world_and_protocol_is_in_the_table():
    assert {learner for learner, *_ in TABLE} == set(BUILT_IN["learner"])
    assert {bandit for _, bandit, *_ in TABLE} == set(BUILT_IN["bandit"]) == set(WORLDS)
    protocols, _ = head_and_rows()
    assert sorted(protocols) == sorted(BUILT_IN["protocol"])


@pytest.mark.sampled(160)
@pytest.mark.parametrize(("learner", "bandit", "protocol", "runs"), TABLE)
def test_what_the_table_says_runs_and_nothing_else(tmp_path, learner, bandit, protocol, runs):
    file = tmp_path / "one.toml"
    file.write_text(scenario(learner, bandit, protocol))
    if not runs:
        reasons = (
            '"[a-z-]+" offers no [a-z]+s, in',
            'must be "silent"',
            "cannot be [a-z-]+ with fedelim: ",
            "must be one by",
        )
        wrong = rf"protocol\.kind: ({'|'.join(reasons)})"
        with pytest.raises(ScenarioError, match=wrong):
            check(load(file))
        return
    metrics = check(load(file)).points[0].simulation(0).run().metrics
    assert (metrics["regret"] or metrics["ctr"]) > 0
    assert (metrics["messages"] > 0) == (protocol not in ("silent", "pooled", "earliest"))
