"""Slots that pass between a contribution and the next phase, for any latency."""

from math import ceil

import pytest
from helpers.scenes import run, run_logged, study

# Every round is one of equal means and a budget: nothing leaves, so all rounds are alike.
ROUNDS = ["bandit.arms=2", "bandit.means=[0.5, 0.5]", "learner.rounds=4", "learner.gap=0.5", "run.horizon=3000"]
LATENCIES = {0.0: "0 ms", 1 / 3: "0.333333 ms", 0.5: "0.5 slots", 1.0: "1 ms", 2.5: "2500 us"}
DIAMETER = {"ring": 4, "star": 2, "complete": 1}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("family", DIAMETER)
@pytest.mark.parametrize("latency", LATENCIES)
@pytest.mark.parametrize("protocol", ["gis", "flooding"])
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_slots_of_a_round_between_agents(tmp_path, family, latency, protocol, timing):
    passes = 3 if protocol == "gis" else 1  # ADV, REQ and DATA
    hop = passes * latency
    if timing == "slotted":
        expected = DIAMETER[family] * max(1, ceil(round(hop, 5)))
    else:
        expected = ceil(round(DIAMETER[family] * hop, 5))
    found = run(
        tmp_path,
        *ROUNDS,
        f"topology.family={family}",
        "topology.agents=8",
        f"protocol.kind={protocol}",
        f"protocol.timing={timing}",
        f'links.peer.latency="{LATENCIES[latency]}"',
    ).metrics
    assert found["rounds"] == 4
    assert found["round_slots"] == expected


@pytest.mark.parametrize("latency", LATENCIES)
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_uplinks_are_never_slotted(tmp_path, latency, timing):
    found = run(
        tmp_path,
        *ROUNDS,
        "protocol.kind=master-worker",
        f"protocol.timing={timing}",
        f'links.uplink.latency="{LATENCIES[latency]}"',
    ).metrics
    assert found["rounds"] == 4
    assert found["round_slots"] == ceil(round(2 * latency, 5))


def test_agents_that_hear_the_answer_at_different_times_start_at_different_boundaries(tmp_path, monkeypatch):
    point = study(
        tmp_path,
        *ROUNDS,
        "protocol.kind=master-worker",
        'links.uplink.latency={ uniform = ["0 ms", "9 ms"] }',
        "topology.agents=8",
    ).points[0]
    _, phases = run_logged(point, monkeypatch)
    first = phases[0][2]
    second = [(slot, agent) for slot, agent, _ in phases if slot > 0][:8]
    assert {agent for _, agent in second} == set(range(8))
    assert len({slot for slot, _ in second}) > 2
    assert all(first <= slot <= first + 18 for slot, _ in second)


def test_an_answer_at_a_boundary_begins_the_phase_at_that_boundary(tmp_path, monkeypatch):
    for latency, waited in (("1 ms", 2), ("1000001 ns", 3), ("999999 ns", 2), ("500 us", 1)):
        point = study(tmp_path, *ROUNDS, "protocol.kind=master-worker", f'links.uplink.latency="{latency}"').points[0]
        _, phases = run_logged(point, monkeypatch)
        assert min(slot for slot, _, _ in phases if slot > 0) == phases[0][2] + waited


@pytest.mark.parametrize(
    ("family", "agents", "slots", "activations"),
    [("complete", 50, 1, 1225), ("star", 50, 2, 98), ("ring", 50, 25, 1250)],
)
def test_the_facts_of_gis_in_a_whole_simulation(tmp_path, family, agents, slots, activations):
    found = run(tmp_path, *ROUNDS, f"topology.family={family}", f"topology.agents={agents}", "learner.rounds=1")
    assert found.metrics["round_slots"] == slots
    assert found.metrics["activations"] == activations == found.metrics["cost"]
    assert found.links.activations.sum() == activations
