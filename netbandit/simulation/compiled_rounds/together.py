"""Compiled rounds that end for all agents at once."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.network.network import Network
from netbandit.protocols.protocol import Aggregation, Item, contributed
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.kernels import traffic as columns


class RoundsTogether(CompiledRounds):
    """See `CompiledRounds`; here all agents contribute to a round before the next begins."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self._number = 0
        self._items: list[Item | None] = []
        self._informed = Event(self.clock.environment)
        self._goes_on = False
        self._aside: tuple[int, NDArray[np.int64]] | None = None

    @abstractmethod
    def begin(self, round: int) -> None:
        """Begin a round, in which nobody has contributed yet."""

    @abstractmethod
    def take(self, agent: int, size: int) -> None:
        """Let *agent*, whose item has *size* bytes, deal with it in the step of this instant."""

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """See `CallbackRoundProtocol.contribute`."""
        item = contributed(item)
        if round != self._number:
            assert not self._goes_on, "a round begins when the one before has ended"
            self._number = round
            self._items = [None] * self.network.agents
            self._goes_on = True
            self._informed = Event(self.clock.environment)
            self.begin(round)
        self._items[agent] = item
        now = self.clock.now
        state = self.traffic.state
        if state[columns.STEP_TIME] not in (columns.NEVER, now):
            self._set_aside()
        if state[columns.STEPS] == len(self.traffic.steps):
            self.more(columns.STEPS_FULL)
        self.take(agent, item.size)
        self.traffic.state[columns.STEP_TIME] = now
        self.appoint_step(now)
        return self._informed

    def _set_aside(self) -> None:
        """Put away what is due at the next boundary: a contribution after the decision of a slot comes before it."""
        state = self.traffic.state
        assert self._aside is None, "all steps of an instant are made before the next"
        self._aside = int(state[columns.STEP_TIME]), self.traffic.steps[: state[columns.STEPS]].copy()
        state[columns.STEPS] = 0

    def step(self) -> None:
        """See `CompiledRounds.step`."""
        if self._aside is not None:
            now = self.clock.now
            while (why := self.play_on(now, now)) != columns.STOPPED:
                self.react(why)
            time, rows = self._aside
            self._aside = None
            state = self.traffic.state
            added = self.traffic.steps[: state[columns.STEPS]].copy()
            both = np.concatenate([rows, added])
            while len(self.traffic.steps) < len(both):
                self.more(columns.STEPS_FULL)
            self.traffic.steps[: len(both)] = both
            state[columns.STEPS] = len(both)
            state[columns.STEP_TIME] = time
        super().step()

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        self._goes_on = False
        self.end(self._number)
        items = [item for item in self._items if item is not None]
        self._informed.succeed(self.conclude(self._number, items))
