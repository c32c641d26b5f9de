"""The law of what goes wrong, compiled: the same floats, to the last bit, as in the network."""

import random

import numpy as np
import pytest
from numba import njit

from netbandit.network.faults import ChannelFaults
from netbandit.network.loss import BitLoss
from netbandit.network.retry import Retry
from netbandit.simulation.compiled_rounds.faults import law_of
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
        law, factors = law_of(ChannelFaults(retry=retry), {}, 1), np.array(retry.factors)
        number, repetition = rng.randrange(1 << 53), rng.randrange(90)
        wait = retry.timeout * (1.0 + number * UNIT * (retry.spread - 1.0)) * factor**repetition
        assert patience(law, factors, number, repetition) == (round(wait) if wait < 2**62 else 2**62)


def test_a_factor_that_no_float_holds_waits_for_ever():
    factors = Retry(1, 1000.0, 1.0, 200).factors
    assert np.isfinite(factors[:102]).all()
    assert np.isinf(factors[103:]).all()
