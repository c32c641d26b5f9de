"""A market: P-FCB with 10 agents, 30 producers and 10^5 slots, and where its time goes.

A share is what is saved where a part is taken out of the loop that makes the decisions: compiled without drawing, so
that of each quantity always the median is good, or with an oracle that asks for no threshold, which here hardly ever
binds. Either way the agents decide much as before.
"""

import time
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Done, Found, Row, Subject, point_of
from netbandit.bandits.procurement import Procurement
from netbandit.compilation.steps import Compiled
from netbandit.conditions.turns import EverySlot
from netbandit.learners.pfcb import Pfcb
from netbandit.learners.world import World
from netbandit.simulation.bandit_environments import MarketEnvironment, RewardNumbers
from netbandit.simulation.drivers import slot_loop
from netbandit.simulation.regret import SlotAccount
from netbandit.simulation.replication import RunnablePoint
from netbandit.util.streams import Streams

PROCESSES, VALUES, WARMUPS = 3, 2, 1
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


def subjects() -> dict[str, Subject]:
    """Return a simulation, its loop with and without its parts, and for orientation single choices of quantities."""
    found: dict[str, Subject] = {"one simulation": _simulated, "loop": _loop}
    found |= {"undrawn": partial(_loop, "undrawn", draws=False), "unchosen": partial(_loop, "unchosen")}
    for kind, choices in (("greedy", _greedy_choices), ("exact", _exact_choices)):
        found |= {f"one {kind} choice, threshold {one}": partial(choices, one) for one in THRESHOLDS}
    return found


def rows(found: Found) -> list[Row]:
    """Return the seconds of a simulation, of its parts, and microseconds of single choices."""
    whole, loop, undrawn, unchosen, *_ = (one.seconds for one in found.values())
    drawing, oracle = loop - undrawn, loop - unchosen
    parts = {"one simulation": whole, "drawing": drawing, "oracle": oracle, "all else": whole - drawing - oracle}
    table: list[Row] = [
        {"what": name, "value": part, "unit": "s", "share": part / whole} for name, part in parts.items()
    ]
    choices = list(found.items())[4:]
    return table + [{"what": name, "value": 1e6 * one.seconds, "unit": "µs", "share": ""} for name, one in choices]


def _simulated() -> Done:
    point = point_of(_SCENARIO)
    began = time.perf_counter()
    point.simulation(0).run()
    return Done(time.perf_counter() - began)


def _loop(variant: str = "whole", *, draws: bool = True) -> Done:
    """Make as many decisions in the loop alone, of agents that never hear of each other."""
    return Done(played(point_of(_SCENARIO), variant, draws=draws)[0])


def played(point: RunnablePoint, variant: str = "whole", *, draws: bool = True) -> tuple[float, Pfcb]:
    """Return the seconds of the loop alone, and what the agents know after it."""
    horizon = point.scenario.run.horizon
    streams = Streams(0, 0)
    bandit, learner = point.bandit.fresh(), point.learner.fresh()
    assert isinstance(bandit, Procurement)
    assert isinstance(learner, Pfcb)
    bandit.start(point.topology(0).agents, streams.generator)
    world = MarketEnvironment(bandit)
    members = np.ones(bandit.agents, dtype=np.int64)
    told = World(agents=bandit.agents, horizon=horizon, streams=streams, members=members, **world.facts())
    learner.start(told, bandit.agents, streams.generator("learner"))
    began = time.perf_counter()
    world.start(streams.generator, horizon)
    if not draws:
        world.numbers = RewardNumbers(streams.generator, bandit.agents, horizon, _halves, bandit.producers)
    objects = {
        "turns": EverySlot(bandit.agents, 1, horizon),
        "world": world,
        "learner": learner,
        "account": SlotAccount.open(bandit.agents, horizon, each=True),
        "feedback": None,
    }
    first = world.ready(0, 0)
    _take_out(variant, world, learner)
    play = Compiled(slot_loop.markets, objects, f"market_{variant}")
    while first < horizon:
        world.ready(first, horizon)
        play(first, world.numbers.last)
        first = world.numbers.last
    return time.perf_counter() - began, learner


def _halves(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    return np.full(count, 0.5)


_VARIANTS: dict[str, Any] = {}


def _take_out(variant: str, world: Any, learner: Any) -> None:
    """Have the loop search for nothing that is drawn, or ask for no threshold."""
    from numba import njit

    if "_mean" not in _VARIANTS:
        _VARIANTS.update({one.__name__: njit(one) for one in (_mean, _all_that_pays)})
    if variant == "undrawn":
        world.draws = SimpleNamespace(quantile=_VARIANTS["_mean"])
        world.tables = world.tables._replace(levels=np.ones_like(world.tables.levels))  # where a search begins, it ends
    elif variant == "unchosen":
        learner._procure = _VARIANTS["_all_that_pays"]


def _mean(chance: float, bought: int, quality: float) -> int:
    return int(bought * quality + 0.5)


def _all_that_pays(
    qualities: NDArray[np.float64],
    revenues: NDArray[np.float64],
    capacities: NDArray[np.float64],
    threshold: float,
    order: NDArray[np.int64],
    quantities: NDArray[np.float64],
) -> None:
    for producer in range(qualities.shape[0]):
        quantities[producer] = capacities[producer] if revenues[producer] >= 0.0 else 0.0


Instance = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


def _instances(count: int) -> Iterator[Instance]:
    """Yield qualities, revenues and capacities of random markets."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        qualities = rng.random(30)
        yield qualities, qualities - rng.random(30), rng.integers(1, 51, 30)


def _greedy_choices(threshold: float) -> Done:
    """Make many greedy choices, called from compiled code."""
    from netbandit.learners.greedy import choose
    from netbandit.util.jit import njit

    if "many" not in _VARIANTS:

        @njit
        def many(
            qualities: NDArray[np.float64],
            revenues: NDArray[np.float64],
            capacities: NDArray[np.float64],
            threshold: float,
            order: NDArray[np.int64],
            quantities: NDArray[np.float64],
        ) -> None:
            for row in range(qualities.shape[0]):
                choose(qualities[row], revenues[row], capacities[row], threshold, order, quantities)

        _VARIANTS["many"] = many
    columns = [np.array(column) for column in zip(*_instances(CALLS), strict=True)]
    began = time.perf_counter()
    _VARIANTS["many"](*columns, threshold, np.zeros(30, dtype=np.int64), np.zeros(30))
    return Done(time.perf_counter() - began, CALLS)


def _exact_choices(threshold: float) -> Done:
    """Make some exact choices, by scipy's milp."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    instances = list(_instances(PROGRAMMES))
    whole = np.ones(30, dtype=np.int64)
    began = time.perf_counter()
    for qualities, revenues, capacities in instances:
        constraint = LinearConstraint((qualities - threshold)[None, :], lb=0.0)
        milp(-revenues, integrality=whole, bounds=Bounds(0, capacities), constraints=constraint)
    return Done(time.perf_counter() - began, PROGRAMMES)
