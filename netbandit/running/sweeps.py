"""Runs a study: all runs missing in its results folder, in this process or in several."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import netbandit
from netbandit.compilation.compile_notice import to_stderr
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_folder import DamagedRunError, complete, was_traced
from netbandit.results.run_keys import run_keys
from netbandit.results.study_result import StudyPlan, StudyResult
from netbandit.running.pool import Lost, Pool
from netbandit.running.worker import Ended, Failure, Order, copy_run, perform, perform_order
from netbandit.simulation.result import versions
from netbandit.simulation.sweep_point import Point
from netbandit.user_code.errors import complaint
from netbandit.util.process import cores
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from netbandit.checks.check import RunPlan
    from netbandit.simulation.replication import RunnablePoint

Progress = Callable[[int, int, int, int], None]
"""Called with the number of ended runs, and of runs to do; then the same for their points."""


def no_progress(done: int, total: int, points_done: int, points: int) -> None:
    """Tell nobody."""


Looking = Callable[[int, int], None]
"""Called with the number of run folders checked, and the number of all."""


@dataclass(frozen=True)
class FailedRun:
    """A run that raised an error.

    Attributes:
        parameters: The parameters of its point.
        replication: Its replication.
        failure: What went wrong.
    """

    parameters: dict[str, Any]
    replication: int
    failure: Failure


@dataclass(frozen=True)
class SweepResult:
    """The outcome of a sweep.

    Attributes:
        folder: The results folder.
        study: All points with all runs, including earlier ones; without curves and links.
        failed: The runs that failed, by point and replication.
        done: The number of runs done now.
        reused: The number of runs reused.
        others: The other versions that made some of the reused runs; a line each.
        repeated: The runs that had been done before and were done again, because a file of theirs was not as it was
            written or of a format that cannot be read; a line each.
        seconds: The computing time of the runs done now, on any machine.
        copied: How many of those done now were not run, as they differ from others in keys alone that decide nothing.
        replaced: What was left out because a file or a class that it was made with has changed; a line each.
    """

    folder: ResultsFolder
    study: StudyResult
    failed: list[FailedRun]
    done: int
    reused: int
    repeated: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    copied: int = 0
    seconds: float = 0.0


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: finished runs are kept, and the same call resumes from there.

    Attributes:
        finished: The number of complete runs of the study.
        total: The number of all its runs.
    """

    def __init__(self, finished: int, total: int) -> None:
        super().__init__(f"{finished} of {pluralize(total, 'run')} are done; the same command continues from there")
        self.finished = finished
        self.total = total


@dataclass(frozen=True)
class _Task:
    """One replication of one point, and its target folder."""

    key: str
    point: "RunnablePoint"
    replication: int
    folder: Path
    trace: bool


def plan_of(study: "RunPlan") -> StudyPlan:
    """Return a checked scenario as the study of a results folder."""
    keys = [run_keys(point) for point in study.points]
    return StudyPlan(study.document.data["name"], study.points, keys, study.document.written)


