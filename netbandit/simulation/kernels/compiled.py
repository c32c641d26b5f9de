"""How the loops of messages are compiled: without reference counts, and in one piece.

They pass some thirty arrays on from function to function. Counting who refers to each of them, or copying them to the
stack of a function that is called, takes several times as long as what they do for a message.
"""

from collections.abc import Callable
from itertools import chain
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import njit, typeof

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile *function*, which must not allocate, and keep it on disk."""
    return cast(Function, njit(cache=True, _nrt=False, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """As `compiled`, written out wherever it is called."""
    return cast(Function, njit(cache=True, _nrt=False, forceinline=True, error_model="numpy")(function))


def for_faults(loop: Function) -> Function:
    """Return *loop* for networks in which something can go wrong: compiled for them, and kept, under another name."""
    plain = cast(Any, getattr(loop, "py_func", loop))  # where numba is told not to compile, it is plain already
    twin = FunctionType(plain.__code__, plain.__globals__, f"{plain.__name__}_with_faults")
    return cast(Function, inlined(twin))


_MACHINE_CODE: dict[tuple[Any, ...], Callable[..., Any]] = {}


def machine_code(function: Callable[..., Any], *given: Any) -> Callable[..., Any]:
    """Return what a compiled *function* runs when it is called with arguments like *given*.

    Numba looks at the types of arguments at each call, which for tuples of arrays takes ten times as long as all else
    about a call. What is returned does not look: arguments of other types than *given* are undefined behaviour. Of each
    tuple of arrays the fields are taken to have one type each, or to be None.
    """
    fields = chain.from_iterable(one for one in given if isinstance(one, tuple))
    key = (function, *map(type, given), *map(type, fields))
    found = _MACHINE_CODE.get(key)
    if found is None:
        # Where numba is told not to compile, the function is plain Python.
        types = tuple(typeof(one) for one in given)
        found = _MACHINE_CODE[key] = function.compile(types) if hasattr(function, "compile") else function
    return found
