"""Compiled rounds of protocols whose nodes do what handlers say: `gis`, `flooding`, `gossip`, and one's own."""

from functools import cache
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from netbandit.network.message import HEADER_BYTES, LABEL_BYTES, Kind
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.handlers import CHOICES, Handlers
from netbandit.protocols.neighbour_rounds import NeighbourRounds
from netbandit.protocols.open_rounds import Labels, OpenRound, OpenRounds
from netbandit.protocols.protocol import Aggregation, Item
from netbandit.protocols.triggered_rounds import CALL
from netbandit.simulation.compiled_rounds.calls import CalledRounds
from netbandit.simulation.compiled_rounds.heard import HeardRows
from netbandit.simulation.compiled_rounds.places import moved
from netbandit.simulation.machine import handlers, rows
from netbandit.simulation.machine import open_rounds as columns
from netbandit.simulation.machine.bits import WORD_BITS
from netbandit.simulation.machine.execution import Loop, texts_of
from netbandit.simulation.machine.handlers import COUNT_BITS, COUNT_MASK, Spread
from netbandit.simulation.machine.open_rounds import Rounds
from netbandit.simulation.machine.steps import STEP_COLUMNS, STEP_LIFE

Agents = NDArray[np.int64]

_LISTS = 1 << 14
_TELLERS = 1 << 10


def words_of(labels: Labels, words: int) -> NDArray[np.int64]:
    """Return *labels* as so many words of 64 bits."""
    return np.frombuffer((labels & ((1 << 64 * words) - 1)).to_bytes(8 * words, "little"), dtype=np.int64)


def labels_of(words: NDArray[np.int64]) -> Labels:
    """Return as a bit mask what words of 64 bits say."""
    return int.from_bytes(words.tobytes(), "little")


class PlacedRound(OpenRound):
    """A round, of which a compiled loop knows who holds what, in a place of its arrays.

    Args:
        number: See `OpenRound`.
        group: See `OpenRound`.
        members: See `OpenRound`.
        everybody: See `OpenRound`.
        of: All rounds.
    """

    def __init__(self, number: int, group: int, members: range, everybody: Labels, of: "PlacedRounds") -> None:
        self._of = of
        self._at_end: NDArray[np.int64] | None = None
        super().__init__(number, group, members, everybody)

    @property
    def place(self) -> int:
        """Where it is."""
        return self.number % len(self._of.spread.rounds.table)

    @property
    def _row(self) -> NDArray[np.int64]:
        row: NDArray[np.int64] = self._of.spread.rounds.table[self.place]
        return row

    @property
    def missing(self) -> int:
        """See `OpenRound`."""
        return int(self._row[columns.MISSING])

    @missing.setter
    def missing(self, pairs: int) -> None:
        self._row[columns.MISSING] = pairs

    @property
    def deserted(self) -> bool:
        """See `OpenRound`."""
        return bool(self._row[columns.DESERTED])

    @deserted.setter
    def deserted(self, deserted: bool) -> None:
        self._row[columns.DESERTED] = deserted

    @property
    def uniform(self) -> int | None:
        """See `OpenRound`."""
        return int(self._row[columns.UNIFORM]) or None

    @uniform.setter
    def uniform(self, size: int | None) -> None:
        self._row[columns.UNIFORM] = size or 0

    def clear(self) -> None:
        """See `OpenRound.clear`."""
        self._row[columns.NUMBER] = self.number
        self._of.clear(self.place)

    def holds(self, agent: int) -> Labels:
        """See `OpenRound.holds`."""
        known = self._of.spread.known[self.place] if self._at_end is None else self._at_end
        return labels_of(known[agent])

    def count_only(self, counting: Labels) -> None:
        """See `OpenRound.count_only`."""
        spread = self._of.spread
        words = words_of(counting, spread.known.shape[2])
        self.counting = counting
        spread.rounds.counting[self.place] = words
        lacking = words & ~spread.known[self.place][self.in_order(counting)]
        self.missing = int(np.bitwise_count(lacking.view(np.uint64)).sum())

    def go_on(self, agent: int) -> None:
        """See `OpenRound.go_on`."""
        super().go_on(agent)
        self._of.spread.rounds.went_on[self.place, agent] = 1

    def forget(self, agent: int) -> None:
        """See `OpenRound.forget`."""
        self.again.pop(agent, None)
        self.went_on &= ~(1 << agent)
        if self._at_end is not None:
            self._at_end[agent] = 0
        else:
            self._of.forget_in(self.place, agent)

    def keep(self) -> None:
        """Keep who holds what when its place is given to another round."""
        self._at_end = self._of.spread.known[self.place].copy()


