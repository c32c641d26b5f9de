"""Scenarios of a few lines, run without a command."""

from pathlib import Path

from netbandit.checks.check import check
from netbandit.network.fingerprint import Fingerprint
from netbandit.scenario.load import load
from netbandit.simulation.drivers import epochs

SMALL = """\
[run]
horizon = 400
[topology]
family = "ring"
agents = 4
[bandit]
kind = "bernoulli"
arms = 3
[learner]
kind = "elimination"
[protocol]
kind = "gis"
"""


def study(folder: Path, *overrides, text=SMALL):
    file = folder / "scene.toml"
    file.write_text(text)
    return check(load(file, overrides))


def run(folder, *overrides, text=SMALL, replication=0, trace=None):
    return study(folder, *overrides, text=text).points[0].simulation(replication).run(trace)


def run_logged(point, monkeypatch, replication=0):
    """Return the result, and (slot, agent, length) of every exploration phase."""
    phases = []
    record = Fingerprint.record

    def logged(self, time, node, code, size):
        if code == epochs.EXPLORE.code:
            slot = point.scenario.run.slot_nanoseconds
            assert time % slot == 0
            phases.append((time // slot, node, size))
        record(self, time, node, code, size)

    with monkeypatch.context() as patch:
        patch.setattr(Fingerprint, "record", logged)
        result = point.simulation(replication).run()
    return result, sorted(phases)
