from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pytest
from helpers.made_up_runs import arranged, made_up, study_of
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.text import Text

from netbandit.plots.network import MOST_LINKS, Drawing, draw, draw_network
from netbandit.plots.node_positions import geographic, laid_out
from netbandit.plots.study_pictures import network_points, planned
from netbandit.plots.style import encoded, subtitle
from netbandit.simulation.result import Nodes
from netbandit.studies.advice.describe import graph_of

TOPOLOGIES = Path(__file__).parents[2] / "topologies"


def drawn(*runs):
    arrangement = arranged(list(runs))
    return draw_network(arrangement, arrangement.points[0])


def lines(figure):
    return [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]


def nodes(figure):
    (points,) = [one for one in figure.axes[0].collections if isinstance(one, PathCollection)]
    return np.asarray(points.get_offsets())


def links(graph):
    return np.array(sorted(tuple(sorted(edge)) for edge in graph.edges), dtype=np.int64).reshape(-1, 2)


def test_links_are_coloured_by_their_messages_the_most_used_on_top():
    run = made_up()
    figure = drawn(run)
    (busy,) = lines(figure)
    assert busy.get_array().tolist() == sorted(run.links.messages.tolist())
    most = int(np.argsort(run.links.messages, kind="stable")[-1])
    ends = nodes(figure)[[run.links.first[most], run.links.second[most]]]
    np.testing.assert_allclose(busy.get_segments()[-1], ends)


def test_the_colour_bar_has_a_unit_and_begins_at_zero():
    figure = drawn(made_up())
    _, bar = figure.axes
    assert bar.get_ylabel() == "messages on a link"
    assert lines(figure)[0].norm.vmin == 0
    assert figure.get_suptitle() == "quickstart: messages on each link: 2 of 20 have most, 55 (1.6 times the mean)"


def test_replications_on_one_network_are_averaged():
    runs = [made_up(replication=replication) for replication in range(3)]
    figure = drawn(*runs)
    mean = np.mean([run.links.messages for run in runs], axis=0)
    np.testing.assert_allclose(np.sort(lines(figure)[0].get_array()), np.sort(mean))
    assert subtitle(figure) == "mean of 3 replications"


def test_of_networks_that_differ_the_first_is_drawn():
    runs = [
        made_up(graph, replication=one) for one, graph in enumerate((networkx.path_graph(5), networkx.star_graph(4)))
    ]
    figure = drawn(*runs)
    assert len(nodes(figure)) == 5
    assert subtitle(figure) == "replication 0 of 2, each on a different network"


def test_links_without_a_message_are_dotted_and_named_so():
    run = made_up()
    run.links.messages[3] = 0
    figure = drawn(run)
    idle, busy = lines(figure)
    assert len(idle.get_segments()) == 1
    assert len(busy.get_segments()) == 19
    assert figure.axes[1].get_ylabel() == "messages on a link (dotted: none)"


def test_a_network_in_silence_has_no_colour_bar():
    figure = drawn(made_up(rounds=0))
    assert len(figure.axes) == 1
    assert subtitle(figure) == "one replication; no link carried a message"


def test_equal_use_and_use_of_many_magnitudes():
    equal, wide = made_up(), made_up()
    equal.links.messages[:] = 7
    close, near = made_up(), made_up()
    close.links.messages[:] = np.arange(30, 50)
    near.links.messages[:] = np.arange(980, 1000)
    assert [lines(drawn(run))[0].norm.vmin for run in (close, near)] == [30, 0]
    wide.links.messages[:] = 10 ** (np.arange(20) // 3)
    assert (lines(drawn(equal))[0].norm.vmin, lines(drawn(equal))[0].norm.vmax) == (0, 7)
    assert type(lines(drawn(wide))[0].norm).__name__ == "LogNorm"


@pytest.mark.parametrize("agents", [1, 2])
def test_one_agent_is_one_node_and_two_are_two(agents):
    figure = drawn(made_up(networkx.path_graph(agents), family="path"))
    assert len(nodes(figure)) == agents
    assert len(lines(figure)) == (1 if agents == 2 else 0) or agents == 1
    assert encoded(figure, "png")
    if agents == 1:
        assert figure.get_suptitle() == "quickstart: no links"


def test_many_links_are_thin_and_pale_and_have_no_labels():
    figure = drawn(made_up(networkx.complete_graph(70), family="complete"))
    (busy,) = lines(figure)
    assert busy.get_alpha() < 1
    assert busy.get_linewidth()[0] < 0.5
    assert busy.get_rasterized()
    assert list(figure.axes[0].texts) == []


@pytest.mark.ci
def test_of_very_many_links_the_most_used_are_drawn_and_the_title_says_so():
    use = np.arange(MOST_LINKS + 10, dtype=float)
    ends = np.column_stack([np.zeros(len(use), dtype=np.int64), np.arange(1, len(use) + 1)])
    figure = draw("big", Drawing(np.random.default_rng(1).random((len(use) + 1, 2)), ends, use), "one replication")
    (busy,) = lines(figure)
    assert len(busy.get_segments()) == MOST_LINKS
    assert busy.get_array().min() == 10
    assert subtitle(figure) == "one replication; the 50,000 most used of 50,010 links"


def test_numbers_stand_in_the_nodes_of_a_small_network():
    figure = drawn(made_up(networkx.cycle_graph(12)))
    assert [text.get_text() for text in figure.axes[0].texts] == [str(node) for node in range(12)]


def overlap(figure):
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts]  # without the lines that lead to some
    return any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


