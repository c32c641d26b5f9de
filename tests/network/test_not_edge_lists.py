"""What looks like an edge list and is none is refused by its name, with a cure that cures."""

import random

import networkx
import pytest

from netbandit.network import files
from netbandit.network.edge_latencies import given_latencies
from netbandit.network.topology import Topology, TopologyError

MS = 10**6


def write(folder, text, name="net.txt"):
    (folder / name).write_text(text)
    return folder / name


def refused(path, component="largest", columns=None):
    """Return the message; where "largest" is taken, no component is said to be one."""
    with pytest.raises(TopologyError) as error:
        files.read(path, component, columns)
    ((where, text),) = error.value.problems
    assert where == ("file",)
    assert "\n" not in text
    return text


def links(path, columns=None):
    graph = files.read(path, columns=columns)
    return {frozenset(graph.nodes[end]["name"] for end in link) for link in graph.edges}


NAMED = {
    "Matrix Market": "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 4\n2 1\n3 1\n4 1\n5 1\n",
    "DIMACS": "c of a lecture\np edge 5 4\ne 1 2\ne 1 3\ne 1 4\ne 1 5\n",
    "Pajek": "*Vertices 3\n1 a\n2 b\n3 c\n*Edges\n1 2\n2 3\n",
    "Graphviz": "graph {\na -- b\nb -- c\n}\n",
    "UCINET DL": "dl n=3 format=edgelist1\ndata:\n1 2\n2 3\n",
    "GDF": "nodedef>name VARCHAR\na\nb\nedgedef>node1,node2\na,b\n",
    "LEDA": "LEDA.GRAPH\nstring\nint\n-2\n",
    "graph6": ">>graph6<<D??\n",
    "Trivial Graph Format": "1 2\n2 3\n3 4\n4 1\n#\n1 3\n2 4\n",
}


@pytest.mark.parametrize("name", NAMED)
def test_formats_are_known_by_their_first_lines(tmp_path, name):
    for end in ("\n", "\r\n"):
        path = write(tmp_path, NAMED[name].replace("\n", end))
        assert f"is {name}, which is not read; GraphML, GML, node-link JSON and edge lists are" in refused(path)


def test_words_of_other_formats_are_ids_elsewhere(tmp_path):
    text = "graph p {'latency': '3 ms'}\np edge\n#\n# of graphs\nedge strict\n"
    assert links(write(tmp_path, text)) == {
        frozenset(one) for one in (("graph", "p"), ("p", "edge"), ("edge", "strict"))
    }


@pytest.mark.parametrize("separator", [" ", "\t", ",", ";"])
@pytest.mark.parametrize("seed", range(12))
def test_an_adjacency_list_of_any_graph_is_refused_and_its_cure_cures(tmp_path, separator, seed):
    """networkx's, and one in which each node has all its neighbours."""
    graph = networkx.gnp_random_graph(9, 0.3, seed=seed)
    networkx.add_path(graph, range(9))
    own = write(tmp_path, "".join(f"{line}\n" for line in networkx.generate_adjlist(graph, separator)))
    whole = write(tmp_path, "".join(separator.join(map(str, [node, *graph[node]])) + "\n" for node in graph), "all.csv")
    for path in (own, whole):
        assert "is an adjacency list" in refused(path)
        read = networkx.read_adjlist(path, delimiter=separator)
        networkx.write_edgelist(read, tmp_path / "net.edgelist")
        assert links(tmp_path / "net.edgelist") == {frozenset(map(str, link)) for link in graph.edges}


@pytest.mark.parametrize(
    "text",
    [
        "0 1 3\n1 2\n2 3\n3 4\n4 0\n",
        "0 1 5\n1 0 2\n2 1 3\n3 2 4\n4 3 5\n5 4 0\n",  # three fields in all lines
        "a: b\nb: c\nc: a\n",
        "a: b c\nb: a\nc: a\n",
        "a:\tb\nb:\tc\nc:\ta\n",
        "a b\nb c\nc\n",
    ],
)
def test_an_adjacency_list_by_hand(tmp_path, text):
    assert "is an adjacency list" in refused(write(tmp_path, text))


@pytest.mark.parametrize("weighted", ["", " 1", " 7"])
@pytest.mark.parametrize("first", ["{n} {m}", "{m} {n}", "{more} {m}", "{n} {n} {m}", "{n} {half}", "{n}"])
@pytest.mark.parametrize("names", ["123456789", "abcdefghi"])
def test_a_first_line_of_counts_is_refused_and_without_it_the_rest_is_read(tmp_path, weighted, first, names):
    pairs = [(1, 2), (1, 3), (3, 4), (3, 5), (5, 6)]
    written = [(names[one - 1], names[other - 1]) for one, other in pairs]
    if "half" in first:
        written += [(other, one) for one, other in written]
    head = first.format(n=6, m=len(pairs), more=8, half=len(pairs))
    rest = "".join(f"{one} {other}{weighted}\n" for one, other in written)
    said = refused(write(tmp_path, f"{head}\n{rest}"))
    assert "count the nodes" in said or "line 1 has" in said or "line 1 is not a link" in said
    assert len(links(write(tmp_path, rest))) == len(pairs)
    if "topology.columns" in said:
        columns = ["from", "to", "weight"][: 2 + bool(weighted)]
        assert f"topology.columns = {columns}".replace("'", '"') in said
        assert files.read(write(tmp_path, f"{head}\n{rest}"), "largest", columns).number_of_nodes()


