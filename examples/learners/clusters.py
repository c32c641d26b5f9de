"""Clusters of users at a server: who is alike learns together, as in CLUB (Gentile, Li, Zappella, ICML 2014).

netbandit run examples/learners/clusters.toml
"""

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.sparse.csgraph import connected_components

import netbandit as nb


class Groups(nb.ActionSetBandit):
    """Items on the unit sphere, and groups of users who like the same."""

    groups: int = 4
    """The number of groups; agent i is in group i modulo this number."""
    items: int = 40
    """The number of items."""
    features: int = 8
    """The number of features of an item."""
    noise: float = 0.1
    """The standard deviation of what is seen of a reward."""

    def outline(self):
        return nb.Outline(arms=self.items, dimension=self.features)

    def start(self, agents, generator):
        self.agents, self.arm_count, self.dimension, self.sub_gaussian = agents, self.items, self.features, self.noise
        rows = generator("bandit.groups", 0).standard_normal((self.items + self.groups, self.features))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        self.vectors, liked = rows[: self.items], rows[self.items :]
        self.pays = liked[np.arange(agents) % self.groups] @ self.vectors.T

    def begin(self, generator):
        self.rngs = [generator("rewards", agent) for agent in range(self.agents)]

    def actions(self, agents):
        return np.broadcast_to(self.vectors, (len(agents), *self.vectors.shape))

    def pull(self, agents, arms):
        paid = self.pays[agents, arms]
        noise = np.array([self.rngs[agent].standard_normal() for agent in agents])
        return paid + self.noise * noise, self.pays[agents].max(axis=1) - paid


class Clusters(nb.Learner):
    """LinUCB of each agent with the data of its cluster: the server links all agents at first, and cuts links.

    A row holds the upper triangle of the sum of x x', the sum of y x, and the number of decisions.
    """

    plays: ClassVar[str] = "vectors"
    late_rewards: ClassVar[bool] = False

    alpha: float = Field(default=0.5, ge=0)
    """A link is cut where estimates are farther apart than this times the sum of their uncertainties."""
    bonus: float = 0.5
    """The factor of the width of confidence."""
    growth: float = Field(default=1.3, gt=1)
    """An agent uploads when its decisions have grown by this factor."""

    def start(self, world, agents, rng):
        self.actions, self.dimension = world.actions, world.dimension
        self.triangle = np.triu_indices(self.dimension)
        numbers = len(self.triangle[0]) + self.dimension + 1
        self.own, self.others, self.server = np.zeros((3, agents, numbers))
        self.sent, self.latest = np.zeros(agents), np.zeros((agents, self.dimension))
        self.linked = np.ones((agents, agents), dtype=bool)

    def model(self, rows):
        """Return the matrix I + sum of x x' of each row, and the estimate."""
        matrices = np.zeros((len(rows), self.dimension, self.dimension))
        matrices[:, *self.triangle] = rows[:, : len(self.triangle[0])]
        matrices += np.eye(self.dimension) + np.triu(matrices, 1).swapaxes(1, 2)
        return matrices, np.linalg.solve(matrices, rows[:, -self.dimension - 1 : -1, np.newaxis])[..., 0]

    def choose(self, slot, agents):
        shown = self.actions(agents)
        matrices, estimates = self.model(self.own[agents] + self.others[agents])
        widths = np.sqrt(np.einsum("nki,nij,nkj->nk", shown, np.linalg.inv(matrices), shown))
        arms = (np.einsum("nki,ni->nk", shown, estimates) + self.bonus * widths).argmax(axis=1)
        self.latest[agents] = shown[np.arange(len(agents)), arms]
        return arms

    def learn(self, slot, agents, arms, rewards):
        x = self.latest[agents]
        products = x[:, self.triangle[0]] * x[:, self.triangle[1]]
        self.own[agents] += np.column_stack([products, rewards[:, np.newaxis] * x, np.ones(len(agents))])

    def wants(self, slot, agents):
        return self.own[agents, -1] > self.growth * self.sent[agents]

    def share(self, slot, agents):
        self.sent[agents] = self.own[agents, -1]
        return self.own[agents]

    def serve(self, sources, rows):
        self.server[sources] = rows
        estimates, decisions = self.model(self.server)[1], self.server[:, -1]
        unsure = np.sqrt((1 + np.log(1 + decisions)) / (1 + decisions))
        for source in sources:
            apart = np.linalg.norm(estimates - estimates[source], axis=1)
            cut = apart > self.alpha * (unsure + unsure[source])
            self.linked[source, cut] = self.linked[cut, source] = False

    def cluster_of(self, agent):
        clusters = connected_components(self.linked, directed=False)[1]
        return clusters == clusters[agent]

    def answer_for(self, agent):
        others = self.cluster_of(agent)
        others[agent] = False
        return self.server[others].sum(axis=0)

    def adopt(self, slot, agents, rows):
        self.others[agents] = rows

    def forget(self, slot, agents):
        self.own[agents] = self.others[agents] = self.sent[agents] = 0

    def figures(self):
        return {"clusters": int(connected_components(self.linked, directed=False)[0])}
