"""Learners that synchronise, where everybody knows what anybody has observed before the next decision."""

import numpy as np
import pytest
from helpers.scenes import run, study

from netbandit.simulation.drivers.slots import Slots

LINEAR = """\
[run]
horizon = 80
[topology]
family = "ring"
agents = 4
[bandit]
kind = "linear"
dimension = 3
arms = 5
[learner]
kind = "oful"
threshold = 0.0
[protocol]
kind = "pooled"
[faults]
"""


@pytest.mark.parametrize("keys", [["learner.kind=oful"], ["learner.kind=feducb", "learner.epsilon=inf"]])
def test_it_is_a_server_without_latency_that_all_ask_in_every_slot(tmp_path, keys):
    free = run(tmp_path, *keys, "learner.threshold=1e-300", text=LINEAR)
    asked = run(tmp_path, *keys, "learner.threshold=1e-300", "protocol.kind=master-worker", text=LINEAR)
    assert free.metrics["regret"] == asked.metrics["regret"]
    assert free.metrics["rounds"] == 79  # after the last decision there is nothing to know
    assert free.metrics["messages"] == free.metrics["bytes"] == free.metrics["round_slots"] == 0
    assert asked.metrics["messages"] > 0


def test_a_schedule_that_is_known_ahead_is_kept(tmp_path):
    fixed = ["learner.kind=feducb", "learner.threshold=1.0", "learner.epsilon=5"]
    fixed += ["learner.schedule=fixed", "learner.every=20"]
    free = run(tmp_path, *fixed, text=LINEAR)
    asked = run(tmp_path, *fixed, "protocol.kind=master-worker", text=LINEAR)
    assert free.metrics["regret"] == asked.metrics["regret"]
    assert free.metrics["rounds"] == 3
    assert 0 < free.metrics["epsilon"] <= 5


FAULTS = ['faults.nodes.up_for="15 ms"', 'faults.nodes.down_for="6 ms"']


@pytest.mark.parametrize(
    "keys",
    [[*FAULTS, "faults.nodes.memory=kept"], [*FAULTS, "faults.nodes.memory=lost"], ["run.activity={ share = 0.5 }"]],
)
def test_what_any_agent_observed_is_known_to_all(tmp_path, monkeypatch, keys):
    """At the end each agent's matrix is lambda I and an outer product for each decision, in whatever life."""
    held = []
    finish = Slots.finish
    monkeypatch.setattr(Slots, "finish", lambda self: held.append(self) or finish(self))
    found = run(tmp_path, *keys, "bandit.arms=1", text=LINEAR)
    (slots,) = held
    decisions = found.metrics.get("decisions", 4 * 80 - found.metrics["absent_slots"])
    assert decisions < 4 * 80
    action = slots.world.bandit.fixed_actions[0]
    for agent in slots.strategy.present:
        matrix = np.linalg.inv(slots.learners[0].beliefs.inverse[0, agent])
        known = (action @ (matrix - np.eye(3)) @ action) / (action @ action) ** 2
        assert decisions - 4 <= round(known, 6) <= decisions  # all but what others decided in the last slot


@pytest.mark.ci
def test_users_who_come_at_any_time_are_known_of_from_the_next_slot_on(tmp_path):
    busy = run(tmp_path, 'run.activity={ poisson = "0.5 ms" }', "run.horizon=400", text=LINEAR)
    alone = run(tmp_path, 'run.activity={ poisson = "0.5 ms" }', "run.horizon=400", "protocol.kind=silent", text=LINEAR)
    assert busy.metrics["rounds"] == 400
    assert busy.metrics["regret"] < alone.metrics["regret"] / 2


def test_the_test_that_nobody_makes_is_told_of(tmp_path):
    notes = [note for note in study(tmp_path, text=LINEAR).notes if "threshold" in note]
    assert len(notes) == 1
