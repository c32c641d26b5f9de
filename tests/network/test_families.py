"""The families: their shapes, what cannot be, and that only the generator decides."""

import os
import subprocess
import sys
from pathlib import Path

import networkx
import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.families.random import gilbert
from netbandit.network.topology import Topology, TopologyError
from netbandit.parts.component import read_part
from netbandit.parts.registry import BUILT_IN, part_class


def family_of(family, **keys):
    return part_class("topology", family, Path())(**keys)


def build(family, seed=0, **keys):
    return family_of(family, **keys).build(np.random.default_rng(seed))


def problems(family, keys):
    return read_part(part_class("topology", family, Path()), keys, "topology")[1]


def edges(graph):
    return Topology(graph).edges.tolist()


SHAPES = {
    "star": lambda n: networkx.star_graph(n - 1),
    "complete": networkx.complete_graph,
    "path": networkx.path_graph,
    "tree": lambda n: networkx.full_rary_tree(2, n),
}


@pytest.mark.parametrize("agents", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("family", SHAPES)
def test_fixed_shapes(family, agents):
    graph, expected = build(family, agents=agents), SHAPES[family](agents)
    assert sorted(graph) == list(range(agents))
    assert edges(graph) == edges(expected)


@pytest.mark.parametrize("agents", [3, 4, 50])
def test_ring(agents):
    assert edges(build("ring", agents=agents)) == edges(networkx.cycle_graph(agents))


@pytest.mark.parametrize(("agents", "rows", "columns"), [(12, 3, 4), (16, 4, 4), (50, 5, 10), (7, 1, 7), (1, 1, 1)])
def test_grid_is_as_square_as_can_be_and_numbered_by_rows(agents, rows, columns):
    expected = networkx.relabel_nodes(
        networkx.grid_2d_graph(rows, columns),
        {(row, column): row * columns + column for row in range(rows) for column in range(columns)},
    )
    assert edges(build("grid", agents=agents)) == edges(expected)


def test_star_has_agent_0_as_its_centre():
    topology = Topology(build("star", agents=9))
    assert topology.sinks == [0]
    assert topology.neighbours[0] == list(range(1, 9))


def test_tree_with_three_children():
    assert edges(build("tree", agents=6, branching=3)) == [[0, 1], [0, 2], [0, 3], [1, 4], [1, 5]]


RANDOM = {
    "random": {"agents": 40, "p": 0.15},
    "regular": {"agents": 40, "degree": 3},
    "small-world": {"agents": 40},
    "scale-free": {"agents": 40},
    "multi-star": {"agents": 40},
    "random-tree": {"agents": 40},
    "blocks": {"agents": 40, "inside": 0.4, "between": 0.05},
    "geometric": {"agents": 40},
    "hybrid": {"components": [20, 5, 1], "inside": "random", "p": 0.5},
}


@pytest.mark.parametrize("family", RANDOM)
def test_only_the_generator_decides(family):
    np.random.seed(1)
    first = edges(build(family, seed=3, **RANDOM[family]))
    np.random.seed(2)
    assert edges(build(family, seed=3, **RANDOM[family])) == first
    assert edges(build(family, seed=4, **RANDOM[family])) != first


@pytest.mark.ci
def test_the_hash_seed_does_not_show():
    code = (
        "import numpy, pathlib; from netbandit.network import topology;"
        "from netbandit.parts.registry import part_class;"
        f"cases = {RANDOM!r};"
        "path = pathlib.Path(); rng = lambda: numpy.random.default_rng(7);"
        "print([topology.Topology(part_class('topology', family, path)(**keys).build(rng())).edges.tolist()"
        " for family, keys in cases.items()])"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1000


@pytest.mark.parametrize("family", ["random", "regular", "small-world", "scale-free", "geometric"])
def test_random_families_are_connected(family):
    for seed in range(20):
        graph = build(family, seed=seed, **RANDOM[family])
        assert sorted(graph) == list(range(40))
        assert networkx.is_connected(graph)
        assert networkx.number_of_selfloops(graph) == 0


@given(st.integers(1, 30), st.integers(0, 100), st.integers(0, 10))
@examples(80)
def test_regular(agents, degree, seed):
    if problems("regular", {"agents": agents, "degree": degree}):
        return
    graph = build("regular", seed=seed, agents=agents, degree=degree)
    assert {count for _, count in graph.degree} == {degree}
    assert networkx.is_connected(graph)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("p", [0.01, 0.3, 0.9, 1.0])
def test_random_has_the_law_of_independent_links(p):
    rng = np.random.default_rng(5)
    drawn = np.zeros((6, 6))
    repetitions = 4000
    totals = []
    for _ in range(repetitions):
        links = gilbert(rng, 6, p)
        assert (links[:, 0] < links[:, 1]).all()
        drawn[links[:, 0], links[:, 1]] += 1
        totals.append(len(links))
    frequency = drawn[np.triu_indices(6, 1)] / repetitions
    spread = np.sqrt(p * (1 - p) / repetitions)
    assert np.abs(frequency - p).max() <= 4.5 * spread
    assert np.var(totals) == pytest.approx(15 * p * (1 - p), rel=0.12, abs=1e-12)


@pytest.mark.ci
def test_random_of_many_agents():
    links = gilbert(np.random.default_rng(0), 100_000, 1e-4)
    expected = 100_000 * 99_999 / 2 * 1e-4
    assert abs(len(links) - expected) < 5 * np.sqrt(expected)
    assert len(np.unique(links, axis=0)) == len(links)
    assert links.min() >= 0
    assert links.max() < 100_000


def test_mean_degree():
    degrees = [2 * build("random", seed, agents=200, mean_degree=12.0).number_of_edges() / 200 for seed in range(20)]
    assert np.mean(degrees) == pytest.approx(12, abs=0.5)


def test_mean_degree_of_all_others_is_the_complete_graph():
    assert build("random", agents=5, mean_degree=4.0).number_of_edges() == 10


def test_regular_of_degree_2_is_a_ring_in_any_order():
    graph = build("regular", agents=100, degree=2)
    assert Topology(graph).diameter == 50
    assert edges(graph) != edges(build("ring", agents=100))


def test_small_world():
    assert edges(build("small-world", agents=20, p=0.0)) == edges(networkx.circulant_graph(20, [1, 2]))
    assert build("small-world", agents=20, degree=6, p=0.5).number_of_edges() == 60


def test_scale_free():
    graph = build("scale-free", agents=500, attach=3)
    assert graph.number_of_edges() == 3 + 3 * (500 - 4)
    assert max(count for _, count in graph.degree) > 40
    assert build("scale-free", agents=2, attach=1).number_of_edges() == 1


def test_geometric_by_reach():
    assert build("geometric", agents=30, reach=1.5).number_of_edges() == 30 * 29 / 2


@pytest.mark.parametrize("family", ["random", "regular", "scale-free", "geometric", "small-world"])
def test_smallest_graphs(family):
    keys = {"random": {"p": 0.5}, "regular": {"degree": 1}, "scale-free": {"attach": 1}}.get(family, {})
    agents = 3 if family == "small-world" else 2
    graph = build(family, agents=agents, **keys, **({"degree": 2} if family == "small-world" else {}))
    assert len(graph) == agents
    assert networkx.is_connected(graph)


@pytest.mark.parametrize("family", ["star", "complete", "path", "grid", "tree", "geometric", "random", "regular"])
def test_one_agent(family):
    keys = {"random": {"mean_degree": 3.0}, "regular": {"degree": 0}}.get(family, {})
    assert build(family, agents=1, **keys).number_of_edges() == 0


def test_hybrid_is_components_side_by_side():
    topology = Topology(build("hybrid", components=[3, 1, 2]))
    assert [part.tolist() for part in topology.components] == [[0, 1, 2], [3], [4, 5]]
    assert topology.edges.tolist() == [[0, 1], [0, 2], [1, 2], [4, 5]]
    assert topology.sinks == [0, 3, 4]


def test_hybrid_of_stars_has_a_centre_in_each():
    topology = Topology(build("hybrid", components=[20] * 5, inside="star", agents=100))
    assert topology.sinks == [0, 20, 40, 60, 80]
    assert topology.links == 95


PARTS_THEMSELVES = {"hybrid", "file", "multi-star", "blocks", "contacts", "mobile"}


@pytest.mark.parametrize("inside", sorted(set(BUILT_IN["topology"]) - PARTS_THEMSELVES))
def test_every_family_may_be_inside(inside):
    keys = {"random": {"p": 0.5}, "regular": {"degree": 3}}.get(inside, {})
    topology = Topology(build("hybrid", components=[10, 6, 8], inside=inside, **keys))
    assert [len(part) for part in topology.components] == [10, 6, 8]


def test_a_hundred_single_agents():
    topology = Topology(build("hybrid", components=[1] * 100))
    assert topology.sinks == list(range(100))
    assert (topology.diameter, topology.radius, topology.links) == (0, 0, 0)


def test_many_components():
    topology = Topology(build("hybrid", components=[20] * 200, inside="random", p=0.3))
    assert len(topology.components) == 200
    expected = networkx.eccentricity(topology.graph.subgraph(range(20, 40)))
    assert topology.eccentricity(1).tolist() == [expected[node] for node in range(20, 40)]


def test_file(tmp_path):
    (tmp_path / "net.edgelist").write_text("a b\nb c\nx y\n")
    graph = build("file", file=str(tmp_path / "net.edgelist"), component="largest")
    assert edges(graph) == [[0, 1], [1, 2]]


PROBLEMS = [
    ("ring", {"agents": 2}, ("agents",), "at least 3"),
    ("random", {"agents": 5}, ("p",), "mean_degree"),
    ("random", {"agents": 5, "p": 0.5, "mean_degree": 2.0}, ("mean_degree",), "excludes p"),
    ("random", {"agents": 5, "p": 0.0}, ("p",), "above 0"),
    ("random", {"agents": 5, "mean_degree": 4.5}, ("mean_degree",), "at most 4"),
    ("regular", {"agents": 5}, ("degree",), "missing"),
    ("regular", {"agents": 5, "degree": 3}, ("degree",), "even"),
    ("regular", {"agents": 6, "degree": 6}, ("degree",), "0 to 5"),
    ("regular", {"agents": 6, "degree": 1}, ("degree",), "at least 2"),
    ("regular", {"agents": 2, "degree": 0}, ("degree",), "at least 1"),
    ("small-world", {"agents": 4}, ("degree",), "less than"),
    ("small-world", {"agents": 9, "degree": 3}, ("degree",), "even"),
    ("scale-free", {"agents": 2}, ("attach",), "less than"),
    ("hybrid", {"components": [3, 4], "agents": 8}, ("agents",), "the sum of the components, 7"),
    ("hybrid", {"components": [3, 2], "inside": "ring"}, ("components", 1), "at least 3"),
    ("hybrid", {"components": [3, 2], "inside": "random"}, ("p",), "missing"),
    ("hybrid", {"components": [9, 3, 2], "inside": "regular", "degree": 4}, ("degree",), "0 to 2"),
    ("complete", {"agents": 100_000}, ("agents",), "too many"),
    ("hybrid", {"components": [100_000]}, ("components",), "too many"),
]
"""Mistakes between keys."""

WRONG = [
    ("ring", {}, ("agents",), "missing"),
    ("star", {"agents": 0}, ("agents",), "from 1 to 10^7"),
    ("tree", {"agents": 3, "branching": 0}, ("branching",), "at least 1"),
    ("random", {"agents": 5, "p": 1.5}, ("p",), "from 0 to 1"),
    ("random", {"agents": 5, "mean_degree": 0.0}, ("mean_degree",), "above 0"),
    ("small-world", {"agents": 9, "p": -0.1}, ("p",), "from 0 to 1"),
    ("scale-free", {"agents": 9, "attach": 0}, ("attach",), "at least 1"),
    ("geometric", {"agents": 9, "reach": 0.0}, ("reach",), "above 0"),
    ("file", {}, ("file",), "missing"),
    ("hybrid", {}, ("components",), "missing"),
    ("hybrid", {"components": []}, ("components",), "not empty"),
    ("hybrid", {"components": [3, 0]}, ("components", 1), "at least 1"),
    ("hybrid", {"components": [3, 2], "inside": "hybrid"}, ("inside",), "one of"),
]


@pytest.mark.parametrize(("family", "keys", "path", "text"), [*PROBLEMS, *WRONG])
def test_problems(family, keys, path, text):
    ((found, sentence),) = problems(family, keys)
    assert found == ("topology", *path)
    assert text in sentence


@pytest.mark.parametrize(("family", "keys", "path", "text"), PROBLEMS)
def test_what_cannot_be_is_not_built(family, keys, path, text):
    with pytest.raises(TopologyError) as caught:
        build(family, **keys)
    ((found, sentence),) = caught.value.problems
    assert found == path
    assert text in sentence


def test_several_problems_at_once():
    found = problems("hybrid", {"components": [0, 2, -1], "inside": "rnadom", "agents": 9})
    assert [path[1:] for path, _ in found] == [("components", 0), ("components", 2), ("inside",)]


@pytest.mark.parametrize(
    ("family", "keys", "path"),
    [
        ("random", {"agents": 200, "p": 0.001}, ("p",)),
        ("random", {"agents": 200, "mean_degree": 1.0}, ("mean_degree",)),
        ("geometric", {"agents": 50, "reach": 0.01}, ("reach",)),
        ("hybrid", {"components": [3, 200], "inside": "random", "p": 0.005}, ("p",)),
    ],
)
def test_a_thousand_disconnected_draws_are_an_error(family, keys, path):
    with pytest.raises(TopologyError) as caught:
        build(family, **keys)
    ((found, text),) = caught.value.problems
    assert found == path
    assert "1,000" in text


def test_a_disconnected_draw_is_drawn_again():
    # About one draw in a hundred is connected here.
    assert all(networkx.is_connected(build("random", seed, agents=30, p=0.06)) for seed in range(10))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"components": [3], "p": 0.5, "agents": 3}, ["p"]),
        ({"components": [3], "inside": "random", "p": 0.5}, []),
    ],
)
def test_a_hybrid_uses_the_keys_of_the_family_inside(keys, expected):
    assert [note.key for note in family_of("hybrid", **keys).check()] == expected


