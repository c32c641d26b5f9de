"""Compiled steps of a learner that believes in an ellipsoid: choose by an upper bound, learn from what was paid.

Every agent keeps one or several sets of parameters; ``[s, i]`` is set s of agent i. The agent's matrix is
``V = S + U``: S was synchronised, U is its own since then. V is kept as its inverse, updated by Sherman and Morrison's
formula; with arms that stay the same, so are the estimate ``<x, theta_hat>`` and the squared width ``x' V^-1 x`` of
each arm, which follow from ``z = V^-1 x`` of the arm chosen: 2 d^2 + K d operations a decision.
"""

from math import log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

REFRESH = 1_024
"""Decisions after which the inverse is made afresh from V, so that rounding does not pile up."""

Floats = NDArray[np.float64]


class Ellipsoids(NamedTuple):
    """What all agents believe.

    Attributes:
        shared_gram, shared_response: S and s, shapes (sets, M, d, d) and (sets, M, d).
        own_gram, own_response: U and u, same shapes.
        leaf_response, leaf_square: The last column of Q, with rewards clipped to [-1, 1]; shapes (sets, M, d) and
            (sets, M).
        inverse, estimate: V^-1 and theta_hat, shapes (sets, M, d, d) and (sets, M, d).
        inflated: (V + c I)^-1 where the test inflates V, else of no size; shape (sets, M, d, d) or (sets, M, 0, 0).
        log_ratio: log det(V + c I) - log det(S), shape (sets, M).
        fits, widths: ``<x, theta_hat>`` and ``x' V^-1 x`` of arms that stay the same, shape (sets, M, K); K = 0
            where they do not.
        uses: Decisions since the last release, shape (sets, M), int64.
        updates: Decisions since the inverse was made afresh, shape (sets, M), int64.
        quiet: Whether the agent makes no test because a synchronisation is under way, shape (sets, M), bool.
        inflation: c of each agent, shape (M,).
    """

    shared_gram: Floats
    shared_response: Floats
    own_gram: Floats
    own_response: Floats
    leaf_response: Floats
    leaf_square: Floats
    inverse: Floats
    estimate: Floats
    inflated: Floats
    log_ratio: Floats
    fits: Floats
    widths: Floats
    uses: NDArray[np.int64]
    updates: NDArray[np.int64]
    quiet: NDArray[np.bool_]
    inflation: Floats


def ellipsoids(sets: int, agents: int, dimension: int, arms: int, inflation: Floats) -> Ellipsoids:
    """Return room for the beliefs of all agents, nothing learnt yet; `shared_gram` must be filled before use.

    Args:
        sets: Sets of parameters an agent.
        agents: The number M of agents.
        dimension: d.
        arms: The number K of arms if they stay the same, else 0.
        inflation: What the test adds to V, times the identity, shape (M,).
    """
    matrices = (sets, agents, dimension, dimension)
    vectors = (sets, agents, dimension)
    tested = dimension if inflation.any() else 0
    return Ellipsoids(
        shared_gram=np.zeros(matrices),
        shared_response=np.zeros(vectors),
        own_gram=np.zeros(matrices),
        own_response=np.zeros(vectors),
        leaf_response=np.zeros(vectors),
        leaf_square=np.zeros((sets, agents)),
        inverse=np.zeros(matrices),
        estimate=np.zeros(vectors),
        inflated=np.zeros((sets, agents, tested, tested)),
        log_ratio=np.zeros((sets, agents)),
        fits=np.zeros((sets, agents, arms)),
        widths=np.zeros((sets, agents, arms)),
        uses=np.zeros((sets, agents), dtype=np.int64),
        updates=np.zeros((sets, agents), dtype=np.int64),
        quiet=np.zeros((sets, agents), dtype=np.bool_),
        inflation=inflation,
    )


