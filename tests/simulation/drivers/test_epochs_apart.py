"""Elimination of agents that may differ in what they have heard, against a plain reference and against Algorithm 1."""

import json
import math

import pytest
from helpers.apart_lockstep import play

from netbandit.checks.check import check
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.util.streams import Streams

BASE = """
run = { horizon = 3000, seed = 5 }
topology = { family = "path", agents = 5 }
bandit = { kind = "bernoulli", means = [0.1, 0.6, 0.9], heterogeneity = 0.1 }
learner = { kind = "elimination" }
protocol = { kind = "local" }
"""

LOST = 'faults.nodes={ up_for = "400 ms", down_for = "10 ms", memory = "lost" }'


def point_of(*overrides):
    return check(load("scenario.toml", overrides, text=BASE)).points[0]


def run(*overrides, trace=None):
    return point_of(*overrides).simulation(0).run(trace)


def phases(path):
    """Return (agent, what, round, first slot, slot after the last, arm or number of arms) of a trace, sorted."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(
        (line["agent"], line["phase"], line["round"], line["begin"] // 10**6, line["end"] // 10**6)
        for line in lines
        if "phase" in line and line["end"] > line["begin"]
    )


GRAPHS = [
    'topology={ family = "path", agents = 5 }',
    'topology={ family = "ring", agents = 6 }',
    'topology={ family = "star", agents = 5 }',
    'topology={ family = "grid", agents = 6 }',
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    ("protocol", "ttl", "deadline"),
    [
        ('{ kind = "local" }', 1, None),
        ('{ kind = "local", ttl = 2 }', 2, None),
        ('{ kind = "local", ttl = 2, deadline = "1 slot" }', 2, 1),
        ('{ kind = "local", ttl = 1, deadline = "30 slots" }', 1, 30),
        ('{ kind = "relay", deadline = "2 slots" }', 99, 2),
    ],
)
@pytest.mark.parametrize("epsilon", [math.inf, 4.0])
def test_runs_are_those_of_a_plain_reference(tmp_path, graph, protocol, ttl, deadline, epsilon):
    """Slot by slot, agent by agent: what each does, when, and the regret of it."""
    trace = tmp_path / "trace.jsonl"
    overrides = (graph, f"protocol={protocol}", f"learner.epsilon={epsilon}")
    result = run(*overrides, trace=trace)
    point = point_of(*overrides)
    topology = point.topology(0)
    bandit = point.bandit.fresh()
    bandit.horizon = 3000
    bandit.start(topology.agents, Streams(5, 0).generator)
    expected = play(
        edges=topology.edges.tolist(),
        agents=topology.agents,
        means=bandit.agent_means,
        horizon=3000,
        ttl=ttl,
        deadline=deadline,
        epsilon=epsilon,
        streams=Streams(5, 0),
    )
    assert phases(trace) == sorted(phase for phase in expected.phases if phase[3] < phase[4])
    gaps = bandit.gaps
    assert result.metrics["regret"] == pytest.approx(sum(gaps[arm] for arm in expected.pulls), rel=1e-12)
    assert result.metrics["messages"] == expected.items + expected.dones
    if deadline is not None:
        assert result.metrics["late"] == expected.late


def test_over_local_to_nobody_everybody_is_silent():
    silent, local = run('protocol={ kind = "silent" }'), run("protocol.ttl=0")
    assert local.fingerprint == silent.fingerprint
    assert local.metrics["regret"] == silent.metrics["regret"]


PROTOCOLS = ["master-worker", "gis", "sink", "flooding", "gossip", "relay"]


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_a_deadline_that_nobody_needs_changes_nothing_but_draws_and_sizes(kind):
    protocol = f'protocol={{ kind = "{kind}" }}'
    means = ("bandit.means=[0.0, 1.0]", "bandit.heterogeneity=0.0", "run.horizon=2000")
    plain, patient = run(protocol, *means), run(protocol, *means, 'protocol.deadline="1 s"')
    for name in ("regret", "rounds", "round_slots"):
        assert patient.metrics[name] == plain.metrics[name], name
    assert patient.metrics["late"] == 0
    assert patient.metrics["bytes"] > plain.metrics["bytes"]


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_what_is_lost_stalls_nobody_who_has_a_deadline(kind):
    lossy = ("links.peer.loss=0.5", "links.uplink.loss=0.5", f'protocol={{ kind = "{kind}", deadline = "5 ms" }}')
    metrics = run(*lossy).metrics
    assert metrics["rounds"] >= 1
    assert metrics["stalled"] == 0
    assert 0 < metrics["round_slots"] <= 15


@pytest.mark.parametrize("kind", ["gis", "flooding", "gossip", "master-worker", "silent"])
def test_agents_that_lose_their_memory_begin_anew(kind):
    """Without a deadline too: what was concluded is told once more to who comes back."""
    overrides = (f'protocol={{ kind = "{kind}" }}', LOST)
    lost, kept = run(*overrides), run(*overrides, 'faults.nodes.memory="kept"')
    assert lost.metrics["absent_slots"] == kept.metrics["absent_slots"] > 0
    assert lost.metrics["stalled"] == 0
    assert lost.metrics["regret"] > kept.metrics["regret"]


@pytest.mark.parametrize("kind", ["sink", "relay", "local"])
def test_with_a_deadline_they_do_over_any_protocol(kind):
    metrics = run(f'protocol={{ kind = "{kind}", deadline = "20 ms" }}', LOST, "run.horizon=6000").metrics
    assert metrics["stalled"] == 0
    assert metrics["rounds"] >= 1


def test_who_heard_no_answer_does_not_know_that_it_is_to_upload():
    """All is lost: the participants of the first round are known ahead, and nobody learns those of the next."""
    server = 'protocol={ kind = "master-worker", deadline = "5 ms" }'
    result = run(server, "learner.participation=0.4", "links.uplink.loss=1.0", "run.horizon=20000")
    assert result.metrics["rounds"] >= 3
    assert {kind: counts[0] for kind, counts in result.kinds.items()} == {"UPLOAD": 2}
    every = run(server, "links.uplink.loss=1.0", "run.horizon=20000")
    assert every.kinds["UPLOAD"][0] == 5 * every.metrics["rounds"]


def test_a_reward_is_paid_in_one_life():
    """Agent 2 is down once, after its first release and before its second: no reward is in releases of both lives."""
    never = 'faults.nodes={ up_for = "1000000 s", down_for = "1 ms", memory = "lost" }'
    flooding = ('protocol={ kind = "flooding" }', "learner.epsilon=0.5", "run.horizon=20000")
    once = 'faults.outages=[{ nodes = [2], from = "15 s", until = "15001 ms" }]'
    spent = run(*flooding, never)
    twice = run(*flooding, never, once)
    assert spent.metrics["epsilon"] == 5 * 0.5
    assert twice.metrics["epsilon"] == 5 * 0.5
    assert (twice.privacy_bound, twice.privacy_accountant) == ("exact", spent.privacy_accountant)
    kept = run(*flooding, never.replace("lost", "kept"), once)
    assert kept.metrics["epsilon"] == 5 * 0.5


def test_noise_of_fewer_agents_is_remarked_on():
    assert any("share with 2 to 3 agents" in line for line in run("learner.epsilon=4.0").remarks)
    assert not any("share with" in line for line in run('topology.family="ring"', "learner.epsilon=4.0").remarks)
    assert not any("share with" in line for line in run().remarks)


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        (['protocol={ kind = "gis", deadline = "0 ms" }'], "protocol.deadline"),
        (['protocol={ kind = "silent", deadline = "5 ms" }'], "protocol.deadline"),
        (['protocol={ kind = "flooding", deadline = "5 ms" }', 'learner={ kind = "ucb" }'], "protocol.deadline"),
        (['faults.nodes={ up_for = "1 s", down_for = "1 s", memory = "gone" }'], "faults.nodes.memory"),
        (["protocol.stride=2"], "protocol.stride"),
    ],
)
def test_what_cannot_be_is_told_at_its_key(overrides, key):
    with pytest.raises(ScenarioError) as caught:
        point_of(*overrides)
    assert f"{key}: " in str(caught.value)
