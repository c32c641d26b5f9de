"""Parsers of graph file formats: each turns a file's bytes into nodes and links, without any repair.

networkx reads GraphML and GML. Its other readers are too lenient and too strict: `node_link_graph` merges nodes
with the same id and invents nodes that only a link names; `parse_edgelist` skips lines that are not links and reads
neither commas nor a header line.
"""

import ast
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from netbandit.network import not_edge_lists
from netbandit.util.nesting import any_depth, read_json
from netbandit.util.table_files import (
    TableFileError,
    TextLines,
    fields,
    is_content,
    listed,
    number,
    separator_of,
    shown,
)
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    import networkx

Attributes = dict[str, Any]

_GRAPH = re.compile(r'"[^"]*"|^\s*#.*$|(\bgraph\s*\[)', re.MULTILINE)
"""In GML, texts, comments, and where the graph begins."""


class NotAGraphError(Exception):
    """The content is not a graph in the expected format; the message says why."""


@dataclass
class Network:
    """The raw content of a graph file.

    Attributes:
        nodes: The attributes of each node by its id.
        links: Both ends and the attributes of each link; direction, repetition and loops as in the file.
        skipped: Columns behind the ids, by name; of one without a name that it is the third.
    """

    nodes: dict[str, Attributes] = field(default_factory=dict)
    links: list[tuple[str, str, Attributes]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def graphml(content: bytes) -> Network:
    """Read GraphML, in whatever encoding its XML declares."""
    import networkx

    network = _through_networkx(lambda: networkx.read_graphml(BytesIO(content)))
    _refuse_lost_content(ElementTree.fromstring(content))
    return network


def _refuse_lost_content(root: "ElementTree.Element") -> None:
    """Refuse GraphML of which networkx takes a part, or to which it adds nodes.

    Raises:
        NotAGraphError: There are several graphs, a node or a value is there twice, or an end of a link is no node.
    """
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    if len(list(root.iter("graph"))) > 1:
        raise NotAGraphError("has several graphs, or graphs within nodes: one must be in a file of its own")
    nodes = Counter(node.get("id") for node in root.iter("node"))
    twice = next((node for node, times in nodes.items() if times > 1), None)
    if twice is not None:
        raise NotAGraphError(f"the id {twice} stands for two nodes")
    for count, link in enumerate(root.iter("edge"), start=1):
        for end in (link.get("source"), link.get("target")):
            if end not in nodes:
                raise NotAGraphError(f"link {count} ends at {end}, which is the id of no node")
    for what in ("node", "edge"):
        for element in root.iter(what):
            keys = [data.get("key") for data in element.iter("data")]
            if len(set(keys)) < len(keys):
                raise NotAGraphError(f"{what} {element.get('id', '')} has two values of one key".replace("  ", " "))


def gml(content: bytes) -> Network:
    """Read GML; nodes are known by their id, labels may repeat."""
    import networkx

    text = _text(content)
    opens = next((found.end() for found in _GRAPH.finditer(text) if found[1]), None)
    if opens is not None:
        # Files with parallel links seldom declare them, and networkx refuses those; declaring twice does no harm.
        text = f"{text[:opens]}\n multigraph 1\n{text[opens:]}"

    return _through_networkx(lambda: networkx.parse_gml(text, label="id"))


def _through_networkx(read: Callable[[], "networkx.Graph[Any]"]) -> Network:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with any_depth():
                graph = read()
    except KeyError as error:
        raise NotAGraphError(f"unknown {error}") from error
    # The readers of networkx raise errors of nearly any kind for a malformed file.
    except Exception as error:
        raise NotAGraphError(" ".join(str(error).split()) or type(error).__name__) from error
    of_nodes, of_links = (graph.graph.get(f"{what}_default", {}) for what in ("node", "edge"))  # of GraphML
    return Network(
        {str(node): {**of_nodes, **attributes} for node, attributes in graph.nodes(data=True)},
        [(str(first), str(second), {**of_links, **attributes}) for first, second, attributes in graph.edges(data=True)],
    )


def node_link(content: bytes) -> Network:
    """Read the node-link JSON of networkx, whose links stand under "links" or "edges"."""
    try:
        data = read_json(_text(content), object_pairs_hook=_each_once)
    except ValueError as error:
        raise NotAGraphError(str(error)) from error
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise NotAGraphError('it is not an object with the lists "nodes" and "links" (or "edges")')
    if {"links", "edges"} <= data.keys():
        raise NotAGraphError('it has both lists "links" and "edges": one must go')
    links = data.get("links", data.get("edges"))
    if not isinstance(links, list):
        raise NotAGraphError('it has no list "links" (or "edges")')
    network = Network()
    for count, node in enumerate(data["nodes"], start=1):
        id_ = _id(node, "id")
        if id_ is None:
            raise NotAGraphError(f'node {count} has no "id"')
        if id_ in network.nodes:
            raise NotAGraphError(f"the id {id_} stands for two nodes")
        network.nodes[id_] = {key: value for key, value in node.items() if key != "id"}
    for count, link in enumerate(links, start=1):
        first, second = _id(link, "source"), _id(link, "target")
        if first is None or second is None:
            raise NotAGraphError(f'link {count} has no "source" or no "target"')
        for end in (first, second):
            if end not in network.nodes:
                raise NotAGraphError(f"link {count} ends at {end}, which is the id of no node")
        network.links.append((first, second, link))
    return network


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, whose keys must differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise NotAGraphError(f"{shown(twice)} is there twice in one object")
    return found


def _id(entry: object, key: str) -> str | None:
    """Return the id under *key* of an entry as text; None if the entry has none."""
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if value is None or isinstance(value, str) else json.dumps(value)


class _Row(NamedTuple):
    """A line of an edge list: its number, its fields, and what stands between braces at its end."""

    line: int
    cells: list[str]
    braces: str


def edge_list(path: Path, columns: Sequence[str] | None = None) -> Network:
    """Read a link a line: two ids, then perhaps a number or ``{...}``, separated by commas, semicolons, tabs or blanks.

    A line that begins with ``#`` or ``%`` is a comment. A first line of column names names the attributes that follow
    the ids; without it a number has no name, and is ignored. The first line is one if it begins with source, target or
    from, to and the like, has source and target side by side, or contains no node's id although all ids are numbers.

    Args:
        path: The file.
        columns: The names of the columns, of which the first two are the ids; those of the first line if not given.

    Raises:
        NotAGraphError: It is no edge list, or it cannot be known whether its first line names columns.
    """
    try:
        rows = list(_rows(TextLines(path)))
    except TableFileError as error:
        raise NotAGraphError(error.reason if error.line is None else f"line {error.line}: {error.reason}") from None
    names = list(columns or ())
    # A matrix or an adjacency list looks like an edge list: say what it is before its lines are refused.
    if rows and not names and (other := not_edge_lists.other_format([row.cells for row in rows])):
        raise NotAGraphError(other)
    width, order, named_by = len(names), list(range(len(names))), "topology.columns names"
    if rows and _is_header(rows, names):
        line, header, _ = rows.pop(0)
        # pandas writes an index in front, whose column has no name.
        first = int(header[0] == "") if names else _ends_of(header)
        if names and len(names) != len(header) - first:
            raise _bad_line(line, f"names {pluralize(len(header) - first, 'column')}, but {named_by} {len(names)}")
        width, named_by = len(header), f"line {line} names"
        # Ends first, then attributes as they stand.
        order = [first, first + 1, *(column for column in range(width) if not first <= column < first + 2)]
        names = names or [header[column] for column in order]
    twice = next((name for name, times in Counter(filter(None, names)).items() if times > 1), None)
    if twice is not None:
        raise NotAGraphError(f"the column {shown(twice)} is there twice")
    network = Network()
    network.skipped += filter(None, names[2:])
    for line, cells, braces in rows:
        if names:  # each line has all columns
            if len(cells) != width:
                reason = f"{pluralize(len(cells), 'field')}, but {named_by} {pluralize(width, 'column')}"
                raise _bad_line(line, f"is not a link: {reason}")
            cells = [cells[column] for column in order]
        else:  # without names: two ids and perhaps a number, which is not used; separators at the end are ignored
            while cells and not cells[-1]:
                cells = cells[:-1]
            if len(cells) not in (2, 3) or (len(cells) == 3 and number(cells[2]) is None):
                hint = ", and # begins a comment only where a line begins" if any("#" in cell for cell in cells) else ""
                raise _bad_line(line, f"is not a link: two ids and at most a number{hint}")
            if len(cells) == 3 and not network.skipped:
                network.skipped.append("the third column")
        for end in cells[:2]:
            if not end:
                raise _bad_line(line, "is not a link: an end has no name")
            network.nodes.setdefault(end, {})
        named = {name: text for name, text in zip(names[2:], cells[2:], strict=False) if name and text}
        network.links.append((cells[0], cells[1], {**named, **_attributes(braces)}))
    if rows and not names:  # of three fields, others than the first two may be the ends
        doubt = not_edge_lists.doubtful([row.cells for row in rows], [row.line for row in rows])
        if doubt is not None:
            raise NotAGraphError(doubt)
    return network


_BRACES = re.compile(r"(?:^|[\s,;])\s*(\{.*\})$")
_QUOTED = re.compile(r'"[^"]*"')
_SOURCES = ("source", "from", "src", "origin", "sender", "start", "begin", "tail", "parent", "left")
_TARGETS = ("target", "to", "dst", "dest", "destination", "receiver", "end", "head", "child", "right")
_END = rf"({'|'.join((*_SOURCES, *_TARGETS))})[ _.-]?(node|vertex|name)?[ _.-]?(id)?"


def _bad_line(line: int, reason: str) -> NotAGraphError:
    return NotAGraphError(f"line {line} {reason}")


def _rows(lines: TextLines) -> Iterator[_Row]:
    separator = None
    for line in lines:
        if not is_content(line, "#%"):
            continue
        text = line.strip(" \r\n")  # a tab at an end is a field that is empty
        braces = _BRACES.search(text)
        bare = text if braces is None else text[: braces.start()]
        separator = separator_of(bare, ",;\t ") if separator is None else separator
        cells = fields(lines, bare, separator)
        outside = _QUOTED.sub("", bare).split(separator.strip(" ") or None)
        if any(part.strip().startswith("{") for part in outside):
            raise _bad_line(lines.number, "is not a link: its { is not closed")
        if separator != " " and any(re.search(r"\S\s+#", part) for part in outside):
            raise lines.error("# begins a comment only where a line begins; a name with it must be in double quotes")
        if any(" " in part.strip() and all(number(word) is not None for word in part.split()) for part in outside[:2]):
            raise lines.error("has blanks between numbers, but other separators elsewhere")
        yield _Row(lines.number, cells, "" if braces is None else braces[1])


def _ends_of(header: Sequence[str]) -> int:
    """Return which column of *header* has the first end: source, if target is beside it; else the first with a name."""
    ends = (index for index, pair in enumerate(pairwise(header)) if _are_ends(*pair))
    return next(ends, int(header[0] == ""))


def _are_ends(one: str, other: str) -> bool:
    """Return whether two names of columns are those of the ends of links, as ``source_id`` and ``target_id`` are."""
    words = re.fullmatch(_END, one, re.IGNORECASE), re.fullmatch(_END, other, re.IGNORECASE)
    return None not in words and len({word[1].lower() in _SOURCES for word in words if word}) == 2


def _is_header(rows: Sequence[_Row], columns: Sequence[str]) -> bool:
    """Return whether the first of *rows* has names of columns.

    Raises:
        NotAGraphError: It may be.
    """
    line, header, _ = rows[0]
    if [cell.lower() for cell in header] == [name.lower() for name in columns]:
        return True
    first = _ends_of(header) if header else 0
    ends = header[first : first + 2]
    others = {cell for row in rows[1:] for cell in row.cells[first : first + 2]}
    if len(ends) < 2:  # no link either: `edge_list` refuses the line
        return False
    if _are_ends(*ends) and not others.intersection(ends):  # source and target
        return True
    if (
        not others
        or any(number(end) is not None for end in ends)
        or (others.intersection(ends) and not _are_ends(*ends))
    ):  # the only line, numbers, or ids that others name: a link
        return False
    if all(number(other) is not None for other in others):  # all ids are numbers, but not these words
        if columns or _alike(*ends):
            return True
        more = ", ..." if len(header) > 2 else ""
        raise _bad_line(
            line,
            f"names the columns {listed(ends)}, which may be no ends of links: these are side by side, called "
            f'source and target; topology.columns = ["from", "to"{more}] says that they are',
        )
    if columns:
        return False
    known = f"others name {listed(ends)}, too" if others.intersection(ends) else f"no other line names {listed(ends)}"
    raise _bad_line(
        line,
        f'may be a link or names of columns: {known}; topology.columns = ["from", "to"] says that it is a link',
    )


def _alike(one: str, other: str) -> bool:
    """Return whether two names of columns differ by a sign or two, as ``node_1`` and ``node_2`` do."""
    apart = (index for index, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return max(len(one), len(other)) <= next(apart, min(len(one), len(other))) + 2


def _attributes(text: str) -> Attributes:
    """Return what networkx writes behind a link: ``{'latency': '5 ms'}``."""
    try:
        with any_depth():
            found = ast.literal_eval(text) if text else {}
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return {}
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotAGraphError(f"not a text in UTF-8 (byte {error.start + 1})") from error
    if "\0" in text:
        raise NotAGraphError("not a text")
    return text
