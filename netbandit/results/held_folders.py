"""Folder locks held by a process: the kernel releases them when the process ends, however it ends.

The folder itself is locked, so no lock file is left behind. Where folders cannot be locked (Windows, some network
file systems) no holder is known.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp

from netbandit.results.safe_files import storage

if sys.platform != "win32":
    import fcntl

_PREFIX = "netbandit-workers-"


class Hold:
    """An open folder that can be locked.

    Args:
        file: Its descriptor; None where folders cannot be opened.
    """

    def __init__(self, file: int | None) -> None:
        self._file = file

    def alone(self) -> bool:
        """Lock it exclusively, without waiting; return whether that succeeded, as far as can be known."""
        try:
            self._lock(wait=False)
        except BlockingIOError:
            return False
        return True

    def alone_at_last(self) -> None:
        """Wait until it can be locked exclusively."""
        self._lock()

    def together(self) -> None:
        """Wait until it can be locked with others (a shared lock)."""
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
    """Open *folder* for locking, and release it afterwards."""
    if sys.platform == "win32":
        yield Hold(None)
        return
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield Hold(file)
    finally:
        os.close(file)


@contextmanager
def described(out: Path) -> Iterator[None]:
    """Hold the results folder *out* alone, while what its ``study.json`` and tables say is read and changed.

    Raises:
        StorageError: It is not there, or may not be read.
    """
    with ExitStack() as holding:
        with storage(out):
            holding.enter_context(opened(out.resolve())).alone_at_last()
        yield


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that is removed after the body; folders that killed processes left are removed first."""
    if sys.platform != "win32":
        for left in Path(gettempdir()).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                _remove_unheld(left)
    while True:
        folder = Path(mkdtemp(prefix=_PREFIX))
        try:
            # Until it is locked, another process may take it for an orphan.
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