@njit(cache=True)
def refresh(beliefs, param_set, agent, arms):  # type: ignore[no-untyped-def]
    """Make all that follows from S, U, s and u afresh, for *param_set* of *agent*.

    Args:
        beliefs: `Ellipsoids`.
        param_set: The set.
        agent: The agent.
        arms: The arms that stay the same, one a column, shape (d, K); K = 0 where they do not.
    """
    shared = beliefs.shared_gram[param_set, agent]
    gram = shared + beliefs.own_gram[param_set, agent]
    inverse = np.linalg.inv(gram)
    dimension = len(gram)
    for row in range(dimension):  # rounding must not make it lopsided: columns are read as rows
        for column in range(row):
            middle = 0.5 * (inverse[row, column] + inverse[column, row])
            inverse[row, column] = middle
            inverse[column, row] = middle
    beliefs.inverse[param_set, agent] = inverse
    response = beliefs.shared_response[param_set, agent] + beliefs.own_response[param_set, agent]
    estimate = inverse @ response
    beliefs.estimate[param_set, agent] = estimate
    for arm in range(arms.shape[1]):
        fit = 0.0
        width = 0.0
        for row in range(dimension):
            fit += arms[row, arm] * estimate[row]
            partial = 0.0
            for column in range(dimension):
                partial += inverse[row, column] * arms[column, arm]
            width += arms[row, arm] * partial
        beliefs.fits[param_set, agent, arm] = fit
        beliefs.widths[param_set, agent, arm] = width
    if beliefs.inflated.shape[2]:
        for row in range(dimension):
            gram[row, row] += beliefs.inflation[agent]
        beliefs.inflated[param_set, agent] = np.linalg.inv(gram)
    beliefs.log_ratio[param_set, agent] = np.linalg.slogdet(gram)[1] - np.linalg.slogdet(shared)[1]
    beliefs.updates[param_set, agent] = 0


@njit(cache=True)
def copy(beliefs, param_set, source, agent):  # type: ignore[no-untyped-def]
    """Let *agent* believe in *param_set* all that *source* does; only where neither has anything of its own."""
    beliefs.inverse[param_set, agent] = beliefs.inverse[param_set, source]
    beliefs.estimate[param_set, agent] = beliefs.estimate[param_set, source]
    beliefs.inflated[param_set, agent] = beliefs.inflated[param_set, source]
    beliefs.log_ratio[param_set, agent] = beliefs.log_ratio[param_set, source]
    beliefs.fits[param_set, agent] = beliefs.fits[param_set, source]
    beliefs.widths[param_set, agent] = beliefs.widths[param_set, source]
    beliefs.updates[param_set, agent] = 0


@njit(cache=True)
def choose_fixed(beliefs, param_set, agent, bonus):  # type: ignore[no-untyped-def]
    """Return the arm with the largest ``<x, theta_hat> + bonus sqrt(x' V^-1 x)``, the lowest index among equals."""
    fits = beliefs.fits[param_set, agent]
    widths = beliefs.widths[param_set, agent]
    best = 0
    highest = -np.inf
    for arm in range(len(fits)):
        score = fits[arm] + bonus * sqrt(max(widths[arm], 0.0))
        if score > highest:
            highest = score
            best = arm
    return best


@njit(cache=True)
def choose_fresh(beliefs, param_set, agent, bonus, actions):  # type: ignore[no-untyped-def]
    """Return the same for *actions* that are new in this slot, shape (K, d)."""
    inverse = beliefs.inverse[param_set, agent]
    estimate = beliefs.estimate[param_set, agent]
    count, dimension = actions.shape
    best = 0
    highest = -np.inf
    for arm in range(count):
        action = actions[arm]
        fit = 0.0
        width = 0.0
        for row in range(dimension):
            fit += action[row] * estimate[row]
            partial = 0.0
            for column in range(dimension):
                partial += inverse[row, column] * action[column]
            width += action[row] * partial
        score = fit + bonus * sqrt(max(width, 0.0))
        if score > highest:
            highest = score
            best = arm
    return best


@njit(cache=True)
def _divide(inverse, action, product):  # type: ignore[no-untyped-def]
    """Update *inverse* for one more ``x x'`` (Sherman and Morrison); leave ``V^-1 x`` of before in *product*.

    Returns:
        ``x' V^-1 x`` of before.
    """
    dimension = len(action)
    for row in range(dimension):
        product[row] = 0.0
    for column in range(dimension):  # symmetric: whole rows are added up, which compiles to vectors
        weight = action[column]
        line = inverse[column]
        for row in range(dimension):
            product[row] += weight * line[row]
    width = 0.0
    for row in range(dimension):
        width += action[row] * product[row]
    scale = 1.0 / (1.0 + width)
    for column in range(dimension):
        weight = scale * product[column]
        line = inverse[column]
        for row in range(dimension):
            line[row] -= weight * product[row]
    return width


