"""Learners that decide in slots over compiled rounds: the same as event by event."""

import random
from unittest.mock import patch

import pytest
from helpers.both_ways import both_ways, same

from netbandit.scenario.load import load
from netbandit.simulation.check import check
from netbandit.simulation.compiled_rounds import choice
from netbandit.simulation.compiled_rounds.engine import CompiledLoop

FIXED = [
    f'kind = "{kind}", schedule = "fixed", every = {every}'
    for kind in ("oful", 'feducb", epsilon = inf, members = "all')
    for every in (1, 2, 7)
]
LATENCIES = ["0 ms", "0.4 ms", "1 ms", "2.5 ms", ("0 ms", "4 ms"), ("0 ms", "3 ns"), ("1 us", "3 s")]
PROTOCOLS = ["flooding", "gis", "gossip", "relay", "sink"]

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms", seed = {seed}, activity = {activity} }}
topology = {{ {topology} }}
links.peer.latency = {latency}
{bandwidth}
links.uplink.latency = {uplink}
bandit = {{ kind = "linear", dimension = 2, arms = 4 }}
learner = {{ {learner} }}
protocol = {{ kind = "{protocol}", timing = "{timing}" }}
"""


def drawn(seed, protocol, learners):
    rng = random.Random(f"{seed}/{protocol}")
    timing = rng.choice(["slotted", "asynchronous"])
    users = [] if timing == "slotted" else ['{ poisson = "0.7 ms" }']
    family = rng.choice(["ring", "star", "complete", "path", "random", "grid"])
    topology = f'family = "{family}", agents = {rng.randint(3, 12)}' + ", p = 0.5" * (family == "random")
    latency = rng.choice(LATENCIES)
    bandwidth = rng.choice(["", "", "1 Mbit/s", "20 kbit/s"])
    return SCENARIO.format(
        horizon=rng.choice([40, 300]),
        seed=seed,
        activity=rng.choice(['"every"', '"every"', '"one"', "{ share = 0.4 }", *users]),
        topology=topology,
        latency=_written(latency),
        bandwidth=f'links.peer.bandwidth = "{bandwidth}"' if bandwidth else "",
        learner=rng.choice(learners),
        protocol=protocol,
        timing=timing,
        uplink=_written(rng.choice(LATENCIES)),
    )


def _written(latency):
    return f'"{latency}"' if isinstance(latency, str) else f"{{ uniform = {list(latency)} }}"


def point(tmp_path, text):
    file = tmp_path / "calls.toml"
    file.write_text(text)
    return check(load(file)).points[0]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_rounds_that_nobody_calls_for_are_the_same(tmp_path, protocol, seed):
    same(*both_ways(point(tmp_path, drawn(seed, protocol, FIXED))))


@pytest.mark.parametrize(("hops", "worth"), [(17_280, True), (17_281, False)])
def test_rounds_that_are_known_ahead_are_worth_a_loop_together(tmp_path, hops, worth):
    text = SCENARIO.format(
        horizon=300,
        seed=0,
        activity='"every"',
        topology='family = "ring", agents = 12',  # 288 hops a round, 60 rounds
        latency='"0 ms"',
        bandwidth="",
        learner='kind = "oful", schedule = "fixed", every = 5',
        uplink='"0 ms"',
        protocol="gis",
        timing="slotted",
    )
    with choice.worth_it_from(hops), patch.object(CompiledLoop, "prepare", side_effect=InterruptedError) as started:
        run = point(tmp_path, text).simulation(0).run
        if worth:
            with pytest.raises(InterruptedError):
                run()
        else:
            run()
    assert started.called == worth
