"""A trace as ``--trace`` has written it: the messages and the phases of a run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

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
    """What an agent did for a while; times in nanoseconds."""

    name: str
    agent: int
    round: int
    begin: int
    end: int
    details: Mapping[str, int]


@dataclass
class Lines:
    """The lines of a trace that are shown."""

    messages: list[Transfer] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    total: int = 0


def read_trace(trace: Path, limit: int | None = None) -> Lines:
    """Read a file that ``--trace`` has written.

    Args:
        trace: The file.
        limit: How many lines are taken, messages and phases together; all if None.

    Raises:
        TraceError: It cannot be read, or a line is none of a trace, with its number.
    """
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


def _take(lines: Lines, text: str, place: str) -> None:
    try:
        entry: dict[str, Any] = json.loads(text)
        if "phase" in entry:
            name, agent, round, begin, end = (entry.pop(key) for key in ("phase", "agent", "round", "begin", "end"))
            lines.phases.append(Phase(str(name), int(agent), int(round), int(begin), int(end), entry))
        else:
            ends = [entry[key] if entry[key] == SERVER else int(entry[key]) for key in ("from", "to")]
            numbers = [int(entry[key]) for key in ("bytes", "sent", "start", "arrival")]
            lines.messages.append(Transfer(str(entry["kind"]), int(entry["round"]), *ends, *numbers))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise TraceError(f"{place}: this is not a line of a trace as --trace writes it") from None
