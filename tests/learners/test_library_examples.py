"""The learners of `examples/learners`, each against its library alone; skipped where that is not installed."""

import numpy as np
import pytest

import netbandit as nb


@pytest.mark.slow
@pytest.mark.ci
def test_scikit_learn_at_each_agent_is_partial_fit_of_what_it_saw_and_heard(tmp_path):
    linear_model = pytest.importorskip("sklearn.linear_model")
    from examples.learners import scikit

    made = []

    class Seen(scikit.Regression):
        def __init__(self, features, epsilon, rng):
            super().__init__(features, epsilon, rng)
            self.seen, self.heard = [], 0
            made.append(self)

        def learn(self, slot, arm, reward, vector):
            super().learn(slot, arm, reward, vector)
            self.seen.append((vector, reward))

        def hear(self, source, row, sent):
            super().hear(source, row, sent)
            self.seen.append((row[:-1], row[-1]))
            self.heard += 1

    class Watched(scikit.Regressions):
        def make(self, world, agent, rng):
            return Seen(world.dimension, self.epsilon, rng)

    nb.Scenario(
        learner=Watched(),
        protocol=nb.protocols.Relay(),
        topology=nb.families.Ring(agents=3),
        bandit=nb.bandits.Linear(dimension=3, arms=4, actions="fresh"),
        run=nb.Run(horizon=30),
        links={"peer": {"latency": "0.4 ms"}},
    ).run(out=tmp_path / "out")
    for each in made[-3:]:
        assert each.heard > 0
        alone = linear_model.SGDRegressor().partial_fit(np.zeros((1, 3)), [0.0])
        for vector, reward in each.seen:
            alone.partial_fit([vector], [reward])
        assert alone.coef_ == pytest.approx(each.model.coef_, abs=1e-12)
        assert alone.coef_.any()
