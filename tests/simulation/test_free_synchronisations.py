"""Learners that synchronise, where everybody knows what anybody has observed before the next decision."""

import numpy as np
import pytest
from helpers.scenes import run, study

from netbandit.simulation.slots import Slots

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


@pytest.mark.parametrize("memory", ["kept", "lost"])
def test_what_agents_observed_is_known_while_they_are_down(tmp_path, monkeypatch, memory):
    """At the end each agent's matrix is lambda I and an outer product for each decision, in whatever life."""
    held = []
    finish = Slots.finish
    monkeypatch.setattr(Slots, "finish", lambda self: held.append(self) or finish(self))
    faults = ['faults.nodes.up_for="15 ms"', 'faults.nodes.down_for="6 ms"', f"faults.nodes.memory={memory}"]
    found = run(tmp_path, *faults, "bandit.arms=1", text=LINEAR)
    (slots,) = held
    assert found.metrics["absent_slots"] > 0
    decisions = 4 * 80 - found.metrics["absent_slots"]
    action = slots.world.bandit.fixed_actions[0]
    for agent in slots.talking.present:
        matrix = np.linalg.inv(slots.learners[0].beliefs.inverse[0, agent])
        known = (action @ (matrix - np.eye(3)) @ action) / (action @ action) ** 2
        assert decisions - 4 <= round(known, 6) <= decisions  # all but what others decided in the last slot


def test_the_test_that_nobody_makes_is_told_of(tmp_path):
    notes = [note for note in study(tmp_path, text=LINEAR).notes if "threshold" in note]
    assert len(notes) == 1
