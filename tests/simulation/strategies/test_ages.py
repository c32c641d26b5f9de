"""How old the newest thing is that agents have heard of one another, against plain Python."""

import numpy as np
import pytest
from helpers.own_learners import HEARD, Listening, ListeningRarely

from netbandit.checks.check import check
from netbandit.scenario.load import load_tables
from netbandit.simulation.execution import executed
from netbandit.simulation.strategies.ages import Ages

HORIZON, AGENTS = 80, 6
LAW = {"born": 0.1, "dies": 0.4, "every": "1.5 slots"}


def run(protocol, learner=Listening, *, latency="300 us", **more):
    tables = {
        "run": {"horizon": HORIZON, "slot": "1 ms"},
        "topology": {"family": "ring", "agents": AGENTS, "changes": LAW, "neighbours": "sensed"},
        "links": {"peer": {"latency": latency}},
        "bandit": {"kind": "bernoulli", "means": [0.1, 0.9]},
        "learner": {"kind": f"{learner.__module__}:{learner.__name__}"},
        "protocol": protocol,
        **more,
    }
    HEARD.clear()
    with executed("plain"):
        return check(load_tables(tables)).points[0].simulation(0).run().metrics


def age(heard, who=lambda agent, slot: agent):
    """Return the mean age, slot by slot and pair by pair; *who*: as whom an agent hears from a slot on."""
    newest, total = {}, 0
    for slot in range(HORIZON):
        for when, listener, source, said in heard:
            if when == slot:
                pair = who(listener, slot), source
                newest[pair] = max(said, newest.get(pair, -1))
        for listener in range(AGENTS):
            for source in set(range(AGENTS)) - {listener}:
                total += slot - newest.get((who(listener, slot), source), -1)
    return total / HORIZON / (AGENTS * (AGENTS - 1))


PROTOCOLS = {
    "flood": {"kind": "local", "route": "flood", "ttl": 3},
    "carried": {"kind": "local", "route": "flood", "ttl": 3, "carry": "20 slots"},
    "at once": {"kind": "local", "route": "flood", "ttl": 3, "carry": "20 slots", "timing": "asynchronous"},
    "tree": {"kind": "local", "ttl": 2},
    "relay": {"kind": "relay"},
    "earliest": {"kind": "earliest"},
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("learner", [Listening, ListeningRarely])
@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_ages_are_those_of_what_is_heard(protocol, learner):
    metrics = run(protocol, learner)
    assert HEARD
    assert metrics["age_slots"] == pytest.approx(age(HEARD), rel=1e-12)
    in_time = [slot - said for slot, _, _, said in HEARD]
    assert metrics["delay_slots"] == pytest.approx(np.mean(in_time), rel=1e-12)  # as early as it can be used


def test_the_earliest_paths_leave_nothing_younger():
    ages = {name: run(protocol)["age_slots"] for name, protocol in PROTOCOLS.items() if name not in ("at once", "tree")}
    assert ages["earliest"] < ages["carried"] < ages["flood"]
    assert ages["earliest"] < ages["relay"]


def test_who_has_lost_its_memory_has_heard_nothing():
    """From slot 40 on agent 3 knows nothing; it is down in slots 40 to 49."""
    outage = {"nodes": [3], "from": "40 ms", "until": "50 ms"}
    faults = {"outages": [outage], "nodes": {"up_for": "100000 s", "down_for": "1 ns", "memory": "lost"}}
    metrics = run(PROTOCOLS["flood"], faults=faults)
    assert any(slot < 40 and listener == 3 for slot, listener, _, _ in HEARD)
    expected = age(HEARD, lambda agent, slot: "another" if agent == 3 and slot >= 40 else agent)
    assert metrics["age_slots"] == pytest.approx(expected, rel=1e-12)


def test_one_agent_has_heard_nobody():
    assert Ages(1, 10).mean is None
