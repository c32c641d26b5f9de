"""A trace as Perfetto and Chrome show it: a track for each agent, arrows for messages, and a track for the rounds.

The format is the JSON of Chrome's trace events (https://ui.perfetto.dev and chrome://tracing open it). Slices are
written as a begin and an end, not as a begin and a length: times are in microseconds there, and a viewer that rounds
begins and lengths each for itself would make slices overlap that only touch.
"""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netbandit
from netbandit.results.results_folder import STUDY, ResultsFolder
from netbandit.results.run_folder import TRACE
from netbandit.results.safe_files import write_whole
from netbandit.trace.read import SERVER, WAITS, Lines, TraceError, Transfer, read_trace, run_of

LIMIT = 100_000
"""The default number of lines of a trace shown: viewers become slow beyond."""

PICTURE = "trace.perfetto.json"
"""The name of the file beside the trace it was made from."""

_PROCESS = 1
_ROUNDS = 1
"""The first track; a round that overlaps another one is on a later one, and below are the server and the agents."""

_SHORTEST = 1_000
"""Nanoseconds that a round is drawn for, and a message at its sender and its receiver, where they take no time."""

_SHOWN = 12
"""The most nodes named of those that a node sends to at once."""


@dataclass(frozen=True)
class Converted:
    """A written trace.

    Attributes:
        path: The file.
        messages: The number of messages in it.
        phases: The number of phases of agents.
        rewards: The number of late rewards.
        jobs: The number of jobs of nodes that compute.
        rounds: The number of rounds.
        lines: The number of lines taken from the trace.
        total: The number of lines of the trace.
    """

    path: Path
    messages: int
    phases: int
    rewards: int
    jobs: int
    rounds: int
    lines: int
    total: int


def find_trace(place: Path) -> Path:
    """Return the trace that *place* means: itself, that of a run folder, or the first of a results folder.

    Raises:
        TraceError: There is none.
    """
    if place.is_file():
        return place
    if (place / TRACE).is_file():
        return place / TRACE
    again = "run the scenario with --trace"
    if (place / STUDY).is_file():
        try:
            keys = [key for point in ResultsFolder(place).study(details=False).points for key in point.keys]
        except ValueError as error:
            raise TraceError(str(error)) from None
        for key in keys:
            if (ResultsFolder(place).run_folder(key) / TRACE).is_file():
                return ResultsFolder(place).run_folder(key) / TRACE
        raise TraceError(f"no run in {place} has a trace: {again}")
    if place.is_dir():
        raise TraceError(f"{place} has no {TRACE}: {again}, and name a folder of its results")
    raise TraceError(f"{place} is not there: name a run folder, a folder of results or a {TRACE}")


def convert(trace: Path, target: Path, limit: int = LIMIT) -> Converted:
    """Write *trace* to *target* as Perfetto and Chrome read it.

    Each agent has a track with its phases of exploring and exploiting; where it sends or receives there is a short
    slice, and an arrow leads from the slice of the sender, when the message is put on the link, to that of the
    receiver, when it arrives. A round lasts from the first contribution or message to the last agent's being informed.
    A late reward is a slice of its own, from the pull to when it is due; so is a job of a node that computes.

    Args:
        trace: A file that ``--trace`` has written.
        target: The file to write.
        limit: The number of lines taken from the trace, of all kinds together.

    Raises:
        TraceError: A line is none of a trace, with its number, or the file is not as the run has written it.
        StorageError: *target* cannot be written.
    """
    run = run_of(trace)
    lines = read_trace(trace, limit)
    names = run.nodes.names if run is not None and run.nodes is not None else None
    rounds = _rounds(lines)
    lanes = 1 + max((lane for _, _, _, lane in rounds), default=0)
    nodes = _nodes(lines, _ROUNDS + lanes)
    events = [*_round_events(rounds), *_agent_events(lines, {node: track for track, node in nodes})]
    events.sort(key=lambda event: event[:2])
    parts = [*_names(nodes, lanes, names), *(event for _, _, event in events)]
    facts = {"netbandit": netbandit.__version__, "scenario": run.name if run is not None else trace.name}
    body = ",\n".join(json.dumps(part) for part in parts)
    write_whole(target, f'{{"displayTimeUnit": "ns", "otherData": {json.dumps(facts)}, "traceEvents": [\n{body}\n]}}\n')
    counts = len(lines.messages), len(lines.phases), len(lines.rewards), len(lines.jobs)
    return Converted(target, *counts, len(rounds), sum(counts), lines.total)


