import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers.made_up_runs import arranged, curves, made_up, study_of
from matplotlib.collections import PolyCollection
from matplotlib.colors import same_color, to_hex
from matplotlib.text import Text
from scipy import stats

from netbandit.plots.grouping import arrange
from netbandit.plots.regret import common_grid, draw_regret, reads_better_logarithmic
from netbandit.plots.style import lay_out, subtitle


def sweep(key, values, replications=3, **keys):
    return [
        made_up(parameters={key: value}, replication=replication, bend=2_000 + 400 * place, **keys)
        for place, value in enumerate(values)
        for replication in range(replications)
    ]


def legend(figure):
    (box,) = figure.legends
    return box.get_title().get_text(), [text.get_text() for text in box.get_texts()]


def bands(panel):
    return [one for one in panel.collections if isinstance(one, PolyCollection)]


def test_the_band_is_the_t_interval_of_the_curves_on_a_common_grid():
    runs = [made_up(replication=replication, horizon=10_000) for replication in range(6)]
    (panel,) = draw_regret(arranged(runs)).axes
    (line,) = curves(panel)
    slots = line.get_xdata()
    assert slots[0] == 0
    assert slots[-1] == 10_000
    samples = np.array([np.interp(slots, run.curves["regret"].slots, run.curves["regret"].values) for run in runs])
    np.testing.assert_allclose(line.get_ydata(), samples.mean(axis=0))
    (band,) = bands(panel)
    corners = band.get_paths()[0].vertices
    low, high = stats.t.interval(0.95, len(runs) - 1, samples.mean(axis=0)[1:], stats.sem(samples)[1:])
    for slot, bottom, top in zip(slots[1:], low, high, strict=True):
        drawn = np.sort(corners[corners[:, 0] == slot, 1])
        np.testing.assert_allclose([drawn[0], drawn[-1]], [bottom, top])


@pytest.mark.ci
def test_more_than_five_lines_have_no_bands_and_their_labels_at_their_ends():
    for lines in (5, 6):
        figure = draw_regret(arranged(sweep("learner.rounds", range(2, 2 + lines))))
        (panel,) = figure.axes
        assert len(bands(panel)) == (lines if lines == 5 else 0)
        assert ("shaded" in subtitle(figure)) is bool(bands(panel))
        assert bool(figure.legends) is bool(bands(panel))
    *labels, heading = panel.texts
    assert heading.get_text() == "budget R (rounds)"
    ends = [(line.get_ydata()[-1], line.get_label()) for line in curves(panel)]
    assert [label.get_text() for label in labels] == [text for _, text in sorted(ends)]
    assert all(label.xy[1] == end for label, (end, _) in zip(labels, sorted(ends), strict=True))
    lay_out(figure)
    boxes = [Text.get_window_extent(label) for label in panel.texts]
    assert all(below.y1 <= above.y0 for below, above in itertools.pairwise(boxes))


def test_lines_that_end_at_different_slots_keep_their_legend():
    runs = [made_up(parameters={"run.horizon": end}, horizon=end) for end in range(1_000, 7_000, 1_000)]
    figure = draw_regret(arranged(runs))
    assert len(figure.legends) == 1
    assert not figure.axes[0].texts


def test_one_replication_has_no_band_and_no_legend():
    figure = draw_regret(arranged([made_up()]))
    assert bands(figure.axes[0]) == []
    assert len(figure.axes[0].lines) == 1
    assert figure.legends == []
    assert subtitle(figure) == "one replication"


def test_axes_and_title_say_what_is_seen():
    figure = draw_regret(arranged(sweep("learner.epsilon", [0.1, 1.0])))
    (panel,) = figure.axes
    assert panel.get_xlabel() == "time (slots)"
    assert panel.get_ylabel() == "regret of all agents (reward)"
    ends = "regret is between 16,200 (epsilon 0.1) and 16,600 (epsilon 1) after 10,000 slots, which may be chance"
    assert " ".join(figure.get_suptitle().split()) == f"quickstart: {ends}"
    assert subtitle(figure) == "mean of 3 replications, shaded: its 95 % interval; dots beside: where each run ends"
    compared = draw_regret(arrange(study_of(sweep("learner.epsilon", [0.1, 1.0])), bands="comparison"))
    shaded = "shaded: 95 % interval for comparing (within replications)"
    assert subtitle(compared) == f"mean of 3 replications, {shaded}; dots beside: where each run ends"
    neither = draw_regret(arrange(study_of(sweep("learner.epsilon", [0.1, 1.0])), bands=None))
    assert subtitle(neither) == "mean of 3 replications; dots beside: where each run ends"
    alone = draw_regret(arranged([made_up(replication=one) for one in range(3)]))
    assert subtitle(alone) == "mean of 3 replications, shaded: its 95 % interval; dots beside: where each run ends"
    assert panel.get_ylim()[0] == 0
    assert panel.xaxis.get_major_formatter()(4_000.0) == "4,000"


