"""The whole of P-FCB against a slow reference that knows no compiled loop, no network and no events."""

from itertools import pairwise
from math import log, sqrt

import networkx as nx
import numpy as np
import pytest
from helpers.examples import examples
from helpers.worlds import started
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from netbandit.bandits.procurement import Procurement
from netbandit.checks.check import check
from netbandit.conditions.latencies import peer_latencies
from netbandit.learners.greedy import choose
from netbandit.learners.pfcb import Pfcb
from netbandit.learners.pfcb_schedule import exploration_rounds, round_epsilon, sharing_slots
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.bandit_environments import optimum
from netbandit.simulation.drivers import slots
from netbandit.simulation.drivers.slots import Slots
from netbandit.util.streams import Streams

SCENARIO = """\
schema = 1
[run]
horizon = 300
slot = "1 ms"
[topology]
family = "{family}"
agents = 4
[links.peer]
latency = "{latency}"
[bandit]
kind = "procurement"
producers = 6
capacity = [1, 9]
quality_threshold = 0.6
[learner]
kind = "pfcb"
start = 20
stop = 200
share = "{share}"
communicate = "{communicate}"
epsilon = 20.0
explore = 2
[protocol]
kind = "relay"
"""


STREAMS = Streams(0, 0)


def run(tmp_path, **keys):
    file = tmp_path / "market.toml"
    file.write_text(SCENARIO.format(**keys))
    return check(load(file)).points[0].simulation(0).run()


def parts(agents):
    """A complete graph of all agents but the last, which has no link."""
    return nx.disjoint_union(nx.complete_graph(agents - 1), nx.empty_graph(1))


GRAPHS = {"complete": nx.complete_graph, "path": nx.path_graph, "parts": parts, "star": lambda n: nx.star_graph(n - 1)}
MS = 1_000_000


