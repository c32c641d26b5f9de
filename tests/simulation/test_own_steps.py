"""Learners of a user's own in steps: compiled as they are run plainly, or said why not, with the line."""

import linecache
import os
import subprocess
import sys
from pathlib import Path

import helpers.own_steps as own
import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.simulation import bandit_environments
from netbandit.simulation.dispatch import decisions
from netbandit.simulation.drivers import decision_loop, slots
from netbandit.simulation.execution import executed
from netbandit.user_code.errors import ReturnedError

FILE = Path(own.__file__)


def run(tmp_path, learner, *keys, execution="compiled"):
    file = tmp_path / "own.toml"
    file.write_text(
        "schema = 1\n"
        'run = { horizon = 300, slot = "1 ms" }\n'
        'topology = { family = "ring", agents = 5 }\n'
        'bandit = { kind = "bernoulli", means = [0.3, 0.5, 0.8] }\n'
        f'learner = {{ kind = "{learner}" }}\n'
        'protocol = { kind = "silent" }\n'
    )
    with executed(execution):
        return check(load(file, list(keys))).points[0].simulation(0).run()


def said(result):
    return [remark for remark in result.remarks if "not compiled" in remark]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        pytest.param("Counting", ("bandit.drift=0.02", "bandit.arms_per_agent=2"), marks=pytest.mark.slow),
        ("Random", ('bandit={ kind = "gaussian", means = [0.3, 0.5, 0.8], heterogeneity = 0.3 }',)),
    ],
)
def test_alone_it_is_the_same_compiled_and_plain(tmp_path, name, keys):
    plain, compiled = (
        run(tmp_path, f"helpers.own_steps:{name}", *keys, execution=one) for one in ("plain", "compiled")
    )
    assert not said(compiled)
    assert compiled.fingerprint == plain.fingerprint
    assert (compiled.curves["regret"].values == plain.curves["regret"].values).all()


@pytest.mark.parametrize("kind", ["ucb", pytest.param("helpers.own_steps:Counting", marks=pytest.mark.slow)])
def test_means_that_change_are_at_hand_some_at_a_time(tmp_path, monkeypatch, kind):
    plain = run(tmp_path, kind, "bandit.drift=0.02", execution="plain")
    monkeypatch.setattr(bandit_environments, "_MOST_MEANS", 7 * 5 * 3)  # seven slots
    compiled = run(tmp_path, kind, "bandit.drift=0.02")
    assert compiled.fingerprint == plain.fingerprint
    assert compiled.metrics["regret_static"] == plain.metrics["regret_static"]


@pytest.mark.ci
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "protocol"),
    [("Telling", "local"), pytest.param("Calling", "master-worker", marks=pytest.mark.slow)],
)
def test_with_others_it_is_the_same_compiled_and_plain(tmp_path, monkeypatch, name, protocol):
    given = tmp_path, f"helpers.own_steps:{name}", f"protocol.kind={protocol}"
    plain = run(*given, execution="plain")
    monkeypatch.setattr(slots, "vectorized_loop", None)  # nobody may use it
    compiled = run(*given)
    assert compiled.fingerprint == plain.fingerprint
    assert compiled.metrics["rounds"] == plain.metrics["rounds"] > 5
    assert compiled.metrics["messages"] == plain.metrics["messages"]
    assert compiled.metrics["regret"] == plain.metrics["regret"]


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Assigns", "self.count is given a new value; only arrays can change"),
        ("Reads", "self.notes is of type dict, and neither an array nor a number"),
        ("Opens", "Unsupported context manager in use"),
        ("Formats", "format spec in f-strings not supported"),
        ("Lists", "TABLE is of type list"),
    ],
)
def test_what_cannot_be_compiled_is_said_with_its_line(tmp_path, name, why):
    source = FILE.read_text().splitlines()
    first = source.index(f"class {name}(Counting):")
    line = next(number for number, text in enumerate(source[first:], first + 1) if text.endswith("# here"))
    (remark,) = said(run(tmp_path, f"helpers.own_steps:{name}"))
    assert f"the steps of {name} are not compiled: own_steps.py, line {line}: {why}" in remark


