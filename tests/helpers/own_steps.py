"""Learners of a user's own that are written in steps."""

from math import log, sqrt

import numpy as np

import netbandit as nb

EXPLORES = 0.3
TABLE = [0.1, 0.2]


def upper(self, agent, arm, level):
    return self.sums[agent, arm] / self.pulls[agent, arm] + sqrt(level / self.pulls[agent, arm])


class Counting(nb.StepLearner):
    """UCB1, with a way out of a loop, a method, and a function."""

    width: float = 2.0

    def start(self, world, agents, rng):
        self.pulls, self.sums = np.zeros((2, agents, world.arms))
        self.told = np.zeros((agents, 2))
        self.notes = {}
        self.count = 0

    def level(self, slot):
        return self.width * log(slot + 1)

    def choose_one(self, slot, agent):
        for arm in range(self.pulls.shape[1]):
            if self.pulls[agent, arm] == 0:
                return arm
        best = 0
        for arm in range(self.pulls.shape[1]):
            if upper(self, agent, arm, self.level(slot)) > upper(self, agent, best, self.level(slot)):
                best = arm
        return best

    def learn_one(self, slot, agent, arm, reward):
        self.pulls[agent, arm] += 1
        self.sums[agent, arm] += reward
        self.told[agent, 0] = arm
        self.told[agent, 1] = reward


class Telling(Counting):
    """Hears what its neighbours have seen."""

    def share(self, slot, agents):
        return self.told[agents]

    def receive(self, slot, agents, sources, told, said):
        arms = told[:, 0].astype(int)
        np.add.at(self.pulls, (agents, arms), 1)
        np.add.at(self.sums, (agents, arms), told[:, 1])


class Random(Counting):
    """Draws from a generator of each agent."""

    def start(self, world, agents, rng):
        super().start(world, agents, rng)
        self.rngs = [world.streams.generator("own", agent) for agent in range(agents)]

    def choose_one(self, slot, agent):
        arms = self.pulls.shape[1]
        if self.rngs[agent].random() < EXPLORES:
            return int(self.rngs[agent].random() * arms)
        return int(np.argmax(self.sums[agent] / np.maximum(self.pulls[agent], 1.0)))


class Calling(Counting):
    """Wants to share when it has seen enough; adopts the mean."""

    def start(self, world, agents, rng):
        super().start(world, agents, rng)
        self.since = np.zeros(agents)

    def learn_one(self, slot, agent, arm, reward):
        self.pulls[agent, arm] += 1
        self.sums[agent, arm] += reward
        self.since[agent] += 1

    def wants_one(self, slot, agent):
        return self.since[agent] >= 40

    def share(self, slot, agents):
        self.since[agents] = 0
        return self.sums[agents] / np.maximum(self.pulls[agents], 1)

    def adopt(self, slot, agents, combined):
        self.sums[agents] = combined * self.pulls[agents]


class Overridden(Counting):
    """Has a method in place of a step."""

    def choose(self, slot, agents):
        return np.zeros(len(agents), dtype=np.int64)


class Assigns(Counting):
    def learn_one(self, slot, agent, arm, reward):
        super_count = self.count + 1
        self.count = super_count  # here


class Reads(Counting):
    def learn_one(self, slot, agent, arm, reward):
        self.notes[agent] = arm  # here


class Opens(Counting):
    def learn_one(self, slot, agent, arm, reward):
        with open("/dev/null"):  # here
            pass


class Formats(Counting):
    def choose_one(self, slot, agent):
        return int(f"{agent:.0f}") % 3  # here


class Lists(Counting):
    def choose_one(self, slot, agent):
        return int(TABLE[0])  # here


class Wrong(Counting):
    def choose_one(self, slot, agent):
        return slot + 2