def _rounds(lines: Lines) -> list[tuple[int, int, int, int]]:
    """Return number, begin, end and lane of each round: rounds in a lane do not overlap."""
    spans: dict[int, tuple[int, int]] = {}
    waits = (phase for phase in lines.phases if phase.name in WAITS)
    parts = [(part.round, part.sent, part.arrival) for part in lines.messages]
    for number, begin, end in [*parts, *((wait.round, wait.begin, wait.end) for wait in waits)]:
        if number > 0:
            first, last = spans.get(number, (begin, end))
            spans[number] = min(first, begin), max(last, end)
    rounds = []
    free: list[int] = []
    for number, (begin, last) in sorted(spans.items(), key=lambda span: (span[1], span[0])):
        end = max(last, begin + _SHORTEST)
        lane = next((lane for lane, since in enumerate(free) if since <= begin), len(free))
        free[lane : lane + 1] = [end]
        rounds.append((number, begin, end, lane))
    return rounds


def _nodes(lines: Lines, first: int) -> list[tuple[int, int | str]]:
    """Return track and node of each that does something, from the track *first* on, the server before the agents."""
    ends = {node for message in lines.messages for node in (message.sender, message.receiver)}
    nodes = ends | {phase.agent for phase in lines.phases} | {reward.agent for reward in lines.rewards}
    nodes |= {job.node for job in lines.jobs}
    agents: list[int | str] = [*sorted(node for node in nodes if isinstance(node, int))]
    return [(first + index, node) for index, node in enumerate([*([SERVER] if SERVER in nodes else []), *agents])]


_Event = tuple[int, int, dict[str, Any]]
"""Nanoseconds; the rank among events of that time; what is written. Slices end before others begin, the inner one
first, and an arrow begins before it ends."""

_INNER_END, _OUTER_END, _OUTER_BEGIN, _INNER_BEGIN, _DEPARTURE, _ARRIVAL = range(6)


def _round_events(rounds: Iterable[tuple[int, int, int, int]]) -> Iterator[_Event]:
    for number, begin, end, lane in rounds:
        yield from _outer(f"round {number}", "round", _ROUNDS + lane, begin, end, {"round": number})


