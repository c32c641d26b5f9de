"""Words: what an agent tells, and nodes pass on for so many hops; which copies of them count, and who passes them on.

They are two texts (see `netbandit.texts`) on sets of words, each word a bit, so that ``a & ~b`` are those of *a* that
are not in *b*. A set may be a single word, such as a call or a release of `local`, message by message (see
`one_by_one`) or in a compiled loop; or what all agents tell at one time, in floods.

``own`` is whatever an execution keeps. *Copies* are all that a node hears at once of some words, and who has told them.
"""

from array import array
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any, Protocol

from netbandit.network.network import Network
from netbandit.texts import primitive, text, written_out

Own = Any
Copies = Any
Words = Any


@text
def hear_copies(network: Any, own: Own, node: int, copies: Copies) -> None:
    """Let *node* hear *copies*: of those of one word that which may go furthest counts.

    The node passes a word on that it has not told itself, if this copy may go further than any before: over unequal
    latencies a long fast path may come first. It acts on a word that is for it when it hears it first.
    """
    counted = no_words(own)
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
def no_words(own: Own) -> Words:
    """Return no words."""
    raise NotImplementedError


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


# Words that are told one by one, message by message. Each is a set of its own. Its copies are a pair: the one that may
# go furthest, and who has told any.


class Word(Protocol):
    """A copy of a word."""

    @property
    def source(self) -> int:
        """The agent that has said it."""

    @property
    def left(self) -> int:
        """How many hops it may still go."""

    @property
    def furthest(self) -> "MutableMapping[int, int] | array[int]":
        """One more than the hops that the copy that got furthest may still go from each node; 0: it has heard none.

        This is one object for all copies of the word, which tells them from those of other words.
        """


class Furthest(dict[int, int]):
    """`Word.furthest` of a word that few nodes hear."""

    def __missing__(self, node: int) -> int:
        return 0


@cache
def one_by_one(
    is_for: Callable[..., bool],
    take_in: Callable[..., None],
    kept: Callable[..., int],
    tell_others: Callable[..., None],
) -> tuple[FunctionType, FunctionType]:
    """Return `hear_words` and `say_word`, which call these texts."""
    names: dict[str, Any] = {"is_for": is_for, "take_in": take_in, "kept": kept, "tell_others": tell_others}
    names |= {"no_words": nothing, "hops_left": only_left, "copies_with": only_word}
    names |= {"heard_with": heard_alone_with, "note_heard": note_heard_alone}
    return written_out(hear_words, names), written_out(say_word, names)


@text
def hear_words(network: Network, own: Own, node: int, copies: Sequence[tuple[int, Any]]) -> None:
    """Let *node* hear copies of words at once, each from a neighbour, in order of arrival."""
    if len(copies) == 1:
        teller, word = copies[0]
        hear_copies(network, own, node, (word, [teller]))
    else:
        told: dict[int, tuple[Any, list[int]]] = {}
        for teller, word in copies:
            known = told.get(id(word.furthest))
            if known is None:
                told[id(word.furthest)] = word, [teller]
            else:
                known[1].append(teller)
                if word.left > known[0].left:
                    told[id(word.furthest)] = word, known[1]
        for of_one in told.values():
            hear_copies(network, own, node, of_one)


@text
def say_word(network: Network, own: Own, node: int, word: Any) -> None:
    """Let *node* tell all its neighbours a word of its own."""
    say(network, own, node, (word, [node]), 1, word.left)


@text
def nothing(own: Own) -> int:
    return 0


@text
def only_left(own: Own, copies: Copies) -> tuple[int]:
    return (copies[0].left,)


@text
def only_word(own: Own, copies: Copies, left: int) -> int:
    return 1


@text
def heard_alone_with(own: Own, node: int, copies: Copies, words: int, left: int) -> int:
    return 1 if copies[0].furthest[node] > left or copies[0].source == node else 0


@text
def note_heard_alone(own: Own, node: int, copies: Copies, words: int, left: int) -> None:
    copies[0].furthest[node] = left + 1


@text
def passed_on(own: Own, node: int, copies: Copies, words: int) -> int:
    """Stand for `kept` where all words are passed on."""
    return 0


@text
def for_all(own: Own, node: int, copies: Copies) -> bool:
    """Stand for `is_for` where words are for all."""
    return True
