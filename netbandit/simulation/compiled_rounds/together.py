"""Compiled rounds that end for all agents at once."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.network.network import Network
from netbandit.protocols.protocol import Aggregation, Item, contributed
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.machine import rows


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
        state = self.machine.state
        if state[rows.STEP_TIME] not in (rows.NEVER, now):
            self._set_aside()
        if state[rows.STEPS] == len(self.machine.steps):
            self.more(rows.STEPS_FULL)
        self.take(agent, item.size)
        self.machine.state[rows.STEP_TIME] = now
        self.appoint_step(now)
        return self._informed

    def _set_aside(self) -> None:
        """Put away what is due at the next boundary: a contribution after the decision of a slot comes before it."""
        state = self.machine.state
        assert self._aside is None, "all steps of an instant are made before the next"
        self._aside = int(state[rows.STEP_TIME]), self.machine.steps[: state[rows.STEPS]].copy()
        state[rows.STEPS] = 0

    def step(self) -> None:
        """See `CompiledRounds.step`."""
        if self._aside is not None:
            now = self.clock.now
            while (why := self.play_on(now, now)) != rows.STOPPED:
                self.react(why)
            time, due_later = self._aside
            self._aside = None
            state = self.machine.state
            added = self.machine.steps[: state[rows.STEPS]].copy()
            both = np.concatenate([due_later, added])
            while len(self.machine.steps) < len(both):
                self.more(rows.STEPS_FULL)
            self.machine.steps[: len(both)] = both
            state[rows.STEPS] = len(both)
            state[rows.STEP_TIME] = time
        super().step()

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        self._goes_on = False
        self.end(self._number)
        items = [item for item in self._items if item is not None]
        self._informed.succeed(self.conclude(self._number, items))
