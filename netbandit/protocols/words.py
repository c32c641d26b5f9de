"""Words: what an agent tells, and nodes pass on for so many hops; which copies of them count, and who passes them on.

They are two texts (see `netbandit.texts`) on sets of words, each word a bit, so that ``a & ~b`` are those of *a* that
are not in *b*. A set may be a single word, such as a call or a release of `local`, message by message (see
`hear_words`) or in a compiled loop; or what all agents tell at one time, in floods.

``own`` is whatever an execution keeps. *Copies* are all that a node hears at once of some words, and who has told them.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from types import FunctionType
from typing import Any, Protocol, TypeVar

from netbandit.network.link import Channel
from netbandit.network.network import Network
from netbandit.texts import primitive, text, written_out

Own = Any
Copies = Any
Words = Any


@text
def hear(network: Any, own: Own, node: int, copies: Copies) -> None:
    """Let *node* hear *copies*: of those of one word that which may go furthest counts.

    The node passes a word on that it has not told itself, if this copy may go further than any before: over unequal
    latencies a long fast path may come first. It acts on a word that is for it when it hears it first.
    """
    counted = 0
    for left in hops_left(own, copies):
        words = copies_with(own, copies, left) & ~counted
        counted = counted | words
        further = words & ~heard_with(own, node, copies, words, left)
        if further != 0:
            first = further & ~heard_with(own, node, copies, further, 0)
            note_heard(own, node, copies, further, left)
            say(network, own, node, copies, further & ~kept(own, node, copies, further), left)
            if first != 0 and is_for(own, node, copies):
                take_in(own, node, copies, first)


@text
def say(network: Any, own: Own, node: int, copies: Copies, words: Words, left: int) -> None:
    """Let *node* tell *words* that may go *left* hops, of which this is one."""
    if left > 0:
        tell_others(network, own, node, copies, words, left - 1)


@primitive
def hops_left(own: Own, copies: Copies) -> Iterable[int]:
    """Yield how many hops some of *copies* may still go, the highest number first; none twice.

    Numbers may be left out of copies of no words but such as had a higher one.
    """
    raise NotImplementedError


@primitive
def copies_with(own: Own, copies: Copies, left: int) -> Words:
    """Return the words of which there is a copy that may go *left* hops more."""
    raise NotImplementedError


@primitive
def heard_with(own: Own, node: int, copies: Copies, words: Words, left: int) -> Words:
    """Return, among others, those of *words* that *node* has told itself, or heard in a copy that may go as far."""
    raise NotImplementedError


@primitive
def note_heard(own: Own, node: int, copies: Copies, words: Words, left: int) -> None:
    """Note that *node* has heard *words* in copies that may go *left* hops more."""
    raise NotImplementedError


@primitive
def kept(own: Own, node: int, copies: Copies, words: Words) -> Words:
    """Return, among others, those of *words* that *node* does not pass on."""
    raise NotImplementedError


@primitive
def is_for(own: Own, node: int, copies: Copies) -> bool:
    """Return whether *node* acts on these words."""
    raise NotImplementedError


@primitive
def take_in(own: Own, node: int, copies: Copies, words: Words) -> None:
    """Let *node* act on *words*."""
    raise NotImplementedError


@primitive
def tell_others(network: Any, own: Own, node: int, copies: Copies, words: Words, left: int) -> None:
    """Let *node* tell each neighbour those of *words* that it has not just told, in copies of *left* hops more."""
    raise NotImplementedError


# Words that are told one by one, message by message: each alone is a set.


class Word(Protocol):
    """A copy of a word."""

    @property
    def source(self) -> int:
        """The agent that has said it."""

    @property
    def left(self) -> int:
        """How many hops it may still go."""

    @property
    def furthest(self) -> dict[int, int]:
        """How many hops the copy that got furthest may still go from each node that has heard one.

        This is one dictionary for all copies of the word, which tells them from those of other words.
        """


_Word = TypeVar("_Word", bound=Word)
_Heard = TypeVar("_Heard", bound=Word, contravariant=True)


class Speakers(Protocol[_Heard]):
    """Nodes that tell words one by one."""

    @property
    def network(self) -> Network:
        """The network."""

    def is_for(self, node: int, word: _Heard) -> bool:
        """Return whether *node* acts on a word when it hears it first."""

    def act_on(self, node: int, word: _Heard) -> None:
        """Let *node* act on a word."""

    def put(self, word: _Heard, left: int, channels: Sequence[Channel]) -> None:
        """Put a word that may go *left* hops more on some channels of a node."""


def hear_words(own: Speakers[_Word], node: int, copies: "Sequence[tuple[int, _Word]]") -> None:
    """Let *node* hear copies of words at once, each from a neighbour, in order of arrival."""
    hear_word = _one_by_one()[0]
    if len(copies) == 1:
        hear_word(own.network, own, node, copies)
        return
    told: dict[int, list[tuple[int, _Word]]] = {}
    for copy in copies:
        told.setdefault(id(copy[1].furthest), []).append(copy)
    for of_one in told.values():
        of_one.sort(key=_left, reverse=True)
        hear_word(own.network, own, node, of_one)


def say_word(own: Speakers[_Word], node: int, word: _Word) -> None:
    """Let *node* tell all its neighbours a word of its own."""
    _one_by_one()[1](own.network, own, node, ((node, word),), 1, word.left)


def _left(copy: tuple[int, Word]) -> int:
    return copy[1].left


@cache
def _one_by_one() -> tuple[FunctionType, FunctionType]:
    names = {
        "hops_left": only_left,
        "copies_with": only_word,
        "heard_with": heard_alone_with,
        "note_heard": note_heard_alone,
        "kept": none_kept,
        "is_for": is_word_for,
        "take_in": act_on_word,
        "tell_others": tell_word,
    }
    return written_out(hear, names), written_out(say, names)


@text
def only_left(own: Own, copies: Copies) -> tuple[int]:
    return (copies[0][1].left,)  # the highest number comes first


@text
def only_word(own: Own, copies: Copies, left: int) -> int:
    return 1


@text
def heard_alone_with(own: Own, node: int, copies: Copies, words: int, left: int) -> int:
    return 1 if copies[0][1].furthest.get(node, -1) >= left or copies[0][1].source == node else 0


@text
def note_heard_alone(own: Own, node: int, copies: Copies, words: int, left: int) -> None:
    copies[0][1].furthest[node] = left


@text
def none_kept(own: Own, node: int, copies: Copies, words: int) -> int:
    return 0


@text
def is_word_for(own: Own, node: int, copies: Copies) -> bool:
    return own.is_for(node, copies[0][1])  # type: ignore[no-any-return]


@text
def act_on_word(own: Own, node: int, copies: Copies, words: int) -> None:
    own.act_on(node, copies[0][1])


@text
def tell_word(network: Network, own: Own, node: int, copies: Copies, words: int, left: int) -> None:
    told_by = [teller for teller, _ in copies]
    channels = [channel for channel in network.channels[node] if channel.receiver not in told_by]
    if channels:
        own.put(copies[0][1], left, channels)
