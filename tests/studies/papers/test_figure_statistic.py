"""What a figure shows of its replications: the mean, or the median, which one run of many does not move."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.fake_study import fake_result
from helpers.small_paper import small_paper

from netbandit.results.study_result import PointResult
from netbandit.simulation.result import Curve
from netbandit.studies.papers import figures as papers
from netbandit.studies.papers.figure_runs import FigureRuns
from netbandit.studies.papers.figures import Figure, read_paper
from netbandit.studies.papers.pictures import draw_figure
from netbandit.studies.papers.record import content_of

RESOLVED = {"name": "x", "run": {"horizon": 100, "seed": 1}, "topology": {"agents": 2}}
HEIGHTS = [1.0, 2.0, 90.0]


def point(heights: list[float], agents: int = 2) -> PointResult:
    resolved = {**RESOLVED, "topology": {"agents": agents}}
    runs = []
    for number, height in enumerate(heights):
        run = fake_result({}, resolved, number)
        curve = Curve(np.array([0, 100]), np.array([0.0, height]))
        runs.append(replace(run, curves={"regret": curve}, metrics={**run.metrics, "regret": height}))
    return PointResult({}, resolved, runs=runs)


def drawn(**keys: object) -> list[float]:
    asked = {
        "id": "f",
        "title": "t",
        "scenarios": ["one.toml"],
        "series": [{"name": "all"}],
        "panels": [{}, {"kind": "points", "x": "agents"}, {"kind": "bars"}],
        **keys,
    }
    figure = Figure.model_validate(asked)
    curves, points, bars = draw_figure(FigureRuns(figure, [point(HEIGHTS)])).axes[:3]
    ends = [float(line.get_ydata()[-1]) for line in (curves.lines[0], points.lines[0])]
    return [*ends, bars.patches[0].get_height()]


def test_curves_points_and_bars_show_the_mean_or_the_median():
    assert drawn() == pytest.approx([31.0] * 3)
    assert drawn(statistic="median") == pytest.approx([2.0] * 3)


@pytest.mark.parametrize(("times", "label", "alike"), [(3, "", True), (30, "", False), (3, "regret", False)])
def test_panels_that_are_compared_share_a_scale_where_all_of_them_can_be_read_on_it(times, label, alike):
    asked = {
        "id": "f",
        "title": "t",
        "scenarios": ["one.toml"],
        "series": [{"name": name, "where": {"topology.agents": agents}} for name, agents in (("a", 2), ("b", 3))],
        "panels": [{"series": ["a"]}, {"series": ["b"], "y_label": label}],
    }
    points = [point([10.0]), point([10.0 * times], agents=3)]
    low, high = draw_figure(FigureRuns(Figure.model_validate(asked), points)).axes
    assert (low.get_ylim() == high.get_ylim()) is alike


def test_what_is_drawn_is_no_part_of_what_is_recorded(tmp_path, monkeypatch):
    folder = small_paper(tmp_path)
    monkeypatch.setattr(papers, "papers_folder", lambda: tmp_path)
    before = read_paper(folder)
    text = (folder / "claims.toml").read_text().replace('title = "regret"', 'title = "regret"\nstatistic = "median"')
    (folder / "claims.toml").write_text(text)
    after = read_paper(folder)
    assert after.figures[0].statistic == "median"
    assert content_of(before, before.figures[0]) == content_of(after, after.figures[0])
