"""Compiled synchronisations over `local`."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from netbandit.network.clock import AGENTS
from netbandit.network.message import Kind
from netbandit.network.network import Network
from netbandit.parts.component import state
from netbandit.protocols.calls import SyncHandler
from netbandit.protocols.local import RELEASE, SYNC, Local, Part, Progress, Word, size_of
from netbandit.simulation.compiled_rounds.engine import CompiledLoop
from netbandit.simulation.machine import rows
from netbandit.simulation.machine import words as kernel
from netbandit.simulation.machine.execution import Loop, texts_of
from netbandit.simulation.machine.inboxes import play
from netbandit.simulation.machine.steps import STEP_COLUMNS

_TEXTS = texts_of(kernel)


class CompiledLocal(CompiledLoop, Local):
    """Stands for `Local`.

    The loop passes words on; who takes part in which meeting, releases and adopts is as there.
    """

    kinds: ClassVar[tuple[Kind, ...]] = (SYNC, RELEASE)
    name: ClassVar[str] = "local"
    loop: ClassVar[Loop] = Loop(play, _TEXTS, "local")
    saying: ClassVar[Loop] = Loop(kernel.say_all, _TEXTS, "local")
    compiled_beside: ClassVar[tuple[Loop, ...]] = (saying,)
    step_columns: ClassVar[int] = STEP_COLUMNS

    words: kernel.Told = state()
    """What is being told."""

    def start(self, network: Network, sync_handler: SyncHandler) -> None:
        """See `CallProtocol.start`."""
        super().start(network, sync_handler)
        self.prepare(network, AGENTS)
        agents = network.agents
        self._saying: list[Word] = []
        self._said: list[Word | None] = []  # what may be under way, by its number in the loop
        self._met_in: set[Progress] = set()  # meetings of whose words there are rows
        self._unused_words: list[int] = []
        self._unused_rows: list[int] = []
        self.words = kernel.Told(
            state=np.zeros(3, dtype=np.int64),
            words=np.empty((0, kernel.WORD_COLUMNS), dtype=np.int64),
            furthest=np.empty((0, agents), dtype=np.int32),
            cliques=np.array(self.groups, dtype=np.int64),
            heard=np.empty((0, 2), dtype=np.int64),
            next=np.empty(0, dtype=np.int64),
            together=np.empty((1, 4), dtype=np.int64),
            group=np.empty(0, dtype=np.int64),
            told_by=np.zeros(len(self.machine.channels), dtype=np.uint8),
        )

    def call(self, agent: int, param_set: int) -> None:
        """See `CallProtocol.call`."""
        super().call(agent, param_set)
        self._put_words()

    def _release(self, due: list[tuple[int, list[Part]]]) -> None:
        super()._release(due)
        self._put_words()

    def say(self, word: Word) -> None:
        """Keep what a source says until all that say something in this turn have."""
        self._saying.append(word)
        self._met_in.add(word.progress)

    def _put_words(self) -> None:
        """Let the loop take what has been said."""
        said, self._saying = self._saying, []
        if not said:
            return
        if len(self._unused_words) < len(said):
            self._let_go(said)
        numbers = np.array([self._unused_words.pop() for _ in said])
        for number, word in zip(numbers.tolist(), said, strict=True):
            self._said[number] = word
        words = self.words
        words.words[numbers, kernel.CLIQUE] = [word.meeting.clique for word in said]
        words.words[numbers, kernel.SOURCE] = [word.source for word in said]
        words.words[numbers, kernel.KIND] = [kernel.SYNC if word.item is None else kernel.RELEASE for word in said]
        words.words[numbers, kernel.SIZE] = [size_of(word) for word in said]
        words.words[numbers, kernel.FURTHEST] = [word.furthest for word in said]
        self.expect(int(words.words[numbers, kernel.SIZE].max()))
        self.send(lambda: self.run(self.saying, self.machine, words, numbers, self.ttl, self.clock.now))

    def heard_by_nobody(self) -> int:
        """Return the row of a word that nobody has heard."""
        if not self._unused_rows:
            before = self.words.furthest
            more = len(before) + self.network.agents
            self.words = self.words._replace(
                furthest=np.concatenate([before, np.empty((more, self.network.agents), dtype=np.int32)]),
                group=np.full(len(before) + more, -1, dtype=np.int64),
            )
            self._unused_rows += range(len(before), len(before) + more)
        row = self._unused_rows.pop()
        self.words.furthest[row] = -1
        return row

    def forget_word(self, furthest: int, agent: int) -> None:
        """See `Local.forget_word`."""
        self.words.furthest[furthest, agent] = -1

    def _let_go(self, needed: Sequence[Word]) -> None:
        """Let go of words of which nothing is under way, and of meetings that are over, of which nobody can hear.

        As many can be said then as are under way, and as many as are *needed* now.
        """
        under_way = np.zeros(len(self._said) + 1, dtype=np.bool_)
        under_way[self.machine.messages["round"]] = True  # the last one is of rows that are not used
        self._said = [word if alive else None for word, alive in zip(self._said, under_way.tolist(), strict=False)]
        heard_of = {word.progress for word in (*self._said, *needed) if word is not None}
        for progress in [one for one in self._met_in if one not in heard_of and one.adopted == one.joined]:
            self._unused_rows += progress.furthest.values()
            progress.furthest.clear()
            self._met_in.remove(progress)
        kept = int(under_way[:-1].sum())
        lacking = kept + max(kept, len(needed), self.network.agents) - len(self._said)
        if lacking > 0:
            self._said += [None] * lacking
            more = np.empty((lacking, kernel.WORD_COLUMNS), dtype=np.int64)
            self.words = self.words._replace(words=np.concatenate([self.words.words, more]))
        self._unused_words = [number for number, word in enumerate(self._said) if word is None]

    def play(self, arrivals_until: int, steps_until: int) -> int:
        """See `CompiledLoop.play`."""
        room = len(self.machine.inbox)
        if len(self.words.next) < room:  # as many may reach a node at once
            self.words = self.words._replace(
                heard=np.empty((room, 2), dtype=np.int64),
                next=np.empty(room, dtype=np.int64),
                together=np.empty((room, 4), dtype=np.int64),
            )
        return self.run(self.loop, self.machine, self.words, arrivals_until, steps_until, self.slotted)

    def tell(self) -> None:
        """See `CompiledLoop.tell`; members of cliques act on what they have heard."""
        super().tell()
        state = self.words.state
        heard = self.words.heard[: state[kernel.HEARD]].tolist()
        state[kernel.HEARD] = 0
        for agent, number in heard:
            word = self._said[number]
            assert word is not None, "it has just been heard"
            self.act_on(agent, word)

    def inform(self) -> None:
        """See `CompiledLoop.inform`: who has heard a call has been told."""
        self.words.state[kernel.CALLED] = 0

    def make_room(self, why: int) -> None:
        """See `CompiledLoop.make_room`."""
        if why != rows.LISTS_FULL:  # else there is room now, as all has been told
            super().make_room(why)
