"""Dots of few runs, crosses of those that failed, the mark of stalled agents, and pictures of medians."""

import re
from dataclasses import replace

import numpy as np
import pytest
from helpers.made_up_runs import arranged, curves, made_up, study_of

from netbandit.plots.bands import MOST_DOTS
from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import chart_of, cost_chart, parameter_chart, structure_chart
from netbandit.plots.grouping import arrange
from netbandit.plots.heatmap import draw_heatmap
from netbandit.plots.regret import draw_regret
from netbandit.plots.study_pictures import Asked, draw_asked
from netbandit.plots.style import subtitle
from netbandit.results.intervals import Statistic
from netbandit.simulation.result import STILL_EXPLORING

LATENCY = "links.peer.latency"


def sweep(count=5, lost=(), stalled=(), key=LATENCY, values=("1 ms", "2 ms", "3 ms")):
    return [
        made_up(
            parameters={key: value},
            replication=run,
            metrics={"best_lost": int(run in lost), "stalled": 4 * (value in stalled)},
        )
        for value in values
        for run in range(count)
    ]


def dots(panel, marker="o"):
    """What single runs are drawn as: (across, upward) of each."""
    found = [line for line in panel.lines if line.get_label() == "_run" and line.get_marker() == marker]
    return sorted((float(x), float(y)) for line in found for x, y in zip(*line.get_data(), strict=True))


def marks(panel):
    return [text for text in panel.texts if text.get_text() == "*"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [1, 2, MOST_DOTS, MOST_DOTS + 1])
def test_few_runs_are_dots_at_their_own_values(count):
    runs = sweep(count)
    drawn = 1 < count <= MOST_DOTS
    for figure in (draw_regret(arranged(runs)), draw_chart(parameter_chart(arranged(runs), LATENCY))):
        found = sorted(y for _, y in dots(figure.axes[0]))
        assert found == (sorted(run.metrics["regret"] for run in runs) if drawn else [])
        assert ("dots" in subtitle(figure)) == drawn
    figure = draw_chart(cost_chart(arranged(runs)))
    values = sorted((float(run.metrics["cost"]), run.metrics["regret"]) for run in runs)
    assert dots(figure.axes[0]) == (values if drawn else [])


@pytest.mark.parametrize("draw", [draw_regret, lambda some: draw_chart(parameter_chart(some, LATENCY))])
def test_runs_that_failed_are_crosses(draw):
    runs = sweep(lost=(1, 4))
    figure = draw(arranged(runs))
    failed = [run.metrics["regret"] for run in runs if run.metrics["best_lost"]]
    assert sorted(y for _, y in dots(figure.axes[0], "x")) == sorted(failed)
    assert len(dots(figure.axes[0])) == 9
    assert "crosses: an agent dropped the best arm" in subtitle(figure)
    for run in runs:
        run.metrics["stalled"] = run.metrics["best_lost"]
    both = "crosses: agents stalled or an agent dropped the best arm; * agents stalled in 2 of 5 runs: "
    assert both in subtitle(draw(arranged(runs)))
    assert "crosses" not in subtitle(draw(arranged(sweep())))


def test_axes_hold_all_dots():
    runs = sweep()
    far = runs[3].curves["regret"].values
    far *= 9.0
    runs[3].metrics["regret"] = float(far[-1])
    for figure in (draw_regret(arranged(runs)), draw_chart(parameter_chart(arranged(runs), LATENCY))):
        assert figure.axes[0].get_ylim()[1] > far[-1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "draw",
    [draw_regret, lambda some: draw_chart(parameter_chart(some, LATENCY)), lambda some: draw_chart(cost_chart(some))],
)
def test_points_at_which_agents_stalled_are_marked(draw):
    figure = draw(arranged(sweep(stalled=("2 ms", "3 ms"))))
    assert [len(marks(panel)) for panel in figure.axes] == [2] * len(figure.axes)
    assert "* agents stalled: a lower value there is not an improvement" in subtitle(figure)
    plain = draw(arranged(sweep()))
    assert not marks(plain.axes[0])
    assert "stalled" not in subtitle(plain)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("x", "y"), [("energy_j", "regret"), ("regret", "energy_j"), (LATENCY, "energy_j")])
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"stalled": 2}, "* agents stalled in 1 of 5 runs: "),
        ({"rounds": 0, "waiting_slots": 9.0}, "* no round ended in 1 of 5 runs: "),
        (STILL_EXPLORING, "* no round ended in 1 of 5 runs: "),
        (None, "* runs are missing: "),
    ],
)
def test_points_whose_runs_fell_short_are_marked_whatever_is_drawn(x, y, what, said):
    runs = sweep()
    for place, run in enumerate(runs):
        run.metrics["energy_j"] = 1.0 + place
    if what == STILL_EXPLORING:
        runs[7] = replace(runs[7], remarks=(what,))
    elif what is not None:
        runs[7].metrics.update(what)
    study = study_of(runs)
    if what is None:
        point = study.points[1]
        study.points[1] = replace(point, runs=[*point.runs[:-1], None])
    drawn = draw_asked(study, Asked(x, y)).figure
    assert len(marks(drawn.axes[0])) == 1
    assert said in subtitle(drawn)
    assert not marks(draw_asked(study_of(sweep()), Asked(LATENCY, "regret")).figure.axes[0])


