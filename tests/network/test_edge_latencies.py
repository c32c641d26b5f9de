import networkx
import pytest
from click.testing import CliRunner

import netbandit as nb
from netbandit.cli import main
from netbandit.network.edge_latencies import given_latencies
from netbandit.network.files import of_graph, read
from netbandit.network.topology import Topology, TopologyError
from netbandit.scenario.errors import ScenarioError

MILLISECOND = 1_000_000


def triangle(*latencies):
    graph = networkx.cycle_graph(3)
    for link, latency in zip([(0, 1), (0, 2), (1, 2)], latencies, strict=True):
        if latency is not None:
            graph.edges[link]["latency"] = latency
    return graph


def scenario(graph, latency="edges"):
    return nb.Scenario(
        topology=graph,
        links=nb.Links(peer=nb.Link(latency=latency)),
        bandit=nb.bandits.Bernoulli(means=[0.3, 0.7]),
        learner=nb.learners.Elimination(),
        protocol=nb.protocols.Flooding(),
        run=nb.Run(horizon=500),
    )


def test_each_link_has_its_own_in_time_or_in_slots():
    topology = Topology(of_graph(triangle("1 ms", "2.5 slots", "0 ms")))
    assert given_latencies(topology, 4 * MILLISECOND).tolist() == [MILLISECOND, 10 * MILLISECOND, 0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "source,target,weight,latency_ms\nb,a,7,3\nb,c,,5\n"),
        ("a.csv", "from\tto\tdelay_us\na\tb\t3000\nc\tb\t5e3\n"),
        ("a.edgelist", "from to latency_s\na b 0.003\nc b 0.005\n"),
        ("a.csv", "source;target;latency\na;b;3 ms\nb;c;5 ms\n"),
        (
            "a.json",
            '{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": [{"source": "a", "target": "b", '
            '"latency_ms": 3}, {"source": "c", "target": "b", "latency_ms": 5.0}]}',
        ),
        ("a.edgelist", "a b {'latency': '3 ms'}\nb c {'latency': '5 ms', 'weight': 2}\n"),
        (
            "a.json",
            '{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": [{"source": "a", "target": "b", '
            '"latency": "3 ms"}, {"source": "c", "target": "b", "latency": "5 ms"}]}',
        ),
        (
            "a.gml",
            'graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ] edge [ source 0 target 1 latency "3 ms" ] '
            'edge [ source 1 target 2 latency "5 ms" ] ]',
        ),
    ],
)
def test_every_format_of_files_can_say_it(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert given_latencies(Topology(read(tmp_path / name)), 1).tolist() == [3 * MILLISECOND, 5 * MILLISECOND]


def test_the_columns_of_an_edge_list_can_be_named(tmp_path):
    file = tmp_path / "a.edgelist"
    file.write_text("a b 3 red\nc b 5 blue\n")
    names = ["source", "target", "latency_ms", "colour"]
    assert given_latencies(Topology(read(file, columns=names)), 1).tolist() == [3 * MILLISECOND, 5 * MILLISECOND]
    with pytest.raises(TopologyError, match="line 1 is not a link: 4 fields, but"):
        read(file, columns=names[:3])
    networkx.write_graphml(triangle("1 ms", "2 ms", "3 ms"), tmp_path / "a.graphml")
    with pytest.raises(TopologyError, match="has no meaning for GraphML"):
        read(tmp_path / "a.graphml", columns=names)


def test_the_command_names_columns_too(tmp_path):
    file = tmp_path / "a.edgelist"
    file.write_text("a b 3\nc b 5\n")
    more = ["--columns", "from,to,latency_ms", "--set", "links.peer.latency=edges"]
    done = CliRunner().invoke(main, ["topology", str(file), *more])
    assert done.exit_code == 0, done.output
    assert "8 ms" in done.stdout
    assert "not used" not in done.stdout


def test_graphml_too(tmp_path):
    networkx.write_graphml(triangle("1 ms", "2 ms", "3 ms"), tmp_path / "a.graphml")
    assert (given_latencies(Topology(read(tmp_path / "a.graphml")), 1) / MILLISECOND).tolist() == [1, 2, 3]


def test_links_without_one_and_with_a_wrong_one_are_all_named():
    with pytest.raises(TopologyError) as found:
        given_latencies(Topology(of_graph(triangle("soon", None, "200000000000 s"))), 1)
    first, long, second = [text for _, text in found.value.problems]
    assert first.startswith("the latency of link 0-1 must be ")
    assert long == 'the latency of link 1-2 must be less than 146 years, not "200000000000 s"'
    assert second == "1 link has no attribute latency: 0-2"


def test_a_scenario_over_links_of_their_own_waits_for_the_way_that_is_fastest(tmp_path):
    slow = scenario(triangle("40 ms", "1 ms", "1 ms")).run(out=tmp_path / "slow")
    fast = scenario(triangle("1 ms", "1 ms", "1 ms")).run(out=tmp_path / "fast")
    wait = {name: found[found.metric == "round_slots"].value.item() for name, found in (("s", slow), ("f", fast))}
    # Around the slow link there is a way of two hops, but what was sent over it counts when it arrives.
    assert wait == {"s": 2, "f": 1}
    assert slow.run[0] != fast.run[0]


def test_what_is_not_used_is_noted_and_what_is_missing_is_a_mistake(tmp_path):
    scenario(triangle("1 ms", "1 ms", "1 ms"), "5 ms").to_toml(tmp_path / "a.toml")
    from netbandit.checks.check import check
    from netbandit.scenario.load import load

    (note,) = check(load(tmp_path / "a.toml", [])).notes
    assert '"edges" takes them' in note
    assert check(load(tmp_path / "a.toml", ["links.peer.latency=edges"])).notes == []
    with pytest.raises(ScenarioError, match='1 link has no attribute latency: 1-2; give each link one such as "10 ms"'):
        check(scenario(triangle("1 ms", "1 ms", None)).document())
    with pytest.raises(ScenarioError, match='"edges" cannot be: 4 links have no attribute latency'):
        check(scenario(nb.families.Ring(agents=4)).document())
