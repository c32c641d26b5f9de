"""Lock-step references of learners that mix: dense matrices, one slot after the other, no network and no kernels.

Written from the formulas alone. Everybody steps at the slots ``begin + every``, ``begin + 2 every``, ...; with
``every = 1`` that is the papers' time.
"""

from math import ceil, log, sqrt

import networkx as nx
import numpy as np

from netbandit.util.streams import Streams

MEANS = [0.3, 0.5, 0.9, 0.6]
SIGMA = 0.7


def weights(graph, rule="max-degree"):
    """P, shape (M, M)."""
    agents = len(graph)
    adjacent = nx.to_numpy_array(graph, nodelist=range(agents))
    degrees = adjacent.sum(axis=1)
    if rule == "max-degree":
        largest = max(1, degrees.max())
        return np.eye(agents) - (np.diag(degrees) - adjacent) / (largest + 1)
    near = adjacent + np.eye(agents)
    sizes = near.sum(axis=1)
    if rule == "uniform":
        return near / sizes[:, None]
    matrix = adjacent / np.maximum.outer(sizes, sizes)
    return matrix + np.diag(1 - matrix.sum(axis=1))


def rewards(agents, horizon):
    """What decides the reward of each agent in each slot, shape (M, T)."""
    return np.array([Streams(0, 0).generator("rewards", one).standard_normal(horizon) for one in range(agents)])


def best(index):
    return np.argmax(np.where(np.isnan(index), np.inf, index), axis=1)


def coop_ucb2(matrix, horizon, *, gamma=2.0, eta=2.0, every=1, discount=1.0, place=None):
    """The arms of coop-UCB2, shape (T, M); *place*: f of each agent, in place of ``sqrt(ln tau)``, with G = 1."""
    agents, arms = len(matrix), len(MEANS)
    noise = rewards(agents, horizon)
    state, fresh, told, since = np.zeros((4, 2, agents, arms))
    margin = 1 - eta**2 / 16 if place is None else 1
    chosen = []
    for slot in range(horizon):
        if slot and slot % every == 0:
            state = np.einsum("ij,wjk->wik", matrix, told) * discount ** (every - 1)
            own = fresh
        else:
            own = fresh + since
        pulls, sums = state + own / agents
        level = log(slot) if slot else 0.0
        level = np.full((agents, 1), level) if discount == 1 else np.log(np.maximum(pulls.sum(axis=1), 1))[:, None]
        extra = np.sqrt(level) if place is None else np.array(place)[:, None]
        with np.errstate(all="ignore"):
            bonus = SIGMA * np.sqrt(2 * gamma / margin * (pulls + extra) / (agents * pulls) * level / pulls)
            index = np.where(pulls > 0, sums / pulls + bonus, np.inf)
        arm = np.full(agents, slot) if slot < arms else best(index)
        chosen.append(arm)
        state, fresh = state * discount, fresh * discount
        fresh[0, np.arange(agents), arm] += 1
        fresh[1, np.arange(agents), arm] += np.array(MEANS)[arm] + SIGMA * noise[:, slot]
        if slot % every == 0:
            told, since, fresh = state + fresh, fresh, np.zeros_like(fresh)
        else:
            since = since * discount
    return np.array(chosen)


def place_of(matrix):
    """epsilon_c, by powers of ``P - 11'/M`` in place of eigenvectors: M times the diagonal of the sum of even ones."""
    agents = len(matrix)
    square = np.linalg.matrix_power(matrix - 1 / agents, 2)
    total, power = np.zeros(agents), square
    for _ in range(2_000):
        total += np.diag(power)
        power = power @ square
    return agents * total


