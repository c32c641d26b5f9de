"""Tables of numbers in a figure: which point each of them is divided by."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.fake_study import fake_result

from netbandit.results.study_result import PointResult
from netbandit.studies.papers.cells import Cells
from netbandit.studies.papers.figure_runs import FigureRuns
from netbandit.studies.papers.figures import Figure, Panel

REGRET = {"uniform": {"exact": 10.0, "never": 30.0}, "normal": {"exact": 20.0, "never": 50.0}}


def point(sampling: str, share: str, regret: float, rho: float = 1.0, **more: str) -> PointResult:
    resolved = {
        "name": "x",
        "run": {"horizon": 100, "seed": 1},
        "topology": {"agents": 2},
        "bandit": {"sampling": sampling, "rho": rho},
        "learner": {"share": share, "communicate": "every" if not more else "doubling"},
    }
    varied = {"case": f"rho = {rho:g}", "bandit.sampling": sampling, "learner.share": share, "scenario": "x"}
    parameters = varied if more else {"scenario": "all told"}
    run = fake_result(parameters, resolved, 0)
    return PointResult(parameters, resolved, runs=[replace(run, metrics={**run.metrics, "regret": regret})])


def table(points: list[PointResult], statistic: str = "mean", **keys: object) -> Cells:
    asked = {"kind": "cells", "across": ["bandit.sampling", "learner.share"], "upward": "case", **keys}
    figure = Figure.model_validate({"id": "f", "title": "t", "scenarios": ["one.toml"], "statistic": statistic})
    return Cells(FigureRuns(figure, points), Panel.model_validate(asked))


@pytest.fixture
def points():
    varied = [point(s, share, v, shown="yes") for s, some in REGRET.items() for share, v in some.items()]
    return [*varied, point("uniform", "never", 4.0, 2.0, shown="yes"), point("uniform", "exact", 5.0)]


def test_a_number_is_divided_by_the_point_that_is_alike_in_its_row_and_its_column(points):
    found = table(
        points,
        ratio_to={"learner.share": "exact"},
        alike=["bandit.sampling", "bandit.rho", "learner.communicate"],
    )
    assert found.columns == [("uniform", "never"), ("normal", "never")]  # what divides itself says nothing
    assert found.rows == ["rho = 1"]  # nothing was run that rho = 2 could be divided by
    assert found.numbers.tolist() == [[3.0, 2.5]]


def test_what_divides_need_not_be_in_the_table(points):
    found = table(points, ratio_to={"learner.share": "exact", "learner.communicate": "every"}, alike=["bandit.rho"])
    assert found.columns == [("uniform", "exact"), ("uniform", "never"), ("normal", "exact"), ("normal", "never")]
    assert found.numbers.tolist() == [[2.0, 6.0, 4.0, 10.0]]


def test_without_a_divisor_numbers_stay_as_they_are(points):
    found = table(points)
    assert found.rows == ["rho = 1", "rho = 2"]
    assert found.numbers[0].tolist() == [10.0, 30.0, 20.0, 50.0]
    assert found.numbers[1, 1] == 4.0
    assert np.isnan(found.numbers[1]).sum() == 3


def test_a_median_is_one_of_the_multiples_of_each_instance():
    """One instance of many times the regret of the others, such as a market that is hard, makes up most of a mean."""

    def three(share: str, *regrets: float) -> PointResult:
        alike = [point("uniform", share, regret, shown="yes") for regret in regrets]
        return replace(alike[0], runs=[one.runs[0] for one in alike])

    points = [three("exact", 1.0, 2.0, 9_000.0), three("never", 3.0, 8.0, 9_000.0)]
    asked = {"ratio_to": {"learner.share": "exact"}, "alike": ["bandit.sampling"]}
    assert table(points, **asked).numbers.tolist() == [[pytest.approx(9011 / 9003)]]
    assert table(points, statistic="median", **asked).numbers.tolist() == [[3.0]]
