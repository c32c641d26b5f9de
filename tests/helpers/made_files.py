"""Files of all kinds that are read, made from known contents, in the dialects of those who write them.

Each file says what was written. Its reader makes of it that, or refuses it with one line; where it must not be refused,
and where it must be, is known, too.
"""

import csv
import gzip
import io
import json
from collections.abc import Callable
from math import ceil
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from netbandit.bandits import reward_tables
from netbandit.bandits.table_sources import TableError
from netbandit.conditions.compute_plan import read_devices
from netbandit.conditions.energy_plan import read_harvest
from netbandit.conditions.feedback_plan import read_delays
from netbandit.network import contact_files, files, track_files
from netbandit.network.contacts import FOR_EVER
from netbandit.network.delays import INFINITE
from netbandit.network.edge_latencies import given_latencies
from netbandit.network.topology import Topology, TopologyError
from netbandit.util.table_files import TableFileError

S = 10**9
MS = 10**6
ODD_NAMES = [
    "NA",
    "nan",
    "01",
    "1.0",
    "é",
    "a b",
    "x,y",
    "x;y",
    "a#b",
    "#1",
    "%p",
    "t:",
    'say "x"',
    "null",
    "-1",
    "1e2",
]
SIGNS = [",", ";", "\t", '"', "\n", "\r", "#", " ", "0", "1", ".", "x", "-", "{", "<", "]", "\0", "\ufeff", "é"]


class File(NamedTuple):
    """A file, and what is to be made of it.

    Attributes:
        kind: What it is a file of.
        name: What it is called.
        content: Its bytes.
        read: Reads it.
        expected: What is in it.
        refusal: Whether it is refused: it "must" be, it "may" be, or it may "not".
    """

    kind: str
    name: str
    content: bytes
    read: Callable[[Path], Any]
    expected: Any
    refusal: str = "not"


def made(seed: int) -> File:
    """Return a file made from a seed."""
    rng = Random(seed)
    file = rng.choice(KINDS)(rng)
    if rng.random() < 0.25:
        content = file.content
        for _ in range(rng.randint(1, 3)):
            place, sign = rng.randrange(len(content) + 1), rng.choice(SIGNS).encode()
            content = content[:place] + (sign if rng.random() < 0.6 else b"") + content[place + rng.randint(0, 3) :]
        file = file._replace(kind=f"{file.kind}, damaged", content=content, expected=None, refusal="may")
    if file.name.endswith(PACKED) and rng.random() < 0.2:
        packed = gzip.compress(file.content, 1, mtime=0)
        file = file._replace(content=packed, name=f"{file.name}.gz" if rng.random() < 0.7 else file.name)
    return file


PACKED = (".csv", ".tsv", ".txt", ".edgelist", ".gml", ".graphml", ".json")


def verdict(file: File, folder: Path) -> str:
    """Return what is wrong with what a reader makes of a file; "": nothing is."""
    path = folder / file.name
    path.write_bytes(file.content)
    try:
        found = file.read(path)
    except (TopologyError, TableFileError, TableError) as error:
        texts = [text for _, text in error.problems] if isinstance(error, TopologyError) else [str(error)]
        if not texts or not all(text.strip() and "\n" not in text for text in texts):
            return f"not said in a line: {texts}"
        return f"refused: {texts[0]}" if file.refusal == "not" else ""
    if file.kind.endswith("damaged"):
        return ""
    if file.refusal == "must":
        return f"not refused: {found}"
    return "" if found == file.expected else f"{found} != {file.expected}"


class Dialect:
    """How rows are written: separator, quotes, line ends, a byte order mark, comments and blank lines."""

    def __init__(self, rng: Random, separators: str = ",;\t", *, blank_lines: bool = True) -> None:
        self.rng = rng
        self.separator = rng.choice(separators)
        self.end = rng.choice(["\n", "\n", "\r\n", "\r"])
        self.quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        self.between = ["# a, comment", "  # 1;2\t3", *(["", "  "] if blank_lines else [])]

    def row(self, cells: list[str]) -> str:
        if self.separator == " ":
            return (" " * self.rng.choice([1, 1, 3])).join(
                f'"{cell.replace(chr(34), chr(34) * 2)}"' if set(cell) & set(' ",;\t#%{') or not cell else cell
                for cell in cells
            )
        text = io.StringIO()
        hard = any(set(cell) & set(',;\t"') for cell in cells) or cells[0][:1] in ("#", "%", "")
        csv.writer(
            text, delimiter=self.separator, lineterminator="", quoting=csv.QUOTE_ALL if hard else self.quoting
        ).writerow(cells)
        return text.getvalue()

    def encoded(self, lines: list[str]) -> bytes:
        written = []
        for line in lines:
            if self.rng.random() < 0.1:
                written.append(self.rng.choice(self.between))
            written.append(line)
        text = self.end.join(written) + (self.end if self.rng.random() < 0.7 else "")
        return text.encode("utf-8-sig" if self.rng.random() < 0.2 else "utf-8")