def dducb(matrix, horizon, *, eta=2.0, precision=1 / 22, stage=None, accelerate=True):
    """The arms of DDUCB, shape (T, M), and what was known when each stage ended: (s, a, pulls until it began)."""
    agents, arms = len(matrix), len(MEANS)
    noise = rewards(agents, horizon)
    moduli = np.sort(np.abs(np.linalg.eigvals(matrix)))
    left = moduli[-2] if agents > 1 else 0.0
    plain = left < 1e-9
    steps = stage or (1 if plain else ceil(log(2 * agents / precision) / sqrt(2 * log(1 / left))))
    beta, gamma, delta = np.zeros((3, 2, agents, arms))
    everybody = np.arange(agents)
    chosen, ends = [], []

    def pull(slot, arm):
        chosen.append(arm)
        seen = np.zeros((2, agents, arms))
        seen[0, everybody, arm] = 1
        seen[1, everybody, arm] = np.array(MEANS)[arm] + SIGMA * noise[:, slot]
        return seen

    for slot in range(min(arms, horizon)):
        beta += pull(slot, np.full(agents, slot))
    alpha, time, begun, counted = beta / agents, arms, arms, beta[0].sum(axis=0)
    now, before, older, newer, step = beta, None, 1.0, None, 0
    pulls = beta[0].sum(axis=0)
    for slot in range(arms, horizon):
        if step == steps:
            if accelerate:
                delta = delta + now
                alpha, now = delta.copy(), gamma
            else:
                alpha, now = now.copy(), now + gamma
            time, begun, gamma, step = agents * begun, slot, np.zeros_like(gamma), 0
            ends.append((time, alpha[0].copy(), counted))
            counted = pulls.copy()
        with np.errstate(all="ignore"):
            index = alpha[1] / alpha[0] + SIGMA * np.sqrt(2 * eta * log(time) / (agents * alpha[0]))
        seen = pull(slot, best(np.where(alpha[0] > 0, index, np.inf)))
        pulls = pulls + seen[0].sum(axis=0)
        gamma = gamma + seen
        alpha = alpha + seen / agents
        time += 1
        mixed = np.einsum("ij,wjk->wik", matrix, now)
        if step == 0 or not accelerate or plain:
            before, now, older, newer = now, mixed, 1.0, 1 / max(left, 1e-9)
        else:
            newest = 2 * newer / left - older
            before, now = now, 2 * newer / (newest * left) * mixed - older / newest * before
            older, newer = newer, newest
        step += 1
    return np.array(chosen), ends


def dec_ucb(matrix, graph, horizon, *, theorem=2, every=1):
    """The arms of Dec_UCB, shape (T, M)."""
    agents, arms = len(matrix), len(MEANS)
    noise = rewards(agents, horizon)
    near = (nx.to_numpy_array(graph, nodelist=range(agents)) + np.eye(agents)) > 0
    everybody = np.arange(agents)
    pulls, sums, estimate, most, told_estimate, told_most, told_mean = np.zeros((7, agents, arms))
    chosen = []
    for slot in range(horizon):
        if slot < arms:
            arm = np.full(agents, slot)
        else:
            if slot == arms:
                estimate, most = sums / pulls, pulls.copy()
            elif (slot - arms) % every == 0:
                estimate = matrix @ told_estimate + sums / pulls - told_mean
                most = np.array([np.maximum(pulls[one], told_most[near[one]].max(axis=0)) for one in everybody])
            size = near.sum(axis=1)[:, None]
            inside = 3 * log(slot) / (size * pulls) if theorem == 2 else 4 * log(slot) / (3 * pulls)
            arm = best(estimate + 2 * SIGMA * np.sqrt(inside))
            behind = pulls <= most - arms
            arm = np.where(behind.any(axis=1), behind.argmax(axis=1), arm)
            if (slot - arms) % every == 0:
                told_estimate, told_most, told_mean = estimate.copy(), most.copy(), sums / pulls
        chosen.append(arm)
        mean = sums[everybody, arm] / np.maximum(pulls[everybody, arm], 1)
        pulls[everybody, arm] += 1
        sums[everybody, arm] += np.array(MEANS)[arm] + SIGMA * noise[:, slot]
        if slot >= arms:
            estimate[everybody, arm] += sums[everybody, arm] / pulls[everybody, arm] - mean
    return np.array(chosen)
