"""Texts over objects, compiled: what they read of the objects is read anew at each call.

A step of a learner is a method for one agent and one decision, and what a world pays for it is another. A loop that
calls them is written out with all of them in it (`netbandit.texts`), so that a compiler sees one function of arrays and
numbers.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from netbandit.texts import PER_AGENT, TextError, written_out

_HERE = Path(__file__).parent


class _Made(NamedTuple):
    """What is made of a text for objects of some classes.

    Attributes:
        loop: What numba compiles.
        read: What is read of objects: a name, what returns it, and how many there are.
        agent: The place of the argument ``agent``, if the random generator of one agent is used; else -1.
        ours: Whether nothing in it is of the user's own.
    """

    loop: Any
    read: list[tuple[str, Callable[[Any], Any], int]]
    agent: int
    ours: bool


_MADE: dict[Hashable, _Made] = {}
_DISPATCHERS: dict[Hashable, Any] = {}


class Compiled:
    """A text, compiled for some objects.

    Args:
        function: The text.
        objects: What those arguments are that are objects. What is read of them may be another array or number at each
            call, of the same type.
        name: Of what, in letters and underscores: what is kept on disk is named by it.
        names: What constants stand for, see `netbandit.texts.written_out`.
        classes: Those of the objects that others read something of, as far as they decide what is written out.
        keeps: Whether what is compiled is kept on disk, unless something in it was written in no file.

    Attributes:
        loop: What numba compiles.
        ours: Whether nothing in it is of the user's own. What is may reach beyond its arrays, so that is looked at.
        of_one_agent: Whether it uses the random generator of an agent.

    Raises:
        TextError: See `netbandit.texts.written_out`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        objects: Mapping[str, Any],
        name: str,
        names: Mapping[str, Any] | None = None,
        classes: tuple[type, ...] = (),
        *,
        keeps: bool = True,
    ) -> None:
        names = names or {}
        # What is not ours may have changed, in a notebook.
        key = function, name, *names.items(), *map(type, objects.values()), *classes
        made = _MADE.get(key) or _made(function, objects, name, names, keeps)
        if made.ours:
            _MADE[key] = made
        self.loop, self.ours, self._agent = made.loop, made.ours, made.agent
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
            TextError: It cannot be compiled; the message says where and why.
        """
        from numba import typeof
        from numba.core.errors import NumbaError, UnsupportedBytecodeError

        if not hasattr(self.loop, "compile"):
            return  # numba was told not to
        try:
            self.loop.compile(tuple(typeof(value) for value in (*given, *self._values(given))))
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise TextError(_said(error)) from None

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


def _said(error: Any) -> str:
    """Return what numba says of an error, in a line, and where it is."""
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", str(error)).splitlines()]
    said = next((line for line in lines if line and not line.startswith("Failed in")), "it cannot be compiled")
    said, _, raised = said.partition(" Raised from ")
    place = getattr(error, "loc", None)
    file, line = (place.filename, place.line) if place else raised.rstrip(")").rpartition(" (")[::2]
    return f"{Path(file).name}, line {line}: {said}" if file else said


def _made(
    function: Callable[..., Any], objects: Mapping[str, Any], name: str, names: Mapping[str, Any], keeps: bool
) -> _Made:
    ours = True

    def compiled(made: FunctionType) -> Any:
        return _dispatcher(made, made.__name__, ours=ours, kept=False)

    written: Any = written_out(function, names, objects=objects, compiled=compiled)
    sources = [Path(source) for source in written.__written_from__]
    if not all(source.is_relative_to(_HERE) for source in sources):
        ours = False
        written = written_out(function, names, objects=objects, compiled=compiled)
    groups = ((one, [path for _, path in group]) for one, group in groupby(written.__read__, lambda each: each[0]))
    of_one = any(path.endswith(PER_AGENT) for _, path in written.__read__)
    return _Made(
        loop=_dispatcher(written, name, ours=ours, kept=keeps and all(source.exists() for source in sources)),
        read=[(one, attrgetter(*(path.removesuffix(PER_AGENT) for path in own)), len(own)) for one, own in groups],
        agent=function.__code__.co_varnames.index("agent") if of_one else -1,
        ours=ours,
    )


def _dispatcher(written: FunctionType, name: str, *, ours: bool, kept: bool) -> Any:
    """Return what compiles a function, one for all functions of the same text over the same globals.

    Args:
        written: The function; it is named by *name* and its text.
        name: Of what it is.
        ours: Whether nothing in it is of the user's own, which may reach beyond its arrays.
        kept: Whether what is compiled is kept on disk.
    """
    from netbandit.util.jit import njit

    text = f"{written.__read__}\n{written.__doc__}"  # type: ignore[attr-defined]
    written.__name__ = written.__qualname__ = f"{name}_{blake2b(text.encode(), digest_size=6).hexdigest()}"
    found = sorted((key, id(value)) for key, value in written.__globals__.items() if not key.startswith("__"))
    key = written.__qualname__, ours, *found
    if key not in _DISPATCHERS:
        _DISPATCHERS[key] = njit(error_model="numpy", boundscheck=not ours, cache=kept)(written)
    return _DISPATCHERS[key]
