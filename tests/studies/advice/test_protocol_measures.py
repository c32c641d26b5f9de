"""What links are judged by under each protocol, against runs of the protocol with each link; and who is refused."""

import networkx as nx
import numpy as np
import pytest
from helpers.apart_round import SLOT as APART_SLOT
from helpers.apart_round import rounds_apart
from helpers.combinations import scenario
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from helpers.one_round import SLOT, one_round
from helpers.scenes import study
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.topology import Topology
from netbandit.parts.registry import BUILT_IN
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.local import Local
from netbandit.protocols.master_worker import MasterWorker
from netbandit.protocols.relay import Relay
from netbandit.protocols.rounds_over_broadcast import RoundsOverBroadcast
from netbandit.protocols.sink import Sink
from netbandit.scenario.errors import ScenarioError
from netbandit.studies.advice.flooding_time import FloodingTime
from netbandit.studies.advice.gis_time import GisTime
from netbandit.studies.advice.protocol_measures import JUDGED, left_out, measure_of
from netbandit.studies.advice.served_times import SinkTime, UplinkTime
from netbandit.studies.advice.spectral_gap import Gap
from netbandit.studies.advice.structure_measures import Activations, Resilience
from netbandit.studies.advice.timed_graph import TimedGraph
from netbandit.studies.advice.tree_times import LocalTime, RelayTime
from netbandit.studies.advice.what_if import what_if


def together(kind, **keys):
    """A round that ends for all by the same answer, run."""

    def run(graph, latency, uplinks, timing):
        ran = one_round(kind, graph, latency=latency, uplink=uplinks, timing=timing, **keys)
        return max(ran.informed.values()) if len(ran.informed) == len(graph) else None

    return run


def apart(**keys):
    """A round of local, in which each agent concludes for itself, run."""

    def run(graph, latency, uplinks, timing):
        scale = APART_SLOT // SLOT
        longer = {link: scale * time for link, time in latency.items()}
        found, _ = rounds_apart(Local(**keys, timing=timing), graph, latency=longer)
        return max(round(slot * SLOT) for slot, _ in found.values()) if len(found) == len(graph) else None

    return run


ROUNDS = {
    "gis": (GisTime(), together(Gis)),
    "flooding": (FloodingTime(), together(Flooding)),
    "sink": (SinkTime(gis=False), together(Sink)),
    "sink by gis": (SinkTime(gis=True), together(Sink, collect="gis")),
    "relay": (RelayTime(), together(lambda **keys: RoundsOverBroadcast.over(Relay(**keys)))),
    "local": (LocalTime(2, flood=False), apart(ttl=2)),
    "local, far": (LocalTime(4, flood=False), apart(ttl=4)),
    "local by floods": (LocalTime(4, flood=True), apart(ttl=4, route="flood")),
    "master-worker": (UplinkTime(), together(MasterWorker)),
}


