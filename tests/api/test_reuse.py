"""Runs of classes of one's own are taken from a folder only where they would come out the same."""

import types

import networkx as nx
import pytest

import netbandit as nb
from netbandit.checks.check import check
from netbandit.network.families.family import Family
from netbandit.running import sweeps

CODE = """\
import threading
import numpy as np
import netbandit as nb

LEVEL = [0.5]
LOCK = threading.Lock()
UNUSED = 0

class First(nb.Learner):
    def start(self, world, agents, rng): pass
    def choose(self, slot, agents): return np.zeros(len(agents), dtype=int)
    def learn(self, slot, agents, arms, rewards): pass

def make(best):
    class World(nb.ArmBandit):
        def means_at(self, slot): return np.array([0.2, 0.8]) if best else np.array([0.8, 0.2])
    return World

class Held(nb.ArmBandit):
    def means_at(self, slot): return np.array([0.2, LEVEL[0]])

class Locked(nb.ArmBandit):
    def means_at(self, slot):
        with LOCK:
            return np.array([0.2, LEVEL[0]])
"""


@pytest.fixture
def notebook():
    """The cells of a notebook that has just been started."""
    module = types.ModuleType("__main__")
    exec(CODE, vars(module))
    return module


def scenario(notebook, **tables):
    given = {"topology": nb.families.Ring(agents=4), "learner": notebook.First, "protocol": nb.protocols.Silent()}
    return nb.Scenario(**(given | tables), run=nb.Run(horizon=30))


def regrets(results):
    return results[results.metric == "regret"].value.tolist()


def test_two_classes_of_one_source_are_two_and_are_told_apart(notebook, tmp_path):
    """30 slots of 4 agents with a gap of 0.6, or none."""
    results = scenario(notebook).sweep({"bandit": [notebook.make(1), notebook.make(0)]}, out=tmp_path)
    assert regrets(results) == pytest.approx([72.0, 0.0])
    assert results.curves("regret").groupby("bandit").value.max().tolist() == pytest.approx([0.0, 72.0])
    names = results.bandit.unique().tolist()
    assert names == ['{"kind": "__main__:make.<locals>.World"}', '{"kind": "__main__:make.<locals>.World #2"}']


def done(notebook, folder, kind="Held"):
    plan = check(scenario(notebook, bandit=getattr(notebook, kind)).document())
    result = sweeps.run(plan, folder)
    return result.study.points[0].runs[0].metrics["regret"], result.reused, plan.notes


def test_what_a_cell_changes_is_run_anew_and_nothing_else(notebook, tmp_path):
    assert done(notebook, tmp_path) == (pytest.approx(36), 0, [])
    assert done(notebook, tmp_path) == (pytest.approx(36), 1, [])
    notebook.LEVEL[0] = 0.4
    assert done(notebook, tmp_path) == (pytest.approx(24), 0, [])
    notebook.UNUSED = 1
    assert done(notebook, tmp_path) == (pytest.approx(24), 1, [])


def test_what_cannot_be_compared_is_run_each_time_and_says_so(notebook, tmp_path):
    for _ in range(2):
        regret, reused, (note,) = done(notebook, tmp_path, "Locked")
        assert (regret, reused) == (pytest.approx(36), 0)
        assert note.startswith("bandit=...: bandit.kind: its runs are never reused from a folder, ")
        assert note.endswith("Locked.means_at.LOCK: TypeError: cannot pickle '_thread.lock' object")


def test_two_families_of_one_name_draw_their_own_graphs(notebook, tmp_path):
    def make(links):
        class Drawn(Family):
            agents: int = 5

            def build(self, rng):
                return nx.path_graph(5) if links == 4 else nx.complete_graph(5)

        return Drawn

    point = scenario(notebook, bandit=notebook.Held)
    results = point.sweep({"topology": [make(4), make(10)]}, out=tmp_path)
    assert results.links().groupby("topology", sort=False).size().tolist() == [4, 10]


def test_graphs_of_one_size_are_told_apart(notebook, tmp_path):
    results = scenario(notebook, bandit=notebook.Held).sweep(
        {"topology": [nx.path_graph(4), nx.star_graph(3)]}, out=tmp_path
    )
    assert results.topology.nunique() == 2
