"""Broadcasts along trees in a compiled loop: what is heard, and when, is the same as message by message."""

import random
from unittest.mock import patch

import pytest
from helpers.both_ways import both_ways, same
from helpers.some_faults import some_faults, with_little_room

from netbandit.simulation.choosing import network_loops
from netbandit.simulation.compiled_rounds import links
from netbandit.simulation.compiled_rounds.engine import CompiledLoop

LATENCIES = [
    '"0 ms"',
    '"0.4 ms"',
    '"2 ms"',
    '{ uniform = ["0 ms", "4 ms"] }',
    '{ uniform = ["0 ms", "3 ns"] }',
    '{ uniform = ["1 us", "3 s"] }',
]

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms", seed = {seed}, activity = {activity} }}
topology = {{ {topology} }}
links.peer.latency = {latency}
{bandwidth}
{faults}
bandit = {{ kind = "bernoulli", arms = 4 }}
learner = {{ {learner} }}
protocol = {{ {protocol} }}
"""


def drawn(seed, **given):
    rng = random.Random(seed)
    family = rng.choice(["ring", "star", "complete", "path", "random", "grid"])
    bandwidth = rng.choice(["", "", 'links.peer.bandwidth = "1 Mbit/s"', 'links.peer.bandwidth = "50 kbit/s"'])
    # In a tree of one hop, slotted, all is regular, and goes in bulk.
    protocol, timing, users = rng.choice(
        [
            ('"relay"', "slotted", '"one"'),
            ('"relay"', "slotted", "{ share = 0.4 }"),
            ('"relay"', "asynchronous", '{ poisson = "0.7 ms" }'),
            ('"local", ttl = 2', "slotted", '"every"'),
            ('"local", ttl = 1', "asynchronous", '"every"'),
            ('"local", ttl = 3', "asynchronous", '"every"'),
        ]
    )
    own = rng.choice(["Telling", "Telling", "Sometimes", "Rarely"])
    values = {
        "horizon": rng.choice([20, 50]),
        "seed": seed,
        "activity": users if own == "Telling" else '"every"',
        "topology": f'family = "{family}", agents = {rng.randint(3, 9)}' + ", p = 0.6" * (family == "random"),
        "latency": rng.choice(LATENCIES),
        "bandwidth": bandwidth,
        "faults": "",
        "learner": f'kind = "helpers.own_learners:{own}"',
        "protocol": f'kind = {protocol}, timing = "{timing}"',
    }
    return SCENARIO.format(**(values | given))


@pytest.mark.parametrize("seed", range(24))
def test_what_is_told_along_trees_is_heard_in_the_same_way(point, seed):
    same(*both_ways(point(drawn(seed))))


@pytest.mark.parametrize("seed", range(100, 104))
def test_a_loop_of_trees_that_stops_for_room_goes_on_where_it_was(point, monkeypatch, seed):
    monkeypatch.setattr(links, "_EVENTS", 3)
    monkeypatch.setattr(links, "_LEAST_ROOM", 1)
    same(*both_ways(point(drawn(seed))))


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("seed", range(200, 208))
def test_what_is_told_along_trees_is_heard_in_the_same_way_whatever_goes_wrong(point, monkeypatch, seed):
    if seed % 2:
        with_little_room(monkeypatch)
    same(*both_ways(point(drawn(seed, horizon=20, **some_faults(random.Random(seed))))))


def drawn_with_absences(seed):
    """Return a scenario whose agents go down, and keep their memory or lose it; links may fail, too."""
    rng = random.Random(seed)
    memory, up, down = rng.choice(["kept", "lost"]), rng.choice(["3 ms", "9 ms"]), rng.choice(["0.3 ms", "4 ms"])
    nodes = f'faults.nodes = {{ up_for = "{up}", down_for = "{down}", memory = "{memory}" }}\n'
    forgetful = {"learner": f'kind = "{rng.choice(["ucb", "thompson"])}"', "activity": '"every"'}
    faults = some_faults(rng)["faults"] if seed % 2 else ""
    given = {"faults": nodes + faults, **(forgetful if memory == "lost" else {})}
    return drawn(seed, horizon=rng.choice([20, 50]), **given)


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("seed", range(300, 316))
def test_what_is_told_along_trees_is_heard_in_the_same_way_whoever_goes_down(point, monkeypatch, seed):
    if seed % 4 > 1:
        with_little_room(monkeypatch)
    same(*both_ways(point(drawn_with_absences(seed))))


@pytest.mark.parametrize(
    "faults",
    ["links.peer.loss = 0.1", "faults.links = { up = 0.9 }", 'faults.nodes = { up_for = "9 ms", down_for = "5 ms" }'],
)
def test_what_is_told_along_trees_goes_in_a_loop_where_links_or_agents_fail(point, faults):
    simulation = point(drawn(0, protocol='kind = "relay"', bandwidth="", faults=faults)).simulation(0)
    stopped = patch.object(CompiledLoop, "prepare", side_effect=InterruptedError)
    with network_loops.worth_it_from(0), stopped, pytest.raises(InterruptedError):
        simulation.run()


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol": 'kind = "local", ttl = 2, route = "flood"'},
        {"protocol": 'kind = "local", ttl = 0'},
    ],
)
def test_what_is_no_tree_goes_message_by_message(point, monkeypatch, changes):
    monkeypatch.setattr(CompiledLoop, "prepare", None)  # would fail
    given = {"activity": '"every"', "learner": 'kind = "ucb"'} | changes
    with network_loops.worth_it_from(0):
        assert point(drawn(0, **given)).simulation(0).run().metrics["regret"] > 0


@pytest.mark.parametrize(("horizon", "worth"), [(50, True), (49, False)])
def test_a_loop_is_worth_it_for_all_that_is_told_in_a_run(point, monkeypatch, horizon, worth):
    started = []
    prepare = CompiledLoop.prepare
    monkeypatch.setattr(CompiledLoop, "prepare", lambda self, *given: (started.append(self), prepare(self, *given)))
    tables = {"topology": 'family = "ring", agents = 5', "protocol": 'kind = "relay"', "horizon": horizon}
    with network_loops.worth_it_from(1_000):  # 20 hops a slot
        point(drawn(0, activity='"every"', **tables)).simulation(0).run()
    assert bool(started) == worth
