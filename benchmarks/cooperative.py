"""Cooperative baselines: seconds of a run, everything counted, beside plain numpy without a ledger.

Three figures of the field: RCL on a random graph of 50 agents (p = 0.7, 10 arms, 500 slots), observations going one hop
and three; DDUCB on a cycle of 200 (17 arms, 10,000 slots). Each as it is run, all messages of a slot at once; message
by message, as links of 1 Tbit/s ask for, in fewer slots; and in dense numpy, which counts no message, keeps no curve
and has no fingerprint. Columns: seconds of a run, microseconds a slot, and times what numpy takes a slot. All
seconds are of one processor, so that other work on the machine counts little.
"""

import time
from functools import partial
from math import log, sqrt

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Done, Found, Row, Subject, median_ratio, point_of
from netbandit.learners.dducb import stage_steps, step_factors
from netbandit.protocols.mixing import Mixing, mixing, second_eigenvalue
from netbandit.util.blas_threads import one_blas_thread

PROCESSES, VALUES, WARMUPS = 3, 1, 1
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


def subjects() -> dict[str, Subject]:
    """Return each figure in three ways; a unit of work is a slot."""
    found: dict[str, Subject] = {}
    for ttl in (1, 3):
        text = _SCENARIO.format(
            means=MEANS[10],
            graph=f'family = "random", p = 0.7, agents = {AGENTS}, seed = 0',
            learner='kind = "ucb", exploration = 2.1',
            protocol=f'kind = "local", ttl = {ttl}, route = "flood"',
        )
        name = f"RCL, {ttl} hop{'s' if ttl > 1 else ''}"
        found |= _figure(name, text, HORIZON, partial(_flooded, ttl, HORIZON))
    text = _SCENARIO.format(
        means=MEANS[17],
        graph=f'family = "ring", agents = {CYCLE}',
        learner='kind = "dducb"',
        protocol='kind = "consensus"',
    )
    return found | _figure("DDUCB", text, LONG_HORIZON, partial(_mixed, LONG_HORIZON))


def _figure(name: str, text: str, horizon: int, plain: Subject) -> dict[str, Subject]:
    few = max(30, horizon // FEW)
    return {
        f"{name}: in bulk": partial(_simulated, text, horizon),
        f"{name}: by message": partial(_simulated, text, few, "links.peer.bandwidth=1 Tbit/s"),
        f"{name}: plain numpy": partial(_on_one_thread, plain),
    }


def rows(found: Found) -> list[Row]:
    """Return the seconds of each figure, in three ways."""
    table: list[Row] = []
    for what, one in found.items():
        slots = round(one.counts["slots"])
        numpy = found[f"{what.split(': ')[0]}: plain numpy"]
        row: Row = {"what": what, "slots": slots, "seconds": slots * one.seconds, "µs a slot": 1e6 * one.seconds}
        table.append({**row, "of numpy": median_ratio(one, numpy)})
    return table


def _simulated(text: str, horizon: int, *overrides: str) -> Done:
    point = point_of(text, f"run.horizon={horizon}", *overrides)
    with one_blas_thread():
        began = time.process_time()
        point.simulation(0).run()
        return Done(time.process_time() - began, horizon, {"slots": horizon})


def _on_one_thread(plain: Subject) -> Done:
    with one_blas_thread():
        done = plain()
    return done._replace(counts={"slots": done.work})


def _flooded(ttl: int, horizon: int) -> Done:
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
    return Done(time.process_time() - began, horizon)


def _mixed(horizon: int) -> Done:
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
    return Done(time.process_time() - began, horizon)
