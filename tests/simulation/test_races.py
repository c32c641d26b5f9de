"""Races: with certain rewards they end when a formula says, and never more often with a wrong answer than they may."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from netbandit.checks.check import check
from netbandit.network.families.graph import Graph
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load

RHO, SIGMA, DELTA = 25, 0.5, 0.05

GRAPHS = {
    **{f"path of {n}": nx.path_graph(n) for n in (2, 3, 6)},
    **{f"ring of {n}": nx.cycle_graph(n) for n in (3, 4, 8)},
    **{f"star of {n}": nx.star_graph(n - 1) for n in (4, 9)},
    **{f"all of {n}": nx.complete_graph(n) for n in (4, 7)},
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4)),
    "torus": nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 3, periodic=True)),
    "tree": nx.balanced_tree(2, 3),
    "wheel": nx.wheel_graph(7),
    "ladder": nx.ladder_graph(5),
    "barbell": nx.barbell_graph(4, 2),
    "lollipop": nx.lollipop_graph(4, 3),
    "Petersen": nx.petersen_graph(),
    "cube": nx.convert_node_labels_to_integers(nx.hypercube_graph(3)),
    "bipartite": nx.complete_bipartite_graph(2, 5),
    "karate": nx.karate_club_graph(),
    "chords": nx.circulant_graph(9, [1, 3]),
    "one agent": nx.empty_graph(1),
}

TEXT = """
run = { horizon = 400, slot = "1 ms", until = "answered" }
topology = { family = "ring", agents = 4 }
links = { peer.latency = "5 ms", uplink.latency = "5 ms" }
bandit = { kind = "bernoulli", means = [1.0, 0.0] }
learner = { kind = "race" }
protocol = { kind = "relay" }
"""


def found(*overrides, replication=0, graph=None):
    document = load("race.toml", overrides, text=TEXT)
    if graph is not None:
        document.data["topology"] = {"family": Graph, "graph": graph}
    return check(document).points[0].simulation(replication).run()


def certain(numbers, q):
    """Return whether arm 0, which pays 1, is certainly better than arm 1, which pays 0.

    Args:
        numbers: How many observations an agent knows of each arm and sequence, shape (2, A).
        q: The level.
    """
    if not numbers.any(axis=1).all():
        return False
    room = 2 * q + np.log1p(numbers / RHO).sum(axis=1)
    precision = (numbers**2 / (numbers + RHO)).sum(axis=1)
    return SIGMA * np.sqrt(room / precision).sum() < 1


def ends(graph, hop, q, *, one, ttl=None):
    """Return after how many slots each agent has answered, slot by slot.

    Args:
        graph: The graph; an observation takes *hop* slots a link.
        hop: See above.
        q: The level of each agent.
        one: Whether an agent puts all that it knows in one sequence, or one for each agent.
        ttl: How many links it goes; None: all.
    """
    away = dict(nx.all_pairs_shortest_path_length(graph, ttl))
    pulled = np.zeros((2, len(graph), 400))  # of each arm before each slot
    found = {}
    for slot in range(399):
        for agent in graph:
            pulled[:, agent, slot + 1] = pulled[:, agent, slot]
            pulled[0 if agent in found else pulled[:, agent, slot].argmin(), agent, slot + 1] += 1
        for agent in set(graph) - set(found):
            # An observation of slot s is known h links away before the decision of slot s + hop h.
            known = [pulled[:, other, max(0, slot + 1 - hop * links)] for other, links in away[agent].items()]
            numbers = np.stack(known, axis=1)
            if certain(numbers.sum(axis=1, keepdims=True) if one else numbers, q[agent]):
                found[agent] = slot + 1
    return [found[agent] for agent in graph]


def assert_ends(run, slots):
    assert (run.metrics["stop_slot"], run.metrics["stop_slot_mean"]) == (max(slots), pytest.approx(np.mean(slots)))
    assert (run.metrics["samples"], run.metrics["wrong"]) == (sum(slots), 0)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("pool", ["observations", "totals"])
@pytest.mark.parametrize("rule", ["lucb", "elimination"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_with_certain_rewards_a_race_ends_when_the_formula_says(graph, rule, pool):
    graph = GRAPHS[graph]
    q = np.full(len(graph), np.log(2 * len(graph) / DELTA))
    run = found(f"learner.rule={rule}", f"learner.pool={pool}", graph=graph)
    assert_ends(run, ends(graph, 5, q, one=True))
    assert not run.remarks
    alone = found(f"learner.rule={rule}", "protocol.kind=silent", graph=graph)
    assert_ends(alone, ends(nx.create_empty_copy(graph), 5, q, one=True))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("graph", GRAPHS)
def test_where_messages_might_be_lost_it_covers_all_numbers_of_observations(graph):
    """Here none is, so that the same is known as above, and the intervals are those of a sequence for each agent."""
    graph = GRAPHS[graph]
    run = found("learner.pool=totals", "links.peer.loss=1e-9", graph=graph)
    assert_ends(run, ends(graph, 5, np.full(len(graph), stats.gamma.isf(DELTA / 2, len(graph))), one=False))
    assert any("intervals cover all numbers known of each agent" in one for one in run.remarks) == (len(graph) > 1)


@pytest.mark.parametrize("hop", [1, 7])
@pytest.mark.parametrize("keys", ["ttl=1", "ttl=2", "ttl=2, route='flood'", "ttl=1, timing='asynchronous'"])
def test_agents_near_each_other_race_together(hop, keys):
    graph = nx.path_graph(6)
    run = found(f"protocol={{kind='local', {keys}}}", f"links.peer.latency={hop} ms", graph=graph)
    assert_ends(run, ends(graph, hop, np.full(6, np.log(12 / DELTA)), one=True, ttl=int(keys[4])))


@pytest.mark.parametrize("agents", [2, 3, 7])
def test_agents_that_pool_all_race_as_one_that_pulls_as_often(agents):
    """Up to the pulls of a pair of slots: an agent pulls either arm once where all pull it at once."""
    pooled = found("protocol.kind=pooled", f"topology={{family='path', agents={agents}}}").metrics["samples"]
    alone = found("topology={family='path', agents=1}", f"learner.confidence={DELTA / agents}").metrics["samples"]
    assert 0 <= pooled - alone < 2 * agents


@pytest.mark.parametrize("rule", ["lucb", "elimination"])
def test_an_answer_does_not_use_rewards_that_have_not_come(rule):
    """Agents go on to take turns with their arms, and answer as much later as rewards are late."""
    for protocol in ("silent", "relay"):
        base = f"protocol.kind={protocol}", f"learner.rule={rule}", "learner.pool=totals"
        late, at_once = (found(*base, *late).metrics["stop_slot"] for late in (["feedback={delay='7 slots'}"], []))
        assert late == at_once + 7


CAUSAL = {
    "silent": ("protocol.kind=silent",),
    "relay": (),
    "local": ("protocol={kind='local', ttl=2}",),
    "flood": ("protocol={kind='local', ttl=2, route='flood'}",),
    "asynchronous": ("protocol.timing=asynchronous",),
    "some decide": ("run.activity={share=0.5}",),
    "pooled": ("protocol.kind=pooled", "links.peer.loss=0.1"),
    "in turn": ("protocol={kind='pooled', when='pull'}",),
    "earliest": ("protocol.kind=earliest", "links.peer.latency={uniform=['1 ms', '9 ms']}"),
    "server": ("protocol.kind=master-worker", "links.uplink.latency={uniform=['1 ms', '9 ms']}", "links.peer.loss=0.1"),
    "gis": ("protocol.kind=gis",),
    "gis, one decides": ("protocol.kind=gis", "run.activity=one"),
    "flooding": ("protocol.kind=flooding", "run.activity={share=0.5}"),
    "flooding at once": ("protocol={kind='flooding', timing='asynchronous'}",),
    "same slots": ("links.peer.latency={uniform=['4.1 ms', '5 ms']}",),
}
"""Where nothing reaches an agent before what its sender knew."""

NOT = {
    "loss": ("links.peer.loss=0.1",),
    "jitter": ("links.peer.jitter=3 ms",),
    "queues": ("links.peer.bandwidth=1 Mbit/s",),
    "latencies": ("links.peer.latency={uniform=['1 ms', '9 ms']}",),
    "latencies within a slot": ("links.peer.latency={uniform=['4.1 ms', '5 ms']}", "protocol.timing=asynchronous"),
    "agents fail": ("faults.nodes={up_for='20 ms', down_for='5 ms'}",),
    "agents that pool fail": ("protocol.kind=pooled", "faults.nodes={up_for='20 ms', down_for='5 ms'}"),
    "links fail": ("faults.links={up_for='20 ms', down_for='5 ms'}",),
    "computing": ("compute={agents={message='0.1 ms'}}",),
    "random stop": ("protocol={kind='local', ttl=2, route='flood', stop=0.3}",),
    "uplinks queue": ("protocol.kind=master-worker", "links.uplink.bandwidth=1 Mbit/s"),
    "uplinks lose": ("protocol.kind=master-worker", "links.uplink.loss=0.1"),
    "gis over latencies": ("protocol.kind=gis", "links.peer.latency={uniform=['1 ms', '9 ms']}"),
    "gis in slots": ("protocol.kind=gis", "links.peer.latency={uniform=['4.1 ms', '5 ms']}"),
    "flooding over losses": ("protocol.kind=flooding", "links.peer.loss=0.1"),
    "gossip": ("protocol.kind=gossip",),
    "sink": ("protocol.kind=sink",),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", [*CAUSAL, *NOT])
def test_which_intervals_are_used(case):
    """The narrow ones where messages keep the order of causes; a trace changes nothing."""
    run = found(*(CAUSAL | NOT)[case], "run.horizon=60", "run.until=horizon", "learner.pool=totals")
    assert any("intervals cover" in remark for remark in run.remarks) == (case in NOT)


OVERTAKING = ("loss", "jitter", "latencies", "gossip", "random stop", "links fail")
"""Where effects do overtake their causes; elsewhere it is only not known that they do not."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", [*CAUSAL, *OVERTAKING])
def test_where_causes_come_first(case):
    """No agent knows what another agent did with a message before it has the message, if it ever gets it."""
    overrides = (*(CAUSAL | NOT)[case], "learner={kind='helpers.vector_clocks:Clocks'}", "topology.agents=6")
    metrics = found(*overrides, "run.horizon=80", "run.until=horizon").metrics
    assert (metrics["overtaken"] > 0, metrics["causal"]) == (case in OVERTAKING, case in CAUSAL)


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (("bandit={kind='bernoulli', arms=3, heterogeneity=0.1}",), "bandit.heterogeneity: must be 0"),
        (("bandit.means=[[0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.1, 0.9]]",), "bandit.means: must be one list for all"),
        (("bandit={kind='bernoulli', arms=3, drift=0.1}",), "bandit.drift: leave it out"),
        (("bandit={kind='bernoulli', arms=3, arms_per_agent=2}",), "bandit.arms_per_agent: leave it out"),
        (
            ("bandit={kind='linear', arms=3, dimension=2}",),
            'bandit.kind: must be one of "bernoulli", "gaussian", "mixed"',
        ),
        (("learner.confidence=0.0",), "learner.confidence"),
        (("learner.confidence=1.0",), "learner.confidence"),
        (("adversary={agents=[1], attack='flip'}",), "only where agents tell the truth"),
        (("feedback={delay='3 ms'}",), 'learner.pool: must be "totals" where rewards are late'),
        (
            ("feedback={delay='3 ms', window='5 ms', missing='zero'}", "protocol.kind=silent"),
            'feedback.missing: must be "forgotten"',
        ),
        (("faults.nodes={up_for='20 ms', down_for='5 ms', memory='lost'}",), "forget"),
    ],
)
def test_what_its_error_is_not_known_for_is_refused(overrides, text):
    with pytest.raises(ScenarioError, match=text):
        found(*overrides)


