"""The whole of FedUCB against a slow reference that knows no compiled loop, no network and no events."""

import json
from collections import Counter
from itertools import pairwise
from math import ceil, inf, log, sqrt

import helpers.feducb_reference as reference
import networkx as nx
import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.checks.check import check
from netbandit.learners.feducb import FedUcb
from netbandit.privacy.gaussian import exact_epsilon
from netbandit.scenario.load import load
from netbandit.simulation.drivers import slots
from netbandit.simulation.strategies.rounds import Rounds

SLOT = 1_000_000


class Watched:
    """A run, and what its agents did."""

    def __init__(self, folder, monkeypatch, tables, trace=None):
        file = folder / "linear.toml"
        lines = ["schema = 1"]
        for table, keys in tables.items():
            lines.append(f"[{table}]")
            lines += [f"{key} = {value}" for key, value in keys.items()]
        file.write_text("\n".join(lines))
        found = check(load(file))
        self.adoptions, self.driver = [], None
        run = self

        class Driver(slots.Slots):
            def start(self):
                super().start()
                run.driver = self
                self.learner = self.learners[0]

        apply_sync = Rounds.apply_sync

        def applied(strategy, agent, param_set, aggregate, round):
            apply_sync(strategy, agent, param_set, aggregate, round)
            run.adoptions.append((strategy.clock.now, agent))

        with monkeypatch.context() as patch:
            patch.setattr(slots, "Slots", Driver)
            patch.setattr(Rounds, "apply_sync", applied)
            self.result = found.points[0].simulation(0).run(trace)
        self.digests = self.driver.account.digests.tolist()
        self.world = self.driver.world.bandit


def tables(agents=4, horizon=200, arms=6, dimension=3, actions="fixed", law="beta", **learner):
    keys = {"epsilon": "inf", "threshold": 5.0, "beta_scale": 0.1} | learner
    return {
        "run": {"horizon": horizon, "slot": '"1 ms"'},
        "topology": {"family": '"complete"', "agents": agents},
        "bandit": {
            "kind": '"linear"',
            "dimension": dimension,
            "arms": arms,
            "actions": f'"{actions}"',
            "rewards": f'"{law}"',
        },
        "learner": {"kind": '"feducb"'} | keys,
        "protocol": {"kind": '"master-worker"'},
    }


def digests(arms):
    found = []
    for column in np.asarray(arms).T.tolist():
        digest = 0xCBF29CE484222325
        for arm in column:
            digest = ((digest ^ (arm + 1)) * 0x100000001B3) % 2**64
        found.append(digest)
    return found


def setup_of(run, written, **more):
    learner = {key: value for key, value in written["learner"].items() if key not in ("kind", "schedule", "members")}
    for key in ("epsilon", "calibration", "beta"):
        if key in learner:
            learner[key] = inf if learner[key] == "inf" else eval(str(learner[key]))
    world = run.world
    return reference.Setup(
        agents=world.agents,
        dimension=world.dimension,
        arms=world.arms,
        horizon=written["run"]["horizon"],
        theta=world.vector,
        fixed_actions=world.fixed_actions,
        law=written["bandit"]["rewards"].strip('"'),
        **learner,
        **more,
    )


LEARNERS = {
    "exact": {},
    "private": {"epsilon": 2000.0, "threshold": 300.0},
    "noisy": {"epsilon": 1.0, "threshold": 400.0},
    "zcdp": {"epsilon": 300.0, "threshold": 200.0, "calibration": '"zcdp"', "beta": '"paper"', "beta_scale": 0.02},
    "fixed": {"schedule": '"fixed"', "every": 7},
    "fixed private": {"schedule": '"fixed"', "every": 20, "epsilon": 3000.0},
    "every slot": {"schedule": '"fixed"', "every": 1},
}


