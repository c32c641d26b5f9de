"""Compiled steps of learners with a confidence ellipsoid: choose by an upper bound, learn from the reward.

Every agent keeps one or several sets of parameters; ``[s, i]`` is set s of agent i. The agent's matrix is
``V = S + U``: S was synchronised, U is its own since then. V is kept as its inverse, updated by Sherman and Morrison's
formula; with arms that stay the same, so are the estimate ``<x, theta_hat>`` and the squared width ``x' V^-1 x`` of
each arm, which follow from ``z = V^-1 x`` of the arm chosen: 2 d^2 + K d operations a decision.

Where agents deposit what they know with a server, S holds what they have sent too, U what they have not, and a total
that comes back waits until its agent decides: most totals are replaced by a later one before they are needed, and only
a new S takes d^3 operations.

Loops of decisions leave the d^3 operations to LAPACK, which is called between them: compiled into each loop they took
seconds. Plain functions of one decision are compiled by `netbandit.compilation`, for
`netbandit.learners.ellipsoid_learner`, as parts of loops; what is longer is compiled once, as functions of arrays.
Those of all agents are passed whole, with the place in them: a view costs the loop that makes it more to compile than
the call.
"""

from math import inf, isfinite, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemv
from scipy.linalg.lapack import dgetrf, dgetri

from netbandit.util.jit import Floats, Integers, njit