@pytest.mark.parametrize(
    ("family", "keys", "expected"),
    [
        ("ring", {"agents": 3}, {"agents": 3}),
        ("small-world", {"agents": 9}, {"agents": 9, "degree": 4, "p": 0.1}),
        ("hybrid", {"components": [3, 4]}, {"agents": 7, "components": [3, 4], "inside": "complete"}),
        (
            "hybrid",
            {"components": [3], "inside": "tree"},
            {"agents": 3, "components": [3], "inside": "tree", "branching": 2},
        ),
        ("file", {"file": "x"}, {"file": "x", "component": None, "columns": None}),
    ],
)
def test_a_family_has_all_its_defaults(family, keys, expected):
    common = {"changes": None, "neighbours": "sensed", "seed": None}
    assert list(family_of(family, **keys).table().items()) == list({**expected, **common}.items())


def test_centres_of_a_multi_star_know_each_other_and_leaves_one_of_them():
    graph = build("multi-star", agents=50, centres=5)
    assert graph.number_of_edges() == 10 + 45
    assert all(graph.has_edge(a, b) for a in range(5) for b in range(a))
    assert [next(iter(graph[leaf])) < 5 for leaf in range(5, 50) if graph.degree(leaf) == 1] == [True] * 45
    assert len({tuple(edges(build("multi-star", seed, agents=50))[10:][0]) for seed in range(20)}) > 1
    assert edges(build("multi-star", agents=5, centres=5)) == edges(networkx.complete_graph(5))


