"""Network files: the formats, what files in the wild are like, and what is no graph."""

import csv
import gzip
import io
import json
import os
from contextlib import suppress
from pathlib import Path

import networkx
import numpy as np
import pytest
from helpers.examples import examples
from helpers.speeds import speeds
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network import files, readers
from netbandit.network.edge_latencies import given_latencies
from netbandit.network.geography import latency_nanoseconds
from netbandit.network.topology import Topology, TopologyError, describe

ROOT = Path(__file__).parents[2]
ZOO = ROOT.parent / "shared" / "topozoo"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def load(path, component=None):
    return Topology(files.read(path, component))


def problem(path, component=None):
    with pytest.raises(TopologyError) as caught:
        files.read(path, component)
    ((where, text),) = caught.value.problems
    assert "\n" not in text
    return where, text


def geographic(topology):
    return latency_nanoseconds(topology.coordinates, topology.edges, "error", topology.names)


def graphml(body, edgedefault="undirected"):
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="l" for="node" attr.name="label" attr.type="string"/>'
        '<key id="a" for="node" attr.name="Latitude" attr.type="double"/>'
        '<key id="o" for="node" attr.name="Longitude" attr.type="double"/>'
        '<key id="s" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>'
        f'<graph edgedefault="{edgedefault}">{body}</graph></graphml>'
    )


def node(id_, **data):
    return f'<node id="{id_}">' + "".join(f'<data key="{k}">{v}</data>' for k, v in data.items()) + "</node>"


def link(source, target, speed=None):
    data = "" if speed is None else f'<data key="s">{speed}</data>'
    return f'<edge source="{source}" target="{target}">{data}</edge>'


PATH_OF_THREE = [[0, 1], [1, 2]]


class TestFormats:
    @pytest.mark.parametrize("name", ["net.graphml", "net.xml", "net.GRAPHML", "net.txt", "net"])
    def test_graphml(self, tmp_path, name):
        content = graphml(node(0) + node(1) + node(2) + link(0, 1) + link(1, 2))
        assert load(write(tmp_path, name, content)).edges.tolist() == PATH_OF_THREE

    def test_graphml_in_utf_16(self, tmp_path):
        content = graphml(node(0, l="Zürich")).replace("utf-8", "utf-16").encode("utf-16")
        assert load(write(tmp_path, "net.graphml", content)).names == ["Zürich"]

    def test_gml(self, tmp_path):
        text = """Creator "someone"
        graph [
          node [ id 10 label "A" Latitude 1.5 Longitude 2.5 ] node [ id 9 label "B" ] node [ id 8 label "B" ]
          edge [ source 10 target 9 LinkSpeedRaw 5.0 ] edge [ source 9 target 8 ] edge [ source 8 target 9 ]
        ]"""
        topology = load(write(tmp_path, "net.gml", text))
        assert topology.edges.tolist() == PATH_OF_THREE
        assert topology.names == ["B (8)", "B (9)", "A"]
        assert topology.coordinates[2].tolist() == [1.5, 2.5]
        np.testing.assert_array_equal(speeds(topology), [np.nan, 5.0])

    def test_gml_with_letters_of_all_kinds(self, tmp_path):
        text = 'graph [ node [ id 0 label "Malmö" ] ]'
        assert load(write(tmp_path, "net.gml", text)).names == ["Malmö"]

    @pytest.mark.parametrize(
        ("head", "label"),
        [
            ("", "A"),
            ("", "a multigraph"),
            ("multigraph 0", "B [ graph [ C"),
            ("multigraph 1 directed 1", "D"),
            ("# a multigraph\n", "E"),
        ],
    )
    def test_gml_with_parallel_links_whatever_words_are_in_it(self, tmp_path, head, label):
        edge = "edge [ source 2 target 1 ]"
        nodes = f'node [ id 2 label "F" ] node [ id 1 label "{label}" ]'
        text = f'Creator "graph [ of {label}"\n# graph [\ngraph [ {head} {nodes} {edge} {edge} ]'
        topology = load(write(tmp_path, "net.gml", text))
        assert topology.edges.tolist() == [[0, 1]]
        assert topology.names == [label, "F"]

    @pytest.mark.parametrize("key", ["links", "edges"])
    def test_node_link_json(self, tmp_path, key):
        data = {
            "directed": False,
            "multigraph": False,
            "nodes": [{"id": 2, "label": "C"}, {"id": 0}, {"id": 1}],
            key: [{"source": 0, "target": 1}, {"source": 1, "target": 2, "LinkSpeedRaw": 7}],
        }
        topology = load(write(tmp_path, "net.json", json.dumps(data)))
        assert topology.edges.tolist() == PATH_OF_THREE
        assert topology.names == ["0", "1", "C"]
        assert speeds(topology)[1] == 7

    @pytest.mark.parametrize("name", ["net.edgelist", "net.edges", "net.txt", "net.csv", "net.dat"])
    @pytest.mark.parametrize(
        "text",
        [
            "0 1\n1 2\n",
            "# a comment\n0\t1\n\n% so near\n1\t2\n",
            "0,1,3.5\n1,2,1e3\n",
            "source,target\r\n0,1\r\n1,2\r\n",
            "0 1 {}\n1 2 {'weight': 3}\n",
            "\ufeff0;1\n1;2",
        ],
    )
    def test_edge_list(self, tmp_path, name, text):
        assert load(write(tmp_path, name, text)).edges.tolist() == PATH_OF_THREE

    @given(st.integers(1, 12), st.integers(0, 500), st.sampled_from(["graphml", "gml", "json", "edgelist"]))
    @examples(60)
    def test_what_networkx_writes(self, tmp_path_factory, agents, seed, ending):
        graph = networkx.gnp_random_graph(agents, 0.4, seed=seed)
        graph.add_edges_from(networkx.path_graph(agents).edges)
        path = tmp_path_factory.mktemp("written") / f"net.{ending}"
        if ending == "json":
            path.write_text(json.dumps(networkx.node_link_data(graph, edges="links")))
        elif ending == "edgelist" and agents == 1:
            return
        else:
            getattr(networkx, f"write_{ending}")(graph, path)
        assert load(path).edges.tolist() == Topology(graph).edges.tolist()