def run(
    study: "RunPlan",
    out: Path,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    trace: bool = False,
    replace: bool = False,
    alone: bool = False,
    first: int = 0,
    progress: Progress = no_progress,
    looking: Looking = lambda done, total: None,
) -> SweepResult:
    """Do the runs of *study* that are missing in the results folder *out*, then write its table.

    Points of the same study that are there stay in the table; see `netbandit.results.study_identity`.

    Args:
        study: A checked scenario.
        out: The results folder; created if it does not exist.
        jobs: The number of parallel processes; 1 runs in this process, 0 means one for each core.
        scheduler: The address of a dask scheduler whose workers share the file system of *out*; used instead of
            processes of our own.
        trace: Whether each run writes a trace of its events.
        replace: Whether the results of another study, if *out* holds them, are removed.
        alone: Whether the table has these points and no others, whatever *out* holds.
        first: The first replication that is run; those before are run elsewhere.
        progress: Called each time a run has ended.
        looking: Told how many of the runs that may be there have been looked at, before the first one starts.

    Raises:
        OtherStudyError: *out* holds the results of another study, or another process runs one into it; nothing has
            changed.
        StorageError: *out* cannot be written.
        SchedulerError: Nothing answers at *scheduler*.
        Interrupted: Ctrl-C was pressed. No process of ours is left then.
    """
    folder = ResultsFolder(out.absolute())
    looked, plan = 0, plan_of(study)
    with folder.begun(plan, replace=replace, alone=alone) as (replaced, there_is):
        tasks: dict[str, _Task] = {}
        known: set[str] = set()
        repeated: list[str] = []
        equal: dict[str, Path] = {}  # by what decides their numbers, runs that are there or will be
        copies: list[tuple[_Task, Path]] = []
        equal_keys = [_equal_keys(point, runs) for point, runs in zip(study.points, plan.keys, strict=True)]
        for point, runs, effective in zip(study.points, plan.keys, equal_keys, strict=True):
            for replication, key in enumerate(runs):
                if key in known or replication < first:
                    continue
                known.add(key)
                traced = trace
                if key in there_is:  # do not look up millions of missing folders one by one
                    looked += 1
                    looking(looked, len(there_is))
                    there = folder.run_folder(key)
                    try:
                        if folder.verify(key) or not trace:
                            equal.setdefault(effective[replication], there)
                            continue
                    except FileNotFoundError:
                        pass
                    except DamagedRunError as error:
                        repeated.append(f"{there}: {error}")
                        traced = trace or was_traced(there)
                tasks[key] = _Task(key, point, replication, folder.run_folder(key), traced)
        for point, runs, effective in zip(study.points, plan.keys, equal_keys, strict=True):
            for replication, key in enumerate(runs):
                if key in tasks and tasks[key].point is point:
                    source = equal.setdefault(effective[replication], tasks[key].folder)
                    if source != tasks[key].folder and (not tasks[key].trace or trace):
                        copies.append((tasks.pop(key), source))
        failures: dict[str, Failure] = {}
        seconds = 0.0
        if tasks or copies:
            folder.remove_tables()
        if tasks:
            imports = study.document.folder.absolute() if _has_own_parts(study) else None
            seconds = _run_all(list(tasks.values()), jobs, scheduler, imports, progress, failures, len(known))
        for task, source in copies:
            failure = failures.get(source.name) or copy_run(source, task.point, task.folder, task.trace)
            if failure is not None:
                failures[task.key] = failure
        loaded = folder.ended(plan, alone=alone)
        failed = [
            FailedRun(
                dict(point.parameters),
                replication,
                failures.get(key) or (_LOST if scheduler is None else _LOST_FAR),
            )
            for point in loaded.points
            for replication, (key, result) in enumerate(zip(point.keys, point.runs, strict=True))
            if key in known and (key in failures or result is None)
        ]
        return SweepResult(
            folder,
            loaded,
            failed,
            done=len(tasks) + len(copies) - len(failures),
            reused=len(known) - len(tasks) - len(copies),
            repeated=tuple(repeated),
            others=tuple(_other_versions(loaded, tasks)),
            replaced=replaced,
            copied=sum(task.key not in failures for task, _ in copies),
            seconds=seconds,
        )


def _equal_keys(point: "RunnablePoint", keys: Sequence[str]) -> Sequence[str]:
    """Return for each run of a point what is the same for equal runs of others: *keys*, unless keys decide nothing."""
    effective = point.effective
    return keys if effective is point.resolved else run_keys(Point({}, effective, point.inputs, point.identities))


def _other_versions(study: StudyResult, tasks: Mapping[str, _Task]) -> Iterator[str]:
    """Yield of which versions the runs are that were there, where they are not ours."""
    ours = versions()
    found: Counter[str] = Counter()
    for point in study.points:
        for key, run in zip(point.keys, point.runs, strict=True):
            if run is not None and key not in tasks:
                theirs = {name: run.versions.get(name) for name in ours}
                off = [f"{name} {version or 'unknown'}" for name, version in theirs.items() if version != ours[name]]
                found[", ".join(off)] += bool(off)
    for text, runs in found.items():
        if text:
            here = ", ".join(f"{name} {ours[name]}" for name in (part.partition(" ")[0] for part in text.split(", ")))
            yield f"{runs} of the runs already there {'is' if runs == 1 else 'are'} of {text}; this is {here}"


_LOST = Failure("the run ended, but its folder has been removed since")
_LOST_FAR = Failure(
    "the run ended on a worker but its folder is not here: it was removed, or the workers do not share the file system"
)

_Outcomes = Generator[tuple[str, Ended], None, None]