@pytest.mark.parametrize("means", ["[0.9, 0.1], heterogeneity=0.1", "[[0.9, 0.1], [1.0, 0.2], [0.8, 0.1], [1.0, 0.2]]"])
def test_agents_with_the_average_of_means_that_differ_race(means):
    assert found(f"bandit={{kind='bernoulli', means={means}, averaged=true}}").metrics["wrong"] == 0


@pytest.mark.parametrize("pool", ["observations", "totals"])
def test_over_links_that_lose_totals_make_up_for_it(pool):
    run = found("links.peer.loss=0.2", f"learner.pool={pool}", "run.until=horizon")
    assert run.metrics["answered"] == 1
    assert ("held_back" in run.metrics) == (pool == "observations")
    if pool == "observations":
        assert run.metrics["held_back"] > 100
        assert run.metrics["stop_slot"] > found("links.peer.loss=0.2", "learner.pool=totals").metrics["stop_slot"]
    assert any('learner.pool = "totals"' in line for line in run.remarks) == (pool == "observations")


@pytest.mark.parametrize(
    ("overrides", "noted"),
    [
        (("links.peer.loss=0.2",), True),
        (("links.peer.loss=0.2", "protocol.kind=local"), True),
        (("links.peer.loss=0.2", "links.peer.retry.timeout='50 ms'"), False),
        (("links.peer={latency='5 ms', bandwidth='1 Mbit/s', queue=2}",), True),
        (("faults.links={up_for='20 ms', down_for='5 ms'}",), True),
        (("faults.nodes={up_for='20 ms', down_for='5 ms'}", "protocol.kind=pooled"), False),
        (("links.peer.loss=0.2", "protocol.kind=silent"), False),
        ((), False),
    ],
)
def test_check_says_that_what_follows_a_loss_is_held_back(overrides, noted):
    notes = check(load("race.toml", overrides, text=TEXT)).notes
    assert any("learner.pool" in one for one in notes) == noted
    cured = check(load("race.toml", (*overrides, "learner.pool=totals"), text=TEXT)).notes
    assert not any("learner.pool" in one for one in cured)


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("protocol.kind=pooled",),
        ("protocol.kind=local", "links.peer.loss=0.1", "learner.pool=totals"),
        ("protocol={kind='local', ttl=2, route='flood'}", "links.peer.jitter=3 ms"),
    ],
)
def test_a_race_is_the_same_event_by_event_and_in_bulk(monkeypatch, overrides):
    noisy = ("bandit.means=[0.8, 0.5, 0.5]", "run.horizon=150", "run.until=horizon", *overrides)
    chosen = found(*noisy)
    monkeypatch.setenv("NETBANDIT_EXECUTION", "plain")
    plain = found(*noisy)
    assert chosen.fingerprint == plain.fingerprint
    assert chosen.metrics | {"wall_s": 0} == plain.metrics | {"wall_s": 0}


