"""Steps, compiled: methods of learners and worlds for one agent and one decision, and the loops that call them."""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
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
        objects: What those arguments are that are objects. What is read of them may be another array or number at each
            call, of the same type. Of a list of random generators, one an agent, only that of its argument ``agent``
            can be read.
        name: Of what, in letters and underscores: what is kept on disk is named by it.
        classes: Those of the objects that others read something of, as far as they decide what is called.

    Attributes:
        loop: What numba compiles.
        ours: Whether nothing in it is of the user's own. What is may reach beyond its arrays, so that is looked at.
        of_one_agent: Whether it uses the random generator of an agent.

    Raises:
        StepError: Something in it is known not to be compiled; else `compile` says so, or a call.
    """

    def __init__(
        self, function: Callable[..., Any], objects: Mapping[str, Any], name: str, classes: tuple[type, ...] = ()
    ) -> None:
        # What is not ours may have changed, in a notebook.
        key = function, name, *map(type, objects.values()), *classes
        made = _MADE.get(key) or _made(function, objects, name)
        if made.ours:
            _MADE[key] = made
        self.loop, self._array, self.ours, self._agent = made.loop, made.array, made.ours, made.agent
        self.of_one_agent = made.agent >= 0
        self._read = [(objects[one], values, count) for one, values, count in made.read]

    def __call__(self, *given: Any) -> Any:
        """Call it with those arguments that are no objects."""
        return self.loop(*given, *self._values(given))

    @property
    def at_hand(self) -> bool:
        """Whether it is compiled, or kept on disk as it would be compiled, for some objects."""
        return bool(getattr(self.loop, "signatures", True)) or is_kept(self.loop)

    def compile(self, *given: Any) -> None:
        """Compile it for arguments like those that are *given*, if it is not.

        Raises:
            StepError: It cannot be compiled; the message says where and why.
        """
        from numba import typeof
        from numba.core.errors import NumbaError, UnsupportedBytecodeError

        if not hasattr(self.loop, "compile"):
            return  # numba was told not to
        try:
            self.loop.compile(tuple(typeof(value) for value in (*given, *self._values(given))))
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise StepError(_said(error, self._array)) from None

    def _values(self, given: Sequence[Any]) -> list[Any]:
        """Return what is read of the objects."""
        read: list[Any] = []
        for one, values, count in self._read:
            if count > 1:
                read += values(one)
            else:
                read.append(values(one))
        if self.of_one_agent:
            agent = given[self._agent]
            read = [one[agent] if isinstance(one, list) else one for one in read]
        return read


def is_kept(loop: Any) -> bool:
    """Return whether anything is kept on disk of what numba compiles."""
    return loop.stats.cache_path is not None and any(kept(loop))


def kept(loop: Any) -> Iterator[Path]:
    """Return the indices of what is kept of *loop*, which is compiled with ``cache=True``."""
    return Path(loop.stats.cache_path).glob(f"{name_of(loop)}-*.nbi")


def name_of(loop: Any) -> str:
    """Return how files that are kept of *loop* are called."""
    function = loop.py_func
    return f"{function.__module__.rsplit('.', 1)[-1]}.{function.__qualname__}"


def _said(error: Any, array: ArrayFunction) -> str:
    """Return what numba says of an error, in a line, and where it is."""
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()]
    said = next((line for line in lines if line and not line.startswith("Failed in")), "it cannot be compiled")
    said, _, raised = said.partition(" Raised from ")
    place = getattr(error, "loc", None)
    line = place.line if place else raised.rstrip(")").rpartition(" (")[2]
    return f"{array.place(int(line))}: {said}" if line else said


class _Made(NamedTuple):
    """What is made of a function for objects of some classes.

    Attributes:
        loop: What numba compiles.
        array: What it is compiled from.
        read: What is read of objects: a name, what returns it, and how many there are.
        agent: The place of the argument ``agent``, if the random generator of one agent is used; else -1.
        ours: Whether nothing in it is of the user's own.
    """

    loop: Any
    array: ArrayFunction
    read: list[tuple[str, Callable[[Any], Any], int]]
    agent: int
    ours: bool


_MADE: dict[Hashable, _Made] = {}
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
        read=[(one, attrgetter(*own), len(own)) for one, own in groups],
        agent=function.__code__.co_varnames.index("agent") if of_one else -1,
        ours=ours,
    )


def _dispatcher(function: Any, *, ours: bool, kept: bool) -> Any:
    """Return what compiles a function, one for all functions of the same text over the same globals.

    Args:
        function: The function; it is named by its text.
        ours: Whether nothing is of the user's own, which may reach beyond its arrays.
        kept: Whether what is compiled is kept on disk.
    """
    from netbandit.util.jit import njit

    key = function.__name__, ours, *sorted((name, id(value)) for name, value in function.__globals__.items())
    if key not in _DISPATCHERS:
        _DISPATCHERS[key] = njit(error_model="numpy", boundscheck=not ours, cache=kept)(function)
    return _DISPATCHERS[key]
