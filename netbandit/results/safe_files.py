"""Files written atomically, and JSON that is portable and carries a checksum.

The JSON has no NaN and no infinities, and one canonical form for equal content. The last entry of a sealed object is a
checksum of all preceding bytes.
"""

import json
import math
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

from netbandit.util.nesting import TooDeepError, read_json

UNFINISHED = ".partial"
"""The ending of what is not whole yet."""


class StorageError(Exception):
    """Results cannot be written: no space, no permission, or a file where a folder should be."""


@contextmanager
def storage(place: Path) -> Iterator[None]:
    """Convert an `OSError` of the body to one clear `StorageError` about *place*."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise StorageError(f"cannot write to {place}: there is a file where a folder should be") from error
    except OSError as error:
        raise StorageError(f"cannot write to {place}: {error.strerror or error}") from error


def make_folder(folder: Path) -> None:
    """Create *folder* if it does not exist, and remove leftovers from it; a symbolic link is replaced, its target kept.

    Raises:
        StorageError: The folder cannot be written.
    """
    with storage(folder):
        if folder.is_symlink():
            folder.unlink()
        folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)


def discard(path: Path) -> None:
    """Remove a file, a link, or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        rmtree(path)
    else:
        path.unlink(missing_ok=True)


def partial(target: Path) -> Path:
    """Return the temporary name beside *target* under which this process writes it until it is complete.

    The name contains the process, so that files left by a killed process differ from those that another process
    with the same scenario and folder is writing now.
    """
    return target.with_name(f".{target.name}.{socket.gethostname()}.{os.getpid()}{UNFINISHED}")


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """Yield a temporary name under which the body writes *target*; it is renamed when the body has succeeded.

    The target is a file, or a folder that is not there yet: every file and folder that must be whole is written so.

    Raises:
        StorageError: The folder cannot be written.
    """
    temporary = partial(target)
    with storage(target.parent):
        try:
            yield temporary
            temporary.replace(target)
        finally:
            discard(temporary)


def write_whole(target: Path, text: str, *, flushed: bool = True) -> None:
    """Write *text* to *target* by a rename, after it has been *flushed* to disk.

    Raises:
        StorageError: The folder cannot be written.
    """
    with whole(target) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        if flushed:
            file.flush()
            os.fsync(file.fileno())


def remove_leftovers(*folders: Path) -> int:
    """Remove temporary files and folders in *folders* of processes of this machine that are no longer alive.

    Folders that are not there, and what may not be removed, are passed over. Return how many were removed.
    """
    removed = 0
    for folder in folders:
        names: list[str] = []
        with suppress(OSError):
            names = [name for name in os.listdir(folder) if name.endswith(UNFINISHED)]
        for name in names:
            host, _, process = name.removesuffix(UNFINISHED).rpartition(".")
            if host.endswith("." + socket.gethostname()) and process.isdigit():
                with suppress(OSError):
                    if not _may_write(int(process), folder / name):
                        discard(folder / name)
                        removed += 1
    return removed


_CLOCKS_DIFFER = 2.0
"""Tolerance (s) between the start time of a process and the time of a file or a folder."""


def _may_write(process: int, path: Path) -> bool:
    """Return whether *process* is alive and existed when *path* was last written: process numbers are reused.

    That time is the one that nobody can set: a folder that is copied gets the other time of its source.
    """
    import psutil

    try:
        found = psutil.Process(process)
        if found.status() == psutil.STATUS_ZOMBIE:  # killed, and not yet reaped
            return False
        return bool(found.create_time() <= path.stat().st_ctime + _CLOCKS_DIFFER)
    except (psutil.NoSuchProcess, FileNotFoundError):
        return False
    except psutil.AccessDenied:
        return True


LABELS = ("name", "description")
"""Keys of a scenario whose values are descriptive text only."""

_SIMPLE = {str, int, bool, type(None)}
_INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def canonical(value: object) -> str:
    """Return *value* as canonical JSON, the form that is hashed: keys sorted, no spaces, infinities as text."""
    return json.dumps(portable(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def as_text(value: object) -> str:
    """Return *value* as a line of JSON, with infinities as text."""
    return json.dumps(portable(value), allow_nan=False, ensure_ascii=False) + "\n"


def portable(value: object) -> object:
    """Return *value* in types that JSON has; infinities become the words of TOML."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, Mapping):
        return {str(key): portable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        if {*map(type, value)} <= {*_SIMPLE, float} and math.inf not in value and -math.inf not in value:
            return value  # the long columns of curves and links: nothing to convert, and no copy
        return [portable(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, np.generic):
        return portable(value.item())
    return value


def native(value: Any) -> Any:
    """Invert `portable`."""
    if isinstance(value, dict):
        return {key: entry if key in LABELS else native(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [native(entry) for entry in value]
    if isinstance(value, str):
        return _INFINITIES.get(value, value)
    return value


_SIGN = ', "checksum": "'
_DIGEST_BYTES = 16
_LARGEST = int(sys.float_info.max)


class SealError(ValueError):
    """The content is not as written."""


def sealed(entries: Mapping[str, object]) -> str:
    """Return nonempty *entries* as a line of JSON whose last entry ``checksum`` covers all before it."""
    body = as_text(entries).removesuffix("}\n")
    return f'{body}{_SIGN}{digest(body.encode())}"}}\n'


def unsealed(content: bytes) -> dict[str, Any]:
    """Return the entries of a text from `sealed`, without the checksum.

    Raises:
        SealError: The checksum is wrong or missing, or the content is not what a run can write.
    """
    body, sign, rest = content.rpartition(_SIGN.encode())
    if not sign or rest != f'{digest(body)}"}}\n'.encode():
        raise SealError("does not match its checksum")
    try:
        entries: dict[str, Any] = read_json(body + b"}", parse_int=integer)
    except TooDeepError as error:
        raise SealError(f"is {error}") from None
    return entries


def integer(text: str) -> int:
    """Return the integer of a JSON number.

    Raises:
        SealError: It exceeds the range of floats, so no run has written it.
    """
    value = int(text)
    if not -_LARGEST <= value <= _LARGEST:
        raise SealError(f"holds a number of {len(text)} digits")
    return value


def digest(content: bytes) -> str:
    """Return the checksum of *content*: BLAKE2b with 16 bytes, as hexadecimal digits."""
    return blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def digest_of(path: Path) -> str:
    """Return the checksum of a file's content, which is read in chunks.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=_DIGEST_BYTES)).hexdigest()
