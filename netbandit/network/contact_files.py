"""Reads contacts from files: contact traces and contact plans in common formats.

Each reader takes the lines of a file and returns, for each contact, its two nodes, begin and end. Files give times
in seconds; here they are whole nanoseconds. `netbandit.util.table_files` defines how text and comments are read.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TextIO, TypeVar

import numpy as np

from netbandit.network.contacts import FOR_EVER, MOST_CONTACTS, ContactList, Integers, UpTimes
from netbandit.network.topology import TopologyError
from netbandit.parts.settings import Problem
from netbandit.util.table_files import Record, Records, Table, TableFileError, TextLines, shown
from netbandit.util.table_files import listed as listed_names
from netbandit.util.text import pluralize
from netbandit.util.wording import quoted

MOST_LINES = 1 << 23
"""The most lines of a file of contacts or tracks."""

_SECOND = 10**9
_LATEST = 10**9 * _SECOND
_NUMBER = re.compile(r"[+-]?\d{1,18}(\.\d{0,30})?([eE][+-]?\d{1,2})?", re.ASCII)
_LONGEST_LINE = 1 << 24  # a line of BonnMotion holds the whole track of a node

_Intervals = list[tuple[int, int]]


class BadLineError(Exception):
    """A line that cannot be read; the message says why."""


class Trace(NamedTuple):
    """The content of a contact file.

    Attributes:
        ids: The nodes, as the file names them, in order of their first line.
        ends: The two nodes of each contact, by their indices in *ids*, shape (n, 2).
        begin: When each begins (ns),
        end: and before when it ends.
        latencies: The latency (s) of links for which the file gives one, by the indices of their ends.
        notes: The unused parts of the file, a phrase each.
    """

    ids: list[str]
    ends: Integers
    begin: Integers
    end: Integers
    latencies: Mapping[tuple[int, int], str] = MappingProxyType({})
    notes: tuple[str, ...] = ()


class Meetings(NamedTuple):
    """The contacts of a run.

    Attributes:
        names: The name of each agent.
        edges: The links, shape (L, 2), the lower agent first, in lexicographic order.
        contacts: When they are up.
        latencies: The latency (s) of links where known, by their ends.
        notes: Notes on the file, each at a key path relative to the topology's table.
    """

    names: list[str]
    edges: Integers
    contacts: ContactList
    latencies: Mapping[tuple[int, int], str] = MappingProxyType({})
    notes: tuple[Problem, ...] = ()


Reader = Callable[[TextLines], Trace]
"""Parses the lines of a file."""
T = TypeVar("T")


def read(path: Path, reader: Callable[[TextLines], T]) -> T:
    """Return the parsed content of the file at *path*.

    Raises:
        TopologyError: It cannot be read; at the key ``file``, with the line.
    """
    lines = TextLines(path, longest=_LONGEST_LINE)
    try:
        return reader(lines)
    except BadLineError as error:
        raise TopologyError([(("file",), str(lines.error(str(error))))]) from None
    except TableFileError as error:
        raise TopologyError([(("file",), str(error))]) from None


def texts(lines: TextLines) -> Iterator[str]:
    """Yield the lines that are neither blank nor comments.

    Raises:
        BadLineError: There are too many.
    """
    for text in lines.contents():
        _count(lines)
        yield text


def _rows(lines: TextLines) -> Iterator[list[str]]:
    """Yield the fields of each line, separated by commas, semicolons or blanks."""
    for number, cells in Records(lines.path, ",; "):
        lines.number = number
        _count(lines)
        yield cells


def _count(lines: TextLines) -> None:
    if lines.number > MOST_LINES:
        raise BadLineError(f"the file has more than {MOST_LINES:,} lines")


def nanoseconds(text: str) -> int:
    """Return a number of seconds in nanoseconds, rounded up.

    Raises:
        BadLineError: It is not a number.
    """
    whole, _, part = text.partition(".")
    if whole.isdigit() and whole.isascii() and len(whole) < 10 and len(part) < 10:
        if not part:
            return int(whole) * _SECOND
        if part.isdigit() and part.isascii():
            return int(whole) * _SECOND + int(part.ljust(9, "0"))
    if _NUMBER.fullmatch(text) is None:
        raise BadLineError(f"{quoted(text)} is no time: must be a number of seconds")
    time = ceil(Fraction(text) * _SECOND)
    if abs(time) > _LATEST * 4:
        raise BadLineError(f"{text} s is too late: times are at most {4 * _LATEST // _SECOND:,} s")
    return time


def in_order(text: str, latest: int) -> int:
    """Return a number of seconds in nanoseconds, of a file whose times ascend, after the *latest* (ns) so far.

    Raises:
        BadLineError: It is not a number, or earlier.
    """
    time = nanoseconds(text)
    if time < latest:
        raise BadLineError(f"runs back in time, to {text} s")
    return time


class _Nodes:
    """The nodes of a file, each numbered where it is first named."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._contacts = array("q")

    def link(self, one: str, other: str) -> tuple[int, int]:
        """Return the ends of a link, the lower number first.

        Raises:
            BadLineError: It is a self loop.
        """
        if one == other:
            raise BadLineError(f"node {quoted(one)} meets itself")
        numbers = self.numbers
        first, second = numbers.setdefault(one, len(numbers)), numbers.setdefault(other, len(numbers))
        return (first, second) if first < second else (second, first)

    def meet(self, link: tuple[int, int], begin: int, end: int) -> None:
        """Record a contact of the ends of a link, from *begin* until before *end*."""
        self._contacts.extend((*link, begin, end))

    def trace(self) -> Trace:
        """Return the trace of all contacts."""
        columns = np.array(self._contacts, dtype=np.int64).reshape(-1, 4)
        return Trace(list(self.numbers), columns[:, :2], columns[:, 2], columns[:, 3])