@pytest.mark.sampled(18)
@pytest.mark.parametrize("actions", ["fixed", "fresh"])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("latency", ["0 ms", "0.4 ms", "1 ms", "2.7 ms"])
def test_over_a_server_agents_choose_what_the_reference_chooses(tmp_path, monkeypatch, latency, learner, actions):
    written = tables(actions=actions, law="beta" if actions == "fixed" else "bernoulli", **LEARNERS[learner])
    written["links.uplink"] = {"latency": f'"{latency}"'}
    run = Watched(tmp_path, monkeypatch, written)
    setup = setup_of(run, written, members=[4] * 4)
    delay = round(float(latency.split()[0]) * SLOT)
    arms, adoptions = reference.central(setup, [delay] * 4, SLOT)
    assert run.adoptions == adoptions
    assert adoptions
    assert run.digests == digests(arms)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("members", ["all", "clique"])
@pytest.mark.parametrize(
    ("family", "ttl", "hop"), [("ring", 1, 1), ("ring", 2, 1), ("path", 3, 1), ("star", 2, 2), ("complete", 1, 3)]
)
def test_between_neighbours_agents_choose_what_the_reference_chooses(
    tmp_path, monkeypatch, family, ttl, hop, learner, members
):
    written = tables(agents=7, horizon=150, members=f'"{members}"', **LEARNERS[learner])
    if learner == "every slot" and hop == 3:
        written["learner"]["every"] = 4
    written["learner"]["threshold"] /= 4 * ttl  # an agent's sets share its slots
    written["topology"]["family"] = f'"{family}"'
    written["protocol"] = {"kind": '"local"', "ttl": ttl}
    written["links.peer"] = {"latency": f'"{hop - 0.5} ms"'}
    run = Watched(tmp_path, monkeypatch, written)
    graph = {"ring": nx.cycle_graph, "path": nx.path_graph, "complete": nx.complete_graph, "star": nx.star_graph}
    setup = setup_of(run, written, sets=ttl * hop, members=[] if members == "all" else [0])
    arms, adoptions = reference.local(setup, graph[family](7 - (family == "star")), ttl, hop)
    assert sorted(run.adoptions) == sorted((slot * SLOT, agent) for slot, agent in adoptions)
    assert adoptions
    assert run.digests == digests(arms)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("protocol", ["gis", "flooding"])
@pytest.mark.parametrize("family", ["ring", "path", "star"])
def test_in_rounds_agents_choose_what_the_reference_chooses(tmp_path, monkeypatch, family, protocol, learner):
    written = tables(agents=6, **LEARNERS[learner])
    written["topology"]["family"] = f'"{family}"'
    written["protocol"] = {"kind": f'"{protocol}"'}
    run = Watched(tmp_path, monkeypatch, written)
    graph = {"ring": nx.cycle_graph, "path": nx.path_graph, "star": nx.star_graph}[family](6 - (family == "star"))
    arms, adoptions = reference.flooded(setup_of(run, written, members=[6] * 6), graph)
    assert sorted(run.adoptions) == [(slot * SLOT, agent) for slot in adoptions for agent in range(6)]
    assert adoptions
    assert run.digests == digests(arms)


@pytest.mark.parametrize("protocol", ["gossip", "sink"])
def test_calls_go_before_rounds_of_any_protocol(tmp_path, monkeypatch, protocol):
    written = tables(agents=6)
    written["topology"]["family"] = '"ring"'
    written["protocol"] = {"kind": f'"{protocol}"'}
    written["links.uplink"] = {"latency": '"2 ms"'}
    run = Watched(tmp_path, monkeypatch, written)
    times = sorted({time for time, _ in run.adoptions})
    assert len(times) > 1
    # A synchronisation takes three hops at the least, or the call and the answer of a server four milliseconds each.
    assert all(later - earlier >= (3 if protocol == "gossip" else 8) * SLOT for earlier, later in pairwise(times))
    assert run.result.metrics["rounds"] == len(times)
    grams = run.driver.learner.beliefs.shared_gram[0]
    assert all(np.array_equal(gram, grams[0]) for gram in grams)


