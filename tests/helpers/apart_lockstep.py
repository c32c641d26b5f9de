"""Elimination over a tree of each source that reaches so many hops, once more, slot by slot and as plainly as can be.

Links take no time, so an item moves one hop a slot. Nothing here is of the simulator but its draws.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Played:
    phases: list = field(default_factory=list)
    pulls: list = field(default_factory=list)
    items: int = 0
    dones: int = 0
    late: int = 0


def distances(edges, agents):
    near = defaultdict(set)
    for first, second in edges:
        near[first].add(second)
        near[second].add(first)
    table = []
    for source in range(agents):
        far = {source: 0}
        queue = [source]
        for node in queue:
            for other in sorted(near[node]):
                if other not in far:
                    far[other] = far[node] + 1
                    queue.append(other)
        table.append(far)
    return table


class Agent:
    def __init__(self, number, arms, horizon, sharing, epsilon, streams):
        self.number, self.k, self.t, self.n0, self.epsilon = number, arms, horizon, sharing, epsilon
        self.rewards = streams.generator("rewards", number)
        self.noise = streams.generator("noise", number)
        self.arms = list(range(arms))
        self.pulled = 0
        self.sums = dict.fromkeys(self.arms, 0)
        self.shared = dict.fromkeys(self.arms, 0.0)
        self.epoch = 0
        self.heard = defaultdict(dict)  # round -> source -> (means by arm, S)
        self.done = {}  # agent -> the first round that it takes no part in
        self.gone_on = set()
        self.committed = None

    def logs(self):
        r = self.epoch
        return math.log(8 * len(self.arms) * r * r * self.t), math.log(8 * self.k * r * r * self.t)

    def begin(self):
        self.epoch += 1
        r = self.epoch
        active, everything = self.logs()
        need = 8 * active * 4**r / self.n0
        if self.epsilon < math.inf:
            need = max(need, 8 * r * math.sqrt(2 * everything) * 2**r / (self.n0**1.5 * self.epsilon))
        self.before, self.pulled = self.pulled, max(math.ceil(need), self.pulled + 1)
        return self.pulled - self.before

    def observe(self, means):
        n = self.pulled - self.before
        drawn = self.rewards.binomial(n, means[np.ix_([self.number], self.arms)])[0]
        shift = np.zeros(len(self.arms))
        if self.epsilon < math.inf:
            shift = self.noise.laplace(0, 1 / (self.n0 * self.epsilon * n), (1, len(self.arms)))[0]
        for arm, count, more in zip(self.arms, drawn.tolist(), shift, strict=True):
            self.sums[arm] += count
            self.shared[arm] = self.before / self.pulled * self.shared[arm] + n / self.pulled * (count / n + more)
        self.best = max(self.arms, key=lambda arm: (self.sums[arm], -arm))
        return {arm: self.shared[arm] for arm in self.arms}, self.pulled

    def conclude(self):
        items = self.heard[self.epoch].values()
        active, everything = self.logs()
        mean, width = {}, {}
        for arm in self.arms:
            named = [(means[arm], pulls) for means, pulls in items if arm in means]
            n = len(named)
            mean[arm] = math.fsum(value for value, _ in named) / n
            width[arm] = math.sqrt(active * sum(1 / s for _, s in named) / 2) / n
            if self.epsilon < math.inf:
                squares = sum(1 / s**2 for _, s in named)
                width[arm] += self.epoch * math.sqrt(8 * everything) * math.sqrt(squares) / (self.n0 * self.epsilon * n)
        surely = max(mean[arm] - width[arm] for arm in self.arms)
        best = max(self.arms, key=lambda arm: (mean[arm], -arm))
        self.arms = [arm for arm in self.arms if surely < mean[arm] + width[arm]]
        if len(self.arms) == 1:
            self.committed = best


def play(*, edges, agents, means, horizon, ttl, deadline, epsilon, streams):
    """Return all that agents do; *deadline* in slots, or None."""
    far = distances(edges, agents)
    within = [{other for other, hops in far[agent].items() if 0 < hops <= ttl} for agent in range(agents)]
    players = [
        Agent(agent, means.shape[1], horizon, 1 + len(within[agent]), epsilon, streams) for agent in range(agents)
    ]
    out = Played()
    arriving = defaultdict(list)  # slot -> (agent, what)
    stage = [("begin", 0)] * agents  # what each does, and since when
    until = [0] * agents

    def tell(agent, slot, what):
        for other, hops in far[agent].items():
            if 0 < hops <= ttl and slot + hops - 1 < horizon:
                arriving[slot + hops].append((other, what))

    def go_on(player, slot, heard):
        since = stage[player.number][1]
        out.phases.append((player.number, "exploit", player.epoch, since, min(slot, horizon)))
        out.pulls += [player.best] * (min(slot, horizon) - since)
        player.gone_on.add(player.epoch)
        if heard:
            player.conclude()
        del player.heard[player.epoch]
        stage[player.number] = "begin", slot

    for slot in range(horizon + 1):
        for agent, (kind, source, number, item) in sorted(arriving.pop(slot, []), key=lambda one: one[0]):
            player = players[agent]
            if kind == "done":
                player.done[source] = number
            elif number in player.gone_on:
                out.late += 1
            elif player.committed is None or stage[agent][0] != "over":
                player.heard[number].setdefault(source, item)
        again = True
        while again:
            again = False
            for player in players:
                agent = player.number
                what, since = stage[agent]
                if what == "explore" and until[agent] == slot < horizon:
                    item = player.observe(means)
                    player.heard[player.epoch][agent] = item
                    tell(agent, slot, ("item", agent, player.epoch, item))
                    out.items += reached(far[agent], ttl, slot, horizon)
                    stage[agent] = "wait", slot
                    again = True
                elif what == "wait":
                    here = player.heard[player.epoch]
                    missing = [
                        other
                        for other in within[agent]
                        if other not in here and player.done.get(other, player.epoch + 1) > player.epoch
                    ]
                    if not missing:
                        go_on(player, slot, True)
                        again = True
                    elif deadline is not None and slot == since + deadline:
                        go_on(player, slot, len(here) > 1)
                        again = True
                elif what == "begin" and slot < horizon:
                    if player.committed is not None:
                        out.phases.append((agent, "exploit", 0, slot, horizon))
                        out.pulls += [player.committed] * (horizon - slot)
                        tell(agent, slot, ("done", agent, player.epoch + 1, None))
                        out.dones += reached(far[agent], ttl, slot, horizon)
                        stage[agent] = "over", slot
                    else:
                        pulls = player.begin()
                        end = slot + pulls * len(player.arms)
                        played = [arm for arm in player.arms for _ in range(pulls)][: horizon - slot]
                        out.phases.append((agent, "explore", player.epoch, slot, min(end, horizon)))
                        out.pulls += played
                        until[agent] = end
                        stage[agent] = "explore", slot
                    again = True
    for player in players:
        what, since = stage[player.number]
        if what == "wait" and since < horizon:
            out.phases.append((player.number, "exploit", player.epoch, since, horizon))
            out.pulls += [player.best] * (horizon - since)
    return out


def reached(far, ttl, slot, horizon):
    """Return how many messages along a tree are put on links, one for each node that is reached."""
    return sum(1 for hops in far.values() if 0 < hops <= ttl and slot + hops - 1 < horizon)