def test_one_series_per_value_in_ascending_order_whatever_the_order_of_the_runs():
    runs = sweep("learner.epsilon", [1.0, 0.1, float("inf"), 0.5])
    figure = draw_regret(arranged(runs))
    assert legend(figure) == ("learner's ε", ["0.1", "0.5", "1", "∞"])
    assert len(curves(figure.axes[0])) == 4
    assert len(bands(figure.axes[0])) == 4


def test_words_keep_the_order_of_the_sweep():
    runs = sweep("topology.family", ["ring", "complete", "star"])
    assert legend(draw_regret(arranged(runs))) == ("topology", ["ring", "complete", "star"])


def test_a_second_key_makes_panels_with_the_same_colours():
    runs = [
        made_up(parameters={"topology.family": family, "topology.agents": agents}, replication=replication)
        for family in ("star", "ring")
        for agents in (10, 20, 30)
        for replication in range(2)
    ]
    figure = draw_regret(arranged(runs))
    assert [panel.get_title() for panel in figure.axes] == ["agents 10", "agents 20", "agents 30"]
    colours = {tuple(to_hex(line.get_color()) for line in panel.lines) for panel in figure.axes}
    assert len(colours) == 1
    assert legend(figure)[1] == ["star", "ring"]


def test_many_combinations_are_thinned_and_the_title_says_so():
    runs = [
        made_up(parameters={"topology.family": family, "topology.agents": agents})
        for family in ("star", "ring")
        for agents in range(10, 30)
    ]
    figure = draw_regret(arranged(runs))
    assert len(figure.axes) == 6
    assert figure.axes[0].get_title() == "agents 10"
    assert figure.axes[-1].get_title() == "agents 29"
    assert "without agents 11; agents 12; agents 13; and 11 more" in subtitle(figure)


def test_panels_share_their_axes_and_show_all_ends():
    def axes(bends):
        runs = [
            made_up(parameters={"topology.family": family, "topology.agents": agents}, bend=bend)
            for family in ("star", "ring")
            for agents, bend in enumerate(bends)
        ]
        return draw_regret(arranged(runs)).axes

    close, far = axes([2_000, 2_500]), axes([100, 9_000])
    for panels, scale in ((close, "linear"), (far, "log")):
        assert panels[0].get_ylim() == panels[1].get_ylim()
        for panel in panels:
            assert panel.get_yscale() == scale
            low, high = panel.get_ylim()
            assert all(low <= line.get_ydata()[-1] <= high for line in panel.lines)


@pytest.mark.ci
def test_more_values_than_colours_take_a_scale_of_shades_and_fewer_bands():
    runs = sweep("topology.agents", list(range(10, 50)))
    figure = draw_regret(arranged(runs))
    panel = figure.axes[0]
    assert len(panel.lines) == 40
    assert len({to_hex(line.get_color()) for line in panel.lines}) == 40
    assert bands(panel) == []
    title, entries = legend(figure)
    assert "14 of 40" in title
    assert entries[0] == "10"
    assert entries[-1] == "49"


def test_curves_that_lie_on_one_another_differ_in_their_dashes():
    runs = [made_up(parameters={"topology.family": family}) for family in ("star", "complete")]
    first, second = draw_regret(arranged(runs)).axes[0].lines
    assert not same_color(first.get_color(), second.get_color())
    assert first._dash_pattern != second._dash_pattern


def test_a_horizon_of_one_and_no_regret_at_all():
    run = made_up(horizon=1, bend=1)
    run.curves["regret"].values[:] = 0.0
    (panel,) = draw_regret(arranged([run])).axes
    assert panel.lines[0].get_xdata().tolist() == [0, 1]
    assert panel.get_xlim() == (0, 1)
    assert panel.get_ylim() == (0, 1)


def test_equal_replications_have_a_band_without_width():
    runs = [made_up(replication=replication, spread=0.0) for replication in range(3)]
    (panel,) = draw_regret(arranged(runs)).axes
    corners = bands(panel)[0].get_paths()[0].vertices
    assert corners[:, 1].max() == panel.lines[0].get_ydata().max()


def test_horizons_of_a_sweep_end_where_they_end():
    runs = [made_up(parameters={"run.horizon": horizon}, horizon=horizon) for horizon in (1_000, 5_000)]
    (panel,) = draw_regret(arranged(runs)).axes
    assert [line.get_xdata()[-1] for line in panel.lines] == [1_000, 5_000]
    assert panel.get_xscale() == "linear"


def test_horizons_and_regrets_decades_apart_stand_on_two_logarithmic_axes():
    runs = [
        made_up(parameters={"run.horizon": horizon}, horizon=horizon, bend=horizon / 10, replication=one)
        for horizon in (1_000, 1_000_000)
        for one in range(3)
    ]
    (panel,) = draw_regret(arranged(runs)).axes
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    lowest = min(line.get_ydata().min() for line in panel.lines)
    assert 0 < panel.get_ylim()[0] < lowest


