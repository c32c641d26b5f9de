"""What a class of the user's own is made of, as one text: two that are equal do the same.

It covers the source of the class, of its bases, and of whatever of the user's own they refer to. What was imported from
a file counts by the whole file. What was written in a notebook or a script counts by the functions, classes and plain
values that the class refers to: the rest of the script may change.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from netbandit.own_code import is_own

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))

_known: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()  # what ran is what there was when it was first seen


def source_identity(found: type) -> str | None:
    """Return a text that stands for all that the class *found* is made of; None where some of it has no source."""
    if found not in _known:
        try:
            pieces = _Pieces(found)
            name = f"{found.__module__}:{found.__qualname__}"
            digest = blake2b("\0".join([name, *pieces.texts()]).encode(), digest_size=16)
            _known[found] = f"blake2b:{digest.hexdigest()}"
        except (OSError, TypeError, ValueError):  # there is no source, or none that can be read
            _known[found] = None
    return _known[found]


class _Pieces:
    """Collects the pieces of a class, each once."""

    def __init__(self, found: type) -> None:
        self._packages = frozenset({found.__module__.partition(".")[0]})
        self._seen: set[int] = set()
        self._kept: list[object] = []  # so that no number is given twice
        self._files: dict[str, str] = {}
        self._sources: list[str] = []
        self._look(found)

    def texts(self) -> Iterator[str]:
        """Yield the pieces in an order that is the same in every process."""
        yield from (f"{name}\n{text}" for name, text in sorted(self._files.items()))
        yield from sorted(self._sources)

    def _look(self, thing: object) -> None:
        if id(thing) in self._seen:
            return
        self._seen.add(id(thing))
        self._kept.append(thing)
        if isinstance(thing, ModuleType):
            self._module(thing)
        elif isinstance(thing, type):
            for base in thing.__mro__:
                if self._is_own(base.__module__, base):
                    self._defined(base)
        elif isinstance(thing, FunctionType) or hasattr(thing, "__wrapped__"):
            function = inspect.unwrap(thing)  # type: ignore[arg-type]
            if isinstance(function, FunctionType) and self._is_own(function.__module__, function):
                self._defined(function)
        elif hasattr(thing, "py_func"):  # a compiled loop
            self._look(thing.py_func)

    def _is_own(self, module: str, thing: Any) -> bool:
        try:
            file = inspect.getfile(thing)
        except (TypeError, OSError):
            file = "<unknown>"
        return module != "builtins" and is_own(module, file, self._packages)

    def _defined(self, thing: Any) -> None:
        """Take in a class or a function of the user's own: its file, or its own source."""
        module = inspect.getmodule(thing)
        if module is not None and module.__name__ != "__main__" and getattr(module, "__file__", None):
            self._look(module)
        elif isinstance(thing, FunctionType):
            self._function(thing)
        else:
            self._class(thing)

    def _module(self, module: ModuleType) -> None:
        file = getattr(module, "__file__", None)
        if file is None or not is_own(module.__name__, file, self._packages):
            return
        self._files[module.__name__] = Path(file).read_text(encoding="utf-8", errors="surrogateescape")
        for value in list(vars(module).values()):
            self._look(value)

    def _class(self, found: type) -> None:
        entries = [f"class {found.__qualname__}{[base.__qualname__ for base in found.__bases__]}"]
        fields = getattr(found, "__pydantic_fields__", {})
        entries += [f"{name}: {_ADDRESS.sub('', repr(field))}" for name, field in fields.items()]
        for name, value in sorted(vars(found).items()):
            function = getattr(value, "__func__", getattr(value, "fget", value))
            if isinstance(function, FunctionType):
                if function.__module__ == found.__module__:
                    self._look(function)
            elif not name.startswith("__") and isinstance(value, (*_PLAIN, list, tuple, dict, set, frozenset)):
                entries.append(f"{name} = {_plain(value)}")
        self._sources.append("\n".join(entries))

    def _function(self, function: FunctionType) -> None:
        self._sources.append(inspect.getsource(function))
        for name in _names(function.__code__):
            if name in function.__globals__:
                value = function.__globals__[name]
                if isinstance(value, (*_PLAIN, list, tuple, dict, set, frozenset)) or hasattr(value, "tobytes"):
                    self._sources.append(f"{name} = {_plain(value)}")
                else:
                    self._look(value)


def _names(code: CodeType) -> Iterable[str]:
    """Return the names that *code* and the code inside it refer to."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names.update(_names(constant))
    return sorted(names)


def _plain(value: Any) -> str:
    """Return a text for a plain value, such as a constant of a notebook."""
    if isinstance(value, set | frozenset):
        return repr(sorted(map(_plain, value)))
    if hasattr(value, "tobytes"):
        return f"{getattr(value, 'dtype', '')}{getattr(value, 'shape', '')}{value.tobytes().hex()}"
    if isinstance(value, dict):
        return repr([(_plain(key), _plain(entry)) for key, entry in value.items()])
    if isinstance(value, list | tuple):
        return repr([_plain(entry) for entry in value])
    return _ADDRESS.sub("", repr(value))