def _run_all(
    tasks: list[_Task],
    jobs: int,
    scheduler: str | None,
    imports: Path | None,
    progress: Progress,
    failures: dict[str, Failure],
    runs: int,
) -> float:
    """Do the *tasks*, put what went wrong into *failures*, and return the computing time that they took."""
    ended, seconds = 0, 0.0
    workers = min(jobs or cores(), len(tasks))
    point_of = {task.key: id(task.point) for task in tasks}
    left = Counter(point_of.values())  # the runs of each point that have not ended
    points_done = 0
    try:
        progress(0, len(tasks), 0, len(left))
        if scheduler is not None:
            from netbandit.running.cluster import remote_workers

            outcomes = _on_workers(remote_workers(scheduler, to_stderr), tasks, imports)
        elif workers > 1:
            outcomes = _on_workers(Pool(workers, perform_order, to_stderr), tasks, imports)
        else:
            outcomes = _here(tasks)
        with closing(outcomes):
            for key, (failure, took) in outcomes:
                if failure is not None:
                    failures[key] = failure
                ended += 1
                seconds += took
                left[point_of[key]] -= 1
                points_done += left[point_of[key]] == 0
                progress(ended, len(tasks), points_done, len(left))
    except KeyboardInterrupt:
        raise Interrupted(runs - len(tasks) + ended - len(failures), runs) from None
    return seconds


def _here(tasks: list[_Task]) -> _Outcomes:
    for task in tasks:
        yield task.key, perform(task.point, task.replication, task.folder, task.trace)


class _Workers(Protocol):
    """Processes that do runs."""

    def answers(
        self, orders: Iterable[tuple[_Task, Order]], at_once: int | None = None
    ) -> Iterator[tuple[_Task, Ended | Lost]]:
        """Yield each task and its outcome as it ends; at most *at_once* (None: as many as possible) run at a time."""


def _on_workers(workers: AbstractContextManager[_Workers], tasks: list[_Task], imports: Path | None) -> _Outcomes:
    """Yield the key of each task as it ends, with its failure if any; the folders are written by the workers."""
    packed, unsendable = _packed(tasks)
    for task in tasks:
        if id(task.point) in unsendable:
            yield task.key, Ended(unsendable[id(task.point)])
    tasks = [task for task in tasks if id(task.point) in packed]

    def orders(tasks: list[_Task]) -> Iterator[tuple[_Task, Order]]:
        for task in tasks:
            point = packed[id(task.point)]
            yield task, Order(point, task.replication, task.folder, task.trace, imports, netbandit.__version__)

    with workers as processes:
        blamed: list[_Task] = []
        for task, answer in processes.answers(orders(tasks)):
            if isinstance(answer, Ended):
                yield task.key, _as_it_is(task, answer)
            elif complete(task.folder, task.trace):  # it has died before it could say so
                yield task.key, Ended(None)
            else:
                blamed.append(task)
        for task in blamed:
            for _ in range(_TRIES_ALONE):
                ((_, answer),) = processes.answers(orders([task]), 1)
                if isinstance(answer, Ended):
                    break
            yield task.key, _as_it_is(task, answer if isinstance(answer, Ended) else Ended(_DIED))


def _as_it_is(task: _Task, ended: Ended) -> Ended:
    """Return how *task* ended; its folder may be complete although its worker was lost."""
    failure = ended.failure
    whole = failure is not None and failure.report is None and complete(task.folder, task.trace)
    return Ended(None) if whole else ended


_DIED = Failure(
    "the worker process died, each time it was tried, at last with no run beside it; is there enough memory?"
)

_TRIES_ALONE = 2
"""How often a run in which a worker died is tried alone, after all others; they may have taken the memory."""


def _packed(tasks: list[_Task]) -> tuple[dict[int, bytes], dict[int, Failure]]:
    """Return what is sent to a worker for each point, and why some cannot be."""
    import cloudpickle

    packed: dict[int, bytes] = {}
    unsendable: dict[int, Failure] = {}
    for task in tasks:
        if id(task.point) not in packed and id(task.point) not in unsendable:
            try:  # classes of a notebook go by their code, others by their names
                packed[id(task.point)] = cloudpickle.dumps(task.point)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                unsendable[id(task.point)] = Failure(f"cannot be sent to another process: {complaint(error)}")
    return packed, unsendable


def _has_own_parts(study: "RunPlan") -> bool:
    """Say whether a part or attack of *study* is the user's own, which a worker must find before it can unpickle."""
    tables = [table for point in study.points for table in point.resolved.values() if isinstance(table, Mapping)]
    return any(":" in str(table.get(key, "")) for table in tables for key in ("kind", "family", "attack"))