LINKS = [["New York", "B#1"], ["B#1", "c"]]


class TestEdgeListsOfOthers:
    """What pandas, R, Gephi and spreadsheets write: quotes, names of columns, an index, signs within names."""

    @pytest.mark.parametrize(
        "text",
        [
            ",source,target,colour\n7,New York,B#1,#ff0000\n3,B#1,c,#00ff00\n",  # pandas, with its index
            '"","from","to"\n"1","New York","B#1"\n"2","B#1","c"\n',  # R
            'Source;Target;Type;Id;Label;Weight\n"New York";B#1;Undirected;0;a b;1\nB#1;c;Undirected;1;;1\n',  # Gephi
            "\ufeffid\tsource\ttarget\r\n1\tNew York\tB#1\r\n2\tB#1\tc\r\n",
            '# "x\n"New York" "B#1" 4\n"B#1" c 5 \n',
            "New York,B#1,{'a': '1, \"2\"'}\nB#1,c,{}\n",
            "source_id , target_id,\nNew York,B#1,\nB#1,c,\n",
        ],
    )
    @pytest.mark.parametrize("packed", [False, True])
    def test_they_are_read_as_they_were_meant(self, tmp_path, text, packed):
        content = text.encode()
        path = write(
            tmp_path, "n.csv.gz" if packed else "n.csv", gzip.compress(content, mtime=0) if packed else content
        )
        graph = files.read(path)
        assert sorted(sorted(graph.nodes[end]["name"] for end in link) for link in graph.edges) == sorted(
            map(sorted, LINKS)
        )

    def test_a_first_line_that_names_columns_is_no_link(self, tmp_path):
        for header in ("id_1,id_2", "V1,V2", "node1,node2", "u,v"):
            assert load(write(tmp_path, "n.csv", f"{header}\n0,1\n2,1\n")).edges.tolist() == PATH_OF_THREE
        assert load(write(tmp_path, "n.csv", "u,v\nu,w\n")).names == ["u", "v", "w"]
        unknown = write(tmp_path, "n.csv", "id_1,id_2\na,b\nb,c\n")
        assert problem(unknown, "largest")[1].endswith(
            "line 1 may be a link or names of columns: no other line names id_1, id_2; "
            'topology.columns = ["from", "to"] says that it is a link'
        )
        assert files.read(unknown, "largest", columns=["from", "to"]).number_of_nodes() == 3

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a,b # so near\nb,c\n", "line 1: # begins a comment only where a line begins"),
            (
                "a b # so near\n",
                "line 1 is not a link: two ids and at most a number, and # begins a comment only where",
            ),
            ("a,b\nb,\n", "line 2 is not a link: two ids and at most a number"),
            ("a,b\n,c\nb,c\n", "line 2 is not a link: an end has no name"),
            ("source,target\na,b,c\n", "line 2 is not a link: 3 fields, but line 1 names 2 columns"),
            ("source,target,source\na,b,c\n", "the column source is there twice"),
            ('a,b\n"b,c\n', "line 2: a double quote is opened and never closed"),
            ("0\t1\n1 2\t0\n", "line 2: has blanks between numbers, but other separators elsewhere"),
            (b"a,b\nb,\xff\n", "line 2: the byte 0xff is not UTF-8: the file must be saved as UTF-8"),
            ("a b {'x': 1\n", "line 1 is not a link: its { is not closed"),
        ],
    )
    def test_what_is_wrong_is_said_with_its_line(self, tmp_path, text, message):
        assert message in problem(write(tmp_path, "n.csv", text))[1]

    @given(
        st.lists(st.tuples(*[st.text(st.sampled_from("ab#%{}'\" ,;."), min_size=1, max_size=4)] * 3), max_size=6),
        st.sampled_from(",;\t"),
        st.booleans(),
    )
    @examples(150)
    def test_ids_are_those_of_the_csv_module(self, tmp_path_factory, rows, separator, header):
        rows = [["hub", f"x{place}", " ".join(row)] for place, row in enumerate(rows)] + [
            [first.strip() or "-", "hub", third] for first, _, third in rows
        ]
        rows = [["hub", "end", "."], *rows]
        text = io.StringIO()
        csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(
            [["source", "target", "note"], *rows] if header else [row[:2] for row in rows]
        )
        found = readers.edge_list(write(tmp_path_factory.getbasetemp(), "n.csv", text.getvalue()))
        assert [link[:2] for link in found.links] == [tuple(row[:2]) for row in rows]
        if header:
            assert [link[2].get("note", "") for link in found.links] == [row[2].strip() for row in rows]


