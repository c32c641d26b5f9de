"""Panels of two swept keys are rows by columns: what is left out is left out of the whole grid."""

from itertools import product

import pytest
from helpers.made_up_runs import arranged, made_up, study_of

from netbandit.plots.facets import facets
from netbandit.plots.grouping import Arrangement
from netbandit.plots.heatmap import draw_heatmap
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import lay_out, subtitle
from netbandit.report.curves import readings

LATENCY, LOSS = "links.peer.latency", "links.peer.loss"


def held(combinations, keys="abc"):
    """An arrangement without points, and parts that hold *combinations* of these keys fixed."""
    keys = tuple(keys[: len(combinations[0])])
    columns = zip(keys, zip(*combinations, strict=True), strict=True)
    whole = Arrangement("x", keys, (), {key: sorted(set(some)) for key, some in columns})
    return whole, [(dict(zip(keys, values, strict=True)), whole) for values in combinations]


@pytest.mark.parametrize("sizes", [*product(range(2, 6), repeat=2), (2, 2, 2), (1, 3, 4), (4, 2, 3), (2, 5, 1)])
def test_columns_share_a_value_and_rows_all_others(sizes):
    layout = facets(*held(list(product(*map(range, sizes)))))
    assert len(layout.parts) == layout.rows * layout.columns == len(layout.places)
    cells = [layout.parts[row * layout.columns : (row + 1) * layout.columns] for row in range(layout.rows)]
    across = max(sizes)
    (key, *_) = [name for name, size in zip("abc", sizes, strict=False) if size == across][::-1]
    columns = [{cell[0][key] for cell in column} for column in zip(*cells, strict=True)]
    assert all(len(values) == 1 for values in columns)
    assert len(set.union(*columns)) == layout.columns == min(across, 3)
    for row in cells:
        assert len({tuple(value for name, value in cell[0].items() if name != key) for cell in row}) == 1
    every = len(list(product(*map(range, sizes))))
    assert bool(layout.left_out) == (len(layout.parts) < every)


def test_the_first_and_the_last_value_are_kept_and_what_is_left_out_is_said():
    layout = facets(*held(list(product(range(5), range(4))), keys=(LATENCY, LOSS)))
    assert [fixed[LATENCY] for fixed, _ in layout.parts] == [0, 2, 4] * 2
    assert [fixed[LOSS] for fixed, _ in layout.parts] == [0] * 3 + [3] * 3
    assert layout.left_out == "without latency 1; latency 3, without loss 1; loss 2"


def test_of_words_the_first_are_kept():
    layout = facets(*held(list(product("uvw", range(4))), keys=("bandit.kind", LATENCY)))
    assert [fixed["bandit.kind"] for fixed, _ in layout.parts] == ["u"] * 3 + ["v"] * 3
    assert [fixed[LATENCY] for fixed, _ in layout.parts] == [0, 2, 3] * 2
    assert layout.left_out == "without latency 1, without w"


def test_what_was_not_run_leaves_its_place_empty():
    layout = facets(*held([(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)]))
    assert layout.places == [0, 1, 2, 3, 5]
    assert (layout.rows, layout.columns) == (2, 3)
    assert [place for place in layout.places if layout.is_lowest(place)] == [1, 3, 5]
    assert [place for place in layout.places if layout.is_leftmost(place)] == [0, 3, 5]


def test_combinations_that_are_no_grid_follow_one_another():
    assert facets(*held([(0, 0), (1, 1), (2, 2), (3, 3)])).places == [0, 1, 2, 3]
    layout = facets(*held([(value,) for value in range(20)]))
    assert (layout.rows, layout.columns, layout.left_out) == (2, 3, "without a 1; a 2; a 3; and 11 more")
    long = [(f"a protocol with the long name {value}",) for value in range(20)]
    assert facets(*held(long)).left_out == "6 of 20 combinations"
    layout = facets(
        *held(
            [(value,) for value in ("0 slots", "1 slot", "3 slots", "4 slots", "5 slots", "6 slots", "7 slots")],
            keys=(LATENCY,),
        )
    )
    assert layout.left_out == "without latency 4 slots"


def sweep(latencies, losses, **more):
    return [
        made_up(parameters={"learner.kind": kind, LOSS: loss, LATENCY: latency}, **more)
        for kind in ("ucb", "thompson")
        for loss in losses
        for latency in latencies
    ]


def titles(figure):
    return [" ".join(panel.get_title().split()) for panel in figure.axes if panel.get_visible()]


def test_regret_compares_the_same_latencies_in_every_row():
    figure = draw_regret(arranged(sweep(["0 slots", "1 slots", "5 slots", "20 slots"], [0.0, 0.2])))
    found = [title.partition(", ")[2] for title in titles(figure)]
    assert found[:3] == found[3:]
    assert len(set(found)) == 3
    assert [title.partition(", ")[0][-1] for title in titles(figure)] == ["0"] * 3 + ["2"] * 3
    assert "without latency 1 slot" in subtitle(figure)


def test_a_place_without_a_panel_has_no_numbers_in_the_report():
    every = sweep(["1 ms", "2 ms", "3 ms"], [0.0, 0.2])
    runs = [run for run in every if (run.parameters[LOSS], run.parameters[LATENCY]) != (0.0, "2 ms")]
    figure = draw_regret(arranged(runs))
    lay_out(figure)
    assert [panel.get_visible() for panel in figure.axes] == [True, False, True, True, True, True]
    assert [" ".join(panel["title"].split()) for panel in readings(study_of(runs), figure)] == titles(figure)


@pytest.mark.ci
def test_maps_are_rows_by_columns_too():
    runs = [
        made_up(parameters={"a": a, "b": b, LOSS: loss, LATENCY: latency}, metrics={"regret": 10.0 * a + b + loss})
        for a, b, loss, latency in product((1, 2, 3), (1, 2, 3, 4), (0.0, 0.2), ("1 ms", "2 ms", "3 ms", "4 ms"))
    ]
    arrangement = arranged(runs)
    figure = draw_heatmap(arrangement, "b", "a", "regret", list(arrangement.slices([LOSS, LATENCY])))
    found = [title.partition(", ")[2] for title in titles(figure) if title]
    assert found[:3] == found[3:]
    assert len(found) == 6
