from itertools import pairwise
from math import fsum, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.learners.pfcb import trust
from netbandit.learners.pfcb_schedule import exploration_rounds, round_epsilon, sharing_slots
from netbandit.privacy.gaussian import exact_delta, exact_epsilon, noise_multiplier

DOUBLING = [200, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768]


def test_slots_of_the_schedules():
    assert sharing_slots("doubling", 200, 40_000, 100_000) == DOUBLING
    assert sharing_slots("literal", 200, 40_000, 100_000) == [*range(200, 208), *DOUBLING[1:]]
    assert sharing_slots("doubling", 256, 512, 100_000) == [256, 512]
    assert sharing_slots("doubling", 200, 40_000, 512) == [200, 256]
    assert list(sharing_slots("every", 200, 40_000, 5)) == [0, 1, 2, 3, 4]


@given(
    st.sampled_from(["doubling", "literal", "every"]),
    st.floats(1e-3, 1e3),
    st.integers(2, 10**6),
    st.integers(0, 10**4),
    st.integers(0, 10**6),
)
def test_the_budget_adds_up(rule, epsilon, horizon, start, length):
    if rule == "every":
        horizon = min(horizon, 10**4)
    rounds = len(sharing_slots(rule, start, start + length, horizon))
    spent = [round_epsilon(epsilon, horizon, rounds, number) for number in range(1, rounds + 1)]
    assert fsum(spent) <= epsilon * (1 + 2**-51)  # the rounding of floats alone
    assert all(one > other for one, other in pairwise(spent[:40]))  # later they differ by less than a float can tell


@given(st.integers(0, 10**4), st.integers(0, 10**6), st.integers(1, 10**6))
def test_agents_share_at_the_start_and_then_at_powers_of_two(start, length, horizon):
    stop, first = start + length, max(start, 1)  # tau is 1 at first
    slots = [first, *(2**power for power in range(21) if 2**power > first)]
    expected = [slot for slot in slots if slot <= stop and slot < horizon]
    assert sharing_slots("doubling", start, stop, horizon) == expected


def test_the_classical_bound_holds_to_epsilon_one_and_not_far_beyond():
    assert exact_epsilon(0.01, noise_multiplier(1.0, 0.01)) < 1.0
    assert exact_epsilon(0.01, noise_multiplier(20.0, 0.01)) > 20.0
    assert exact_delta(exact_epsilon(0.01, 0.7), 0.7) == pytest.approx(0.01)


def test_agents_are_optimistic_but_believe_in_no_probability_above_1():
    rng = np.random.default_rng(0)
    units, costs = rng.uniform(1, 1_000, 200), rng.random(200)
    good, spread = units * rng.random(200), sqrt(1.5 * log(500))
    qualities, revenues = np.empty(200), np.empty(200)
    trust(units, good, spread, 1.5, costs, qualities, revenues)
    expected = np.minimum(1.0, good / units + np.sqrt(3 * log(500) / (2 * units)))
    np.testing.assert_allclose(qualities, expected, rtol=1e-12)
    np.testing.assert_allclose(revenues, 1.5 * expected - costs, rtol=1e-9, atol=1e-12)
    assert 10 < (expected == 1.0).sum() < 190


def test_exploration_of_theory():
    assert exploration_rounds(10, 100_000, 0.1) == 208
    assert exploration_rounds(1, 100_000, 0.1) == 1727
