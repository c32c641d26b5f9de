"""Runs of learners that mix, with what their agents chose and knew."""

import networkx as nx
import numpy as np
from helpers.lockstep_exchanges import MEANS, SIGMA

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.simulation.drivers import slots

GRAPHS = {
    "ring": nx.cycle_graph,
    "path": nx.path_graph,
    "complete": nx.complete_graph,
    "star": lambda m: nx.star_graph(m - 1),
}

SCENE = """\
[run]
horizon = 300
[topology]
family = "ring"
agents = 6
[bandit]
kind = "gaussian"
means = {means}
sigma = {sigma}
[learner]
kind = "{learner}"
[protocol]
kind = "consensus"
"""


def play(folder, monkeypatch, learner, *overrides, replication=0, watch=None):
    """Return the result, the learner and a hash of what each agent chose; *watch* wraps the learner's class before."""
    file = folder / "scene.toml"
    file.write_text(SCENE.format(means=MEANS, sigma=SIGMA, learner=learner))
    (point,) = check(load(file, overrides)).points
    kept = []
    finish = slots.Slots.finish
    with monkeypatch.context() as patch:
        patch.setattr(slots.Slots, "finish", lambda driver: (kept.append(driver), finish(driver))[1])
        if watch is not None:
            watch(patch, type(point.learner))
        result = point.simulation(replication).run()
    (driver,) = kept
    return result, driver.learners[0], driver.account.digests.tolist()


def digests(arms):
    """Return the hashes of what each agent chose, from the arms, shape (T, M)."""
    found = []
    for column in np.asarray(arms).T.tolist():
        digest = 0xCBF29CE484222325
        for arm in column:
            digest = ((digest ^ (arm + 1)) * 0x100000001B3) % 2**64
        found.append(digest)
    return found


def same_in_bulk(folder, monkeypatch, learner, *overrides):
    """Check that all at once is message by message, to the last bit."""
    found = []
    for alike in (False, True):
        with monkeypatch.context() as patch:
            if not alike:
                patch.setattr("netbandit.simulation.strategies.exchanges.bulk_carrier", lambda context: None)
            found.append(play(folder, monkeypatch, learner, *overrides))
    (single, first, one), (bulk, second, other) = found
    assert one == other
    assert single.fingerprint == bulk.fingerprint
    assert {**single.metrics, "wall_s": 0} == {**bulk.metrics, "wall_s": 0}
    for column in ("messages", "bytes", "activations"):
        np.testing.assert_array_equal(getattr(single.links, column), getattr(bulk.links, column))
    np.testing.assert_array_equal(single.curves["regret"].values, bulk.curves["regret"].values)
    np.testing.assert_array_equal(first.steps, second.steps)
