"""Orphaned runs in a results folder: of earlier values, edited classes or other scenarios."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from netbandit.results.safe_files import storage
from netbandit.results.store import folder_of, load_points, run_names


@dataclass(frozen=True)
class Leftover:
    """A run folder that belongs to no study.

    Attributes:
        folder: The folder.
        bytes: The size of its files.
    """

    folder: Path
    bytes: int


def leftovers(out: Path) -> list[Leftover]:
    """Return the run folders in *out* that its study does not name, by name.

    Raises:
        FileNotFoundError: *out* is not a results folder.
        ValueError: Its ``study.json`` is damaged or has another format, so which runs belong to it is unknown.
    """
    study = load_points(out, runs=0)
    known = {key for point in study.points for key in point.keys}
    folders = [folder_of(out, name) for name in sorted(run_names(out) - known)]
    return [Leftover(folder, _size(folder)) for folder in folders if folder.is_dir() and not folder.is_symlink()]


def remove(found: Iterable[Leftover]) -> None:
    """Delete these folders.

    Raises:
        StorageError: One cannot be removed.
    """
    for one in found:
        with storage(one.folder):
            shutil.rmtree(one.folder)


def _size(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file())
