"""What goes wrong with messages of compiled rounds: set up for the loops, and written back to the network."""

from collections.abc import Mapping

import numpy as np

from netbandit.network.faults import ChannelFaults, FaultModel
from netbandit.network.ledger import COUNTED_FATES
from netbandit.network.loss_laws import BurstLoss
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.network.retry import ACK, repetition_of
from netbandit.simulation.compiled_rounds.cuts import absences_of, cuts_of
from netbandit.simulation.compiled_rounds.link_draws import Stays, Windows
from netbandit.simulation.compiled_rounds.links import doubled, with_unused_rows
from netbandit.simulation.machine import rows
from netbandit.simulation.machine.heaps import COLUMNS
from netbandit.simulation.machine.rows import Faults, Machine

_LEAST_ROOM = 1 << 10
_LEAST_BYTES = 1 << 8
"""More than a message has with which nobody contributes anything, such as a call."""


def all_kinds(kinds: tuple[Kind, ...], network: Network) -> tuple[Kind, ...]:
    """Return *kinds* of messages, and where any can go wrong those of their repetitions, and of acknowledgements."""
    return (*kinds, *map(repetition_of, kinds), ACK) if network.unreliable else kinds


class FaultArrays:
    """All that goes wrong in a network over which a loop sends messages.

    Args:
        network: The network.
        machine: Its links.
        kinds: How many kinds of messages the protocol has.
    """

    def __init__(self, network: Network, machine: Machine, kinds: int) -> None:
        faults = network.peer_faults
        self._windows = Windows(network, machine)
        self._stays = Stays(network, faults.loss, machine) if isinstance(faults.loss, BurstLoss) else None
        first_cuts, cuts = cuts_of(network)
        self._network, self._largest = network, _LEAST_BYTES
        first_absences, absences = absences_of(network, self._largest)
        state = np.zeros(rows.FAULT_STATES, dtype=np.int64)
        state[rows.KNOWN_UNTIL] = rows.NEVER if self._stays is None else 0
        state[rows.UNUSED_PACKET] = -1
        state[rows.LOSES_MEMORY] = network.forgets
        room = max(_LEAST_ROOM, 2 * len(machine.channels))
        self.faults = Faults(
            state=state,
            law=law_of(faults, self._windows.at, kinds),
            tally=np.zeros(1, dtype=rows.TALLY_ROW),
            carried=np.empty(len(machine.entries), dtype=rows.CARRIED_ROW),
            packets=np.empty(0, dtype=rows.PACKET_ROW),
            timers=np.empty((room, COLUMNS), dtype=np.int64),
            numbers=self._windows.numbers,
            left=np.zeros(network.agents, dtype=np.int64),
            factors=np.array(() if faults.retry is None else faults.retry.factors, dtype=np.float64),
            stays=np.zeros(1, dtype=rows.STAY_ROW),
            switches=np.empty(0, dtype=np.int64),
            first_cuts=first_cuts,
            cuts=cuts,
            first_absences=first_absences,
            absences=absences,
        )
        self._more_packets(room)

    def expect(self, size: int, machine: Machine) -> bool:
        """Look up whether agents are down when messages of *size* bytes arrive that have queued; return if that is new.

        It is not known ahead how large messages get, and none is put on a channel before this was asked for.
        """
        network = self._network
        if size <= self._largest or network.peer_bandwidth is None or not network.agents_fail:
            return False
        assert machine.faults is not None
        self._largest = 2 * size
        first_absences, absences = absences_of(network, self._largest)
        self.faults = machine.faults._replace(first_absences=first_absences, absences=absences)
        return True

    def more(self, why: int, machine: Machine) -> bool:
        """Make room for what a loop has stopped for want of; return whether that is among what goes wrong."""
        assert machine.faults is not None
        faults = self.faults = machine.faults
        if why == rows.TIMERS_FULL:
            self.faults = faults._replace(timers=doubled(faults.timers))
        elif why == rows.PACKETS_FULL:
            self._more_packets(len(faults.packets))
        elif why == rows.DRAWS_USED:
            self._windows.refill(machine, int(faults.state[rows.WANTED]))
            faults.left.fill(0)
            self.faults = faults._replace(numbers=self._windows.numbers)
        elif why == rows.STATES_USED:
            assert self._stays is not None
            faults.state[rows.KNOWN_UNTIL] = self._stays.look_ahead(int(machine.state[rows.NOW]))
            self.faults = faults._replace(stays=self._stays.stays, switches=self._stays.switches)
        else:
            return False
        return True

    def write_back(self, network: Network) -> None:
        """Write what became of messages to *network*."""
        for name in COUNTED_FATES:
            setattr(network.tally, name, getattr(network.tally, name) + int(self.faults.tally[name][0]))

    def _more_packets(self, more: int) -> None:
        state = self.faults.state
        packets = with_unused_rows(self.faults.packets, more, state, rows.UNUSED_PACKET, rows.PACKETS_LEFT)
        self.faults = self.faults._replace(packets=packets)


def law_of(faults: ChannelFaults, at: Mapping[str, int], kinds: int) -> rows.Rows:
    """Return what can go wrong as a row.

    Args:
        faults: The same.
        at: For each purpose for which messages draw the column of its numbers.
        kinds: How many kinds of messages the protocol has.
    """
    law, row = FaultModel.of(faults), np.zeros(1, dtype=rows.LAW_ROW)
    for name in rows.LAW_ROW.names or ():
        if hasattr(law, name):
            row[name] = getattr(law, name)
    row["kinds"] = kinds
    for name, purpose in _COLUMNS.items():
        row[name] = at.get(purpose, -1)
    return row


_COLUMNS = {
    "loss_at": "loss",
    "jitter_at": "jitter",
    "duplicate_at": "duplicate",
    "copy_at": "duplicate.jitter",
    "spread_at": "retry",
}
