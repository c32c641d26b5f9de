"""Learners derived from ours."""

from typing import ClassVar

import numpy as np

import netbandit as nb
from netbandit.bandits.bernoulli import Bernoulli
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


class Counted(Ucb):
    """Has answered for good once it knows enough observations, whoever decides when."""

    counts_slots: ClassVar[bool] = False
    enough: int = 60

    def stopped(self, agents):
        return self.known.pulls[agents].sum(axis=1) >= self.enough


class Sure(Counted):
    """Answers what it is told to, agent 0 perhaps at once."""

    says: list[int] = [0]  # noqa: RUF012
    early: bool = False

    def answers(self, agents):
        return np.resize(self.says, self.world.agents)[agents]

    def stopped(self, agents):
        return super().stopped(agents) | ((agents == 0) & self.early)


class Confident(Counted):
    """Is right with the probability that it is told to be."""

    confidence: float = 0.05


class Own(Bernoulli):
    """Arm 1 is best, but for agent 0 it is arm 0."""

    arms: int | None = 3

    def start(self, agents, generator):
        means = np.tile([0.1, 0.9, 0.2], (agents, 1))
        means[0] = [0.3, 0.2, 0.1]
        self.settle(means, agents)
