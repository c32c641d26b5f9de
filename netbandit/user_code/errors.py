"""Attributes errors to user code or to netbandit, and describes them in one line with file and line number."""

import sysconfig
import traceback
from pathlib import Path

from netbandit.util.text import one_line

_OURS = Path(__file__).parents[1].resolve()
_INSTALLED = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
_PYTHONS = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")}


class ReturnedError(ValueError):
    """A user-defined part returned an invalid value; the message names the method and what it must return.

    Attributes:
        table: The part: ``topology``, ``bandit``, ``learner`` or ``protocol``; empty if unknown.
    """

    def __init__(self, text: str, table: str = "") -> None:
        super().__init__(text)
        self.table = table


def is_own(module: str, file: str, packages: frozenset[str] = frozenset()) -> bool:
    """Return whether code is user code: part of neither netbandit, nor Python, nor a library.

    Args:
        module: The name of its module.
        file: Its file, or a placeholder for one.
        packages: Top-level modules that count as user code even if they are installed.
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
    """Return whether *file* belongs to Python itself, not to a library."""
    path = Path(file).resolve()
    return not _is_installed(path) and any(path.is_relative_to(folder) for folder in _PYTHONS)


def _is_installed(path: Path) -> bool:
    # Libraries of other Pythons, such as the system's, may be importable too.
    named = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return named or any(path.is_relative_to(folder) for folder in _INSTALLED)


def message(error: BaseException) -> str:
    """Return the type and message of any *error*, as one line."""
    try:
        text = " ".join(str(error).split())
    except BaseException as failure:
        if isinstance(failure, KeyboardInterrupt):
            raise
        text = "which cannot be shown"
    return one_line(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def place(error: BaseException, packages: frozenset[str] = frozenset()) -> tuple[str, int] | None:
    """Return file and line of the innermost frame of user code in the traceback of *error*; None if there is none.

    Without such a frame, its causes are searched: the event loop re-raises errors that occur in events.
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
    """Return *error* as one line, with file and line if it arose in user code."""
    where = place(error, packages)
    return message(error) if where is None else f"{message(error)}, in {one_line(where[0])}, line {where[1]}"


def is_ours(kind: type) -> bool:
    """Return whether a class is part of netbandit, not user-defined."""
    return kind.__module__.startswith("netbandit.")
