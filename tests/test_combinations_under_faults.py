"""Every learner over every protocol that it goes with, while everything goes wrong: it ends, or says why it cannot."""

import pytest
from helpers.combinations import scenario, table

from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.check import check

FAULTS = {
    "losses": ("links.peer.loss=0.2", "links.uplink.loss=0.2"),
    "bursts": ('links.peer.loss={ good = 0.01, bad = 0.9, good_for = "9 ms", bad_for = "3 ms" }',),
    "disorder": (
        'links.peer={ latency = "0.4 ms", jitter = { exponential = "2 ms" }, overtaking = true, duplicate = 0.2 }',
        'links.uplink={ jitter = "3 ms", duplicate = 0.2 }',
    ),
    "retries": (
        'links.peer={ latency = "0.4 ms", loss = 0.3, duplicate = 0.2, retry = { timeout = "2 ms" } }',
        'links.uplink={ loss = 0.3, retry = { timeout = "2 ms" } }',
    ),
    "links": ('faults.links={ up_for = "10 ms", down_for = "3 ms" }',),
    "redrawn": ("faults.links={ up = 0.7 }",),
    "server": ('faults.server={ up_for = "10 ms", down_for = "3 ms" }',),
    "partition": ('faults.outages=[{ partition = [[0, 1]], from = "20 ms", until = "40 ms" }]',),
    "nodes": ('faults.nodes={ up_for = "20 ms", down_for = "5 ms" }',),
    "memory": ('faults.nodes={ up_for = "20 ms", down_for = "5 ms", memory = "lost" }',),
    "deadline": ("links.peer.loss=0.2", "links.uplink.loss=0.2", 'protocol.deadline="4 ms"'),
    "all": (
        'links.peer={ latency = "0.4 ms", loss = 0.1, jitter = "1 ms", duplicate = 0.1, retry = { timeout = "2 ms" } }',
        'links.uplink={ loss = 0.1, jitter = "1 ms", retry = { timeout = "2 ms" } }',
        'faults.links={ up_for = "30 ms", down_for = "3 ms" }',
        'faults.server={ up_for = "30 ms", down_for = "3 ms" }',
        'faults.nodes={ up_for = "30 ms", down_for = "3 ms" }',
        'faults.outages=[{ nodes = [2], from = "60 ms" }]',
    ),
}

REASONS = (
    'faults.nodes.memory: must be "kept" with',
    "protocol.deadline: has no effect",
    "protocol.deadline: works with learners of rounds or calls only",
    "protocol.deadline: unknown key",
    "protocol.deadline: asks for",
)

COMBINATIONS = [
    (learner, bandit, protocol)
    for learner, bandit, protocol, runs in table()
    if runs and bandit not in ("gaussian", "mixed", "replay")
    if learner not in ("klucb", "thompson", "lints") or protocol in ("local", "vertical")
]


@pytest.mark.parametrize(("learner", "bandit", "protocol"), COMBINATIONS)
def test_it_ends_whatever_goes_wrong_or_says_why_not(learner, bandit, protocol):
    text = scenario(learner, bandit, protocol, horizon=120)
    if protocol == "parameter-server":  # an agent waits for an answer that may be lost, and check asks for this
        text += 'deadline = "5 ms"\n'
    for name, overrides in FAULTS.items():
        try:
            study = check(load("scenario.toml", overrides, text=text))
        except ScenarioError as error:
            lines = error.lines if hasattr(error, "lines") else [str(error)]
            assert all(any(reason in line for reason in REASONS) for line in lines), (name, lines)
            assert name in ("memory", "deadline"), (name, lines)
            continue
        result = study.points[0].simulation(0).run()  # adds up what became of all messages, or raises
        metrics = result.metrics
        slots = 4 * 120
        assert metrics["availability"] == (slots - metrics["absent_slots"]) / slots, name
        assert (metrics["absent_slots"] > 0) == (name in ("nodes", "memory", "all")), name
        assert metrics["regret"] >= 0, name
        if name == "all":
            assert result.fingerprint == study.points[0].simulation(0).run().fingerprint
