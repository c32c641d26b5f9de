"""Advice from the command line: which links, which hosts, and what runs say of it."""

import json
import re

import networkx as nx
import pytest
from click.testing import CliRunner

from netbandit.cli import main

SCENARIO = """
[run]
horizon = 300
slot = "1 ms"
[topology]
family = "path"
agents = 6
[links.peer]
latency = "0.3 ms"
[bandit]
kind = "bernoulli"
means = [0.2, 0.8]
[learner]
kind = "elimination"
[protocol]
kind = "flooding"
"""


def call(*arguments):
    done = CliRunner().invoke(main, ["topology", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_link_that_closes_the_path_is_advised_written_drawn_and_confirmed(tmp_path):
    (tmp_path / "path.toml").write_text(SCENARIO)
    target, picture = tmp_path / "better.json", tmp_path / "advice.svg"
    said = call(tmp_path / "path.toml", "--what-if", 1, "--replications", 2, "--write", target, "--plot", picture)
    assert "time of a round of flooding, 5 ms without it; all 10 tried, exactly" in said
    assert re.search(r"1\. 0 - 4 \(0\.3 ms\): 3 ms \(-40\.0%\)", said)
    assert "run 2 times each" in said
    assert re.search(r"0 - 4: .*round_slots -2", said)
    graph = nx.node_link_graph(json.loads(target.read_text()), edges="edges")
    assert sorted(graph.edges) == [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert "0 - 4" in picture.read_text() or "<path" in picture.read_text()
    (tmp_path / "better.toml").write_text(
        SCENARIO.replace('family = "path"\nagents = 6', 'family = "file"\nfile = "better.json"')
    )
    assert CliRunner().invoke(main, ["check", str(tmp_path / "better.toml")]).exit_code == 0


def test_the_loss_that_hurts_most_and_hosts(tmp_path):
    said = call("path", "--agents", 5, "--what-if", 1, "--lose")
    assert "a round never ends" in said
    said = call("path", "--agents", 9, "--server", "--sinks", 2)
    assert re.search(r"a server: every node tried\n  1\. 4: the farthest agent is 4 ms away", said)
    assert (
        re.search(r"2 sinks: every set tried\n  1\. 1, 6: the farthest agent is 2 ms away", said) or "2 ms away" in said
    )


def test_where_no_link_helps_nothing_is_written(tmp_path):
    target, picture = tmp_path / "w.json", tmp_path / "ring.png"
    said = call("ring", "--agents", 5, "--what-if", 1, "--write", target, "--plot", picture)
    assert said.endswith(f"none makes it better\nno link helps: {target} is not written\npicture: {picture}\n")
    assert not target.exists()
    assert picture.exists()
    said = call("complete", "--agents", 4, "--what-if", 2, "--write", target)
    assert said.endswith(f"every link is there already\nno link helps: {target} is not written\n")


@pytest.mark.parametrize("latency", ['"edges"', '{ uniform = ["1 ms", "5 ms"] }'])
def test_runs_bear_out_advice_for_links_of_unequal_latency(tmp_path, latency):
    graph = nx.path_graph(5)
    for number, link in enumerate(graph.edges):
        graph.edges[link]["latency"] = f"{2 + number % 3} ms"
    (tmp_path / "graph.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    text = SCENARIO.replace('family = "path"\nagents = 6', 'family = "file"\nfile = "graph.json"')
    (tmp_path / "path.toml").write_text(text.replace('"0.3 ms"', latency).replace("flooding", "sink"))
    said = call(tmp_path / "path.toml", "--what-if", 1, "--replications", 2)
    before, best = map(int, re.search(r"sink, (\d+) ms without it.*?\): (\d+) ms", said, re.DOTALL).groups())
    assert best < before
    assert re.search(rf"as it is: .*round_slots {before}\b", said)
    assert re.search(rf"\d - \d: .*round_slots {best - before}\b", said)


def test_consensus_is_judged_by_its_gap_and_master_worker_by_its_uplinks():
    said = call("path", "--agents", 6, "--set", "protocol.kind=consensus", "--what-if", 1)
    assert re.search(
        r"spectral gap of consensus, 0\.0893\d* without it; all 10 tried, exactly\n  alternatives, .*\n  1\. 0 - 5",
        said,
    )
    changes = "--set", "protocol.kind=master-worker", "--set", "links.uplink.latency=7 ms"
    said = call("path", "--agents", 6, *changes, "--what-if", 1)
    assert "round of master-worker, 14 ms: it uses only uplinks, so no link between agents changes it; all" in said


def test_what_has_no_part_in_the_times_shown_is_named(tmp_path):
    (tmp_path / "net.csv").write_text("source,target,weight\na,b,3\nb,c,4\nc,d,2\n")
    slow = "--set", "links.peer.bandwidth=20 kbit/s"
    for more in ((), ("--what-if", 1)):
        said = call(tmp_path / "net.csv", *slow, *more)
        assert "not used: weight\n" in said
        assert said.count("left out here, but not in runs: links.peer.bandwidth\n") == 1
    said = call("path", "--agents", 5, "--what-if", 1)
    assert "left out" not in said
    assert "not used" not in said
    assert "a new link" not in said  # all links have the same latency


def test_where_the_latency_of_new_links_comes_from_is_said(tmp_path):
    file = tmp_path / "net.edgelist"
    file.write_text("a b {'latency': '10 ms'}\nb c {'latency': '20 ms'}\nc d {'latency': '60 ms'}\n")
    said = call(file, "--what-if", 1, "--set", "links.peer.latency=edges")
    assert "  a new link is given the mean latency of the links there are\n" in said
    assert "(30 ms)" in said
    assert '"edges" takes them' not in said
    assert "a new link" not in call(file, "--what-if", 1, "--lose", "--set", "links.peer.latency=edges")
    assert '"edges" takes them' in call(file)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["ring", "--agents", "5", "--lose"], "go with --what-if"),
        (["ring", "--agents", "3", "--sinks", "4"], "there are 3 nodes"),
        (["ring", "--agents", "5", "--set", "links.peer.latency=geographic"], "needs the coordinates"),
        (["ring", "--agents", "5", "--set", "links.peer.latency=fast"], "links.peer.latency"),
        (["ring", "--agents", "5", "--set", "protocol.kind=gossip", "--what-if", "1"], '"gossip": recipients are'),
    ],
)
def test_mistakes_are_said_in_a_line(arguments, text):
    done = CliRunner().invoke(main, ["topology", *arguments])
    assert done.exit_code == 2, done.output
    assert text in done.output
    assert "Traceback" not in done.output
    assert not done.stdout
