"""Compiled floods of all agents in every slot: bit sets record which agent holds whose observation of which slot.

A *content* is the set of sources whose observations of one age and one rest a message brings, a bit a source. Its age
is that of the observation, in slots, when the message is sent; its rest is the remaining TTL in hops on arrival. A
message that takes d slots brings content of age a as age a + d.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netbandit.util.jit import Integers, njit

Words = NDArray[np.uint64]

_ONE = np.uint64(1)
_NONE = np.uint64(0)


class Flood(NamedTuple):
    """Where all that is flooded is; a tuple, so that compiled loops can take it.

    Attributes:
        first_row: The first channel into each agent, all channels sorted by receiver, then sender, shape (M + 1,).
        senders: The sender of each channel, shape (channels,).
        reverse: The other direction of each, shape (channels,).
        delays: In how many slots its messages take effect, shape (channels,); empty: that differs.
        due: When the message of slot u takes effect, shape (channels, D), column u mod D; -1: never.
        content_age, content_rest: Of each content that there can be, shape (contents,); the first is what agents tell.
        content_of: The content of an age and a rest, shape (ages + 1, ttl); -1: there is none.
        ages: The ages that content can have when it arrives, ascending, shape (n,).
        age_of: The place of an age among these, shape (ages + 1,); -1: it is none.
        sent: The contents of the message of slot u, shape (D, channels, contents, words), row u mod D.
        known: Whose observations of slot s each agent holds from copies that could go at least so many hops more, shape
            (S, M, ttl, words), row s mod S; its own at all.
        absorbed: Whose observations of slot s each agent does not pass on, shape (S, M, words).
        forward: The contents that each agent forwards at this boundary, shape (M, contents, words).
        copies: The copies that an agent receives at this boundary, by age and rest, shape (n, ttl, words).
        came: The contents received over each channel at this boundary, by age, shape (channels, n, words).
        fresh: The contents that each agent receives for the first time at this boundary, shape (M, n, words).
    """

    first_row: NDArray[np.int64]
    senders: NDArray[np.int64]
    reverse: NDArray[np.int64]
    delays: NDArray[np.int64]
    due: NDArray[np.int64]
    content_age: NDArray[np.int64]
    content_rest: NDArray[np.int64]
    content_of: NDArray[np.int64]
    ages: NDArray[np.int64]
    age_of: NDArray[np.int64]
    sent: Words
    known: Words
    absorbed: Words
    forward: Words
    copies: Words
    came: Words
    fresh: Words


@njit(cache=True)
def _ones(word: np.uint64) -> np.int64:
    """Return how many bits of *word* are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _hear_copies(flood: Flood, agent: int, place: int, ring_row: int, word: int) -> None:
    """As `netbandit.protocols.ttl_flood.TtlFlood._receive`, for the copies of one age, in one word of bits.

    Args:
        flood: The flood.
        agent: The receiver.
        place: The place of the age.
        ring_row: The row of the slot in which these observations were sent.
        word: The place of the word.
    """
    counted = _NONE
    for left in range(flood.copies.shape[1] - 1, -1, -1):
        copies = flood.copies[place, left, word] & ~counted
        counted |= copies
        further = copies & ~flood.known[ring_row, agent, left, word]
        if further != _NONE:
            flood.fresh[agent, place, word] |= further & ~flood.known[ring_row, agent, 0, word]
            for less in range(left + 1):
                flood.known[ring_row, agent, less, word] |= further
            if left > 0:
                content = flood.content_of[flood.ages[place], left - 1]
                flood.forward[agent, content, word] = further & ~flood.absorbed[ring_row, agent, word]


@njit(cache=True)
def _bring(flood: Flood, row: int, column: int, delay: int) -> None:
    """Deliver the contents of the message in this *column* of *due* over the channel of *row*, *delay* slots old."""
    contents, words = flood.sent.shape[2], flood.sent.shape[3]
    for content in range(contents):
        index = flood.age_of[flood.content_age[content] + delay]
        rest = flood.content_rest[content]
        for word in range(words):
            bits = flood.sent[column, row, content, word]
            if bits != _NONE:
                flood.came[row, index, word] |= bits
                flood.copies[index, rest, word] |= bits