def test_runs_without_regret_stand_at_zero_on_a_logarithmic_axis_and_leave_the_panels_their_room():
    runs = [
        made_up(parameters={"learner.rounds": rounds, "learner.kind": kind}, replication=one, bend=8_000 / rounds**2)
        for rounds in (1, 2, 4, 8)
        for kind in ("elimination", "ucb")
        for one in range(4)
    ]
    lucky = runs[0].curves["regret"]
    runs[0].curves["regret"] = replace(lucky, values=np.zeros_like(lucky.values))
    figure = draw_regret(arranged(runs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lay_out(figure)
    panels = figure.axes
    assert min(panel.bbox.width for panel in panels) > 300
    zero = panels[0].get_ylim()[0]
    assert panels[0].get_yticklabels()[0].get_text() == "0"
    assert panels[0].get_yticks()[0] == zero
    dots = [min(line.get_ydata()) for panel in panels for line in panel.lines if line.get_label() == "_run"]
    assert dots.count(zero) == 1
    assert min(one for one in dots if one != zero) > zero


@pytest.mark.parametrize(
    ("runs", "logarithmic"),
    [
        ([made_up(horizon=100_000, bend=300)], True),
        ([made_up(horizon=100_000, bend=30_000)], False),
        ([made_up(horizon=100, bend=1)], False),
        ([made_up(horizon=100), made_up(horizon=10_000)], True),
    ],
)
def test_slots_are_logarithmic_only_where_that_reads_better(runs, logarithmic):
    assert reads_better_logarithmic(runs) is logarithmic


def test_a_logarithmic_axis_begins_at_the_first_slot():
    (panel,) = draw_regret(arranged([made_up(horizon=100_000, bend=300)])).axes
    assert panel.get_xscale() == "log"
    assert panel.get_xlim() == (1, 100_000)
    assert panel.lines[0].get_xdata()[0] == 1


@pytest.mark.parametrize("horizon", [1, 2, 599, 600, 601, 10**12])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_the_common_grid_ascends_from_zero_to_the_horizon(horizon, logarithmic):
    grid = common_grid(horizon, logarithmic)
    assert grid[0] == 0
    assert grid[-1] == horizon
    assert (np.diff(grid) > 0).all()
    assert len(grid) <= 602


def test_cases_that_are_no_grid_stand_in_one_panel_and_none_hides_the_others():
    cases = [("gis", "star"), ("gis", "ring"), ("sink", "hybrid"), ("flooding", "random"), ("silent", "star")]
    runs = [
        made_up(parameters={"protocol.kind": kind, "topology.family": family}, bend=2_000.0 + 100 * place)
        for place, (kind, family) in enumerate(cases)
    ]
    runs[-1].curves["regret"].values[:] *= 60
    figure = draw_regret(arranged(runs))
    (panel,) = figure.axes
    assert panel.get_yscale() == "log"
    low, high = panel.get_ylim()
    assert all(low < line.get_ydata()[-1] < high for line in curves(panel))
    assert len({(line.get_color(), str(line._dash_pattern)) for line in curves(panel)}) == len(cases)
    assert set(legend(figure)[1]) == {"gis, star", "gis, ring", "sink, hybrid", "flooding, random", "silent, star"}


def test_cases_at_each_value_of_a_key_stand_side_by_side_with_all_cases_in_each_panel():
    cases = [("gis", 2), ("gis", 4), ("sink", 8), ("flooding", 6), ("flooding", 3)]
    runs = [
        made_up(parameters={"protocol.kind": kind, "learner.rounds": rounds, "bandit.arms": arms})
        for kind, rounds in cases
        for arms in (5, 10, 20)
    ]
    figure = draw_regret(arranged(runs))
    assert [panel.get_title(loc="center") for panel in figure.axes] == ["arms 5", "arms 10", "arms 20"]
    assert [len(curves(panel)) for panel in figure.axes] == [5, 5, 5]
    assert len({panel.get_ylim() for panel in figure.axes}) == 1
    assert set(legend(figure)[1]) == {"gis, 2", "gis, 4", "sink, 8", "flooding, 6", "flooding, 3"}


def test_runs_that_end_with_the_last_answer_are_drawn_up_to_it():
    runs = [
        made_up(
            parameters={"links.peer.latency": latency, "run.until": "answered"},
            metrics={"stop_slot": last + one},
            replication=one,
        )
        for latency, last in (("0 ms", 300), ("10 ms", 700))
        for one in range(2)
    ]
    figure = draw_regret(arranged(runs))
    assert figure.get_suptitle().endswith("until the last answer")
    assert figure.axes[0].get_xlim()[1] == 701
    assert sorted(line.get_xdata()[-1] for line in curves(figure.axes[0])) == [301, 701]
    runs[-1].metrics["stop_slot"] = None  # it had not answered at the limit
    assert draw_regret(arranged(runs)).axes[0].get_xlim()[1] == 10_000
