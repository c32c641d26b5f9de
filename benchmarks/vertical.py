"""Vertical federation: slots a second with masks and messages, beside the same learner without.

100 columns, 10 arms, 5 participants. Plain is the learner's own loop over contexts as the world draws them.
"""

import time
from functools import partial

import numpy as np

from benchmarks.measure import Done, Found, Row, Subject, median_ratio, point_of
from netbandit.bandits.vertical_context import VerticalContextBandit
from netbandit.learners.gathering import GatherLearner
from netbandit.simulation.replication import RunnablePoint
from netbandit.util.streams import Streams

PROCESSES, VALUES, WARMUPS = 3, 2, 1
SLOTS = 10_000
LEARNERS = ("linucb", "lints")

_SCENARIO = """
topology = { family = "star", agents = 5 }
links = { peer = { latency = "200 us", bandwidth = "1 Gbit/s" } }
bandit = { kind = "vertical", dimension = 100, arms = 10 }
protocol = { kind = "vertical", timing = "asynchronous" }
"""

_WAYS: dict[str, tuple[str, ...]] = {
    "messages, in the clear": ("protocol.masks=false",),
    "messages and masks": (),
    "messages, masks, secure sum": ("protocol.secure_sum=true",),
}


def subjects() -> dict[str, Subject]:
    """Return each learner, plain and gathered; a unit of work is a slot."""
    found: dict[str, Subject] = {}
    for learner in LEARNERS:
        found[f"{learner}, plain"] = partial(_plain, learner)
        found |= {f"{learner}, {way}": partial(_gathered, learner, *changes) for way, changes in _WAYS.items()}
    return found


def rows(found: Found) -> list[Row]:
    """Return slots a second for each learner, plain and gathered, and how many times as long a slot takes."""
    table: list[Row] = []
    for learner in LEARNERS:
        for way in ("plain", *_WAYS):
            one, plain = found[f"{learner}, {way}"], found[f"{learner}, plain"]
            row: Row = {"learner": learner, "with": way, "slots_per_s": 1 / one.seconds}
            table.append({**row, "times": median_ratio(one, plain)})
    return table


def _point(learner: str, *overrides: str) -> RunnablePoint:
    return point_of(_SCENARIO, f"run.horizon={SLOTS}", f"learner.kind={learner}", *overrides)


def _gathered(learner: str, *overrides: str) -> Done:
    point = _point(learner, *overrides)
    began = time.perf_counter()
    decided = point.simulation(0).run().metrics["rounds"]
    seconds = time.perf_counter() - began
    assert decided == SLOTS
    return Done(seconds, SLOTS)


def _plain(learner_kind: str) -> Done:
    """Make as many decisions of the learner alone."""
    point = _point(learner_kind)
    began = time.perf_counter()
    generator = Streams(0, 0).generator
    bandit, learner = point.bandit.fresh(), point.learner.fresh()
    assert isinstance(bandit, VerticalContextBandit)
    assert isinstance(learner, GatherLearner)
    bandit.start(5, generator)
    learner.start(bandit.seen)
    regret = 0.0
    for block in range(-(-SLOTS // bandit.block)):
        users = bandit.users(block, generator)
        count = min(bandit.block, SLOTS - block * bandit.block)
        normals = np.empty((0, bandit.seen))
        if learner.draws_normals:
            normals = generator("exploration", block).standard_normal((count, bandit.seen))
        arms = learner.play(users.contexts[:count], users.rewards[:count], normals)
        regret += float(users.regrets[np.arange(count), arms].sum())
    seconds = time.perf_counter() - began
    assert regret > 0
    return Done(seconds, SLOTS)
