import networkx
import numpy as np
import pytest
from helpers.made_up_runs import arranged, curves, family_sweep, made_up, study_of
from matplotlib.colors import to_hex
from scipy import stats

from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import (
    axis_key,
    chart_of,
    cost_chart,
    cost_varies,
    diameter_chart,
    diameter_varies,
    parameter_chart,
    structure_chart,
)
from netbandit.plots.grouping import arrange
from netbandit.plots.regret import draw_regret
from netbandit.plots.style import subtitle


def bars(panel):
    """The ends of the vertical error bars, one (low, high) a marker."""
    return [
        (float(segment[0, 1]), float(segment[1, 1]))
        for container in panel.containers
        for collection in container[2]
        for segment in collection.get_segments()
        if segment[0, 0] == segment[1, 0]
    ]


def markers(panel):
    return [(line.get_marker(), to_hex(line.get_color()), line) for line in (box[0] for box in panel.containers)]


def test_cost_delay_and_regret_stand_against_the_diameter():
    runs = family_sweep(4)
    figure = draw_chart(diameter_chart(arranged(runs)))
    cost, delay, regret = figure.axes
    assert delay.get_ylabel() == "waiting per round (slots)"
    assert [line.get_ydata().tolist() for _, _, line in markers(delay)] == [[2.0], [4.0], [1.0]]
    assert cost.get_xlabel() == regret.get_xlabel() == "diameter (hops)"
    assert cost.get_ylabel() == "cost (weighted link activations)"
    assert regret.get_ylabel() == "regret of all agents (reward)"
    assert [line.get_xdata().tolist() for _, _, line in markers(cost)] == [[2.0], [4.0], [1.0]]
    of_star = [run.metrics["regret"] for run in runs if run.parameters["topology.family"] == "star"]
    np.testing.assert_allclose(markers(regret)[0][2].get_ydata(), [np.mean(of_star)])
    low, high = stats.t.interval(0.95, 3, np.mean(of_star), stats.sem(of_star))
    np.testing.assert_allclose(bars(regret)[0], (low, high))
    assert subtitle(figure) == "means of 4 replications with 95 % intervals; dots: all runs"
    compared = subtitle(draw_chart(diameter_chart(arrange(study_of(runs), bands="comparison"))))
    assert "means of 4 replications; bars: 95 % intervals for comparing (within replications); dots" in compared


def test_families_differ_in_colour_and_in_marker_and_keep_both_everywhere():
    arrangement = arranged(family_sweep(4))
    figure = draw_chart(diameter_chart(arrangement))
    (box,) = figure.legends
    assert [text.get_text() for text in box.get_texts()] == ["star", "ring", "complete"]
    shapes = [(marker, colour) for marker, colour, _ in markers(figure.axes[0])]
    assert len({marker for marker, _ in shapes}) == len({colour for _, colour in shapes}) == 3
    assert shapes == [(marker, colour) for marker, colour, _ in markers(figure.axes[1])]
    assert [to_hex(line.get_color()) for line in curves(draw_regret(arrangement).axes[0])] == [one[1] for one in shapes]
    bought = draw_chart(cost_chart(arrangement))
    assert shapes == [(marker, colour) for marker, colour, _ in markers(bought.axes[0])]


def test_one_replication_has_no_bars():
    figure = draw_chart(diameter_chart(arranged(family_sweep(1))))
    assert bars(figure.axes[0]) == []
    assert subtitle(figure) == "one replication"


def test_diameters_that_differ_between_replications_have_bars_of_their_own():
    graphs = [networkx.path_graph(9), networkx.cycle_graph(9)]
    runs = [made_up(graph, parameters={"topology.p": 0.1}, replication=one) for one, graph in enumerate(graphs)]
    runs += [made_up(networkx.star_graph(8), parameters={"topology.p": 0.9}, replication=one) for one in range(2)]
    panel = draw_chart(diameter_chart(arranged(runs))).axes[0]
    (line,) = [line for _, _, line in markers(panel)]
    assert line.get_xdata().tolist() == [6.0, 2.0]