@pytest.mark.ci
def test_names_never_cover_one_another():
    rng = np.random.default_rng(4)
    graph = networkx.gnp_random_graph(60, 0.05, seed=3)
    places = Nodes(tuple(f"Node of {n}" for n in range(60)), rng.normal([50.0, 8.0], [2.0, 3.0], (60, 2)))
    figure = drawn(made_up(graph, family="file", nodes=places))
    assert 40 < len(figure.axes[0].texts) <= 60
    assert not overlap(figure)


def test_nodes_with_coordinates_stand_as_on_a_map():
    graph = networkx.path_graph(3)
    coordinates = np.array([[52.0, 4.0], [48.0, 11.0], [41.0, 2.0]])
    figure = drawn(made_up(graph, family="file", nodes=Nodes(("Delft", "Munich", "Barcelona"), coordinates)))
    where = nodes(figure)
    assert where[:, 1].tolist() == [52.0, 48.0, 41.0]
    assert where[2, 0] < where[0, 0] < where[1, 0]
    assert [text.get_text() for text in figure.axes[0].texts] == ["Delft", "Munich", "Barcelona"]


def test_a_network_across_the_date_line_is_not_torn():
    where = geographic(np.array([[35.0, 140.0], [37.0, -122.0], [-33.0, 151.0]]), np.array([[0, 1], [1, 2]]))
    assert where[0, 0] < where[2, 0] < where[1, 0]
    assert np.ptp(where[:, 0]) < 120