@pytest.mark.parametrize("actions", ["fixed", "fresh"])
def test_alone_agents_choose_what_the_reference_chooses(tmp_path, monkeypatch, actions):
    written = tables(actions=actions, horizon=500, epsilon=1.0)
    written["protocol"] = {"kind": '"silent"'}
    run = Watched(tmp_path, monkeypatch, written)
    arms = reference.alone(setup_of(run, written, alone=True))
    assert run.digests == digests(arms)
    assert run.result.metrics["messages"] == 0
    assert run.result.metrics["epsilon"] == 0


@examples(25)
@given(
    latency=st.lists(st.integers(0, 4 * SLOT), min_size=3, max_size=3),
    learner=st.sampled_from(["exact", "private", "fixed"]),
)
def test_nobody_hears_too_early_whatever_the_latencies(tmp_path_factory, latency, learner):
    written = tables(agents=3, horizon=60, **LEARNERS[learner] | {"threshold": 1.0, "every": 5})
    if learner != "fixed":
        del written["learner"]["every"]
    with pytest.MonkeyPatch.context() as monkeypatch:
        original = slots.Slots.start

        def start(driver):
            driver.context.network.links._uplink_latency = latency
            original(driver)

        monkeypatch.setattr(slots.Slots, "start", start)
        run = Watched(tmp_path_factory.mktemp("runs"), monkeypatch, written)
    arms, adoptions = reference.central(setup_of(run, written, members=[3] * 3), latency, SLOT)
    assert run.adoptions == adoptions
    assert run.digests == digests(arms)


def test_the_inflation_alone_forces_the_first_synchronisation(tmp_path, monkeypatch):
    written = tables(horizon=400, epsilon=1.0, threshold=500.0)
    run = Watched(tmp_path, monkeypatch, written)
    first = run.adoptions[0][0] // SLOT + 1
    assert 1 < first <= ceil(500 / (3 * log(3)))


@pytest.mark.parametrize("learner", ["exact", "private"])
def test_a_complete_graph_with_ttl_one_is_a_server_one_slot_away_each_way(tmp_path, monkeypatch, learner):
    written = tables(agents=5, **LEARNERS[learner])
    central = dict(written)
    # A call and an answer of a slot each: half a slot up and half a slot down, twice.
    central["links.uplink"] = {"latency": '"0.5 ms"'}
    written["protocol"] = {"kind": '"local"', "ttl": 1}
    near = Watched(tmp_path, monkeypatch, written)
    far = Watched(tmp_path, monkeypatch, central)
    assert near.adoptions == sorted(far.adoptions)
    assert near.digests == far.digests


@pytest.mark.parametrize(("protocol", "ttl"), [("master-worker", 1), ("local", 1), ("local", 2)])
def test_the_privacy_spent_is_that_of_the_set_released_most_often(tmp_path, monkeypatch, protocol, ttl):
    written = tables(agents=5, horizon=100, epsilon=1_000.0, threshold=40.0 / ttl, delta=0.01)
    written["protocol"] = {"kind": f'"{protocol}"'} | ({"ttl": ttl} if protocol == "local" else {})
    released = Counter()
    share = FedUcb.share

    def counted(learner, slot, agents):
        released.update((agent, learner.world.param_set) for agent in agents.tolist())
        return share(learner, slot, agents)

    monkeypatch.setattr(FedUcb, "share", counted)
    run = Watched(tmp_path, monkeypatch, written)
    assert max(released.values()) >= 4
    assert len(released) == 5 * ttl
    # Each release has a node of its own, and an observation is in as many of them as the number of releases has digits.
    nodes = len(f"{max(released.values()):b}")
    multiplier = run.driver.learner.noise.deviation / 2 / sqrt(nodes)
    assert run.result.metrics["epsilon"] == pytest.approx(exact_epsilon(0.01, multiplier))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("protocol", "latency", "stretches"),
    # The slots from one synchronisation to the next; with latency cut at the arrivals of uploads and of answers.
    [("master-worker", "0 ms", 5), ("master-worker", "3 ms", 4 * 3 + 1), ("local", "0 ms", 5), ("silent", "0 ms", 1)],
)
def test_agents_play_on_in_one_call_to_the_next_event(tmp_path, monkeypatch, protocol, latency, stretches):
    written = tables(horizon=1_000, schedule='"fixed"', every=200)
    written["protocol"] = {"kind": f'"{protocol}"'}
    written["links.uplink"] = {"latency": f'"{latency}"'}
    calls = []
    original = slots.compiled_loop

    def counted(*world):
        play = original(*world)

        def run(first, last):
            calls.append((first, reached := play(first, last)))
            return reached

        return run

    monkeypatch.setattr(slots, "compiled_loop", counted)
    Watched(tmp_path, monkeypatch, written)
    assert len(calls) == stretches
    assert [first for first, _ in calls] == [0, *(reached for _, reached in calls[:-1])]


