"""Rounds played in compiled loops: the same messages, fingerprint and figures as one event after the other."""

import random

import pytest
from helpers.both_ways import both_ways, same
from helpers.compiled_for_long import compiled_for_long
from helpers.some_faults import some_faults, with_little_room
from helpers.talks import TALKS

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.simulation.choosing import network_loops
from netbandit.simulation.compiled_rounds import links
from netbandit.simulation.compiled_rounds.engine import CompiledRounds

LATENCIES = [
    '"0 ms"',
    '"1 ms"',
    '"0.4 ms"',
    '"2.5 ms"',
    '{ uniform = ["0 ms", "4 ms"] }',
    '{ uniform = ["0 ms", "3 ns"] }',
    '{ uniform = ["1 us", "3 s"] }',
]

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms", seed = {seed} }}
topology = {{ {topology} }}
links.peer.latency = {latency}
{bandwidth}
{faults}
links.uplink.latency = {uplink}
bandit = {{ kind = "bernoulli", arms = 6, seed = 1 }}
learner = {{ kind = "elimination", {learner} }}
protocol = {{ {protocol} }}
"""


def drawn(seed, protocol, /, **changes):
    rng = random.Random(f"{seed}/{protocol}")
    agents = rng.randint(3, 12)
    topology = rng.choice(
        [
            f'family = "ring", agents = {agents}',
            f'family = "star", agents = {agents}',
            f'family = "complete", agents = {agents}',
            f'family = "path", agents = {agents}',
            f'family = "random", agents = {agents}, p = 0.5',
            f'family = "grid", agents = {agents}',
        ]
    )
    values = {
        "seed": seed,
        "topology": topology,
        "latency": rng.choice(LATENCIES),
        "uplink": rng.choice(LATENCIES),
        "bandwidth": rng.choice(["", "", 'links.peer.bandwidth = "1 Mbit/s"', 'links.peer.bandwidth = "20 kbit/s"']),
        "faults": "",
        "horizon": rng.choice([40, 3_000, 30_000]),
        "learner": rng.choice(["epsilon = inf", "epsilon = 5.0", "rounds = 3, gap = 0.3", "rounds = 4, gap = 0.9"]),
        "protocol": f'{protocol}, timing = "{rng.choice(["slotted", "asynchronous"])}"',
    }
    return SCENARIO.format(**(values | changes))


@pytest.fixture
def both(point):
    """Run a scenario with its rounds compiled, and event by event."""
    return lambda text: both_ways(point(text))


OTHERS = ['kind = "flooding"', 'kind = "gossip"', 'kind = "relay"']
PROTOCOLS = [*OTHERS, 'kind = "gis"']
OVER_FAULTS = ['kind = "gis"', *compiled_for_long(*OTHERS)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_compiled_round_is_the_same_as_event_by_event(both, protocol, seed):
    same(*both(drawn(seed, protocol)))


@pytest.mark.parametrize("seed", range(100, 108))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_loop_that_stops_for_room_goes_on_where_it_was(both, monkeypatch, protocol, seed):
    monkeypatch.setattr(links, "_EVENTS", 3)
    monkeypatch.setattr(links, "_LEAST_ROOM", 1)
    same(*both(drawn(seed, protocol)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("protocol", OVER_FAULTS)
def test_what_goes_wrong_is_the_same_as_event_by_event(both, protocol, seed):
    rng = random.Random(f"{seed}/{protocol}/faults")
    same(*both(drawn(seed, protocol, horizon=rng.choice([40, 200]), **some_faults(rng))))


@pytest.mark.parametrize("protocol", OVER_FAULTS)
def test_what_is_lost_before_anything_arrives_is_counted(both, protocol):
    compiled, events = both(drawn(0, protocol, horizon=1_000, faults="links.peer.loss = 1.0"))
    same(compiled, events)
    assert compiled.metrics["lost"] == compiled.metrics["messages"] > 0


@pytest.mark.parametrize(
    "faults",
    [
        'faults.links = { up_for = "9 ms", down_for = "2000000 h" }',
        'faults.links = { up = 0.9, every = "2000000 h" }',
        'links.peer.loss = { good = 0.1, bad = 1.0, good_for = "5 ms", bad_for = "2000000 h" }',
    ],
)
def test_what_is_not_mended_in_two_centuries_is_down_for_good(both, faults):
    same(*both(drawn(0, 'kind = "gis"', horizon=400, bandwidth="", faults=faults)))


@pytest.mark.parametrize("seed", range(100, 104))
@pytest.mark.parametrize("protocol", OVER_FAULTS)
def test_a_loop_that_stops_for_want_of_numbers_goes_on_where_it_was(both, monkeypatch, protocol, seed):
    with_little_room(monkeypatch)
    rng = random.Random(f"{seed}/{protocol}/faults")
    same(*both(drawn(seed, protocol, horizon=100, **some_faults(rng))))


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["kept", "lost"])
@pytest.mark.parametrize("deadline", ["", ', deadline = "9 ms"'])
def test_items_along_trees_are_heard_in_the_same_way_where_agents_go_down(both, monkeypatch, deadline, memory):
    if memory == "lost":
        with_little_room(monkeypatch)
    changes = {
        "protocol": f'kind = "relay"{deadline}, timing = "slotted"',
        "topology": 'family = "grid", agents = 8',
        "faults": f'faults.nodes = {{ up_for = "60 ms", down_for = "5 ms", memory = "{memory}" }}',
        "bandwidth": "",
        "latency": '{ uniform = ["0 ms", "4 ms"] }',
        "horizon": 300,
        "learner": "rounds = 3, gap = 0.3",
    }
    same(*both(drawn(0, "relay", **changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {
            "faults": 'faults.nodes = { up_for = "50 ms", down_for = "5 ms" }',
            "bandwidth": 'links.peer.bandwidth = "1 Mbit/s"',
            "protocol": 'kind = "helpers.own_handlers:PassOn"',
        },
        {"protocol": 'kind = "master-worker"'},
        {"protocol": 'kind = "sink"'},
        {"protocol": 'kind = "sink", collect = "gis"'},
        {"protocol": 'kind = "gossip"', "topology": 'family = "path", agents = 1'},
    ],
)
def test_what_no_loop_knows_goes_event_by_event(tmp_path, monkeypatch, changes):
    monkeypatch.setattr(network_loops, "LEAST_HOPS", 0)
    monkeypatch.setattr(CompiledRounds, "start", None)  # would fail
    file = tmp_path / "rounds.toml"
    file.write_text(drawn(0, 'kind = "gis"', **({"horizon": 30_000} | changes)))
    assert check(load(file)).points[0].simulation(0).run().metrics["rounds"] > 0


def test_small_rounds_are_not_worth_a_loop(tmp_path, monkeypatch):
    monkeypatch.setattr(CompiledRounds, "start", None)
    file = tmp_path / "rounds.toml"
    file.write_text(drawn(0, 'kind = "gis"', horizon=30_000))
    assert check(load(file)).points[0].simulation(0).run().metrics["messages"] > 0


def test_whether_a_loop_can_run_is_asked_only_where_it_is_worth_it(monkeypatch):
    """To find out when all links are down may take longer than a short run."""
    asked = []
    monkeypatch.setattr(network_loops, "_why_not_known", lambda network, **_: asked.append(network))
    text = 'run.horizon = 7\ntopology = { family = "ring", agents = 4 }\n'
    failing = 'faults.links = { up = 0.5, every = "1 slot" }\n'
    for talk in TALKS.values():
        check(load("short.toml", [*talk, "run.horizon=7"], text=text + failing)).points[0].simulation(0).run()
    assert not asked
    with network_loops.worth_it_from(0):
        check(load("short.toml", TALKS["rounds"], text=text + failing)).points[0].simulation(0).run()
    assert asked
