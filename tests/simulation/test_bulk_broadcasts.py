"""What is told by everybody in every slot: all at once is the same as message by message."""

import pytest
from helpers.own_learners import Sometimes

from netbandit.scenario.load import load
from netbandit.simulation import patterns
from netbandit.simulation.bulk_broadcasts import BulkBroadcasts
from netbandit.simulation.check import check

SCENARIO = """\
run = {{ horizon = 60, slot = "1 ms", seed = {seed} }}
topology = {{ family = "random", agents = 7, mean_degree = 3 }}
links.peer.latency = {latency}
bandit = {{ kind = "bernoulli", means = [0.2, 0.5, 0.9] }}
learner = {{ kind = "{learner}" }}
protocol = {{ {protocol} }}
"""


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Run a scenario in bulk, and message by message."""

    def runs(learner="ucb", latency='"0 ms"', protocol='kind = "local"', seed=0):
        file = tmp_path / "local.toml"
        file.write_text(SCENARIO.format(learner=learner, latency=latency, protocol=protocol, seed=seed))
        point = check(load(file)).points[0]
        made = []
        start = BulkBroadcasts.__init__
        with monkeypatch.context() as patch:
            patch.setattr(
                BulkBroadcasts,
                "__init__",
                lambda self, *given: (made.append(self), start(self, *given))[1],
            )
            bulk = point.simulation(0).run()
        assert made  # else there is nothing to compare
        with monkeypatch.context() as patch:
            patch.setattr(patterns, "fits", lambda *_: False)
            return bulk, point.simulation(0).run()

    return runs


def same(bulk, single):
    assert bulk.fingerprint == single.fingerprint
    without = {"wall_s"}
    assert {key: bulk.metrics[key] for key in bulk.metrics.keys() - without} == {
        key: single.metrics[key] for key in single.metrics.keys() - without
    }
    assert list(bulk.metrics) == list(single.metrics)
    assert bulk.kinds == single.kinds
    assert (bulk.curves["regret"].values == single.curves["regret"].values).all()
    for name in ("messages", "bytes", "activations"):
        assert (getattr(bulk.links, name) == getattr(single.links, name)).all()


LATENCIES = [
    '"0 ms"',
    '"1 ms"',
    '"2.5 ms"',
    '"0.3 ms"',
    '{ uniform = ["0 ms", "4 ms"] }',
    '{ uniform = ["0 ms", "1 us"] }',
]


@pytest.mark.parametrize("learner", ["ucb", "klucb", "thompson"])
@pytest.mark.parametrize("latency", LATENCIES)
def test_in_bulk_is_the_same_as_message_by_message(both, learner, latency):
    bulk, single = both(learner, latency)
    same(bulk, single)
    assert bulk.metrics["messages"] == 60 * 2 * bulk.topology["links"]


@pytest.mark.parametrize("protocol", ['kind = "local", route = "flood"', 'kind = "pooled"'])
@pytest.mark.parametrize("seed", range(3))
def test_floods_of_one_hop_and_pooling_are_alike(both, protocol, seed):
    same(*both("ucb", '{ uniform = ["0 ms", "4 ms"] }', protocol, seed))


@pytest.mark.parametrize("latency", LATENCIES)
def test_some_slots_may_pass_in_silence(both, latency):
    bulk, single = both(f"{Sometimes.__module__}:Sometimes", latency)
    same(bulk, single)
    assert bulk.metrics["rounds"] == 20


@pytest.mark.parametrize(
    "changed",
    [
        ["protocol.ttl=2"],
        ["protocol.timing=asynchronous"],
        ["links.peer.bandwidth=1 Mbit/s"],
        ["protocol.kind=relay"],
        ["learner.kind=helpers.own_learners:Rarely"],
    ],
)
def test_what_is_irregular_goes_message_by_message(tmp_path, monkeypatch, changed):
    file = tmp_path / "local.toml"
    file.write_text(SCENARIO.format(learner="ucb", latency='"0 ms"', protocol='kind = "local"', seed=0))
    monkeypatch.setattr(patterns, "BulkBroadcasts", None)  # not to be called
    assert check(load(file, changed)).points[0].simulation(0).run().metrics["messages"] > 0


def test_a_trace_is_kept_message_by_message(tmp_path, monkeypatch):
    file = tmp_path / "local.toml"
    file.write_text(SCENARIO.format(learner="ucb", latency='"0 ms"', protocol='kind = "local"', seed=0))
    point = check(load(file)).points[0]
    plain = point.simulation(0).run()
    assert point.simulation(0).run(tmp_path / "trace.jsonl").fingerprint == plain.fingerprint