@pytest.mark.ci
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "draw",
    [
        draw_regret,
        lambda some: draw_chart(cost_chart(some)),
        lambda some: draw_chart(parameter_chart(some, LATENCY)),
        lambda some: draw_heatmap(some, LATENCY, "learner.rounds"),
        lambda some: draw_chart(chart_of(some, LATENCY)),
    ],
)
def test_points_without_a_run_are_named(draw):
    runs = [run for rounds in (1, 2, 3) for run in sweep(2)]
    for place, run in enumerate(runs):
        runs[place] = replace(run, parameters={**run.parameters, "learner.rounds": place // 6})
    study = study_of(runs)
    assert "not drawn" not in subtitle(draw(arrange(study)))
    lost = study.points[4]
    study.points[4] = replace(lost, runs=[None, None])
    assert "not drawn, no run has finished: " in subtitle(draw(arrange(study)))
    assert {"1", "2 ms"} <= set(re.split("[,;:] ", subtitle(draw(arrange(study)))))


def test_structures_are_marked_too():
    runs = sweep(stalled=("gis",), key="protocol.kind", values=("gis", "flooding", "sink"))
    figure = draw_chart(structure_chart(arranged(runs)))
    assert len(marks(figure.axes[0])) == 1
    assert len(dots(figure.axes[0], "x")) == 5
    assert "* agents stalled" in subtitle(figure)


def test_crosses_are_told_only_where_they_are_drawn():
    runs = sweep(stalled=("silent",), key="protocol.kind", values=("gis", "flooding", "silent"))
    for run in runs:
        if run.metrics["stalled"]:
            run.metrics.update(cost=0, regret=1e9 + run.replication)  # at the upper edge of the picture
    figure = draw_chart(structure_chart(arranged(runs)))
    assert not dots(figure.axes[0], "x")
    assert "dots: all runs" in subtitle(figure)
    assert "crosses" not in subtitle(figure)


def test_cells_of_a_map_are_marked():
    runs = [
        made_up(parameters={"a": a, "b": b}, replication=run, metrics={"stalled": a * b - 3, "regret": 10.0 * a + b})
        for a in (1, 2, 3)
        for b in (1, 2, 3)
        for run in range(3)
    ]
    for run in runs:
        run.metrics["stalled"] = int(run.metrics["stalled"] > 0)
    figure = draw_heatmap(arranged(runs), "a", "b")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sum("*" in text for text in texts) == 4  # where the product is above 3
    assert "33 *" in texts
    assert "* agents stalled" in subtitle(figure)


@pytest.mark.ci
@pytest.mark.parametrize("name", ["median", "q90"])
def test_pictures_of_medians_and_quantiles(name):
    runs = sweep(9)
    figure = draw_regret(arrange(study_of(runs), Statistic.named(name)))
    heights = sorted(line.get_ydata()[-1] for line in curves(figure.axes[0]))
    share = 0.5 if name == "median" else 0.9
    values = np.array([run.metrics["regret"] for run in runs]).reshape(3, 9)
    assert heights == pytest.approx(sorted(np.quantile(values, share, axis=1)))
    assert subtitle(figure).startswith(f"{Statistic.named(name).name} of 9 replications")
    bars = draw_chart(parameter_chart(arrange(study_of(runs), Statistic.named(name)), LATENCY)).axes[0].containers[0]
    assert bars.lines[0].get_ydata().tolist() == pytest.approx(np.quantile(values, share, axis=1))
    segments = [part for group in bars.lines[2] for part in group.get_segments() if len(part)]
    if name == "median":  # between the second and the eighth of nine
        assert np.array(segments)[:, :, 1] == pytest.approx(np.sort(values, axis=1)[:, [1, 7]])


def test_a_picture_that_was_asked_for_keeps_its_statistic():
    asked = Asked(LATENCY, statistic="median")
    assert Asked.from_json(asked.as_json()) == asked
    assert Asked.from_json({**asked.as_json(), "statistic": "mode"}) is None
    older = {name: value for name, value in asked.as_json().items() if name != "statistic"}
    assert Asked.from_json(older) == Asked(LATENCY)
    picture = draw_asked(study_of(sweep(7)), asked)
    assert picture.name == "regret-against-links.peer.latency-median"
    assert picture.subtitle.startswith("medians of 7 replications with 95 % intervals")
