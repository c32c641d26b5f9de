"""How the loops of messages are compiled: without reference counts, and in one piece.

They pass some thirty arrays on from function to function. Counting who refers to each of them, or copying them to the
stack of a function that is called, takes several times as long as what they do for a message.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile *function*, which must not allocate, and keep it on disk."""
    return cast(Function, njit(cache=True, _nrt=False, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """As `compiled`, written out wherever it is called."""
    return cast(Function, njit(cache=True, _nrt=False, forceinline=True, error_model="numpy")(function))


def for_faults(loop: Function) -> Function:
    """Return *loop* for networks in which something can go wrong: compiled for them, and kept, under another name."""
    plain = cast(Any, loop).py_func
    twin = FunctionType(plain.__code__, plain.__globals__, f"{plain.__name__}_with_faults")
    return cast(Function, inlined(twin))
