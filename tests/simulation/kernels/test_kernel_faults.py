"""The law of what goes wrong, compiled: the same floats, to the last bit, as in the network."""

import random

import numpy as np
import pytest
from numba import njit

from netbandit.network.faults import ChannelFaults
from netbandit.network.loss import BitLoss
from netbandit.network.retry import Retry
from netbandit.simulation.compiled_rounds.faults import factors_of, law_of
from netbandit.simulation.kernels import faults
from netbandit.simulation.kernels.faults import UNIT


@njit
def loss_of(law, size):
    return faults.loss_of(law, size)


@njit
def patience(law, factors, number, repetition):
    return faults.patience(law, factors, number, repetition)


def test_bits_are_lost_with_the_same_probability():
    rng = random.Random(1)
    for _ in range(300):
        loss = BitLoss(10 ** -rng.uniform(1, 9))
        size = rng.randrange(1, 10 ** rng.randrange(1, 7))
        assert loss_of(law_of(ChannelFaults(loss=loss), {}, 1), size) == loss.of_size(size)


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0, 1000.0])
def test_senders_wait_as_long(factor):
    rng = random.Random(factor)
    for _ in range(100):
        retry = Retry(rng.randrange(1, 10 ** rng.randrange(1, 17)), factor, rng.choice([1.0, 1.5, 900.0]), 90)
        law, factors = law_of(ChannelFaults(retry=retry), {}, 1), factors_of(retry)
        number, repetition = rng.randrange(1 << 53), rng.randrange(90)
        assert patience(law, factors, number, repetition) == retry.patience(number * UNIT, repetition)


def test_a_factor_that_no_float_holds_waits_for_ever():
    factors = factors_of(Retry(1, 1000.0, 1.0, 200))
    assert np.isfinite(factors[:102]).all()
    assert np.isinf(factors[103:]).all()
