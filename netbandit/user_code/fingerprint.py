"""What a class of the user's own can see, as a digest: two classes of the same digest do the same.

The digest is of what is in memory, and so runs, not of what a file says by now: the bytecode of methods, what they
close over, their defaults, the globals that they name, base classes, and of objects what they would be pickled as; of
all that is the user's own, as far as it leads. What is ours, Python's or a library's counts by its name. Two processes
find the same, which neither cloudpickle (its README: not deterministic) nor dask's ``tokenize`` promises.

What cannot be seen: files that are read, the clock, and random numbers that are not the simulator's.
"""

import builtins
import dis
import functools
import importlib
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Set
from copyreg import dispatch_table
from hashlib import blake2b
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, resolve_name
from typing import Any

import numpy as np

from netbandit.nesting import TooDeepError, any_depth
from netbandit.user_code.errors import is_own, message


class UnstableError(Exception):
    """Some of what a class can see has no content that could be compared; the message says where, and what."""


def identity_of(found: type) -> str:
    """Return a text that stands for all that the class *found* can see at this moment.

    Raises:
        UnstableError: Some of it cannot be told from something else that does otherwise.
    """
    try:
        with any_depth():
            walk = _Walk(frozenset({found.__module__.partition(".")[0]}))
            return f"blake2b:{walk.digest(found, found.__qualname__).hex()}"
    except TooDeepError as error:
        raise UnstableError(f"{found.__qualname__}: {error}") from None


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), type(NotImplemented))

_COMPUTED = ("eval", "exec", "compile", "globals", "__import__")
"""Builtins whose caller may see what it does not name."""

_MOST_SETS = 3
"""How deep sets of objects may lie in one another's objects: each level looks at them anew, to find their order."""

_OF_BOTH = {"__doc__", "__name__", "__qualname__", "__module__", "__annotations__", "__annotate__"}
_OF_MODULES = {"__builtins__", "__cached__", "__file__", "__loader__", "__package__", "__path__", "__spec__"} | _OF_BOTH
"""What Python keeps in a module."""
_MADE_OF_CLASSES = {"__firstlineno__", "__static_attributes__", "__annotate_func__", "__annotations_cache__"}
_OF_CLASSES = (
    {"__dict__", "__weakref__", "_abc_impl", "__signature__", "__private_attributes__"} | _MADE_OF_CLASSES | _OF_BOTH
)
"""What Python keeps in a class, and what follows from the rest."""


