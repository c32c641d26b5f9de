"""Broadcasts along shortest-path trees in bulk, with their items in arrays."""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.protocols.broadcast import Heard
from netbandit.scenario.activity import PoissonActivity
from netbandit.simulation.bulk_trees import TreeBroadcasts
from netbandit.simulation.communication import Broadcasts
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.result import Metric

# Columns of received items: receiver, source, item number, and the first slot boundary at or after the arrival.
AGENT, SOURCE, ITEM, BOUNDARY = range(4)


class BulkTrees(Broadcasts):
    """As `Broadcasts`, with the same metrics, but without an object for each received item.

    Args:
        context: The replication context.
        learner: The learner, not yet started.
        hops: The maximum hops of an item; None if unlimited.
    """

    def __init__(self, context: ReplicationContext, learner: Learner, hops: int | None) -> None:
        self._trees = TreeBroadcasts(timing=context.protocol.timing)
        self._trees.hops = hops
        self._trees.exact = isinstance(context.run.activity, PoissonActivity)
        self._trees.start(context.network, _unasked)
        super().__init__(context, learner, self._trees)
        # For each item from the oldest in flight on: its payload, and the slot in which it was sent.
        self._told: NDArray[np.float64] = np.empty((0, 0))
        self._said_in: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._oldest = self._items = 0

    def _tell(self, agents: NDArray[np.int64], told: NDArray[np.float64]) -> None:
        first = self._items
        self._items += len(agents)
        if self._items - self._oldest > len(self._told):
            self._make_room(first, told.shape[1])
        places = np.arange(first, self._items) % len(self._told)
        self._told[places] = told
        self._said_in[places] = self._said[-1]
        self._trees.broadcast_all(first, agents, self._learner.item_bytes(told.shape[1]))

    def _make_room(self, first: int, numbers: int) -> None:
        """Make room for *numbers* items from number *first* on; drop items that have reached all their receivers."""
        before = len(self._told)
        self._oldest = self._trees.oldest(first)
        room = 2 * (self._items - self._oldest)
        if room > before:
            kept = np.arange(self._oldest, first)
            told, said_in = self._told, self._said_in
            self._told, self._said_in = np.zeros((room, numbers)), np.zeros(room, dtype=np.int64)
            if before:
                self._told[kept % room], self._said_in[kept % room] = told[kept % before], said_in[kept % before]

    def _used(self, heard: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows *heard* (see `TreeBroadcasts.heard`) that arrive before the horizon, and their slots."""
        heard = heard[heard[:, BOUNDARY] < self.clock.horizon]
        said = self._said_in[heard[:, ITEM] % len(self._told)] if len(heard) else heard[:, 0]
        self._delays[0] += int((heard[:, BOUNDARY] - said).sum())
        self._delays[1] += len(heard)
        return heard, said

    def apply_received(self, slot: int) -> None:
        """Pass all items received since the last decision to the learner, in order of arrival."""
        heard, said = self._used(self._trees.heard())
        if not len(heard):
            return
        told = self._told[heard[:, ITEM] % len(self._told)]
        self._learn_of(slot, heard[:, AGENT], heard[:, SOURCE], told, said)

    def metrics(self) -> dict[str, Metric]:
        """Return the same metrics as `Broadcasts`."""
        self._used(self._trees.heard())
        return super().metrics()

    def finish(self) -> None:
        """See `CommunicationStrategy.finish`."""
        super().finish()
        self._trees.finish()


def _unasked(agent: int, heard: list[Heard]) -> None:
    raise RuntimeError("what is heard of broadcasts in bulk is asked for")