class TestNumbering:
    def test_integers_are_sorted_as_numbers(self, tmp_path):
        topology = load(write(tmp_path, "n.edgelist", "10 9\n9 -1\n"))
        assert topology.names == ["-1", "9", "10"]

    def test_anything_else_as_text(self, tmp_path):
        topology = load(write(tmp_path, "n.edgelist", "10 9\n9 b\n9 a1\n"))
        assert topology.names == ["10", "9", "a1", "b"]

    def test_numbers_of_json(self, tmp_path):
        data = {"nodes": [{"id": 10}, {"id": 9}, {"id": "8"}], "links": [{"source": 9, "target": 10}]}
        data["links"].append({"source": "8", "target": 9})
        assert load(write(tmp_path, "n.json", json.dumps(data))).names == ["8", "9", "10"]

    def test_ids_of_a_grid_of_networkx(self, tmp_path):
        data = networkx.node_link_data(networkx.grid_2d_graph(2, 2), edges="edges")
        assert load(write(tmp_path, "n.json", json.dumps(data))).links == 4


class TestInTheWild:
    def test_parallel_links_become_the_fastest(self, tmp_path):
        body = node(0) + node(1) + node(2) + link(0, 1, 5) + link(1, 0, 9) + link(0, 1) + link(1, 2) + link(0, 1, 7)
        topology = load(write(tmp_path, "n.graphml", graphml(body)))
        assert topology.edges.tolist() == PATH_OF_THREE
        np.testing.assert_array_equal(speeds(topology), [9, np.nan])

    def test_self_loops_are_dropped(self, tmp_path):
        topology = load(write(tmp_path, "n.edgelist", "0 0\n0 1\n1 1\n"))
        assert topology.edges.tolist() == [[0, 1]]

    def test_directed_links_lose_their_direction(self, tmp_path):
        body = node(0) + node(1) + node(2) + link(1, 0) + link(2, 1) + link(1, 2)
        topology = load(write(tmp_path, "n.graphml", graphml(body, "directed")))
        assert topology.edges.tolist() == PATH_OF_THREE

    def test_names(self, tmp_path):
        body = node(0, l="A") + node(1, l="A") + node(2, l="A (0)") + node(3) + node(4, l="")
        body += "".join(link(0, other) for other in range(1, 5))
        topology = load(write(tmp_path, "n.graphml", graphml(body)))
        assert topology.names == ["A (0)'", "A (1)", "A (0)", "3", "4"]

    def test_some_coordinates_are_missing(self, tmp_path):
        body = node(0, a=1.0, o=2.0) + node(1, a=3.0) + link(0, 1)
        topology = load(write(tmp_path, "n.graphml", graphml(body)))
        np.testing.assert_array_equal(topology.coordinates, [[1, 2], [np.nan, np.nan]])

    def test_no_place_of_the_earth(self, tmp_path):
        path = write(tmp_path, "n.graphml", graphml(node("x", a=91.0, o=2.0)))
        assert problem(path) == (
            ("file",),
            f"{path}: node x is at no place of the earth: latitude 91, longitude 2",
        )

    def test_disconnected(self, tmp_path):
        path = write(tmp_path, "n.edgelist", "0 1\n2 3\n3 4\n5 6\n6 7\n")
        where, text = problem(path)
        assert where == ("component",)
        assert "3 components" in text
        assert '"largest"' in text
        topology = load(path, "largest")
        assert topology.names == ["2", "3", "4"]
        assert topology.edges.tolist() == PATH_OF_THREE

    def test_component_is_largest_or_absent(self, tmp_path):
        assert problem(write(tmp_path, "n.edgelist", "0 1"), "smallest")[0] == ("component",)

    def test_one_node(self, tmp_path):
        assert load(write(tmp_path, "n.graphml", graphml(node(7)))).names == ["7"]


