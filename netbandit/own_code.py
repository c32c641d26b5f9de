"""Code of the user's own: how its modules are found, and what to say where it goes wrong.

Modules beside a scenario are found behind all others, so that one named like a module of Python's or of a library
hides nothing that is needed to run; that it is hidden itself is said where it is asked for.
"""

import importlib
import os
import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from netbandit.printable import one_line

_OURS = str(Path(__file__).parent.resolve())
_INSTALLED = tuple({str(Path(sysconfig.get_path(name)).resolve()) for name in ("purelib", "platlib")})
_PYTHONS = tuple({str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib")})


class HiddenModuleError(ImportError):
    """A module beside the scenario is named like one that is found before it."""


class ProcessExitError(BaseException):
    """Code of the user's own would have ended the process, with nothing said."""


class ReturnedError(ValueError):
    """A part of the user's own has returned what it must not; the message says which method, and what it must return.

    Attributes:
        table: The part: ``topology``, ``bandit``, ``learner`` or ``protocol``; nothing where that is not known.
    """

    def __init__(self, text: str, table: str = "") -> None:
        super().__init__(text)
        self.table = table


_leave = os._exit
_kept: set[tuple[int, int]] = set()


@contextmanager
def kept_alive() -> Iterator[None]:
    """Have ``os._exit`` of code in the body raise a `ProcessExitError`; in other threads and processes it is obeyed."""
    here = os.getpid(), threading.get_ident()
    if here in _kept:
        yield
        return
    _kept.add(here)
    os._exit = _exit
    try:
        yield
    finally:
        _kept.discard(here)
        if not _kept:
            os._exit = _leave


def _exit(status: int) -> NoReturn:
    if (os.getpid(), threading.get_ident()) in _kept:
        raise ProcessExitError(f"os._exit({status}) would end netbandit, and all other runs with it")
    _leave(status)


class _Beside:
    """Finds modules in the folders of scenarios, the latest first; behind all other finders."""

    folders: list[str] = []  # noqa: RUF012

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the top-level module *name* is; modules of a package are found by others."""
        return None if path is not None else PathFinder.find_spec(name, cls.folders, target)

    @classmethod
    def invalidate_caches(cls) -> None:
        """Forget nothing: what is cached is `PathFinder`'s, which is asked itself."""


def find_beside(folder: Path) -> None:
    """Let modules in *folder* be found from now on."""
    if _Beside not in sys.meta_path:
        sys.meta_path.append(_Beside)
    path = str(folder.absolute())
    if path not in _Beside.folders[:1]:
        _Beside.folders[:] = [path, *(other for other in _Beside.folders if other != path)]


def import_beside(name: str, folder: Path) -> ModuleType:
    """Import the module *name*, of *folder* or installed.

    Raises:
        HiddenModuleError: *folder* has such a module, but another one of this name is found first.
        BaseException: Whatever the module raises.
    """
    find_beside(folder)
    importlib.invalidate_caches()
    with kept_alive():
        module = importlib.import_module(name)
    there = folder.joinpath(*name.split("."))
    beside = [path.resolve() for path in (there.with_name(f"{there.name}.py"), there / "__init__.py") if path.is_file()]
    found = getattr(module, "__file__", None)
    if beside and (found is None or Path(found).resolve() not in beside):
        where = "Python itself" if name.partition(".")[0] in sys.stdlib_module_names else found
        raise HiddenModuleError(f"{beside[0].name} is hidden by the module {name} of {where}: give it another name")
    return module


def is_own(module: str, file: str, packages: frozenset[str] = frozenset()) -> bool:
    """Say whether code is the user's: neither ours, nor Python's, nor a library's.

    Args:
        module: The name of its module.
        file: Its file, or what stands for one.
        packages: Top-level modules that are the user's own though they may be installed.
    """
    top = module.partition(".")[0]
    if top in packages:
        return True
    if top == "netbandit" or file.startswith("<frozen "):
        return False
    if file.startswith("<"):
        return True
    path = Path(file).resolve()
    # Other Pythons' libraries may be in reach, too, such as the system's.
    installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return not installed and not str(path).startswith((_OURS, *_INSTALLED, *_PYTHONS))


def message(error: BaseException) -> str:
    """Return the kind of *error* and what it says, as one line, whatever it is."""
    try:
        text = " ".join(str(error).split())
    except BaseException as failure:
        if isinstance(failure, KeyboardInterrupt):
            raise
        text = "which cannot be shown"
    return one_line(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def place(error: BaseException, packages: frozenset[str] = frozenset()) -> tuple[str, int] | None:
    """Return file and line of the user's code in which *error* arose, the innermost; None where there is none.

    Where it has none itself its causes are looked at: what arises in an event is raised again by the event loop.
    """
    found: tuple[str, int] | None = None
    cause: BaseException | None = error
    seen: set[int] = set()
    while found is None and cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        for frame, line in traceback.walk_tb(cause.__traceback__):
            file = frame.f_code.co_filename
            if is_own(str(frame.f_globals.get("__name__", "")), file, packages):
                found = (file, line)
        cause = cause.__cause__
    return found


def complaint(error: BaseException, packages: frozenset[str] = frozenset()) -> str:
    """Return *error* as one line, with the user's file and line if it arose in code of the user's own."""
    where = place(error, packages)
    return message(error) if where is None else f"{message(error)}, in {one_line(where[0])}, line {where[1]}"


def is_ours(kind: type) -> bool:
    """Return whether a class is part of netbandit, and not somebody's own."""
    return kind.__module__.startswith("netbandit.")
