"""Cooperative baselines: seconds of a run, everything counted, beside plain numpy without a ledger.

Three figures of the field: RCL on a random graph of 50 agents (p = 0.7, 10 arms, 500 slots), observations going one hop
and three; DDUCB on a cycle of 200 (17 arms, 10,000 slots). Each as it is run, all messages of a slot at once; message
by message, as links of 1 Tbit/s ask for, in fewer slots; and in dense numpy, which counts no message, keeps no curve
and has no fingerprint. Columns: seconds of a run, microseconds a slot, and times what numpy takes a slot. All
seconds are of one processor, so that other work on the machine counts little.
"""

import time
from collections.abc import Callable
from functools import partial
from math import log, sqrt
from statistics import median
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from netbandit.bench.measure import Row, in_turns, median_ratio
from netbandit.bench.scenario import point_of
from netbandit.learners.dducb import stage_steps, step_factors
from netbandit.protocols.mixing import Mixing, mixing, second_eigenvalue
from netbandit.simulation.blas_threads import one_blas_thread
from netbandit.simulation.point import RunnablePoint

ROUNDS = 3
AGENTS = 50
HORIZON = 500
CYCLE = 200
LONG_HORIZON = 10_000
FEW = 10
"""How many times as few slots there are message by message."""

MEANS = {10: [1.0, *[0.5] * 9], 17: [1.0, *[0.8] * 16]}

_SCENARIO = """
run = {{ horizon = 100 }}
topology = {{ {graph} }}
bandit = {{ kind = "gaussian", means = {means} }}
learner = {{ {learner} }}
protocol = {{ {protocol} }}
"""

Numbers = NDArray[np.float64]
Play = Callable[[int], float]


def bench() -> list[Row]:
    """Return the seconds of each figure, in three ways."""
    rows: list[Row] = []
    rcl = {
        "graph": f'family = "random", p = 0.7, agents = {AGENTS}, seed = 0',
        "learner": 'kind = "ucb", exploration = 2.1',
    }
    for ttl in (1, 3):
        protocol = f'kind = "local", ttl = {ttl}, route = "flood"'
        text = _SCENARIO.format(means=MEANS[10], protocol=protocol, **rcl)
        rows += _figure(f"RCL, {ttl} hop{'s' if ttl > 1 else ''}", text, HORIZON, partial(_flooded, ttl))
    cycle = {
        "graph": f'family = "ring", agents = {CYCLE}',
        "learner": 'kind = "dducb"',
        "protocol": 'kind = "consensus"',
    }
    text = _SCENARIO.format(means=MEANS[17], **cycle)
    rows += _figure("DDUCB", text, LONG_HORIZON, _mixed)
    return rows


def _figure(name: str, text: str, horizon: int, plain: Play) -> list[Row]:
    """Return the rows of one figure."""
    few = max(30, horizon // FEW)
    with TemporaryDirectory() as folder:
        whole = point_of(text, folder, f"run.horizon={horizon}")
        single = point_of(text, folder, f"run.horizon={few}", "links.peer.bandwidth=1 Tbit/s")
    ways: list[tuple[str, int, Callable[[], float]]] = [
        ("in bulk", horizon, partial(_simulated, whole)),
        ("by message", few, partial(_simulated, single)),
        ("plain numpy", horizon, partial(plain, horizon)),
    ]
    with one_blas_thread():
        found = in_turns([way for _, _, way in ways], ROUNDS)
    a_slot = [[1e6 * figure / slots for figure in figures] for (_, slots, _), figures in zip(ways, found, strict=True)]
    return [
        {
            "what": f"{name}: {way}",
            "slots": slots,
            "seconds": median(figures),
            "µs a slot": median(each),
            "of numpy": median_ratio(each, a_slot[-1]),
        }
        for (way, slots, _), figures, each in zip(ways, found, a_slot, strict=True)
    ]


def _simulated(point: RunnablePoint) -> float:
    began = time.process_time()
    point.simulation(0).run()
    return time.process_time() - began


def _flooded(ttl: int, horizon: int) -> float:
    """Play MP-UCB in numpy: what an agent knows of each slot grows hop by hop, in one product a hop."""
    graph = nx.gnp_random_graph(AGENTS, 0.7, seed=0)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    away = np.array([[hops[one].get(other, AGENTS) for other in range(AGENTS)] for one in range(AGENTS)])
    rings = [(away == distance).astype(float) for distance in range(1, ttl + 1)]
    rng, everybody, means = np.random.default_rng(0), np.arange(AGENTS), np.array(MEANS[10])
    arms = len(means)
    known = np.zeros((AGENTS, 2 * arms))
    seen = np.zeros((ttl + 1, AGENTS, 2 * arms))
    regret = 0.0
    began = time.process_time()
    for slot in range(horizon):
        for distance, ring in enumerate(rings, start=1):
            if slot >= distance:
                known += ring @ seen[(slot - distance) % (ttl + 1)]
        if slot < arms:
            chosen = np.full(AGENTS, slot)
        else:
            pulls = known[:, :arms]
            chosen = (known[:, arms:] / pulls + sqrt(4.2 * log(slot)) / np.sqrt(pulls)).argmax(axis=1)
        rewards = means[chosen] + rng.standard_normal(AGENTS)
        now = seen[slot % (ttl + 1)]
        now[:] = 0.0
        now[everybody, chosen] = 1.0
        now[everybody, arms + chosen] = rewards
        known += now
        regret += float((means.max() - means[chosen]).sum())
    return time.process_time() - began


def _mixed(horizon: int) -> float:
    """Play DDUCB in numpy: a product with P in every slot."""
    edges = np.array(nx.cycle_graph(CYCLE).edges)
    matrix: Mixing = mixing(CYCLE, edges, "max-degree")
    left = second_eigenvalue(matrix)
    factors = step_factors(stage_steps(CYCLE, left, 1 / 22), left)
    dense = matrix.dense()
    rng, everybody, means = np.random.default_rng(0), np.arange(CYCLE), np.array(MEANS[17])
    arms = len(means)
    alpha, beta, before, gamma, delta = np.zeros((5, CYCLE, 2 * arms))
    step, time_known, played, regret = 0, float(arms), arms, 0.0
    began = time.process_time()
    for slot in range(horizon):
        if slot < arms:
            chosen = np.full(CYCLE, slot)
        else:
            pulls = alpha[:, :arms]
            bonus = np.sqrt(4 * log(time_known) / CYCLE / pulls)
            chosen = (alpha[:, arms:] / pulls + bonus).argmax(axis=1)
        rewards = means[chosen] + rng.standard_normal(CYCLE)
        regret += float((means.max() - means[chosen]).sum())
        fresh = beta if slot < arms else gamma
        for kept, weight in ((fresh, 1.0), (alpha, 1 / CYCLE)):
            kept[everybody, chosen] += weight
            kept[everybody, arms + chosen] += weight * rewards
        if slot < arms:
            continue
        time_known += 1
        now, then = factors[step]
        before, beta = beta, now * (dense @ beta) - then * before
        step += 1
        if step == len(factors):
            delta += beta
            alpha, beta, gamma = delta.copy(), gamma, np.zeros_like(gamma)
            time_known, played, step = float(CYCLE * played), slot + 1, 0
    return time.process_time() - began