@pytest.mark.parametrize("text", ["5 5\n2 5\n1 3\n2 4\n3 5\n4 1\n", "4 6 0\n2 3 4\n1 3 4\n1 2 4\n1 2 3\n"])
def test_metis_is_named(tmp_path, text):
    assert "is METIS, where each line lists the neighbours of a node" in refused(write(tmp_path, text))


@pytest.mark.parametrize("separator", [" ", ",", "\t"])
def test_a_matrix_is_named(tmp_path, separator):
    rows = list(map(list, ["010", "101", "010"]))
    path = write(tmp_path, "\n".join(map(separator.join, rows)))
    assert "is a matrix of 3 rows and columns" in refused(path)


@pytest.mark.parametrize(
    ("rows", "said", "ends"),
    [
        ("e 1 2\ne 2 3\ne 3 4\n", "the first field is e in all lines", 1),
        ("0 1 5\n0 2 3\n0 3 9\n", "the first field is 0 in all lines", 0),
        ("1 2 3\n1 3 2\n2 3 1\n", "the third fields are ids of nodes, too (3, 2, 1)", 0),
        ("0 4 5\n1 4 6\n2 4 7\n3 4 8\n", "the first field counts the lines", 1),
    ],
)
def test_three_fields_of_which_any_two_may_be_the_link(tmp_path, rows, said, ends):
    said_all = refused(write(tmp_path, rows))
    assert said in said_all
    cells = [line.split() for line in rows.splitlines()]
    assert 'topology.columns = ["from", "to", "weight"] says that the first two are the ends' in said_all
    assert links(write(tmp_path, rows), ["from", "to", "weight"]) == {frozenset(row[:2]) for row in cells}
    assert "a first line of the names kind, source, target that the last are" in said_all
    named = files.read(write(tmp_path, f"kind source target\n{rows}"), "largest")
    if ends:
        assert {named.nodes[node]["name"] for node in named} == {cell for row in cells for cell in row[1:]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a b 3\nb c\nc a 4\n", "line 2 has 2 fields, others have 3: a third one must be in all lines or none"),
        ("a b\nb c 5\nc a\n", "line 2 has 3 fields, others have 2"),
        ("id,degree\n0,2\n1,2\n2,2\n", "line 1 names the columns id, degree, which may be no ends of links"),
    ],
)
def test_other_lines_and_names(tmp_path, text, said):
    assert said in refused(write(tmp_path, text))


def test_names_of_columns_may_be_said_to_be_those_of_ends(tmp_path):
    path = write(tmp_path, "id,degree,note\n0,2,x\n1,2,y\n")
    assert 'topology.columns = ["from", "to", ...] says that they are' in refused(path)
    assert len(links(path, ["from", "to", "note"])) == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(60))
def test_edge_lists_of_random_graphs_are_read_as_they_are(tmp_path, seed):
    """What the rules above ask of a list, these fulfil but by an accident, which the seeds do not hold."""
    rng = random.Random(seed)
    nodes = rng.choice([list(map(str, range(20))), [f"n{node}" for node in range(20)], list(map(str, range(1, 21)))])
    graph = networkx.gnm_random_graph(20, 40, seed=seed)
    networkx.add_path(graph, range(20))
    written = [tuple(nodes[end] for end in link) for link in graph.edges]
    rng.shuffle(written)
    third = rng.choice(["", " 1", " {:.3f}", " {{'latency': '{:.0f} ms'}}"])
    path = write(tmp_path, "".join(f"{one} {other}{third.format(rng.uniform(0.5, 9))}\n" for one, other in written))
    assert links(path) == set(map(frozenset, written))


