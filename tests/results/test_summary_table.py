import csv

import numpy as np
import pytest
from helpers.fake_study import fake_study

from netbandit.results.tables import SUMMARY
from netbandit.running import sweeps as sweep


def test_a_row_for_each_point_and_metric_with_mean_median_quantiles_and_failures(tmp_path):
    study = sweep.run(fake_study(3, 4, replications=7), tmp_path).study
    with (tmp_path / SUMMARY).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(point.finished[0].metrics) for point in study.points)
    values = [run.metrics["regret"] for run in study.points[1].finished]
    (row,) = (row for row in rows if row["topology.agents"] == "4" and row["metric"] == "regret")
    assert (row["replications"], row["failed"]) == ("7", "0.0")
    assert float(row["mean"]) == pytest.approx(np.mean(values))
    assert (float(row["median"]), float(row["median_low"]), float(row["median_high"])) == (
        np.median(values), min(values), max(values),
    )  # fmt: skip
    assert [float(row[name]) for name in ("q10", "q25", "q75", "q90")] == pytest.approx(
        np.quantile(values, [0.1, 0.25, 0.75, 0.9])
    )
    (row,) = (row for row in rows if row["topology.agents"] == "4" and row["metric"] == "epsilon")
    assert {row[name] for name in ("mean", "mean_low", "median", "q90")} == {""}
