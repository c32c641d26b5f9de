"""A results folder: one run folder per point and replication, and the study that they make up.

A results folder holds one run folder for each run, ``runs/KEY``, and
``study.json``, which maps runs to points and carries a checksum. The same run may belong to several studies with
different parameters, so name and parameters come from ``study.json`` and everything else from the run folder.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from netbandit.results.held_folders import described, opened
from netbandit.results.numbers import run_text
from netbandit.results.picture_record import KINDS, PICTURES, PictureRecord
from netbandit.results.run_folder import ERROR, FORMAT, RESULT, DamagedRunError, RunFiles, of_this_format
from netbandit.results.run_keys import inputs
from netbandit.results.safe_files import (
    digest,
    discard,
    native,
    remove_leftovers,
    sealed,
    storage,
    unsealed,
    write_whole,
)
from netbandit.results.study_identity import differences, in_one_line, united
from netbandit.results.study_result import PointResult, StudyPlan, StudyResult
from netbandit.results.tables import PARQUET, SUMMARY, TABLE, write_summary, write_table
from netbandit.simulation.result import RunResult
from netbandit.util.nesting import any_depth
from netbandit.util.text import pluralize

STUDY = "study.json"
"""The file of a results folder that maps runs to points."""

RUNS = "runs"
"""The folder in a results folder that holds the run folders."""

_TABLES = (TABLE, SUMMARY, PARQUET)
_DERIVED = (*_TABLES, "report.html", "citation.bib")

_KEY = re.compile(r"[0-9a-f]+")

_KEPT = 1 << 28
"""The most bytes of curves and links that are kept from when they were verified until they are read."""

Stamp = tuple[int, int, int]
"""What changes when a file is written anew: its inode, size and time."""


class OtherStudyError(Exception):
    """The folder belongs to another study; the message states the differences, and the losses or that it is running."""


class ResultsFolder:
    """A results folder that a command has opened; of a file that does not change it reads the content once.

    Args:
        path: The folder; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._described: tuple[Stamp | None, bytes, dict[str, Any]] | None = None
        self._runs: dict[str, tuple[Stamp | None, RunFiles]] = {}
        self._drawn: tuple[Stamp | None, PictureRecord] | None = None
        self._kept = 0

    def run_folder(self, key: str) -> Path:
        """Return the path of the run *key*."""
        return self.path / RUNS / key

    def run_names(self) -> set[str]:
        """Return the names of all possible run folders."""
        try:
            return {name for name in os.listdir(self.path / RUNS) if _KEY.fullmatch(name)}
        except OSError:
            return set()

    def run_files(self, key: str) -> RunFiles:
        """Return the files of the run *key*.

        Raises:
            FileNotFoundError: There is no finished run.
            DamagedRunError: Its ``result.json`` cannot be read.
        """
        stamp = _stamp(self.run_folder(key) / RESULT)
        if stamp is None or key not in self._runs or self._runs[key][0] != stamp:
            self._runs[key] = stamp, RunFiles(self.run_folder(key))
        return self._runs[key][1]

    def verify(self, key: str) -> bool:
        """Check every file of the run *key*; return whether its trace is among them.

        Raises:
            FileNotFoundError: There is no finished run.
            DamagedRunError: A file is not as written.
        """
        files = self.run_files(key)
        traced = files.verify(keep=self._kept < _KEPT)
        self._kept += files.size
        return traced

    def digest(self) -> str:
        """Return a hash of all that the study and its runs say; runs that cannot be read count as missing.

        Raises:
            OSError: There is no ``study.json``.
            ValueError: It is not as written.
        """
        content, whole = self._read()
        parts = [content]
        for key in [key for point in whole["points"] for key in point["runs"]]:
            try:
                parts.append(self.run_files(key).digest().encode())
            except (FileNotFoundError, DamagedRunError):
                parts.append(b"")
        return digest(b"\n".join(parts))

    def tidy(self) -> int:
        """Remove what killed processes left unfinished; see `remove_leftovers`."""
        runs: list[Path] = []
        with suppress(OSError):
            runs = [Path(entry.path) for entry in os.scandir(self.path / RUNS) if entry.is_dir(follow_symlinks=False)]
        return remove_leftovers(self.path, self.path / RUNS, *runs)

    def describe(self, plan: StudyPlan) -> None:
        """Write ``study.json``, unless it says so already: the runs of each point, and the scenario as written.

        Tables of what it said before are removed.

        Raises:
            StorageError: The folder cannot be written.
        """
        entries = [
            {"parameters": dict(point.parameters), "runs": list(runs)}
            for point, runs in zip(plan.points, plan.keys, strict=True)
        ]
        whole = {"format": FORMAT, "name": plan.name, "points": entries, "inputs": sorted(inputs(plan.points))}
        text = sealed(whole if plan.written is None else {**whole, "written": plan.written})
        with suppress(OSError, ValueError):
            if self._read()[0] == text.encode():
                return
        with storage(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        self.remove_tables()
        write_whole(self.path / STUDY, text)
        self._described = _stamp(self.path / STUDY), text.encode(), unsealed(text.encode())

    def remove_tables(self) -> None:
        """Remove the tables, which are written when the runs have ended.

        Raises:
            StorageError: They cannot be removed.
        """
        with storage(self.path):
            for table in _TABLES:
                (self.path / table).unlink(missing_ok=True)

    @contextmanager
    def begun(
        self, plan: StudyPlan, *, replace: bool = False, alone: bool = False
    ) -> Iterator[tuple[tuple[str, ...], set[str]]]:
        """Describe a study whose runs begin, and hold the folder until they have ended.

        Args:
            plan: The study.
            replace: Whether the results of another study, if there are any, are removed.
            alone: Whether the study has these points and no others, whatever is there.

        Returns:
            What was left out because a file or a class that it was made with has changed, a line each; and the names of
            the runs that may be there.

        Raises:
            OtherStudyError: The folder holds the results of another study, or another process runs one into it.
            StorageError: It cannot be written.
        """
        with storage(self.path):
            (self.path / RUNS).mkdir(parents=True, exist_ok=True)
        with opened(self.path / RUNS) as ours:
            with described(self.path):  # only one command starts at a time
                running = not ours.alone()
                if replace and not alone and not running:
                    self._remove_other(plan)
                held = self.refuse_other(plan, running=running) if running or not alone else None
                self.tidy()
                there_is = self.run_names()
                together, replaced = united(None if alone else held, plan, there_is)
                self.describe(together)
                ours.together()
            yield replaced, there_is

    def ended(self, plan: StudyPlan, *, alone: bool = False) -> StudyResult:
        """Describe a study whose runs have ended, write its tables, and return it without curves and links.

        Another command may have added points meanwhile, or have described a study of its own: the folder belongs to the
        command that ends last. For the arguments see `begun`.

        Raises:
            StorageError: The folder cannot be written.
        """
        with described(self.path):
            held = None
            with suppress(OtherStudyError):
                held = None if alone else self.refuse_other(plan)
            self.describe(united(held, plan, self.run_names())[0])
            study = self.study(details=False)
            write_table(self.path, study)
            write_summary(self.path, study)
        return study

    def study(self, details: bool = True, most_runs: int | None = None) -> StudyResult:
        """Return the study, with None for each run that is not (yet) complete.

        Args:
            details: Whether to read the curves and the links too.
            most_runs: The most runs of each point to read, among the readable ones; None: all.

        Raises:
            FileNotFoundError: This is not a results folder.
            ValueError: Its ``study.json`` is damaged or has another format.
        """
        out = self.path
        if not out.is_dir():
            raise FileNotFoundError(
                f"{out} is not a results folder: {'it is a file' if out.exists() else 'it does not exist'}"
            )
        if not (out / STUDY).is_file():
            below = sorted(found.parent.name for found in out.glob(f"*/{STUDY}"))
            hint = f", but those in it are: {', '.join(below)}" if below else ""
            raise FileNotFoundError(f"{out} is not a results folder: it has no {STUDY}{hint}")
        try:
            with any_depth():
                return self._loaded(of_this_format(self._read()[1], str(out / STUDY)), details, most_runs)
        except DamagedRunError as error:
            raise ValueError(f"{error}; run the scenario again") from None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{out / STUDY} is damaged or of another version; run the scenario again") from error

    def finished_study(self, details: bool = True) -> StudyResult:
        """Return the study, which must have at least one finished run, and `tidy` the folder.

        Args:
            details: Whether to read the curves and the links too.

        Raises:
            FileNotFoundError: This is not a results folder.
            ValueError: Its ``study.json`` is damaged or has another format, or no run has finished.
        """
        self.tidy()
        study = self.study(details)
        if not any(point.finished for point in study.points):
            raise ValueError(f"{self.path} has no finished run")
        return study

    def refuse_other(self, plan: StudyPlan, *, running: bool = False) -> StudyResult | None:
        """Return the study whose results are here, if the points of *plan* belong to it; None if there is none.

        A folder without a readable ``study.json``, or without a finished run, belongs to no study: its runs are found
        by their keys alone. While another process is *running* it, it belongs to that process's study.

        Raises:
            OtherStudyError: The folder holds the results of another study; see `study_identity`.
        """
        out = self.path
        ours = {runs[0] for runs in plan.keys if runs}
        try:
            there = self.study(details=False, most_runs=0)
            theirs = {point.keys[0] for point in there.points if point.keys}
            if theirs <= ours:  # nothing is lost
                return there
            there = self.study(details=False, most_runs=1)
        except (OSError, ValueError):
            return None
        if any(point.finished for point in there.points):
            found = differences(there, plan.points, plan.written)
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
                f"{out} is in use: another study, {there.name!r}, is running into it: {in_one_line(found)}; wait until "
                "it has ended, or name another folder by --out (in Python out=)"
            )
        runs = sum(len(point.finished) for point in self.study(details=False).points)
        pictures = len(list(self._drawn_files()))
        lost = [pluralize(runs, "run"), *([pluralize(pictures, "picture")] if pictures else [])]
        lost += [file for file in _DERIVED if (out / file).exists()]
        raise OtherStudyError(
            f"{out} holds the results of another study, {there.name!r}: {in_one_line(found)}; these would be lost: "
            f"{', '.join(lost)}; name another folder by --out (in Python out=), or let {plan.name!r} take its place by "
            "--replace (replace=True)"
        )

    def _remove_other(self, plan: StudyPlan) -> None:
        """Remove all results of a study to which the points of *plan* do not belong; foreign files stay."""
        out = self.path
        try:
            self.refuse_other(plan)
        except OtherStudyError:
            with storage(out):
                for picture in self._drawn_files():
                    picture.unlink(missing_ok=True)
                for file in (*_DERIVED, PICTURES):
                    (out / file).unlink(missing_ok=True)
                for folder in (out / RUNS).iterdir() if (out / RUNS).is_dir() else ():
                    discard(folder)
                (out / STUDY).unlink(missing_ok=True)  # last: until then the folder shows its owner

    def _drawn_files(self) -> Iterator[Path]:
        """Yield the pictures that were drawn into the folder."""
        with suppress(OSError, ValueError):
            for name in sorted(self.pictures().files):
                picture = self.path / name
                if picture.suffix[1:] in KINDS and picture.is_file():
                    yield picture

    def pictures(self) -> PictureRecord:
        """Return the record of its pictures; empty if there is none, or its file is damaged."""
        stamp = _stamp(self.path / PICTURES)
        if self._drawn is None or self._drawn[0] != stamp:
            self._drawn = stamp, PictureRecord.of(self.path)
        return self._drawn[1]

    def _read(self) -> tuple[bytes, dict[str, Any]]:
        """Return the text of ``study.json``, and what it says."""
        stamp = _stamp(self.path / STUDY)
        if stamp is None or self._described is None or self._described[0] != stamp:
            content = (self.path / STUDY).read_bytes()
            self._described = stamp, content, unsealed(content)
        return self._described[1:]

    def _loaded(self, whole: Mapping[str, Any], details: bool, most_runs: int | None) -> StudyResult:
        """Return the study that a ``study.json`` describes, with its runs."""
        damaged: list[str] = []
        missing: list[str] = []
        points = [self._point(whole["name"], entry, details, most_runs, damaged, missing) for entry in whole["points"]]
        written = whole.get("written")
        return StudyResult(
            name=_text(whole["name"]),
            points=points,
            written=native(written) if isinstance(written, dict) else None,
            inputs=tuple(map(_text, whole.get("inputs", []))),
            damaged=tuple(dict.fromkeys(damaged)),
            missing=tuple(dict.fromkeys(missing)),
        )

    def _point(
        self,
        name: str,
        entry: Mapping[str, Any],
        details: bool,
        most_runs: int | None,
        damaged: list[str],
        missing: list[str],
    ) -> PointResult:
        """Return a point of a ``study.json``; tell which of its runs are *damaged*, and which *missing*."""
        parameters, keys = native(entry["parameters"]), [_text(key) for key in entry["runs"]]
        if not isinstance(parameters, dict) or not all(map(_KEY.fullmatch, keys)):
            raise TypeError("a point has a table of parameters, and runs by their keys")
        runs: list[RunResult | None] = []
        for replication, key in enumerate(keys):
            if most_runs is not None and sum(run is not None for run in runs) >= most_runs:
                runs.append(None)
                continue
            folder = self.run_folder(key)
            try:
                runs.append(replace(self.run_files(key).result(details), name=name, parameters=parameters))
            except FileNotFoundError as error:
                runs.append(None)
                why = f"it failed, see {folder / ERROR}" if (folder / ERROR).is_file() else error
                missing.append(f"{run_text(parameters, replication)}: {why}")
            except DamagedRunError as error:
                runs.append(None)
                damaged.append(f"{folder}: {error}")
        resolved = next((run.resolved for run in runs if run is not None), {})
        if "run" in resolved:  # a run records the number planned when it was made
            resolved = {**resolved, "run": {**resolved["run"], "replications": len(keys)}}
        return PointResult(parameters=parameters, resolved=resolved, keys=keys, runs=runs)


def _stamp(file: Path) -> Stamp | None:
    """Return the stamp of *file*; None where there is no file to read."""
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