NO_GRAPHS = {
    "empty.graphml": b"",
    "blank.edgelist": b"\n \n",
    "nodeless.graphml": graphml("").encode(),
    "nodeless.json": b'{"nodes": [], "links": []}',
    "comments.edgelist": b"# nothing else\n",
    "cut.graphml": graphml(node(0)).encode()[:-20],
    "html.graphml": b"<!DOCTYPE html><html><body><p>404</p></body></html>",
    "number.graphml": graphml(node(0, a="north")).encode(),
    "type.graphml": graphml(node(0)).replace('"double"', '"colour"').encode(),
    "key.graphml": graphml(node(0, unknown=1)).encode(),
    "cut.gml": b'graph [ node [ id 0 label "A" ',
    "id.gml": b'graph [ node [ label "A" ] ]',
    "twice.gml": b"graph [ node [ id 0 ] node [ id 0 ] ]",
    "deep.gml": b"graph [ " + b"a [ " * 20_000,
    "list.json": b"[1, 2, 3]",
    "number.json": b"{3}",
    "table.json": b'{"a": 1}',
    "linkless.json": b'{"nodes": [{"id": 1}]}',
    "idless.json": b'{"nodes": [{"name": 1}], "links": []}',
    "nodes.json": b'{"nodes": [1], "links": []}',
    "links.json": b'{"nodes": [{"id": 1}], "links": [1]}',
    "loose.json": b'{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}',
    "twice.json": b'{"nodes": [{"id": 1}, {"id": 1}], "links": []}',
    "deep.json": b"[" * 200_000,
    "prose.txt": b"This is a file about networks.\nIt is not one.\n",
    "one.edgelist": b"0 1\n2\n",
    "open.edgelist": b"0 1 {'weight'\n",
    "weight.edgelist": b"0 1 heavy\n",
    "photo.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)),
    "photo.graphml": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)),
    "photo.gml": bytes(range(256)),
    "photo.json": bytes(range(256)),
    "photo.edgelist": bytes(range(256)) * 10,
    "zeros.edgelist": bytes(1000),
    "zeros.txt": bytes(1000),
    "nul.edgelist": b"a\0 b\0\n",
    "settings.toml": b"schema = 1\nname = 2\n",
    "readme.md": b"graph theory\nlink state\n",
    "wrong.gml": graphml(node(0)).encode(),
    "wrong.graphml": b"0 1\n1 2\n",
    "wrong.json": b"graph [ node [ id 0 ] ]",
    "wrong.edgelist": b'{"nodes": [{"id": 1}], "links": []}',
}


