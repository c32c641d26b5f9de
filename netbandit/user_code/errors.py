"""Attributes errors to the user's code or ours, and describes them in one line with file and line number."""

import sysconfig
import traceback
from pathlib import Path

from netbandit.util.text import one_line

_OURS = Path(__file__).parents[1].resolve()
_INSTALLED = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
_PYTHONS = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}


class ReturnedError(ValueError):
    """A part of the user's own has returned what it must not; the message says which method, and what it must return.

    Attributes:
        table: The part: ``topology``, ``bandit``, ``learner`` or ``protocol``; nothing where that is not known.
    """

    def __init__(self, text: str, table: str = "") -> None:
        super().__init__(text)
        self.table = table


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
    return not (_is_installed(path) or is_pythons(file) or path.is_relative_to(_OURS))


def is_pythons(file: str) -> bool:
    """Say whether *file* belongs to Python itself, and is no library's."""
    path = Path(file).resolve()
    return not _is_installed(path) and any(path.is_relative_to(folder) for folder in _PYTHONS)


def _is_installed(path: Path) -> bool:
    # Other Pythons' libraries may be in reach, too, such as the system's.
    named = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return named or any(path.is_relative_to(folder) for folder in _INSTALLED)


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
