"""Merges results of one study from several folders, such as from several machines; finds runs that no study names."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from netbandit.results.held_folders import described
from netbandit.results.results_folder import RUNS, STUDY, ResultsFolder
from netbandit.results.run_folder import RESULT, DamagedRunError
from netbandit.results.safe_files import UNFINISHED, discard, storage, whole
from netbandit.results.study_identity import differences, in_one_line, same_points_made_otherwise, united
from netbandit.results.study_result import StudyPlan, StudyResult
from netbandit.results.tables import write_summary, write_table


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
    target = ResultsFolder(out)
    studies = [(folder, _study(folder)) for folder in map(ResultsFolder, others)]
    _refuse_different(studies)
    with storage(out):
        (out / RUNS).mkdir(parents=True, exist_ok=True)
    with described(out):  # others may be merged into it at the same time
        target.tidy()
        if (out / STUDY).exists():
            studies.insert(0, (target, _study(target)))
            _refuse_different(studies)
        return _merged(target, studies)


def _refuse_different(studies: Sequence[tuple[ResultsFolder, StudyResult]]) -> None:
    first, there = studies[0]
    for folder, study in studies[1:]:
        points = [point for point in study.points if point.finished]
        found = differences(there, points, study.written) or same_points_made_otherwise(there, points)
        if found:
            raise MergeError(
                f"{folder.path} holds the results of another study than {first.path}: {in_one_line(found)}"
            )


def _merged(
    out: ResultsFolder, studies: Sequence[tuple[ResultsFolder, StudyResult]]
) -> tuple[StudyResult, int, list[str]]:
    copied, damaged = 0, []
    for folder, study in studies:
        for key in [key for point in study.points for key in point.keys]:
            source, target = folder.run_folder(key), out.run_folder(key)
            if folder.path != out.path and (source / RESULT).is_file() and not (target / RESULT).is_file():
                try:
                    folder.run_files(key).verify()
                except DamagedRunError as error:
                    damaged.append(f"{source}: {error}")
                    continue
                _copy(source, target)
                copied += 1
    done = out.run_names()
    there = studies[0][1]
    together = there
    for _, study in studies[1:]:
        out.describe(united(together, replace(study.plan(), name=there.name), done)[0])
        together = out.study(details=False, most_runs=1)
    if len(studies) == 1:
        keys = [point.keys for point in there.points]
        out.describe(StudyPlan(there.name, there.points, keys, there.written))
    out.remove_tables()
    merged = out.study(details=False)
    write_table(out.path, merged)
    write_summary(out.path, merged)
    return merged, copied, damaged


def _study(folder: ResultsFolder) -> StudyResult:
    try:
        study = folder.study(details=False, most_runs=1)
    except (FileNotFoundError, ValueError) as error:
        raise MergeError(str(error)) from None
    if not any(point.finished for point in study.points):
        raise MergeError(f"{folder.path} has no finished run")
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
    opened = ResultsFolder(out)
    known = {key for point in opened.study(details=False, most_runs=0).points for key in point.keys}
    folders = [opened.run_folder(name) for name in sorted(opened.run_names() - known)]
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