def arrival(path, slot, latency, slotted):
    """Return when (ns) a message that is sent in *slot* has come along *path*; *latency* is that of each link."""
    time = slot * MS
    for hop in pairwise(path):
        delivered = time + latency[tuple(sorted(hop))]
        time = max(time // MS + 1, -(-delivered // MS)) * MS if slotted else delivered
    return time


def reference(
    family, latency, share, communicate, alpha=0.6, rho=1.0, margin=0.0, explore=2, slotted=True, streams=STREAMS
):
    """Play slot by slot, agent by agent; return metrics, and what each agent bought and found good in each slot.

    The latency (ns) is that of all links, or of each by its ends.
    """
    horizon, agents, producers = 300, 4, 6
    keys = Procurement(producers=producers, capacity=[1, 9], quality_threshold=alpha, rho=rho)
    world = started(keys, agents, streams.generator)
    graph = GRAPHS[family](agents)
    latency = latency if isinstance(latency, dict) else dict.fromkeys(graph.edges, latency)
    paths = dict(nx.all_pairs_shortest_path(graph))  # there is only one of each
    luck = [streams.generator("rewards", agent).random((horizon, producers)) for agent in range(agents)]
    best, least = [], []
    for j in range(agents):
        worth = rho * world.qualities - world.costs[j]
        chosen, order = np.zeros(producers), np.zeros(producers, dtype=np.int64)
        choose(world.qualities, worth, world.capacities[j], alpha, order, chosen)
        best.append(chosen @ worth)
        least.append(sum(k * min(r, 0.0) for r, k in zip(worth, world.capacities[j], strict=True)))
    all_units, all_good = np.zeros((agents, producers)), np.zeros((agents, producers))
    own_units, own_good = np.zeros((agents, producers)), np.zeros((agents, producers))
    schedule = list(sharing_slots(communicate, 20, 200, horizon)) if share != "never" else []
    sharers = [1 if share == "never" else len(paths[j]) for j in range(agents)]
    explored = [exploration_rounds(count, horizon, 0.5) if explore == "theory" else explore for count in sharers]
    inboxes, regret, history = {}, 0.0, []
    violations, heard, accepted, delays = 0, 0, 0, []
    for slot in range(horizon):
        for receiver in range(agents):
            for _, sent, (units, good) in sorted(inboxes.pop((slot, receiver), []), key=lambda message: message[0]):
                delays.append(slot - sent)
                for i in range(producers):
                    heard += 1
                    width = sqrt(3 * log(sharers[receiver] * max(slot - 1, 1)) / (2 * all_units[receiver, i]))
                    if share == "private" and (
                        units[i] <= 0
                        or abs(good[i] / units[i] - all_good[receiver, i] / all_units[receiver, i]) > 10 * width
                    ):
                        continue
                    weight = 0.1 if share == "private" else 1.0
                    all_units[receiver, i] += weight * units[i]
                    all_good[receiver, i] += weight * good[i]
                    accepted += 1
        bought = np.ones((agents, producers))
        for j in range(agents):
            if slot >= explored[j]:
                inner = sharers[j] * slot if (share, communicate) == ("exact", "every") else slot
                believed = np.minimum(1.0, all_good[j] / all_units[j] + np.sqrt(3 * log(inner) / (2 * all_units[j])))
                order = np.zeros(producers, dtype=np.int64)
                worth = rho * believed - world.costs[j]
                choose(believed, worth, world.capacities[j], alpha + margin, order, bought[j])
        seen = np.stack([binom.ppf(luck[j][slot], bought[j], world.qualities) for j in range(agents)])
        seen = np.maximum(seen, 0)
        all_units += bought
        own_units += bought
        all_good += seen
        own_good += seen
        history.append(np.stack([bought, seen]))
        for j in range(agents):
            violated = bought[j] @ (world.qualities - alpha) < -1e-9
            violations += violated
            regret += best[j] - (least[j] if violated else bought[j] @ (rho * world.qualities - world.costs[j]))
        if slot in schedule:
            number = schedule.index(slot) + 1
            told = np.stack([own_units, own_good], axis=1)
            if share == "private":
                epsilon = round_epsilon(20.0, horizon, len(schedule), number)
                deviation = world.capacities[:, None, :] * sqrt(2 * log(1.25 / 0.01)) / epsilon
                told += streams.generator("noise", number).normal(size=told.shape) * deviation
            own_units[:] = own_good[:] = 0
            for sender in range(agents):
                for receiver, path in paths[sender].items():
                    time = arrival(path, slot, latency, slotted)
                    due = max(-(-time // MS), slot + 1)  # what comes at once comes after the decision of its slot
                    if receiver != sender:
                        inboxes.setdefault((due, receiver), []).append(((time, sender, number), slot, told[sender]))
    metrics = {
        "regret": pytest.approx(regret, rel=1e-9),
        "violations": violations / (agents * horizon),
        "accepted": accepted / heard if heard else None,
        "delay_slots": sum(delays) / len(delays) if delays else None,
    }
    return metrics, np.array(history)


@pytest.fixture
def history(monkeypatch):
    """What each agent bought and found good, slot by slot, in the simulation that follows."""
    compiled, found = slots.compiled_loop, []

    def watched(world, learners, *others):
        play, (learner,) = compiled(world, learners, *others), learners

        def played(first, last):
            for slot in range(first, last):
                before = np.stack([learner.fresh_units, learner.fresh_good])
                play(slot, slot + 1)
                found.append(np.stack([learner.fresh_units, learner.fresh_good]) - before)
            return last

        return played

    monkeypatch.setattr(slots, "compiled_loop", watched)
    return found


@pytest.mark.sampled(6)
@pytest.mark.parametrize("share", ["private", "exact", "never"])
@pytest.mark.parametrize("communicate", ["doubling", "every", "literal"])
@pytest.mark.parametrize(("family", "latency"), [("complete", 0), ("path", 7)])
def test_equals_the_reference_in_every_slot(tmp_path, history, share, communicate, family, latency):
    result = run(tmp_path, family=family, latency=f"{latency} ms", share=share, communicate=communicate)
    metrics, expected = reference(family, latency * MS, share, communicate)
    assert result.metrics | metrics == result.metrics
    assert np.array(history).shape == expected.shape == (300, 2, 4, 6)
    assert (np.array(history) == expected).all()
    assert result.metrics["violations"] > 0


@pytest.mark.sampled(6)
@pytest.mark.parametrize("share", ["private", "exact", "never"])
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("complete", {"alpha": 0.85}),
        ("complete", {"alpha": 0.7, "margin": 0.1}),
        ("complete", {"rho": 0.4}),
        ("parts", {"explore": "theory"}),  # each with as many as can hear it
        ("parts", {}),
    ],
)
def test_equals_the_reference_with_other_keys(tmp_path, history, share, family, settings):
    keys = {"alpha": "bandit.quality_threshold", "rho": "bandit.rho"}
    overrides = [f"{keys.get(name, f'learner.{name}')}={value}" for name, value in settings.items()]
    if "explore" in settings:
        overrides.append("learner.zeta=0.5")
    if family == "parts":
        overrides += ['topology.family="hybrid"', "topology.components=[3, 1]"]
    file = tmp_path / "market.toml"
    file.write_text(SCENARIO.format(family="complete", latency="0 ms", share=share, communicate="doubling"))
    result = check(load(file, overrides)).points[0].simulation(0).run()
    metrics, expected = reference(family, 0, share, "doubling", **settings)
    assert result.metrics | metrics == result.metrics
    assert (np.array(history) == expected).all()


@pytest.mark.sampled(48)
@pytest.mark.parametrize("share", ["private", "exact"])
@pytest.mark.parametrize("communicate", ["literal", "every"])
@pytest.mark.parametrize("family", ["path", "star"])
@pytest.mark.parametrize("slotted", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_equals_the_reference_on_links_of_random_latency(tmp_path, history, share, communicate, family, slotted, seed):
    file = tmp_path / "market.toml"
    text = SCENARIO.format(family=family, latency="", share=share, communicate=communicate)
    file.write_text(text.replace('latency = ""', 'latency = { uniform = ["0.2 ms", "9 ms"] }'))
    overrides = [f"run.seed={seed}", f"protocol.timing={'slotted' if slotted else 'asynchronous'}"]
    point = check(load(file, overrides)).points[0]
    streams, graph = Streams(seed, 0), point.topology(0)
    drawn = peer_latencies(point.scenario.links.peer, graph, MS, streams)
    latency = dict(zip(map(tuple, graph.edges.tolist()), drawn.tolist(), strict=True))
    metrics, expected = reference(family, latency, share, communicate, slotted=slotted, streams=streams)
    assert len(set(latency.values())) == 3
    result = point.simulation(0).run()
    assert result.metrics | metrics == result.metrics
    assert (np.array(history) == expected).all()


def random_market(draw):
    graph = draw(
        st.sampled_from(["complete", "path", "star", "ring", 'hybrid"\ncomponents = [3, 2]\ninside = "complete'])
    )
    return {
        "family": graph,
        "latency": draw(st.sampled_from(["0 ms", "1 ms", "2.5 ms", "6 ms"])),
        "communicate": draw(st.sampled_from(["doubling", "literal"])),
    }


@given(st.data(), st.sampled_from(["slotted", "asynchronous"]), st.integers(0, 9))
@examples(25)
def test_nothing_is_counted_twice(tmp_path, data, timing, seed):
    """All told has arrived long before the horizon: an agent has what it bought, and what others in reach told."""
    keys = random_market(data.draw)
    text = SCENARIO.format(**keys, share="exact").replace('kind = "relay"', f'kind = "relay"\ntiming = "{timing}"')
    if "hybrid" in keys["family"]:
        text = text.replace("agents = 4\n", "")
    file = tmp_path / "market.toml"
    file.write_text(text)
    told, exchanges = [], []
    with pytest.MonkeyPatch.context() as patch:
        start, share = Slots.start, Pfcb.share
        patch.setattr(Slots, "start", lambda self: (exchanges.append(self), start(self))[1])
        patch.setattr(Pfcb, "share", lambda self, *rest: (told.append(share(self, *rest)), told[-1])[1])
        check(load(file, [f"run.seed={seed}"])).points[0].simulation(0).run()
    (learner,) = exchanges[0].learners
    component = exchanges[0].context.topology.component
    shared = np.sum(told, axis=0).reshape(len(component), 2, -1)
    for kind, (have, fresh) in enumerate(((learner.units, learner.fresh_units), (learner.good, learner.fresh_good))):
        own = shared[:, kind] + fresh
        for agent in range(len(own)):
            others = [other for other in range(len(own)) if other != agent and component[other] == component[agent]]
            assert (have[agent] == own[agent] + shared[others, kind].sum(axis=0)).all()


def test_rounds_of_a_doubling_schedule(tmp_path):
    first = run(tmp_path, family="path", latency="2 ms", share="private", communicate="doubling")
    assert first.metrics["rounds"] == 4  # slots 20, 32, 64 and 128
    assert first.metrics["messages"] == 4 * 4 * 3
    assert first.metrics["epsilon_claimed"] == 20.0


@pytest.mark.parametrize("graph", ['path"\n#', 'hybrid"\ncomponents = [1, 1]\n#'])
@pytest.mark.parametrize("share", ["private", "exact"])
def test_what_has_nobody_to_hear_it_is_not_told(tmp_path, graph, share):
    file = tmp_path / "market.toml"
    text = SCENARIO.format(family=graph, latency="0 ms", share=share, communicate="doubling")
    file.write_text(text.replace("agents = 4", "agents = 1" if "path" in graph else ""))
    for trace in (None, tmp_path / "trace.jsonl"):
        result = check(load(file)).points[0].simulation(0).run(trace=trace)
        assert [result.metrics[name] for name in ("rounds", "messages", "epsilon", "delta")] == [0, 0, 0, 0]
        assert result.kinds == {}


@pytest.mark.parametrize("noiseless", ["learner.share=exact", "learner.epsilon=inf"])
def test_what_is_told_without_noise_is_not_private(tmp_path, noiseless):
    file = tmp_path / "market.toml"
    file.write_text(SCENARIO.format(family="path", latency="0 ms", share="private", communicate="doubling"))
    private, exact = (check(load(file, keys)).points[0].simulation(0).run().metrics for keys in ([], [noiseless]))
    assert 0 < private["epsilon"] < private["epsilon_claimed"] == 20.0 < private["epsilon_basic_composition"]
    assert (exact["epsilon"], exact["epsilon_claimed"]) == (None, None)  # infinite
    assert exact["regret"] < private["regret"]


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        (["learner.explore=0"], 'learner.explore: must be a number of slots, at least 1, or "theory"'),
        (["learner.explore=theory"], 'learner.zeta: is missing: explore = "theory" needs it, a number > 0'),
        (["learner.start=201"], "learner.stop: the window ends (stop = 200) before it begins"),
        (["learner.stop=19"], "learner.stop: the window ends (stop = 19) before it begins"),
        (["learner.margin=0.5"], "learner.margin: must be at most 0.4: no quality is above 1"),
        (["learner.epsilon=0"], "learner.epsilon: must be a number above 0 or inf, not 0"),
        (["learner.weight=-1"], "learner.weight: must be a number of at least 0, not -1"),
        (["bandit.capacity=[0, 9]"], "bandit.capacity[0]: must be from 1 to 1000"),
        (["bandit.capacity=[9, 1]"], "bandit.capacity: the smallest capacity comes first, then the largest"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, overrides, line):
    file = tmp_path / "market.toml"
    file.write_text(SCENARIO.format(family="path", latency="0 ms", share="private", communicate="doubling"))
    with pytest.raises(ScenarioError) as error:
        check(load(file, overrides))
    (found,) = error.value.lines
    assert found.endswith(f": {line}")


@pytest.mark.parametrize(
    ("overrides", "unused"),
    [
        (["learner.share=private"], []),
        (["learner.share=exact", "learner.band=3.0"], ["band", "epsilon"]),
        (["learner.share=never"], ["communicate", "epsilon", "start", "stop"]),
        (["learner.communicate=every"], ["start", "stop"]),
        (["learner.epsilon=inf", "learner.delta=0.1"], ["delta"]),
        (["learner.zeta=0.1"], ["zeta"]),
        (["bandit.spread=0.2"], ["spread"]),
        (["bandit.spread=0.2", "bandit.sampling=normal"], []),
    ],
)
def test_a_key_that_the_mode_does_not_use_is_noted(tmp_path, overrides, unused):
    file = tmp_path / "market.toml"
    file.write_text(SCENARIO.format(family="path", latency="0 ms", share="private", communicate="doubling"))
    notes = check(load(file, overrides)).notes
    assert sorted(note.split(": ")[1].split(".")[1] for note in notes) == unused


def test_who_only_explores_is_told_so(tmp_path):
    file = tmp_path / "market.toml"
    file.write_text(SCENARIO.format(family="path", latency="0 ms", share="private", communicate="doubling"))
    never = "agents that explore for 300 slots never exploit: the horizon is 300"
    for explore, remarks in ((299, ()), (300, (never,))):
        point = check(load(file, [f"learner.explore={explore}"])).points[0]
        assert point.simulation(0).run().remarks == remarks


def test_the_oracles_choice_meets_the_threshold_and_pays_all_there_is_to_lose():
    world = started(Procurement(quality_threshold=0.7), 5, Streams(3, 0).generator)
    best = optimum(world)
    assert world.keeps_threshold(best).all()
    bad = np.where(world.qualities < 0.7, world.capacities, 0)
    assert not world.keeps_threshold(bad).any()
    assert (world.least_revenue <= world.revenue(bad)).all()
    assert world.revenue(best).min() > 0
