"""What compiled functions draw is what numpy's generators draw, one after the other from the same stream."""

import numpy as np
import pytest
from numba import njit

from netbandit.util.numpy_draws import addresses, beta, standard_normal


def draws(state):
    found = np.empty((200, 3))
    for row in range(200):
        found[row, 0] = beta(state, 0.5 + row, 1.0)  # of gammas
        found[row, 1] = standard_normal(state)
        found[row, 2] = beta(state, 0.3, 0.7)  # of uniform numbers
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("made", [draws, njit(draws)], ids=["plain", "compiled"])
def test_draws_are_numpy_s_own(made):
    ours, theirs = np.random.default_rng(7), np.random.default_rng(7)
    (state,) = addresses([ours])
    expected = [(theirs.beta(0.5 + row, 1.0), theirs.standard_normal(), theirs.beta(0.3, 0.7)) for row in range(200)]
    assert made(int(state)).tolist() == [list(row) for row in expected]
    assert ours.random() == theirs.random()