def metrics(tmp_path, monkeypatch, written):
    return Watched(tmp_path, monkeypatch, written).result.metrics


@pytest.mark.sampled(6)
@pytest.mark.parametrize("protocol", ["master-worker", "local", "gis", "silent"])
@pytest.mark.parametrize("actions", ["fixed", "fresh"])
@pytest.mark.parametrize("epsilon", ["inf", 1e-6])
@pytest.mark.parametrize(("agents", "arms", "dimension"), [(1, 3, 2), (3, 1, 2), (3, 3, 1), (1, 1, 1)])
def test_the_smallest_worlds_are_played(tmp_path, monkeypatch, agents, arms, dimension, epsilon, actions, protocol):
    written = tables(agents=agents, arms=arms, dimension=dimension, actions=actions, horizon=60, epsilon=epsilon)
    written["protocol"] = {"kind": f'"{protocol}"'}
    run = Watched(tmp_path, monkeypatch, written)
    regret = run.result.metrics["regret"]
    assert 0 <= regret <= 60 * agents * 0.3 * (arms > 1)
    if protocol in ("master-worker", "gis"):
        assert run.result.metrics["rounds"] > 0
        # What is adopted can be inverted, however much noise there was.
        assert np.linalg.eigvalsh(run.driver.learner.beliefs.shared_gram[0]).min() > 0


def test_an_indefinite_sum_is_clipped(tmp_path, monkeypatch):
    run = Watched(tmp_path, monkeypatch, tables(horizon=5, epsilon=1.0, threshold='"paper"'))
    learner = run.driver.learner
    least = learner.radii[0].least
    learner.share(0, np.array([0]))
    upper = np.zeros((3, 3))
    upper[0, 1] = 5.0
    upper[2, 2] = 4 * least
    learner.adopt(0, np.array([0]), np.concatenate([upper[np.triu_indices(3)], np.ones(3)]))
    assert learner.clipped == 1
    expected = np.diag([least, least, 4 * least])
    expected[0, 0] = expected[1, 1] = (max(5.0, least) + least) / 2
    expected[0, 1] = expected[1, 0] = (max(5.0, least) - least) / 2
    assert learner.beliefs.shared_gram[0, 0] == pytest.approx(expected)


def test_ttl_zero_is_the_same_as_silence(tmp_path, monkeypatch):
    written = tables(epsilon=1.0)
    written["protocol"] = {"kind": '"local"', "ttl": 0}
    near = Watched(tmp_path, monkeypatch, written)
    written["protocol"] = {"kind": '"silent"'}
    silent = Watched(tmp_path, monkeypatch, written)
    assert near.digests == silent.digests
    assert near.result.metrics["messages"] == 0


def test_a_ttl_above_the_diameter_makes_one_clique(tmp_path, monkeypatch):
    written = tables(agents=5, horizon=300)
    written["topology"]["family"] = '"path"'
    written["protocol"] = {"kind": '"local"', "ttl": 9}
    run = Watched(tmp_path, monkeypatch, written)
    assert set(run.driver.strategy._protocol.groups) == {0}
    assert run.driver.strategy._protocol.sets == 9
    assert len(run.adoptions) % 5 == 0
    assert run.adoptions


