"""Reads graphs from files: GraphML, GML, edge lists and networkx's node-link JSON.

All formats are normalised to one form: undirected, parallel links merged, self loops dropped, agents numbered by
sorted id, each with a unique name and, where the file has them, its coordinates.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netbandit.network import distances, edge_latencies, not_edge_lists, readers
from netbandit.network.readers import Attributes, Network, NotAGraphError
from netbandit.network.topology import TopologyError
from netbandit.util.table_files import TableFileError, opened

if TYPE_CHECKING:
    import networkx

READERS = {"GraphML": readers.graphml, "GML": readers.gml, "node-link JSON": readers.node_link}
_EDGE_LIST = "an edge list"

ENDINGS = {
    ".graphml": "GraphML",
    ".gml": "GML",
    ".json": "node-link JSON",
    ".edgelist": "an edge list",
    ".edges": "an edge list",
    ".csv": "an edge list",
    ".tsv": "an edge list",
}
"""The format that a file's ending stands for; the endings of NEUTRAL say nothing, their content decides."""

NEUTRAL = ("", ".txt", ".dat", ".xml")

_LATENCY = "latency"
_TIMES = ("ns", "us", "ms", "s", "min", "slots")
"""The units of a latency that may stand in its name: ``latency_ms``, ``delay_us``."""
_LATENCIES = {_LATENCY: "", **{f"{word}_{unit}": f" {unit}" for word in (_LATENCY, "delay") for unit in _TIMES}}
"""What a latency is called, and the unit that this says."""
_BANDWIDTHS = {"bit": "bit/s", "kbit": "kbit/s", "mbit": "Mbit/s", "gbit": "Gbit/s"}
"""Those of a bandwidth, all a second: ``bandwidth_kbit``, ``bandwidth_mbits``."""
_SPEED = "linkspeedraw"
_KNOWN_BY = ("id", "key", "label", "name", "source", "target")
"""Attributes that identify a link, without describing it."""
_UNUSED = "unused figures of links"


def read(path: Path, component: str | None = None, columns: Sequence[str] | None = None) -> "networkx.Graph[int]":
    """Return the graph in the file at *path*, with nodes 0..n-1 in the order of their sorted ids.

    Ids are sorted as numbers if all are integers, else as text. A node has a ``name`` (its label where no other node
    has the same, else with its id) and, where known, ``latitude`` and ``longitude`` in degrees; a link has the
    ``speed`` in bits a second of the fastest of its parallels, where known, and the ``latency``: as it was written, or
    with the unit of the attribute's name, such as ``latency_ms``; see `netbandit.network.edge_latencies` where they
    have different ones.

    Args:
        path: The file.
        columns: The names of the columns of an edge list, the first two being the ends of a link.
        component: "largest" takes the largest component of a disconnected graph, the one with the lowest agent among
            equals; None makes a disconnected graph an error.

    Raises:
        TopologyError: If the file cannot be read, is not a graph, or is disconnected.
    """
    if component not in (None, "largest"):
        raise TopologyError([(("component",), f'must be "largest" or absent, not "{component}"')])
    try:
        network = _network(path, columns)
        if not network.nodes:
            raise NotAGraphError("has no nodes")
        return _graph(network, component)
    except NotAGraphError as error:
        raise TopologyError([(("file",), f"{path}: {error}")]) from error


def of_graph(given: Any, component: str | None = None) -> "networkx.Graph[int]":
    """Return a graph of networkx with nodes 0..n-1 in the order of its sorted nodes, which may be of any kind.

    Nodes that cannot be compared are sorted as text. See `read` for the normal form, and for *component*.

    Raises:
        TopologyError: It is no graph, has no nodes, or is disconnected.
    """
    try:
        nodes = dict(given.nodes(data=True))
        links = [(first, second, attributes) for first, second, attributes in given.edges(data=True)]
    except (AttributeError, TypeError, ValueError):
        raise TopologyError([(("graph",), f"must be a graph of networkx, not {type(given).__name__}")]) from None
    if not nodes:
        raise TopologyError([(("graph",), "has no nodes")])
    try:
        order = sorted(nodes)
    except TypeError:
        order = sorted(nodes, key=str)
    # Nodes are told apart by more than their text: 1 and "1" may be two of them.
    ids = {node: str(index) for index, node in enumerate(order)}
    named = {ids[node]: {"name": str(node), **attributes} for node, attributes in nodes.items()}
    ends = [
        (ids[first], ids[second], {"LinkSpeedRaw": given_.get("speed"), **given_}) for first, second, given_ in links
    ]
    try:
        return _graph(Network(named, ends), component)
    except NotAGraphError as error:
        raise TopologyError([(("graph",), str(error))]) from error