def latencies_of(links, longest):
    """A latency for each link that does not exist, by its ends."""
    return (links[:, 0] * 37 + links[:, 1] * 101) % (longest + 1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("protocol", ROUNDS)
@examples(6)
@given(connected_graphs(6), st.booleans(), st.sampled_from([0, 300, 3 * SLOT]), st.randoms(use_true_random=False))
def test_the_advised_link_is_the_best_of_all_in_runs(protocol, graph, slotted, longest, random):
    advised_link_is_the_best(protocol, graph, slotted, longest, random)


@pytest.mark.search
@pytest.mark.parametrize("protocol", ROUNDS)
@examples(300)
@given(connected_graphs(9), st.booleans(), st.sampled_from([0, 300, 3 * SLOT]), st.randoms(use_true_random=False))
def test_the_advised_link_is_the_best_of_all_in_many_runs(protocol, graph, slotted, longest, random):
    advised_link_is_the_best(protocol, graph, slotted, longest, random)


def advised_link_is_the_best(protocol, graph, slotted, longest, random):
    measure, run = ROUNDS[protocol]
    topology = Topology(graph)
    latency = {(first, second): random.randint(0, longest) for first, second in topology.edges.tolist()}
    uplinks = [random.randint(0, longest) for _ in range(topology.agents)]
    network = TimedGraph(
        topology, np.array([*latency.values()], dtype=np.int64), SLOT, slotted, np.array(uplinks, dtype=np.int64)
    )
    timing = "slotted" if slotted else "asynchronous"
    before = run(graph, latency, uplinks, timing)
    assert measure.value(network) == before
    better = []
    for one, other in nx.non_edges(graph):
        link = min(one, other), max(one, other)
        more = graph.copy()
        more.add_edge(*link)
        time = int(latencies_of(np.array([link]), longest)[0])
        found = run(more, {**latency, link: time}, uplinks, timing)
        if found is not None and (before is None or found < before):
            better.append((found, time, link))
    steps = what_if(network, 1, measure, lambda links: latencies_of(links, longest), shown=1000)
    assert [(change.value, change.latency, change.link) for step in steps for change in step.best] == sorted(better)


@pytest.mark.parametrize("rule", ["max-degree", "metropolis", "uniform"])
@examples(8)
@given(graph=connected_graphs(8))
def test_the_gap_is_that_of_the_weights_with_each_link(rule, graph):
    def gap(graph):
        degree = dict(graph.degree)
        weights = np.zeros((len(graph), len(graph)))
        for one, other in [*graph.edges, *((other, one) for one, other in graph.edges)]:
            weights[one, other] = {
                "max-degree": 1 / (max(degree.values()) + 1),
                "metropolis": 1 / (max(degree[one], degree[other]) + 1),
                "uniform": 1 / (degree[one] + 1),
            }[rule]
        weights += np.diag(1 - weights.sum(axis=1))
        return 1 - sorted(np.abs(np.linalg.eigvals(weights)))[-2] if len(graph) > 1 else 1

    topology = Topology(graph)
    nothing = np.zeros(topology.links, dtype=np.int64)
    network = TimedGraph(topology, nothing, SLOT, True, np.zeros(topology.agents, dtype=np.int64))
    steps = what_if(network, 1, Gap(rule, None), lambda links: np.zeros(len(links), dtype=np.int64), shown=1000)
    found = {change.link: 1 - change.value for step in steps for change in step.best}
    assert all(step.before == pytest.approx(1 - gap(graph)) for step in steps)
    for link in nx.non_edges(graph):
        more = graph.copy()
        more.add_edge(*link)
        key = min(link), max(link)
        if key in found:
            assert found[key] == pytest.approx(gap(more), abs=1e-9)
        else:
            assert gap(more) <= gap(graph) + 1e-9


OF = {
    "consensus": ("coop-ucb2", "bernoulli"),
    "vertical": ("linucb", "vertical"),
    "parameter-server": ("linucb", "linear"),
}


def point(folder, kind, *changes, learner=None, bandit="bernoulli"):
    learner, bandit = (learner, bandit) if learner else OF.get(kind, ("elimination", bandit))
    (found,) = study(folder, *changes, text=scenario(learner, bandit, kind)).points
    return found


@pytest.mark.parametrize("kind", [*BUILT_IN["protocol"]])
def test_a_protocol_is_judged_by_its_own_round_or_refused(tmp_path, kind):
    found = point(tmp_path, kind)
    assert isinstance(measure_of(found, "resilience"), Resilience)
    if kind in JUDGED:
        assert kind in measure_of(found, "time").subject
    else:
        with pytest.raises(ScenarioError, match=rf'not computed for "{kind}": .+; it is for "gis", "flooding"'):
            measure_of(found, "time")
    for name, only in (("cost", "gis"), ("gap", "consensus")):
        if kind == only:
            assert measure_of(found, name).name == name
        else:
            with pytest.raises(ScenarioError, match=f'--measure {name}: .*"{kind}"'):
                measure_of(found, name)


def test_what_depends_on_chance_or_learning_is_refused(tmp_path):
    for change, why in (("protocol.stop=0.1", "drawn at random"), ("protocol.absorb=true", "have learnt")):
        with pytest.raises(ScenarioError, match=why):
            measure_of(point(tmp_path, "local", "protocol.route=flood", change, learner="ucb"), "time")
    with pytest.raises(ScenarioError, match="ttl times the slowest link"):
        measure_of(point(tmp_path, "local", learner="feducb", bandit="linear"), "time")
    assert isinstance(measure_of(point(tmp_path, "gis"), "cost"), Activations)


def test_what_runs_have_and_the_measure_has_not_is_named(tmp_path):
    changes = ("links.peer.loss=0.1", "links.peer.retry={}", "links.uplink.loss=0.1", 'protocol.deadline="3 slots"')
    assert [*left_out(point(tmp_path, "gis", "links.peer.latency=1 ms"))] == []
    assert [*left_out(point(tmp_path, "gis", *changes))] == ["links.peer.loss", "links.peer.retry", "protocol.deadline"]
    found = [*left_out(point(tmp_path, "master-worker", *changes, 'faults.server={up_for="9 ms",down_for="1 ms"}'))]
    assert found == ["links.uplink.loss", "faults", "protocol.deadline"]
    assert [*left_out(point(tmp_path, "gis", learner="feducb", bandit="linear"))] == ["the call before a round"]