_ONE_OTHERS = frozenset({"C", "S", "A", "DE", "DR", "R"})
"""The other records of ONE's event files: message events."""


def one(lines: TextLines) -> Trace:
    """Read ``TIME CONN A B up|down``, as the ONE simulator writes and reads connections.

    A sixth word names the interface: two nodes are linked while one of their interfaces is. A link up at the end of the
    file stays up. Events of messages are skipped.
    """
    nodes = _Nodes()
    up: dict[tuple[tuple[int, int], str], tuple[int, int]] = {}
    latest = -FOR_EVER
    for text in texts(lines):
        words = text.split()
        if len(words) > 1 and words[1] in _ONE_OTHERS:
            continue
        state = words[4].lower() if len(words) in (5, 6) and words[1] == "CONN" else ""
        if state not in ("up", "down"):
            raise BadLineError(f"must be TIME CONN A B up|down, not {quoted(text)}")
        time = latest = in_order(words[0], latest)
        link = nodes.link(words[2], words[3])
        by = link, "".join(words[5:])
        if state == "up":
            if by in up:
                raise BadLineError(f"{words[2]} and {words[3]} are connected already, since line {up[by][1]}")
            up[by] = time, lines.number
        elif by in up:
            nodes.meet(link, up.pop(by)[0], time)
        else:
            raise BadLineError(f"{words[2]} and {words[3]} are not connected")
    for (link, _), (since, _) in up.items():
        nodes.meet(link, since, FOR_EVER)
    return nodes.trace()


def moments(lines: TextLines, window: int) -> Trace:
    """Read ``TIME A B``, with optional further fields: co-presence records, as SocioPatterns publishes them.

    Args:
        lines: The lines.
        window: The duration (ns) of a contact from its moment on.
    """
    nodes = _Nodes()
    latest = -FOR_EVER
    further = 0
    for words in _rows(lines):
        if len(words) < 3:
            raise BadLineError(f"must be TIME A B, not {quoted(' '.join(words))}")
        further = max(further, len(words) - 3)
        time = latest = in_order(words[0], latest)
        nodes.meet(nodes.link(words[1], words[2]), time, time + window)
    notes = (f"what follows the two nodes ({pluralize(further, 'field')})",) if further else ()
    return nodes.trace()._replace(notes=notes)


_COLUMNS = ("A", "B", "FROM", "UNTIL")


def intervals(lines: TextLines) -> Trace:
    """Read ``A B FROM UNTIL``, in any order of lines; UNTIL may be ``inf``. A CSV file names these columns first."""
    nodes = _Nodes()
    records = Records(lines.path, ",; ")
    rows = iter(records)
    first = next(rows, Record(0, []))
    separated = records.separator in (",", ";")
    if separated:
        table = Table(lines.path)
        first, rows = Record(table.header_line, list(table.names)), iter(table)
    lines.number = first.line
    header = [name.upper() for name in first.cells]
    named = set(_COLUMNS) <= set(header)
    if separated and (not named or any(header.count(column) > 1 for column in _COLUMNS)):
        raise BadLineError(
            f"must name the columns {', '.join(_COLUMNS)}, each once, not {shown(', '.join(first.cells))}"
        )
    columns = [header.index(column) if named else index for index, column in enumerate(_COLUMNS)]
    width = len(header) if named else len(_COLUMNS)
    for lines.number, cells in rows if named or not header else chain([first], rows):
        _count(lines)
        if len(cells) != width:
            raise BadLineError(f"must be A B FROM UNTIL, not {shown(' '.join(cells))}")
        one, other, since, until = (cells[index] for index in columns)
        link = nodes.link(one, other)
        begin, end = nanoseconds(since), FOR_EVER if until == "inf" else nanoseconds(until)
        if end <= begin:
            raise BadLineError(f"UNTIL must be after FROM, {since}, not {until}")
        nodes.meet(link, begin, end)
    others = [name for place, name in enumerate(first.cells) if named and place not in columns]
    return nodes.trace()._replace(notes=(f"the columns {listed_names(others)}",) if others else ())