class TestNoGraphs:
    @pytest.mark.parametrize("name", NO_GRAPHS)
    def test_content(self, tmp_path, name):
        path = write(tmp_path, name, NO_GRAPHS[name])
        where, text = problem(path)
        assert where == ("file",)
        assert text.startswith(f"{path}: ")
        assert len(text) < len(str(path)) + 200

    def test_the_message_says_what_is_wrong(self, tmp_path):
        path = write(tmp_path, "n.edgelist", "0 1\n0 1 2 3\n")
        assert problem(path)[1] == (
            f"{path}: cannot be read as an edge list: line 2 is not a link: two ids and at most a number"
        )
        path = write(tmp_path, "n.gml", graphml(node(0)))
        assert problem(path)[1] == f"{path}: is named as GML, but its content is not (it looks like GraphML)"

    def test_missing(self, tmp_path):
        where, text = problem(tmp_path / "none.graphml")
        assert where == ("file",)
        assert text.endswith("none.graphml: cannot be read: No such file or directory")

    def test_directory(self, tmp_path):
        assert problem(tmp_path)[1] == f"{tmp_path}: is a folder, must be a file"

    def test_impossible_name(self):
        assert problem(Path("a\0b.gml"))[0] == ("file",)
        assert problem(Path("x" * 5000))[0] == ("file",)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_pipe(self, tmp_path):
        os.mkfifo(tmp_path / "net.graphml")
        assert problem(tmp_path / "net.graphml")[1].endswith("is a pipe, must be a file")

    def test_unreadable(self, tmp_path, monkeypatch):
        def refuse(path, mode):
            raise PermissionError(13, "Permission denied", str(path))

        path = write(tmp_path, "n.gml", "")
        monkeypatch.setattr(Path, "open", refuse)
        assert problem(path)[1].endswith("cannot be read: Permission denied")

    @given(st.binary(max_size=60), st.sampled_from([".graphml", ".gml", ".json", ".edgelist", ".txt", ".bin"]))
    @examples(200)
    def test_junk_is_an_error_or_a_graph(self, tmp_path_factory, content, ending):
        path = write(tmp_path_factory.mktemp("junk"), f"junk{ending}", content)
        with suppress(TopologyError):
            assert load(path, "largest").agents > 0

    @given(st.data())
    @examples(150)
    def test_a_damaged_file_is_an_error_or_a_graph(self, tmp_path_factory, data):
        whole = (ROOT / "topologies" / "abilene.graphml").read_bytes()
        start = data.draw(st.integers(0, len(whole)))
        damaged = whole[:start] + data.draw(st.binary(max_size=5)) + whole[start + data.draw(st.integers(0, 40)) :]
        path = write(tmp_path_factory.mktemp("damaged"), "net.graphml", damaged)
        with suppress(TopologyError):
            assert load(path, "largest").agents > 0


LONG = "9" * 400
HOSTILE = [
    "null", "true", LONG, f"-{LONG}.5", "1e400", "-1e-400", "NaN", "Infinity", '"1e400"', f'"{LONG}"', f'"{LONG} ms"',
    '""', f'"0.{LONG} s"', '"\\u0000"', '"1e300 h"', '"NaN ms"', "[]", "{}", "[[1]]", "[" * 900 + "]" * 900, "0",
    "45.5",
]  # fmt: skip


