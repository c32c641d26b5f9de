"""Vertical federation: slots a second with masks and messages, beside the same learner without.

100 columns, 10 arms, 5 participants. Plain is the learner's own loop over contexts as the world draws them.
"""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from netbandit.bandits.vertical_context import VerticalContextBandit
from netbandit.bench.measure import Row, in_turns, median_ratio
from netbandit.bench.scenario import point_of
from netbandit.learners.linear import GatherLearner
from netbandit.simulation.point import RunnablePoint
from netbandit.streams import Streams

ROUNDS = 7
SLOTS = 10_000
LEARNERS = ("linucb", "lints")

_SCENARIO = """
topology = { family = "star", agents = 5 }
links = { peer = { latency = "200 us", bandwidth = "1 Gbit/s" } }
bandit = { kind = "vertical", dimension = 100, arms = 10 }
protocol = { kind = "vertical", timing = "asynchronous" }
"""

_WAYS = {
    "messages, in the clear": ("protocol.masks=false",),
    "messages and masks": (),
    "messages, masks, secure sum": ("protocol.secure_sum=true",),
}


def bench() -> list[Row]:
    """Return slots a second for each learner, plain and gathered, and how many times as long a slot takes."""
    rows: list[Row] = []
    for learner in LEARNERS:
        with TemporaryDirectory() as folder:
            points = [
                point_of(_SCENARIO, folder, f"run.horizon={SLOTS}", f"learner.kind={learner}", *overrides)
                for overrides in _WAYS.values()
            ]
        subjects: list[Callable[[], float]] = [partial(_plain, points[0])]
        subjects += [partial(_gathered, point) for point in points]
        seconds = in_turns(subjects, ROUNDS)
        for way, taken in zip(("plain", *_WAYS), seconds, strict=True):
            rows.append(
                {
                    "learner": learner,
                    "with": way,
                    "slots_per_s": SLOTS / median(taken),
                    "times": median_ratio(taken, seconds[0]),
                }
            )
    return rows


def _gathered(point: RunnablePoint) -> float:
    """Return the seconds of a run."""
    began = time.perf_counter()
    decided = point.simulation(0).run().metrics["rounds"]
    seconds = time.perf_counter() - began
    assert decided == SLOTS
    return seconds


def _plain(point: RunnablePoint) -> float:
    """Return the seconds of as many decisions of the learner alone."""
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
    return seconds
