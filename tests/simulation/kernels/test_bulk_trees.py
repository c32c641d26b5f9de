"""Broadcasts along trees in bulk: what is heard, and when, is the same as message by message."""

import random
from unittest.mock import patch

import numpy as np
import pytest

from netbandit.simulation.kernels import bulk_trees
from netbandit.simulation.kernels.bulk_trees import TreeBroadcasts

LATENCIES = [
    '"0 ms"',
    '"0.4 ms"',
    '"1 ms"',
    '"2 ms"',
    '{ uniform = ["0 ms", "4 ms"] }',
    '{ uniform = ["0 ms", "3 ns"] }',
    '{ uniform = ["1 us", "3 s"] }',
]

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms", seed = {seed}, activity = {activity} }}
topology = {{ {topology} }}
links.peer.latency = {latency}
bandit = {{ kind = "bernoulli", arms = 4 }}
learner = {{ kind = "helpers.own_learners:{learner}" }}
protocol = {{ {protocol} }}
"""


def same(one, other):
    """Hold two executions of a replication against one another."""
    assert one.fingerprint == other.fingerprint
    assert list(one.metrics) == list(other.metrics)
    for name in one.metrics.keys() - {"wall_s"}:
        assert one.metrics[name] == other.metrics[name], name
    assert one.kinds == other.kinds
    assert one.remarks == other.remarks
    assert one.curves.keys() == other.curves.keys()
    for name, curve in one.curves.items():
        assert (curve.slots == other.curves[name].slots).all(), name
        assert (curve.values == other.curves[name].values).all(), name
    for links, others in ((one.links, other.links), (one.uplinks, other.uplinks)):
        for name, column in vars(others).items():
            assert np.array_equal(getattr(links, name), column), name


def drawn(seed, **given):
    rng = random.Random(seed)
    family = rng.choice(["ring", "star", "complete", "path", "random", "grid"])
    protocol = rng.choice(['kind = "relay"', 'kind = "local", ttl = 2', 'kind = "local", ttl = 3'])
    timing = rng.choice(["slotted", "asynchronous"])
    learner = rng.choice(["Telling", "Telling", "Sometimes", "Rarely"])
    activity = rng.choice(['"one"', "{ share = 0.4 }", '{ poisson = "0.7 ms" }', '"every"'])
    values = {
        "horizon": rng.choice([20, 50]),
        "seed": seed,
        "activity": activity if learner == "Telling" and "relay" in protocol else '"every"',
        "topology": f'family = "{family}", agents = {rng.randint(3, 9)}' + ", p = 0.6" * (family == "random"),
        "latency": rng.choice(LATENCIES),
        "learner": learner,
        "protocol": f'{protocol}, timing = "{timing}"',
    }
    return SCENARIO.format(**(values | given))


def in_bulk(point):
    """Run a replication in bulk, which it must be."""
    with patch.object(TreeBroadcasts, "start", autospec=True, side_effect=TreeBroadcasts.start) as start:
        found = point.simulation(0).run()
    assert start.called
    return found


def event_by_event(point, monkeypatch):
    monkeypatch.setenv("NETBANDIT_EXECUTION", "plain")
    found = point.simulation(0).run()
    monkeypatch.delenv("NETBANDIT_EXECUTION")
    return found


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(48))
def test_what_is_told_along_trees_in_bulk_is_heard_in_the_same_way(point, monkeypatch, seed):
    if seed % 3 == 0:  # nothing is kept for longer than it is used
        monkeypatch.setattr(bulk_trees, "_MOST_KEPT", 1)
    one = point(drawn(seed))
    same(in_bulk(one), event_by_event(one, monkeypatch))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "more",
    [
        "links.peer.loss = 0.1",
        'links.peer.jitter = "1 ms"',
        "links.peer.duplicate = 0.1",
        'links.peer.bandwidth = "1 Mbit/s"',
        "faults.links = { up = 0.9 }",
        'faults.nodes = { up_for = "9 ms", down_for = "5 ms" }',
    ],
)
def test_what_may_be_late_or_lost_goes_message_by_message(point, monkeypatch, more):
    monkeypatch.setattr(TreeBroadcasts, "start", None)  # would fail
    text = drawn(0, latency='"2 ms"', protocol='kind = "relay"', activity='"every"', learner="Telling") + more
    assert point(text).simulation(0).run().metrics["messages"] > 0
