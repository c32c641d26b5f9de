"""A market: P-FCB with 10 agents, 30 producers and 10^5 slots, and where its time goes.

A share is what is saved where a part is taken out: the same loop compiled without drawing, which then takes each
quantity's mean for what is good of it, or with an oracle that asks for no threshold, which here hardly ever binds.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from netbandit.bench.measure import Row, in_turns
from netbandit.bench.scenario import point_of
from netbandit.simulation.exchange import BLOCK, Exchange
from netbandit.simulation.kernels import procurement as market
from netbandit.simulation.parts import PointConfig

ROUNDS = 5
CALLS = 20_000
PROGRAMMES = 100
THRESHOLDS = (0.4, 0.9)

_SCENARIO = """
run = { horizon = 100_000 }
topology = { family = "complete", agents = 10 }
bandit = { kind = "procurement", producers = 30, seed = 1 }
learner = { kind = "pfcb" }
protocol = { kind = "relay" }
"""


def bench() -> list[Row]:
    """Return the seconds of a simulation, of its parts, and for orientation of single choices of quantities."""
    with TemporaryDirectory() as folder:
        point = point_of(_SCENARIO, folder)
    subjects: list[Callable[[], float]] = [
        lambda: _seconds(point),
        lambda: _without_drawing(point),
        lambda: _without_oracle(point),
        *(partial(_greedy_seconds, threshold) for threshold in THRESHOLDS),
        *(partial(_exact_seconds, threshold) for threshold in THRESHOLDS),
    ]
    whole, undrawn, unchosen, *choices = map(median, in_turns(subjects, ROUNDS))
    parts = {"drawing": whole - undrawn, "oracle": whole - unchosen, "all else": undrawn + unchosen - whole}
    kinds = [f"one {kind} choice, threshold {threshold}" for kind in ("greedy", "exact") for threshold in THRESHOLDS]
    rows: list[Row] = [{"what": "one simulation", "value": whole, "unit": "s", "share": 1.0}]
    rows += [{"what": name, "value": part, "unit": "s", "share": part / whole} for name, part in parts.items()]
    for kind, seconds in zip(kinds, choices, strict=True):
        rows.append({"what": kind, "value": 1e6 * seconds, "unit": "µs", "share": ""})
    return rows


def _seconds(point: PointConfig) -> float:
    began = time.perf_counter()
    point.simulation(0).run()
    return time.perf_counter() - began


def _without_drawing(point: PointConfig) -> float:
    with _loop_with("draw", _mean), patch.object(Exchange, "_draw", _no_luck):
        return _seconds(point)


def _without_oracle(point: PointConfig) -> float:
    with _loop_with("choose", _all_that_pays):
        return _seconds(point)


_VARIANTS: dict[str, Any] = {}


@contextmanager
def _loop_with(name: str, part: Callable[..., Any]) -> Iterator[None]:
    """Let the simulation run the loop with another function in place of the one it calls *name*."""
    if name not in _VARIANTS:
        from numba import njit

        plain = market.play.py_func
        _VARIANTS[name] = njit(FunctionType(plain.__code__, {**plain.__globals__, name: njit(part)}))
    with patch.object(market, "play", _VARIANTS[name]):
        yield


def _mean(chance, bought, capacity, quality, tables, start, guides):  # type: ignore[no-untyped-def]
    return int(bought * quality + 0.5)


def _all_that_pays(qualities, revenues, capacities, threshold, order, quantities):  # type: ignore[no-untyped-def]
    for producer in range(qualities.shape[0]):
        quantities[producer] = capacities[producer] if revenues[producer] >= 0.0 else 0.0


def _no_luck(exchange: Exchange) -> None:
    """Stand in for `Exchange._draw`: there are as many slots, and no number is drawn."""
    slots = min(BLOCK, exchange.stage.clock.horizon - exchange._luck_until)
    if exchange._luck.shape[1] != slots:
        exchange._luck = np.zeros((exchange._bandit.agents, slots, exchange._bandit.producers))
    exchange._luck_from = exchange._luck_until
    exchange._luck_until += slots


Instance = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


def _instances(count: int) -> Iterator[Instance]:
    """Yield qualities, revenues and capacities of random markets."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        qualities = rng.random(30)
        yield qualities, qualities - rng.random(30), rng.integers(1, 51, 30)


def _greedy_seconds(threshold: float) -> float:
    """Return the seconds of one greedy choice among many, called from compiled code."""
    from numba import njit

    from netbandit.learners.greedy import choose

    if "many" not in _VARIANTS:

        @njit
        def many(qualities, revenues, capacities, threshold, order, quantities):  # type: ignore[no-untyped-def]
            for row in range(qualities.shape[0]):
                choose(qualities[row], revenues[row], capacities[row], threshold, order, quantities)

        _VARIANTS["many"] = many
    columns = [np.array(column) for column in zip(*_instances(CALLS), strict=True)]
    began = time.perf_counter()
    _VARIANTS["many"](*columns, threshold, np.zeros(30, dtype=np.int64), np.zeros(30))
    return (time.perf_counter() - began) / CALLS


def _exact_seconds(threshold: float) -> float:
    """Return the seconds of one exact choice among some, by scipy's milp."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    instances = list(_instances(PROGRAMMES))
    whole = np.ones(30, dtype=np.int64)
    began = time.perf_counter()
    for qualities, revenues, capacities in instances:
        constraint = LinearConstraint((qualities - threshold)[None, :], lb=0.0)
        milp(-revenues, integrality=whole, bounds=Bounds(0, capacities), constraints=constraint)
    return (time.perf_counter() - began) / PROGRAMMES
