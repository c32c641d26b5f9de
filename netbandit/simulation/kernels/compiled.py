"""How the loops of messages are compiled: without reference counts, and in one piece.

They pass some thirty arrays on from function to function. Counting who refers to each of them, or copying them to the
stack of a function that is called, takes several times as long as what they do for a message.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit, typeof

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile *function*, which must not allocate, and keep it on disk."""
    return cast(Function, njit(cache=True, _nrt=False, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """As `compiled`, written out wherever it is called."""
    return cast(Function, njit(cache=True, _nrt=False, forceinline=True, error_model="numpy")(function))


_MACHINE_CODE: dict[Callable[..., Any], Callable[..., Any]] = {}


def call(function: Callable[..., Any], *given: Any) -> Any:
    """Call a compiled *function* whose arguments are of the same types each time, and of each the type is fixed.

    Numba looks these types up at each call, which for tuples of arrays takes ten times as long as all else about it.
    Here that is done at the first call only; after it, arguments of other types are undefined behaviour.
    """
    found = _MACHINE_CODE.get(function)
    if found is None:
        # Where numba is told not to compile, the function is plain Python.
        types = tuple(typeof(one) for one in given)
        found = _MACHINE_CODE[function] = function.compile(types) if hasattr(function, "compile") else function
    return found(*given)
