"""How the loops of messages are compiled: without reference counts, and in one piece.

They pass some thirty arrays on from function to function. Counting who refers to each of them, or copying them to the
stack of a function that is called, takes several times as long as what they do for a message.
"""

from collections.abc import Callable
from itertools import chain
from types import FunctionType
from typing import Any, TypeVar, cast

from numba import typeof
from numba.core.types.misc import unliteral

from netbandit.jit import njit

Function = TypeVar("Function", bound=Callable[..., Any])

# Nothing calls them from C.
_OPTIONS = {"cache": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: Function) -> Function:
    """Compile *function*, which must not allocate, and keep it on disk."""
    return cast(Function, _once_for_all_constants(njit(**_OPTIONS)(function)))


def entry(function: Function) -> Function:
    """As `compiled`, written out in what unpacks the arguments of Python: for loops, which Python calls."""
    return cast(Function, _once_for_all_constants(njit(**_OPTIONS, forceinline=True)(function)))


def inlined(function: Function) -> Function:
    """As `compiled`, written out wherever a compiled function calls it; Python cannot call it.

    To unpack the arguments of Python, some thirty arrays, takes as long to compile as the function itself.

    Raises:
        TypeError: By what is returned, where Python calls it.
    """
    written_out = njit(**_OPTIONS, forceinline=True, no_cpython_wrapper=True)(function)
    if hasattr(written_out, "py_func"):

        def refuse(*given: Any, **named: Any) -> None:
            raise TypeError(f"only compiled functions can call {function.__qualname__}: it is inlined")

        written_out._insert = lambda *given, **named: None  # else numba calls what there is not
        written_out._compile_for_args = refuse
    return cast(Function, _once_for_all_constants(written_out))


def _once_for_all_constants(dispatcher: Any) -> Any:
    """Have a function compiled once for all integers, where numba does so for each constant that it is called with.

    Constants go on into what is written out all the same.
    """
    if hasattr(dispatcher, "py_func"):
        template_of = dispatcher.get_call_template

        def unliteral_template_of(args: Any, named: Any) -> Any:
            any_named = {name: unliteral(one) for name, one in named.items()}
            return template_of([unliteral(one) for one in args], any_named)

        dispatcher.get_call_template = unliteral_template_of
    return dispatcher


def for_faults(loop: Function) -> Function:
    """Return *loop* for networks in which something can go wrong: compiled for them, and kept, under another name."""
    plain = cast(Any, getattr(loop, "py_func", loop))  # where numba is told not to compile, it is plain already
    twin = FunctionType(plain.__code__, plain.__globals__, f"{plain.__name__}_with_faults")
    return cast(Function, entry(twin))


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
        # Where numba is told not to compile, the function is plain Python; what is inlined refuses to be called.
        options = getattr(function, "targetoptions", {"no_cpython_wrapper": True})
        kinds = tuple(typeof(one) for one in given)
        found = function if "no_cpython_wrapper" in options else cast(Any, function).compile(kinds)
        _MACHINE_CODE[key] = found
    return found
