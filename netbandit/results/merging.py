"""Merges results of one study from several folders, such as from several machines; finds runs that no study names."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from netbandit.results.run_folder import RESULT, DamagedRunError, verify
from netbandit.results.safe_files import storage
from netbandit.results.store import RUNS, StudyResult, folder_of, load_points, load_study, run_names, save_study
from netbandit.results.study_identity import differences, same_points_made_otherwise, told, united
from netbandit.results.tables import PARQUET, write_summary, write_table
from netbandit.util.text import pluralize


class MergeError(Exception):
    """The folders cannot be merged; the message says why. Nothing has changed."""


def merge(out: Path, others: Sequence[Path]) -> tuple[StudyResult, int, list[str]]:
    """Merge the runs of *others* into the results folder *out*, and rewrite its table.

    Runs are copied unchanged; runs that *out* already has are skipped. *others* are not modified.

    Args:
        out: The target folder; it holds results of the same study, or does not exist.
        others: Results folders.

    Returns:
        The merged study, without curves and links; the number of runs copied; and the runs that were skipped because
        their files are damaged, a line each.

    Raises:
        MergeError: A folder holds no results, or those of another study.
        StorageError: *out* cannot be written.
    """
    studies = [(folder, _study(folder)) for folder in others]
    if (out / "study.json").exists():
        studies.insert(0, (out, _study(out)))
    first, there = studies[0]
    for folder, study in studies[1:]:
        points = [point for point in study.points if point.finished]
        found = differences(there, points, study.written) or same_points_made_otherwise(there, points)
        if found:
            raise MergeError(f"{folder} holds the results of another study than {first}: {told(found)}")
    copied, damaged = 0, []
    for folder, study in studies:
        for key in [key for point in study.points for key in point.keys]:
            source, target = folder_of(folder, key), out / RUNS / key
            if folder != out and (source / RESULT).is_file() and not (folder_of(out, key) / RESULT).is_file():
                try:
                    verify(source)
                except DamagedRunError as error:
                    damaged.append(f"{source}: {error}")
                    continue
                _copy(source, target)
                copied += 1
    done = run_names(out)
    whole = there
    for _, study in studies[1:]:
        points = [point for point in study.points if point.finished]
        union = united(whole, points, [point.keys for point in points], study.written, done)
        save_study(out, there.name, union.points, union.keys, union.written)
        whole = load_points(out)
    if len(studies) == 1:
        save_study(out, there.name, there.points, [point.keys for point in there.points], there.written)
    with storage(out):
        (out / PARQUET).unlink(missing_ok=True)
    merged = load_study(out, details=False)
    write_table(out, merged)
    write_summary(out, merged)
    return merged, copied, damaged


def _study(folder: Path) -> StudyResult:
    try:
        study = load_points(folder)
    except (FileNotFoundError, ValueError) as error:
        raise MergeError(str(error)) from None
    if not any(point.finished for point in study.points):
        raise MergeError(f"{folder} has no finished run")
    return study


def _copy(source: Path, target: Path) -> None:
    """Copy a run folder atomically."""
    part = target.with_name(f".{target.name}.partial")
    with storage(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(source, part)
        if target.is_dir():  # of a run that failed here
            shutil.rmtree(target)
        part.rename(target)


def missing(study: StudyResult) -> str:
    """Return which replications are missing, in words; empty if all are present."""
    number = sum(run is None for point in study.points for run in point.runs)
    return f"{pluralize(number, 'run')} of the study {'is' if number == 1 else 'are'} not there yet" if number else ""


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