def test_nodes_without_coordinates_stand_near_their_neighbours_or_below():
    coordinates = np.array([[50.0, 0.0], [50.0, 10.0], [np.nan, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    where = geographic(coordinates, np.array([[0, 2], [1, 2], [2, 3]]))
    assert np.isfinite(where).all()
    assert where[0, 0] < where[2, 0] < where[1, 0]
    assert where[4, 1] < 50
    assert len(np.unique(where.round(6), axis=0)) == 5


def test_only_one_place_known():
    where = geographic(np.array([[50.0, 0.0], [np.nan, np.nan]]), np.array([[0, 1]]))
    assert len(np.unique(where.round(6), axis=0)) == 2


FAMILIES = {
    "ring": networkx.cycle_graph(9),
    "complete": networkx.complete_graph(9),
    "star": networkx.star_graph(8),
    "path": networkx.path_graph(40),
    "grid": networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(3, 5)),
    "tree": networkx.balanced_tree(3, 3),
    "random": networkx.gnp_random_graph(40, 0.2, seed=1),
    "small-world": networkx.watts_strogatz_graph(20, 4, 0.1, seed=1),
    "regular": networkx.random_regular_graph(4, 150, seed=1),
    "scale-free": networkx.barabasi_albert_graph(700, 2, seed=1),
    "hybrid": networkx.disjoint_union_all([networkx.cycle_graph(n) for n in (5, 9, 3, 1, 2)]),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_layout_of_different_places_which_is_always_the_same(family):
    graph = FAMILIES[family]
    where = laid_out(len(graph), links(graph), family)
    assert where.shape == (len(graph), 2)
    assert np.isfinite(where).all()
    assert len(np.unique(where.round(9), axis=0)) >= 0.9 * len(graph)
    np.testing.assert_array_equal(where, laid_out(len(graph), links(graph), family))


def test_a_ring_is_a_circle_and_the_centre_of_a_star_is_in_the_middle():
    ring = laid_out(9, links(FAMILIES["ring"]), "ring")
    np.testing.assert_allclose(np.ptp(np.linalg.norm(ring - ring.mean(axis=0), axis=1)), 0, atol=1e-9)
    star = laid_out(9, links(FAMILIES["star"]), "star")
    np.testing.assert_allclose(star[0], star[1:].mean(axis=0), atol=1e-9)


def test_a_grid_is_a_grid():
    where = laid_out(15, links(FAMILIES["grid"]), "grid")
    steps = where[links(FAMILIES["grid"])]
    np.testing.assert_allclose(np.linalg.norm(steps[:, 0] - steps[:, 1], axis=1), 1)


def test_components_stand_apart():
    graph = FAMILIES["hybrid"]
    where = laid_out(len(graph), links(graph), "ring")
    boxes = [
        (where[sorted(part)].min(axis=0), where[sorted(part)].max(axis=0))
        for part in networkx.connected_components(graph)
    ]
    for place, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:place]:
            assert (low > other_high).any() or (other_low > high).any()


def test_numbers_that_are_called_names_stand_in_the_nodes():
    plain, named = made_up(), made_up(nodes=Nodes(tuple(str(node) for node in range(20))))
    assert encoded(drawn(plain), "svg") == encoded(drawn(named), "svg")


def test_sinks_are_squares_beside_the_round_agents():
    graph = networkx.disjoint_union(networkx.star_graph(4), networkx.path_graph(3))
    figure = drawn(made_up(graph, family="hybrid", parameters={"protocol.kind": "sink"}))
    agents, sinks = [one for one in figure.axes[0].collections if isinstance(one, PathCollection)]
    assert len(agents.get_offsets()) == 8
    np.testing.assert_array_equal(sinks.get_offsets(), agents.get_offsets()[[0, 6]])
    assert subtitle(figure) == "one replication; squares: the sinks, each with an uplink to the server"


@pytest.mark.ci
@pytest.mark.sampled(3)
@pytest.mark.parametrize("file", ["abilene", "geant", "internet2", "redclara"])
def test_every_city_of_the_networks_that_we_ship_has_its_name(file, tmp_path):
    graph = graph_of(str(TOPOLOGIES / f"{file}.graphml"))
    places = geographic(graph.topology.coordinates, graph.topology.edges)
    names = list(graph.topology.names)
    figure = draw(file, Drawing(places, graph.topology.edges, None, names, map=True))
    assert sorted(text.get_text() for text in figure.axes[0].texts) == sorted(names)
    assert not overlap(figure)


@pytest.mark.parametrize(("worst", "chance"), [(10, True), (30, False)])
def test_the_link_that_loses_most_may_lose_it_by_chance(worst, chance):
    run = made_up()
    handed = np.full(len(run.links.messages), 35)
    lost = np.full(len(handed), 7)
    lost[4] = worst
    run = replace(run, links=replace(run.links, messages=handed, lost=lost))
    arrangement = arranged([run])
    title = " ".join(draw_network(arrangement, arrangement.points[0], "lost")._suptitle.get_text().split())
    ends = f"{run.links.first[4]} – {run.links.second[4]}"
    told = f"{round(100 * worst / 35)} % of what {ends} is given does not arrive, the most of all links"
    assert title == f"quickstart: {told}{', which may be chance' if chance else ''}"
    answers = [one.name for one in planned(study_of([run])) if one.answers]
    assert ("lost" in answers) is not chance  # a network in one colour says nothing
    fewer = {name: values[1:] for name, values in vars(run.links).items() if values is not None}
    study = study_of([run, replace(run, replication=1, links=replace(run.links, **fewer))])
    assert [one.name for one in planned(study) if one.answers] == answers  # of networks that differ, that of the first


def test_of_points_on_one_network_that_with_most_messages_is_drawn():
    runs = [made_up(parameters={"links.peer.loss": loss}) for loss in (0.0, 0.2, 0.1)]
    runs[1].links.messages[:] *= 3
    (point,) = network_points(arranged(runs))
    assert point.value("links.peer.loss") == 0.2
