"""Texts of loops, written out for arrays and compiled.

Whether anything can go wrong in a network is known when a loop is written out for it, so that it costs nothing.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast
from zlib import crc32

from netbandit.network import hop
from netbandit.network.network import Network
from netbandit.simulation.machine import apart, calendar, compiled, heaps, hops, packed, primitives, steps
from netbandit.simulation.machine.rows import Faults, Machine
from netbandit.texts import is_text, written_out

Arrays = TypeVar("Arrays", Machine, Faults)

_WHAT_GOES_WRONG = (
    *("LOSES", "LOSES_BITS", "LOSES_IN_BURSTS", "JITTERS", "OVERTAKES", "DOUBLES", "REPEATS", "LINKS_FAIL"),
    *("COUNTS_DELIVERIES", "FAULTY"),
)
_WHERE_NODES_FAIL = ("NODES_FAIL", "FORGETS")
_NOT_HERE = ("UPLINKS", "TRACES", "PROMPT", "WAITS")
_VARIANTS = ("", "_with_faults", "_with_absences")
"""What the names of functions end in, where nothing can go wrong, messages may be lost or late, and nodes be down."""
_LONG = (hop.put, hops.take, hops.advance)
"""What is compiled once. Where nothing can go wrong, and a hop is short, it is put where it is called all the same."""
_HOW = frozenset(cast(str, one.__file__) for one in (apart, compiled, packed)) | {__file__}
"""What decides how functions call each other: none is kept that was compiled before one of these changed."""
_OF_ALL = frozenset(one.__name__ for one in (hop, hops, primitives, calendar, heaps, steps))
"""Modules whose texts are the same for all protocols."""


class Loop:
    """A text that Python calls: a loop, or what is compiled beside one.

    Args:
        function: The text.
        of: What a protocol has stand for some of the primitives and constants of the text, and of those it calls.
        name: The name of the protocol.
    """

    def __init__(self, function: Callable[..., Any], of: Mapping[Any, Any] | None = None, name: str = "") -> None:
        self._function = function
        self._of = dict(of or {})
        self._name = name
        self._made: dict[int, Any] = {}

    def over(self, network: Network) -> Any:
        """Return it, to be compiled, for *network*."""
        variant = 2 if network.nodes_fail else int(network.unreliable)
        if variant not in self._made:
            writing = _Writing(variant, self._of, self._name) if self._of else _writing(variant)
            made = compiled.entry(writing.named(written_out(self._function, writing.names, writing.called)))
            self._made[variant] = made if hasattr(made, "py_func") else partial(_uncompiled, made)
        return self._made[variant]


def texts_of(module: ModuleType) -> dict[str, Any]:
    """Return the texts that a *module* says, by their names: what primitives of a protocol stand for in its loop."""
    return {
        name: value for name, value in vars(module).items() if is_text(value) and value.__module__ == module.__name__
    }


def _uncompiled(function: Callable[..., Any], machine: Machine, *given: Any) -> Any:
    """Call a *function* that numba was told not to compile."""
    return function(with_attributes(machine), *given)


def with_attributes(machine: Machine) -> Machine:
    """Return *machine* for texts that plain Python executes: of rows the fields are attributes."""
    faults = machine.faults
    return _with_attributes(machine._replace(faults=None if faults is None else _with_attributes(faults)))


def _with_attributes(arrays: Arrays) -> Arrays:
    named = ((name, getattr(arrays, name)) for name in arrays._fields)
    rows: dict[str, Any] = {
        name: _Rows(array) for name, array in named if getattr(getattr(array, "dtype", None), "names", None)
    }
    return arrays._replace(**rows)


class _Rows:
    """A structured array, of whose rows the fields are attributes, as in compiled functions."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, place: int) -> "_Row":
        return _Row(self._array, place)


class _Row:
    __slots__ = ("_array", "_place")

    def __init__(self, array: Any, place: int) -> None:
        object.__setattr__(self, "_array", array)
        object.__setattr__(self, "_place", place)

    def __getattr__(self, name: str) -> Any:
        return self._array[name][self._place]

    def __setattr__(self, name: str, value: Any) -> None:
        self._array[name][self._place] = value


@cache
def _writing(variant: int) -> "_Writing":
    return _Writing(variant)


class _Writing:
    """How texts are written out for networks in which nothing can go wrong, or for all others.

    Args:
        variant: What can go wrong: its place in `_VARIANTS`.
        of: See `Loop`.
        name: See `Loop`.

    Attributes:
        names: What the primitives and constants of texts stand for.
    """

    def __init__(self, variant: int, of: Mapping[Any, Any] | None = None, name: str = "") -> None:
        self._variant = variant
        self._name = name
        self._made: dict[FunctionType, Any] = {}
        self._of_all = _writing(variant) if of else self
        if of:
            self.names: dict[Any, Any] = self._of_all.names | dict(of)
            return
        self.names = {name: value for name, value in vars(primitives).items() if is_text(value)}
        self.names |= dict.fromkeys(_WHAT_GOES_WRONG, variant > 0) | dict.fromkeys(_NOT_HERE, False)
        self.names |= dict.fromkeys(_WHERE_NODES_FAIL, variant == 2) | {"QUEUES": True}
        self.names |= {"duration_of": primitives.transmission_of, "NOTHING": -1}
        for text in _LONG:
            self.names[text.__name__] = self.called(text)

    def called(self, text: Any) -> Any:
        """Return what is called in place of a *text* that is not written out where it is called."""
        if text.__module__ in _OF_ALL:  # it does not depend on the protocol
            return self._of_all.made(text)
        return self.made(text)

    def made(self, text: Any) -> Any:
        """Return *text* to be called, as it is written here."""
        if text not in self._made:
            made = self.named(written_out(text, self.names, self.called, package="netbandit"))
            if text in _LONG and self._variant:
                how: Callable[..., Any] = compiled.apart
            else:
                how = compiled.compiled if self._variant else compiled.inlined
            self._made[text] = how(made)
        return self._made[text]

    def named(self, function: FunctionType) -> FunctionType:
        """Give *function* a name of its own: numba tells what it keeps by it, whatever numbers are in its text."""
        called = [function.__globals__.get(name) for name in function.__code__.co_names]
        named = [cast(Any, one).py_func.__qualname__ for one in called if hasattr(one, "py_func")]
        said = crc32("\n".join([function.__doc__ or "", *named]).encode())
        name = "_".join([function.__name__, *([self._name] if self._name else [])]) + _VARIANTS[self._variant]
        name += f"_{said:08x}"
        function.__name__ = function.__qualname__ = name
        function.__written_from__ |= _HOW  # type: ignore[attr-defined]
        return function