@pytest.mark.ci
def test_every_tree_is_as_likely():
    """All 16 trees of 4 numbered agents; with fair draws chi-square exceeds 44.3 once in 10,000 times."""
    rng = np.random.default_rng(0)
    family, counts = family_of("random-tree", agents=4), {}
    for _ in range(3_200):
        tree = str(edges(family.build(rng)))
        counts[tree] = counts.get(tree, 0) + 1
    assert len(counts) == 16
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 44.3
    for agents in (1, 2, 3, 60):
        graph = build("random-tree", agents=agents)
        assert sorted(graph) == list(range(agents))
        assert networkx.is_tree(graph)


@pytest.mark.parametrize(("inside", "between"), [(0.5, 0.1), (0.1, 0.5)])
def test_blocks_have_links_of_two_probabilities(inside, between):
    counts = np.zeros(2)
    for seed in range(30):
        graph = build("blocks", seed, agents=40, blocks=4, inside=inside, between=between)
        alike = [a // 10 == b // 10 for a, b in graph.edges]
        counts += [sum(alike), len(alike) - sum(alike)]
    for count, pairs_, p in ((counts[0], 30 * 4 * 45, inside), (counts[1], 30 * 600, between)):
        assert abs(count - pairs_ * p) < 4 * (pairs_ * p * (1 - p)) ** 0.5


def test_a_random_graph_may_be_left_in_pieces():
    pieces = build("random", agents=100, p=0.01, disconnected=True)
    assert not networkx.is_connected(pieces)
    with pytest.raises(TopologyError, match="connected"):
        build("random", agents=100, p=0.01)
    assert edges(build("random", agents=40, p=0.3, disconnected=True)) == edges(build("random", agents=40, p=0.3))
    assert problems("random", {"agents": 3, "p": 0.0, "disconnected": True}) == []


@pytest.mark.parametrize(
    ("family", "keys", "key"),
    [
        ("multi-star", {"agents": 4, "centres": 5}, "centres"),
        ("blocks", {"agents": 3, "blocks": 4, "inside": 0.5, "between": 0.5}, "blocks"),
        ("blocks", {"agents": 9, "inside": 0.5, "between": 0.0}, "between"),
        ("blocks", {"agents": 9, "blocks": 1, "inside": 0.0, "between": 0.0}, "inside"),
    ],
)
def test_stars_and_blocks_that_cannot_be(family, keys, key):
    ((path, _),) = problems(family, keys)
    assert path == ("topology", key)
