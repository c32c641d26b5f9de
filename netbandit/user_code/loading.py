"""Code of the user's own: how its modules are found, and what to say where it goes wrong.

Modules beside a scenario are found behind all others, so that one named like a module of Python's or of a library
hides nothing that is needed to run; that it is hidden itself is said where it is asked for.
"""

import importlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NoReturn


class HiddenModuleError(ImportError):
    """A module beside the scenario is named like one that is found before it."""


class ProcessExitError(BaseException):
    """Code of the user's own would have ended the process, with nothing said."""


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


@contextmanager
def importing(argv: str = "") -> Iterator[None]:
    """Import modules of the user's own in the body: none ends the process, or sees the command's arguments.

    Args:
        argv: What they see as the only one.
    """
    before, sys.argv = sys.argv, [argv]
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
