import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.fake_study import fake_result, fake_study, resolved

import netbandit
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.results.summary import as_json, estimates
from netbandit.results.tables import SUMMARY
from netbandit.running import sweeps as sweep


def point(values, **more):
    runs = []
    for replication, value in enumerate(values):
        result = fake_result({}, resolved(), replication)
        runs.append(replace(result, metrics={"regret": value}, **more))
    return PointResult({}, keys=[f"{number:020x}" for number in range(len(runs))], runs=runs)


def test_the_interval_of_two_values_by_hand():
    (found,) = estimates(point([10, 12])).values()
    assert found.value == 11
    assert found.half_width == pytest.approx(12.706204736, abs=1e-8)  # t(0.975, 1) times a standard error of 1


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([7], "one replication says nothing of others"),
        ([4, 4], "all 2 replications are identical, so their spread cannot be estimated"),
        ([0.1 + 0.2] * 49, "all 49 replications are identical, so their spread cannot be estimated"),
        ([1.0, None], "it does not exist or is infinite in some replication"),
    ],
)
def test_where_there_is_no_interval_the_reason_stands_beside_it(values, why):
    found = as_json(StudyResult("one", [point(values)]))["points"][0]["metrics"]["regret"]
    mean = None if None in values else values[0]
    assert {name: found[name] for name in ("mean", "ci95", "ci95_why_null", "values")} == {
        "mean": mean, "ci95": None, "ci95_why_null": why, "values": values
    }  # fmt: skip
    assert ("median" in found) == (mean is not None)


def test_the_object_has_what_the_interface_says(tmp_path):
    result = sweep.run(fake_study(10, 20, replications=2), tmp_path)
    found = as_json(result.study)
    assert list(found) == ["scenario", "version", "points"]
    assert (found["scenario"], found["version"]) == ("fake", netbandit.__version__)
    first, second = found["points"]
    assert list(first) == ["parameters", "topology", "metrics", "failures", "fingerprints"]
    assert (first["parameters"], second["parameters"]) == ({"topology.agents": 10}, {"topology.agents": 20})
    assert first["topology"] == {"agents": 10, "links": 9, "diameter": 2.5, "radius": None}
    assert first["fingerprints"] == ["000a0000", "000a0001"]
    assert first["metrics"]["cost"]["values"] == [1000, 1001]
    assert first["metrics"]["cost"]["mean"] == 1000.5
    assert first["metrics"]["cost"]["ci95"] == pytest.approx([1000.5 - 6.353102368, 1000.5 + 6.353102368])
    assert (first["metrics"]["rounds"]["mean"], first["metrics"]["rounds"]["ci95"]) == (4.0, None)  # not known to be 4
    assert first["metrics"]["epsilon"]["values"] == [None, None]
    assert "ci95_why_null" not in first["metrics"]["cost"]
    assert list(first["metrics"]) == list(fake_result({}, resolved(), 0).metrics)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_what_is_infinite_in_one_replication_has_no_mean():
    found = as_json(StudyResult("some", [point([1.0, None, 2.0])]))["points"][0]["metrics"]["regret"]
    assert (found["mean"], found["ci95"], found["values"]) == (None, None, [1.0, None, 2.0])


def test_a_failed_replication_is_null_and_the_others_count():
    some = point([1.0, 5.0, 3.0])
    some.runs[1] = None
    found = as_json(StudyResult("some", [some]))["points"][0]
    assert found["metrics"]["regret"]["mean"] == 2.0
    assert found["metrics"]["regret"]["values"] == [1.0, None, 3.0]
    assert found["fingerprints"][1] is None


def test_a_point_without_any_run_is_still_there():
    some = PointResult({"a.b": 1}, keys=["0" * 20], runs=[None])
    found = as_json(StudyResult("none", [some]))["points"][0]
    assert found["metrics"] == {}
    assert found["topology"] == {"agents": None, "links": None, "diameter": None, "radius": None}
    assert found["fingerprints"] == [None]


def test_infinite_parameters_are_null():
    some = replace(point([1.0]), parameters={"learner.epsilon": math.inf, "topology.components": [1, math.inf]})
    found = as_json(StudyResult("infinite", [some]))["points"][0]
    assert found["parameters"] == {"learner.epsilon": None, "topology.components": [1, None]}


def test_a_graph_drawn_afresh_in_each_replication_is_told_by_its_mean():
    assert as_json(StudyResult("same", [point([1, 2], topology={"links": 7})]))["points"][0]["topology"]["links"] == 7
    some = point([1, 2])
    some.runs[1] = replace(some.finished[1], topology={"links": 8})
    assert as_json(StudyResult("other", [some]))["points"][0]["topology"]["links"] == 6


def test_estimates_keep_the_order_of_the_metrics_and_add_those_of_other_runs():
    some = point([1.0, 2.0])
    some.runs[1] = replace(some.finished[1], metrics={"regret": 2.0, "own": 3.0})
    found = estimates(some)
    assert list(found) == ["regret", "own"]
    assert found["own"].value is None


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


def test_the_mean_of_an_error_is_a_share_with_its_interval():
    """All 200 runs without an error exclude 2 %, where the spread of equal numbers says nothing."""
    runs = [replace(fake_result({}, resolved(), one), metrics={"wrong_any": 0, "regret": 0}) for one in range(200)]
    found = estimates(PointResult({}, keys=["0" * 20] * 200, runs=runs))
    assert found["regret"].ends is None
    assert found["wrong_any"].ends == (0.0, pytest.approx(1 - 0.025 ** (1 / 200)))
    some = [replace(one, metrics={"wrong_any": int(number < 3)}) for number, one in enumerate(runs)]
    found = estimates(PointResult({}, keys=["0" * 20] * 200, runs=some))
    assert found["wrong_any"].ends == pytest.approx((0.0031041, 0.0432083), abs=1e-7)  # scipy.stats.binomtest
    assert not found["wrong_any"].around
