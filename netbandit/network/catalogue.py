"""The families of connected graphs: the keys of each, what cannot be, and how it is drawn."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbandit.network import generators
from netbandit.network.generators import Edges
from netbandit.settings import Problem, Raw


@dataclass(frozen=True)
class Family:
    """A family of connected graphs.

    Attributes:
        links: Draws the links of one graph, from a generator, the number of agents and the keys.
        expected: The number of links to expect, from the number of agents and the keys.
        keys: The keys it has beside `agents`, with their defaults; None where there is none.
        redraw: The key to blame when no draw is connected; None where every draw is.
        check: Yields what cannot be, given the number of agents and the keys.
    """

    links: Callable[[np.random.Generator, int, Raw], Edges]
    expected: Callable[[int, Raw], float]
    keys: Mapping[str, Any]
    redraw: str | None = None
    check: Callable[[int, Raw], Iterator[Problem]] = lambda agents, keys: iter(())


def _check_ring(agents: int, keys: Raw) -> Iterator[Problem]:
    if agents < 3:
        yield ("agents",), f"a ring has at least 3 agents, not {agents}"


def _check_tree(agents: int, keys: Raw) -> Iterator[Problem]:
    if keys["branching"] < 1:
        yield ("branching",), f"must be at least 1, not {keys['branching']}"


def _check_random(agents: int, keys: Raw) -> Iterator[Problem]:
    p, mean_degree = keys["p"], keys["mean_degree"]
    if p is None and mean_degree is None:
        yield ("p",), 'missing; the family "random" needs p (of a link) or mean_degree'
    elif p is not None and mean_degree is not None:
        yield ("mean_degree",), "excludes p: give one of the two"
    elif p is not None and not (0 <= p <= 1):
        yield ("p",), f"must be a probability between 0 and 1, not {p:g}"
    elif p == 0 and agents > 1:
        yield ("p",), "must be above 0: without a link the graph is never connected"
    elif mean_degree is not None and not (mean_degree > 0):
        yield ("mean_degree",), f"must be above 0, not {mean_degree:g}"
    elif mean_degree is not None and 1 < agents < mean_degree + 1:
        yield ("mean_degree",), f"must be at most {agents - 1}, one less than the agents, not {mean_degree:g}"


def _check_regular(agents: int, keys: Raw) -> Iterator[Problem]:
    degree = keys["degree"]
    if degree is None:
        yield ("degree",), 'missing; the family "regular" needs the number of links of each agent'
    elif not 0 <= degree < agents:
        yield ("degree",), f"must be from 0 to {agents - 1}, one less than the agents, not {degree}"
    elif agents * degree % 2:
        yield ("degree",), f"must be even, as the number of agents ({agents}) is odd, not {degree}"
    elif degree < min(2, agents - 1):
        yield ("degree",), f"must be at least {min(2, agents - 1)} for {agents} agents to be connected, not {degree}"


def _check_small_world(agents: int, keys: Raw) -> Iterator[Problem]:
    degree, p = keys["degree"], keys["p"]
    if degree < 2 or degree % 2:
        yield ("degree",), f"must be an even number, at least 2, not {degree}"
    elif degree >= agents:
        yield ("degree",), f"must be less than the number of agents ({agents}), not {degree}"
    if not 0 <= p <= 1:
        yield ("p",), f"must be a probability between 0 and 1, not {p:g}"


def _check_scale_free(agents: int, keys: Raw) -> Iterator[Problem]:
    if not 1 <= keys["attach"] < agents:
        yield ("attach",), f"must be at least 1 and less than the number of agents ({agents}), not {keys['attach']}"


def _check_geometric(agents: int, keys: Raw) -> Iterator[Problem]:
    if keys["reach"] is not None and not keys["reach"] > 0:
        yield ("reach",), f"must be above 0, not {keys['reach']:g}"


def _probability(agents: int, keys: Raw) -> float:
    if keys["p"] is not None:
        return float(keys["p"])
    return min(1.0, float(keys["mean_degree"]) / max(1, agents - 1))


def _reach(agents: int, keys: Raw) -> float:
    """Return the reach in sides of the square; by default just above the threshold of connectivity."""
    if keys["reach"] is not None:
        return float(keys["reach"])
    return math.sqrt(2 * math.log(agents) / (math.pi * agents))


def _all_pairs(agents: int) -> float:
    return agents * (agents - 1) / 2


FAMILIES: dict[str, Family] = {
    "star": Family(lambda rng, n, keys: generators.star(n), lambda n, keys: n - 1, {}),
    "ring": Family(lambda rng, n, keys: generators.ring(n), lambda n, keys: n, {}, check=_check_ring),
    "complete": Family(lambda rng, n, keys: generators.complete(n), lambda n, keys: _all_pairs(n), {}),
    "path": Family(lambda rng, n, keys: generators.path(n), lambda n, keys: n - 1, {}),
    "grid": Family(lambda rng, n, keys: generators.grid(n), lambda n, keys: 2 * n, {}),
    "tree": Family(
        lambda rng, n, keys: generators.tree(n, keys["branching"]),
        lambda n, keys: n - 1,
        {"branching": 2},
        check=_check_tree,
    ),
    "random": Family(
        lambda rng, n, keys: generators.random(rng, n, _probability(n, keys)),
        lambda n, keys: _all_pairs(n) * _probability(n, keys),
        {"p": None, "mean_degree": None},
        redraw="p",
        check=_check_random,
    ),
    "regular": Family(
        lambda rng, n, keys: generators.regular(rng, n, keys["degree"]),
        lambda n, keys: n * keys["degree"] / 2,
        {"degree": None},
        redraw="degree",
        check=_check_regular,
    ),
    "small-world": Family(
        lambda rng, n, keys: generators.small_world(rng, n, keys["degree"], keys["p"]),
        lambda n, keys: n * keys["degree"] / 2,
        {"degree": 4, "p": 0.1},
        redraw="p",
        check=_check_small_world,
    ),
    "scale-free": Family(
        lambda rng, n, keys: generators.scale_free(rng, n, keys["attach"]),
        lambda n, keys: n * keys["attach"],
        {"attach": 2},
        check=_check_scale_free,
    ),
    "geometric": Family(
        lambda rng, n, keys: generators.geometric(rng, n, _reach(n, keys)),
        lambda n, keys: _all_pairs(n) * min(1.0, math.pi * _reach(n, keys) ** 2),
        {"reach": None},
        redraw="reach",
        check=_check_geometric,
    ),
}
"""The families of connected graphs by the names that a scenario gives them."""