@pytest.mark.parametrize("protocol", ["master-worker", "local", "gis"])
def test_a_horizon_shorter_than_a_hop_is_played_alone(tmp_path, monkeypatch, protocol):
    written = tables(horizon=4)
    written["protocol"] = {"kind": f'"{protocol}"'}
    written["links.peer"] = written["links.uplink"] = {"latency": '"9 ms"'}
    found = metrics(tmp_path, monkeypatch, written)
    assert found["rounds"] == 0
    assert found["regret"] > 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("protocol", "slots"), [("master-worker", 5), ("local", 2), ("gis", 6)])
def test_a_round_lasts_from_the_release_to_the_adoption(tmp_path, monkeypatch, protocol, slots):
    written = tables(agents=4, schedule='"fixed"', every=10)
    written["topology"]["family"] = '"path"'
    written["protocol"] = {"kind": f'"{protocol}"'}
    if protocol == "local":
        written["protocol"]["ttl"] = 2
    if protocol == "gis":
        written["links.peer"] = {"latency": '"0.4 ms"'}  # three of them do not fit a slot
    written["links.uplink"] = {"latency": '"2.1 ms"'}
    assert metrics(tmp_path, monkeypatch, written)["round_slots"] == slots


def test_a_round_that_the_horizon_cuts_has_no_length(tmp_path, monkeypatch):
    written = tables(horizon=24, schedule='"fixed"', every=20)
    written["links.uplink"] = {"latency": '"4 slots"'}
    found = metrics(tmp_path, monkeypatch, written)
    assert (found["rounds"], found["round_slots"]) == (0, None)


def test_a_call_over_sinks_uses_their_uplinks_only(tmp_path, monkeypatch):
    written = tables(agents=6, threshold=15.0)
    written["topology"] = {"family": '"hybrid"', "components": "[3, 1, 2]"}
    written["protocol"] = {"kind": '"sink"'}
    run = Watched(tmp_path, monkeypatch, written)
    rounds = run.result.metrics["rounds"]
    kinds = {name: count for name, (count, _) in run.result.kinds.items()}
    assert rounds > 1
    # Of three sinks the one that asks calls the other two; the other sinks may ask in the meantime.
    assert rounds <= kinds["ASK"] <= 3 * (rounds + 1)
    uplinks = run.driver.context.network.uplink_totals()
    assert uplinks.activations == 3 * rounds


@pytest.mark.parametrize("protocol", ["master-worker", "local", "silent"])
def test_nobody_calls_while_a_synchronisation_is_under_way(tmp_path, monkeypatch, protocol):
    written = tables(agents=3, horizon=60)
    written["learner"]["kind"] = '"helpers.eager:Eager"'
    written["protocol"] = {"kind": f'"{protocol}"'}
    written["links.uplink"] = {"latency": '{ uniform = ["0 ms", "9 ms"] }'}
    run = Watched(tmp_path, monkeypatch, written)
    found = run.result.metrics
    if protocol == "silent":
        assert (found["rounds"], found["messages"]) == (0, 0)
        return
    assert found["rounds"] > 0
    if protocol == "local":
        assert (found["rounds"], found["round_slots"]) == (30, 1)
        return
    # An agent asks once for each round; one may be under way at the end, and one asked for.
    assert run.result.kinds["ASK"][0] <= 3 * (found["rounds"] + 2)
    adopted = [sum(agent == one for _, agent in run.adoptions) for one in range(3)]
    assert max(adopted) - min(adopted) <= 1


@pytest.mark.parametrize(("protocol", "ttl"), [("master-worker", None), ("gis", None), ("local", 1), ("local", 2)])
def test_a_trace_tells_who_waits(tmp_path, monkeypatch, protocol, ttl):
    written = tables(horizon=60, schedule='"fixed"', every=20)
    written["topology"]["family"] = '"ring"'
    written["protocol"] = {"kind": f'"{protocol}"'} | ({} if ttl is None else {"ttl": ttl})
    written["links.uplink"] = {"latency": '"1.5 ms"'}
    trace = tmp_path / "trace.jsonl"
    run = Watched(tmp_path, monkeypatch, written, trace=trace)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    waits = [(line["end"], line["agent"]) for line in lines if line.get("phase") == "exploit"]
    assert waits == (run.adoptions if ttl != 2 else [])
    assert run.adoptions
