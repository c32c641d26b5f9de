"""Learners derived from ours."""

import numpy as np

import netbandit as nb
from netbandit.learners.ucb import Ucb


class Sometimes(Ucb):
    """Has nothing to say but in every third slot."""

    def share(self, slot, agents):
        return super().share(slot, agents) if slot % 3 == 1 else None


class Rarely(Ucb):
    """Tells in every tenth slot."""

    def next_share(self, slot):
        return -(-slot // 10) * 10


class Stubborn(Ucb):
    """Thinks arm 0 best, whatever it pays."""

    def choose(self, slot, agents):
        begins = self.known.decided[agents] < self.known.counts[agents]
        return np.where(begins, super().choose(slot, agents), 0)


class Forgetless(nb.Learner):
    """Pulls arm 0, and cannot begin anew."""

    def start(self, world, agents, rng):
        pass

    def choose(self, slot, agents):
        return np.zeros(len(agents), dtype=np.int64)

    def learn(self, slot, agents, arms, rewards):
        pass


class Telling(nb.Learner):
    """Pulls what it has heard most of late, whoever decides when."""

    def start(self, world, agents, rng):
        self.rng = rng
        self.arms = world.arms
        self.heard = np.zeros((agents, world.arms))
        self.last = np.zeros(agents)

    def choose(self, slot, agents):
        random = self.rng.integers(self.arms, size=len(agents))
        return np.where(random == 0, self.heard[agents].argmax(axis=1), random)

    def learn(self, slot, agents, arms, rewards):
        self.last[agents] = 10 * arms + rewards

    def share(self, slot, agents):
        return self.last[agents, None]

    def receive(self, slot, agents, sources, told, said):
        for agent, source, number, then in zip(agents, sources, told[:, 0], said, strict=True):
            self.heard[agent] = 0.9 * self.heard[agent]  # in another order it would be another number
            self.heard[agent, int(number) // 10 % self.arms] += (1 + source + number) / (1 + then)


class Listening(Ucb):
    """Adds what it hears of whom, and when, to `HEARD`."""

    def receive(self, slot, agents, sources, told, said):
        HEARD.extend(zip([slot] * len(agents), agents.tolist(), sources.tolist(), said.tolist(), strict=True))
        super().receive(slot, agents, sources, told, said)


class ListeningRarely(Listening):
    """The same, of what is told in every tenth slot."""

    def next_share(self, slot):
        return -(-slot // 10) * 10


HEARD = []
