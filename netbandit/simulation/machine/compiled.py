"""How the loops of messages are compiled: without reference counts, and given their arrays as pointers."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar, cast

from numba import config, typeof
from numba.core.types.misc import unliteral

from netbandit.simulation.compile_notice import called_by
from netbandit.simulation.machine.apart import Apart
from netbandit.simulation.machine.packed import Packed, kind_of
from netbandit.util.jit import njit

Function = TypeVar("Function", bound=Callable[..., Any])

# Nothing calls them from C.
_OPTIONS = {"cache": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function: Function) -> Function:
    """Compile *function*, which must not allocate, and keep it on disk."""
    return cast(Function, _once_for_all_constants(njit(**_OPTIONS)(function)))


def entry(function: Function) -> Function:
    """As `compiled`, written out in what unpacks the arguments of Python: for loops, which Python calls."""
    return cast(Function, _once_for_all_constants(njit(**_OPTIONS, forceinline=True)(function)))


def apart(function: Function) -> Function:
    """As `compiled`, for what is called by its address, of a network and whole numbers; see `Apart`."""
    if config.DISABLE_JIT:
        return function
    return cast(Function, Apart(function, {name: value for name, value in _OPTIONS.items() if name != "cache"}))


def inlined(function: Function) -> Function:
    """As `compiled`, written out wherever a compiled function calls it; Python cannot call it.

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


_MACHINE_CODE: dict[tuple[Any, ...], Callable[..., Any]] = {}


def machine_code(function: Callable[..., Any], *given: Any) -> Callable[..., Any]:
    """Return what calls a compiled *function* with arguments like *given*: of a tuple of arrays with a pointer.

    Numba looks at the types of arguments at each call, which takes several times as long as all else about a call. What
    is returned does not look: arguments of other types than *given* are undefined behaviour. The fields of a
    tuple of arrays are taken to have one type each, or to be None.
    """
    # Where numba is told not to compile, the function is plain Python; what is inlined refuses to be called.
    if "no_cpython_wrapper" in getattr(function, "targetoptions", {"no_cpython_wrapper": True}):
        return function
    fields = chain.from_iterable(one for one in given if isinstance(one, tuple))
    key = (function, *map(type, given), *map(type, fields))
    code = _MACHINE_CODE.get(key)
    if code is None:
        kinds = tuple(kind_of(one) if isinstance(one, tuple) else typeof(one) for one in given)
        for one in apart_from(function):
            one.compile_for(kinds[0])
        code = _MACHINE_CODE[key] = cast(Any, function).compile(kinds)
    return _of_tuples(code, [place for place, one in enumerate(given) if isinstance(one, tuple)])


def _of_tuples(code: Callable[..., Any], places: Sequence[int]) -> Callable[..., Any]:
    """Return what calls *code* with pointers to the tuples that are its arguments at these *places*."""
    packed: dict[int, Packed] = {}

    def call(*given: Any) -> Any:
        arguments = list(given)
        for place in places:
            arrays = given[place]
            found = packed.get(place)
            if found is None:
                found = packed[place] = Packed(arrays)
            elif found.arrays is not arrays:
                found.put(arrays)
            arguments[place] = found
        return code(*arguments)

    return call


def apart_from(function: Any) -> Iterator[Apart]:
    """Yield what a compiled *function* and what is compiled with it call by their addresses, what these call first."""
    for called in called_by(function):
        yield from apart_from(called)
        if isinstance(called, Apart):
            yield called