class Ellipsoids(NamedTuple):
    """The estimates of all agents.

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
        uses: Rewards learned since the last release, shape (sets, M), int64.
        updates: Rewards learned since the inverse was made afresh, shape (sets, M), int64.
        quiet: Whether the agent makes no test because a synchronisation is under way, shape (sets, M), bool.
        inflation: c of each agent, shape (M,).
        received: Whether agents choose by S alone, as they received it: then ``inverse``, ``estimate``, ``fits`` and
            ``widths`` are those of S (of its received part, where it holds what was sent too).
        log_det: log det of the matrix that the agent chooses by, shape (sets, M).
        held: Observations in that matrix, shape (sets, M), int64.
        tally: Observations made by all agents before the present instant, and how many of these decisions have not had
            in their matrix, summed over all decisions; shape (2,), int64.
        waiting: Whether a total waits for each agent, which adopts it before its next decision; shape (M,), bool.
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
    received: bool
    log_det: Floats
    held: NDArray[np.int64]
    tally: NDArray[np.int64]
    waiting: NDArray[np.bool_]


class Trigger(NamedTuple):
    """The conditions under which agents want to share.

    Attributes:
        thresholds: D of ``log det(V + c I) - log det(S) >= D / (t - t')`` of each agent, t - t' counted in rewards
            learned by the set; infinite where that is not tested; shape (M,).
        every: Slots from one synchronisation to the next, or 0 where a test decides.
        growth: What ``log det(V) - log det(S)`` must exceed where agents deposit with a server; negative: they do not.
    """

    thresholds: Floats
    every: int
    growth: float


def ellipsoids(
    sets: int,
    agents: int,
    dimension: int,
    arms: int,
    inflation: Floats,
    *,
    received: bool = False,
) -> Ellipsoids:
    """Return room for the beliefs of all agents, nothing learnt yet; `shared_gram` must be filled before use.

    Args:
        sets: Sets of parameters an agent.
        agents: The number M of agents.
        dimension: d.
        arms: The number K of arms if they stay the same, else 0.
        inflation: What the test adds to V, times the identity, shape (M,).
        received: See `Ellipsoids`.
    """
    matrices = (sets, agents, dimension, dimension)
    vectors = (sets, agents, dimension)
    tested = dimension if received or inflation.any() else 0
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
        received=received,
        log_det=np.zeros((sets, agents)),
        held=np.zeros((sets, agents), dtype=np.int64),
        tally=np.zeros(2, dtype=np.int64),
        waiting=np.zeros(agents, dtype=np.bool_),
    )


_ROWS = 64
"""How many rows of work space LAPACK wants to invert a matrix."""


def _factor(matrix: Floats) -> tuple[Floats, Integers, float]:
    """Return the LU decomposition of *matrix*, shape (d, d), and log det: minus infinity if it is singular."""
    factors, order, singular = dgetrf(matrix)
    log_det = -inf if singular else 0.0
    if not singular:
        for entry in factors.diagonal().tolist():
            log_det += log(abs(entry))
    return factors, order, log_det


def invert(matrix: Floats) -> tuple[Floats, float]:
    """Return the inverse of *matrix*, shape (d, d), and log det.

    Raises:
        numpy.linalg.LinAlgError: The matrix is singular, or not finite.
    """
    factors, order, log_det = _factor(matrix)
    if not isfinite(log_det):
        raise np.linalg.LinAlgError("sums of observations that no matrix is the inverse of")
    inverse, _ = dgetri(factors, order, _ROWS * len(matrix))
    return inverse, log_det


def solve(beliefs: Ellipsoids, param_set: int, agent: int, gram: Floats, response: Floats, arms: Floats) -> float:
    """Have *agent* choose by these sums from now on; return log det of *gram*.

    Args:
        beliefs: See `refresh`, as the following two.
        param_set: The same.
        agent: The same.
        gram: V, shape (d, d).
        response: v, shape (d,).
        arms: See `refresh`.

    Raises:
        numpy.linalg.LinAlgError: V is singular, or not finite.
    """
    found, log_det = invert(gram)
    inverse, estimate = beliefs.inverse[param_set, agent], beliefs.estimate[param_set, agent]
    inverse[:] = 0.5 * (found + found.T)  # rounding must not make it lopsided
    estimate[:] = dgemv(1.0, inverse.T, response)
    beliefs.log_det[param_set, agent] = log_det
    if arms.shape[1]:
        _fit(arms, inverse, estimate, beliefs.fits[param_set, agent], beliefs.widths[param_set, agent])
    return log_det


@njit(cache=True)
def _fit(arms: Floats, inverse: Floats, estimate: Floats, fits: Floats, widths: Floats) -> None:
    """Fill in ``<x, theta_hat>`` and ``x' V^-1 x`` of each of the *arms*."""
    dimension = len(estimate)
    for arm in range(arms.shape[1]):
        fit = 0.0
        width = 0.0
        for row in range(dimension):
            fit += arms[row, arm] * estimate[row]
            partial = 0.0
            for column in range(dimension):
                partial += inverse[row, column] * arms[column, arm]
            width += arms[row, arm] * partial
        fits[arm] = fit
        widths[arm] = width


def refresh(beliefs: Ellipsoids, param_set: int, agent: int, arms: Floats) -> None:
    """Make all that follows from S, U, s and u afresh, for *param_set* of *agent*.

    Agents that choose by what they received go on to choose by the same.

    Args:
        beliefs: `Ellipsoids`.
        param_set: The set.
        agent: The agent.
        arms: The arms that stay the same, one a column, shape (d, K); K = 0 where they do not.
    """
    shared = beliefs.shared_gram[param_set, agent]
    gram = shared + beliefs.own_gram[param_set, agent]
    if beliefs.received:
        *_, grown = _factor(gram)
    else:
        response = beliefs.shared_response[param_set, agent] + beliefs.own_response[param_set, agent]
        grown = solve(beliefs, param_set, agent, gram, response, arms)
    if beliefs.inflated.shape[2]:
        gram[np.diag_indices(len(gram))] += beliefs.inflation[agent]
        beliefs.inflated[param_set, agent], grown = invert(gram)
    *_, before = _factor(shared)
    beliefs.log_ratio[param_set, agent] = grown - before
    beliefs.updates[param_set, agent] = 0


def renew(beliefs: Ellipsoids, param_set: int, agent: int, arms: Floats) -> None:
    """Make everything afresh once S is another one, all of which was received; see `refresh`."""
    if beliefs.received:
        gram, response = beliefs.shared_gram[param_set, agent], beliefs.shared_response[param_set, agent]
        solve(beliefs, param_set, agent, gram, response, arms)
    refresh(beliefs, param_set, agent, arms)


def copy(beliefs: Ellipsoids, param_set: int, source: int, agent: int) -> None:
    """Let *agent* believe in *param_set* all that *source* does; only where neither has anything of its own."""
    for part in (
        beliefs.inverse,
        beliefs.estimate,
        beliefs.inflated,
        beliefs.log_ratio,
        beliefs.fits,
        beliefs.widths,
        beliefs.log_det,
    ):
        part[param_set, agent] = part[param_set, source]
    beliefs.updates[param_set, agent] = 0


def choose_fixed(fits: Floats, widths: Floats, bonus: float) -> int:
    """Return the arm with the largest ``<x, theta_hat> + bonus sqrt(x' V^-1 x)``, the lowest index among equals."""
    best = 0
    highest = -np.inf
    for arm in range(len(fits)):
        score = fits[arm] + bonus * sqrt(max(widths[arm], 0.0))
        if score > highest:
            highest = score
            best = arm
    return best


def choose_fresh(inverse: Floats, estimate: Floats, bonus: float, actions: Floats) -> int:
    """Return the same for *actions* that are new in this slot, shape (K, d)."""
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
def divide(inverse: Floats, action: Floats, product: Floats) -> float:
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


def add(gram: Floats, response: Floats, leaf: Floats, action: Floats, reward: float) -> float:
    """Add an observation to own sums, and return the square of its reward, clipped to [-1, 1]."""
    clipped = min(max(reward, -1.0), 1.0)
    dimension = len(action)
    for row in range(dimension):
        weight = action[row]
        line = gram[row]
        for column in range(dimension):
            line[column] += weight * action[column]
        response[row] += reward * weight
        leaf[row] += clipped * weight
    return clipped * clipped


@njit(cache=True)
def update_choice(
    param_set: int, agent: int, inverse: Floats, estimate: Floats, fits: Floats, widths: Floats, action: Floats,
    reward: float, arms: Floats, product: Floats,
) -> float:  # fmt: skip
    """Have *agent* choose by one more observation from now on; return ``x' V^-1 x`` of before.

    Args:
        param_set: The set of parameters.
        agent: The agent.
        inverse: Of all agents, see `Ellipsoids`; updated, as the following.
        estimate: The same.
        fits: The same.
        widths: The same.
        action: x, shape (d,), no longer than 1.
        reward: y.
        arms: The arms that stay the same, one a column, shape (d, K); K = 0 where they do not.
        product: Room for d numbers.
    """
    dimension = len(action)
    line = estimate[param_set, agent]
    expected = 0.0
    for row in range(dimension):
        expected += action[row] * line[row]
    width = divide(inverse[param_set, agent], action, product)
    scale = 1.0 / (1.0 + width)
    step = (reward - expected) * scale
    for row in range(dimension):
        line[row] += step * product[row]
    for arm in range(arms.shape[1]):
        along = 0.0
        for row in range(dimension):
            along += arms[row, arm] * product[row]
        fits[param_set, agent, arm] += step * along
        widths[param_set, agent, arm] -= scale * along * along
    return width


def wants(quiet: bool, uses: int, log_ratio: float, threshold: float, every: int, growth: float, sets: int) -> bool:
    """Return whether an agent wants to synchronise a set, or to deposit, after its decision.

    Args:
        quiet: Of the agent and the set, see `Ellipsoids`, as the following.
        uses: The same.
        log_ratio: The same.
        threshold: D, see `Trigger`.
        every: See `Trigger`.
        growth: See `Trigger`.
        sets: Sets an agent keeps.
    """
    if quiet:
        return False
    if growth >= 0.0:
        return uses > 0 and log_ratio > growth
    if every:
        return uses * sets >= every
    return log_ratio * uses >= threshold


SLOTS, LOG_DET, OBSERVATIONS = 0.0, 1.0, 2.0
"""The quantity that a bonus grows with: see `bonus_at`."""


def bonus_in(terms: Floats, dimension: int, slot: int) -> float:
    """Return what the width of an arm is multiplied with, in *slot*, from 0, where it grows with the slots.

    Args:
        terms: Scale times sigma, ``2 ln(2 / alpha)``, ``rho_max / rho_min``, ``d rho_min``, scale times what does not
            grow, see `bonus_at` for the next, and the slot in which the agent began; shape (7,).
        dimension: d.
        slot: The slot.
    """
    growth = log(terms[2] + (slot + 1 - terms[6]) / terms[3])
    bonus: float = terms[0] * sqrt(terms[1] + dimension * growth) + terms[4]
    return bonus


def bonus_at(log_det: float, held: int, terms: Floats, dimension: int, slot: int) -> float:
    """Return what the width of an arm is multiplied with when an agent decides in *slot*.

    Args:
        log_det: Of the agent, see `Ellipsoids`.
        held: The same.
        terms: What the agent's bonus is made of, shape (7,). The sixth says what it grows with: `SLOTS`, see
            `bonus_in`; `LOG_DET` of V, less that of the first V (the third), or `OBSERVATIONS` in V, over the fourth.
        dimension: d.
        slot: The slot.
    """
    if terms[5] == SLOTS:
        return bonus_in(terms, dimension, slot)
    growth = max(log_det - terms[2], 0.0) if terms[5] == LOG_DET else dimension * log1p(held / terms[3])
    bonus: float = terms[0] * sqrt(terms[1] + growth) + terms[4]
    return bonus


def same_bonus(terms: Floats, others: Floats) -> bool:
    """Return whether agents of these terms have the same bonus in a slot, whatever they have seen; see `bonus_at`."""
    if terms[5] != SLOTS:
        return False
    same = True
    for place in range(terms.size):
        same = same and terms[place] == others[place]
    return same
