"""Synchronisations played in compiled loops: the same messages, fingerprint and figures as event by event."""

import random
from collections import Counter
from contextlib import suppress
from unittest.mock import patch

import pytest
from helpers.both_ways import both_ways, same
from helpers.compiled_for_long import compiled_for_long
from helpers.some_faults import some_faults, with_little_room

from netbandit.protocols.local import Local
from netbandit.simulation.choosing import network_loops
from netbandit.simulation.compiled_rounds import links
from netbandit.simulation.compiled_rounds.calls import CompiledCall
from netbandit.simulation.compiled_rounds.engine import CompiledLoop

FIXED = [
    'kind = "oful", schedule = "fixed", every = 1',
    'kind = "oful", schedule = "fixed", every = 3',
    'kind = "feducb", epsilon = inf, schedule = "fixed", every = 2',
    'kind = "feducb", epsilon = inf, schedule = "fixed", every = 7',
]
TESTED = [
    'kind = "oful", threshold = 0.5',
    'kind = "oful", threshold = 2.0',
    'kind = "feducb", epsilon = inf, threshold = 0.05',
    'kind = "feducb", epsilon = inf, threshold = 1.0',
]
LATENCIES = [
    '"0 ms"',
    '"0.4 ms"',
    '"1 ms"',
    '"2.5 ms"',
    '{ uniform = ["0 ms", "4 ms"] }',
    '{ uniform = ["0 ms", "3 ns"] }',
    '{ uniform = ["1 us", "30 ms"] }',
]
ACTIVITIES = [
    ("slotted", '"every"'),
    ("asynchronous", '"every"'),
    ("slotted", '"one"'),
    ("slotted", "{ share = 0.4 }"),
    ("asynchronous", '{ poisson = "0.7 ms" }'),
]
FAULTS = [
    "links.peer.loss = 0.02",
    "links.peer.loss = 0.1\nlinks.peer.retry = {}",
    'links.peer.jitter = "2 ms"\nlinks.peer.duplicate = 0.2',
    "links.peer.loss = 0.3\nlinks.peer.retry = { attempts = 2 }\n"
    'links.peer.jitter = "2 ms"\nlinks.peer.overtaking = true',
]

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms", seed = {seed}, activity = {activity} }}
topology = {{ {topology} }}
links.peer.latency = {latency}
{bandwidth}
{faults}
links.uplink.latency = {uplink}
bandit = {{ kind = "linear", dimension = 2, arms = 4 }}
learner = {{ {learner} }}
protocol = {{ {protocol}, timing = "{timing}" }}
"""


def drawn(rng, **given):
    family = rng.choice(["ring", "star", "complete", "path", "random", "grid"])
    bandwidth = rng.choice(["", "", 'links.peer.bandwidth = "1 Mbit/s"', 'links.peer.bandwidth = "100 kbit/s"'])
    values = {
        "horizon": rng.choice([20, 60]),
        "seed": rng.randrange(1_000),
        "activity": '"every"',
        "topology": f'family = "{family}", agents = {rng.randint(3, 10)}' + ", p = 0.5" * (family == "random"),
        "latency": rng.choice(LATENCIES),
        "bandwidth": bandwidth,
        "faults": "",
        "uplink": rng.choice(LATENCIES),
        "timing": rng.choice(["slotted", "asynchronous"]),
    }
    return SCENARIO.format(**(values | given))


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("protocol", ["flooding", "gis", "gossip", "relay"])
def test_rounds_that_nobody_calls_for_are_the_same(point, protocol, seed):
    rng = random.Random(f"{seed}/{protocol}")
    timing, activity = rng.choice(ACTIVITIES)
    learner = rng.choice(FIXED)
    text = drawn(rng, protocol=f'kind = "{protocol}"', learner=learner, timing=timing, activity=activity)
    same(*both_ways(point(text)))


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("protocol", ["gis", *compiled_for_long("flooding", "gossip", "relay")])
def test_sums_name_what_is_in_them_in_the_same_way_where_messages_may_be_lost(point, protocol, faults):
    rng = random.Random(f"{faults}/{protocol}")
    changes = {"protocol": f'kind = "{protocol}"', "learner": rng.choice(FIXED), "bandwidth": "", "faults": faults}
    same(*both_ways(point(drawn(rng, **changes))))


def called_for(protocol, seed, *, fails=False):
    rng = random.Random(f"{seed}/{protocol}")
    timing, activity = rng.choice(ACTIVITIES)
    given = {"protocol": f'kind = "{protocol}"', "learner": rng.choice(TESTED), "timing": timing, "activity": activity}
    # Where agents see different actions they do not all call in the same slot.
    return drawn(rng, **given, **(some_faults(rng) if fails else {})).replace("arms = 4", 'arms = 4, actions = "fresh"')


@pytest.mark.parametrize("seed", [0, 1, 2, 6, 13, 21, 22])
@pytest.mark.parametrize("protocol", ["gis", "gossip", "relay", *compiled_for_long("flooding")])
def test_rounds_that_agents_call_for_are_the_same(point, protocol, seed):
    """With the last seeds agents hear a call and pass on items at one boundary, in the order in which these came."""
    same(*both_ways(point(called_for(protocol, seed))))


@pytest.mark.parametrize("seed", range(100, 103))
@pytest.mark.parametrize("protocol", ["gis", "gossip", "relay", *compiled_for_long("flooding")])
def test_a_loop_that_stops_for_room_among_calls_goes_on_where_it_was(point, monkeypatch, protocol, seed):
    with_little_room(monkeypatch)
    same(*both_ways(point(called_for(protocol, seed))))


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("seed", range(201, 204))
@pytest.mark.parametrize("protocol", ["gis", "gossip", "relay", "flooding"])
def test_calls_are_flooded_in_the_same_way_whatever_goes_wrong(point, monkeypatch, protocol, seed):
    if seed % 2:
        with_little_room(monkeypatch)
    same(*both_ways(point(called_for(protocol, seed, fails=True))))


@pytest.mark.parametrize("seed", [770, 969])
def test_who_is_to_speak_at_a_boundary_keeps_its_place_before_who_hears_a_call_there(point, seed):
    """Agents contribute, which takes a step, while it is known who speaks at the next boundary."""
    text = drawn(
        random.Random(0),
        seed=seed,
        horizon=60,
        activity='"one"',
        topology='family = "ring", agents = 9',
        latency='{ uniform = ["0 ms", "3 ns"] }',
        bandwidth="",
        learner='kind = "oful", threshold = 0.5',
        protocol='kind = "gossip"',
        timing="slotted",
    )
    same(*both_ways(point(text)))


def goes_compiled(point, least_hops):
    """Return whether a loop is prepared where so many hops are worth one."""
    prepare = patch.object(CompiledLoop, "prepare", side_effect=InterruptedError)
    with network_loops.worth_it_from(least_hops), prepare as prepared, suppress(InterruptedError):
        point.simulation(0).run()
    return prepared.called


@pytest.mark.parametrize(("hops", "worth"), [(2_880, True), (2_881, False)])
def test_rounds_that_agents_may_call_for_are_worth_a_loop_as_if_they_were_ten(point, hops, worth):
    text = drawn(
        random.Random(0),
        topology='family = "ring", agents = 12',  # 288 hops a round
        learner=TESTED[0],
        protocol='kind = "gis"',
    )
    assert goes_compiled(point(text), hops) == worth


def test_calls_that_no_loop_knows_go_event_by_event(point, monkeypatch):
    monkeypatch.setattr(CompiledLoop, "prepare", None)  # would fail
    with network_loops.worth_it_from(0):
        result = point(drawn(random.Random(0), protocol='kind = "sink"', learner=TESTED[0])).simulation(0).run()
    assert result.kinds["CALL"][0] > 0


@pytest.mark.parametrize(("hops", "worth"), [(17_280, True), (17_281, False)])
def test_rounds_that_are_known_ahead_are_worth_a_loop_together(point, hops, worth):
    text = drawn(
        random.Random(0),
        horizon=300,
        topology='family = "ring", agents = 12',  # 288 hops a round, 60 rounds
        learner='kind = "oful", schedule = "fixed", every = 5',
        protocol='kind = "gis"',
    )
    assert goes_compiled(point(text), hops) == worth


def over_local(seed, *, fails=False):
    rng = random.Random(seed)
    protocol = f'kind = "local", ttl = {rng.choice([1, 2, 2, 3, 12])}'
    protocol += rng.choice(["", "", ', deadline = "3 slots"', ', deadline = "7 ms"'])
    changes = some_faults(rng) | {"horizon": 20} if fails else {}
    return drawn(rng, protocol=protocol, learner=rng.choice([*FIXED, *TESTED, *TESTED]), **changes)


@pytest.mark.parametrize("seed", range(16))
def test_cliques_synchronise_in_the_same_way(point, seed):
    same(*both_ways(point(over_local(seed))))


@pytest.mark.parametrize("seed", range(100, 104))
def test_a_loop_of_cliques_that_stops_for_room_goes_on_where_it_was(point, monkeypatch, seed):
    monkeypatch.setattr(links, "_EVENTS", 3)
    monkeypatch.setattr(links, "_LEAST_ROOM", 1)
    same(*both_ways(point(over_local(seed))))


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("seed", range(200, 208))
def test_cliques_synchronise_in_the_same_way_whatever_goes_wrong(point, monkeypatch, seed):
    if seed % 2:
        with_little_room(monkeypatch)
    same(*both_ways(point(over_local(seed, fails=True))))


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_who_releases_twice_in_one_meeting_is_heard_once(point, timing):
    """A call that queued for long reaches agents that have adopted, and meet once more."""
    text = drawn(
        random.Random(1),
        horizon=100,
        topology='family = "star", agents = 9',
        latency='"2.5 ms"',
        bandwidth='links.peer.bandwidth = "100 kbit/s"',
        learner=TESTED[0],
        protocol='kind = "local", ttl = 2',
        timing=timing,
    )
    with patch.object(Local, "_release", autospec=True, side_effect=Local._release) as release:
        same(*both_ways(point(text)))
    released = Counter(
        (agent, part.meeting) for call in release.call_args_list for agent, parts in call.args[1] for part in parts
    )
    assert max(released.values()) > 2  # once compiled, once event by event


@pytest.mark.parametrize("deadline", ["", ', deadline = "3 slots"'])
@pytest.mark.parametrize("faults", ["links.peer.loss = 0.1", "faults.links = { up = 0.9 }"])
def test_meetings_are_compiled_where_links_fail(point, deadline, faults):
    changes = {"protocol": f'kind = "local", ttl = 1{deadline}', "bandwidth": "", "faults": faults}
    simulation = point(drawn(random.Random(0), learner=TESTED[0], **changes)).simulation(0)
    stopped = patch.object(CompiledLoop, "prepare", side_effect=InterruptedError)
    with network_loops.worth_it_from(0), stopped, pytest.raises(InterruptedError):
        simulation.run()


def test_meetings_that_no_loop_knows_go_event_by_event(point, monkeypatch):
    monkeypatch.setattr(CompiledLoop, "prepare", None)  # would fail
    given = {"protocol": 'kind = "local", ttl = 0', "learner": TESTED[0]}
    with network_loops.worth_it_from(0):
        assert point(drawn(random.Random(0), **given)).simulation(0).run().metrics["late"] >= 0


KEPT = 'faults.nodes = { up_for = "20 ms", down_for = "4 ms" }'
LOST = 'faults.nodes = { up_for = "20 ms", down_for = "4 ms", memory = "lost" }'


def with_absences(protocol, faults, timing, seed=10):
    changes = {
        "seed": seed,
        "horizon": 20,
        "topology": 'family = "grid", agents = 9',
        "latency": '"0.4 ms"',
        "bandwidth": "",
        "faults": faults,
        "learner": TESTED[0],
        "protocol": protocol,
        "timing": timing,
    }
    return drawn(random.Random(0), **changes).replace("arms = 4", 'arms = 4, actions = "fresh"')


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize(("faults", "timing"), [(KEPT, "slotted"), (LOST, "slotted"), (LOST, "asynchronous")])
@pytest.mark.parametrize("protocol", ["gis", "gossip", "flooding"])
def test_calls_are_heard_and_answered_in_the_same_way_where_agents_go_down(point, protocol, faults, timing):
    with patch.object(CompiledCall, "_answer", autospec=True, side_effect=CompiledCall._answer) as answer:
        same(*both_ways(point(with_absences(f'kind = "{protocol}"', faults, timing))))
    assert answer.called or protocol != "gis"


@pytest.mark.slow
@pytest.mark.parametrize("faults", [KEPT, LOST, "links.peer.loss = 0.1"])
@pytest.mark.parametrize("deadline", ["", ', deadline = "8 ms"'])
def test_calls_for_rounds_along_trees_are_the_same_where_agents_go_down_or_on(point, faults, deadline):
    """Items and calls that take effect at one boundary do so in the order in which they came."""
    same(*both_ways(point(with_absences(f'kind = "relay"{deadline}', faults, "slotted"))))


@pytest.mark.slow
@pytest.mark.parametrize(("faults", "timing"), [(KEPT, "slotted"), (LOST, "slotted"), (LOST, "asynchronous")])
@pytest.mark.parametrize("deadline", ["", ', deadline = "3 slots"'])
def test_cliques_synchronise_in_the_same_way_where_agents_go_down(point, faults, timing, deadline):
    same(*both_ways(point(with_absences(f'kind = "local", ttl = 2{deadline}', faults, timing))))
