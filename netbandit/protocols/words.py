"""TTL flooding: nodes forward packets up to a hop limit; which copies count, and which nodes forward them."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import MutableMapping, Sequence
from typing import Generic, Protocol, TypeVar


class Word(Protocol):
    """A copy of a packet."""

    @property
    def source(self) -> int:
        """The agent that originated it."""

    @property
    def left(self) -> int:
        """The remaining hops (TTL)."""

    @property
    def furthest(self) -> "MutableMapping[int, int] | array[int]":
        """One more than the hops that the copy that got furthest may still go from each node; 0: it has heard none.

        This is one object for all copies of the word, which tells them from those of other words.
        """


AWord = TypeVar("AWord", bound=Word)


class Furthest(dict[int, int]):
    """`Word.furthest` of a word that few nodes hear."""

    def __missing__(self, node: int) -> int:
        return 0


class Words(ABC, Generic[AWord]):
    """Nodes that receive and forward packets."""

    @abstractmethod
    def act_on(self, node: int, word: AWord) -> None:
        """Process *word*, which *node* receives for the first time."""

    @abstractmethod
    def pass_on(self, node: int, word: AWord, left: int, told_by: Sequence[int]) -> None:
        """Let *node* tell its neighbours *word* in copies that may go *left* hops more, but not those in *told_by*."""

    def keeps(self, node: int, word: AWord) -> bool:
        """Return whether *node* keeps *word* without forwarding it; by default it forwards."""
        return False

    def say_word(self, node: int, word: AWord) -> None:
        """Send *word*, which *node* originates, to all its neighbours."""
        if word.left > 0:
            self.pass_on(node, word, word.left - 1, ())

    def hear_words(self, node: int, copies: Sequence[tuple[int, AWord]]) -> None:
        """Let *node* hear copies of words at once, each from a neighbour, in order of arrival.

        Of the copies of a packet only the one with the most remaining hops counts.
        """
        if len(copies) == 1:
            ((teller, word),) = copies
            self._hear(node, word, (teller,))
            return
        told: dict[int, tuple[AWord, list[int]]] = {}
        for teller, word in copies:
            known = told.get(id(word.furthest))
            if known is None:
                told[id(word.furthest)] = word, [teller]
            else:
                known[1].append(teller)
                if word.left > known[0].left:
                    told[id(word.furthest)] = word, known[1]
        for word, tellers in told.values():
            self._hear(node, word, tellers)

    def _hear(self, node: int, word: AWord, told_by: Sequence[int]) -> None:
        """Forward *word* if this copy has more remaining hops than any before, and act on it when it is new.

        Over unequal latencies a long fast path may come first. What a node has told itself it ignores.
        """
        before = word.furthest[node]
        if before > word.left or word.source == node:
            return
        word.furthest[node] = word.left + 1
        if word.left > 0 and not self.keeps(node, word):
            self.pass_on(node, word, word.left - 1, told_by)
        if not before:
            self.act_on(node, word)
