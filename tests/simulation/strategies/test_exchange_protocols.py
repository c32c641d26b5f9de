"""P-FCB over every protocol: what is heard when decides, not what carried it."""

import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.checks.check import check
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load

SCENARIO = """\
schema = 1
[run]
horizon = 400
[topology]
family = "random"
agents = 6
mean_degree = 2.5
[bandit]
kind = "procurement"
producers = 5
capacity = [1, 9]
quality_threshold = 0.6
[learner]
kind = "pfcb"
start = 20
stop = 300
epsilon = 20.0
[protocol]
kind = "relay"
"""

LEARNT = ("regret", "violations", "accepted", "delay_slots", "epsilon")


@pytest.fixture
def metrics(tmp_path):
    def run(*overrides):
        file = tmp_path / "market.toml"
        file.write_text(SCENARIO)
        return check(load(file, overrides)).points[0].simulation(0).run().metrics

    return run


def learnt(metrics):
    return [metrics[name] for name in LEARNT]


@pytest.mark.ci
@given(
    seed=st.integers(0, 99),
    communicate=st.sampled_from(["doubling", "every", "literal"]),
    share=st.sampled_from(["private", "exact"]),
    connected=st.sampled_from(["random", "ring", "path", "star", "complete"]),
)
@examples(12)
def test_passing_on_in_three_ways_is_learning_in_one(metrics, seed, communicate, share, connected):
    """Where every handshake fits a slot an item moves a hop a slot, along a tree, flooded or requested."""
    given = (
        f"run.seed={seed}",
        f"topology.family={connected}",
        f"learner.communicate={communicate}",
        f"learner.share={share}",
        "topology.mean_degree=4",
    )
    relayed = metrics(*given)
    assert relayed["delay_slots"] >= 1
    for kind in ("flooding", "gis"):
        assert learnt(metrics(*given, f"protocol.kind={kind}")) == learnt(relayed)
    far = metrics(*given, "protocol.kind=local", "protocol.ttl=9")
    assert [far[name] for name in (*LEARNT, "messages")] == [relayed[name] for name in (*LEARNT, "messages")]


def test_a_server_is_a_complete_network_whose_links_are_twice_as_long(metrics):
    served = metrics("protocol.kind=master-worker", "links.uplink.latency=3.4 slots")
    near = metrics("topology.family=complete", "links.peer.latency=6.8 slots")
    assert learnt(served) == learnt(near)
    assert served["delay_slots"] == 7
    assert served["messages"] == served["rounds"] * 12


@pytest.mark.parametrize("nobody", [("protocol.kind=silent",), ("protocol.kind=local", "protocol.ttl=0")])
def test_who_hears_nobody_learns_as_one_who_never_shares(metrics, nobody):
    alone, apart = metrics("learner.share=never"), metrics(*nobody)
    for name in ("regret", "violations", "accepted", "delay_slots", "messages", "epsilon"):
        assert apart[name] == alone[name]


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["gossip", "sink"])
def test_slower_ways_bring_the_same_later(metrics, kind):
    slow, relayed = metrics(f"protocol.kind={kind}", "links.uplink.latency=9 slots"), metrics()
    assert slow["delay_slots"] > relayed["delay_slots"]
    assert slow["rounds"] == relayed["rounds"]
    assert slow["accepted"] > 0


def test_sets_of_parameters_are_not_for_agents_that_only_tell(metrics):
    with pytest.raises(ScenarioError, match=r"protocol\.stride: leave it out"):
        metrics("protocol.kind=local", "protocol.stride=3")