def unused(graph: "networkx.Graph[int]") -> str:
    """Return, in words, the link attributes of the input that *graph* does not use; empty if there are none.

    Args:
        graph: What `read` or `of_graph` returned.
    """
    names = ", ".join(graph.graph.get(_UNUSED, ()))
    taken = f'of what links say of themselves only {_LATENCY}, such as "10 ms", or latency_ms, is taken '
    taken += '(links.peer.latency = "edges")'
    return f"{taken}; not used: {names}" if names else ""


def _network(path: Path, columns: Sequence[str] | None) -> Network:
    try:
        with opened(path) as file:
            content = file.read()
    except TableFileError as error:
        raise NotAGraphError(error.reason) from error
    ending = next((one.lower() for one in reversed(path.suffixes) if one.lower() != ".gz"), "")
    named, found = ENDINGS.get(ending), _format(content)
    if named is None and ending not in NEUTRAL and found == _EDGE_LIST:
        known = ", ".join(f"*{known}" for known in ENDINGS)
        raise NotAGraphError(f"is not a network file: GraphML, GML, node-link JSON or an edge list ({known})")
    if not content.strip():
        raise NotAGraphError("is empty")
    if found == _EDGE_LIST and (other := not_edge_lists.named_format(content)):
        raise NotAGraphError(f"is {other}, which is not read; GraphML, GML, node-link JSON and edge lists are")
    if named not in (None, found):
        raise NotAGraphError(f"is named as {named}, but its content is not" + _as(found))
    if columns is not None and found != _EDGE_LIST:
        raise TopologyError([(("columns",), f"has no meaning for {found}: it names the columns of an edge list")])
    try:
        return readers.edge_list(path, columns) if found == _EDGE_LIST else READERS[found](content)
    except NotAGraphError as error:
        raise NotAGraphError(f"cannot be read as {found}: {error}") from error


def _as(found: str) -> str:
    return "" if found == _EDGE_LIST else f" (it looks like {found})"


def _format(content: bytes) -> str:
    """Return the format that *content* looks like; what looks like no other is an edge list."""
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        return "GraphML"
    if start.startswith((b"{", b"[")):
        return "node-link JSON"
    if re.search(rb"(?m)^\s*graph\s*\[", start):
        return "GML"
    return _EDGE_LIST


def _graph(network: Network, component: str | None) -> "networkx.Graph[int]":
    import networkx

    ids = _sorted(list(network.nodes))
    number = {id_: position for position, id_ in enumerate(ids)}
    links: dict[tuple[int, int], dict[str, Any]] = {}
    for first, second, attributes in network.links:
        low, high = sorted((number[first], number[second]))
        if low != high:
            link = links.setdefault((low, high), {})
            speed = _number(attributes, _SPEED)
            if speed is not None:
                link["speed"] = max(speed, link.get("speed", speed))
            if latencies := _latencies(attributes):
                link["latency"] = edge_latencies.joined(
                    [*link.get("latency", "").split(edge_latencies.AND), *latencies]
                )
    edges = np.array(sorted(links), dtype=np.int64).reshape(-1, 2)
    labels = distances.components_of(len(ids), edges)
    sizes = np.bincount(labels)
    if len(sizes) > 1 and component is None:
        largest = f'"largest" takes the one of {sizes.max()} agents'
        raise TopologyError([(("component",), f"missing: the graph has {len(sizes)} components; {largest}")])
    kept = np.flatnonzero(labels == sizes.argmax()).tolist()
    position = {node: new for new, node in enumerate(kept)}
    names = _names([ids[node] for node in kept], [network.nodes[ids[node]] for node in kept])
    graph: networkx.Graph[int] = networkx.Graph()
    by_name: dict[str, list[Any]] = {}
    for *_, attributes in network.links:
        for key, value in attributes.items():
            by_name.setdefault(str(key), []).append(value)
    skipped = [name for name in network.skipped if not _is_latency(name)]
    unused_names = [
        name + _instead(name, by_name.get(name, []))
        for name in dict.fromkeys([*skipped, *sorted(filter(_is_unused, by_name))])
    ]
    if unused_names:
        graph.graph[_UNUSED] = list(map(_readable, unused_names))
    for node, name in zip(kept, names, strict=True):
        graph.add_node(position[node], name=name, **_place(ids[node], network.nodes[ids[node]]))
    for first_end, second_end in edges.tolist():
        if first_end in position:
            graph.add_edge(position[first_end], position[second_end], **links[first_end, second_end])
    return graph