def test_what_is_zero_everywhere_has_no_panel_unless_it_is_asked_for():
    runs = family_sweep(4, metrics={"cost": 0.0, "rounds": 0, "round_slots": 0.0})
    drawn = draw_chart(diameter_chart(arranged(runs)))
    assert [panel.get_ylabel() for panel in drawn.axes] == ["regret of all agents (reward)"]
    assert drawn.get_suptitle() == "quickstart: regret is 7,300 at all points"
    (panel,) = draw_chart(chart_of(arranged(runs), "diameter", "cost", "topology.family")).axes
    assert panel.get_ylim() == (0, 1)
    assert [line.get_ydata().tolist() for _, _, line in markers(panel)] == [[0.0]] * 3
    free = [made_up(parameters={"feedback.delay": f"{n} slots"}, metrics={"cost": 0, "round_slots": 0}) for n in (1, 9)]
    drawn = draw_chart(parameter_chart(arranged(free), "feedback.delay"))
    assert [panel.get_ylabel() for panel in drawn.axes] == ["regret of all agents (reward)"]
    assert drawn.get_suptitle() == "quickstart: regret is the same at every delay of the feedback"


def test_a_metric_that_one_column_lacks_has_no_panel_there():
    runs = [
        made_up(
            parameters={"learner.share": share, "topology.family": family, "links.peer.latency": latency},
            metrics={"round_slots": None if share == "never" else 5.0 * int(latency[0])},
        )
        for share in ("exact", "never")
        for family in ("star", "ring")
        for latency in ("1 ms", "2 ms")
    ]
    whole = arranged(runs)
    drawn = draw_chart(parameter_chart(whole, "links.peer.latency", list(whole.slices(["learner.share"]))))
    assert [panel.get_visible() for panel in drawn.axes] == [True, True, True, False]
    assert [bool(panel.get_xlabel()) for panel in drawn.axes] == [False, True, True, False]


def test_lines_that_coincide_are_named():
    runs = [
        made_up(
            parameters={"energy.preset": kind, "energy.idle": idle}, metrics={"regret": regret, "round_slots": idle}
        )
        for kind, regrets in (("sf7", (7_000.0, 3e6)), ("sf9", (7_010.0, 3e6)), ("sf12", (7_000.0, 1e6)))
        for idle, regret in zip((1e-5, 1e-3), regrets, strict=True)
    ]
    drawn = draw_chart(chart_of(arranged(runs), "energy.idle", color="energy.preset"))
    assert "; lines coincide: sf7 and sf9" in subtitle(drawn)
    alone = [run for run in runs if run.parameters["energy.preset"] != "sf12"]
    drawn = draw_chart(parameter_chart(arranged(alone), "energy.idle"))
    assert "; all lines coincide in regret of all agents" in subtitle(drawn)


def test_costs_far_apart_stand_on_a_logarithmic_axis_that_no_bar_stretches():
    runs = [
        made_up(parameters={"topology.agents": agents}, replication=one, metrics={"cost": cost * (1 + 1.9 * one)})
        for agents, cost in ((5, 1.0), (50, 5_000.0))
        for one in range(2)
    ]
    panel = draw_chart(diameter_chart(arranged(runs))).axes[0]
    assert panel.get_yscale() == "log"
    assert panel.get_ylim()[0] > 0.5


def test_runs_at_zero_and_bars_that_reach_below_stand_at_the_zero_of_a_logarithmic_axis():
    runs = [
        made_up(
            parameters={"learner.rounds": rounds},
            replication=one,
            metrics={"cost": 0.0 if rounds == 1 and one else 100.0 * rounds, "regret": float(regret * (2 - one % 2))},
        )
        for rounds, regret in ((1, 500), (8, 90), (64, 2))
        for one in range(4)
    ]
    runs[-1].metrics["regret"] = 0.0
    (panel,) = draw_chart(cost_chart(arranged(runs))).axes
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    for axis, which in ((panel.xaxis, 0), (panel.yaxis, 1)):
        zero = axis.get_major_locator().zero
        assert axis.get_major_formatter()(zero) == "0"
        dots = [float(place) for line in panel.lines if line.get_label() == "_run" for place in line.get_data()[which]]
        assert len(dots) == len(runs)
        assert dots.count(zero) == (3 if which == 0 else 1)
        assert min(axis.get_view_interval()) < min(dots) == zero
    across = [
        segment[:, 0]
        for box in panel.containers
        for collection in box[2]
        for segment in collection.get_segments()
        if segment[0, 1] == segment[1, 1]
    ]
    assert min(float(ends[0]) for ends in across) == panel.xaxis.get_major_locator().zero