def _agent_events(lines: Lines, tracks: Mapping[int | str, int]) -> Iterator[_Event]:
    for phase in lines.phases:
        name = f"{phase.name} arm {phase.details['arm']}" if "arm" in phase.details else phase.name
        details = ({"round": phase.round} if phase.round else {}) | dict(phase.details)
        yield from _outer(name, "phase", tracks[phase.agent], phase.begin, phase.end, details)
    spans: list[tuple[str, str, int | str, int, int]] = [
        *(("reward", f"reward of arm {one.arm}", one.agent, one.pulled, one.due) for one in lines.rewards),
        *(
            ("job", f"handle {one.handles}" if one.handles else one.work, one.node, one.begin, one.end)
            for one in lines.jobs
        ),
    ]
    for number, (category, name, owner, begin, end) in enumerate(spans, start=1):  # they overlap each other, or phases
        span = {"name": name, "cat": category, "id": number, "pid": _PROCESS}
        yield _at(begin, _INNER_BEGIN, {"ph": "b", "tid": tracks[owner], **span})
        yield _at(end, _INNER_END, {"ph": "e", "tid": tracks[owner], **span})
    sent: dict[int | str, dict[int, list[Transfer]]] = defaultdict(lambda: defaultdict(list))
    received: dict[int | str, dict[int, list[Transfer]]] = defaultdict(lambda: defaultdict(list))
    for flow, message in enumerate(lines.messages, start=1):
        sent[message.sender][message.start].append(message)
        received[message.receiver][message.arrival].append(message)
        arrow = {"name": message.kind, "cat": "message", "id": flow, "pid": _PROCESS}
        yield _at(message.start, _DEPARTURE, {"ph": "s", "tid": tracks[message.sender], **arrow})
        yield _at(message.arrival, _ARRIVAL, {"ph": "f", "bp": "e", "tid": tracks[message.receiver], **arrow})
    longest = min((way for message in lines.messages if (way := message.arrival - message.start)), default=0) // 4
    borders: dict[int | str, set[int]] = defaultdict(set)
    for phase in lines.phases:
        borders[phase.agent] |= {phase.begin, phase.end}
    for node, track in tracks.items():
        times = sorted({*sent[node], *received[node]})
        stops = sorted({*times, *borders[node]})
        for time in times:
            after = bisect_right(stops, time)
            # A slice ends before the next one begins, and never crosses the end of a phase.
            end = min([time + max(longest, _SHORTEST), *stops[after : after + 1]])
            yield from _moment(track, time, end, received[node].get(time, []), sent[node].get(time, []))


def _moment(
    track: int, time: int, end: int, received: Sequence[Transfer], sent: Sequence[Transfer]
) -> Iterator[_Event]:
    """Yield the slice of a node that receives and sends messages at one time."""
    details: dict[str, str] = {}
    for verb, messages, other in (("receive", received, "sender"), ("send", sent, "receiver")):
        for kind in sorted({message.kind for message in messages}):
            some = [message for message in messages if message.kind == kind]
            nodes = [str(getattr(message, other)) for message in some]
            more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
            details[f"{verb} {kind}"] = (
                f"{len(some)} of {sum(message.size for message in some)} bytes, "
                f"round {', '.join(map(str, sorted({message.round for message in some})))}, "
                f"{'from' if verb == 'receive' else 'to'} {', '.join(nodes[:_SHOWN])}{more}"
            )
    name = {"name": ", ".join(details), "cat": "message", "args": details}
    yield _at(time, _INNER_BEGIN, {"ph": "B", "pid": _PROCESS, "tid": track, **name})
    yield _at(end, _INNER_END, {"ph": "E", "pid": _PROCESS, "tid": track})


def _outer(name: str, category: str, track: int, begin: int, end: int, details: Mapping[str, int]) -> Iterator[_Event]:
    place = {"pid": _PROCESS, "tid": track}
    yield _at(begin, _OUTER_BEGIN, {"ph": "B", "name": name, "cat": category, **place, "args": dict(details)})
    yield _at(end, _OUTER_END, {"ph": "E", **place})


def _at(time: int, rank: int, event: dict[str, Any]) -> _Event:
    return time, rank, {**event, "ts": time // 1000 if time % 1000 == 0 else time / 1000}


def _names(nodes: Sequence[tuple[int, int | str]], lanes: int, names: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the names of the tracks, in their order."""
    yield {"ph": "M", "pid": _PROCESS, "tid": _ROUNDS, "name": "process_name", "args": {"name": "netbandit"}}
    tracks = [(_ROUNDS + lane, "rounds" if lane == 0 else f"rounds ({lane + 1})") for lane in range(lanes)]
    for track, node in nodes:
        place = f" {names[node]}" if names is not None and isinstance(node, int) and node < len(names) else ""
        tracks.append((track, SERVER if node == SERVER else f"agent {node}{place}"))
    for order, (track, name) in enumerate(tracks):
        place_of = {"ph": "M", "pid": _PROCESS, "tid": track}
        yield {**place_of, "name": "thread_name", "args": {"name": name}}
        yield {**place_of, "name": "thread_sort_index", "args": {"sort_index": order}}
