"""Broadcasts along trees that are passed on in a compiled loop, and what they say in arrays."""

import numpy as np
from numpy.typing import NDArray

from netbandit.learners.slots import Learner
from netbandit.simulation.communication import Broadcasts
from netbandit.simulation.compiled_rounds.broadcasts import BroadcastOverCompiledRounds
from netbandit.simulation.compiled_rounds.trees import CompiledTrees
from netbandit.simulation.driver import ReplicationContext
from netbandit.simulation.kernels import trees as columns
from netbandit.simulation.result import Metric


class TreeBroadcasts(Broadcasts):
    """As `Broadcasts`, whose figures it has, without an object for each item that an agent hears.

    Args:
        stage: All that the driver works with.
        learner: The learner, not yet started.
        broadcasts: What carries what they tell, started.
    """

    def __init__(
        self, stage: ReplicationContext, learner: Learner, broadcasts: CompiledTrees | BroadcastOverCompiledRounds
    ) -> None:
        self._broadcasts = broadcasts
        super().__init__(stage, learner, broadcasts)
        # Of each broadcast under way, by its number: what each agent told, and in which slot.
        self._told: NDArray[np.float64] = np.empty((0, 0, 0))
        self._said_in: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._expected: list[int] = []  # how many have yet to hear each of them, from the oldest on

    def _tell(self, agents: NDArray[np.int64], told: NDArray[np.float64]) -> None:
        number = len(self._said) - 1
        self._expected.append(int((self.members[agents] - 1).sum()))
        if len(self._expected) > len(self._told):
            self._make_room(np.arange(number - len(self._expected) + 1, number), told.shape[1])
        place = number % len(self._told)
        self._told[place, agents] = told
        self._said_in[place] = self._said[-1]
        self._broadcasts.broadcast_all(number, agents, self._learner.item_bytes(told.shape[1]))

    def _make_room(self, under_way: NDArray[np.int64], numbers: int) -> None:
        """Make room for twice as many broadcasts of so many *numbers*, and keep those that are *under_way*."""
        before, room = max(1, len(self._told)), 2 * len(self._expected)
        told, said_in = np.empty((room, len(self.everybody), numbers)), np.empty(room, dtype=np.int64)
        if len(under_way):
            told[under_way % room] = self._told[under_way % before]
            said_in[under_way % room] = self._said_in[under_way % before]
        self._told, self._said_in = told, said_in

    def _arrived(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what has been heard in time to be used, see `CompiledTrees.heard`, and of which slot it is."""
        heard = self._broadcasts.heard()
        heard = heard[heard[:, columns.BOUNDARY] < self.clock.horizon]
        said = self._said_in[heard[:, columns.BROADCAST] % len(self._told)] if len(heard) else heard[:, 0]
        self._delays[0] += int((heard[:, columns.BOUNDARY] - said).sum())
        self._delays[1] += len(heard)
        return heard, said

    def hand_on(self, slot: int) -> None:
        """Let the learner hear all that has been heard since the last decision, in order of arrival."""
        heard, said = self._arrived()
        if not len(heard):
            return
        agents, sources, numbers = heard[:, columns.AGENT], heard[:, columns.SOURCE], heard[:, columns.BROADCAST]
        self._learner.hear(slot, agents, sources, self._told[numbers % len(self._told), sources], said)
        oldest = len(self._said) - len(self._expected)
        for place, some in enumerate(np.bincount(numbers - oldest).tolist()):
            self._expected[place] -= some
        while self._expected and not self._expected[0]:
            del self._expected[0]

    def metrics(self) -> dict[str, Metric]:
        """Return the same figures as `Broadcasts`."""
        self._arrived()
        return super().metrics()
