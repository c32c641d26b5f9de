"""Merges results of one study from several folders, such as from several machines; finds runs that no study names."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from netbandit.results.held_folders import described
from netbandit.results.run_folder import RESULT, DamagedRunError, verify
from netbandit.results.safe_files import UNFINISHED, discard, storage, whole
from netbandit.results.store import RUNS, StudyResult, folder_of, load_points, load_study, run_names, save_study, tidy
from netbandit.results.study_identity import differences, same_points_made_otherwise, told, united
from netbandit.results.tables import PARQUET, write_summary, write_table


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
    _refuse_different(studies)
    with storage(out):
        (out / RUNS).mkdir(parents=True, exist_ok=True)
    with described(out):  # others may be merged into it at the same time
        tidy(out)
        if (out / "study.json").exists():
            studies.insert(0, (out, _study(out)))
            _refuse_different(studies)
        return _merged(out, studies)


def _refuse_different(studies: Sequence[tuple[Path, StudyResult]]) -> None:
    first, there = studies[0]
    for folder, study in studies[1:]:
        points = [point for point in study.points if point.finished]
        found = differences(there, points, study.written) or same_points_made_otherwise(there, points)
        if found:
            raise MergeError(f"{folder} holds the results of another study than {first}: {told(found)}")


def _merged(out: Path, studies: Sequence[tuple[Path, StudyResult]]) -> tuple[StudyResult, int, list[str]]:
    copied, damaged = 0, []
    for folder, study in studies:
        for key in [key for point in study.points for key in point.keys]:
            source, target = folder_of(folder, key), folder_of(out, key)
            if folder != out and (source / RESULT).is_file() and not (target / RESULT).is_file():
                try:
                    verify(source)
                except DamagedRunError as error:
                    damaged.append(f"{source}: {error}")
                    continue
                _copy(source, target)
                copied += 1
    done = run_names(out)
    there = studies[0][1]
    together = there
    for _, study in studies[1:]:
        points = [point for point in study.points if point.finished]
        union = united(together, points, [point.keys for point in points], study.written, done)
        save_study(out, there.name, union.points, union.keys, union.written)
        together = load_points(out)
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
    with whole(target) as part:
        shutil.copytree(source, part, ignore=shutil.ignore_patterns(f".*{UNFINISHED}"))
        discard(target)  # of a run that failed here


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