class PlacedRounds(OpenRounds):
    """Rounds in the arrays of a compiled loop. One that is open has a place, the rest of its number.

    Args:
        loop: The loop.
        network: The network.
        apart: See `OpenRounds`.
    """

    def __init__(self, loop: "CompiledNeighbourRounds", network: Network, apart: bool) -> None:
        self._loop = loop
        agents, words = network.agents, -(-network.agents // 64)
        purpose = columns.TOLD if loop.told else columns.APART if apart else columns.TOGETHER
        labels = np.arange(agents)
        lists = np.empty((2 * agents + _LISTS + 4 * words, 2), dtype=np.int64)
        lists[:agents, handlers.WORD] = labels >> WORD_BITS
        lists[:agents, handlers.BITS] = np.int64(1) << (labels & 63)
        self.spread = Spread(
            rounds=Rounds(
                table=np.zeros((1, columns.ROUND_COLUMNS), dtype=np.int64),
                state=np.zeros(columns.ROUND_STATES, dtype=np.int64),
                counting=np.zeros((1, words), dtype=np.int64),
                went_on=np.zeros((1, agents), dtype=np.uint8),
                sizes=np.zeros((1, agents), dtype=np.int64),
                ended=np.zeros(1, dtype=np.int64),
                heard=np.empty((agents if loop.told else 0, columns.HEARD_COLUMNS), dtype=np.int64),
            ),
            state=np.zeros(handlers.SPREAD_STATES, dtype=np.int64),
            known=np.zeros((1, agents, words), dtype=np.int64),
            asked=np.zeros((1, agents, words), dtype=np.int64),
            lists=lists,
            met=np.zeros((1, agents, 2), dtype=np.int64),
            next_slot=np.full((1, agents), -1, dtype=np.int64),
            tellers=np.empty((0, 2), dtype=np.int64),
            told=np.zeros((1, agents * agents if loop.notes_tellers else 0), dtype=np.int32),
            left_out=np.zeros(0, dtype=np.uint8),
            used=np.full(agents, -1, dtype=np.int64),
            choices=np.empty((agents, CHOICES if loop.draws else 0), dtype=np.int64),
            left=np.zeros(agents, dtype=np.int64),
        )
        self.spread.rounds.state[columns.PURPOSE] = purpose
        numbers = {
            handlers.USED: agents,
            handlers.SLOTTED: loop.slotted,
            handlers.HORIZON: network.clock.horizon,
            handlers.KEPT_DUE: rows.NEVER,
        }
        self.spread.state[list(numbers)] = list(numbers.values())
        super().__init__(network, [range(agents)], loop.conclude_round, apart)

    @property
    def late(self) -> int:
        """See `OpenRounds`."""
        return int(self.spread.rounds.state[columns.LATE])

    @late.setter
    def late(self, items: int) -> None:
        self.spread.rounds.state[columns.LATE] = items

    def begin(self, number: int, group: int) -> PlacedRound:
        """See `OpenRounds.begin`."""
        table = self.spread.rounds.table
        if table[number % len(table), columns.NUMBER]:
            self.close_what_is_over()
        while self.spread.rounds.table[number % len(self.spread.rounds.table), columns.NUMBER]:
            self._widen()
        return PlacedRound(number, group, range(self.network.agents), self._everybody[group], self)

    def close(self, round: OpenRound) -> None:
        """See `OpenRounds.close`."""
        super().close(round)
        assert isinstance(round, PlacedRound)
        self.spread.rounds.table[round.place, columns.NUMBER] = 0
        if self._apart and self.network.agents_fail:
            round.keep()

    def clear(self, place: int) -> None:
        """Let nobody have anything in a *place*."""
        spread = self.spread
        for array in (spread.known, spread.asked, spread.met, spread.rounds.went_on):
            array[place] = 0
        spread.next_slot[place] = -1
        for row in spread.told[place][np.flatnonzero(spread.told[place])].tolist():
            handlers.give_back_tellers(spread, row)
        spread.told[place] = 0

    def forget_in(self, place: int, agent: int) -> None:
        """Let *agent* know nothing any more in a *place*."""
        spread, agents = self.spread, self.network.agents
        spread.known[place, agent] = spread.asked[place, agent] = 0
        spread.rounds.went_on[place, agent] = 0
        spread.next_slot[place, agent] = -1
        told = spread.told[place, agent * agents : (agent + 1) * agents]
        for row in told[np.flatnonzero(told)].tolist():
            handlers.give_back_tellers(spread, row)
        told[:] = 0

    def contribute(self, number: int, agent: int, item: Item) -> OpenRound:
        """See `OpenRounds.contribute`; the agent acts on its item in this instant."""
        round = super().contribute(number, agent, item)
        self._begin_to_tell(number, np.array([agent]), item.size)
        return round

    def contribute_all(self, number: int, agents: Agents, size: int) -> None:
        """Let *agents* tell all others items of *size* bytes each, of which nothing else matters, from now on."""
        round = self.opened(number, 0)
        round.uniform = LABEL_BYTES + size if round.uniform in (None, LABEL_BYTES + size) else None
        self._begin_to_tell(number, agents, size)

    def _begin_to_tell(self, number: int, agents: Agents, size: int) -> None:
        items = self.network.agents if self._loop.handlers.merges else 1
        self._loop.expect(HEADER_BYTES + items * (LABEL_BYTES + size))
        place = number % len(self.spread.rounds.table)
        self.spread.rounds.sizes[place, agents] = LABEL_BYTES + size
        self.spread.asked[place, agents, agents >> WORD_BITS] |= np.int64(1) << (agents & 63)
        self._loop.add_steps(agents, (agents << COUNT_BITS) | 1, number)

    def close_what_is_over(self) -> None:
        """Close rounds in which nobody waits, and nothing is under way."""
        under_way = np.concatenate([self._loop.used_messages()["round"], self._loop.steps[:, handlers.STEP_ROUND]])
        for round in list(self.open.values()):
            over = round.deserted and not self.network.agents_fail  # else it may still end, when another goes down
            if (self._loop.told or over) and round.number not in under_way:
                self.close(round)

    def _widen(self) -> None:
        """Make places for twice as many rounds."""
        spread = self.spread
        numbers = [round.number for round in self.open.values()]

        def more(array: NDArray[Any]) -> NDArray[Any]:
            return moved(array, numbers, 2 * len(array))

        in_places = ("table", "counting", "went_on", "sizes")
        rounds = spread.rounds._replace(
            **{name: more(getattr(spread.rounds, name)) for name in in_places},
            ended=np.zeros(2 * len(spread.rounds.ended), dtype=np.int64),
        )
        by_place = {name: more(getattr(spread, name)) for name in ("known", "asked", "met", "next_slot", "told")}
        self.spread = spread._replace(rounds=rounds, **by_place)


class CompiledNeighbourRounds(CalledRounds, NeighbourRounds):
    """Stands for a protocol of `NeighbourRounds`: the same rules of rounds, while handlers are executed in a loop."""

    notes_tellers: ClassVar[bool]
    """Whether nodes note who has told them what."""
    draws: ClassVar[bool]
    """Whether nodes draw neighbours."""
    step_columns: ClassVar[int] = STEP_COLUMNS

    told: bool = state(default=False)
    """Whether agents hear each item when it comes, and conclude nothing; see `BroadcastOverCompiledRounds`."""

    def start(self, network: Network, aggregation: Aggregation) -> None:
        """See `CallbackRoundProtocol.start`."""
        super().start(network, aggregation)
        self._heard = HeardRows(columns.HEARD_COLUMNS)
        self._replace(left_out=np.zeros(len(self.machine.channels), dtype=np.uint8))
        if self.draws:
            self._generators = [network.streams.generator(self.stream, node) for node in range(network.agents)]
        if self.notes_tellers:
            self._note_all_tellers()

    def open_rounds(self, network: Network, aggregation: Aggregation) -> PlacedRounds:
        """See `NeighbourRounds.open_rounds`."""
        return PlacedRounds(self, network, aggregation.apart)

    @property
    def placed(self) -> PlacedRounds:
        """The rounds that are open."""
        assert isinstance(self.rounds, PlacedRounds)
        return self.rounds

    @property
    def _spread(self) -> Spread:
        return self.placed.spread

    def _replace(self, **fields: Any) -> None:
        self.placed.spread = self._spread._replace(**fields)

    def conclude_round(self, round: OpenRound, labels: Labels) -> None:
        """End a *round*; see `NeighbourRounds`."""
        if self.told:
            self.end(round.number)
        else:
            self._end_round(round, labels)

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        return self.run(self.loop, self.machine, self._spread, arrivals_until, steps_until)

    @property
    def steps(self) -> NDArray[np.int64]:
        """What nodes are still to take in."""
        found: NDArray[np.int64] = self.machine.steps[: self.machine.state[rows.STEPS]]
        return found

    def add_steps(self, agents: Agents, labels: NDArray[np.int64], number: int) -> None:
        """Let each of *agents* take in a list of labels of a round, in this instant."""
        now, state = self.clock.now, self.machine.state
        first = int(state[rows.STEPS])
        while first + len(agents) > len(self.machine.steps):
            self.more(rows.STEPS_FULL)
        added = self.machine.steps[first : first + len(agents)]
        added[:, 0], added[:, 1], added[:, 3:] = agents, labels, (number, now)
        added[:, STEP_LIFE] = 0
        if self.clock.life is not None:
            added[:, STEP_LIFE] = [self.clock.life(agent, now) for agent in agents.tolist()]
        state[rows.STEPS] += len(agents)
        state[rows.STEP_TIME] = min(int(state[rows.STEP_TIME]), now)
        self.appoint_step(now)

    def appoint_steps(self) -> None:
        """See `CompiledLoop.appoint_steps`; there may be several, as agents contribute between boundaries."""
        super().appoint_steps()
        self.appoint_each_step()

    def inform(self) -> None:
        """See `CompiledLoop.inform`."""
        state = self._spread.rounds.state
        ended = self._spread.rounds.ended[: state[columns.ENDED]].tolist()
        state[columns.ENDED] = state[columns.CLOSED] = 0
        self.rounds.completed += [self.rounds.open[number] for number in ended]
        self.rounds.end_complete()

    def tell(self) -> None:
        """See `CompiledLoop.tell`."""
        super().tell()
        self._heard.keep(self._spread.rounds.heard, self._spread.rounds.state, columns.HEARD)

    def heard(self) -> NDArray[np.int64]:
        """Return what has been heard since this was asked last, in order, shape (n, 4).

        A row: who, whose, of which round, and the first slot boundary at or after the instant.
        """
        found = self._heard.taken()
        order = [columns.ROUND, columns.SOURCE, columns.LISTENER, columns.ORDER]
        return found[np.lexsort(found[:, order].T)][:, : columns.ORDER]

    def oldest(self, otherwise: int) -> int:
        """Return the lowest number of a round in which something is still to be heard, or asked for, or *otherwise*."""
        self.placed.close_what_is_over()
        numbers = np.array([round.number for round in self.rounds.open.values()], dtype=np.int64)
        return self._heard.oldest(columns.ROUND, numbers, otherwise)

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why == rows.CHOICES_USED:
            self._draw()
        elif why == rows.LISTS_FULL:
            if self.notes_tellers:
                self._note_all_tellers()
            self._forget_lists()
        else:
            super().make_room(why)

    def _draw(self) -> None:
        """Let all nodes draw that have drawn too few; each has a stream of its own, and uses what it drew before."""
        wanted = int(self._spread.state[handlers.WANTED_CHOICES])
        more = wanted + CHOICES - self._spread.choices.shape[1]
        if more > 0 and wanted > 1:
            self._replace(choices=np.pad(self._spread.choices, [(0, 0), (0, more)]))
        choices, left = self._spread.choices, self._spread.left
        for node in np.flatnonzero(left < wanted).tolist():
            neighbours = len(self.network.neighbours[node])
            while left[node] < wanted:
                choices[node, CHOICES : CHOICES + left[node]] = choices[node, : left[node]]
                choices[node, :CHOICES] = self._generators[node].integers(neighbours, size=CHOICES)
                left[node] += CHOICES

    def _note_all_tellers(self) -> None:
        """Make room for the tellers of all that may be in the inbox."""
        of_message, _ = self.handlers.said
        while self._spread.state[handlers.TELLERS_LEFT] < of_message.tellers * len(self.machine.inbox):
            self._more_tellers()

    def _more_tellers(self) -> None:
        old, state = self._spread.tellers, self._spread.state
        more = max(_TELLERS, len(old))
        tellers = np.empty((len(old) + more, 2), dtype=np.int64)
        tellers[: len(old)] = old
        tellers[len(old) :, handlers.NEXT] = np.arange(len(old) + 2, len(tellers) + 2)
        tellers[-1, handlers.NEXT] = state[handlers.UNUSED_TELLER]
        state[handlers.UNUSED_TELLER] = len(old) + 1
        state[handlers.TELLERS_LEFT] += more
        self._replace(tellers=tellers)

    def _forget_lists(self) -> None:
        """Keep the lists of labels that something under way names alone; if most are, make room for as many again."""
        agents, messages = self.network.agents, self.machine.messages
        used = np.flatnonzero(messages["round"] >= 0)
        in_steps = self.steps[:, rows.STEP_LABELS]
        named = np.concatenate([(messages["labels"][used] << COUNT_BITS) | messages["count"][used], in_steps])
        longer = (named >> COUNT_BITS >= agents) & (named & COUNT_MASK > 0)  # else it is always there
        lists, which = np.unique(named[longer], return_inverse=True)
        firsts, counts = lists >> COUNT_BITS, lists & COUNT_MASK
        ends = np.cumsum(counts)
        rows_of_all = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(firsts - ends + counts, counts)
        old = self._spread.lists
        end = agents + len(rows_of_all)
        full = 2 * end > len(old) or end == self._spread.state[handlers.USED]
        kept = np.empty((len(old) << full, 2), dtype=np.int64)
        kept[:agents] = old[:agents]
        kept[agents:end] = old[rows_of_all]
        named[longer] = ((agents + ends - counts) << COUNT_BITS | counts)[which.reshape(-1)]
        messages["labels"][used], in_steps[:] = named[: len(used)] >> COUNT_BITS, named[len(used) :]
        self._spread.state[[handlers.USED, handlers.UNITED]] = end
        self._replace(lists=kept)


def _bounds(texts: Handlers) -> dict[str, int]:
    """Return how much handlers say, at most, as the loop has it."""
    message, act = texts.said
    return {
        "ANSWERS": message.answers,
        "TELLS": message.tells,
        "TELLS_ONE": message.tells_one,
        "STEPS_LATER": message.steps,
        "LISTS": message.lists,
        "TELLERS": message.tellers,
        "HOLDS": message.holds,
        "ACT_TELLS": act.tells,
        "ACT_TELLS_ONE": act.tells_one,
        "ACT_STEPS": act.steps,
        "ACT_LISTS": act.lists,
    }


@cache
def compiled_neighbour_rounds(kind: type[NeighbourRounds]) -> type[CompiledNeighbourRounds]:
    """Return what stands for a protocol of a *kind*."""
    texts = kind.handlers
    names = texts.names
    kinds = tuple(dict.fromkeys(value for value in names.values() if isinstance(value, Kind)))
    draws, notes_tellers = "tell_one" in names, not {"note_teller", "tell_others"}.isdisjoint(names)
    of: dict[Any, Any] = {
        **texts_of(handlers),
        **{kind: number for number, kind in enumerate(kinds)},
        "on_message": texts.on_message,
        "act": texts.act,
        **_bounds(texts),
        "CALL": len(kinds),
        "APART": True,
        "MERGES": texts.merges,
        "UNITES": texts.reads_what_is_new,
        "DRAWS": draws,
        "NOTES_TELLERS": notes_tellers,
    }
    name = kind.__name__.lower()
    namespace = {
        "kinds": (*kinds, CALL),
        "name": kind.__name__.lower(),
        "loop": Loop(handlers.play, of, name),
        "draws": draws,
        "notes_tellers": notes_tellers,
        "__module__": __name__,
    }
    annotations = {"kinds": ClassVar, "name": ClassVar, "loop": ClassVar, "draws": ClassVar, "notes_tellers": ClassVar}
    namespace["__annotations__"] = annotations
    made = type(f"Compiled{kind.__name__}", (CompiledNeighbourRounds, kind), namespace)
    return cast(type[CompiledNeighbourRounds], made)
