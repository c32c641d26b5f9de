"""Messages whose fate is decided as it happens: where nothing depends on what is sent, it is the one known ahead."""

import pytest
from helpers.combinations import table
from helpers.scenes import study

from netbandit.checks.check import check
from netbandit.network.network import Network
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.testing.scenes import FAULTS, put_over, small, tables_of

NODES = {"faults": FAULTS["nodes"]["faults"]}
CONTACTS = {"topology": {"changes": {"up": 0.6, "every": "3 slots"}}}
SLOW = {"links": {"peer": {"bandwidth": "200 kbit/s", "loss": 0.1}, "uplink": {"bandwidth": "200 kbit/s"}}}
OVERTAKING = {"links": {"peer": {"jitter": {"exponential": "2 ms"}, "overtaking": True, "loss": 0.1}}}

SAME = {
    "bursts": FAULTS["bursts"],
    "disorder": FAULTS["disorder"],
    "memory, late": put_over(FAULTS["memory"], OVERTAKING),
    "nodes, slow": put_over(NODES, {"links": {"uplink": SLOW["links"]["uplink"]}}),
    "contacts, carry": put_over(CONTACTS, put_over({"protocol": {"carry": "2 ms"}}, SLOW)),
    "contacts, nodes": put_over(CONTACTS, NODES),
    "server": put_over(FAULTS["server"], SLOW),
}
"""What goes wrong. A sender that goes down lets go of what waits for it; known ahead, nothing queues behind that."""

LEARNERS = ("elimination", "feducb", "ucb", "coop-ucb2", "gosine")


@pytest.fixture
def opened(monkeypatch):
    """Let fates be open in all networks, and none known ahead."""

    def switch(*, on):
        monkeypatch.setattr(Network, "deferred_outcomes", on)

    return switch


@pytest.mark.ci
@pytest.mark.parametrize(
    "protocol", ["flooding", "gis", "gossip", "relay", "sink", "master-worker", "local", "consensus"]
)
def test_what_is_decided_as_it_happens_is_what_is_known_ahead(protocol, opened):
    ran = 0
    for learner, bandit, offered, runs in table():
        if not runs or offered != protocol or learner not in LEARNERS or bandit not in ("bernoulli", "linear"):
            continue
        tables = tables_of(small("bandit", bandit), small("learner", learner), {"kind": protocol}, horizon=30)
        for name, fault in SAME.items():
            try:
                point = check(load_tables(put_over(tables, fault))).points[0]
            except ScenarioError:
                continue  # they do not go together
            results = []
            for on in (False, True):
                opened(on=on)
                results.append(point.simulation(0).run())
            known, open_ = results
            assert known.fingerprint == open_.fingerprint, (learner, name)
            assert known.kinds == open_.kinds, (learner, name)
            for metrics in (known.metrics, open_.metrics):
                # Who waits at the horizon for what is under way to a node that is down does not know it yet.
                del metrics["wall_s"], metrics["stalled"]
            assert known.metrics == open_.metrics, (learner, name)
            ran += 1
    assert ran >= 5


def test_it_goes_event_by_event(tmp_path, opened, monkeypatch):
    """Nothing in bulk decides what becomes of a message as it happens, whatever the environment says."""
    point = study(tmp_path, "learner.kind=ucb", "protocol.kind=local", "topology.agents=30").points[0]
    monkeypatch.setenv("NETBANDIT_EXECUTION", "compiled")
    opened(on=True)
    (why, *_) = [choice.reason for choice in point.simulation(0).choices() if choice.part == "messages"]
    assert why == "what becomes of a message depends on what else is sent, which only shows event by event"
