"""Ownership of a results folder by one study: identifying it, and removing it with its losses stated."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from netbandit.results.safe_files import discard, storage
from netbandit.results.store import RUNS, STUDY, StudyResult, load_points, load_study
from netbandit.results.study_identity import differences, told
from netbandit.results.tables import PARQUET, SUMMARY, TABLE
from netbandit.simulation.sweep_point import Point
from netbandit.util.nesting import any_depth, read_json
from netbandit.util.text import pluralize

_DERIVED = (TABLE, SUMMARY, PARQUET, "report.html", "citation.bib")
_PICTURES = "pictures.json"  # in which the plots record their pictures


class OtherStudyError(Exception):
    """The folder belongs to another study; the message states the differences, and the losses or that it is running."""


def refuse_other(
    out: Path,
    name: str,
    points: Sequence[Point],
    keys: Sequence[Sequence[str]],
    written: Mapping[str, Any] | None,
    *,
    running: bool = False,
) -> StudyResult | None:
    """Return the study whose results are in *out*, if *points* belong to it; None if there is none.

    A folder without a readable ``study.json``, or without a finished run, belongs to no study: its runs are found by
    their keys alone. While another process is running it, it belongs to that process's study.

    Args:
        out: A results folder; it need not exist.
        name: The name of the points' study; a name alone does not distinguish studies.
        points: The points to run.
        keys: The keys of their runs.
        written: Their scenario as written.
        running: Whether another process is running the study of the folder.

    Raises:
        OtherStudyError: *out* holds the results of another study; see `study_identity`.
    """
    ours = {runs[0] for runs in keys if runs}
    try:
        there = load_points(out, runs=0)
        theirs = {point.keys[0] for point in there.points if point.keys}
        if theirs <= ours:  # nothing is lost
            return there
        there = load_points(out)
    except (OSError, ValueError):
        return None
    if any(point.finished for point in there.points):
        found = differences(there, points, written)
    elif running and ours <= theirs:
        found = []
    elif running:
        found = ["it has other points, and no run of it has ended yet that would say what differs"]
    else:
        return None
    if not found:
        return there
    if running:
        raise OtherStudyError(
            f"{out} is in use: another study, {there.name!r}, is running into it: {told(found)}; wait until it has "
            "ended, or name another folder by --out (in Python out=)"
        )
    try:
        runs = sum(len(point.finished) for point in load_study(out, details=False).points)
    except ValueError:
        return None
    pictures = len(list(_pictures(out)))
    lost = [pluralize(runs, "run"), *([pluralize(pictures, "picture")] if pictures else [])]
    lost += [file for file in _DERIVED if (out / file).exists()]
    raise OtherStudyError(
        f"{out} holds the results of another study, {there.name!r}: {told(found)}; these would be lost: "
        f"{', '.join(lost)}; name another folder by --out (in Python out=), or let {name!r} take its place by "
        "--replace (replace=True)"
    )


def remove_other(
    out: Path, name: str, points: Sequence[Point], keys: Sequence[Sequence[str]], written: Mapping[str, Any] | None
) -> None:
    """Remove from *out* all results of a study to which *points* do not belong; foreign files stay.

    Raises:
        StorageError: It cannot be removed.
    """
    try:
        refuse_other(out, name, points, keys, written)
    except OtherStudyError:
        with storage(out):
            for picture in _pictures(out):
                picture.unlink(missing_ok=True)
            for file in (*_DERIVED, _PICTURES):
                (out / file).unlink(missing_ok=True)
            for folder in (out / RUNS).iterdir() if (out / RUNS).is_dir() else ():
                discard(folder)
            (out / STUDY).unlink(missing_ok=True)  # last: until then the folder shows its owner


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
