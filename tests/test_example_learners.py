"""Learners of other libraries in ``examples/learners``: alone, each agent does what the library does by itself."""

import sys
from pathlib import Path

import numpy as np
import pytest

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.util.streams import Streams

FOLDER = Path(__file__).parents[1] / "examples" / "learners"


def played(name, kind, monkeypatch):
    """Run an example alone; return what its class and each agent's object is, and what each agent saw, in order."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    point = check(load(FOLDER / f"{name}.toml", ["protocol.kind=silent", "run.horizon=40"])).points[0]
    module = sys.modules[name]
    learner = getattr(module, kind)
    histories = []
    make = learner.make

    def watched(self, world, agent, rng):
        made, history = make(self, world, agent, rng), []
        histories.append(history)
        choose, learn = made.choose, made.learn
        made.choose = lambda slot, actions: (history.append([actions, choose(slot, actions)]), history[-1][1])[1]
        made.learn = lambda slot, arm, reward, vector: (history[-1].append(reward), learn(slot, arm, reward, vector))
        return made

    monkeypatch.setattr(learner, "make", watched)
    assert point.simulation(0).run().metrics["messages"] == 0
    assert [len(history) for history in histories] == [40] * 4
    return module, histories


def test_mabwiser_chooses_the_same_in_a_loop_of_its_own(monkeypatch):
    mab = pytest.importorskip("mabwiser.mab")
    _, histories = played("mabwiser_agents", "MabWiser", monkeypatch)
    for agent, history in enumerate(histories):
        seed = int(Streams(0, 0).generator("learner.agent", agent).integers(2**31))
        alone = mab.MAB(list(range(4)), mab.LearningPolicy.EpsilonGreedy(epsilon=0.1), seed=seed)
        for slot, (_, arm, reward) in enumerate(history):
            assert arm == (slot if slot < 4 else alone.predict())
            alone.partial_fit([arm], [reward])


def test_scikit_learn_is_fitted_as_by_hand(monkeypatch):
    linear = pytest.importorskip("sklearn.linear_model")
    _, histories = played("scikit_learn", "Models", monkeypatch)
    for agent, history in enumerate(histories):
        rng = Streams(0, 0).generator("learner.agent", agent)
        alone = linear.SGDRegressor(alpha=0.0, learning_rate="constant", eta0=0.1, random_state=0)
        for slot, (actions, arm, reward) in enumerate(history):
            random = not slot or rng.random() < 0.1
            assert arm == (rng.integers(6) if random else alone.predict(actions).argmax())
            alone.partial_fit(actions[arm][np.newaxis], [reward])


@pytest.mark.parametrize("example", ["mabwiser_agents", "scikit_learn"])
def test_agents_that_tell_each_other_run_as_well(example):
    pytest.importorskip({"mabwiser_agents": "mabwiser", "scikit_learn": "sklearn"}[example])
    point = check(load(FOLDER / f"{example}.toml", ["run.horizon=20", "protocol.kind=relay"])).points[0]
    metrics = point.simulation(0).run().metrics
    assert metrics["messages"] > 0
    assert metrics["reward"] != 0