def test_what_grows_with_the_diameter_by_decades_has_a_logarithmic_axis_with_ticks_between():
    runs = [
        made_up(networkx.path_graph(agents), family="path", parameters={"topology.agents": agents})
        for agents in (3, 9, 27, 81)
    ]
    cost, delay, regret = draw_chart(diameter_chart(arranged(runs))).axes
    assert (cost.get_xscale(), delay.get_yscale(), regret.get_yscale()) == ("log", "log", "log")
    low, high = cost.get_xlim()
    assert [tick for tick in cost.get_xticks() if low < tick < high] == [3, 10, 30, 100]
    low, high = delay.get_ylim()
    assert [tick for tick in delay.get_yticks() if low < tick < high] == [2, 5, 10, 20, 50, 100]


def test_a_figure_that_does_not_exist_has_no_marker():
    runs = family_sweep(2)
    for run in runs:
        if run.parameters["topology.family"] == "ring":
            run.metrics["cost"] = None
    panel = draw_chart(diameter_chart(arranged(runs))).axes[0]
    assert len(panel.containers) == 2


@pytest.mark.parametrize(
    ("runs", "varies"),
    [
        (family_sweep(1), True),
        ([made_up(parameters={"learner.epsilon": e}) for e in (0.1, 1.0)], False),
        ([made_up(networkx.complete_graph(n), parameters={"topology.agents": n}) for n in (5, 9)], False),
    ],
)
def test_the_diameter_matters_if_the_topology_changes_it(runs, varies):
    assert diameter_varies(arranged(runs)) is varies


def test_a_tradeoff_takes_three_costs():
    costs = [made_up(parameters={"learner.rounds": n}, metrics={"cost": 50.0 * n}) for n in (2, 3, 4)]
    assert cost_varies(arranged(costs))
    assert not cost_varies(arranged(costs[:2]))


def latencies(values=("0 slots", "5 slots", "50 slots", "500 slots"), replications=4, **parameters):
    return [
        made_up(
            parameters={**parameters, "links.peer.latency": value},
            replication=one,
            bend=2_000 + 300 * place,
            metrics={"round_slots": 10.0 * (place + 1)},
        )
        for place, value in enumerate(values)
        for one in range(replications)
    ]


def test_regret_and_waiting_stand_against_a_latency_with_its_unit():
    arrangement = arranged(latencies())
    assert axis_key(arrangement) == "links.peer.latency"
    figure = draw_chart(parameter_chart(arrangement, "links.peer.latency"))
    regret, waiting = figure.axes
    assert regret.get_xlabel() == waiting.get_xlabel() == "latency of a peer link (slots)"
    assert waiting.get_ylabel() == "waiting per round (slots)"
    assert [tick.get_text() for tick in regret.get_xticklabels()] == ["0", "5", "50", "500"]
    assert markers(waiting)[0][2].get_ydata().tolist() == [10.0, 20.0, 30.0, 40.0]
    assert len(bars(regret)) == 4
    ends = "regret is between 15,800 (latency 0 slots) and 21,400 (latency 500 slots), which may be chance"
    assert " ".join(figure.get_suptitle().split()) == f"quickstart: {ends}"
    assert figure.legends == []


def test_equal_steps_of_a_magnitude_are_equally_wide():
    figure = draw_chart(parameter_chart(arranged(latencies()), "links.peer.latency"))
    places = np.diff(markers(figure.axes[0])[0][2].get_xdata())
    np.testing.assert_allclose(places, places[0])


def test_without_waiting_the_second_panel_is_the_cost():
    runs = [
        made_up(parameters={"learner.epsilon": e}, metrics={"round_slots": None, "cost": e}, bend=e) for e in (0.5, 1.0)
    ]
    figure = draw_chart(parameter_chart(arranged(runs), "learner.epsilon"))
    assert figure.axes[1].get_ylabel() == "cost (weighted link activations)"
    assert figure.axes[1].get_xlabel() == "learner's ε"


@pytest.mark.parametrize(
    ("waits", "text"),
    [((78.0, 78.0), "78 everywhere"), ((78.0, None), "78 where it is known"), ((0.0, 0.0), "")],
)
def test_what_is_the_same_at_all_points_is_told_and_not_drawn(waits, text):
    runs = [
        made_up(parameters={"adversary.share": share}, metrics={"round_slots": wait, "cost": 0.0}, bend=100)
        for share, wait in zip((0.0, 0.3), waits, strict=True)
    ]
    figure = draw_chart(parameter_chart(arranged(runs), "adversary.share"))
    assert [panel.get_ylabel() for panel in figure.axes] == ["regret of all agents (reward)"]
    assert ("waiting per round (slots): " in subtitle(figure)) == bool(text)
    assert text in subtitle(figure)