def ion(lines: TextLines) -> Trace:
    """Read a contact plan of ION: ``a contact +FROM +UNTIL A B RATE`` and ``a range +FROM +UNTIL A B SECONDS``.

    A link is up while both directions are. Its latency is that of its first range. Contacts of a node with itself,
    rates and what only one direction has are left out, with a note.
    """
    nodes = _Nodes()
    ways: defaultdict[tuple[int, int], tuple[_Intervals, _Intervals]] = defaultdict(lambda: ([], []))
    latencies: dict[tuple[int, int], str] = {}
    notes: dict[str, None] = {}
    for text in texts(lines):
        words = text.split()
        if words[0] in ("m", "e", "s", "l"):  # other commands of ionadmin
            continue
        if words[:2] not in (["a", "contact"], ["a", "range"]) or len(words) < 7:
            form = "a contact +FROM +UNTIL A B RATE, or a range +FROM +UNTIL A B SECONDS"
            raise BadLineError(f"must be {form}, not {quoted(text)}")
        begin, end = (_relative(word) for word in words[2:4])
        if end <= begin:
            raise BadLineError(f"must end after {words[2]}, not at {words[3]}")
        if words[4] == words[5]:
            notes["contacts of a node with itself"] = None
            continue
        link = nodes.link(words[4], words[5])
        if words[1] == "contact":
            ways[link][nodes.numbers[words[4]] == link[1]].append((begin, end))
            notes["rates"] = None
        elif _NUMBER.fullmatch(words[6]) is None or nanoseconds(words[6]) < 0:
            raise BadLineError(f"{quoted(words[6])} is no range: must be a number of seconds")
        elif latencies.setdefault(link, f"{words[6]} s") != f"{words[6]} s":
            notes["ranges but the first of each link"] = None
    for link, (there, back) in ways.items():
        both = list(_common(_merged(there), _merged(back)))
        for begin, end in both:
            nodes.meet(link, begin, end)
        if not both == _merged(there) == _merged(back):
            notes["what only one direction of a link has"] = None
    return nodes.trace()._replace(latencies=latencies, notes=tuple(notes))


def _relative(word: str) -> int:
    if not word.startswith("+"):
        raise BadLineError(f"{quoted(word)} must be a time from the plan's begin on, such as +3600")
    return nanoseconds(word[1:])


def _merged(intervals: Iterable[tuple[int, int]]) -> _Intervals:
    """Return disjoint intervals, ascending; those that touch are one."""
    found: _Intervals = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def _common(some: _Intervals, others: _Intervals) -> Iterator[tuple[int, int]]:
    """Yield the intersection of two ascending lists of intervals."""
    index = 0
    for begin, end in some:
        while index < len(others) and others[index][1] <= begin:
            index += 1
        for first, last in others[index:]:
            if first >= end:
                break
            yield max(begin, first), min(end, last)


def meetings(trace: Trace, since: int, until: int, agents: int | None = None) -> Meetings:
    """Return the contacts of a trace in a run.

    Args:
        trace: The trace.
        since: The trace's time (ns) that is the run's 0.
        until: When the run ends, by its own time (ns): links are the pairs that meet before.
        agents: The number of agents, which the file calls 0, 1, ...; None: the nodes that it names, sorted, as numbers
            if all are.

    Raises:
        TopologyError: The file names another node than these *agents*, no node at all, or there are too many contacts.
    """
    number = np.array(_numbered(trace.ids, agents), dtype=np.int64)
    ends = np.sort(number[trace.ends], axis=1) if len(trace.ends) else trace.ends
    begin, end = np.maximum(trace.begin - since, 0), np.where(trace.end >= FOR_EVER, FOR_EVER, trace.end - since)
    there = (begin < until) & (end > begin)
    edges, contacts = listed(ends[there], begin[there], end[there])
    if len(contacts.times) > MOST_CONTACTS:
        text = f"has {len(contacts.times):,} contacts; at most {MOST_CONTACTS:,} are possible"
        raise TopologyError([(("file",), text)])
    names = [trace.ids[index] for index in np.argsort(number)] if agents is None else list(map(str, range(agents)))
    latencies = {}
    for (one, other), latency in trace.latencies.items():
        first, second = sorted((int(number[one]), int(number[other])))
        latencies[first, second] = latency
    notes: list[Problem] = [(("file",), f"not used: {note}") for note in trace.notes]
    if len(trace.begin) and not len(edges):
        last = int(trace.end.max())
        text = beyond("contacts", int(trace.begin.min()), None if last >= FOR_EVER else last, since, until)
        notes.append((("from",), f"nobody meets in the run: {text}"))
    return Meetings(names, edges, contacts, latencies, tuple(notes))


