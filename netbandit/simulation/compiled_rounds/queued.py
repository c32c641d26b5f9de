"""Compiled loops whose channels each have messages of their own under way."""

import numpy as np
from simpy.events import EventPriority

from netbandit.network.network import Network
from netbandit.part import state
from netbandit.simulation.compiled_rounds.engine import CompiledLoop
from netbandit.simulation.kernels import queues as columns
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
        self.queues = Queues(np.empty((0, columns.MESSAGE_COLUMNS), dtype=np.int64), np.array([-1, 0]))
        self._more_messages(max(_ROOM_FOR, 2 * len(self.traffic.channels)))

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why == traffic.MESSAGES_FULL:
            self._more_messages(len(self.queues.messages))
        else:
            super().make_room(why)

    def _more_messages(self, more: int) -> None:
        unused = self.queues.unused
        before = len(self.queues.messages)
        messages = np.empty((before + more, columns.MESSAGE_COLUMNS), dtype=np.int64)
        messages[:before] = self.queues.messages
        messages[before:, columns.FOLLOWING] = np.arange(before + 1, before + more + 1)
        messages[-1, columns.FOLLOWING] = unused[columns.UNUSED]
        unused[columns.UNUSED] = before
        unused[columns.UNUSED_COUNT] += more
        self.queues = self.queues._replace(messages=messages)