@njit(cache=True)
def hear_all(flood: Flood, boundary: int) -> int | np.int64:
    """Deliver all messages that take effect at *boundary*.

    Returns:
        The number of observations received for the first time: the bits set in ``fresh``.
    """
    depth, rings = flood.due.shape[1], flood.known.shape[0]
    heard: int | np.int64 = 0
    flood.forward[:] = _NONE
    flood.came[:] = _NONE
    flood.fresh[:] = _NONE
    for agent in range(flood.known.shape[1]):
        flood.copies[:] = _NONE
        for row in range(flood.first_row[agent], flood.first_row[agent + 1]):
            if len(flood.delays):
                delay = flood.delays[row]
                column = (boundary - delay) % depth
                if boundary >= delay and flood.due[row, column] == boundary:
                    _bring(flood, row, column, delay)
                continue
            for delay in range(min(depth, boundary), 0, -1):
                column = (boundary - delay) % depth
                if flood.due[row, column] == boundary:
                    _bring(flood, row, column, delay)
        for index in range(len(flood.ages)):
            age = flood.ages[index]
            if age > boundary:
                break
            for word in range(flood.known.shape[3]):
                _hear_copies(flood, agent, index, (boundary - age) % rings, word)
                heard += _ones(flood.fresh[agent, index, word])
    return heard


@njit(cache=True)
def name(flood: Flood, boundary: int, receivers: Integers, sources: Integers, sent_at: Integers) -> None:
    """Name what `hear_all` found, in order of the agent, the source and the slot.

    Args:
        flood: The flood.
        boundary: As for `hear_all`.
        receivers: Filled in: the receiver of each, shape (n,).
        sources: Filled in: whose observation it is, shape (n,).
        sent_at: Filled in: the slot in which each was sent, shape (n,).
    """
    agents, ages, words = flood.fresh.shape
    row = 0
    for agent in range(agents):
        for word in range(words):
            some = _NONE
            for index in range(ages):
                some |= flood.fresh[agent, index, word]
            source = 64 * word
            while some != _NONE:
                if some & _ONE:
                    bit = np.uint64(source - 64 * word)
                    for index in range(ages - 1, -1, -1):
                        if (flood.fresh[agent, index, word] >> bit) & _ONE:
                            receivers[row] = agent
                            sources[row] = source
                            sent_at[row] = boundary - flood.ages[index]
                            row += 1
                some >>= _ONE
                source += 1


@njit(cache=True)
def pass_on(flood: Flood, slot: int, tells: bool, copies: Integers) -> None:
    """Put on each channel the sender's own observation of *slot*, and those it forwards that did not come from there.

    Args:
        flood: The flood.
        slot: The slot.
        tells: Whether agents tell an observation of their own.
        copies: Filled in: how many observations each message brings, shape (channels,).
    """
    rings, agents, ttl = flood.known.shape[0], flood.known.shape[1], flood.known.shape[2]
    column, ring_row = slot % flood.due.shape[1], slot % rings
    contents, words = flood.sent.shape[2], flood.sent.shape[3]
    flood.known[ring_row] = _NONE
    for agent in range(agents):
        for rest in range(ttl):
            flood.known[ring_row, agent, rest, agent // 64] = _ONE << np.uint64(agent % 64)
    for row in range(len(flood.senders)):
        sender, back = flood.senders[row], flood.reverse[row]
        count: int | np.int64 = 0
        flood.sent[column, row, 0] = _NONE
        if tells:
            flood.sent[column, row, 0, sender // 64] = _ONE << np.uint64(sender % 64)
            count = 1
        for content in range(1, contents):
            index = flood.age_of[flood.content_age[content]]
            for word in range(words):
                bits = flood.forward[sender, content, word] & ~flood.came[back, index, word]
                flood.sent[column, row, content, word] = bits
                if bits != _NONE:
                    count += _ones(bits)
        copies[row] = count


@njit(cache=True)
def arrivals(due: Integers, boundary: int) -> tuple[Integers, Integers]:
    """Return the channel and the slot of each message that takes effect at *boundary*, sorted by channel, then slot.

    Args:
        due: As in `Flood`.
        boundary: The boundary.
    """
    channels, depth = due.shape
    rows = np.empty(channels * depth, dtype=np.int64)
    sent_at = np.empty(channels * depth, dtype=np.int64)
    found = 0
    for channel in range(channels):
        for delay in range(min(depth, boundary), 0, -1):
            if due[channel, (boundary - delay) % depth] == boundary:
                rows[found] = channel
                sent_at[found] = boundary - delay
                found += 1
    return rows[:found], sent_at[:found]