class _Walk:
    """Goes through all that something refers to, breadth first, and takes it in in an order that is always the same.

    Args:
        packages: Top-level modules that are the user's own though they may be installed.
        within: Sets whose elements are being looked at.
    """

    def __init__(self, packages: frozenset[str], within: tuple[object, ...] = ()) -> None:
        self._packages = packages
        self._within = within
        self._hash = blake2b(digest_size=16)
        # Of each thing that may be changed its number, so that what is shared, or refers to itself, is told by it.
        self._numbers: dict[int, int] = {id(each): -1 - depth for depth, each in enumerate(within)}
        self._kept: list[object] = []  # so that none of these ids is given twice
        self._waiting: deque[tuple[Any, str]] = deque()
        self._path = ""
        self._own_modules: dict[str, bool] = {}

    def digest(self, thing: object, path: str) -> bytes:
        """Return the digest of *thing*, which is called *path*."""
        self._path = path
        self._refer(thing, "")
        while self._waiting:
            thing, self._path = self._waiting.popleft()
            try:
                self._content(thing)
            except (UnstableError, RecursionError, KeyboardInterrupt):
                raise
            except BaseException as error:  # what the user's own code raises while it is asked, whatever it is
                raise self._unstable(message(error)) from error
        return self._hash.digest()

    def _unstable(self, why: str) -> UnstableError:
        return UnstableError(f"{self._path}: {why}")

    def _say(self, *texts: str | bytes | int) -> None:
        for text in texts:
            content = text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:" % len(content))
            self._hash.update(content)

    def _refer(self, thing: Any, name: str) -> None:
        """Take in what cannot change by its value, and of all else who it is; its content follows."""
        kind = type(thing)
        if kind in _PLAIN:
            self._say(kind.__name__, _text(thing))
        elif kind is tuple:
            self._each("tuple", thing)
        elif kind is frozenset:
            self._set("frozenset", thing)
        elif kind is types.CodeType:
            self._code(thing)
        elif (library := self._library_name(thing)) is not None:
            self._say("library", library)
        else:
            number = self._numbers.get(id(thing))
            if number is None:
                number = self._numbers[id(thing)] = len(self._kept)
                self._kept.append(thing)
                self._waiting.append((thing, f"{self._path}.{name}" if name else self._path))
            self._say("number", number)

    def _each(self, kind: str, things: Iterable[Any]) -> None:
        things = list(things)
        self._say(kind, len(things))
        for thing in things:
            self._refer(thing, "")

    def _named(self, kind: str, things: Iterable[tuple[str, Any]]) -> None:
        self._say(kind)
        for name, thing in sorted(things, key=lambda entry: entry[0]):
            self._say(name)
            self._refer(thing, name)
        self._say("end")

    def _set(self, kind: str, things: Set[Any]) -> None:
        """Take in a set in an order that does not depend on hashes, which differ between processes."""
        if all(type(thing) in _PLAIN for thing in things):
            self._each(kind, sorted(things, key=lambda thing: (type(thing).__name__, repr(_text(thing)))))
            return
        if len(self._within) == _MOST_SETS:
            raise self._unstable("sets of objects that refer to one another")
        within = (*self._within, things)
        digests = {id(thing): _Walk(self._packages, within).digest(thing, self._path) for thing in things}
        self._each(kind, sorted(things, key=lambda thing: digests[id(thing)]))

    def _content(self, thing: Any) -> None:
        """Take in the content of what is no plain value."""
        match thing:
            case types.ModuleType():
                self._module(thing)
            case type():
                self._class(thing)
            case types.FunctionType():
                self._function(thing)
            case types.MethodType():
                self._each("method", (thing.__func__, thing.__self__))
            case types.BuiltinMethodType():  # of an object; those of modules are told by their names
                self._own_extension(thing)
                self._each("builtin", (thing.__name__, thing.__self__))
            case types.MethodWrapperType():
                self._each("wrapper", (thing.__name__, thing.__self__))
            case staticmethod() | classmethod():
                self._each(type(thing).__name__, (thing.__func__,))
            case property():
                self._each("property", (thing.fget, thing.fset, thing.fdel))
            case (
                types.MemberDescriptorType()
                | types.GetSetDescriptorType()
                | types.WrapperDescriptorType()
                | types.MethodDescriptorType()
                | types.ClassMethodDescriptorType()
            ):
                self._each("descriptor", (thing.__name__, thing.__objclass__))
            case types.MappingProxyType():
                self._each("mapping", thing.items())
            case weakref.ReferenceType():
                self._each("weak", (thing(),))
            case functools._lru_cache_wrapper():  # what a cache holds follows from what fills it
                self._each("cached", (thing.__wrapped__,))
            case functools.cached_property():
                self._each("cached property", (thing.func, thing.attrname))
            case _ if type(thing).__module__.startswith("numba.") and hasattr(thing, "py_func"):
                self._each("compiled", (thing.py_func, thing.targetoptions))
            case _ if type(thing) is list:
                self._each("list", thing)
            case _ if type(thing) is dict:
                self._each("dict", thing.items())
            case _ if type(thing) is set:
                self._set("set", thing)
            case _ if type(thing) is np.ndarray and not thing.dtype.hasobject:
                self._say("array", repr(np.lib.format.dtype_to_descr(thing.dtype)), repr(thing.shape))
                self._hash.update(
                    np.ascontiguousarray(thing).reshape(-1).view(np.uint8).data
                )  # no copy: it may be large
            case _:
                self._object(thing)

    def _module(self, module: types.ModuleType) -> None:
        """Take in a module of the user's own, all of it: who holds a module can ask it for any name."""
        self._own_extension(module)
        self._named("module", ((name, value) for name, value in vars(module).items() if name not in _OF_MODULES))

    def _own_extension(self, thing: Any) -> None:
        """Refuse what is compiled: there is nothing to be seen."""
        name = thing.__name__ if isinstance(thing, types.ModuleType) else getattr(thing, "__module__", None)
        file = getattr(sys.modules.get(str(name)), "__file__", None) or ""
        if file.endswith(tuple(EXTENSION_SUFFIXES)) and self._is_own(str(name)):
            raise self._unstable(f"{file} is compiled")

    def _class(self, found: type) -> None:
        self._own_extension(found)
        self._say("class", found.__name__)
        self._each("bases", (type(found), *found.__bases__))
        names = {name for name in vars(found) if name not in _OF_CLASSES and not name.startswith("__pydantic_")}
        self._named("entries", ((name, vars(found)[name]) for name in names))
        fields = vars(found).get("__pydantic_fields__", {})
        self._named("fields", ((name, _essence(field)) for name, field in fields.items() if _declares(found, name)))
        private = vars(found).get("__private_attributes__", {})
        self._named("private", ((name, (each.default, each.default_factory)) for name, each in private.items()))
        decorators = vars(found).get("__pydantic_decorators__")
        if decorators is not None:
            self._named("decorators", _decorators(decorators))

    def _function(self, function: types.FunctionType) -> None:
        code, space = function.__code__, function.__globals__
        self._code(code)
        self._each("defaults", (function.__defaults__, function.__kwdefaults__, vars(function)))
        self._named("closure", zip(code.co_freevars, map(_held, function.__closure__ or ()), strict=True))
        globals_, imports, names = _seen_by(code)
        self._say("globals")
        for name in globals_:
            self._say(name)
            if name in space:
                self._refer(space[name], name)
            elif hasattr(builtins, name):
                if name in _COMPUTED:
                    raise self._unstable(f"{name} may see anything")
            else:
                self._say("absent")
        if "import_module" in names or {"sys", "modules"} <= names | set(globals_):
            raise self._unstable("what is imported by a computed name may be anything")
        self._say("imports")
        for name, level in imports:
            self._import(f"{'.' * level}{name}", space.get("__package__"))

    def _import(self, name: str, package: str | None) -> None:
        """Take in what a function imports when it is called."""
        name = resolve_name(name, package) if name.startswith(".") else name
        self._say(name)
        if not self._is_own(name) or name.partition(".")[0] in sys.stdlib_module_names:
            return
        if name not in sys.modules:
            try:
                spec = find_spec(name)
            except ModuleNotFoundError:  # nor its package
                spec = None
            if spec is None:
                self._say("absent")
                return
            if not is_own(name, spec.origin or "<none>", self._packages):
                return
        self._refer(importlib.import_module(name), name)

    def _code(self, code: types.CodeType) -> None:
        """Take in what code does; not where it stands."""
        self._say("code", code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        self._say(code.co_flags, code.co_code, code.co_exceptiontable)
        self._each("names", (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_consts))

    def _object(self, thing: Any) -> None:
        """Take in an object: its class, and its state as it would be pickled, or as it is where the class is one's own.

        A class of one's own may leave out of its pickles what it likes.
        """
        kind = type(thing)
        self._refer(kind, "")
        own = self._is_own(kind.__module__)
        if own:
            self._named("attributes", _attributes(thing))
            if all(base is object or self._is_own(base.__module__) for base in kind.__mro__):
                return
        if isinstance(thing, np.ufunc):  # which is pickled by its name, whatever made it
            name = str(thing.__name__)
            if not any(getattr(sys.modules.get(module), name, None) is thing for module in _HAVE_UFUNCS):
                raise self._unstable(f"{name} is compiled")
            self._say("name", name)
            return
        reduced: Any = dispatch_table[kind](thing) if kind in dispatch_table else thing.__reduce_ex__(4)
        if isinstance(reduced, str):
            if own:
                raise self._unstable(f"{reduced} is pickled by its name")
            self._say("name", reduced)
            return
        maker, arguments, state, entries, items, setter = (list(reduced) + [None] * 4)[:6]
        self._each("made", (maker, arguments, state, setter))
        self._each("entries", () if entries is None else entries)
        self._each("items", () if items is None else items)

    def _library_name(self, thing: Any) -> str | None:
        """Return the name by which *thing* is found in a module that is not the user's own; None if it is not."""
        if isinstance(thing, types.ModuleType):
            return None if self._is_own(thing.__name__) else thing.__name__
        if not isinstance(thing, type | types.FunctionType | types.BuiltinFunctionType) and not callable(thing):
            return None
        module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if not (isinstance(module, str) and isinstance(name, str)) or self._is_own(module):
            return None
        if isinstance(thing, type) and not thing.__flags__ & _MADE_AT_RUN_TIME:
            return f"{module}:{name}"
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        return f"{module}:{name}" if found is thing else None

    def _is_own(self, module: str) -> bool:
        """Say whether a module is the user's own, or none that is there."""
        known = self._own_modules.get(module)
        if known is None:
            known = self._own_modules[module] = _own_module(module, self._packages)
        return known


_HAVE_UFUNCS = ("numpy", "scipy.special")
_MADE_AT_RUN_TIME = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _own_module(name: str, packages: frozenset[str]) -> bool:
    module, top = sys.modules.get(name), name.partition(".")[0]
    if module is None or name == "__main__":
        return top != "netbandit"
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if file is None:  # part of Python, or made at run time
        return top not in sys.stdlib_module_names
    return is_own(name, file, packages)


def _text(value: Any) -> str | bytes:
    """Return a text for a plain value; whole numbers may have more digits than Python writes."""
    if isinstance(value, str | bytes):
        return value
    return hex(value) if isinstance(value, int) else repr(value)


def _held(cell: types.CellType) -> Any:
    """Return what a *cell* of a closure holds, in a list; an empty one where it holds nothing yet."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object of a class of the user's own holds."""
    yield from getattr(thing, "__dict__", {}).items()
    for base in type(thing).__mro__:
        for name, slot in vars(base).items():
            if isinstance(slot, types.MemberDescriptorType) and name != "__dict__":
                try:
                    yield f"{base.__name__}.{name}", slot.__get__(thing)
                except AttributeError:  # not set
                    continue


@functools.lru_cache(maxsize=4096)
def _seen_by(code: types.CodeType) -> tuple[list[str], list[tuple[str, int]], set[str]]:
    """Return the globals that *code* and the code inside it name, what they import and how far up, and all names."""
    globals_: set[str] = set()
    imports: set[tuple[str, int]] = set()
    names = set(code.co_names)
    before: list[Any] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            level = next((value for value in reversed(before[:-1]) if isinstance(value, int)), 0)
            imports.add((instruction.argval, level))
        elif instruction.opcode in dis.hasname and not instruction.opname.endswith(("ATTR", "METHOD", "FROM")):
            globals_.add(instruction.argval)
        before.append(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _seen_by(constant)
            globals_.update(inner[0])
            imports.update(inner[1])
            names.update(inner[2])
    return sorted(globals_), sorted(imports), names


def _declares(found: type, name: str) -> bool:
    """Say whether *found* itself declares its field *name*, and no base does."""
    return name in vars(found).get("__annotations__", {name: None})


def _essence(field: Any) -> tuple[Any, ...]:
    """Return what a field of pydantic's does, without what is written about it."""
    return (field.annotation, field.default, field.default_factory, field.alias, tuple(field.metadata))


def _decorators(found: Any) -> Iterator[tuple[str, Any]]:
    """Yield how pydantic calls the validators of a class; the functions are among its entries."""
    for group in ("validators", "field_validators", "root_validators", "field_serializers", "model_validators"):
        for name, decorator in getattr(found, group, {}).items():
            yield f"{group}.{name}", decorator.info
