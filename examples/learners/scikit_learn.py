"""scikit-learn at each agent: a linear model of the reward, fitted by one step of SGD to each reward.

pip install scikit-learn
netbandit run examples/learners/scikit_learn.toml
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

import netbandit as nb


class Model:
    """A regressor of one agent: it chooses the vector with the largest prediction, or any."""

    def __init__(self, epsilon, rng):
        from sklearn.linear_model import SGDRegressor

        self.epsilon, self.rng, self.fitted = epsilon, rng, False
        self.model = SGDRegressor(alpha=0.0, learning_rate="constant", eta0=0.1, random_state=0)

    def choose(self, slot, actions):
        if not self.fitted or self.rng.random() < self.epsilon:
            return int(self.rng.integers(len(actions)))
        return int(self.model.predict(actions).argmax())

    def learn(self, slot, arm, reward, vector):
        self.fit(vector, reward)
        self.latest = np.append(vector, reward)

    def fit(self, vector, reward):
        self.model.partial_fit(vector[np.newaxis], [reward])
        self.fitted = True

    def message(self):
        return self.latest

    def hear(self, source, row, sent):
        self.fit(row[:-1], row[-1])


class Models(nb.AgentLearner):
    """A model of scikit-learn for each agent, which tells the others what it has seen."""

    plays: ClassVar[str] = "vectors"
    epsilon: float = Field(default=0.1, ge=0, le=1)
    """The share of random choices."""

    def make(self, world, agent, rng):
        return Model(self.epsilon, rng)
