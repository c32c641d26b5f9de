"""A fingerprint of a user class and everything it references: equal fingerprints mean equal behaviour.

It covers what is in memory, and therefore runs, not the current content of a file. User code contributes its bytecode,
closures, defaults, base classes, attributes, the globals that functions name, and objects in pickled form. Library code
contributes its module and name. netbandit's own code contributes its name alone: moving one of our classes to another
module does not invalidate runs of user-defined parts. Unlike pickles, the fingerprint does not differ between
processes: immutable values are written in full each time, and sets in an order that does not depend on hashes.

Not covered: files that the code reads, the clock, and random numbers from outside the simulator.
"""

import builtins
import dis
import functools
import importlib
import inspect
import pickle
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterator
from hashlib import blake2b
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, resolve_name
from operator import attrgetter
from typing import Any

import numpy as np

from netbandit.user_code.errors import is_ours, is_own, message
from netbandit.user_code.loading import importing
from netbandit.util.nesting import TooDeepError, any_depth


class UnstableError(Exception):
    """A class references something whose content cannot be compared; the message says where and what."""


def fingerprint_of(found: type) -> str:
    """Return the fingerprint of the class *found* and of everything it references at this moment.

    Raises:
        UnstableError: Something it references cannot be distinguished from code or data that behaves differently.
    """
    try:
        with any_depth():
            walk = _Walk(frozenset({found.__module__.partition(".")[0]}))
            return f"blake2b:{walk.digest(found, found.__qualname__)}"
    except TooDeepError as error:
        raise UnstableError(f"{found.__qualname__}: {error}") from None


_BY_VALUE = {bool, int, float, complex, str, bytes, type(None), tuple, frozenset, types.CodeType}
"""Immutable types: whether equal values are the same object is arbitrary."""
_PLAIN = _BY_VALUE - {tuple, frozenset, types.CodeType}

_COMPUTED = {"eval", "exec", "compile", "globals", "__import__"}
"""Builtins through which a caller may reach names that do not appear in its code."""

_OF_MODULES = {"__builtins__", "__cached__", "__file__", "__loader__", "__package__", "__path__", "__spec__"}
"""Attributes that Python sets on every module."""
_OF_CLASSES = {"__dict__", "__weakref__", "_abc_impl", "__signature__", "__private_attributes__"} | {
    "__slotnames__",  # written when an object is first pickled
    "__firstlineno__",  # since Python 3.13, with the next; then since 3.14
    "__static_attributes__",
    "__annotate_func__",
    "__annotations_cache__",
}
"""Attributes that Python and pydantic set on a class, or that follow from the others."""
_OF_BOTH = {"__doc__", "__name__", "__qualname__", "__module__", "__annotations__", "__annotate__"}


