import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.made_up_runs import arranged, made_up, study_of
from matplotlib.collections import PathCollection

from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import structure_chart, structures_vary
from netbandit.plots.grouping import arrange
from netbandit.plots.study_pictures import pictures
from netbandit.plots.style import subtitle
from netbandit.simulation.result import STILL_EXPLORING

POINTS = {  # protocol -> cost, regret, slots waited per round
    "master-worker": (5_000.0, 900.0, 160.0),
    "gis": (400.0, 800.0, 2.0),
    "sink": (300.0, 910.0, 161.0),
    "silent": (0.0, 50_000.0, 0.0),
}


def runs(points=POINTS, families=("star", "ring")):
    return [
        made_up(
            family=family,
            parameters={"protocol.kind": kind, "topology.family": family},
            replication=replication,
            metrics={"cost": cost, "regret": regret + 10 * replication, "round_slots": delay},
        )
        for kind, (cost, regret, delay) in points.items()
        for family in families
        for replication in range(3)
    ]


def circles(panel):
    return [one for one in panel.collections if isinstance(one, PathCollection)]


def test_three_protocols_or_more_are_compared():
    assert structures_vary(arranged(runs()))
    two = {kind: POINTS[kind] for kind in ("gis", "sink")}
    assert not structures_vary(arranged(runs(two)))
    assert not structures_vary(arranged([made_up(replication=one) for one in range(3)]))


@pytest.mark.parametrize("varied", ["topology.seed", "learner.rounds"])
def test_the_same_points_are_not_drawn_twice(varied):
    """Regret against cost once: of all points, or also along what is neither protocol nor topology."""
    points = [
        made_up(parameters={"protocol.kind": kind, varied: value}, metrics={"cost": cost + value, "regret": regret})
        for kind, (cost, regret, _) in POINTS.items()
        for value in (1, 2)
    ]
    drawn = {picture.name for picture in pictures(study_of(points))}
    assert {"structure", "tradeoff"} & drawn == (
        {"structure"} if varied == "topology.seed" else {"structure", "tradeoff"}
    )


def test_a_mark_stands_at_its_cost_and_regret_and_grows_with_delay():
    figure = draw_chart(structure_chart(arranged(runs())))
    (panel,) = figure.axes
    drawn = {}
    for marks in circles(panel):
        [(x, y)] = marks.get_offsets().tolist()
        drawn[x] = (y, float(marks.get_sizes()[0]))
    assert drawn[5_000.0][0] == pytest.approx(910)
    assert drawn[400.0][0] == pytest.approx(810)
    assert drawn[400.0][1] < 0.2 * drawn[5_000.0][1] < drawn[300.0][1]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["master-worker", "gis", "sink", "silent", "topology", "star", "ring"]


def test_a_mark_has_the_bar_of_its_interval():
    (panel,) = draw_chart(structure_chart(arranged(runs(families=("star",))))).axes
    ends = [bars.get_segments()[0] for box in panel.containers for bars in box[2]]
    half = 4.3026527 * 10 / math.sqrt(3)  # of 0, 10 and 20 above the least
    np.testing.assert_allclose(ends[1], [(400, 810 - half), (400, 810 + half)])
    assert len(ends) == 3  # costs do not differ, so no bar lies across
    # All points gain by the same in each replication: nothing is left that a comparison would have to fear.
    (compared,) = draw_chart(structure_chart(arrange(study_of(runs(families=("star",))), bands="comparison"))).axes
    assert not [box for box in compared.containers if box[2]]


def test_who_says_nothing_and_is_worse_by_far_stands_at_the_edge_with_what_it_came_to():
    figure = draw_chart(structure_chart(arranged(runs())))
    assert "up to 161" in subtitle(figure)
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.texts] == ["silent, star ↑ 50,010", "silent, ring ↑ 50,010"]
    assert panel.get_ylim()[1] < 2_000


def test_what_stands_at_the_edge_is_marked_where_its_runs_fell_short():
    exploring = [
        replace(run, remarks=(STILL_EXPLORING,)) if run.parameters["protocol.kind"] == "silent" else run
        for run in runs()
    ]
    figure = draw_chart(structure_chart(arranged(exploring)))
    assert "* no round ended" in subtitle(figure)
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.texts] == ["silent, star * ↑ 50,010", "silent, ring * ↑ 50,010"]


