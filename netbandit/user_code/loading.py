"""User modules: which of them a scenario may name, how they are found, and importing them.

Modules beside a scenario come last on the search path, so that one named like a module of Python or of a library
shadows nothing that a run needs. Asking for such a shadowed module is an error.
"""

import importlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from netbandit.user_code.errors import is_pythons
from netbandit.util.text import one_line


class RefusedModuleError(ImportError):
    """A module that a scenario must not name; none of its code has run."""


class ProcessExitError(BaseException):
    """User code tried to end the process without an error message."""


_leave = os._exit
_kept: set[tuple[int, int]] = set()


@contextmanager
def kept_alive() -> Iterator[None]:
    """Make ``os._exit`` in the body raise a `ProcessExitError`; other threads and processes still exit."""
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


@contextmanager
def importing() -> Iterator[None]:
    """Import user modules in the body: none can end the process or see the command-line arguments."""
    before, sys.argv = sys.argv, ["netbandit"]
    try:
        with kept_alive():
            yield
    finally:
        sys.argv = before


def _exit(status: int) -> NoReturn:
    if (os.getpid(), threading.get_ident()) in _kept:
        raise ProcessExitError(f"os._exit({status}) would end netbandit, and all other runs with it")
    _leave(status)


class _Beside:
    """Finds modules in scenario folders, the latest folder first, after all other finders."""

    folders: list[str] = []  # noqa: RUF012

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the top-level module *name*; other finders handle submodules."""
        return None if path is not None else PathFinder.find_spec(name, cls.folders, target)

    @classmethod
    def invalidate_caches(cls) -> None:
        """Do nothing: all caches belong to `PathFinder`, which is invalidated itself."""


def find_beside(folder: Path) -> None:
    """Make modules in *folder* importable from now on."""
    if _Beside not in sys.meta_path:
        sys.meta_path.append(_Beside)
    path = str(folder.absolute())
    if path not in _Beside.folders[:1]:
        _Beside.folders[:] = [path, *(other for other in _Beside.folders if other != path)]


def import_beside(name: str, folder: Path) -> ModuleType:
    """Import the module *name*, from *folder* or installed, and announce it on stderr once per process.

    Raises:
        RefusedModuleError: It belongs to Python, is a program, or is in *folder* but shadowed by another module.
        BaseException: Any exception that the module raises.
    """
    folder = folder.absolute()
    importlib.invalidate_caches()
    found = _findable(name, folder)
    with importing():
        if found and (folder, found) not in _warned and name not in sys.modules and not name.startswith("netbandit."):
            _warned.add((folder, found))
            print(one_line(f"imports {found}"), file=sys.stderr, flush=True)
        return importlib.import_module(name)


_warned: set[tuple[Path, str]] = set()


def _findable(name: str, folder: Path) -> str:
    """Make the module *name* importable; return a description of it and its location, empty if it is not found.

    Neither the module nor its package is imported.
    """
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        raise RefusedModuleError(f"{name!r} is not the name of a module")
    if "__main__" in parts:
        hint = "write a module that only defines the class (in Python, pass the class itself)"
        raise RefusedModuleError(f"{name} is a program, which importing it would run: {hint}")
    there = folder.joinpath(*parts)
    beside = [file for file in (there.with_name(f"{there.name}.py"), there / "__init__.py") if file.is_file()]
    before = list(_Beside.folders)
    find_beside(folder)
    python = parts[0] in sys.stdlib_module_names  # not even searched for: some finders import other modules
    locations = [] if python else _locations(parts[0])
    homes = {folder.resolve(), (folder / parts[0]).resolve()}
    if not any(Path(one).parent.resolve() in homes for one in locations):
        _Beside.folders[:] = before  # if no user code is to run, nothing else may be imported from there either
        python |= any(map(is_pythons, locations))
        if beside:
            where = "Python itself" if python else ", ".join(locations)
            raise RefusedModuleError(
                f"{beside[0].name} is hidden by the module {name} of {where}: give it another name"
            )
        if python:
            raise RefusedModuleError(f"{name} is a module of Python itself, which has no parts: name one of your own")
        return f"the module {name}, installed in {Path(locations[0]).parent}" if locations else ""
    return f"{beside[0].relative_to(folder).as_posix() if beside else f'the module {name}'}, beside the scenario"


def _locations(top: str) -> list[str]:
    """Return the file of the top-level module *top*, or the folders of a package that has none."""
    try:
        spec = find_spec(top)
    except ValueError:  # it is in memory only, not imported from a file
        spec = None
    if spec is not None and spec.has_location and spec.origin is not None:
        return [spec.origin]
    file = getattr(sys.modules.get(top), "__file__", None)
    return [file] if file else list((spec and spec.submodule_search_locations) or ())
