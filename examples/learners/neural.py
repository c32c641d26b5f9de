"""FN-UCB (Less Comm.) in torch: a neural network of each agent, averaged at a server (Dai et al., ICLR 2023).

pip install torch
netbandit run examples/learners/neural.toml
"""

from typing import ClassVar

import numpy as np
from pydantic import Field

import netbandit as nb


class Cosine(nb.ActionSetBandit):
    """Fresh contexts x in every slot, each of which pays cos(3 a'x) and a little noise."""

    dimension_: int = Field(default=10, alias="dimension")
    """The length of a context."""
    arms: int = 4
    """The number of contexts in a slot."""

    def outline(self):
        return nb.Outline(arms=self.arms, dimension=self.dimension_)

    def start(self, agents, generator):
        self.agents, self.arm_count, self.dimension, self.sub_gaussian = agents, self.arms, self.dimension_, 0.01
        liked = generator("bandit.cosine", 0).random(self.dimension)
        self.liked = liked / np.linalg.norm(liked)

    def begin(self, generator):
        self.rngs = [generator("rewards", agent) for agent in range(self.agents)]
        self.shown = [None] * self.agents

    def actions(self, agents):
        for agent in agents:
            if self.shown[agent] is None:
                drawn = self.rngs[agent].random((self.arms, self.dimension)) - 0.5
                self.shown[agent] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return np.array([self.shown[agent] for agent in agents])

    def pull(self, agents, arms):
        means = np.cos(3 * self.actions(agents) @ self.liked)
        paid = means[np.arange(len(arms)), arms]
        noise = np.array([self.rngs[agent].normal(scale=0.01) for agent in agents])
        for agent in agents:
            self.shown[agent] = None
        return paid + noise, means.max(axis=1) - paid


class FnUcb(nb.Learner):
    """Mixes two upper bounds: by gradients at the first network, with the data of all, and by the mean of all networks.

    A row holds the sum of g g' of all gradients g of its agent, that of y g, the inverse of its own matrix, and its
    network: 2 p^2 + 2 p numbers for a network of p.
    """

    plays: ClassVar[str] = "vectors"
    late_rewards: ClassVar[bool] = False

    width: int = 20
    """The neurons of the hidden layer."""
    ridge: float = 0.1
    """lambda, also the weight decay, over the number of rewards."""
    bonus: float = 0.1
    """nu, the factor of both widths of confidence."""
    threshold: float = 0.0
    """D: an agent asks for a round when slots times ln det V since the last one exceed it."""
    mixing: int = 700
    """Slots in which the weight of the mean network grows from 0 to 1."""
    steps: int = 30
    """Steps of gradient descent before an upload, at a rate of 0.01."""

    def start(self, world, agents, rng):
        import torch

        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        self.torch, self.actions, self.inputs = torch, world.actions, world.dimension
        self.size = p = self.width * (self.inputs + 2) + 1
        first = torch.tensor(rng.standard_normal(p), dtype=torch.float32)
        self.first, self.networks, self.mean_network = first, first.repeat(agents, 1), first.repeat(agents, 1)
        self.gradients = torch.func.vmap(torch.func.grad(self.value), (None, 0))
        self.loss = torch.func.grad(lambda theta, x, y: ((self.value(theta, x) - y) ** 2).mean())
        # Sums of gradients: the first p rows the matrix, the last one the vector.
        self.own, self.sent, self.others = np.zeros((3, agents, p + 1, p))
        self.mean_inverse = np.broadcast_to(np.eye(p) / self.ridge, (agents, p, p)).copy()
        self.last, self.answered = np.zeros(agents, dtype=int), np.zeros(agents, dtype=bool)
        self.seen = [([], []) for _ in range(agents)]
        self.latest = [None] * agents
        self.server = {}

    def value(self, theta, x):
        """What a network expects of vectors, shape (..., inputs)."""
        weights = theta[: self.width * self.inputs].view(self.width, self.inputs)
        biases, out = theta[weights.numel() :][: self.width], theta[-self.width - 1 : -1]
        return self.torch.relu(x @ weights.T + biases) @ out + theta[-1]

    def matrix(self, sums):
        return self.ridge * np.eye(self.size) + sums[:-1]

    def bounds(self, values, gradients, inverse):
        widths = np.sqrt(np.einsum("ki,ij,kj->k", gradients, inverse, gradients))
        return values + self.bonus * np.sqrt(self.ridge) * widths

    def choose(self, slot, agents):
        arms = []
        for agent, shown in zip(agents, self.actions(agents), strict=True):
            x = self.torch.tensor(shown, dtype=self.torch.float32)
            gradients = self.gradients(self.first, x).double().numpy()
            sums = self.own[agent] + self.others[agent]
            inverse = np.linalg.inv(self.matrix(sums))
            weight = self.answered[agent] * min(max(slot - 3, 0) / self.mixing, 1)
            bounds = (1 - weight) * self.bounds(gradients @ inverse @ sums[-1], gradients, inverse)
            if weight:
                values = self.value(self.mean_network[agent], x).double().numpy()
                bounds += weight * self.bounds(values, gradients, self.mean_inverse[agent])
            arms.append(int(bounds.argmax()))
            self.latest[agent] = shown[arms[-1]].copy(), gradients[arms[-1]]
        return np.array(arms)

    def learn(self, slot, agents, arms, rewards):
        for agent, reward in zip(agents, rewards, strict=True):
            x, gradient = self.latest[agent]
            self.own[agent, :-1] += np.outer(gradient, gradient)
            self.own[agent, -1] += reward * gradient
            for kept, new in zip(self.seen[agent], (x, reward), strict=True):
                kept.append(new)

    def wants(self, slot, agents):
        news = [
            np.linalg.slogdet(self.matrix(self.own[agent] + self.others[agent]))[1]
            - np.linalg.slogdet(self.matrix(self.sent[agent] + self.others[agent]))[1]
            for agent in agents
        ]
        return (slot + 1 - self.last[agents]) * np.array(news) > self.threshold

    def train(self, agent):
        x, y = (self.torch.tensor(np.array(each), dtype=self.torch.float32) for each in self.seen[agent])
        for _ in range(self.steps):
            decayed = self.ridge / len(y) * self.networks[agent]
            self.networks[agent] -= 0.01 * (self.loss(self.networks[agent], x, y) + decayed)

    def share(self, slot, agents):
        rows = []
        for agent in agents:
            self.train(agent)
            self.sent[agent] = self.own[agent]
            inverse = np.linalg.inv(self.matrix(self.own[agent]))
            rows.append(np.concatenate([self.own[agent].ravel(), inverse.ravel(), self.networks[agent].numpy()]))
        self.last[agents] = slot + 1
        return np.array(rows)

    def serve(self, sources, rows):
        self.server.update(zip(sources.tolist(), rows, strict=True))

    def answer_for(self, agent):
        rows, sums = np.array([self.server[one] for one in sorted(self.server)]), self.own[0].size
        others = sum((row[:sums] for one, row in sorted(self.server.items()) if one != agent), np.zeros(sums))
        return np.concatenate([others, rows[:, sums:].mean(axis=0)])

    def adopt(self, slot, agents, rows):
        p = self.size
        self.answered[agents] = True
        for agent, row in zip(agents, rows, strict=True):
            self.others[agent] = row[: (p + 1) * p].reshape(p + 1, p)
            self.mean_inverse[agent] = row[(p + 1) * p : -p].reshape(p, p)
            self.mean_network[agent] = self.torch.tensor(row[-p:], dtype=self.torch.float32)

    def item_bytes(self, numbers):
        return 4 * numbers  # as torch sends them