def _latencies(attributes: Attributes) -> list[str]:
    """Return the latency of a link as it was written, or with the unit of its attribute's name: it should have one."""
    given = [(_LATENCIES.get(str(name).lower()), value) for name, value in attributes.items()]
    return [f"{value}{unit}" for unit, value in given if unit is not None and value is not None]


def _is_latency(attribute: str) -> bool:
    return attribute.lower() in _LATENCIES


def _is_unused(attribute: str) -> bool:
    """Return whether an attribute describes a link but is not used."""
    return not _is_latency(attribute) and attribute.lower() not in (_SPEED, *_KNOWN_BY)


def _instead(attribute: str, values: Sequence[Any]) -> str:
    """Return the scenario key for a bandwidth or loss that all links state; empty where there is none."""
    word, _, unit = attribute.lower().partition("_")
    texts = list(dict.fromkeys(map(str, values)))
    if word == "bandwidth":
        unit = _BANDWIDTHS.get(re.sub(r"(s|_per_s)$", "", unit), "")
    if (word, unit) != ("loss", "") and (word != "bandwidth" or not unit):
        return ""
    if len(texts) != 1:
        return f" (all links have the same: links.peer.{word})"
    return f" (links.peer.{word} = {texts[0]})" if word == "loss" else f' (links.peer.bandwidth = "{texts[0]} {unit}")'


def _sorted(ids: list[str]) -> list[str]:
    if all(re.fullmatch(r"[+-]?[0-9]{1,4000}", id_) for id_ in ids):
        return sorted(ids, key=lambda id_: (int(id_), id_))
    return sorted(ids)


def _readable(text: str) -> str:
    """Return *text* with its control characters and halves of characters written out: it goes to terminals and SVG."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _names(ids: list[str], nodes: list[Attributes]) -> list[str]:
    """Return a unique name for each node: its label, with the id where labels repeat, or the id."""
    labels = [_readable(str(_value(node, "label", "name") or "")).strip() for node in nodes]
    ids = [_readable(id_) for id_ in ids]
    count = Counter(labels)
    taken = {label for label in labels if label and count[label] == 1}
    names = []
    for id_, label in zip(ids, labels, strict=True):
        name = label
        if not label or count[label] > 1:
            name = f"{label} ({id_})" if label else id_
            while name in taken:
                name += "'"
            taken.add(name)
        names.append(name)
    return names


def _place(id_: str, node: Attributes) -> dict[str, float]:
    """Return latitude and longitude of a node in degrees, or nothing where one of them is unknown."""
    latitude, longitude = _number(node, "latitude", "lat"), _number(node, "longitude", "lon", "lng")
    if latitude is None or longitude is None:
        return {}
    if abs(latitude) > 90 or abs(longitude) > 360:
        raise NotAGraphError(f"node {id_} is at no place of the earth: latitude {latitude:g}, longitude {longitude:g}")
    return {"latitude": latitude, "longitude": longitude}


def _value(attributes: Attributes, *names: str) -> Any:
    """Return the first attribute with one of *names*, whatever their capitals; None if there is none."""
    by_name = {str(key).lower(): value for key, value in attributes.items()}
    return next((by_name[name] for name in names if by_name.get(name) is not None), None)


def _number(attributes: Attributes, *names: str) -> float | None:
    """Return an attribute as a finite number, None where it is not one."""
    try:
        number = float(_value(attributes, *names))
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