def test_who_says_nothing_and_is_best_is_no_less_drawn():
    points = POINTS | {"silent": (0.0, 100.0, 0.0)}
    figure = draw_chart(structure_chart(arranged(runs(points, families=("star",)))))
    (panel,) = figure.axes
    ((silent, height),) = [one for marks in circles(panel) for one in marks.get_offsets().tolist() if one[1] < 800]
    assert height == 110.0
    low, high = panel.get_ylim()
    assert low < 100 < high
    assert 0 < panel.get_xlim()[0] < silent < 300  # on a logarithmic axis zero has a place of its own
    assert not panel.texts


def test_far_apart_costs_leave_zero_a_place_with_its_tick():
    points = POINTS | {"silent": (0.0, 700.0, 0.0), "gossip": (90_000.0, 600.0, 5.0)}
    figure = draw_chart(structure_chart(arranged(runs(points, families=("star",)))))
    figure.draw_without_rendering()
    (panel,) = figure.axes
    assert panel.get_xscale() == "log"
    ticks = {text.get_text(): text.get_window_extent() for text in panel.get_xticklabels() if text.get_text()}
    assert "0" in ticks
    silent = min(float(marks.get_offsets()[0][0]) for marks in circles(panel))
    assert silent < 300
    boxes = sorted(ticks.values(), key=lambda box: box.x0)
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))


def test_a_wait_that_did_not_end_is_no_wait_of_zero():
    some = runs(families=("star",))
    for run in some:
        if run.parameters["protocol.kind"] == "gis" and run.replication == 1:
            run.metrics["round_slots"] = None
    figure = draw_chart(structure_chart(arranged(some)))
    assert "waiting not drawn as size (dotted), where no round ended in some runs: gis" in subtitle(figure)
    dotted = [marks for marks in circles(figure.axes[0]) if marks.get_linestyle()[0][1] is not None]
    assert [marks.get_offsets().tolist()[0][0] for marks in dotted] == [400.0]


def test_points_that_differ_in_anything_are_no_two_of_one_mark():
    keys = ("protocol.kind", "learner.kind", "topology.family", "topology.components")
    cases = [
        ("gis", "ucb", "star", "–"),
        ("gis", "klucb", "star", "–"),
        ("gis", "ucb", "ring", "–"),
        ("sink", "ucb", "hybrid", [5, 5]),
        ("sink", "ucb", "hybrid", [2] * 5),
        ("flooding", "klucb", "ring", "–"),
    ]
    some = [
        made_up(
            parameters={key: value for key, value in zip(keys, case, strict=True) if value != "–"},
            metrics={"cost": 100.0 * (place + 1), "regret": 1_000.0 + place},
        )
        for place, case in enumerate(cases)
    ]
    figure = draw_chart(structure_chart(arranged(some)))
    marks = [
        (tuple(marks.get_edgecolor()[0]), marks.get_paths()[0].vertices.tobytes()) for marks in circles(figure.axes[0])
    ]
    assert len(set(marks)) == len(cases)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "hybrid, ucb, 2 × 5" in labels
    assert not any("–" in label for label in labels)


def test_a_number_of_too_many_values_for_shapes_is_told_of():
    some = [
        made_up(
            parameters={"protocol.kind": kind, "topology.family": family, "learner.rounds": rounds},
            metrics={"cost": 10.0 * rounds, "regret": 900.0},
        )
        for kind in ("gis", "sink", "flooding")
        for family in ("star", "ring")
        for rounds in range(1, 9)
    ]
    figure = draw_chart(structure_chart(arranged(some)))
    assert "points with the same marker differ in budget R" in subtitle(figure)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["gis", "sink", "flooding", "topology", "star", "ring"]


def test_one_family_needs_no_shapes():
    figure = draw_chart(structure_chart(arranged(runs(families=("star",)))))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["master-worker", "gis", "sink", "silent"]


def test_where_nothing_costs_anything_all_is_drawn():
    free = {kind: (0.0, regret, 0.0) for kind, (_, regret, _) in POINTS.items()}
    figure = draw_chart(structure_chart(arranged(runs(free))))
    assert sum(len(box[0].get_xdata()) for box in figure.axes[0].containers) == 8
    assert not circles(figure.axes[0])  # where nobody waits all marks are of one size
    assert "not shown" not in subtitle(figure)