@pytest.mark.parametrize("execution", ["plain", pytest.param("compiled", marks=pytest.mark.slow)])
def test_what_is_no_arm_ends_the_run(tmp_path, execution):
    with pytest.raises(ReturnedError, match=r"must return an arm from 0 to 2.*not.* 3.*\(slot 1"):
        run(tmp_path, "helpers.own_steps:Wrong", execution=execution)


def test_a_method_in_place_of_a_step_is_what_counts(tmp_path):
    found = run(tmp_path, "helpers.own_steps:Overridden")
    assert found.metrics["regret"] == pytest.approx(5 * 300 * 0.5)


def test_a_short_run_does_without_what_is_not_compiled_yet(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(decision_loop.Compiled, "compile", lambda *_: calls.append(1))
    monkeypatch.setattr(decision_loop.Compiled, "at_hand", False)
    run(tmp_path, "helpers.own_steps:Counting", execution="chosen")
    assert not calls
    monkeypatch.setattr(decisions, "ENOUGH", 5 * 300)
    run(tmp_path, "helpers.own_steps:Counting", execution="chosen")
    assert calls


CELL = """\
import netbandit as nb
import numpy as np

class Cell(nb.StepLearner):
    def start(self, world, agents, rng):
        self.pulls = np.zeros((agents, world.arms))

    def choose_one(self, slot, agent):
        return ARM

    def learn_one(self, slot, agent, arm, reward):
        self.pulls[agent, arm] += 1
"""


@pytest.mark.ci
@pytest.mark.compiled
def test_a_class_from_a_cell_is_compiled_as_it_stands_now(tmp_path, monkeypatch):
    import types

    import netbandit as nb

    module = types.ModuleType("cells")
    monkeypatch.setitem(sys.modules, "cells", module)
    name = str(tmp_path / "ipykernel_1" / "1.py")  # no such file: the text is in linecache, as in a notebook
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(keepends=True), name)
    module.ARM = 0
    exec(compile(CELL, name, "exec"), vars(module))
    monkeypatch.setattr(slots, "vectorized_loop", None)
    for arm, gap in ((0, 0.5), (2, 0.0)):
        module.ARM = arm
        scenario = nb.Scenario(
            topology=nb.families.Ring(agents=4),
            bandit=nb.bandits.Bernoulli(means=[0.3, 0.5, 0.8]),
            learner=module.Cell(),
            protocol=nb.protocols.Silent(),
            run=nb.Run(horizon=50),
        )
        with executed("compiled"):
            found = scenario.run(out=tmp_path / str(arm))
        assert found[found.metric == "regret"].value.item() == pytest.approx(4 * 50 * gap)


STEPPED = """
import sys
from netbandit.checks.check import check
from netbandit.learners.ucb import Ucb
from netbandit.scenario.load import load_tables
from netbandit.simulation.execution import executed

reached = []
code = Ucb.best_one.__code__
sys.settrace(lambda frame, event, argument: reached.append(1) if frame.f_code is code else None)
parts = {"learner": {"kind": "ucb"}, "bandit": {"kind": "bernoulli", "arms": 2}, "protocol": {"kind": "local"}}
tables = {**parts, "topology": {"family": "ring", "agents": 3}, "run": {"horizon": 30}}
point = check(load_tables(tables)).points[0]
for way in sys.argv[1:]:
    reached.clear()
    with executed(way):
        result = point.simulation(0).run()
    print(f"{result.fingerprint}{result.metrics['regret']}", len(reached))
"""


@pytest.mark.ci
@pytest.mark.compiled
def test_a_debugger_steps_through_a_learner_where_numba_is_off():
    """Without numba every step is the method itself, with the same numbers."""
    outputs = []
    for off, *ways in (("1", "plain", "compiled"), ("0", "plain", "chosen")):
        words, environment = [sys.executable, "-c", STEPPED, *ways], os.environ | {"NUMBA_DISABLE_JIT": off}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        outputs += [line.split() for line in done.stdout.splitlines()]
    assert len({fingerprint for fingerprint, _ in outputs}) == 1
    # Of 90 decisions, two of each agent are given.
    assert [int(reached) for _, reached in outputs] == [84, 84, 0, 0]
