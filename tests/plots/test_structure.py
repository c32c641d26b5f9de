import math

import numpy as np
import pytest
from helpers.made_up_runs import arranged, made_up, study_of
from matplotlib.collections import PathCollection

from netbandit.plots.choice import pictures
from netbandit.plots.structure import draw_structures, structures_vary
from netbandit.plots.style import subtitle

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
    figure = draw_structures(arranged(runs()))
    (panel,) = figure.axes
    drawn = {}
    for marks in circles(panel):
        [(x, y)] = marks.get_offsets().tolist()
        drawn[x] = (y, float(marks.get_sizes()[0]))
    assert drawn[5_000.0][0] == pytest.approx(910)
    assert drawn[400.0][0] == pytest.approx(810)
    assert drawn[400.0][1] < 0.2 * drawn[5_000.0][1] < drawn[300.0][1]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["master-worker", "gis", "sink", "star", "ring"]


def test_a_mark_has_the_bar_of_its_interval():
    (panel,) = draw_structures(arranged(runs(families=("star",)))).axes
    ends = [bars.get_segments()[0] for bars in panel.collections if not isinstance(bars, PathCollection)]
    half = 4.3026527 * 10 / math.sqrt(3)  # of 0, 10 and 20 above the least
    np.testing.assert_allclose(ends[1], [(400, 810 - half), (400, 810 + half)])
    assert len(ends) == 3  # costs do not differ, so no bar lies across


def test_who_says_nothing_is_told_of_in_words():
    figure = draw_structures(arranged(runs()))
    text = " ".join(subtitle(figure).split())
    assert "up to 161" in text
    assert "not shown: silent, with regret 50,010 at no cost" in text


def test_one_family_needs_no_shapes():
    figure = draw_structures(arranged(runs(families=("star",))))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["master-worker", "gis", "sink"]


def test_where_nothing_costs_anything_all_is_drawn():
    free = {kind: (0.0, regret, 0.0) for kind, (_, regret, _) in POINTS.items()}
    figure = draw_structures(arranged(runs(free)))
    assert len(circles(figure.axes[0])) == 8
    assert "not shown" not in subtitle(figure)
