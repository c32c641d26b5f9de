"""A trace as ``--trace`` has written it: the messages, the phases and the late rewards of a run."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_folder import TRACE, DamagedRunError, check_trace, read_run
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.simulation.result import RunResult
from netbandit.util.nesting import read_json

SERVER = "server"

WAITS = frozenset({"exploit", "gather"})
"""Phases of an agent that has contributed to a round, or needs it, and has not heard all of it yet."""


class TraceError(Exception):
    """There is no trace, or it is none."""


class Transfer(NamedTuple):
    """A message, as its line says; times in nanoseconds."""

    kind: str
    round: int
    sender: int | str
    receiver: int | str
    size: int
    sent: int
    start: int
    arrival: int


class Phase(NamedTuple):
    """The activity of an agent for some time; times in nanoseconds."""

    name: str
    agent: int
    round: int
    begin: int
    end: int
    details: Mapping[str, int]


class LateReward(NamedTuple):
    """A reward that is learned later than it is paid; times in nanoseconds."""

    arm: int
    agent: int
    pulled: int
    due: int


class Job(NamedTuple):
    """A computation of a node; times in nanoseconds. A message that was handled has a kind, all else an empty text."""

    work: str
    node: int | str
    begin: int
    end: int
    handles: str


@dataclass
class Lines:
    """The lines of a trace that are shown."""

    messages: list[Transfer] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    total: int = 0
    rewards: list[LateReward] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)


def read_trace(trace: Path, limit: int | None = None) -> Lines:
    """Read a file that ``--trace`` has written; beside its run it must be as the run has written it.

    Args:
        trace: The file.
        limit: The number of lines taken, of all kinds together; all if None.

    Raises:
        TraceError: It cannot be read, was changed, or a line is none of a trace, with its number.
    """
    _check(trace)
    lines = Lines()
    try:
        with trace.open(encoding="utf-8") as file:
            for number, text in enumerate(islice(file, limit), start=1):
                _take(lines, text, f"{trace}:{number}")
                lines.total += 1
            lines.total += sum(1 for _ in file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise TraceError(f"{trace} cannot be read: {reason}") from None
    return lines


def run_of(trace: Path) -> RunResult | None:
    """Return the run that a trace is beside of, None if there is none.

    Raises:
        TraceError: Its files are not as they were written.
    """
    try:
        with _plain_errors(trace):
            return read_run(trace.parent)
    except FileNotFoundError:
        return None


def first_trace(folder: Path, point: PointResult) -> tuple[Path, RunResult] | None:
    """Return the trace of the first finished run of a point that has one, and the run; None where none has.

    Args:
        folder: The results folder.
        point: The point.
    """
    for key, run in zip(point.keys, point.runs, strict=True):
        trace = ResultsFolder(folder).run_folder(key) / TRACE
        if run is not None and trace.is_file():
            return trace, run
    return None


def left_out(folder: Path, study: StudyResult) -> Iterator[str]:
    """Yield the problems of traces that pictures and reports of a results folder would show, a line each."""
    for point in study.points:
        found = first_trace(folder, point)
        if found is not None:
            try:
                _check(found[0])
            except TraceError as error:
                yield str(error)


def _check(trace: Path) -> None:
    if trace.name == TRACE:
        with suppress(FileNotFoundError), _plain_errors(trace):  # a trace may be taken out of its run folder
            check_trace(trace)


@contextmanager
def _plain_errors(trace: Path) -> Iterator[None]:
    try:
        yield
    except DamagedRunError as error:
        raise TraceError(f"{trace.parent}: {error}; run the scenario again") from None


def _take(lines: Lines, text: str, place: str) -> None:
    try:
        entry: dict[str, Any] = read_json(text)
        if "phase" in entry:
            name = _word(entry.pop("phase"))
            agent, round, begin, end = (_number(entry.pop(key)) for key in ("agent", "round", "begin", "end"))
            details = {_word(key): _number(value) for key, value in entry.items()}
            lines.phases.append(Phase(name, agent, round, begin, end, details))
        elif "reward" in entry:
            lines.rewards.append(LateReward(*(_number(entry[key]) for key in ("reward", "agent", "pulled", "due"))))
        elif "job" in entry:
            begin, end = (_number(entry[key]) for key in ("begin", "end"))
            lines.jobs.append(
                Job(_word(entry["job"]), _node(entry["node"]), begin, end, _word(entry.get("handles", "")))
            )
        elif "fate" not in entry and "copy" not in entry:  # these say what became of messages, and are not shown
            sender, receiver = (_node(entry[key]) for key in ("from", "to"))
            numbers = [_number(entry[key]) for key in ("bytes", "sent", "start", "arrival")]
            lines.messages.append(Transfer(_word(entry["kind"]), _number(entry["round"]), sender, receiver, *numbers))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise TraceError(f"{place}: this is not a line of a trace as --trace writes it") from None


_LARGEST = 2**63 - 1
"""Of all numbers of a trace: nanoseconds are counted in 64 bits."""


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise ValueError
    return value


def _node(value: object) -> int | str:
    return SERVER if value == SERVER else _number(value)


def _word(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError
    return value
