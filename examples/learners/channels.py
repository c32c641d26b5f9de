"""Collisions: radios that choose among channels, where two on the same channel get nothing through.

Radios never talk. Musical Chairs: Rosenski, Shamir, Szlak (ICML 2016); MCTopM: Besson, Kaufmann (ALT 2018).

netbandit run examples/learners/channels.toml
"""

import numpy as np

import netbandit as nb


class Channels(nb.ArmBandit):
    """What a channel lets through in a slot, uniform around its mean, if one agent alone is on it; else 0."""

    means: list[float] = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1]
    """The mean of each channel, strictly between 0 and 1."""

    @property
    def law(self):
        return "other"

    def start(self, agents, generator):
        self.agents, self.qualities = agents, np.array(self.means)
        self.spread = np.minimum(self.qualities, 1 - self.qualities)  # rewards are above 0, so 0 says that it collided
        self.decisions = self.collided = 0

    def means_at(self, slot):
        return self.qualities

    def alone(self, arms):
        return np.bincount(arms)[arms] == 1

    def pull(self, slot, agents, arms, numbers):
        alone = self.alone(arms)
        self.decisions += len(arms)
        self.collided += int((~alone).sum())
        return alone * (self.qualities[arms] + (2 * numbers - 1) * self.spread[arms])

    def regrets(self, slot, agents, arms):
        """Against the best that those who decide can have together: the best channels, one each."""
        best = np.sort(self.qualities)[::-1][: len(arms)]
        return best.sum() / len(arms) - self.alone(arms) * self.qualities[arms]

    def figures(self):
        return {"collisions": self.collided / max(self.decisions, 1)}


class Radio:
    """What one agent knows: its own rewards, where it did not collide."""

    def __init__(self, arms, players, rng):
        self.arms, self.players, self.rng = arms, players, rng
        self.pulls, self.sums = np.zeros((2, arms))
        self.collided = False

    def choose(self, slot, actions):
        return int(self.rng.integers(self.arms))

    def learn(self, slot, arm, reward, vector):
        self.collided = reward == 0
        self.pulls[arm] += not self.collided
        self.sums[arm] += reward


class Chair(Radio):
    """Musical Chairs: explore at random, count the players by the collisions, then take a chair and stay."""

    def __init__(self, explore, *radio):
        super().__init__(*radio)
        self.explore, self.collisions, self.chair = explore, 0, None

    def choose(self, slot, actions):
        if slot < self.explore:
            return super().choose(slot, actions)
        if self.chair is not None:
            return self.chair
        free = max(1 - self.collisions / self.explore, 1e-9)
        players = min(1 + round(np.log(free) / np.log(1 - 1 / self.arms)), self.arms)
        return int(self.rng.choice(np.argsort(-self.sums / np.maximum(self.pulls, 1))[:players]))

    def learn(self, slot, arm, reward, vector):
        super().learn(slot, arm, reward, vector)
        if slot < self.explore:
            self.collisions += self.collided
        elif not self.collided:
            self.chair = arm


class Hopper(Radio):
    """MCTopM with the indices of UCB1: leave a channel that is not among the best; sit down where nobody is."""

    def __init__(self, *radio):
        super().__init__(*radio)
        self.at, self.seated = int(self.rng.integers(self.arms)), False
        self.bounds = np.full(self.arms, np.inf)

    def choose(self, slot, actions):
        before, pulls = self.bounds, np.maximum(self.pulls, 1e-9)
        self.bounds = self.sums / pulls + np.sqrt(np.log(slot + 1) / (2 * pulls))
        best = np.argsort(-self.bounds, kind="stable")[: self.players]
        if self.at not in best:
            worse = best[before[best] <= before[self.at]]
            self.at, self.seated = int(self.rng.choice(worse if len(worse) else best)), False
        elif self.collided and not self.seated:
            self.at = int(self.rng.choice(best))
        else:
            self.seated = True
        return self.at


class Anywhere(nb.AgentLearner):
    """Any channel in every slot."""

    def make(self, world, agent, rng):
        return Radio(world.arms, world.agents, rng)


class MusicalChairs(nb.AgentLearner):
    """A `Chair` for each agent."""

    explore: int = 300
    """Slots of exploration."""

    def make(self, world, agent, rng):
        return Chair(self.explore, world.arms, world.agents, rng)


class MCTopM(nb.AgentLearner):
    """A `Hopper` for each agent, who knows how many they are."""

    def make(self, world, agent, rng):
        return Hopper(world.arms, world.agents, rng)