PROTOCOLS = {
    "silent": ("protocol.kind=silent",),
    "local": ("protocol.kind=local",),
    "flood": ("protocol={kind='local', route='flood', ttl=2}",),
    "relay": (),
    "lossy": ("links.peer={latency='3 ms', loss=0.2, jitter='8 ms'}",),
    **{kind: (f"protocol.kind={kind}",) for kind in ("pooled", "earliest", "master-worker", "gis", "flooding", "sink")},
}


def wrongly(replications, *overrides):
    """Return in how many runs some agent is certain that one of two equal arms is better: wrong, by a hair."""
    equal = ("bandit.means=[0.5, 0.5]", "run.horizon=200", "run.until=horizon", "links.peer.latency=2 ms")
    runs = (found(*equal, "learner.pool=totals", *overrides, replication=one) for one in range(replications))
    return sum(run.metrics["answered"] > 0 for run in runs)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["lucb", "elimination"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_errors_are_no_more_frequent_than_they_may_be(protocol, rule):
    wrong = wrongly(2_000, f"learner.rule={rule}", "learner.confidence=0.2", *PROTOCOLS[protocol])
    assert stats.binomtest(wrong, 2_000, 0.2).proportion_ci(0.99).high < 0.2


@pytest.mark.ci
@pytest.mark.parametrize("protocol", ["relay", "lossy"])
def test_certainty_takes_more_than_a_few_observations(protocol):
    """A part of the test above, which takes minutes."""
    wrong = wrongly(60, "learner.confidence=0.2", *PROTOCOLS[protocol])
    assert stats.binomtest(wrong, 60, 0.2).proportion_ci(0.9).high < 0.2
