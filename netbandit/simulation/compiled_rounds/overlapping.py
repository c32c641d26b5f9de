"""Compiled rounds of which several may be open at once: agents conclude apart, or tell something in every slot."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from netbandit.network.message import LABEL_BYTES
from netbandit.network.network import Network
from netbandit.part import state
from netbandit.protocols.free_rounds import FreeRounds
from netbandit.protocols.known_items import KnownItems, Labels
from netbandit.protocols.protocol import Aggregation, Item, contributed
from netbandit.simulation.compiled_rounds.engine import CompiledRounds
from netbandit.simulation.compiled_rounds.heard import HeardRows
from netbandit.simulation.compiled_rounds.places import moved
from netbandit.simulation.kernels import open_rounds as columns
from netbandit.simulation.kernels.open_rounds import COUNTS, WENT_ON, Rounds
from netbandit.simulation.machine import rows as machine_rows

Agents = NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)

_NEVER_DONE = 1 << 62


class OverlappingRounds(CompiledRounds, FreeRounds):
    """Stands for `FreeRounds` where agents never fail; who waits in them, and for how long, is the same.

    A round that is open has a place, the rest of its number; who holds what in it is known to the loop. One that has
    ended gives its place back, and one in which nothing can happen any more when it is in the way of another.
    """

    told: bool = state(default=False)
    """Whether agents hear each item when it comes, and conclude nothing; see `BroadcastOverCompiledRounds`."""
    rounds: Rounds = state()
    """What is open."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        agents = network.agents
        self.machine = self.machine._replace(
            steps=np.empty((len(self.machine.steps), self.step_columns), dtype=np.int64)
        )
        self.rounds = Rounds(
            table=np.zeros((1, columns.ROUND_COLUMNS), dtype=np.int64),
            state=np.zeros(4, dtype=np.int64),
            agents=np.zeros((1, agents), dtype=np.uint8),
            sizes=np.zeros((1, agents), dtype=np.int64),
            ended=np.zeros(1, dtype=np.int64),
            heard=np.empty((0, columns.HEARD_COLUMNS), dtype=np.int64),
        )
        purpose = columns.TOLD if self.told else columns.APART if aggregation.apart else columns.TOGETHER
        self.rounds.state[columns.PURPOSE] = purpose
        self._lists: dict[int, KnownItems] = {}
        self._informed: dict[int, Event] = {}
        self._done_from = np.full(agents, _NEVER_DONE)
        self._heard = HeardRows(columns.HEARD_COLUMNS)

    @property
    @abstractmethod
    def step_columns(self) -> int:
        """How many columns steps have; the last two are the round and the time (ns) at which they are due."""

    @abstractmethod
    def clear(self, place: int) -> None:
        """Let nobody have anything in a *place*."""

    @abstractmethod
    def take(self, place: int, agents: Agents) -> NDArray[np.int64]:
        """Let *agents* have their own items in a *place*; return the columns of a step between node and round."""

    @abstractmethod
    def holders(self, place: int) -> NDArray[np.bool_]:
        """Return which agent (first axis) has whose item in a *place*, shape (n, n)."""

    @abstractmethod
    def holds(self, place: int, agent: int) -> NDArray[np.bool_]:
        """Return whose items *agent* has in a *place*, shape (n,)."""

    @abstractmethod
    def widen(self) -> None:
        """Make places for twice as many rounds, each with `moved`."""

    def contribute(self, round: int, agent: int, item: Item | None) -> Event:
        """See `CallbackRoundProtocol.contribute`."""
        item = contributed(item)
        afterwards = self._contribute_afterwards(round, agent, item)
        if afterwards is not None:
            return afterwards
        informed = self._patience.wait(round, agent) if self._apart else self._informed.get(round)
        if informed is None:
            informed = self._informed[round] = Event(self.clock.environment)
        if round not in self._lists:
            self._lists[round] = KnownItems(self.network.agents)
        self._lists[round].contribute(agent, item)
        self.tell_all(round, np.array([agent]), item.size)
        if self._apart:
            self._look_who_is_left(round, self._patience.waiting(round))
        return informed

    def tell_all(self, round: int, agents: Agents, size: int) -> None:
        """Let *agents* tell all others their items of *size* bytes each, from this instant on."""
        place = self._open(round)
        self.rounds.sizes[place, agents] = LABEL_BYTES + size
        now, state = self.clock.now, self.machine.state
        first = int(state[machine_rows.STEPS])
        while first + len(agents) > len(self.machine.steps):
            self.more(machine_rows.STEPS_FULL)
        rows = self.machine.steps[first : first + len(agents)]
        rows[:, 0] = agents
        rows[:, 1:-2] = self.take(place, agents)
        rows[:, -2:] = round, now
        state[machine_rows.STEPS] += len(agents)
        state[machine_rows.STEP_TIME] = min(int(state[machine_rows.STEP_TIME]), now)
        self.appoint_step(now)

    def done(self, agent: int, round: int) -> None:
        """Let rounds from *round* on end without *agent*."""
        self._done_from[agent] = round
        for number in [number for number in self._lists if number >= round]:
            place = self._place(number)
            counts, has = self.rounds.agents[place] & COUNTS > 0, self.holders(place)
            counts[agent] = False
            lacking = (counts & ~has[agent]).sum() + (counts & ~has[:, agent]).sum() + (not has[agent, agent])
            self.rounds.agents[place, agent] &= ~np.uint8(COUNTS)
            self.rounds.table[place, columns.MISSING] -= lacking
            self._look_who_is_left(number, self._patience.waiting(number))
            if counts.any() and not self.rounds.table[place, columns.MISSING]:
                self.rounds.table[place, columns.NUMBER] = 0
                self._end(number)

    @property
    def late(self) -> int:
        """Items that reached an agent when it had gone on without them."""
        return super().late + int(self.rounds.state[columns.LATE])

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        ended = self.rounds.ended[: self.rounds.state[columns.ENDED]].tolist()
        self.rounds.state[columns.ENDED] = 0
        for number in ended:
            self._end(number)

    def _end(self, number: int) -> None:
        if self.told:
            self.end(number)
            return
        lists = self._lists.pop(number)
        labels = _mask(self.rounds.agents[self._place(number)] & COUNTS > 0)
        for agent in self._patience.waiting(number):
            lists.known[agent] = labels
        answer = self._end_round(number, lists, labels)
        if answer is not None:
            self._informed.pop(number).succeed(answer)

    def _holds(self, round: int, agent: int) -> list[Item]:
        """See `FreeRounds`; asked for at the deadline of *agent*, which goes on now."""
        place = self._place(round)
        self.rounds.agents[place, agent] |= WENT_ON
        self._look_who_is_left(round, [other for other in self._patience.waiting(round) if other != agent])
        self._lists[round].known[agent] = _mask(self.holds(place, agent))
        return self._lists[round].held(agent)

    def _look_who_is_left(self, round: int, waiting: Sequence[int]) -> None:
        """Note whether all who count in *round* have gone on by their own clocks, given who still waits."""
        place, items = self._place(round), self._lists[round].items
        counting = np.flatnonzero(self.rounds.agents[place] & COUNTS).tolist()
        self.rounds.table[place, columns.LEFT] = not waiting and all(items[label] is not None for label in counting)

    def heard(self) -> NDArray[np.int64]:
        """Return what has been heard since this was asked last, in order, shape (n, 4).

        A row: who, whose, of which round, and the first slot boundary at or after the instant.
        """
        rows = self._heard.taken()
        order = [columns.ROUND, columns.SOURCE, columns.LISTENER, columns.ORDER]
        return rows[np.lexsort(rows[:, order].T)][:, : columns.ORDER]

    def tell(self) -> None:
        """See `CompiledLoop.tell`."""
        super().tell()
        self._heard.keep(self.rounds.heard, self.rounds.state, columns.HEARD)

    def appoint_steps(self) -> None:
        """See `CompiledLoop.appoint_steps`; there may be several, as agents contribute between boundaries."""
        super().appoint_steps()
        self.appoint_each_step()

    def _place(self, round: int) -> int:
        return round % len(self.rounds.table)

    def _open(self, round: int) -> int:
        """Return the place of *round*, which is made ready if it has none."""
        table = self.rounds.table
        if table[self._place(round), columns.NUMBER] == round:
            return self._place(round)
        if table[self._place(round), columns.NUMBER]:
            self._close_what_is_over()
        while self.rounds.table[self._place(round), columns.NUMBER]:
            self._widen()
        place = self._place(round)
        counting = self._done_from > round
        self.rounds.table[place] = round, counting.sum() ** 2, 0
        self.rounds.agents[place] = counting * COUNTS
        self.clear(place)
        return place

    def _close_what_is_over(self) -> None:
        """Give places back of rounds in which all have contributed, nobody waits, and nothing is under way."""
        numbers = self.rounds.table[:, columns.NUMBER]
        steps = self.machine.steps[: self.machine.state[machine_rows.STEPS], -2]
        over = ~np.isin(numbers, np.concatenate([self.used_messages()["round"], steps]))
        for place in np.flatnonzero(over & (numbers > 0)).tolist():
            number = int(numbers[place])
            if not self.told:
                if not self.rounds.table[place, columns.LEFT]:
                    continue
                del self._lists[number]
            numbers[place] = 0

    def oldest(self, otherwise: int) -> int:
        """Return the lowest number of a round in which something is still to be heard, or asked for, or *otherwise*."""
        self._close_what_is_over()
        numbers = self.rounds.table[:, columns.NUMBER]
        return self._heard.oldest(columns.ROUND, numbers[numbers > 0], otherwise)

    def _widen(self) -> None:
        rounds = self.rounds
        numbers = rounds.table[:, columns.NUMBER]
        self._numbers = numbers[numbers > 0]
        self.widen()
        self.rounds = rounds._replace(
            table=self.moved(rounds.table),
            agents=self.moved(rounds.agents),
            sizes=self.moved(rounds.sizes),
            ended=np.zeros(2 * len(rounds.ended), dtype=np.int64),
        )

    def moved(self, array: NDArray[Number]) -> NDArray[Number]:
        """Return *array*, whose first axis are places, with twice as many, and what is open in its new place."""
        return moved(array, self._numbers, 2 * len(array))


def _mask(members: NDArray[np.bool_]) -> Labels:
    return int.from_bytes(np.packbits(members, bitorder="little").tobytes(), "little")
