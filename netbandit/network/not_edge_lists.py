"""Detects files that look like edge lists and are not: their lines would be read as links that do not exist."""

import re
from collections import Counter
from collections.abc import Sequence

from netbandit.util.table_files import listed, number, shown
from netbandit.util.text import pluralize

_FORMATS = {
    "Matrix Market": rb"\A%%MatrixMarket",
    "DIMACS": rb"(?m)^p[ \t]+[a-z]+[ \t]+\d+[ \t]+\d+[ \t]*\r?$",
    "Pajek": rb"(?i)\A(\s*%.*\n)*\s*\*(vertices|network|arcs|edges)\b",
    "Graphviz": rb"(?m)^(strict[ \t]+)?(di)?graph\b[^\[\]{}\n]*\{[ \t]*\r?$",
    "UCINET DL": rb"(?i)\A\s*dl\b[^\n]*\bn\s*=",
    "GDF": rb"(?i)\A\s*nodedef\s*>",
    "LEDA": rb"\A\s*LEDA\.GRAPH",
    "graph6": rb"\A>>(graph6|sparse6|digraph6)<<",
}
_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")
_NAMED = 'topology.columns = ["from", "to"{}] says that {}'
_WRITES = "networkx.write_edgelist writes one that is read here"


def named_format(content: bytes) -> str | None:
    """Return the format of *content*, recognised by its first lines; None: none of the known ones."""
    found = next((name for name, begins in _FORMATS.items() if re.search(begins, content)), None)
    return found or ("Trivial Graph Format" if _is_tgf(content) else None)


def _is_tgf(content: bytes) -> bool:
    """Return whether nodes stand before a line ``#``, and links between them behind it."""
    parts = re.split(rb"(?m)^[ \t]*#[ \t]*\r?$", content, maxsplit=1)
    nodes, links = ([line.split()[:2] for line in part.splitlines() if line.strip()] for part in (*parts, b"")[:2])
    ids = [words[0] for words in nodes if not words[0].startswith(b"#")]
    known = set(ids)
    return bool(ids and links) and len(known) == len(ids) and all(known.issuperset(ends) for ends in links)


def other_format(rows: Sequence[Sequence[str]]) -> str | None:
    """Return a message if rows without column names are in another known format; None: they are not.

    Args:
        rows: The fields of each line.
    """
    if not all(rows):
        return None
    first, *rest = rows
    widths = {len(row) for row in rows}
    three_links = _NAMED.format(', "weight"', "it is none") if widths == {3} else ""
    square = len(rows) > 2 and widths == {len(rows)} and all(number(cell) is not None for row in rows for cell in row)
    if square and (not three_links or [*map(list, zip(*rows, strict=True))] == [*map(list, rows)]):
        text = f"is a matrix of {len(rows)} rows and columns: networkx.from_numpy_array reads it, and {_WRITES}"
        return "; ".join(filter(None, (text, three_links)))
    if rest and all(map(_WHOLE.fullmatch, first)) and (message := _counted(list(map(int, first)), rest)):
        return message
    nodes = [row[0].rstrip(":") for row in rows]
    others = [row[1:] for row in rows]
    ids = {*nodes, *(cell for row in others for cell in row[:1])}
    marked = all(row[0].endswith(":") for row in rows)
    lists = all(
        len({node, *row}) == 1 + len(row) and ids.issuperset(row[1:]) for node, row in zip(nodes, others, strict=True)
    )
    if not lists or "" in ids or len(set(nodes)) < len(rows) or widths == {1} or (widths == {2} and not marked):
        return None
    text = f"is an adjacency list, a node and its neighbours a line: networkx.read_adjlist reads it, and {_WRITES}"
    return "; ".join(filter(None, (text, three_links)))


def _counted(counts: Sequence[int], rest: Sequence[Sequence[str]]) -> str | None:
    """Return that the first line counts nodes and links, if what it says fits the *rest*."""
    lines, fields = len(rest), [cell for row in rest for cell in row]
    ends = {cell for row in rest for cell in row[:2]}
    neighbours = {(str(node), cell) for node, row in enumerate(rest, start=1) for cell in row}
    both_ways = len(neighbours) == len(fields) and all((other, node) in neighbours for node, other in neighbours)
    if counts[0] == lines and counts[1:2] == [len(fields) / 2] and both_ways:
        return "is METIS, where each line lists the neighbours of a node: a line must be a link, of two ids"
    some = [*((counts[0], links) for links in counts[1:3]), *((counts[1], counts[0]) for _ in counts[1:2] if lines > 2)]
    if not any(
        (links == lines and nodes > len(ends) and lines > 2)  # some nodes may have no link
        or (nodes == len(ends) and lines in (links, 2 * links))
        for nodes, links in some
    ):
        return None
    counted = f"the first line may count the nodes and the {pluralize(lines, 'line')} behind it: then it must go"
    if all(len(row) == len(counts) for row in rest):
        counted += "; " + _NAMED.format(', "weight"' * (len(counts) - 2), "it is a link")
    return counted


def doubtful(rows: Sequence[Sequence[str]], lines: Sequence[int]) -> str | None:
    """Return why *rows* of two ids, or two ids and a number, may not be links; None: they are.

    Args:
        rows: The fields of each line, of which the last may be empty.
        lines: The number of each.
    """
    counts = Counter(map(len, rows))
    if len(counts) > 1 and len({bool(row[2:] and row[2]) for row in rows}) > 1:
        (usual, _), (seldom, _) = counts.most_common(2)
        index = next(index for index, row in enumerate(rows) if len(row) == seldom)
        return f"line {lines[index]} has {seldom} fields, others have {usual}: a third one must be in all lines or none"
    if len(rows) < 2 or not any(row[2:] and row[2] for row in rows):
        return None
    firsts, seconds, thirds = zip(*(row[:3] for row in rows), strict=True)
    ends = _NAMED.format(', "weight"', "the first two are the ends")
    cure = f"{ends}, and a first line of the names kind, source, target that the last are"
    if len(set(firsts)) == 1:
        return f"the first field is {shown(firsts[0])} in all lines: {cure}"
    if len(set(thirds)) > 1 and {*firsts, *seconds}.issuperset(thirds):
        return f"the third fields are ids of nodes, too ({listed(list(dict.fromkeys(thirds)))}): {cure}"
    if len(set(thirds)) > 1 and _count_lines(firsts) and _connected(list(zip(seconds, thirds, strict=True))):
        return f"the first field counts the lines, and the others may be the link: {cure}"
    return None


def _count_lines(cells: Sequence[str]) -> bool:
    if not all(map(_WHOLE.fullmatch, cells)):
        return False
    begin = int(cells[0])
    return [int(cell) for cell in cells] == list(range(begin, begin + len(cells)))


def _connected(links: Sequence[tuple[str, str]]) -> bool:
    """Return whether links are those of a connected graph without self loops."""
    import networkx

    return all(one != other for one, other in links) and bool(networkx.is_connected(networkx.Graph(list(links))))
