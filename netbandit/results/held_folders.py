"""Folders that a process holds: the kernel lets go of them when it ends, however it ends, so that none stays held.

It is the folder that is locked, not a file in it that would be left. Where that cannot be (Windows, some file systems
that machines share) nobody is known to hold one.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

if sys.platform != "win32":
    import fcntl

_PREFIX = "netbandit-workers-"


class Hold:
    """A folder that is open, to be held.

    Args:
        file: Its descriptor; None where folders cannot be opened.
    """

    def __init__(self, file: int | None) -> None:
        self._file = file

    def alone(self) -> bool:
        """Hold it alone, if nobody else holds it; return whether that is so, as far as can be known."""
        try:
            self._lock(wait=False)
        except BlockingIOError:
            return False
        return True

    def alone_at_last(self) -> None:
        """Hold it alone, when nobody else does any more."""
        self._lock()

    def together(self) -> None:
        """Hold it with others, when nobody holds it alone any more."""
        self._lock(shared=True)

    def _lock(self, *, shared: bool = False, wait: bool = True) -> None:
        if sys.platform == "win32" or self._file is None:
            return
        how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
        try:
            fcntl.flock(self._file, how)
        except BlockingIOError:
            raise
        except OSError:  # this file system has no locks
            return


@contextmanager
def opened(folder: Path) -> Iterator[Hold]:
    """Give *folder*, to be held, and let go of it."""
    if sys.platform == "win32":
        yield Hold(None)
        return
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield Hold(file)
    finally:
        os.close(file)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder that goes with the body; those of processes that were killed go first."""
    if sys.platform != "win32":
        for left in Path(gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                _remove_unheld(left)
    while True:
        folder = Path(mkdtemp(prefix=_PREFIX))
        try:
            # Until it is held, another process may take it for one that was left.
            with suppress(FileNotFoundError), opened(folder) as ours:
                if ours.alone() and folder.exists():
                    yield folder
                    return
        finally:
            rmtree(folder, ignore_errors=True)


def _remove_unheld(folder: Path) -> None:
    if folder.lstat().st_uid == os.getuid():
        with opened(folder) as theirs:
            if theirs.alone():
                rmtree(folder, ignore_errors=True)
