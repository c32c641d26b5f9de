"""Files that are there whole or not at all."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LEFTOVER = ".partial"


class StorageError(Exception):
    """Results cannot be written: no space, no permission, or a file where a folder should be."""


@contextmanager
def storage(place: Path) -> Iterator[None]:
    """Turn an `OSError` of the body into one clear `StorageError` about *place*."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise StorageError(f"cannot write to {place}: there is a file where a folder should be") from error
    except OSError as error:
        raise StorageError(f"cannot write to {place}: {error.strerror or error}") from error


def make_folder(folder: Path) -> None:
    """Make *folder* if it is not there; a link in its place makes way, so that nothing is written where it leads.

    Raises:
        StorageError: The folder cannot be written.
    """
    with storage(folder):
        if folder.is_symlink():
            folder.unlink()
        folder.mkdir(parents=True, exist_ok=True)


def partial(target: Path) -> Path:
    """Return the name beside *target* under which this process writes it until it is whole.

    The name says who writes, so that what a killed process left behind can be told from what another process,
    which runs the same scenario into the same folder, is writing now.
    """
    return target.with_name(f".{target.name}.{socket.gethostname()}.{os.getpid()}{_LEFTOVER}")


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Give the name under which the body writes *target*, which is there when the body has ended, or not at all.

    Raises:
        StorageError: The folder cannot be written.
    """
    temporary = partial(target)
    with storage(target.parent):
        try:
            yield temporary
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def write_whole(target: Path, text: str) -> None:
    """Write *text* to *target* by a rename, after it has reached the disk.

    Raises:
        StorageError: The folder cannot be written.
    """
    with whole(target) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def remove_leftovers(folder: Path) -> None:
    """Remove what processes of this machine that are no longer alive were writing into *folder*.

    Raises:
        StorageError: There can be no such folder, its name is too long for instance.
    """
    with storage(folder):
        found = sorted(folder.glob(f".*{_LEFTOVER}"))
    for path in found:
        host, _, process = path.name.removesuffix(_LEFTOVER).rpartition(".")
        if host.endswith("." + socket.gethostname()) and process.isdigit() and not _may_write(int(process), path):
            path.unlink(missing_ok=True)


_CLOCKS_DIFFER = 2.0
"""Seconds by which the start of a process and the time of a file may be off."""


def _may_write(process: int, path: Path) -> bool:
    """Return whether *process* lives and was there when *path* was last written: numbers are given again."""
    import psutil

    try:
        found = psutil.Process(process)
        if found.status() == psutil.STATUS_ZOMBIE:  # killed, and nobody has asked for it yet
            return False
        return bool(found.create_time() <= path.stat().st_mtime + _CLOCKS_DIFFER)
    except (psutil.NoSuchProcess, FileNotFoundError):
        return False
    except psutil.AccessDenied:
        return True
