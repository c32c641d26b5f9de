"""Rounds of which several are open at once in a compiled loop: the same as one event after the other."""

import random

import pytest
from helpers.both_ways import both_ways, same
from helpers.compiled_for_long import compiled_for_long
from helpers.some_faults import with_little_room

from netbandit.simulation.choosing import network_loops
from netbandit.simulation.compiled_rounds.engine import CompiledLoop

LATENCIES = ['"0 ms"', '"0.4 ms"', '"2.5 ms"', '{ uniform = ["0 ms", "3 ns"] }', '{ uniform = ["1 us", "30 ms"] }']
DEADLINES = ["1 ns", "1 ms", "3 ms", "7.5 ms", "20 ms", "100 ms"]
FAULTS = [
    "",
    "links.peer.loss = 0.2",
    'links.peer.loss = 0.3\nlinks.peer.retry = { timeout = "4 ms" }',
    'links.peer.jitter = "3 ms"\nlinks.peer.overtaking = true\nlinks.peer.duplicate = 0.2',
    'links.peer.loss = 0.1\nfaults.links = { up_for = "9 ms", down_for = "4 ms" }',
]
PROTOCOLS = ["gis", *compiled_for_long("gossip", "flooding")]

BANDIT = 'bandit = { kind = "bernoulli", arms = 6, seed = 1 }'

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms", seed = {seed} }}
topology = {{ {topology} }}
links.peer.latency = {latency}
{faults}
{bandit}
learner = {{ {learner} }}
protocol = {{ {protocol} }}
"""


def drawn(seed, protocol, /, **given):
    rng = random.Random(f"{seed}/{protocol}")
    family = rng.choice(["ring", "star", "complete", "path", "random", "grid"])
    values = {
        "bandit": BANDIT,
        "horizon": rng.choice([40, 400]),
        "seed": seed,
        "topology": f'family = "{family}", agents = {rng.randint(3, 9)}' + ", p = 0.5" * (family == "random"),
        "latency": rng.choice(LATENCIES),
        "faults": rng.choice([*FAULTS, 'links.peer.bandwidth = "20 kbit/s"']),
        "learner": 'kind = "elimination", ' + rng.choice(["epsilon = 5.0", "rounds = 4, gap = 0.9", "epsilon = inf"]),
        "protocol": f'kind = "{protocol}", timing = "{rng.choice(["slotted", "asynchronous"])}"',
    }
    waits = f', deadline = "{rng.choice(DEADLINES)}"'
    told = {
        "learner": f'kind = "{rng.choice(["ucb", "helpers.own_learners:Rarely"])}"',
        "horizon": rng.choice([10, 30]),
    }
    if given.pop("told", False):
        values |= told
    else:
        values["protocol"] += waits
    return SCENARIO.format(**(values | given))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_agents_that_conclude_apart_do_so_as_event_by_event(point, protocol, seed):
    same(*both_ways(point(drawn(seed, protocol))))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_told_in_every_slot_is_heard_as_event_by_event(point, protocol, seed):
    same(*both_ways(point(drawn(seed, protocol, told=True))))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_agents_that_wait_in_synchronisations_are_the_same_as_event_by_event(point, protocol, seed):
    learner = 'kind = "oful", ' + ["threshold = 0.5", 'schedule = "fixed", every = 3'][seed % 2]
    bandit = 'bandit = { kind = "linear", dimension = 2, arms = 4 }'
    compiled, events = both_ways(point(drawn(seed, protocol, learner=learner, bandit=bandit, horizon=40)))
    same(compiled, events)
    assert "late" in compiled.metrics


ABSENCES = [
    'faults.nodes = { up_for = "20 ms", down_for = "6 ms" }\nlinks.peer.bandwidth = "2 kbit/s"',
    'faults.nodes = { up_for = "20 ms", down_for = "6 ms", memory = "lost" }\nlinks.peer.jitter = "2 ms"',
    'faults.nodes = { up_for = "8 ms", down_for = "3 ms", memory = "lost" }\nlinks.peer.loss = 0.1\n'
    'links.peer.retry = { timeout = "4 ms" }',
    'faults.nodes = { up_for = "30 ms", down_for = "6 ms" }\nfaults.links = { up_for = "9 ms", down_for = "4 ms" }\n'
    'links.peer.bandwidth = "100 kbit/s"',
    'faults.outages = [{ nodes = [0, 1], from = "5 ms", until = "14 ms" }]',
]


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("seed", range(5))
def test_agents_go_down_and_come_back_as_event_by_event(point, protocol, seed):
    faults = ABSENCES[seed]
    same(*both_ways(point(drawn(seed, protocol, faults=faults))))
    learner, bandit = 'kind = "oful", schedule = "fixed", every = 3', 'kind = "linear", dimension = 2, arms = 4'
    given = {"learner": learner, "bandit": f"bandit = {{ {bandit} }}", "horizon": 60, "faults": faults}
    same(*both_ways(point(drawn(seed, protocol, **given))))


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("seed", range(3))
def test_an_agent_may_be_down_when_what_has_queued_arrives_long_after_the_horizon(point, seed):
    wrong = 'links.peer.bandwidth = "100 kbit/s"\nfaults.nodes = { up_for = "20 ms", down_for = "9 ms" }'
    given = {
        "learner": 'kind = "oful", schedule = "fixed", every = 3',
        "bandit": 'bandit = { kind = "linear", dimension = 12, arms = 4 }',
        "topology": 'family = "complete", agents = 12',
        "protocol": 'kind = "gis", deadline = "1 slot"',
        "latency": '"0.4 ms"',
        "horizon": 30,
    }
    same(*both_ways(point(drawn(seed, "gis", faults=wrong, **given))))


@pytest.mark.parametrize("seed", range(4))
def test_a_protocol_of_ones_own_is_compiled_as_event_by_event(point, seed):
    same(*both_ways(point(drawn(seed, "helpers.own_handlers:PassOn", faults=""))))


def test_numbers_of_ones_own_are_not_those_of_the_loop(point):
    same(*both_ways(point(drawn(0, "helpers.own_handlers:Others", faults=""))))


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize(("family", "agents", "timing"), [("star", 70, "slotted"), ("complete", 20, "asynchronous")])
@pytest.mark.parametrize("kind", ["Chatters", "Drawers"])
def test_there_is_room_for_all_that_a_protocol_of_ones_own_says(point, monkeypatch, kind, family, agents, timing):
    with_little_room(monkeypatch)
    protocol = f'kind = "helpers.own_handlers:{kind}", timing = "{timing}"'
    given = {"topology": f'family = "{family}", agents = {agents}', "latency": '"1 ms"', "horizon": 12, "faults": ""}
    learner = 'kind = "elimination", rounds = 2, gap = 0.9'
    same(*both_ways(point(drawn(0, "own", protocol=protocol, learner=learner, told=True, **given))))


@pytest.mark.slow  # for its compilation
def test_a_sender_that_goes_down_after_the_horizon_waits_for_nothing(point):
    """Its timeout is longer than the run, and it knows ahead whether it is up then."""
    faults = ABSENCES[2].replace("4 ms", "90 ms")
    same(*both_ways(point(drawn(3, "gis", faults=faults, horizon=40))))


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("seed", range(100, 103))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_rounds_that_overlap_go_on_where_they_stopped_for_room(point, monkeypatch, protocol, seed, told):
    with_little_room(monkeypatch)
    same(*both_ways(point(drawn(seed, protocol, told=told))))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_comes_too_late_is_counted(point, protocol):
    changes = {"latency": '{ uniform = ["1 ms", "9 ms"] }', "topology": 'family = "ring", agents = 8', "horizon": 400}
    kind = f'kind = "{protocol}", timing = "asynchronous", deadline = "20 ms"'
    compiled, events = both_ways(point(drawn(0, protocol, protocol=kind, faults="", **changes)))
    same(compiled, events)
    assert compiled.metrics["late"] > 0


def test_what_is_lost_for_good_leaves_no_round_in_the_way_of_others(point, monkeypatch):
    """Most rounds have somebody who will never hear all, and are none of those that have ended."""
    loops = []
    prepare = CompiledLoop.prepare
    monkeypatch.setattr(CompiledLoop, "prepare", lambda self, *given: (loops.append(self), prepare(self, *given)))
    changes = {"latency": '"1 ms"', "topology": 'family = "path", agents = 4', "faults": "links.peer.loss = 0.3"}
    with network_loops.worth_it_from(0):
        point(drawn(0, "gis", told=True, learner='kind = "ucb"', horizon=200, **changes)).simulation(0).run()
    (rounds,) = loops
    assert len(rounds.ended) < 100
    assert len(rounds.placed.spread.rounds.table) <= 16
