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

    def best(self, slot, agents):
        return np.zeros(len(agents), dtype=np.int64)


class Forgetless(nb.Learner):
    """Pulls arm 0, and cannot begin anew."""

    def start(self, world, agents, rng):
        pass

    def choose(self, slot, agents):
        return np.zeros(len(agents), dtype=np.int64)

    def learn(self, slot, agents, arms, rewards):
        pass
