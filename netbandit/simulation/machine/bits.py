"""Bits of words of 64, in compiled functions by one instruction of the processor."""

from typing import Any

from numba import types
from numba.extending import intrinsic, overload

WORD_BITS = 6
"""A word has 2^6 bits."""


def ones(word: int) -> int:
    """Return how many bits of a *word* are set."""
    return (int(word) & 0xFFFFFFFFFFFFFFFF).bit_count()


def lowest(word: int) -> int:
    """Return the place of the lowest bit of a *word* that is set; one is."""
    word = int(word)
    return (word & -word).bit_length() - 1


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _count_ones(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _count_trailing_zeros(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), generate


# Numba wants the same arguments, without types.


@overload(ones)
def _ones(word):  # type: ignore[no-untyped-def]
    return lambda word: _count_ones(word)


@overload(lowest)
def _lowest(word):  # type: ignore[no-untyped-def]
    return lambda word: _count_trailing_zeros(word)
