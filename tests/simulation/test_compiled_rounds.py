"""Rounds played in compiled loops: the same messages, fingerprint and figures as one event after the other."""

import random

import pytest

from netbandit.scenario.load import load
from netbandit.simulation.check import check
from netbandit.simulation.compiled_rounds import choice
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
links.uplink.latency = {uplink}
bandit = {{ kind = "bernoulli", arms = 6, seed = 1 }}
learner = {{ kind = "elimination", {learner} }}
protocol = {{ {protocol} }}
"""


def drawn(seed, protocol, **changes):
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
        "horizon": rng.choice([40, 3_000, 30_000]),
        "learner": rng.choice(["epsilon = inf", "epsilon = 5.0", "rounds = 3, gap = 0.3", "rounds = 4, gap = 0.9"]),
        "protocol": f'{protocol}, timing = "{rng.choice(["slotted", "asynchronous"])}"',
    }
    return SCENARIO.format(**(values | changes))


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Run a scenario with its rounds compiled, and event by event."""

    def runs(text):
        file = tmp_path / "rounds.toml"
        file.write_text(text)
        point = check(load(file)).points[0]
        started = []
        start = CompiledRounds.start
        with monkeypatch.context() as patch:
            patch.setattr(choice, "LEAST_HOPS", 0)
            patch.setattr(CompiledRounds, "start", lambda self, *given: (started.append(self), start(self, *given))[1])
            compiled = point.simulation(0).run()
        assert started  # else there is nothing to compare
        with monkeypatch.context() as patch:
            patch.setattr(choice, "fits", lambda *_: False)
            return compiled, point.simulation(0).run()

    return runs


def same(compiled, events):
    assert compiled.fingerprint == events.fingerprint
    assert list(compiled.metrics) == list(events.metrics)
    for name in compiled.metrics.keys() - {"wall_s"}:
        assert compiled.metrics[name] == events.metrics[name], name
    assert compiled.kinds == events.kinds
    assert (compiled.curves["regret"].values == events.curves["regret"].values).all()
    for name in ("messages", "bytes", "activations", "lost"):
        assert (getattr(compiled.links, name) == getattr(events.links, name)).all()


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("protocol", ['kind = "flooding"', 'kind = "gis"', 'kind = "gossip"', 'kind = "relay"'])
def test_a_compiled_round_is_the_same_as_event_by_event(both, protocol, seed):
    same(*both(drawn(seed, protocol)))