TWICE = {
    "csv": "source,target,latency_ms\na,b,10\n{},{},{}\nb,c,20\n",
    "edgelist": "a b {{'latency': '10 ms'}}\n{} {} {{'latency_ms': {}}}\nb c {{'latency': '20 ms'}}\n",
    "gml": 'graph [ directed 1 node [ id 0 label "a" ] node [ id 1 label "b" ] node [ id 2 label "c" ]\n'
    "edge [ source 0 target 1 latency_ms 10 ]\nedge [ source {} target {} latency_ms {} ]\n"
    "edge [ source 1 target 2 latency_ms 20 ] ]",
    "json": '{{"nodes": [{{"id": "a"}}, {{"id": "b"}}, {{"id": "c"}}], "links": ['
    '{{"source": "a", "target": "b", "latency": "0.01 s"}}, {{"source": "{}", "target": "{}", "latency_ms": {}}}, '
    '{{"source": "b", "target": "c", "latency_ms": 20}}]}}',
    "graphml": '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="l" for="edge" attr.name="latency_ms" '
    'attr.type="double"><default>20</default></key><graph edgedefault="directed"><node id="a"/><node id="b"/>'
    '<node id="c"/><edge source="a" target="b"><data key="l">10</data></edge><edge source="{}" target="{}">'
    '<data key="l">{}</data></edge><edge source="b" target="c"/></graph></graphml>',
}


@pytest.mark.parametrize("ending", TWICE)
@pytest.mark.parametrize("ends", ["ab", "ba"])
def test_two_latencies_of_one_link_are_an_error_and_one_twice_is_none(tmp_path, ending, ends):
    pair = ends.translate(str.maketrans("ab", "01")) if ending == "gml" else ends
    same = Topology(files.read(write(tmp_path, TWICE[ending].format(*pair, 10), f"n.{ending}")))
    assert given_latencies(same, MS).tolist() == [10 * MS, 20 * MS]
    graph = files.read(write(tmp_path, TWICE[ending].format(*pair, 99), f"n.{ending}"))
    with pytest.raises(
        TopologyError, match=r"link 0-1 has the latencies (10(\.0)? ms|0\.01 s) and 99(\.0)? ms: it must"
    ):
        given_latencies(Topology(graph), MS)


def test_two_latencies_in_one_line_or_in_a_graph_of_networkx_are_an_error(tmp_path):
    path = write(tmp_path, "source,target,latency,latency_ms\na,b,10 ms,99\nb,c,5 ms,5\n")
    with pytest.raises(TopologyError, match="link 0-1 has the latencies 10 ms and 99 ms"):
        given_latencies(Topology(files.read(path)), MS)
    graph = networkx.MultiDiGraph(
        [(0, 1, {"latency": "1 ms"}), (1, 0, {"latency": "2 ms"}), (1, 0, {"latency": "1 ms"})]
    )
    with pytest.raises(TopologyError, match="link 0-1 has the latencies 1 ms and 2 ms"):
        given_latencies(Topology(files.of_graph(graph)), MS)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "n.json",
            '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}], "edges": []}',
            "has both lists",
        ),
        (
            "n.json",
            '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "latency": 1, "latency": 2}]}',
            "latency is there twice in one object",
        ),
        ("n.graphml", '<node id="a"/><node id="a"/>', "the id a stands for two nodes"),
        ("n.graphml", '<node id="a"/><edge source="a" target="b"/>', "link 1 ends at b, which is the id of no node"),
        ("n.graphml", '<node id="a"><graph edgedefault="directed"><node id="b"/></graph></node>', "has several graphs"),
        (
            "n.graphml",
            '<node id="a"/><edge source="a" target="a"><data key="l">1</data><data key="l">2</data></edge>',
            "edge has two values of one key",
        ),
    ],
)
def test_what_networkx_would_take_a_part_of_is_refused(tmp_path, name, text, said):
    if name.endswith("graphml"):
        key = '<key id="l" for="edge" attr.name="latency_ms" attr.type="double"/>'
        text = (
            f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{key}<graph edgedefault="directed">{text}</graph>'
            "</graphml>"
        )
    assert said in refused(write(tmp_path, text, name))


@pytest.mark.parametrize(
    "header",
    ["id,from,to,note", "id,Source ID,Target ID,note", ",node_1,node_2,note", ",u,v,note", "id,start,end,note"],
)
def test_ends_stand_side_by_side_where_their_names_are_known(tmp_path, header):
    path = write(tmp_path, f"{header}\n10,1,2,x\n11,2,3,x\n12,3,1,x\n")
    assert links(path) == {frozenset("12"), frozenset("23"), frozenset("13")}


@pytest.mark.parametrize("text", ["start end\nstart a\na end\n", "parent child\nchild grandchild\n"])
def test_names_of_ends_that_other_lines_name_may_be_nodes(tmp_path, text):
    path = write(tmp_path, text)
    assert "may be a link or names of columns: others name" in refused(path)
    assert len(links(path, ["from", "to"])) == text.count("\n")


@pytest.mark.parametrize("text", ["5 1\n5 2\n", "1 2\n2 3\n", "9 1\n9 2\n1 3\n", "0 1\n1 2\n2 0\n", "01 1\n1 2\n"])
def test_few_links_are_no_counts(tmp_path, text):
    assert len(links(write(tmp_path, text))) == text.count("\n")
