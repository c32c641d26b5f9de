"""The reference that brings what is told by the earliest path over time: exact, and never beaten."""

import random

import networkx as nx
import pytest
from helpers.contact_lists import earliest, linked, sensed
from helpers.scenes import study
from helpers.telling import SLOT, told

from netbandit.protocols.earliest import Earliest
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gossip import Gossip
from netbandit.protocols.local import Local
from netbandit.protocols.pooled import Pooled
from netbandit.protocols.relay import Relay
from netbandit.scenario.errors import ScenarioError


def heard(kind, *given, **keys):
    """Return when each agent first hears of each other one."""
    log, _ = told(kind, *given, **keys)
    found = {}
    for time, agent, source, _ in log:
        found[source, agent] = min(time, found.get((source, agent), time))
    return found


def drawn(seed):
    """Return contacts of five agents, connected as a graph, and the latency of each link."""
    rng = random.Random(seed)
    pairs = [(one, rng.randrange(one)) for one in range(1, 5)] + [tuple(rng.sample(range(5), 2)) for _ in range(3)]
    grain = rng.choice([1, 100, SLOT])
    contacts, latency = [], {}
    for one, other in pairs:
        latency[min(one, other), max(one, other)] = rng.randrange(2 * SLOT) // grain * grain
        for _ in range(rng.randint(1, 3)):
            begin = rng.randrange(20 * SLOT) // grain * grain
            contacts.append((min(one, other), max(one, other), begin, begin + rng.randint(1, 8) * SLOT))
    return contacts, latency


def compare(seed):
    contacts, latency = drawn(seed)
    graph, timing = linked(contacts, 5), random.Random(f"timing {seed}").choice(["slotted", "asynchronous"])
    slot = SLOT if timing == "slotted" else None
    waiting, choosing = (
        sensed(contacts, slotted=slot is not None),
        sensed(contacts, slotted=slot is not None, waits=False),
    )
    found = heard(Earliest, graph, latency, timing=timing, faults=waiting)
    for source in range(5):
        expected = earliest(contacts, latency, source, 0, 1_000 * SLOT, slot)
        assert {agent: time for (one, agent), time in found.items() if one == source} | {source: 0} == expected
    others = [
        (Relay, waiting, {}),
        (Flooding, waiting, {}),
        (Gossip, choosing, {}),
        (Local, choosing, {"ttl": 4, "route": "flood"}),
    ]
    for kind, faults, keys in others:
        for pair, time in heard(kind, graph, latency, timing=timing, faults=faults, **keys).items():
            assert time >= found[pair], (kind, pair)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(20))
def test_it_is_exact_and_no_protocol_is_earlier(seed):
    compare(seed)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
def test_no_protocol_is_earlier_in_a_thousand_cases(hundred):
    for seed in range(100 * hundred, 100 * hundred + 100):
        compare(1_000 + seed)


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_on_links_that_are_always_up_it_takes_shortest_paths(timing):
    graph = nx.cycle_graph(6)
    found = heard(Earliest, graph, SLOT, timing=timing)
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    assert found == {(one, other): distance[one][other] * SLOT for one in graph for other in graph if one != other}


def test_without_latency_and_with_all_in_contact_it_is_pooled():
    graph = nx.complete_graph(5)
    times = (0, 3 * SLOT, 4 * SLOT)
    assert told(Earliest, graph, times=times)[0] == told(Pooled, graph, times=times)[0]


def test_nobody_may_send():
    with pytest.raises(RuntimeError, match="without any"):
        told(Earliest, nx.path_graph(2))[1].receive(0, [])


@pytest.mark.parametrize(("learner", "horizon"), [("elimination", 600), ("ucb", 30)])
def test_a_round_over_it_needs_a_connected_graph_as_over_any_broadcasts(tmp_path, learner, horizon):
    """Nobody ever hears of the other component: a round would never end."""
    text = (
        f"run = {{ horizon = {horizon} }}\ntopology = {{ family = 'hybrid', components = [3, 2] }}\n"
        f"bandit = {{ kind = 'bernoulli', means = [0.1, 0.9] }}\nlearner = {{ kind = '{learner}' }}\n"
        "protocol = { kind = 'earliest' }\n"
    )
    if learner == "ucb":
        assert study(tmp_path, text=text).points[0].simulation(0).run().metrics["regret"] > 0
        return
    with pytest.raises(ScenarioError, match="a round over earliest needs a connected graph"):
        study(tmp_path, text=text)
