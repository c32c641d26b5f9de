"""Agents that tell each other what they know of all, and count where an effect arrives before its cause."""

import numpy as np

import netbandit as nb


class Clocks(nb.Learner):
    """Sends the newest slot of each agent that it knew when it decided, and looks whether it knows what others knew."""

    def start(self, world, agents, rng):
        self.causal, self.newest = world.causal(), np.full((agents, agents), -1)
        self.told = np.full((agents, agents), -1)
        self.overtaken = np.zeros((agents, agents), dtype=np.int64)

    def choose(self, slot, agents):
        self.told[agents] = self.newest[agents]
        return np.zeros(len(agents), dtype=np.int64)

    def learn(self, slot, agents, arms, rewards):
        self.newest[agents, agents] = slot

    def share(self, slot, agents):
        return self.told[agents].astype(float)

    def receive(self, slot, agents, sources, payloads, sent_slots):
        np.maximum.at(self.newest, (agents, sources), sent_slots)
        late = payloads > self.newest[agents]
        late[np.arange(len(agents)), agents] = False  # over rounds agents that do not decide send, too
        np.add.at(self.overtaken, agents, late)

    def figures(self):
        heard = self.newest >= 0  # what never arrives cannot arrive too late
        return {"causal": int(self.causal), "overtaken": int(self.overtaken[heard].sum())}