class _Walk(pickle._Pickler):
    """Hashes everything that an object references: data as pickles, user code by its content.

    User-defined classes, functions, modules and objects are queued until the object that refers to them is written, so
    long chains of references need no deep recursion.

    Args:
        packages: Top-level modules that count as user code even if they are installed.
        within: Sets whose elements are being ordered.
    """

    def __init__(self, packages: frozenset[str], within: tuple[object, ...] = ()) -> None:
        self._packages = packages
        self._within = within
        self._hash = blake2b(digest_size=16)
        self._waiting: deque[tuple[Any, str]] = deque()
        self._numbers: dict[int, tuple[int, object]] = {}  # keeps the objects alive, so that no id is reused
        self._path = ""
        self._is_own = functools.cache(functools.partial(_own_module, packages=packages))
        super().__init__(types.SimpleNamespace(write=self._hash.update), protocol=4)

    def digest(self, thing: object, path: str) -> str:
        """Return the digest of *thing*; messages call it *path*."""
        self._path = path
        try:
            self.dump(thing)
            while self._waiting:
                thing, path = self._waiting.popleft()
                self._path = path
                for name, value in self._content(thing):
                    self._path = f"{path}.{name}" if name.isidentifier() else path
                    self.dump((name, value))
                    self._path = path
        except (UnstableError, RecursionError, KeyboardInterrupt):
            raise
        except BaseException as error:  # user code may raise anything while it is inspected
            raise self._unstable(message(error)) from error
        return self._hash.hexdigest()

    def _unstable(self, why: str) -> UnstableError:
        return UnstableError(f"{self._path}: {why}")

    def memoize(self, obj: Any) -> None:
        """Remember *obj* for later references to it, unless it is immutable; such values are written again."""
        if type(obj) not in _BY_VALUE:
            super().memoize(obj)  # type: ignore[misc]  # typeshed does not know it, nor `save`

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write an object that pickles by its *name*."""
        if self._is_own(type(obj).__module__):
            raise self._unstable(f"{name} is pickled by its name")
        self._refuse_compiled(getattr(obj, "__module__", None))
        self.save(("name", name))  # type: ignore[attr-defined]

    def persistent_id(self, obj: Any) -> Any:
        """Return the replacement that is written for *obj*; None if its pickle is written."""
        kind = type(obj)
        if kind in (set, frozenset):
            return ("set", self._ordered(obj))
        if (kind in _BY_VALUE and kind is not types.CodeType) or kind in (list, dict):
            return None
        if (library := self._library_name(obj)) is not None:
            return ("library", library)
        match obj:
            case types.CodeType():  # its behaviour, not its position in the file
                numbers = obj.co_argcount, obj.co_posonlyargcount, obj.co_kwonlyargcount, obj.co_flags
                names = obj.co_names, obj.co_varnames, obj.co_freevars, obj.co_cellvars
                return ("code", obj.co_name, numbers, names, obj.co_code, obj.co_exceptiontable, obj.co_consts)
            case types.MethodType():
                return ("method", obj.__func__, obj.__self__)
            case staticmethod() | classmethod():
                return (kind.__name__, obj.__func__)
            case property():
                return ("property", obj.fget, obj.fset, obj.fdel)
            case functools.cached_property():
                return ("cached property", obj.func, obj.attrname)
            case functools._lru_cache_wrapper():  # the function determines the content of its cache
                return ("cached", obj.__wrapped__)
            case types.MappingProxyType():
                return ("mapping", dict(obj))
            case weakref.ReferenceType():
                return ("weak", obj())
            case np.ufunc():  # pickled by name, whatever function it was made from
                if not any(getattr(sys.modules.get(each), obj.__name__, None) is obj for each in _HAVE_UFUNCS):
                    raise self._unstable(f"{obj.__name__} is compiled")
                return ("ufunc", obj.__name__)
            case _ if kind.__module__.startswith("numba.") and hasattr(obj, "py_func"):
                return ("compiled", obj.py_func, obj.targetoptions)
            case type() | types.ModuleType() | types.FunctionType():
                pass
            case _ if not self._is_own(kind.__module__):
                return None
        if id(obj) not in self._numbers:
            self._numbers[id(obj)] = len(self._numbers), obj
            self._waiting.append((obj, self._path))
        return ("the user's own", self._numbers[id(obj)][0])

    def _ordered(self, elements: Any) -> list[Any]:
        """Return the elements of a set in an order that does not depend on hashes, which differ between processes."""
        if all(type(each) in _PLAIN for each in elements):
            return sorted(elements, key=pickle.dumps)
        if any(elements is one for one in self._within):
            return [self._within.index(elements)]
        within = (*self._within, elements)
        return sorted(elements, key=lambda each: _Walk(self._packages, within).digest(each, self._path))

    def _content(self, thing: Any) -> Iterator[tuple[str, Any]]:
        """Yield the named contents of a user-defined object, always in the same order."""
        if isinstance(thing, types.ModuleType):  # the holder of a module can access any of its names
            self._refuse_compiled(thing.__name__)
            yield from sorted((name, each) for name, each in vars(thing).items() if name not in _OF_MODULES | _OF_BOTH)
        elif isinstance(thing, type):
            yield from self._class(thing)
        elif isinstance(thing, types.FunctionType):
            yield from self._function(thing)
        else:
            yield "its class", type(thing)
            state: Any = object.__getstate__(thing)  # includes state that the class leaves out of its pickles
            for attributes in state if isinstance(state, tuple) else (state,):
                yield from list((attributes or {}).items())
            if isinstance(thing, set | frozenset):
                yield "its elements", frozenset(thing)
            elif not all(base is object or self._is_own(base.__module__) for base in type(thing).__mro__):
                reduced = thing.__reduce_ex__(4)
                if isinstance(reduced, str):
                    raise self._unstable(f"{reduced} is pickled by its name")
                yield "its pickle", [list(each) if isinstance(each, Iterator) else each for each in reduced]

    def _class(self, found: type) -> Iterator[tuple[str, Any]]:
        self._refuse_compiled(found.__module__)
        yield "its name", found.__name__
        yield "its bases", (type(found) if not is_ours(type(found)) else None, *found.__bases__)
        for name, value in sorted(vars(found).items(), key=lambda entry: entry[0]):
            if name not in _OF_CLASSES | _OF_BOTH and not name.startswith("__pydantic_"):
                yield name, value
        fields = vars(found).get("__pydantic_fields__", {})
        for name in sorted(fields.keys() & inspect.get_annotations(found)):  # without those of its bases
            field = fields[name]
            essence = field.annotation, field.default, field.default_factory, field.alias, tuple(field.metadata)
            yield name, essence
        for name, private in sorted(vars(found).get("__private_attributes__", {}).items()):
            yield name, (private.default, private.default_factory)
        decorators = vars(found).get("__pydantic_decorators__")
        for group in ("validators", "field_validators", "root_validators", "field_serializers", "model_validators"):
            for name, decorator in sorted(getattr(decorators, group, {}).items()):
                yield name, (group, decorator.info)

    def _function(self, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
        code, space = function.__code__, function.__globals__
        yield "its code", code
        yield "its defaults", (function.__defaults__, function.__kwdefaults__, vars(function))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                yield name, (cell.cell_contents,)
            except ValueError:  # it holds nothing yet
                yield name, ()
        globals_, imports, names = _named_in(code)
        if "import_module" in names or {"sys", "modules"} <= names:
            raise self._unstable("what is imported by a computed name may be anything")
        for name in globals_:
            if name in space:
                yield name, space[name]
            elif name in _COMPUTED:
                raise self._unstable(f"{name} may see anything")
            elif not hasattr(builtins, name):
                yield name, "absent"
        for name in imports:
            yield "its import", (name, self._imported(name, space.get("__package__")))

    def _imported(self, name: str, package: str | None) -> Any:
        """Return the user module that a function imports when it is called; None if it does not exist."""
        name = resolve_name(name, package) if name.startswith(".") else name
        if not self._is_own(name) or name.partition(".")[0] in sys.stdlib_module_names:
            return "library"
        with importing():
            if name not in sys.modules:
                try:
                    spec = find_spec(name)
                except ModuleNotFoundError:  # nor its package
                    spec = None
                if spec is None:
                    return None
                if not is_own(name, spec.origin or "<none>", self._packages):
                    return "library"
            return importlib.import_module(name)

    def _refuse_compiled(self, module: str | None) -> None:
        """Raise an `UnstableError` if a user *module* is a compiled extension, which cannot be inspected."""
        file = getattr(sys.modules.get(str(module)), "__file__", None) or ""
        if file.endswith(tuple(EXTENSION_SUFFIXES)) and self._is_own(str(module)):
            raise self._unstable(f"{file} is compiled")

    def _library_name(self, thing: Any) -> str | None:
        """Return the name of *thing* if it is not user code and can be looked up by that name; else None."""
        if isinstance(thing, types.ModuleType):
            return None if self._is_own(thing.__name__) else thing.__name__
        if not callable(thing):
            return None
        module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if not (isinstance(module, str) and isinstance(name, str)) or self._is_own(module):
            return None
        if _is_truly_ours(thing) and "<" not in name:
            return f"netbandit:{name}"
        if isinstance(thing, type) and not thing.__flags__ & _MADE_AT_RUN_TIME:
            return f"{module}:{name}"
        try:
            found = attrgetter(name)(sys.modules.get(module))
        except AttributeError:
            return None
        return f"{module}:{name}" if found is thing else None


_HAVE_UFUNCS = ("numpy", "scipy.special")
_MADE_AT_RUN_TIME = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _is_truly_ours(thing: Any) -> bool:
    """Return whether *thing* really is a class or function of netbandit, and not just named like one."""
    if isinstance(thing, types.FunctionType):
        return str(thing.__globals__.get("__name__")).startswith("netbandit.")
    return isinstance(thing, type) and is_ours(thing)


def _own_module(name: str, packages: frozenset[str]) -> bool:
    """Return whether a module is user code, or does not exist."""
    module, top = sys.modules.get(name), name.partition(".")[0]
    if module is None or name == "__main__":
        return top != "netbandit"
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if file is None:  # part of Python, or made at run time
        return top not in sys.stdlib_module_names
    return is_own(name, file, packages)


@functools.lru_cache(maxsize=4096)
def _named_in(code: types.CodeType) -> tuple[list[str], list[str], set[str]]:
    """Return the globals that *code* and the code inside it name, what they import, and all names."""
    globals_: set[str] = set()
    imports: set[str] = set()
    names = set(code.co_names)
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    for index, step in enumerate(steps):
        if step.opname == "IMPORT_NAME":  # preceded by its level and the names imported from it
            imports.add("." * steps[index - 2].argval + step.argval)
        elif step.opcode in dis.hasname and not step.opname.endswith(("ATTR", "METHOD", "FROM")):
            globals_.add(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _named_in(constant)
            globals_.update(inner[0])
            imports.update(inner[1])
            names |= inner[2]
    return sorted(globals_), sorted(imports), names
