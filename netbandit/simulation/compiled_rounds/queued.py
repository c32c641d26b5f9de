"""Compiled loops whose channels each have messages of their own under way, or over which something can go wrong."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from simpy.events import EventPriority

from netbandit.network.network import Network
from netbandit.part import state
from netbandit.simulation.compiled_rounds.engine import CompiledLoop
from netbandit.simulation.compiled_rounds.faults import WhatGoesWrong
from netbandit.simulation.kernels import message_rows as columns
from netbandit.simulation.kernels import traffic
from netbandit.simulation.kernels.queues import Queues

_ROOM_FOR = 1 << 10


class QueuedLoop(CompiledLoop):
    """See `CompiledLoop`."""

    queues: Queues = state()
    """The messages under way."""

    def prepare(self, network: Network, turn: EventPriority) -> None:
        """See `CompiledLoop.prepare`."""
        super().prepare(network, turn)
        self._wrong = WhatGoesWrong(network, self.traffic, len(self.kinds)) if network.unreliable else None
        self.queues = Queues(
            np.empty((0, columns.COLUMNS_WITH_FAULTS if self._wrong else columns.MESSAGE_COLUMNS), dtype=np.int64),
            np.array([-1, 0]),
            np.empty(0, dtype=np.int64),
            None if self._wrong is None else self._wrong.faults,
        )
        self._more_messages(max(_ROOM_FOR, 2 * len(self.traffic.channels)))

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why == traffic.MESSAGES_FULL:
            self._more_messages(len(self.queues.messages))
        elif self._wrong is not None and self._wrong.more(why, self.traffic):
            self.queues = self.queues._replace(faults=self._wrong.faults)
        else:
            super().make_room(why)

    def send(self, begin_or_go_on: Callable[[], int]) -> None:
        """Send messages from outside the loop.

        Args:
            begin_or_go_on: Sends what there is room for; returns when (ns) something is due next, or below zero if
                that was not all: why.
        """
        while (soonest := begin_or_go_on()) < 0:
            self.tell()
            self.more(-soonest)
        self.tell()  # now: if all of it is lost, the loop may never go on
        self.appoint_arrival(soonest)

    def used_rows(self) -> NDArray[np.bool_]:
        """Return which rows of messages are used, but for acknowledgements, shape (rows,)."""
        found: NDArray[np.bool_] = self.queues.messages[:, columns.ROUND] >= 0
        return found

    def count(self) -> None:
        """See `CompiledLoop.count`."""
        super().count()
        if self._wrong is not None:
            self._wrong.write_back(self.traffic, self.network)

    def _more_messages(self, more: int) -> None:
        unused = self.queues.unused
        before = len(self.queues.messages)
        messages = np.empty((before + more, self.queues.messages.shape[1]), dtype=np.int64)
        messages[:before] = self.queues.messages
        messages[before:, columns.FOLLOWING] = np.arange(before + 1, before + more + 1)
        messages[-1, columns.FOLLOWING] = unused[columns.UNUSED]
        messages[before:, columns.ROUND] = -1
        unused[columns.UNUSED] = before
        unused[columns.UNUSED_COUNT] += more
        self.queues = self.queues._replace(messages=messages)
