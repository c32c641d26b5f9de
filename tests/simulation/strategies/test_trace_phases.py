"""What a trace says agents do: P-FCB and the vertical protocol."""

import json

import networkx as nx
import pytest

from netbandit.checks.check import check
from netbandit.learners.pfcb_schedule import sharing_slots
from netbandit.scenario.load import load

MARKET = """\
[run]
horizon = 300
slot = "1 us"
[topology]
family = "path"
agents = 4
[links.peer]
latency = "7 us"
[bandit]
kind = "procurement"
producers = 3
[learner]
kind = "pfcb"
start = 20
stop = 200
explore = 2
[protocol]
kind = "relay"
"""

VERTICAL = """\
[run]
horizon = 60
slot = "1 us"
[topology]
family = "star"
agents = 3
[links.peer]
latency = "2.5 us"
[bandit]
kind = "vertical"
dimension = 6
participants = 3
arms = 3
[learner]
kind = "linucb"
[protocol]
kind = "vertical"
"""


def traced(folder, scenario, *overrides):
    """Return the run and the lines of its trace; a slot is 1,000 ns."""
    (folder / "scenario.toml").write_text(scenario)
    point = check(load(folder / "scenario.toml", overrides)).points[0]
    result = point.simulation(0).run(trace=folder / "trace.jsonl")
    lines = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    assert result.fingerprint == point.simulation(0).run().fingerprint
    return result, lines


def phases(lines, agent):
    return [
        (line["phase"], line["round"], line["begin"] // 1000, line["end"] // 1000)
        for line in lines
        if line.get("agent") == agent
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("hop", [0, 7, 30])
@pytest.mark.parametrize("communicate", ["doubling", "literal"])
def test_agents_of_pfcb_exploit_and_hear_from_one_round_to_the_next(tmp_path, hop, communicate):
    _, lines = traced(tmp_path, MARKET, f"links.peer.latency={hop} us", f"learner.communicate={communicate}")
    slots = sharing_slots(communicate, 20, 200, 300)
    farthest = nx.eccentricity(nx.path_graph(4))
    for agent in range(4):
        expected = [("explore", 1, 0, 2), ("exploit", 0, 2, slots[0])]
        for number, (slot, following) in enumerate(zip(slots, [*slots[1:], 300], strict=True), start=1):
            heard = min(slot + farthest[agent] * max(hop, 1), following)
            expected += [("exploit", number, slot, heard), ("exploit", 0, heard, following)]
        assert phases(lines, agent) == [phase for phase in expected if phase[2] < phase[3]]


def test_a_long_exploration_goes_on_between_rounds(tmp_path):
    _, lines = traced(tmp_path, MARKET, "learner.explore=50")
    assert phases(lines, 1)[:5] == [
        ("explore", 1, 0, 20),
        ("explore", 1, 20, 32),  # the next round begins before agent 3's message has come
        ("explore", 2, 32, 46),
        ("explore", 3, 46, 50),
        ("exploit", 0, 50, 64),
    ]


@pytest.mark.parametrize("alone", ["topology.agents=1", "learner.share=never"])
def test_who_hears_nobody_waits_for_no_round(tmp_path, alone):
    _, lines = traced(tmp_path, MARKET, alone)
    first, *others = phases(lines, 0)
    assert (first[0], *first[2:]) == ("explore", 0, 2)
    assert all(round == 0 for _, round, _, _ in others)
    assert others[-1][3] == 300


def test_agent_0_gathers_from_the_slot_of_a_user_to_its_decision(tmp_path):
    result, lines = traced(tmp_path, VERTICAL, "protocol.timing=asynchronous")
    gathered = [(line["round"], line["begin"], line["end"]) for line in lines if line.get("phase") == "gather"]
    assert len(gathered) == result.metrics["rounds"] > 10
    for user, begin, end in gathered:
        arrivals = [line["arrival"] for line in lines if line.get("kind") == "CONTEXT" and line["round"] == user]
        assert (begin, end) == (user * 1000, max(arrivals))
    several = traced(tmp_path, VERTICAL, "protocol.pipeline=2")[1]
    assert not [line for line in several if "phase" in line]
