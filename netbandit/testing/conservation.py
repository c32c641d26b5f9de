"""What became of all messages, counted from a trace alone, on each link and in all.

Whatever was handed to a link, and each copy, is delivered, lost, dropped, a duplicate that its receiver had, unsent, or
under way at the end; see `netbandit.network.ledger.Outcomes`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from netbandit.simulation.result import LinkUse, RunResult

Line = Mapping[str, Any]
"""A line of a trace, see `netbandit.network.trace_writer.Trace`."""

Ends = tuple[int, int]
"""The ends of a link, the lower number first; the server's is that of the agents."""

_FATES = ("delivered", "lost", "dropped", "unsent", "duplicates_dropped", "in_flight")

Count = defaultdict[str, int]
"""Messages and bytes by the names of metrics: of messages ``lost``, of their bytes ``lost_bytes``."""


def counted(lines: Iterable[Line], end: int, server: int) -> dict[Ends, Count]:
    """Return what became of the messages of a trace on each link, but for broadcasts of the server.

    Args:
        lines: The lines of the trace.
        end: When the run ends (ns).
        server: The server's number.
    """
    found: dict[Ends, Count] = defaultdict(lambda: defaultdict(int))
    for line in lines:
        if "broadcast" in line or "bytes" not in line:
            continue
        sender, receiver = (server if line[node] == "server" else line[node] for node in ("from", "to"))
        count = found[min(sender, receiver), max(sender, receiver)]
        for name, sign in _counts(line, end):
            count[name] += sign
            count[f"{name}_bytes"] += sign * line["bytes"]
    return found


def _counts(line: Line, end: int) -> Iterator[tuple[str, int]]:
    """Yield what a line counts, and whether it adds one or takes one away."""
    fate = line.get("fate")
    if fate is None:
        yield "duplicates" if "copy" in line else "handed", 1
        if "kind" in line:
            yield "put", 1
        yield "lost" if "lost" in line else "in_flight" if line["arrival"] >= end else "delivered", 1
    elif fate in ("dropped", "unsent"):
        yield "handed", 1
        yield fate, 1
    elif line["at"] < end:  # by its hop it is delivered
        yield "lost" if fate == "refused" else fate, 1
        yield "delivered", -1


def breaches(result: RunResult, lines: Iterable[Line], end: int, server: int) -> Iterator[str]:
    """Yield where a run and its trace disagree about what became of messages, or not all of them have an end.

    Args:
        result: The run.
        lines: The lines of its trace.
        end: When it ends (ns).
        server: The server's number.
    """
    found = counted(lines, end, server)
    total: Count = defaultdict(int)
    for count in found.values():
        for name, value in count.items():
            total[name] += value
    for unit, put in (("", "messages"), ("_bytes", "bytes")):
        for name, metric in (("put", put), *((name, name + unit) for name in ("handed", "duplicates", *_FATES))):
            if (result.metrics.get(metric) or 0) != total[name + unit]:
                yield f"{metric} is {result.metrics.get(metric)}, by the trace {total[name + unit]}"
        ended = sum(int(result.metrics.get(name + unit) or 0) for name in _FATES)
        begun = sum(int(result.metrics[name + unit] or 0) for name in ("handed", "duplicates"))
        if begun != ended:
            yield f"{begun} {put} were handed to links or copied, and {ended} have ended"
    for use in (result.links, result.uplinks):
        if use is not None:
            yield from _on_links(use, found)


def _on_links(use: LinkUse, found: Mapping[Ends, Count]) -> Iterator[str]:
    columns = {
        name + unit: use.delivered(unit) if name == "delivered" else use.count_of(name + unit)
        for name in ("duplicates", *_FATES)
        for unit in ("", "_bytes")
    }
    columns |= {"put": use.messages, "put_bytes": use.bytes}
    for row, ends in enumerate(zip(use.first.tolist(), use.second.tolist(), strict=True)):
        count: Mapping[str, int] = found.get(ends, {})
        for name, column in columns.items():
            if column[row] != count.get(name, 0):
                yield f"{name} of link {ends[0]}-{ends[1]} is {column[row]}, by the trace {count.get(name, 0)}"
