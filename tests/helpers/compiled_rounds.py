"""A scenario run with its rounds compiled, and event by event."""

from unittest.mock import patch

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
BANDWIDTHS = ["", "", 'links.peer.bandwidth = "1 Mbit/s"', 'links.peer.bandwidth = "20 kbit/s"']


def drawn_topology(rng):
    agents = rng.randint(3, 12)
    families = ["ring", "star", "complete", "path", "random", "grid"]
    family = rng.choice(families)
    return f'family = "{family}", agents = {agents}' + ", p = 0.5" * (family == "random")


def both_ways(folder, text):
    file = folder / "rounds.toml"
    file.write_text(text)
    point = check(load(file)).points[0]
    started = []
    start = CompiledRounds.start
    with (
        patch.object(CompiledRounds, "start", lambda self, *given: (started.append(self), start(self, *given))[1]),
        choice.worth_it_from(0),
    ):
        compiled = point.simulation(0).run()
    assert started  # else there is nothing to compare
    with patch.object(choice, "fits", lambda *_: False):
        return compiled, point.simulation(0).run()


def same(compiled, events):
    assert compiled.fingerprint == events.fingerprint
    assert list(compiled.metrics) == list(events.metrics)
    for name in compiled.metrics.keys() - {"wall_s"}:
        assert compiled.metrics[name] == events.metrics[name], name
    assert compiled.kinds == events.kinds
    assert (compiled.curves["regret"].values == events.curves["regret"].values).all()
    for name in ("messages", "bytes", "activations", "lost"):
        assert (getattr(compiled.links, name) == getattr(events.links, name)).all()
