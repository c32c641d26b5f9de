"""What learners that decide in slots are told, made up."""

import numpy as np

from netbandit.learners.world import World
from netbandit.util.streams import Streams


def world(agents, *, horizon=1_000, streams=None, members=None, shown=None, **facts):
    """Return the world of some agents; *shown*: a list whose first element is shown to everybody as the actions."""
    actions = (lambda who: np.broadcast_to(shown[0], (len(who), *shown[0].shape))) if shown is not None else None
    return World(
        agents=agents,
        horizon=horizon,
        streams=streams or Streams(0, 0),
        members=np.array(members or [agents] * agents),
        actions=actions,
        **facts,
    )


class OneByOne:
    """A learner of vectors, one agent and one set of parameters at a time."""

    def __init__(self, learner, agents, *, sets=1, **facts):
        self.shown = [np.zeros((1, facts["dimension"]))]
        self.sets = learner.replicas(sets)
        for param_set, one in enumerate(self.sets):
            told = world(agents, shown=self.shown, sets=sets, param_set=param_set, **facts)
            one.start(told, agents, np.random.default_rng(0))

    def __getattr__(self, name):
        return getattr(self.sets[0], name)

    def choose(self, agent, own, slot, actions):
        self.shown[0] = np.asarray(actions)
        return int(self.sets[own].choose(slot, np.array([agent]))[0])

    def learn(self, agent, own, action, reward):
        self.shown[0] = np.asarray(action)[None, :]
        who = np.array([agent])
        self.sets[own].learn(0, who, np.array([0]), np.array([float(reward)]))
        return bool(not self.beliefs.quiet[own, agent] and self.sets[own].wants(0, who)[0])

    def release(self, agent, own):
        return self.sets[own].share(0, np.array([agent]))[0]

    def adopt(self, agent, own, combined):
        self.sets[own].adopt(0, np.array([agent]), combined)
