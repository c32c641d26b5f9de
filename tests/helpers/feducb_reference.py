"""FedUCB in plain numpy, slot by slot, agent by agent, a matrix inverse in each step; nothing of netbandit is used."""

import heapq
from dataclasses import dataclass, field
from math import ceil, inf, log, log2, sqrt
from zlib import crc32

import networkx as nx
import numpy as np


def stream(purpose, index, seed=0, replication=0):
    key = (replication, crc32(purpose.encode()), index)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


@dataclass
class Setup:
    """What is played, and by which law; the names are the scenario's."""

    agents: int
    dimension: int
    arms: int
    horizon: int
    theta: np.ndarray
    fixed_actions: np.ndarray | None = None
    law: str = "beta"
    epsilon: float = inf
    delta: float = 0.1
    alpha: float = 0.1
    beta_scale: float = 0.1
    threshold: float = 5.0
    every: int = 0
    calibration: str = "paper"
    beta: str = "reconstructed"
    regularizer: float = 1.0
    sets: int = 1
    members: list[int] = field(default_factory=list)  # of each agent
    alone: bool = False


class World:
    """The bandit: what it shows, what it pays."""

    def __init__(self, setup):
        self.setup = setup
        self.luck = [stream("rewards", agent) for agent in range(setup.agents)]
        self.sets = [stream("bandit.actions", agent) for agent in range(setup.agents)]

    def show(self, agent):
        setup, rng = self.setup, self.sets[agent]
        if setup.fixed_actions is not None:
            return setup.fixed_actions
        best = min(int(rng.random() * setup.arms), setup.arms - 1)
        shown = []
        for arm in range(setup.arms):
            low, high = (0.7, 0.8) if arm == best else (0.5, 0.6)
            mean = low + (high - low) * rng.random()
            along = mean / (setup.theta @ setup.theta) * setup.theta
            across = np.array([self._normal(rng) for _ in range(setup.dimension)])
            across -= (across @ setup.theta) / (setup.theta @ setup.theta) * setup.theta
            room = sqrt(1 - along @ along) * rng.random() ** (1 / (setup.dimension - 1))
            shown.append(along + room * across / np.linalg.norm(across))
        return np.array(shown)

    def pay(self, agent, mean):
        if self.setup.law == "beta":
            return self.luck[agent].beta(mean, 1 - mean)
        return 1.0 if self.luck[agent].random() < mean else 0.0

    @staticmethod
    def _normal(rng):
        while True:
            x, y = 2 * rng.random() - 1, 2 * rng.random() - 1
            if 0 < x * x + y * y < 1:
                return x * sqrt(-2 * log(x * x + y * y) / (x * x + y * y))


