"""Compiles steps (methods of learners and bandits for one agent and one decision) and the loops that call them."""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from inspect import signature
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from netbandit.compilation.array_functions import AGENT, ArrayFunction, StepError, array_function

_HERE = Path(__file__).parents[1]


class Compiled:
    """A function, compiled for some objects.

    Args:
        function: The function.
        objects: The arguments that are objects, by name. An attribute read from them may be another array or number at
            each call, of the same type. From a list of random generators, one per agent, only that of the argument
            ``agent`` can be read.
        name: A name in letters and underscores, used for the files cached on disk.
        classes: The classes of objects that determine which functions are called.

    Attributes:
        loop: The function that numba compiles.
        ours: Whether it contains no user code. User code may index out of bounds, so its accesses are checked.
        of_one_agent: Whether it uses the random generator of one agent.

    Raises:
        StepError: Something in it is known not to compile. Other errors surface in `compile` or in a call.
    """

    def __init__(
        self, function: Callable[..., Any], objects: Mapping[str, Any], name: str, classes: tuple[type, ...] = ()
    ) -> None:
        # User code may have changed since, in a notebook.
        key = function, name, *map(type, objects.values()), *classes
        fitting = (one for one in _MADE.get(key, []) if one.array.fits(objects))
        made = next(fitting, None) or _made(function, objects, name)
        if made.ours and made not in (known := _MADE.setdefault(key, [])):
            known.append(made)
        self.loop, self._array, self.ours, self._agent = made.loop, made.array, made.ours, made.agent
        self.of_one_agent = made.agent >= 0
        self._read = [(objects[one], values) for one, values in made.read]
        if not hasattr(made.loop, "compile"):  # numba is disabled: a debugger steps through the function itself
            self.loop, self._read = _with_objects(function, objects), []

    def __call__(self, *given: Any) -> Any:
        """Call the function with the arguments that are not objects."""
        return self.loop(*given, *self._values(given))

    @property
    def at_hand(self) -> bool:
        """Whether it has been compiled for some objects, in this process or in the cache on disk."""
        return bool(getattr(self.loop, "signatures", True)) or is_kept(self.loop)

    def compile(self, *given: Any) -> None:
        """Compile the function for arguments of the types of *given*, unless it already is.

        Raises:
            StepError: It cannot be compiled; the message says where and why.
        """
        from numba import typeof
        from numba.core.errors import NumbaError, UnsupportedBytecodeError

        if not hasattr(self.loop, "compile"):
            return  # numba is disabled
        try:
            self.loop.compile(tuple(typeof(value) for value in (*given, *self._values(given))))
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise StepError(_said(error, self._array)) from None

    def _values(self, given: Sequence[Any]) -> Sequence[Any]:
        """Return the values read from the objects."""
        if len(self._read) == 1 and not self.of_one_agent:  # called in every slot
            ((one, values),) = self._read
            return values(one)
        read = [value for one, values in self._read for value in values(one)]
        if self.of_one_agent:
            agent = given[self._agent]
            read = [one[agent] if isinstance(one, list) else one for one in read]
        return read


def _with_objects(function: Callable[..., Any], objects: Mapping[str, Any]) -> Callable[..., Any]:
    """Return *function* with these *objects* at their places: it takes the other arguments, in order."""
    names = [name for name in signature(function).parameters if name not in objects]
    return lambda *given: function(**dict(zip(names, given, strict=True)), **objects)


def is_kept(loop: Any) -> bool:
    """Return whether the disk cache holds a compiled version of *loop*."""
    return loop.stats.cache_path is not None and any(kept(loop))


def kept(loop: Any) -> Iterator[Path]:
    """Return the cache index files of *loop*, which is compiled with ``cache=True``."""
    return Path(loop.stats.cache_path).glob(f"{name_of(loop)}-*.nbi")


def name_of(loop: Any) -> str:
    """Return the base name of the cache files of *loop*."""
    function = loop.py_func
    return f"{function.__module__.rsplit('.', 1)[-1]}.{function.__qualname__}"


def _said(error: Any, array: ArrayFunction) -> str:
    """Return numba's error message as one line, with its source position."""
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()]
    said = next((line for line in lines if line and not line.startswith("Failed in")), "it cannot be compiled")
    said, _, raised = said.partition(" Raised from ")
    place = getattr(error, "loc", None)
    line = place.line if place else raised.rstrip(")").rpartition(" (")[2]
    return f"{array.place(int(line))}: {said}" if line else said


class _Made(NamedTuple):
    """A function prepared for objects of given classes.

    Attributes:
        loop: The function that numba compiles.
        array: The array function that it is compiled from.
        read: The values read from each object: its name, and what returns them.
        agent: The position of the argument ``agent`` if one agent's random generator is used; else -1.
        ours: Whether it contains no user code.
    """

    loop: Any
    array: ArrayFunction
    read: list[tuple[str, Callable[[Any], Sequence[Any]]]]
    agent: int
    ours: bool


_MADE: dict[Hashable, list[_Made]] = {}
_DISPATCHERS: dict[Hashable, Any] = {}


def _made(function: Callable[..., Any], objects: Mapping[str, Any], name: str) -> _Made:
    array = array_function(function, objects, name)
    sources = [Path(source) for source in array.files]
    ours = all(source.is_relative_to(_HERE) for source in sources)
    paths = [path.removesuffix(AGENT).partition(".") for path in array.paths]
    groups = ((one, [path for *_, path in group]) for one, group in groupby(paths, lambda each: each[0]))
    of_one = any(path.endswith(AGENT) for path in array.paths)
    return _Made(
        loop=_dispatcher(array.function, ours=ours, kept=all(source.exists() for source in sources)),
        array=array,
        read=[(one, _getter(own)) for one, own in groups],
        agent=function.__code__.co_varnames.index("agent") if of_one else -1,
        ours=ours,
    )


def _getter(paths: Sequence[str]) -> Callable[[Any], Sequence[Any]]:
    """Return a function that reads attributes; `attrgetter` returns a single one bare."""
    read = attrgetter(*paths)
    return read if len(paths) > 1 else lambda one: (read(one),)


def _dispatcher(function: Any, *, ours: bool, kept: bool) -> Any:
    """Return the numba dispatcher of a function, shared by all functions with the same text and globals.

    Args:
        function: The function; its name ends in a digest of its text.
        ours: Whether it contains no user code; user code may index out of bounds.
        kept: Whether the compiled code is cached on disk.
    """
    from netbandit.util.jit import njit

    key = function.__name__, ours, *sorted((name, id(value)) for name, value in function.__globals__.items())
    if key not in _DISPATCHERS:
        _DISPATCHERS[key] = njit(error_model="numpy", boundscheck=not ours, cache=kept)(function)
    return _DISPATCHERS[key]