def _names(rng: Random, count: int, *, odd: bool = True) -> list[str]:
    pools = [list(map(str, range(count))), list(map(str, range(1, count + 1))), [f"n{node}" for node in range(count)]]
    pools += [["Oslo", "Bergen", "Bodo", "Ålesund", "Molde", "Mo i Rana", "Voss", "Røros", "Fauske"][:count]]
    if odd:
        pools.append(rng.sample(ODD_NAMES, min(count, 9)))
    names = rng.choice([pool for pool in pools if len(pool) == count])
    return rng.sample(names, count)


def _in_order(names: list[str]) -> list[str]:
    """Return names in the order of agents."""
    whole = all(name.lstrip("-").isdigit() for name in names)
    return sorted(names, key=(lambda name: (int(name), name)) if whole else None)


class _Net(NamedTuple):
    """A connected network: its links by names, and the latency of each (ms)."""

    names: list[str]
    links: list[tuple[str, str]]
    latency: dict[frozenset[str], int]


def _net(rng: Random, least: int = 2) -> _Net:
    names = _names(rng, rng.randint(least, 9))
    links = [(names[place], names[rng.randrange(place)]) for place in range(1, len(names))]
    for _ in range(rng.randint(0, 6)):
        one, other = rng.sample(names, 2)
        if {one, other} not in map(set, links):
            links.append((one, other))
    links = [link if rng.random() < 0.5 else link[::-1] for link in links]
    rng.shuffle(links)
    return _Net(names, links, {frozenset(link): rng.randint(1, 60) for link in links})