class TestHostileAttributes:
    """Whatever the attributes of nodes and links say, there is a graph, or one line about what is wrong."""

    @staticmethod
    def read(path):
        try:
            topology = load(path, "largest")
            for latencies in (given_latencies, lambda topology, _: geographic(topology)):
                with suppress(TopologyError):
                    assert (latencies(topology, 1_000_000) >= 0).all()
        except TopologyError as error:
            ((_, text),) = error.problems
            assert "\n" not in text

    @given(st.lists(st.sampled_from(HOSTILE), min_size=5, max_size=5))
    @examples(150)
    def test_of_json(self, tmp_path_factory, values):
        latitude, longitude, label, latency, speed = values
        node_ = f'"latitude": {latitude}, "longitude": {longitude}, "label": {label}'
        link_ = f'"source": 1, "target": 2, "latency": {latency}, "LinkSpeedRaw": {speed}'
        text = f'{{"nodes": [{{"id": 1, {node_}}}, {{"id": 2, "lat": 1, "lon": 2}}], "links": [{{{link_}}}]}}'
        self.read(write(tmp_path_factory.mktemp("hostile"), "net.json", text))

    @given(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE))
    @examples(60)
    def test_of_an_edge_list(self, tmp_path_factory, latency, speed):
        text = f"1 2 {{'latency': {latency}, 'LinkSpeedRaw': {speed}, [1]: 2}}\n2 3 {{'latency': {latency}}}\n"
        self.read(write(tmp_path_factory.mktemp("hostile"), "net.edges", text))

    @given(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE), st.sampled_from(HOSTILE))
    @examples(60)
    def test_of_gml(self, tmp_path_factory, latitude, longitude, latency):
        node_ = f"node [ id 1 Latitude {latitude} Longitude {longitude} ]\nnode [ id 2 Latitude 1 Longitude 2 ]"
        text = f"graph [ {node_}\nedge [ source 1 target 2 latency {latency} ] ]"
        self.read(write(tmp_path_factory.mktemp("hostile"), "net.gml", text))

    @pytest.mark.parametrize("value", [10**400, -(10**400), "9" * 5000, float("nan"), object(), [1], b"x"])
    def test_of_a_graph_of_networkx(self, value):
        graph = networkx.path_graph(3)
        graph.add_node(0, latitude=value, longitude=1.0, name=value)
        graph.add_edge(0, 1, speed=value, latency=value)
        topology = Topology(files.of_graph(graph))
        assert np.isnan(topology.coordinates).all() if topology.coordinates is not None else True
        with suppress(TopologyError):
            given_latencies(topology, 1_000_000)


class TestAbilene:
    def test_figures(self):
        topology = load(ROOT / "topologies" / "abilene.graphml")
        assert (topology.agents, topology.links, topology.diameter, topology.radius) == (11, 14, 5, 3)
        assert topology.names[topology.sinks[0]] == "Houston"
        assert not np.isnan(topology.coordinates).any()

    def test_links(self):
        topology = load(ROOT / "topologies" / "abilene.graphml")
        names = [f"{topology.names[u]} - {topology.names[v]}" for u, v in topology.edges.tolist()]
        assert names == [
            "Atlanta - Houston",
            "Atlanta - Indianapolis",
            "Atlanta - Washington DC",
            "Chicago - Indianapolis",
            "Chicago - New York",
            "Denver - Kansas City",
            "Denver - Seattle",
            "Denver - Sunnyvale",
            "Houston - Kansas City",
            "Houston - Los Angeles",
            "Indianapolis - Kansas City",
            "Los Angeles - Sunnyvale",
            "New York - Washington DC",
            "Seattle - Sunnyvale",
        ]


ZOO_FILES = sorted(ZOO.glob("*.graphml"))


