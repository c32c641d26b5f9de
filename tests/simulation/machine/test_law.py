"""The law of what goes wrong, compiled: the same floats, to the last bit, as in the network."""

import random
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from netbandit.network.faults import ChannelFaults
from netbandit.network.hop import chance_of, patience_of
from netbandit.network.loss_laws import BitLoss, chance_of_bits
from netbandit.network.retry import Retry
from netbandit.simulation.compiled_rounds.faults import law_of
from netbandit.simulation.machine import primitives, rows
from netbandit.texts import is_text, written_out

FLAGS = {"LOSES_BITS": True, "LOSES_IN_BURSTS": False}
NAMES = FLAGS | {name: value for name, value in vars(primitives).items() if is_text(value)}


class FaultArrays(NamedTuple):
    """As `rows.Faults`, but for what has no law."""

    law: Any
    packets: Any
    factors: Any


class Network(NamedTuple):
    """As `rows.Machine`, but for all that does not go wrong."""

    faults: FaultArrays


chance = njit(written_out(chance_of, NAMES))
patience = njit(written_out(patience_of, NAMES))


def network(factors=(), spread=0.0, **faults):
    packets = np.zeros(1, dtype=rows.PACKET_ROW)
    packets["spread"] = spread
    law = law_of(ChannelFaults(**faults), {}, 1)
    return Network(FaultArrays(law, packets, np.array(factors, dtype=np.float64)))


def test_bits_are_lost_with_the_same_probability():
    rng = random.Random(1)
    for _ in range(300):
        loss = BitLoss(10 ** -rng.uniform(1, 9))
        size = rng.randrange(1, 10 ** rng.randrange(1, 7))
        assert chance(network(loss=loss), 0, size, 0) == chance_of_bits(loss.probability, size)


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0, 1000.0])
def test_senders_wait_as_long(factor):
    rng = random.Random(factor)
    for _ in range(100):
        retry = Retry(rng.randrange(1, 10 ** rng.randrange(1, 17)), factor, rng.choice([1.0, 1.5, 900.0]), 90)
        drawn, repetition = rng.random(), rng.randrange(90)
        wait = retry.timeout * (1.0 + drawn * (retry.spread - 1.0)) * factor**repetition
        there = network(retry.factors, drawn, retry=retry)
        there.faults.packets["sent"] = repetition + 1
        assert patience(there, 0) == (round(wait) if wait < 2**62 else 2**62)


def test_a_factor_that_no_float_holds_waits_for_ever():
    factors = Retry(1, 1000.0, 1.0, 200).factors
    assert np.isfinite(factors[:102]).all()
    assert np.isinf(factors[103:]).all()