def test_where_nobody_waits_the_delay_of_what_is_heard_takes_its_place():
    runs = [
        made_up(
            parameters={"links.peer.latency": f"{n} ms"}, metrics={"round_slots": 0.0, "delay_slots": 2.0 * n}, bend=n
        )
        for n in (1, 5)
    ]
    figure = draw_chart(parameter_chart(arranged(runs), "links.peer.latency"))
    assert figure.axes[1].get_ylabel() == "delay of received items (slots)"
    assert markers(figure.axes[1])[0][2].get_ydata().tolist() == [2.0, 10.0]
    market = family_sweep(4)
    for run in market:
        run.metrics.update({"round_slots": 0.0, "delay_slots": float(run.topology["diameter"])})
    assert draw_chart(diameter_chart(arranged(market))).axes[1].get_ylabel() == "delay of received items (slots)"
    for run in market:
        run.metrics["delay_slots"] = 3.0
    drawn = draw_chart(diameter_chart(arranged(market)))
    assert len(drawn.axes) == 2
    assert "; delay of received items (slots): 3 everywhere" in subtitle(drawn)


def test_infinity_stands_at_the_end_and_no_line_leads_to_it():
    runs = [made_up(parameters={"learner.epsilon": e}) for e in (0.5, 1.0, 2.0, float("inf"))]
    panel = draw_chart(parameter_chart(arranged(runs), "learner.epsilon")).axes[0]
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["0.5", "1", "2", "∞"]
    assert [len(line.get_xdata()) for _, _, line in markers(panel)] == [3, 1]


def test_the_second_swept_key_is_the_series():
    runs = [run for family in ("star", "ring") for run in latencies(**{"topology.family": family})]
    arrangement = arranged(runs)
    figure = draw_chart(parameter_chart(arrangement, "links.peer.latency"))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["star", "ring"]
    assert figure.legends[0].get_title().get_text() == "topology"
    panel = figure.axes[0]
    first, second = (line.get_xdata() for _, _, line in markers(panel))
    np.testing.assert_array_equal(first, second)  # on a steep line what stands aside would seem higher or lower
    for container in panel.containers:
        np.testing.assert_array_equal(container[1][0].get_xdata(), first)  # bars stand at their markers


def test_no_axis_begins_where_nothing_can_be():
    """A cost is not negative, though the interval of few runs is."""
    runs = [
        made_up(parameters={"protocol.kind": kind}, replication=number, metrics={"cost": cost, "regret": 5.0 + cost})
        for kind, costs in (("gis", (1, 400, 30)), ("flooding", (2, 900, 50)), ("sink", (2, 300, 9)))
        for number, cost in enumerate(costs)
    ]
    for drawn in (draw_chart(cost_chart(arranged(runs))), draw_chart(structure_chart(arranged(runs)))):
        assert -0.06 * 900 <= drawn.axes[0].get_xlim()[0] <= 0


def test_of_two_numbers_the_one_with_fewer_values_is_the_series():
    runs = [
        made_up(parameters={"learner.participation": p, "learner.rounds": rounds})
        for p in (0.2, 0.6, 1.0)
        for rounds in (2, 3, 4, 5)
    ]
    arrangement = arranged(runs)
    assert arrangement.series == "learner.participation"
    assert axis_key(arrangement) == "learner.rounds"


@pytest.mark.ci
def test_many_values_have_round_ticks():
    runs = [made_up(parameters={"topology.agents": agents}) for agents in range(5, 125, 3)]
    figure = draw_chart(parameter_chart(arranged(runs), "topology.agents"))
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_xlim()
    ticks = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert {"20", "40", "60"} <= set(ticks)
    assert low < 5
    assert high > 122


def test_a_single_value_of_a_number_is_no_axis():
    assert axis_key(arranged([made_up()])) is None


def test_diameters_far_apart_stand_on_a_logarithmic_axis():
    runs = [
        made_up(networkx.path_graph(agents), family="path", parameters={"topology.agents": agents})
        for agents in (3, 10, 90)
    ]
    for panel in draw_chart(diameter_chart(arranged(runs))).axes:
        assert panel.get_xscale() == "log"
        assert panel.get_xlim()[0] < 2 < 89 < panel.get_xlim()[1]
