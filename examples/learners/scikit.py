"""A regression of scikit-learn at each agent, which learns each reward by ``partial_fit`` and tells the others of it.

From the folder of the repository::

    PYTHONPATH=examples/learners netbandit run scenarios/feducb.toml --set learner='{kind="scikit:Regressions"}' \\
        --set protocol.kind=relay --out results/scikit
"""

from typing import ClassVar

import numpy as np
from sklearn.linear_model import SGDRegressor

import netbandit as nb


class Regression:
    """Pulls the arm of the highest prediction, but a random one with probability epsilon."""

    def __init__(self, features, epsilon, rng):
        self.epsilon, self.rng = epsilon, rng
        self.model = SGDRegressor(random_state=int(rng.integers(2**31)))
        self.model.partial_fit(np.zeros((1, features)), [0.0])  # so that it can predict

    def choose(self, slot, actions):
        if self.rng.random() < self.epsilon:
            return int(self.rng.integers(len(actions)))
        return int(self.model.predict(actions).argmax())

    def learn(self, slot, arm, reward, vector):
        self.model.partial_fit([vector], [reward])
        self.latest = np.append(vector, reward)

    def message(self):
        return self.latest

    def hear(self, source, row, sent):
        self.model.partial_fit([row[:-1]], [row[-1]])


class Regressions(nb.AgentLearner):
    """A Regression for each agent."""

    plays: ClassVar[str] = "vectors"
    epsilon: float = 0.1

    def make(self, world, agent, rng):
        return Regression(world.dimension, self.epsilon, rng)
