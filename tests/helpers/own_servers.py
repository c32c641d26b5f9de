"""Learners with servers of their own."""

import numpy as np

import netbandit as nb
from netbandit.learners.oful import Oful
from netbandit.learners.uploads import Own, Total, Upload


class Grouped(nb.Learner):
    """Pulls what paid most in its group, after each arm once; all that an agent knows goes up every few decisions."""

    every: int = 3
    """Decisions between uploads."""
    groups: int = 1
    """The agents of a group are neighbours in number."""

    def start(self, world, agents, rng):
        self.agents, self.arms = agents, world.arms
        self.own, self.others = np.zeros((2, agents, 2 * world.arms))
        self.decided = np.zeros(agents, dtype=int)
        self.server = np.zeros((agents, 2 * world.arms))
        self.adopted = []

    def choose(self, slot, agents):
        pulls, sums = np.split(self.own[agents] + self.others[agents], 2, axis=1)
        return np.where(pulls == 0, 1e9, sums / np.maximum(pulls, 1) + 0.1 / np.maximum(pulls, 1)).argmax(axis=1)

    def learn(self, slot, agents, arms, rewards):
        self.own[agents, arms] += 1
        self.own[agents, self.arms + arms] += rewards
        self.decided[agents] += 1

    def wants(self, slot, agents):
        return self.decided[agents] % self.every == 0

    def share(self, slot, agents):
        return self.own[agents]

    def serve(self, sources, rows):
        for source, row in zip(sources.tolist(), rows, strict=True):  # the last of several of one agent stays
            self.server[source] = row

    def group(self, agent):
        size = self.agents // self.groups
        return slice(agent // size * size, agent // size * size + size)

    def answer_for(self, agent):
        return self.server[self.group(agent)].sum(axis=0) - self.server[agent]

    def lagging(self):
        return range(self.agents)

    def adopt(self, slot, agents, rows):
        assert len(set(agents.tolist())) == len(agents)
        self.others[agents] = rows

    def forget(self, slot, agents):
        self.own[agents] = self.others[agents] = 0
        self.decided[agents] = 0


class OwnOful(Oful):
    """`Oful` over a server of its own, whose answer is the sum for all."""

    def deposited(self, agent):
        sums, observations, _ = super().deposit(agent)
        self.resume(agent)  # the run knows who waits
        return np.append(sums, observations)

    def share(self, slot, agents):
        return np.stack([self.deposited(agent) for agent in agents.tolist()])

    def serve(self, sources, rows):
        if not hasattr(self, "server"):
            self.server = self.sum_server()
        self.server.absorb(
            [(int(agent), Upload(row[:-1], int(row[-1]))) for agent, row in zip(sources, rows, strict=True)]
        )

    def lagging(self):
        return self.server.lagging()

    def answer_for(self, agent):
        (own,) = self.server.give([agent])
        return np.concatenate([self.server.total.sums, [self.server.total.observations, own.observations]])

    def answer_numbers(self, numbers):
        return numbers + 1

    def adopt(self, slot, agents, rows):
        for agent, row in zip(agents.tolist(), rows, strict=True):
            self.take(agent, Total(row[:-2].copy(), int(row[-2])), Own(int(row[-1])))
