"""What goes wrong with messages of compiled rounds: set up for the loops, and written back to the network."""

from collections.abc import Mapping

import numpy as np

from netbandit.network.faults import ChannelFaults
from netbandit.network.loss import BitLoss, BurstLoss, ConstantLoss
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.network.retry import ACK, ACK_BYTES, repetition_of
from netbandit.simulation.compiled_rounds.cuts import cuts_of
from netbandit.simulation.compiled_rounds.links import doubled
from netbandit.simulation.compiled_rounds.luck import Stays, Windows
from netbandit.simulation.kernels import faults as columns
from netbandit.simulation.kernels import traffic as reasons
from netbandit.simulation.kernels.faults import Faults, Law
from netbandit.simulation.kernels.heaps import COLUMNS
from netbandit.simulation.kernels.traffic import Traffic

_LEAST_ROOM = 1 << 10


def all_kinds(kinds: tuple[Kind, ...], network: Network) -> tuple[Kind, ...]:
    """Return *kinds* of messages, and where any can go wrong those of their repetitions, and of acknowledgements."""
    return (*kinds, *map(repetition_of, kinds), ACK) if network.unreliable else kinds


class WhatGoesWrong:
    """All that goes wrong in a network over which a loop sends messages.

    Args:
        network: The network.
        traffic: Its links.
        kinds: How many kinds of messages the protocol has.
    """

    def __init__(self, network: Network, traffic: Traffic, kinds: int) -> None:
        faults = network.peer_faults
        assert faults is not None
        self._windows = Windows(network, traffic)
        self._stays = Stays(network, faults.loss, traffic) if isinstance(faults.loss, BurstLoss) else None
        first_cuts, cuts = cuts_of(network)
        state = np.zeros(columns.FAULT_STATES, dtype=np.int64)
        state[columns.KNOWN_UNTIL] = reasons.NEVER if self._stays is None else 0
        rows = max(_LEAST_ROOM, 2 * len(traffic.channels))
        self.faults = Faults(
            state=state,
            law=law_of(faults, self._windows.at, kinds),
            deliveries=np.empty((rows, COLUMNS), dtype=np.int64),
            timers=np.empty((rows, COLUMNS), dtype=np.int64),
            due=np.empty((rows, COLUMNS), dtype=np.int64),
            numbers=self._windows.numbers,
            left=np.zeros(network.agents, dtype=np.int64),
            factors=np.array(() if faults.retry is None else faults.retry.factors, dtype=np.float64),
            stays=np.zeros((1, 3), dtype=np.int64),
            switches=np.empty(0, dtype=np.int64),
            first_cuts=first_cuts,
            cuts=cuts,
        )

    def more(self, why: int, traffic: Traffic) -> bool:
        """Make room for what a loop has stopped for want of; return whether that is among what goes wrong."""
        faults = self.faults
        if why == reasons.HEAPS_FULL:
            self.faults = faults._replace(
                deliveries=doubled(faults.deliveries), timers=doubled(faults.timers), due=doubled(faults.due)
            )
        elif why == reasons.DRAWS_USED:
            self._windows.refill(traffic, int(faults.state[columns.WANTED]))
            faults.left.fill(0)
            self.faults = faults._replace(numbers=self._windows.numbers)
        elif why == reasons.STATES_USED:
            assert self._stays is not None
            faults.state[columns.KNOWN_UNTIL] = self._stays.look_ahead(int(traffic.state[reasons.NOW]))
            self.faults = faults._replace(stays=self._stays.stays, switches=self._stays.switches)
        else:
            return False
        return True

    def write_back(self, traffic: Traffic, network: Network) -> None:
        """Write what became of messages to *network*."""
        lost = traffic.channels[traffic.out, reasons.LOST].tolist()
        leaving = (channel for near in network.channels for channel in near)
        for channel, number in zip(leaving, lost, strict=True):
            channel.lost += number
        tally = network.tally
        for name, place in _FATES.items():
            setattr(tally, name, getattr(tally, name) + int(self.faults.state[place]))


_FATES = {
    "lost": columns.LOST_IN_ALL,
    "delivered": columns.DELIVERED,
    "duplicates": columns.DUPLICATES,
    "duplicates_dropped": columns.DUPLICATES_DROPPED,
    "retransmissions": columns.RETRANSMISSIONS,
    "given_up": columns.GIVEN_UP,
}


def law_of(faults: ChannelFaults, at: Mapping[str, int], kinds: int) -> Law:
    """Return what can go wrong, for loops.

    Args:
        faults: The same.
        at: For each purpose for which messages draw the column of its numbers.
        kinds: How many kinds of messages the protocol has.
    """
    kind, chance, bad = columns.NO_LOSS, 0.0, 0.0
    if isinstance(faults.loss, ConstantLoss):
        kind, chance = columns.CONSTANT, faults.loss.probability
    elif isinstance(faults.loss, BitLoss):
        kind, chance = columns.BITS, faults.loss.probability
    elif isinstance(faults.loss, BurstLoss):
        kind, chance, bad = columns.BURSTS, faults.loss.good, faults.loss.bad
    retry = faults.retry
    return Law(
        loss=kind,
        chance=float(chance),
        bad=float(bad),
        overtaking=faults.overtaking,
        duplicate=float(faults.duplicate),
        attempts=0 if retry is None else retry.attempts,
        timeout=0.0 if retry is None else float(retry.timeout),
        spread=1.0 if retry is None else float(retry.spread),
        acknowledgement=ACK_BYTES,
        kinds=kinds,
        loss_at=at.get("loss", -1),
        jitter_at=at.get("jitter", -1),
        duplicate_at=at.get("duplicate", -1),
        copy_at=at.get("duplicate.jitter", -1),
        spread_at=at.get("retry", -1),
    )
