"""MABWiser at each agent: any of its learning policies, which agents may tell each other what they have seen.

pip install mabwiser
netbandit run examples/learners/mabwiser_agents.toml
"""

import numpy as np

import netbandit as nb


class Policy:
    """A MABWiser object of one agent, fitted to each arm in turn and then to every reward."""

    def __init__(self, arms, epsilon, seed):
        from mabwiser.mab import MAB, LearningPolicy

        self.arms, self.seen = arms, 0
        self.mab = MAB(list(range(arms)), LearningPolicy.EpsilonGreedy(epsilon=epsilon), seed=seed)

    def choose(self, slot, actions):
        return self.seen if self.seen < self.arms else self.mab.predict()

    def learn(self, slot, arm, reward, vector):
        self.mab.partial_fit([arm], [reward])
        self.seen += 1
        self.latest = arm, reward

    def message(self):
        return np.array(self.latest)

    def hear(self, source, row, sent):
        self.mab.partial_fit([int(row[0])], [row[1]])


class MabWiser(nb.AgentLearner):
    """An epsilon-greedy policy of MABWiser for each agent."""

    epsilon: float = 0.1
    """The share of random arms."""

    def make(self, world, agent, rng):
        return Policy(world.arms, self.epsilon, int(rng.integers(2**31)))
