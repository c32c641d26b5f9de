from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from netbandit.learners.elimination_schedule import EliminationSchedule


def schedule(participants, members, difference):
    return EliminationSchedule(10, 1000, participants, 1.0, members=members, difference=difference)


@given(st.integers(1, 60), st.data())
def test_the_width_covers_that_agents_are_drawn(members, data):
    """Agents that differ most: ones and zeros. How many ones are drawn is hypergeometric, so the chance is exact."""
    participants = data.draw(st.integers(1, members))
    ones = data.draw(st.integers(0, members))
    epoch, active = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 10))
    reach = schedule(participants, members, 1.0).drawing(epoch, active)
    drawn = np.arange(participants + 1)
    away = np.abs(drawn / participants - ones / members) > reach + 1e-12
    chance = hypergeom(members, ones, participants).pmf(drawn)[away].sum()
    assert chance <= 2 * exp(-log(8 * active * epoch**2 * 1000)) + 1e-12


def test_it_is_in_the_width_and_only_where_it_was_asked_for():
    asked, silent = schedule(5, 50, 0.6), schedule(5, 50, 0.0)
    assert asked.drawing(2, 10) == pytest.approx(0.6 * np.sqrt((1 - 4 / 50) * log(8 * 10 * 4 * 1000) / 10))
    assert asked.width(2, 300, 10) == pytest.approx(silent.width(2, 300, 10) + asked.drawing(2, 10))
    assert silent.width(2, 300, 10) == EliminationSchedule(10, 1000, 5, 1.0).width(2, 300, 10)
    assert schedule(30, 50, 0.6).drawing(2, 10) < schedule(25, 50, 0.6).drawing(2, 10)
    assert schedule(50, 50, 0.6).drawing(2, 10) == 0.0
