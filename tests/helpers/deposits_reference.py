"""Agents that upload to a server and hear from it, in plain numpy, in lock step; what is sent are differences.

As the papers have it: an upload is what is new since the last one, and the server sends an agent what others have
uploaded since it sent it something. Nothing of netbandit is used but the streams.
"""

from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np
from helpers.feducb_reference import World, stream


@dataclass
class Setup:
    """What is played, and by which law; the names are the scenario's."""

    agents: int
    dimension: int
    arms: int
    horizon: int
    latency: list[int]  # one way, in slots, of each agent
    answer: str = "uploader"
    decide: str = "all"
    upload: float = 2.0
    push: float = 2.0
    regularizer: float = 1.0
    radius: object = 0.5
    delta: float = 0.1
    theta: np.ndarray | None = None
    fixed_actions: np.ndarray | None = None
    law: str = "beta"
    turns: list = field(default_factory=list)  # who decides in each slot; nothing: everybody


class Sums:
    """A matrix, a vector and a count, that can be added up."""

    def __init__(self, dimension, start=0.0):
        self.gram, self.response, self.count = start * np.eye(dimension), np.zeros(dimension), 0

    def add(self, other):
        self.gram = self.gram + other.gram
        self.response = self.response + other.response
        self.count += other.count

    def see(self, x, y):
        self.gram = self.gram + np.outer(x, x)
        self.response = self.response + y * x
        self.count += 1

    @property
    def log_det(self):
        return np.linalg.slogdet(self.gram)[1]


class Agent:
    def __init__(self, setup):
        self.known = Sums(setup.dimension, setup.regularizer)  # all it knows
        self.received = Sums(setup.dimension, setup.regularizer)  # all that came from the server, its own included
        self.base = Sums(setup.dimension, setup.regularizer)  # what it knows but has not to send any more
        self.fresh = Sums(setup.dimension)
        self.quiet = False


def radius(setup, sums):
    if not isinstance(setup.radius, str):
        return setup.radius
    d, lam = setup.dimension, setup.regularizer
    grown = d * log(1 + sums.count / (d * lam)) if setup.radius == "trace" else sums.log_det - d * log(lam)
    return 0.5 * sqrt(grown + 2 * log(1 / setup.delta)) + sqrt(lam)


def play(setup):
    """Return the regret, uploads, downloads, and how many observations each decision lacked in the mean."""
    world, agents = World(setup), [Agent(setup) for _ in range(setup.agents)]
    total = Sums(setup.dimension, setup.regularizer)
    given = [Sums(setup.dimension, setup.regularizer) for _ in agents]  # what each knows, as the server has it
    missing = [Sums(setup.dimension) for _ in agents]  # what others have uploaded since each was sent anything
    missing_own = [Sums(setup.dimension) for _ in agents]  # what it has itself
    up, down = {}, {}
    regret, uploads, downloads, existing, unseen, decisions = 0.0, 0, 0, 0, 0, 0
    for slot in range(setup.horizon):
        for agent, others, own in down.pop(slot, []):
            one = agents[agent]
            one.known.add(others)
            one.base.add(others)
            one.received.add(others)
            one.received.add(own)
            one.quiet = False
        deciding = setup.turns[slot] if setup.turns else range(setup.agents)
        for agent in deciding:
            one = agents[agent]
            by = one.known if setup.decide == "all" else one.received
            unseen += existing - by.count
            inverse = np.linalg.inv(by.gram)
            shown = world.show(agent)
            scores = [x @ inverse @ by.response + radius(setup, by) * sqrt(max(x @ inverse @ x, 0)) for x in shown]
            arm = int(np.argmax(scores))
            means = shown @ setup.theta
            reward = world.pay(agent, means[arm])
            regret += means.max() - means[arm]
            one.known.see(shown[arm], reward)
            one.fresh.see(shown[arm], reward)
        decisions += len(deciding)
        existing += len(deciding)
        for agent in deciding:
            one = agents[agent]
            if one.quiet or not one.fresh.count or not one.known.log_det - one.base.log_det > log(setup.upload):
                continue
            uploads += 1
            up.setdefault(slot + setup.latency[agent], []).append((agent, one.fresh))
            one.base.add(one.fresh)
            one.fresh = Sums(setup.dimension)
            one.quiet = setup.answer == "uploader"
        arrived = sorted(up.pop(slot, []), key=lambda one: one[0])
        for agent, sums in arrived:
            total.add(sums)
            given[agent].add(sums)
            for other in range(setup.agents):
                (missing_own if other == agent else missing)[other].add(sums)
        if not arrived:
            continue
        if setup.answer == "uploader":
            to = sorted({agent for agent, _ in arrived})
        else:
            to = [
                agent
                for agent in range(setup.agents)
                if missing[agent].count and total.log_det - given[agent].log_det > log(setup.push)
            ]
        for agent in to:
            downloads += 1
            given[agent].add(missing[agent])
            when = max(slot + setup.latency[agent], slot + 1)
            down.setdefault(when, []).append((agent, missing[agent], missing_own[agent]))
            missing[agent], missing_own[agent] = Sums(setup.dimension), Sums(setup.dimension)
    return {"regret": regret, "uploads": uploads, "downloads": downloads, "unseen": unseen / decisions}


def one_a_slot(agents, horizon):
    """Return who decides in each slot where one does, uniformly."""
    drawn = stream("activity", 0)
    return [[min(int(drawn.random() * agents), agents - 1)] for _ in range(horizon)]