class Beliefs:
    """One set of parameters of one agent: Algorithm 1 of Dubey & Pentland, word for word."""

    def __init__(self, setup, agent, number):
        d = setup.dimension
        self.setup, self.M = setup, 1 if setup.alone else setup.members[agent]
        self.private = setup.epsilon < inf and not setup.alone
        self._law()
        self.S, self.s = self.M * self.rho_min * np.eye(d), np.zeros(d)
        self.U, self.u, self.Q = np.zeros((d, d)), np.zeros(d), np.zeros((d + 1, d + 1))
        self.uses, self.quiet, self.lent = 0, False, None
        self.rng, self.leaves, self.nodes = stream(f"tree.{number}", agent), np.zeros((d + 1, d + 1)), {}
        self.releases = 0

    def _law(self):
        one, d = self.setup, self.setup.dimension
        self.kappa, self.Lambda = 0.0, 0.0
        if not self.private:
            self.rho_min = self.rho_max = one.regularizer / self.M
            return
        gamma = one.sets
        # A set is used in every gamma-th slot, and released whenever it has been used often enough.
        n = max(1, ceil(one.horizon / gamma) // ceil(one.every / gamma)) if one.every else one.horizon / gamma
        m = 1 + ceil(log2(max(n, 1)))
        union = log(2 * max(n, 1) * one.agents * gamma**2 / one.alpha)
        if one.calibration == "paper":
            self.sigma_n = sqrt(16 * m * 4 * log(2 / one.delta) ** 2 / one.epsilon**2)
            self.Lambda = sqrt(32) * m * 2 * log(4 / one.delta) * (4 * sqrt(d) + 2 * union) / one.epsilon
        else:
            root = sqrt(log(1 / one.delta))
            self.sigma_n = 2 * sqrt(m / 2) / (sqrt(log(1 / one.delta) + one.epsilon) - root)
            self.Lambda = sqrt(2 * m) * self.sigma_n * (4 * sqrt(d) + 2 * union)
        self.rho_min, self.rho_max = self.Lambda, 3 * self.Lambda
        self.kappa = sqrt(m) * self.sigma_n * (sqrt(d) + sqrt(2 * union)) / sqrt(self.rho_min)
        if one.beta == "paper":
            self.kappa = sqrt(m * 2 * (sqrt(d) + 2 * union) / (sqrt(2) * one.epsilon))

    def beta_t(self, t):
        one, d = self.setup, self.setup.dimension
        growth = log(self.rho_max / self.rho_min + t / (d * self.rho_min))
        first = 0.5 * sqrt(2 * log(2 / one.alpha) + d * growth)
        if one.beta == "paper":
            return first + self.M * sqrt(self.rho_max) + self.M * self.kappa
        return first + sqrt(self.M * self.rho_max) + sqrt(self.M) * self.kappa

    def choose(self, slot, shown):
        inverse = np.linalg.inv(self.S + self.U)
        estimate = inverse @ (self.s + self.u)
        width = self.setup.beta_scale * self.beta_t(slot + 1)
        return int(np.argmax([x @ estimate + width * sqrt(x @ inverse @ x) for x in shown]))

    def learn(self, x, y):
        """Take in a reward; say whether to synchronise."""
        one, d = self.setup, self.setup.dimension
        self.U += np.outer(x, x)
        self.u += y * x
        z = np.append(x, y)
        self.Q += np.outer(z, z)
        self.uses += 1
        if self.quiet or one.alone:
            return False
        if one.every:
            return self.uses * one.sets >= one.every
        inflated = self.S + self.U + self.M * (self.rho_max - self.rho_min) * np.eye(d)
        gained = np.linalg.slogdet(inflated)[1] - np.linalg.slogdet(self.S)[1]
        return gained >= one.threshold / self.uses

    def release(self):
        """Release as the Privatizer does: all leaves so far and the nodes that cover them."""
        d = self.setup.dimension
        self.leaves += self.Q
        self.lent = self.U.copy(), self.u.copy()
        self.Q[:] = 0
        self.uses = 0
        self.releases += 1
        out = self.leaves.copy()
        if self.private:
            drawn = self.rng.standard_normal((d + 1, d + 1))
            self.nodes[self.releases] = self.sigma_n * (drawn + drawn.T) / sqrt(2)
            end = self.releases
            while end:  # the dyadic node that ends here
                out += self.nodes[end]
                end -= end & -end
            out[:d, :d] += 2 * self.Lambda * np.eye(d)
        return out[:d, :d], out[:d, d]

    def adopt(self, released):
        self.S = np.sum([gram for gram, _ in released], axis=0)
        self.s = np.sum([response for _, response in released], axis=0)
        if not self.private:
            self.S = self.S + self.setup.regularizer * np.eye(self.setup.dimension)
        values, vectors = np.linalg.eigh(self.S)
        if values[0] <= 0:
            self.S = vectors @ np.diag(np.maximum(values, self.rho_min)) @ vectors.T
        self.U, self.u = self.U - self.lent[0], self.u - self.lent[1]
        self.quiet = False


def play(setup, world, beliefs, agent, slot):
    own = beliefs[agent][slot % setup.sets]
    shown = world.show(agent)
    arm = own.choose(slot, shown)
    means = shown @ setup.theta
    wants = own.learn(shown[arm], world.pay(agent, means[arm]))
    return arm, means.max() - means[arm], wants


def alone(setup):
    world = World(setup)
    beliefs = [[Beliefs(setup, agent, 0)] for agent in range(setup.agents)]
    return [[play(setup, world, beliefs, i, slot)[0] for i in range(setup.agents)] for slot in range(setup.horizon)]


def central(setup, latency, slot_length):
    """A server: *latency* (ns) of each agent's uplink. Returns the arms (T, M), and when rounds were adopted."""
    world = World(setup)
    agents = range(setup.agents)
    beliefs = [[Beliefs(setup, agent, 0)] for agent in agents]
    arms = np.zeros((setup.horizon, setup.agents), dtype=int)
    adopted, called, uploads = [0] * setup.agents, 0, {}
    adoptions = []
    queue = [(slot * slot_length, 3, 0, "slot", slot, None) for slot in range(setup.horizon)]
    heapq.heapify(queue)
    end, count = setup.horizon * slot_length, 0

    def post(time, turn, what, who, value):
        nonlocal count
        if now >= end:
            return  # nothing starts after the horizon; what is under way arrives
        count += 1
        heapq.heappush(queue, (time, turn, count, what, who, value))

    def upload(now, agent):
        if now < end:
            post(now + latency[agent], 0, "upload", agent, beliefs[agent][0].release())

    while queue:
        now, _, _, what, who, value = heapq.heappop(queue)
        if what == "slot":
            wishes = []
            for agent in agents:
                arms[who, agent], _, wants = play(setup, world, beliefs, agent, who)
                if wants:
                    beliefs[agent][0].quiet = True
                    wishes.append(agent)
            for agent in wishes:
                if setup.every:
                    upload(now, agent)
                else:
                    post(now + latency[agent], 0, "ask", agent, adopted[agent] + 1)
        elif what == "ask" and value > called:
            called = value
            for agent in agents:
                post(now + latency[agent], 0, "call", agent, value)
        elif what == "call":
            beliefs[who][0].quiet = True
            post(now, 4, "release", who, None)
        elif what == "release":
            upload(now, who)
        elif what == "upload":
            uploads[who] = value
            if len(uploads) == setup.agents:
                released = [uploads[agent] for agent in agents]
                uploads = {}
                for agent in agents:
                    post(now + latency[agent], 0, "answer", agent, released)
        elif what == "answer":
            beliefs[who][0].adopt(value)
            adopted[who] += 1
            adoptions.append((now, who))
    return arms, adoptions


def local(setup, graph, ttl, hop):
    """Cliques of the ttl-th power, a hop takes *hop* slots. Returns the arms (T, M) and the adoptions."""
    near = nx.power(graph, ttl) if ttl else nx.empty_graph(setup.agents)
    colours = nx.greedy_color(nx.complement(near), "largest_first")
    cliques = {colour: sorted(i for i in colours if colours[i] == colour) for colour in set(colours.values())}
    setup.members = [
        setup.agents if setup.members == [] else len(cliques[colours[agent]]) for agent in range(setup.agents)
    ]
    world = World(setup)
    beliefs = [[Beliefs(setup, agent, number) for number in range(setup.sets)] for agent in range(setup.agents)]
    arms = np.zeros((setup.horizon, setup.agents), dtype=int)
    delta = ttl * hop
    releases, adoptions, log_ = {}, {}, []
    for slot in range(setup.horizon + 1):
        own = slot % setup.sets
        for clique, number, released in adoptions.pop(slot, []):
            for agent in clique:
                beliefs[agent][number].adopt(released)
                log_.append((slot, agent))
        if slot == setup.horizon:
            break
        fired = []
        for agent in range(setup.agents):
            arms[slot, agent], _, wants = play(setup, world, beliefs, agent, slot)
            if wants:
                fired.append(agent)
        for colour in sorted({colours[agent] for agent in fired}):
            for agent in cliques[colour]:
                beliefs[agent][own].quiet = True
            when = slot if setup.every else slot + delta
            releases.setdefault(when, []).append((cliques[colour], own))
        for clique, number in releases.pop(slot, []):
            released = [beliefs[agent][number].release() for agent in clique]
            adoptions.setdefault(slot + delta, []).append((clique, number, released))
    return arms, log_


def flooded(setup, graph):
    """Calls and items both go one hop a slot, to everybody. Returns the arms (T, M), and the slots of adoptions."""
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    world = World(setup)
    agents = range(setup.agents)
    beliefs = [Beliefs(setup, agent, 0) for agent in agents]
    arms = np.zeros((setup.horizon, setup.agents), dtype=int)
    heard, released, ends, adoptions = {}, {}, None, []
    for slot in range(setup.horizon + 1):
        if slot == ends:
            for agent in agents:
                beliefs[agent].adopt([released[other] for other in agents])
            heard, released, ends = {}, {}, None
            adoptions.append(slot)
        if slot == setup.horizon:
            break
        for agent in agents:
            told = not setup.every and any(heard.get(near) == slot - 1 for near in graph[agent])
            if agent not in heard and told:
                heard[agent] = slot
                beliefs[agent].quiet = True
        for agent in agents:
            arms[slot, agent], _, wants = play(setup, world, [[one] for one in beliefs], agent, slot)
            if wants:
                heard[agent] = slot
                beliefs[agent].quiet = True
        for agent in agents:
            if heard.get(agent) == slot:
                released[agent] = beliefs[agent].release()
        if len(released) == setup.agents and ends is None:
            ends = max(heard[u] + distance[u][v] for u in agents for v in agents)
    return arms, adoptions