@pytest.mark.skipif(not ZOO_FILES, reason="the files of the Internet Topology Zoo are not here")
class TestTopologyZoo:
    @pytest.mark.parametrize("path", ZOO_FILES, ids=lambda path: path.stem)
    def test_against_networkx(self, path):
        graph = networkx.Graph(networkx.read_graphml(path, node_type=int))
        graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
        parts = sorted(networkx.connected_components(graph), key=lambda nodes: (-len(nodes), min(nodes)))
        if len(parts) > 1:
            assert problem(path)[0] == ("component",)
        kept = graph.subgraph(parts[0])
        topology = load(path, "largest")
        ids = sorted(kept)
        assert topology.edges.tolist() == sorted(sorted((ids.index(u), ids.index(v))) for u, v in kept.edges)
        assert topology.diameter == networkx.diameter(kept)
        assert topology.radius == networkx.radius(kept)
        assert topology.sinks == [ids.index(min(networkx.center(kept)))]
        assert len(set(topology.names)) == topology.agents
        for number, id_ in enumerate(ids):
            assert topology.names[number].startswith(str(kept.nodes[id_].get("label", "")))
            place = (kept.nodes[id_].get("Latitude", np.nan), kept.nodes[id_].get("Longitude", np.nan))
            np.testing.assert_array_equal(topology.coordinates[number], place)
        assert describe(topology)["components"] == 1

    def test_speeds(self):
        topology = load(ZOO / "Geant2001.graphml")
        found = speeds(topology)
        found = found[~np.isnan(found)]
        assert len(found) > 0
        assert found.min() > 1e6

    def test_ours_has_the_links_of_theirs(self):
        def named(topology):
            return sorted(sorted(topology.names[end] for end in link) for link in topology.edges.tolist())

        assert named(load(ROOT / "topologies" / "abilene.graphml")) == named(load(ZOO / "Abilene.graphml"))


class TestFiguresThatAreNotTaken:
    """Whatever a link says of itself that a scenario could say of it, and that is not taken, is named."""

    @pytest.mark.parametrize(
        ("name", "text", "named"),
        [
            ("n.csv", "source,target,colour,latency_ms\na,b,red,3\nb,c,blue,4\n", "colour"),
            (
                "n.csv",
                "from;to;bandwidth_kbit;loss\nnew york;b;20;.1\nb;c;20;.2\n",
                'bandwidth_kbit (links.peer.bandwidth = "20 kbit/s"), loss (all links have the same: links.peer.loss)',
            ),
            ("n.csv", "from;to;weight\na;b;3\n", "weight"),
            ("n.edgelist", "a b 3.5\nb c 4\n", "the third column"),
            ("n.edgelist", 'a b {"latency_ms": 3}\nb c {"Bandwidth": 2, "colour": 1}\n', "Bandwidth, colour"),
            ("n.edgelist", 'a b {"packet_loss": 0.1, "bw": 3}\n', "bw, packet_loss"),
            (
                "n.json",
                '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "rtt": 4, "key": 0}]}',
                "rtt",
            ),
            (
                "n.gml",
                "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 delay 4 label 7 ] ]",
                "delay",
            ),
        ],
    )
    def test_of_files(self, tmp_path, name, text, named):
        said = files.unused(files.read(write(tmp_path, name, text)))
        assert said.endswith(f"; not used: {named}")
        assert 'links.peer.latency = "edges"' in said

    @pytest.mark.parametrize(
        "text",
        [
            "source,target,Latency_ms\na,b,2\n",
            "source,target\na,b\n",
            "a b\n",
            'a b {"latency": "3 ms"}\n',
            'a b {"label": "red", "LinkSpeedRaw": 3.0}\n',
        ],
    )
    def test_there_are_none(self, tmp_path, text):
        assert files.unused(files.read(write(tmp_path, "n.edgelist", text))) == ""

    def test_of_graphs(self):
        graph = networkx.path_graph(3)
        networkx.set_edge_attributes(graph, 3, "latency_ms")
        assert files.unused(files.of_graph(graph)) == ""
        networkx.set_edge_attributes(graph, 3, "jitter_ms")
        assert files.unused(files.of_graph(graph)).endswith("not used: jitter_ms")
        assert files.unused(files.of_graph(networkx.path_graph(3))) == ""
