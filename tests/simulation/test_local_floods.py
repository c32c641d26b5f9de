"""Observations that are flooded, under learners that count them: facts that hold exactly."""

import pytest
from helpers.scenes import run, study

from netbandit.scenario.errors import ScenarioError

SCENE = """\
[run]
horizon = 200
slot = "1 ms"
[topology]
family = "complete"
agents = 5
[bandit]
kind = "bernoulli"
means = [0.2, 0.4, 0.5, 0.8]
[learner]
kind = "ucb"
[protocol]
kind = "local"
route = "flood"
"""


def metrics(folder, *overrides):
    return run(folder, *overrides, text=SCENE).metrics


@pytest.mark.parametrize("ttl", [1, 2, 3])
@pytest.mark.parametrize("share", ["observations", "totals"])
def test_on_a_complete_graph_it_is_the_pooled_run_and_paid_for(tmp_path, ttl, share):
    flooded = metrics(tmp_path, f"protocol.ttl={ttl}", f"learner.share={share}")
    pooled = metrics(tmp_path, "protocol.kind=pooled")
    assert flooded["regret"] == pooled["regret"]
    assert flooded["messages"] == 5 * 4 * 200
    assert flooded["activations"] == 10 * 200
    assert pooled["messages"] == pooled["cost"] == 0
    assert pooled["epsilon"] is None
    first = 5 * 4 if ttl == 1 else 5 * 16  # copies of what is told in one slot; of the last slot only the first hop
    assert flooded["items"] == first * 199 + 5 * 4


def test_who_keeps_nothing_is_as_good_as_silent(tmp_path):
    assert metrics(tmp_path, "learner.keep=0.0")["regret"] == metrics(tmp_path, "protocol.kind=silent")["regret"]


def test_who_absorbs_all_that_it_hears_is_reached_by_neighbours_alone(tmp_path):
    ring = ["topology.family=ring", "topology.agents=7"]
    near = metrics(tmp_path, *ring, "protocol.ttl=1")
    absorbed = metrics(tmp_path, *ring, "protocol.ttl=4", "protocol.absorb=true")
    assert absorbed["regret"] == near["regret"]
    assert absorbed["items"] == near["items"] == 2 * 7 * 200
    assert metrics(tmp_path, *ring, "protocol.ttl=4")["items"] > 3 * near["items"]


def test_a_tree_brings_the_same_observations_in_more_messages(tmp_path):
    """In fewer copies, but each in a message of its own."""
    grid = ["topology.family=grid", "topology.agents=9", "protocol.ttl=3"]
    flooded, tree = (metrics(tmp_path, *grid, f"protocol.route={route}") for route in ("flood", "tree"))
    assert flooded["regret"] == tree["regret"]
    assert flooded["messages"] < tree["messages"] < flooded["items"]


def test_totals_are_not_absorbed(tmp_path):
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, "learner.share=totals", "protocol.absorb=true", text=SCENE)
    assert "protocol.absorb: must be false with learner.share" in error.value.lines[0]