def beyond(what: str, first: int, last: int | None, since: int, until: int) -> str:
    """Return the message for a file none of whose data fall into the run.

    Args:
        what: What that is.
        first: The file's time (ns) of the first of it,
        last: and of the end of the last; None: there is none.
        since: The file's time (ns) that is the run's 0.
        until: When the run ends, by its own time (ns).
    """
    to = "on" if last is None else f"to {_seconds(last)} s"
    run = f"it is {_seconds(since)} s to {_seconds(since + until)} s of the file"
    instead = "" if first < 0 else f'; from = "{_seconds(first)} s" would begin there'
    return f"{run}, whose {what} are from {_seconds(first)} s {to}{instead}"


def listed(ends: Integers, begin: Integers, end: Integers) -> tuple[Integers, ContactList]:
    """Return links and their contacts, from contacts in any order; touching contacts of a pair are merged.

    Args:
        ends: The agents of each contact, the lower first, shape (n, 2).
        begin: When it begins (ns),
        end: and before when it ends.

    Returns:
        The links, shape (L, 2), in lexicographic order, and their contacts.
    """
    order = np.lexsort((begin, ends[:, 1], ends[:, 0]))
    ends, begin, end = ends[order], begin[order], end[order]
    other_link = np.ones(len(ends), dtype=bool)
    other_link[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    link = np.cumsum(other_link) - 1
    # The latest end of those before on the same link: links apart by more than any time, it is a running maximum.
    latest = _running_maximum(end, link)
    apart = other_link.copy()
    apart[1:] |= begin[1:] > latest[:-1]
    firsts = np.flatnonzero(apart)
    lasts = np.append(firsts[1:], len(ends)) - 1
    times = np.stack([begin[firsts], latest[lasts]], axis=1) if len(ends) else np.empty((0, 2), dtype=np.int64)
    first = np.searchsorted(link[firsts], np.arange((link[-1] + 1 if len(link) else 0) + 1))
    return ends[other_link], ContactList(first.astype(np.int64), times)


def _running_maximum(values: Integers, group: Integers) -> Integers:
    """Return the running maximum of the values in each group; groups are contiguous."""
    ranks = np.empty(len(values), dtype=np.int64)
    order = np.argsort(values, kind="stable")
    ranks[order] = np.arange(len(values))
    found: Integers = values[order][np.maximum.accumulate(ranks + group * len(values)) - group * len(values)]
    return found


def _numbered(ids: list[str], agents: int | None) -> list[int]:
    """Return the number of each node."""
    if agents is not None:
        wrong = next((id_ for id_ in ids if not (id_.isdigit() and id_.isascii() and int(id_) < agents)), None)
        if wrong is not None:
            text = f"names the node {quoted(wrong)}; with agents = {agents} they are 0 to {agents - 1}"
            raise TopologyError([(("file",), text)])
        return [int(id_) for id_ in ids]
    if not ids:
        raise TopologyError([(("file",), "names no node")])
    as_numbers = all(id_.isdigit() and id_.isascii() and str(int(id_)) == id_ for id_ in ids)
    index = {id_: number for number, id_ in enumerate(sorted(ids, key=int) if as_numbers else sorted(ids))}
    return [index[id_] for id_ in ids]


def write(file: TextIO, up: UpTimes, edges: Integers, agents: int) -> None:
    """Write contacts as ``A B FROM UNTIL``, which `intervals` reads; agents by their numbers, times in seconds.

    Args:
        file: Where to.
        up: The contacts; an end of `FOR_EVER`, or later, is ``inf``.
        edges: The links, shape (L, 2).
        agents: The number of agents.
    """
    file.write(f"# {agents} agents; A B FROM UNTIL, in seconds\n")
    for (one, other), begin, end in zip(edges[up.link].tolist(), up.begin.tolist(), up.end.tolist(), strict=True):
        file.write(f"{one} {other} {_seconds(begin)} {'inf' if end >= FOR_EVER else _seconds(end)}\n")


def _seconds(time: int) -> str:
    whole, part = divmod(abs(time), _SECOND)
    return "-" * (time < 0) + f"{whole}.{part:09d}".rstrip("0").rstrip(".")
