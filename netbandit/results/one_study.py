"""A folder of results belongs to one study: whose it is, what would be lost with it, and letting go of it."""

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from netbandit.nesting import any_depth, read_json
from netbandit.results.run_folder import ERROR, RESULT
from netbandit.results.safe_files import storage
from netbandit.results.store import RUNS, STUDY, load_study, study_name
from netbandit.results.tables import PARQUET, SUMMARY, TABLE

_DERIVED = (TABLE, SUMMARY, PARQUET, "report.html", "citation.bib")
_PICTURES = "pictures.json"  # in which the plots note what they have drawn
_KEY = re.compile(r"[0-9a-f]{20}")


class OtherStudyError(Exception):
    """The folder holds the results of another study; the message says whose they are and what would be lost."""


def refuse_other(out: Path, name: str) -> None:
    """Do nothing if the study *name* may write its results into *out*.

    A folder without a ``study.json`` that can be read belongs to nobody: its runs are found by their keys alone.

    Raises:
        OtherStudyError: *out* holds the results of a study of another name.
    """
    other = study_name(out)
    if other in (None, name):
        return
    try:
        runs = sum(len(point.finished) for point in load_study(out, details=False).points)
    except ValueError:  # its name can be read, but not what it says of its runs
        return
    pictures = len(list(_pictures(out)))
    lost = [_count(runs, "run"), *([_count(pictures, "picture")] if pictures else [])]
    lost += [file for file in _DERIVED if (out / file).exists()]
    raise OtherStudyError(
        f"{out} holds the results of another scenario, {other!r}, which would be lost: {', '.join(lost)}; "
        f"name another folder by --out (in Python out=), or let {name!r} take its place by --replace (replace=True)"
    )


def remove_other(out: Path, name: str) -> None:
    """Remove from *out* what a study of another name than *name* has left there; files that are not ours stay.

    Raises:
        StorageError: It cannot be removed.
    """
    try:
        refuse_other(out, name)
    except OtherStudyError:
        with storage(out):
            for picture in _pictures(out):
                picture.unlink(missing_ok=True)
            for file in (*_DERIVED, _PICTURES):
                (out / file).unlink(missing_ok=True)
            for folder in [out / RUNS, *_earlier_runs(out)]:
                if folder.is_dir():
                    shutil.rmtree(folder)
            (out / STUDY).unlink(missing_ok=True)  # last: until then the folder says whose it is


def _earlier_runs(out: Path) -> Iterator[Path]:
    """Yield the run folders of format 1, which stand beside the table."""
    for folder in sorted(out.iterdir()):
        if _KEY.fullmatch(folder.name) and ((folder / RESULT).exists() or (folder / ERROR).exists()):
            yield folder


def _pictures(out: Path) -> Iterator[Path]:
    """Yield the pictures that were drawn into *out*."""
    names: set[str] = set()
    with suppress(OSError, ValueError), any_depth():
        names |= set(_texts(read_json((out / _PICTURES).read_bytes())))
    with suppress(OSError, ValueError):
        for name in sorted(names):
            if Path(name).name == name and Path(name).suffix in (".png", ".svg") and (out / name).is_file():
                yield out / name


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _texts(entry)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
