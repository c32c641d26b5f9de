"""Compiled random draws: numpy's own PCG64, one stream per agent, bit for bit.

A compiled loop cannot hold a list of numpy's generators, so each agent's state is four numbers in an array. The
uniform and the beta draws are those of ``numpy.random.Generator`` (``random`` and, for two parameters of at most
1, ``beta``), so what a loop draws here plain numpy draws too.

Where each slot takes as many numbers as any other, numpy draws them ahead, a block of slots at a time. Here they cannot
be: a beta draw takes as many uniform numbers as it happens to need, and fresh action sets take K (d + 2) or more for
each agent and slot, which would be gigabytes ahead.
"""

from math import exp, log, sqrt

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from netbandit.util.jit import njit

_MULTIPLIER_HIGH = np.uint64(0x2360ED051FC65DA4)
_MULTIPLIER_LOW = np.uint64(0x4385DF649FCCF645)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


def states(generators: list[np.random.Generator]) -> NDArray[np.uint64]:
    """Return the states of PCG64 *generators*, shape (n, 4): state and increment, high word first."""
    mask = (1 << 64) - 1
    rows = []
    for generator in generators:
        state = generator.bit_generator.state
        if state["bit_generator"] != "PCG64":
            raise ValueError("compiled draws need a generator over PCG64")
        value, increment = state["state"]["state"], state["state"]["inc"]
        rows.append([value >> 64, value & mask, increment >> 64, increment & mask])
    return np.array(rows, dtype=np.uint64).reshape(len(rows), 4)


@njit(cache=True)
def uniform(state: NDArray[np.uint64]) -> float:
    """Advance *state*, shape (4,), and return a float64 in [0, 1): ``Generator.random()``."""
    high, low = state[0], state[1]
    # The full product of the low words, from four products of half words.
    a_high, a_low = low >> _HALF, low & _LOW_HALF
    b_high, b_low = _MULTIPLIER_LOW >> _HALF, _MULTIPLIER_LOW & _LOW_HALF
    lowest = a_low * b_low
    middle = a_high * b_low + (lowest >> _HALF)
    other = a_low * b_high + (middle & _LOW_HALF)
    carried = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    product_low = low * _MULTIPLIER_LOW
    product_high = carried + high * _MULTIPLIER_LOW + low * _MULTIPLIER_HIGH
    low = product_low + state[3]
    high = product_high + state[2]
    if low < product_low:
        high += uint64(1)
    state[0] = high
    state[1] = low
    folded = high ^ low
    turn = high >> uint64(58)
    word = (folded >> turn) | (folded << ((uint64(64) - turn) & uint64(63)))
    return np.float64(word >> uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def beta(state: NDArray[np.uint64], mean: float) -> float:
    """Return a draw from Beta(mean, 1 - mean), 0 < mean < 1: Johnk's method, as in ``Generator.beta``."""
    while True:
        first = uniform(state)
        second = uniform(state)
        one: float = first ** (1.0 / mean)
        other: float = second ** (1.0 / (1.0 - mean))
        total = one + other
        if total <= 1.0 and first + second > 0.0:
            if total > 0.0:
                return one / total
            log_one = log(first) / mean
            log_other = log(second) / (1.0 - mean)
            largest = max(log_one, log_other)
            log_one -= largest
            log_other -= largest
            return exp(log_one - log(exp(log_one) + exp(log_other)))


@njit(cache=True)
def normal(state: NDArray[np.uint64]) -> float:
    """Return a standard normal draw: Marsaglia's polar method, the second of each pair thrown away."""
    while True:
        first = 2.0 * uniform(state) - 1.0
        second = 2.0 * uniform(state) - 1.0
        square = first * first + second * second
        if 0.0 < square < 1.0:
            return first * sqrt(-2.0 * log(square) / square)
