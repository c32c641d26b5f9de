"""
A learner of your own beside UCB1
=================================

A learner is a class with three methods, each for all agents at once. It can be defined where it is used.
"""

import numpy as np

import netbandit as nb


class Softmax(nb.Learner):
    """Pull an arm with a probability that grows exponentially with its mean."""

    temperature: float = 0.1
    """How little means matter: 0 is greedy, infinity is uniform."""

    def start(self, world, agents, rng):
        self.rng, self.arms = rng, world.arms
        self.pulls, self.sums = np.zeros((2, agents, world.arms))

    def choose(self, slot, agents):
        if slot < self.arms:
            return np.full(len(agents), slot)
        means = self.sums[agents] / self.pulls[agents]
        # The largest of Gumbel-distributed numbers around the scores has the probabilities of a softmax.
        return (means / self.temperature + self.rng.gumbel(size=means.shape)).argmax(axis=1)

    def learn(self, slot, agents, arms, rewards):
        self.pulls[agents, arms] += 1
        self.sums[agents, arms] += rewards


# %%
# Both learners face the same randomness: the reward of an agent in a slot depends on its own random stream and the mean
# of the arm, not on the learner. So fewer replications suffice to distinguish them.

scenario = nb.Scenario(
    topology=nb.families.Complete(agents=6),
    bandit=nb.bandits.Bernoulli(means=[0.2, 0.4, 0.5]),
    learner=Softmax(temperature=0.05),
    protocol=nb.protocols.Silent(),
    run=nb.Run(horizon=1_000, replications=5),
)
results = scenario.sweep({"learner.temperature": [0.02, 0.05, 0.2]}, out="results/softmax")
figure = results.plot("regret")

# %%
# The same scenario with another learner:

ucb = nb.Scenario(
    topology=nb.families.Complete(agents=6),
    bandit=nb.bandits.Bernoulli(means=[0.2, 0.4, 0.5]),
    learner=nb.learners.Ucb(),
    protocol=nb.protocols.Silent(),
    run=nb.Run(horizon=1_000, replications=5),
).run(out="results/softmax_ucb")
print(results[results.metric == "regret"].groupby("learner.temperature", sort=False).value.mean())
print("UCB1:", ucb[ucb.metric == "regret"].value.mean())