def _graph_of(path: Path, *, latencies: bool = False) -> Any:
    """Return the links of a file by names, and their latencies (ms)."""
    topology = Topology(files.read(path))
    ends = [frozenset(topology.names[end] for end in link) for link in topology.edges.tolist()]
    if not latencies:
        return set(ends)
    return dict(zip(ends, (given_latencies(topology, MS) // MS).tolist(), strict=True))


def _latencies_of(path: Path) -> Any:
    return _graph_of(path, latencies=True)


def edge_list(rng: Random) -> File:
    net = _net(rng)
    dialect = Dialect(rng, ",;\t ")
    repeated = [*net.links, *(link[:: rng.choice([1, -1])] for link in net.links if rng.random() < 0.1)]
    header = rng.choice([["source", "target"], ["from", "to"], ["Start", "END"], ["dst_id", "src_id"], []])
    third = rng.choice(["latency_ms", "latency", "colour", "", ""]) if header else rng.choice(["braces", "number", ""])
    conflict = third in ("latency_ms", "latency", "braces") and rng.random() < 0.2
    refusal, rows = "not" if header else "may", []
    told = {link: net.latency[link] for link in net.latency}
    for place, link in enumerate(repeated):
        latency = told[frozenset(link)]
        if conflict and place == 0:
            refusal = "must"
            repeated = [*repeated, link[::-1]]
            rows.append((link[::-1], latency + 1))
        rows.append((link, latency))
    index = rng.choice(["id", "", None, None, None]) if header and dialect.separator != " " else None
    count = [] if index is None else [index]
    lines = [dialect.row([*count, *header, *([third] if third and header else [])])] if header else []
    for number, (link, latency) in enumerate(rows):
        cells = [*([] if index is None else [f"{number}"]), *link]
        if third in ("latency_ms", "latency", "colour"):
            cells.append({"latency_ms": f"{latency}", "latency": f"{latency} ms"}.get(third, rng.choice(ODD_NAMES)))
        elif third == "number":
            cells.append(rng.choice([f"{latency}", f"{latency}.5"]))
        braces = f"{dialect.separator}{{'latency': '{latency} ms'}}" if third == "braces" else ""
        lines.append(dialect.row(cells) + braces)
    used = third in ("latency_ms", "latency", "braces")
    return File(
        "edge list", rng.choice(["net.csv", "net.edgelist", "net.txt"]), dialect.encoded(lines),
        _latencies_of if used else _graph_of, told if used else set(told), refusal,
    )  # fmt: skip


def network_file(rng: Random) -> File:
    net = _net(rng)
    form = rng.choice(["graphml", "gml", "json"])
    graph = rng.choice([nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph])()
    ids = list(range(len(net.names)))
    rng.shuffle(ids)
    by_label = form == "gml" or rng.random() < 0.5
    of = dict(zip(net.names, ids if by_label else net.names, strict=True))
    for name in rng.sample(net.names, len(net.names)):
        graph.add_node(of[name], **({"label": name} if by_label else {}), Latitude=1.0, Longitude=2.0)
    conflict = rng.random() < 0.15
    for place, link in enumerate(net.links):
        latency = net.latency[frozenset(link)]
        written: dict[str, Any] = rng.choice([{"latency_ms": latency}, {"latency": f"{latency} ms"}])
        graph.add_edge(of[link[0]], of[link[1]], **written)
        several = graph.is_directed() or graph.is_multigraph()
        if several and (rng.random() < 0.2 or (conflict and place == 0)):
            graph.add_edge(of[link[1]], of[link[0]], latency_ms=latency + (conflict and place == 0))
        conflict &= several
    text = io.BytesIO()
    if form == "graphml":
        nx.write_graphml(graph, text)
    elif form == "gml":  # the ids are numbers, and the labels names
        lines = ["graph [", f"directed {int(graph.is_directed())}", *([] if rng.random() < 0.5 else ["multigraph 1"])]
        for node, data in graph.nodes(data=True):
            label = data["label"].replace("&", "&amp;").replace('"', "&quot;")
            label = "".join(sign if sign.isascii() else f"&#{ord(sign)};" for sign in label)
            lines.append(f'node [ id {node} label "{label}" ]')
        for one, other, data in graph.edges(data=True):
            said = " ".join(f"{key} {json.dumps(value)}" for key, value in data.items())
            lines.append(f"edge [ source {one} target {other} {said} ]")
        text.write(rng.choice(["\n", "\r\n"]).join([*lines, "]"]).encode())
    else:
        data = nx.node_link_data(graph, edges=rng.choice(["links", "edges"]))
        text.write(
            json.dumps(data, indent=rng.choice([None, 1])).encode("utf-8-sig" if rng.random() < 0.2 else "utf-8")
        )
    return File(form, f"net.{form}", text.getvalue(), _latencies_of, net.latency, "must" if conflict else "not")


def other_format(rng: Random) -> File:
    """The same network in a format that is not read, or with lines that are no links."""
    net = _net(rng, 3)
    plain = {name: str(place) for place, name in enumerate(net.names, rng.choice([0, 1]))}
    named = rng.random() < 0.4 and not any(set(name) & set(' ",;\t#%:{') for name in net.names)
    known = {name: name if named else plain[name] for name in net.names}
    graph = nx.Graph((known[one], known[other]) for one, other in net.links)
    nodes, count, links = list(graph), len(graph), list(graph.edges)
    numbers = {node: place for place, node in enumerate(nodes, 1)}
    sign = rng.choice(" \t,;")
    weight = rng.choice([[], ["1"], ["7"]])
    body = [sign.join([*link, *weight]) for link in links]
    forms: dict[str, list[str]] = {
        "adjacency list": list(nx.generate_adjlist(graph, sign)),
        "whole adjacency list": [sign.join([node, *graph[node]]) for node in nodes],
        "adjacency list with colons": [f"{node}: {' '.join(graph[node])}" for node in nodes],
        "multiline adjacency list": list(nx.generate_multiline_adjlist(graph)),
        "counts": [sign.join(map(str, (count, len(links)))), *body],
        "counts of rows and columns": [sign.join(map(str, (count, count, len(links)))), *body],
        "a count": [str(count), *body],
        "METIS": [f"{count} {len(links)}", *(" ".join(str(numbers[other]) for other in graph[node]) for node in nodes)],
        "Matrix Market": [
            "%%MatrixMarket matrix coordinate pattern symmetric", f"{count} {count} {len(links)}",
            *(f"{numbers[one]} {numbers[other]}" for one, other in links),
        ],
        "DIMACS": [f"p edge {count} {len(links)}", *(f"e {numbers[one]} {numbers[other]}" for one, other in links)],
        "links with their kind": [sign.join(["e", *link]) for link in links],
        "matrix": [sign.join(str(int(graph.has_edge(one, other))) for other in nodes) for one in nodes],
        "TGF": [*(f"{numbers[node]} {node}" for node in nodes), "#", *(f"{numbers[a]} {numbers[b]}" for a, b in links)],
        "Pajek": [*nx.generate_pajek(graph)],
        "node table": ["id,degree", *(f"{numbers[node]},{graph.degree(node)}" for node in nodes)],
        "some weights": [*body[:1], *(sign.join([*link, *([] if weight else ["3"])]) for link in links[1:])],
    }  # fmt: skip
    form = rng.choice(list(forms))
    content = "\n".join(forms[form]) + "\n"
    expected = {frozenset(link) for link in links}
    return File(form, rng.choice(["net.txt", "net.csv", "net.edgelist"]), content.encode(), _graph_of, expected, "may")


def devices(rng: Random) -> File:
    names = _in_order(_names(rng, rng.randint(1, 9), odd=False))
    agents = len(names)
    speeds = [rng.randint(1, 400) / 4 for _ in names]
    by = rng.choice(["agent", "agent_id", "device", "node", "number", "where", ""])
    order = rng.sample(range(agents), agents)
    wrong = rng.choice(["", "", "", "missing", "unknown", "twice", "empty"]) if by else rng.choice(["", "", "empty"])
    others = rng.sample(["cores", "brand", "note"], rng.randint(0, 2))
    columns = [*([by] if by else []), "computation", *others]
    called = [str(place) if by == "number" else name for place, name in enumerate(names)]
    if by == "where" and any(name.isdigit() for name in names):
        by, wrong = "", ""  # numbers in a column of any name are none of agents
    if by and by != "agent" and by != "agent_id" and (wrong or any(name.isdigit() for name in names)):
        wrong = "" if wrong in ("missing", "twice", "unknown") else wrong  # rows may then be by position
    if by == "number" and {*called} & {*names} and called != names:
        order, wrong = list(range(agents)), ""  # rows are by position
    rows = []
    for place in order if by else range(agents):
        cell = {"computation": f"{speeds[place]:g}", "cores": "4", "brand": rng.choice(["x", "y"]), "note": "a, b"}
        if len(columns) > 1 + len(others):
            cell[columns[0]] = called[place]
        rows.append([cell[name] for name in columns])
    value = columns.index("computation")
    if wrong == "missing" and agents > 1:
        rows.pop(rng.randrange(agents))
    elif wrong == "unknown":
        rows[rng.randrange(agents)][0] = "nobody"
    elif wrong == "twice" and agents > 1:
        rows[0][0] = rows[1][0]
    elif wrong == "empty":
        rows[rng.randrange(agents)][value] = ""
    else:
        wrong = ""
    shuffled = rng.sample(range(len(columns)), len(columns))
    dialect = Dialect(rng, blank_lines=len(columns) > 1)
    lines = [dialect.row([row[place] for place in shuffled]) for row in [columns, *rows]]

    def read(path: Path) -> Any:
        table = read_devices(path, "computation")
        return [round(table.speeds[row] * sum(speeds) / agents, 6) for row in table.whose(names).rows]

    must = "must" if wrong else "not"
    return File("devices", "devices.csv", dialect.encoded(lines), read, [round(one, 6) for one in speeds], must)


def delays(rng: Random) -> File:
    by = rng.choice(["all", "arm", "agent"])
    count = 1 if by == "all" else rng.randint(1, 5)
    names = _in_order(_names(rng, count, odd=False)) if count > 1 else ["0"]
    called = list(map(str, range(count))) if by == "arm" or rng.random() < 0.3 else names
    listed = [[rng.choice([None, rng.randint(0, 9999)]) for _ in range(rng.randint(1, 4))] for _ in range(count)]
    rows = [(called[place], time) for place, times in enumerate(listed) for time in times]
    groups = rng.sample(range(count), count)
    rows = [row for place in groups for row in rows if row[0] == called[place]]
    doubtful = by == "agent" and called != names and {*called} & {*names}
    wrong = by == "agent" and (doubtful or rng.random() < 0.15)
    if wrong and not doubtful:
        rows.append(("nobody", 3))
    header = ["DELAY"] if by == "all" else rng.sample(["DELAY", by.upper()], 2)
    dialect = Dialect(rng, blank_lines=by != "all")
    lines = [dialect.row(header)]
    for group, time in rows:
        cell = {"DELAY": "" if time is None else f"{time / 1000:g}", by.upper(): group}
        bare = by == "all" and time is None and rng.random() < 0.7
        lines.append("" if bare else dialect.row([cell[name] for name in header]))
    if not lines[-1]:
        lines[-1] = '""'  # else a line's end may be missing

    def read(path: Path) -> Any:
        found = read_delays(path)
        return found.by, [
            [None if t == INFINITE else round(t / MS) for t in law.delays]
            for law in found.in_order(names, list(map(str, range(count))))
        ]

    return File("delays", "delays.csv", dialect.encoded(lines), read, (by, listed), "must" if wrong else "not")


def harvest(rng: Random) -> File:
    times = sorted(rng.sample(range(10_000), rng.randint(1, 6)))
    rows = [(time / 8, rng.randint(0, 99) / 1000) for time in times]
    back = len(rows) > 1 and rng.random() < 0.15
    dialect = Dialect(rng)
    lines = [dialect.row(["FROM", "WATT"]), *(dialect.row([str(t), str(w)]) for t, w in rows[:: -1 if back else 1])]
    expected = [(round(time * S), round(watt * S)) for time, watt in rows]
    return File("harvest", "sun.csv", dialect.encoded(lines), read_harvest, expected, "must" if back else "not")


def rewards(rng: Random) -> File:
    names = _in_order(_names(rng, rng.randint(2, 6), odd=False))
    arms = rng.sample(["wifi", "lora", "NA", "1", "01", "a b"], rng.randint(1, 4))
    paid = {(agent, slot, arm): rng.randint(-9, 9) / 2 for agent in names for slot in range(3) for arm in arms}
    columns = rng.sample(["agent", "slot", "arm", "reward", "note"], 5)
    rows = [dict(zip(("agent", "slot", "arm", "reward", "note"), (*map(str, key), f"{pay:g}", "x"), strict=True))
            for key, pay in paid.items()]  # fmt: skip
    rng.shuffle(rows)
    first = list(dict.fromkeys(row["arm"] for row in rows))
    wrong = rng.choice(["", "", "", "other agent", "lacks one"])
    if wrong == "other agent":
        for row in rows:
            row["agent"] = "nobody" if row["agent"] == names[0] else row["agent"]
    elif wrong:
        rows.pop()
    dialect = Dialect(rng)
    lines = [dialect.row(columns), *(dialect.row([row[name] for name in columns]) for row in rows)]

    def read(path: Path) -> Any:
        found = reward_tables.read(path)
        try:
            found = found.of_agents(names)
        except ValueError as error:
            raise TableError(str(error)) from None
        return list(found.arms), None if found.rows is None else found.rows.tolist()

    expected = [[[paid[agent, slot, arm] for arm in first] for agent in names] for slot in range(3)]
    return File("rewards", "rewards.csv", dialect.encoded(lines), read, (first, expected), "must" if wrong else "not")


def contacts(rng: Random) -> File:
    names = _names(rng, rng.randint(2, 6), odd=False)
    form = rng.choice(["one", "moments", "intervals", "ion"])
    window = 20
    meet = []
    for one, other in {tuple(sorted(rng.sample(names, 2))) for _ in range(rng.randint(1, 6))}:
        time = rng.randint(0, 50)
        for _ in range(rng.randint(1, 3)):
            lasts = window if form == "moments" else rng.randint(1, 30)
            meet.append((one, other, time, time + lasts))
            time += lasts + rng.randint(1, 40)
    if any(" " in name for name in names) and form in ("one", "ion"):
        names = [name.replace(" ", "_") for name in names]
        meet = [(one.replace(" ", "_"), other.replace(" ", "_"), begin, end) for one, other, begin, end in meet]
    used = {name for one, other, *_ in meet for name in (one, other)}
    dialect = Dialect(rng, ",; ")
    rng.shuffle(meet)
    ends = [contact[:2] if rng.random() < 0.5 else contact[1::-1] for contact in meet]
    if form == "intervals":
        header = rng.sample(["A", "B", "FROM", "UNTIL", "note"], 5)
        said = [dict(zip(("A", "B", "FROM", "UNTIL", "note"), (*pair, str(begin), str(end), "x"), strict=True))
                for pair, (*_, begin, end) in zip(ends, meet, strict=True)]  # fmt: skip
        lines = [dialect.row(header), *(dialect.row([row[name] for name in header]) for row in said)]
    elif form == "moments":
        rows = sorted((begin, *pair) for pair, (*_, begin, _end) in zip(ends, meet, strict=True))
        further = rng.choice([[], ["1A", "2B"]])
        lines = [dialect.row([str(time), one, other, *further]) for time, one, other in rows]
    elif form == "one":
        moments = [(begin, "up", *pair) for pair, (*_, begin, _end) in zip(ends, meet, strict=True)]
        moments += [(end, "down", *pair[::-1]) for pair, (*_, end) in zip(ends, meet, strict=True)]
        lines = [f"{time} CONN {one} {other} {state}" for time, state, one, other in sorted(moments)]
    else:
        lines = [f"a contact +{begin} +{end} {one} {other} 1000" for (one, other, begin, end) in meet]
        lines += [f"a contact +{begin} +{end} {other} {one} 1000" for (one, other, begin, end) in meet]
        rng.shuffle(lines)
    readers = {
        "one": contact_files.one,
        "moments": lambda lines: contact_files.moments(lines, window * S),
        "intervals": contact_files.intervals,
        "ion": contact_files.ion,
    }

    def read(path: Path) -> Any:
        found = contact_files.meetings(contact_files.read(path, readers[form]), 0, FOR_EVER)
        link = np.repeat(np.arange(len(found.edges)), np.diff(found.contacts.first))
        pairs = [tuple(sorted(found.names[end] for end in found.edges[place])) for place in link]
        return found.names, sorted(
            (*pair, begin // S, ceil(end / S))
            for pair, (begin, end) in zip(pairs, found.contacts.times.tolist(), strict=True)
        )

    expected = sorted((*sorted(contact[:2]), *contact[2:]) for contact in meet)
    return File(f"contacts, {form}", "trace.txt", dialect.encoded(lines), read, (_in_order(list(used)), expected))


def tracks(rng: Random) -> File:
    form = rng.choice(["one", "ns2", "bonnmotion"])
    count = rng.randint(1, 5)
    named = [name.replace(" ", "_") for name in _names(rng, count, odd=False)]
    names = _in_order(named if form == "one" else list(map(str, range(count))))
    paths = {
        name: [(time, rng.randint(0, 900) / 4, rng.randint(0, 900) / 4) for time in sorted(rng.sample(range(99), 3))]
        for name in names
    }
    if form == "one":
        moments = sorted((time, name, x, y) for name, path in paths.items() for time, x, y in path)
        lines = ["0 100 0 900 0 900", *(f"{time} {name} {x + 0:g} {y:g}" for time, name, x, y in moments)]
    elif form == "bonnmotion":
        lines = [" ".join(f"{time} {x:g} {y:g}" for time, x, y in paths[name]) for name in names]
    else:
        paths = {name: [(0, *path[0][1:])] for name, path in paths.items()}
        lines = [
            f"$node_({name}) set {axis}_ {at:g}"
            for name in names
            for axis, at in zip("XY", paths[name][0][1:], strict=True)
        ]
        rng.shuffle(lines)
    if form == "bonnmotion":
        lines.insert(0, "#2D")
    dialect = Dialect(rng)
    reader = getattr(track_files, form)

    def read(path: Path) -> Any:
        found = contact_files.read(path, reader)
        return found.names, [
            [(time // S, *place) for time, place in zip(times.tolist(), places.tolist(), strict=True)]
            for times, places in found.points
        ]

    return File(f"tracks, {form}", "tracks.txt", dialect.encoded(lines), read, (names, [paths[name] for name in names]))


KINDS = [
    *(edge_list, network_file, other_format) * 2, devices, delays, harvest, rewards, contacts, tracks,
]  # fmt: skip
