"""The formats of network files: each reader turns a file's bytes into nodes and links, with nothing mended yet.

GraphML and GML are read by networkx. Its other readers take too much and too little: `node_link_graph` makes one node
of two with the same id and invents those that a link names, `parse_edgelist` skips lines that are no links and reads
neither commas nor a line of column names.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

from netbandit.nesting import any_depth, read_json

if TYPE_CHECKING:
    import networkx

Attributes = dict[str, Any]

_GRAPH = re.compile(r'"[^"]*"|^\s*#.*$|(\bgraph\s*\[)', re.MULTILINE)
"""In GML, texts, comments, and where the graph begins."""


class NotAGraphError(Exception):
    """The content is not a graph in the format it should have; says why in a few words."""


@dataclass
class Network:
    """What a file says, in its own words.

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

    def read() -> "networkx.Graph[Any]":
        return networkx.read_graphml(BytesIO(content))

    return _through_networkx(read)


def gml(content: bytes) -> Network:
    """Read GML; nodes are known by their id, labels may repeat."""
    import networkx

    text = _text(content)
    opens = next((found.end() for found in _GRAPH.finditer(text) if found[1]), None)
    if opens is not None:
        # Files with parallel links seldom say so, and networkx would refuse them; who says so says it twice.
        text = f"{text[:opens]}\n multigraph 1\n{text[opens:]}"

    def read() -> "networkx.Graph[Any]":
        return networkx.parse_gml(text, label="id")

    return _through_networkx(read)


def _through_networkx(read: Callable[[], "networkx.Graph[Any]"]) -> Network:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with any_depth():
                graph = read()
    except KeyError as error:
        raise NotAGraphError(f"unknown {error}") from error
    # The readers of networkx meet a file that is not what it should be with errors of nearly any kind.
    except Exception as error:
        raise NotAGraphError(" ".join(str(error).split()) or type(error).__name__) from error
    return Network(
        {str(node): dict(attributes) for node, attributes in graph.nodes(data=True)},
        [(str(first), str(second), dict(attributes)) for first, second, attributes in graph.edges(data=True)],
    )


def node_link(content: bytes) -> Network:
    """Read the node-link JSON of networkx, whose links stand under "links" or "edges"."""
    try:
        data = read_json(_text(content))
    except ValueError as error:
        raise NotAGraphError(str(error)) from error
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise NotAGraphError('it is not an object with the lists "nodes" and "links" (or "edges")')
    links = data.get("links", data.get("edges"))
    if not isinstance(links, list):
        raise NotAGraphError('it has no list "links" (or "edges")')
    network = Network()
    for number, node in enumerate(data["nodes"], start=1):
        id_ = _id(node, "id")
        if id_ is None:
            raise NotAGraphError(f'node {number} has no "id"')
        if id_ in network.nodes:
            raise NotAGraphError(f"the id {id_} stands for two nodes")
        network.nodes[id_] = {key: value for key, value in node.items() if key != "id"}
    for number, link in enumerate(links, start=1):
        first, second = _id(link, "source"), _id(link, "target")
        if first is None or second is None:
            raise NotAGraphError(f'link {number} has no "source" or no "target"')
        for end in (first, second):
            if end not in network.nodes:
                raise NotAGraphError(f"link {number} ends at {end}, which is the id of no node")
        network.links.append((first, second, link))
    return network


def _id(entry: object, key: str) -> str | None:
    """Return the id under *key* of an entry as text; None if the entry has none."""
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if value is None or isinstance(value, str) else json.dumps(value)


def edge_list(content: bytes, columns: Sequence[str] | None = None) -> Network:
    """Read a link a line: two ids, then perhaps a number or ``{...}``, divided by blanks, commas or semicolons.

    What follows a ``#`` or ``%`` is a comment. A first line of column names (source, target or from, to) names the
    attributes that stand behind the ids; without it a number has no name, and is passed over.

    Args:
        content: The file.
        columns: The names of the columns, of which the first two are the ids; those of the first line if not given.
    """
    network = Network()
    names = list(columns or ())
    network.skipped += names[2:]
    divider = r"[\s,;]+"
    for number, line in enumerate(_text(content).splitlines(), start=1):
        line = re.split(r"[#%]", line, maxsplit=1)[0].strip()
        if not line:
            continue
        if not network.links and _is_header(line):
            divider = next((f"\\s*{sign}\\s*" for sign in ",;\t" if sign in line), r"\s+")
            if not names:
                names = re.split(divider, line)
                network.skipped += names[2:]
            continue
        line, _, attributes = line.partition("{")
        fields = re.split(divider, line.strip())
        fields = fields if names else [part for part in fields if part]
        if attributes and not attributes.rstrip().endswith("}"):
            raise NotAGraphError(f"line {number} is not a link: its {{ is not closed")
        if names and not 2 <= len(fields) <= len(names):
            raise NotAGraphError(f"line {number} is not a link: {len(fields)} columns, but {len(names)} names")
        if not names and (len(fields) not in (2, 3) or (len(fields) == 3 and not _is_number(fields[2]))):
            raise NotAGraphError(f"line {number} is not a link: two ids and at most a number")
        for end in fields[:2]:
            network.nodes.setdefault(end, {})
        if not names and len(fields) == 3 and not network.skipped:
            network.skipped.append("the third column")
        named = {name: text for name, text in zip(names[2:], fields[2:], strict=False) if text}
        network.links.append((fields[0], fields[1], {**named, **_attributes(attributes)}))
    return network


def _is_header(line: str) -> bool:
    first = [part.lower() for part in re.split(r"[\s,;]+", line)[:2]]
    return first in (["source", "target"], ["from", "to"])


def _attributes(text: str) -> Attributes:
    """Return what networkx writes behind a link: ``{'latency': '5 ms'}`` without its first sign."""
    try:
        with any_depth():
            found = ast.literal_eval("{" + text) if text else {}
    except (ValueError, TypeError, SyntaxError, MemoryError):
        return {}
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotAGraphError(f"not a text in UTF-8 (byte {error.start + 1})") from error
    if "\0" in text:
        raise NotAGraphError("not a text")
    return text
