"""Gathers of `vertical` in a compiled loop: the same messages, decisions and figures as one event after the other."""

import random

import pytest
from helpers.both_ways import both_ways, same
from helpers.some_faults import in_nanoseconds, some_faults, with_little_room

from netbandit.bandits import vertical as world
from netbandit.simulation.choosing import network_loops
from netbandit.simulation.compiled_rounds import links, vertical
from netbandit.simulation.compiled_rounds.engine import CompiledLoop

LATENCIES = [
    '"0 ms"',
    '"0.4 ms"',
    '"1 slots"',
    '"2.5 ms"',
    '{ uniform = ["0 ms", "4 ms"] }',
    '{ uniform = ["0 ms", "3 ns"] }',
    '{ uniform = ["1 us", "3 s"] }',
]


def drawn(seed, /, *lines, changes=None, **protocol):
    rng = random.Random(seed)
    agents = rng.randint(3, 10)
    family = rng.choice(["ring", "star", "complete", "path", "grid", "random-tree"])
    bandwidth = rng.choice(["", *(f'links.peer.bandwidth = "{rate}bit/s"' for rate in ("20 k", "300 k", "1 G"))])
    partial = rng.choice([1.0, 1.0, 0.5])
    keys = {
        "timing": rng.choice(['"slotted"', '"asynchronous"']),
        "pipeline": rng.choice([1, 2, 5, 1000]),
        "masks": rng.choice(["true", "false"]),
        "unserved": rng.choice(['"free"', '"worst"']),
        **rng.choice([{}, {"deadline": rng.choice(['"1 ns"', '"0.5 slots"', '"1 slots"', '"3 slots"', '"30 slots"'])}]),
        **protocol,
    }
    values = {
        "horizon": rng.choice([2, 40, 400]),
        "slot": rng.choice(["1 ms", "7 ns"]),
        "latency": rng.choice(LATENCIES),
        "bandwidth": bandwidth,
        **(changes or {}),
    }
    return "\n".join(
        [
            f'run = {{ horizon = {values["horizon"]}, slot = "{values["slot"]}", seed = {seed} }}',
            f'topology = {{ family = "{family}", agents = {agents} }}',
            f"links.peer.latency = {values['latency']}",
            values["bandwidth"],
            f'bandit = {{ kind = "vertical", dimension = {3 * agents}, arms = 3, partial = {partial} }}',
            'learner = { kind = "linucb" }',
            f'protocol = {{ kind = "vertical", {", ".join(f"{key} = {value}" for key, value in keys.items())} }}',
            *lines,
        ]
    )


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(world, "_NUMBERS_OF_A_BLOCK", 600)


@pytest.mark.parametrize("seed", range(40))
def test_compiled_gathers_are_the_same_as_event_by_event(point, small_blocks, seed):
    same(*both_ways(point(drawn(seed))))


@pytest.mark.parametrize("seed", range(40, 55))
def test_a_loop_that_stops_for_room_goes_on_where_it_was(point, monkeypatch, small_blocks, seed):
    monkeypatch.setattr(links, "_EVENTS", 3)
    monkeypatch.setattr(links, "_LEAST_ROOM", 1)
    monkeypatch.setattr(vertical, "_OUTCOMES", 1)
    same(*both_ways(point(drawn(seed))))


def with_faults(seed):
    """Return a scenario in which something goes wrong between agents; in some many things happen at one instant."""
    rng = random.Random(f"{seed}/faults")
    wrong = some_faults(rng)
    lines = wrong.pop("faults")
    wrong |= {"horizon": rng.choice([2, 15, 50]), "slot": "1 ms"}
    if rng.random() < 0.4:
        lines = in_nanoseconds(lines)
        latency = rng.choice(['"0 ns"', '"3 ns"', '"1 slots"', '{ uniform = ["0 ns", "4 ns"] }'])
        wrong |= {"slot": "7 ns", "latency": latency, "bandwidth": ""}
    return drawn(seed, lines, changes=wrong)


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("seed", range(7))
def test_what_goes_wrong_is_the_same_as_event_by_event(point, small_blocks, seed):
    same(*both_ways(point(with_faults(seed))))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 103))
def test_a_loop_that_stops_for_want_of_numbers_goes_on_where_it_was(point, monkeypatch, small_blocks, seed):
    with_little_room(monkeypatch)
    monkeypatch.setattr(vertical, "_OUTCOMES", 1)
    same(*both_ways(point(with_faults(seed))))


def test_agents_that_go_down_go_event_by_event(point, monkeypatch):
    monkeypatch.setattr(network_loops, "LEAST_HOPS", 0)
    monkeypatch.setattr(CompiledLoop, "prepare", None)  # would fail
    text = drawn(0, 'faults.nodes = { up_for = "100 ms", down_for = "2 ms" }')
    assert point(text).simulation(0).run().metrics["messages"] > 0


@pytest.mark.parametrize("hops", [0, 1])
def test_a_run_is_worth_a_loop_for_all_its_hops(point, monkeypatch, hops):
    """Of five agents on a path the parts of four make 1 + 2 + 3 + 4 hops a user."""
    scenario = drawn(0, masks="false").splitlines()
    scenario[0] = "run.horizon = 100"
    scenario[1] = 'topology = { family = "path", agents = 5 }'
    scenario[4] = 'bandit = { kind = "vertical", dimension = 5, arms = 2 }'
    started = []
    prepare = CompiledLoop.prepare
    monkeypatch.setattr(CompiledLoop, "prepare", lambda self, *given: started.append(prepare(self, *given)))
    with network_loops.worth_it_from(1_000 + hops):
        point("\n".join(scenario)).simulation(0).run()
    assert len(started) == 1 - hops
