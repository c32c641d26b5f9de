"""What messages draw, and in which state channels are, known in advance to compiled loops: a window of each channel."""

from collections.abc import Iterator, Mapping
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from netbandit.network.downtimes import failing
from netbandit.network.draws import Draws
from netbandit.network.faults import ChannelFaults
from netbandit.network.loss_laws import BurstLoss
from netbandit.network.network import Network
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.rows import Machine

_WINDOW = 16
"""The fewest numbers of a channel that are kept."""

_STAYS = 16
"""About how many stays of a channel in a state are looked up at once."""


class Windows:
    """The numbers that the next messages of each channel draw.

    Args:
        network: The network.
        machine: Its links.

    Attributes:
        at: For each purpose for which messages draw the column of its numbers.
        numbers: See `netbandit.simulation.machine.rows.Faults`.
    """

    def __init__(self, network: Network, machine: Machine) -> None:
        faults = network.peer_faults
        channels, peers = len(machine.channels), 2 * len(network.links)
        self._jitter = faults.jitter
        self._column = _columns(network, machine)
        self._draws = {purpose: Draws(network.streams, f"{purpose}.peer", peers) for purpose in _purposes(faults)}
        self.at: Mapping[str, int] = {purpose: place for place, purpose in enumerate(self._draws)}
        self._rows = next((draws.rows for draws in self._draws.values()), 1)
        self.numbers: NDArray[np.int64] = np.empty((channels, 1, 0), dtype=np.int64)
        if not self._draws:
            machine.channels["drawn"] = rows.NEVER
        else:
            self._widen(machine, max(_WINDOW, 2 * self._rows))

    def refill(self, machine: Machine, wanted: int) -> None:
        """Draw what there is room for, at least so many numbers of each channel."""
        width = self.numbers.shape[1]
        if width < wanted + self._rows:
            self._widen(machine, 2 * (wanted + self._rows))
            return
        drawn, sent = machine.channels["drawn"], machine.channels["messages"]
        while True:
            low = np.flatnonzero(drawn - sent <= width - self._rows)
            if not len(low):
                return
            for block in np.unique(drawn[low] // self._rows).tolist():
                chosen = low[drawn[low] == block * self._rows]
                places = (block * self._rows + np.arange(self._rows)) % width
                for purpose, place in self.at.items():
                    table = self._draws[purpose].table(block)[self._column[chosen]]
                    self.numbers[chosen[:, np.newaxis], places, place] = self._as_integers(purpose, table)
            drawn[low] += self._rows

    def _as_integers(self, purpose: str, table: NDArray[np.float64]) -> NDArray[np.int64]:
        if not purpose.endswith("jitter"):
            return (table * (1 << 53)).astype(np.int64)  # they are multiples of 2^-53
        assert self._jitter is not None
        return np.array([self._jitter.times(row) for row in table]).astype(np.int64)  # row by row, as channels draw

    def _widen(self, machine: Machine, width: int) -> None:
        """Keep *width* numbers of each channel; what was drawn before is drawn again, and is the same."""
        channels = machine.channels
        self.numbers = np.empty((len(channels), width, len(self.at)), dtype=np.int64)
        drawn = channels["messages"] // self._rows * self._rows
        channels["drawn"] = np.where(self._column >= 0, drawn, rows.NEVER)
        self.refill(machine, 0)


def _purposes(faults: ChannelFaults) -> Iterator[str]:
    if faults.loss is not None:
        yield "loss"
    if faults.jitter is not None:
        yield "jitter"
    if faults.duplicate:
        yield "duplicate"
        if faults.jitter is not None:
            yield "duplicate.jitter"
    if faults.retry is not None:
        yield "retry"


def _columns(network: Network, machine: Machine) -> NDArray[np.int64]:
    """Return the column of each channel in what is drawn: the two directions of the first link, of the second, ...

    Uplinks, which have no link there, have columns below zero.
    """
    firsts = np.array([link.first for link in network.links], dtype=np.int64)
    link = machine.channels["link"]
    column: NDArray[np.int64] = 2 * link + (machine.channels["sender"] != firsts[link])
    return column


class Stays:
    """When channels become bad, and good again.

    Args:
        network: The network.
        loss: The law.
        machine: Its links.

    Attributes:
        stays, switches: See `netbandit.simulation.machine.rows.Faults`.
    """

    def __init__(self, network: Network, loss: BurstLoss, machine: Machine) -> None:
        states = Draws(network.streams, "bursts.peer", 2 * len(network.links))
        never = repeat((rows.NEVER, rows.NEVER))
        self._intervals = [
            failing(states, column, loss.good_for, loss.bad_for) if column >= 0 else never
            for column in _columns(network, machine).tolist()
        ]
        self._chunk = _STAYS * (loss.good_for + loss.bad_for)
        self._end = network.clock.end
        self._at_once = network.peer_bandwidth is not None  # a message may wait for its channel for any time
        self._ahead: list[list[int]] = [[] for _ in self._intervals]
        self.stays = np.zeros(len(machine.channels), dtype=rows.STAY_ROW)
        self.switches = np.empty(0, dtype=np.int64)

    def look_ahead(self, now: int) -> int:
        """Look up what follows the time *now* (ns); return until when (ns) it is known."""
        if now >= self._end:
            return rows.NEVER  # nothing is sent any more
        until = self._end if self._at_once else min(self._end, now + self._chunk)
        for ahead, intervals in zip(self._ahead, self._intervals, strict=True):
            while not ahead or ahead[-1] < until:
                begin, end = next(intervals)
                ahead += (min(begin, rows.NEVER), int(min(end, rows.NEVER)))
            over = sum(time <= now for time in ahead) & ~1  # all that is kept begins with becoming bad
            del ahead[:over]
        lengths = np.array([len(ahead) for ahead in self._ahead], dtype=np.int64)
        self.stays["last"] = np.cumsum(lengths)
        self.stays["next"] = self.stays["last"] - lengths
        self.stays["is_bad"] = 0
        self.switches = np.concatenate([np.array(ahead, dtype=np.int64) for ahead in self._ahead])
        return until if until < self._end else rows.NEVER