@njit(cache=True)
def learn(beliefs, param_set, agent, action, reward, arms, product):  # type: ignore[no-untyped-def]
    """Take in what *action* paid.

    Args:
        beliefs: `Ellipsoids`.
        param_set: The set that chose.
        agent: The agent.
        action: x, shape (d,), no longer than 1.
        reward: y.
        arms: The arms that stay the same, one a column, shape (d, K); K = 0 where they do not.
        product: Room for d numbers.
    """
    dimension = len(action)
    estimate = beliefs.estimate[param_set, agent]
    expected = 0.0
    for row in range(dimension):
        expected += action[row] * estimate[row]
    width = _divide(beliefs.inverse[param_set, agent], action, product)
    scale = 1.0 / (1.0 + width)
    step = (reward - expected) * scale
    count = arms.shape[1]
    for row in range(dimension):
        estimate[row] += step * product[row]
    if count:
        fits = beliefs.fits[param_set, agent]
        widths = beliefs.widths[param_set, agent]
        for arm in range(count):
            along = 0.0
            for row in range(dimension):
                along += arms[row, arm] * product[row]
            fits[arm] += step * along
            widths[arm] -= scale * along * along
    gram = beliefs.own_gram[param_set, agent]
    response = beliefs.own_response[param_set, agent]
    leaf = beliefs.leaf_response[param_set, agent]
    clipped = min(max(reward, -1.0), 1.0)
    for row in range(dimension):
        weight = action[row]
        line = gram[row]
        for column in range(dimension):
            line[column] += weight * action[column]
        response[row] += reward * weight
        leaf[row] += clipped * weight
    beliefs.leaf_square[param_set, agent] += clipped * clipped
    if beliefs.inflated.shape[2]:
        width = _divide(beliefs.inflated[param_set, agent], action, product)
    beliefs.log_ratio[param_set, agent] += log1p(width)
    beliefs.uses[param_set, agent] += 1
    beliefs.updates[param_set, agent] += 1
    if beliefs.updates[param_set, agent] >= REFRESH:
        refresh(beliefs, param_set, agent, arms)


@njit(cache=True)
def wants(beliefs, param_set, agent, threshold, every, sets):  # type: ignore[no-untyped-def]
    """Return whether *agent* wants to synchronise *param_set* after its decision.

    Args:
        beliefs: `Ellipsoids`.
        param_set: The set.
        agent: The agent.
        threshold: D of ``log det(V + c I) - log det(S) >= D / (t - t')``, t - t' counted in uses of the set.
        every: Slots from one synchronisation to the next, or 0 where the test decides.
        sets: Sets an agent keeps.
    """
    if beliefs.quiet[param_set, agent]:
        return False
    uses = beliefs.uses[param_set, agent]
    if every:
        return uses * sets >= every
    return beliefs.log_ratio[param_set, agent] * uses >= threshold


@njit(cache=True)
def bonus_in(terms, dimension, slot):  # type: ignore[no-untyped-def]
    """Return what the width of an arm is multiplied with, in *slot*, from 0.

    Args:
        terms: Scale times sigma, ``2 ln(2 / alpha)``, ``rho_max / rho_min``, ``d rho_min``, scale times what does not
            grow, and the slot in which the agent began, shape (6,).
        dimension: d.
        slot: The slot.
    """
    growth = log(terms[2] + (slot + 1 - terms[5]) / terms[3])
    return terms[0] * sqrt(terms[1] + dimension * growth) + terms[4]


@njit(cache=True)
def choose_fixed_all(beliefs, param_set, slot, agents, bonus_terms):  # type: ignore[no-untyped-def]
    """Return what `choose_fixed` does for each of *agents*, shape (n,)."""
    dimension = beliefs.estimate.shape[2]
    arms = np.empty(agents.size, dtype=np.int64)
    for row in range(agents.size):
        agent = agents[row]
        arms[row] = choose_fixed(beliefs, param_set, agent, bonus_in(bonus_terms[agent], dimension, slot))
    return arms


@njit(cache=True)
def choose_fresh_all(beliefs, param_set, slot, agents, bonus_terms, shown):  # type: ignore[no-untyped-def]
    """Return what `choose_fresh` does for each of *agents*, who see the actions *shown*, shape (n, K, d)."""
    dimension = beliefs.estimate.shape[2]
    arms = np.empty(agents.size, dtype=np.int64)
    for row in range(agents.size):
        agent = agents[row]
        arms[row] = choose_fresh(beliefs, param_set, agent, bonus_in(bonus_terms[agent], dimension, slot), shown[row])
    return arms


@njit(cache=True)
def learn_all(beliefs, param_set, agents, actions, rewards, columns):  # type: ignore[no-untyped-def]
    """Let each of *agents* `learn` what its action, a row of *actions*, paid."""
    product = np.empty(actions.shape[1])
    for row in range(agents.size):
        learn(beliefs, param_set, agents[row], actions[row], rewards[row], columns, product)


@njit(cache=True)
def wants_all(beliefs, param_set, agents, thresholds, every, sets):  # type: ignore[no-untyped-def]
    """Return what `wants` does for each of *agents*, shape (n,)."""
    found = np.zeros(agents.size, dtype=np.bool_)
    for row in range(agents.size):
        agent = agents[row]
        found[row] = wants(beliefs, param_set, agent, thresholds[agent], every, sets)
    return found
