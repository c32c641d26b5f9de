"""Runs that differ only in keys that have no effect are done once."""

import pytest

import netbandit as nb
from netbandit.checks.check import check
from netbandit.running import sweeps
from netbandit.scenario.load import load
from netbandit.simulation.replication import RunnablePoint
from netbandit.simulation.sweep_point import Point

SCENARIO = """\
schema = 1
name = "equal"
run = { horizon = 300, replications = 2 }
topology = { family = "ring", agents = 4 }
bandit = { kind = "bernoulli", means = [0.2, 0.5] }
learner.kind = "elimination"
protocol.kind = "gis"

[sweep]
"protocol.kind" = ["gis", "silent"]
"links.peer.latency" = ["0 ms", "5 ms"]
"links.peer.loss" = [0.0, 0.1]
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "equal.toml").write_text(SCENARIO)
    return check(load(tmp_path / "equal.toml"))


def rows(study):
    """Return all that runs say but how long they took, by point and replication."""
    return [
        (point.parameters, run.replication, {**run.metrics, "wall_s": None}, run.resolved, run.fingerprint, run.remarks)
        for point in study.points
        for run in point.finished
    ]


def test_silent_points_are_run_once_whatever_their_links(plan, tmp_path, monkeypatch):
    found = sweeps.run(plan, tmp_path / "out")
    assert (found.done, found.copied, found.reused) == (16, 6, 0)
    monkeypatch.setattr(RunnablePoint, "effective", Point.effective)
    assert rows(sweeps.run(plan, tmp_path / "each").study) == rows(found.study)


def test_what_is_there_is_copied_and_a_trace_with_it(plan, tmp_path):
    sweeps.run(plan, tmp_path / "out", trace=True)
    silent = [point for point in plan.points if point.parameters["protocol.kind"] == "silent"]
    folders = [tmp_path / "out" / "runs" / sweeps.run_keys(point)[1] for point in silent]
    assert len({(folder / "trace.jsonl").read_text() for folder in folders}) == 1
    for folder in folders[:-1]:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    again = sweeps.run(plan, tmp_path / "out", trace=True)
    assert (again.done, again.copied, again.reused) == (3, 3, 13)


def test_where_the_one_run_fails_so_do_those_equal_to_it(plan, tmp_path, monkeypatch):
    simulation = RunnablePoint.simulation

    def fails(self, replication):
        if self.resolved["protocol"]["kind"] == "silent":
            raise ValueError("no")
        return simulation(self, replication)

    monkeypatch.setattr(RunnablePoint, "simulation", fails)
    found = sweeps.run(plan, tmp_path / "out")
    assert len(found.failed) == 8
    assert {run.failure.text.partition(",")[0] for run in found.failed} == {"ValueError: no"}
    assert found.copied == 0


UNUSED = {
    "silent": ["links.peer.latency=9 ms", "links.peer.loss=0.3", "links.uplink.loss=0.3", "links.uplink.jitter=3 ms"],
    "pooled": ["links.peer.latency=9 ms", "links.peer.bandwidth=1 kbit/s", "links.uplink.cost=3"],
    "master-worker": ["links.peer.latency=9 ms", "links.peer.bandwidth=1 kbit/s", "links.peer.energy.per_byte=1"],
    "gis": ["links.uplink.latency=9 ms", "links.uplink.bandwidth=1 kbit/s", "links.uplink.cost=3"],
}


@pytest.mark.parametrize("kind", UNUSED)
def test_what_is_taken_for_equal_is_equal(kind, tmp_path):
    (tmp_path / "equal.toml").write_text(SCENARIO.partition("[sweep]")[0])
    first, *others = (
        check(load(tmp_path / "equal.toml", [f"protocol.kind={kind}", *change])).points[0]
        for change in ([], *([one] for one in UNUSED[kind]))
    )
    expected = first.simulation(0).run()
    for point in others:
        assert point.effective == first.effective
        found = point.simulation(0).run()
        assert {**found.metrics, "wall_s": None} == {**expected.metrics, "wall_s": None}
        assert (found.fingerprint, found.remarks, found.kinds) == (
            expected.fingerprint,
            expected.remarks,
            expected.kinds,
        )
        assert (found.curves["regret"].values == expected.curves["regret"].values).all()


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("pooled", "links.peer.loss=0.1"),
        ("gis", "links.peer.latency=9 ms"),
        ("gis", "links.uplink.loss=0.1"),
        ("silent", "run.horizon=200"),
    ],
)
def test_what_may_have_an_effect_is_not_equal(kind, change, tmp_path):
    (tmp_path / "equal.toml").write_text(SCENARIO.partition("[sweep]")[0])
    file = tmp_path / "equal.toml"
    points = [check(load(file, [f"protocol.kind={kind}", *more])).points[0] for more in ([], [change])]
    assert points[0].effective != points[1].effective


def test_results_of_equal_points_are_those_of_each(plan, tmp_path):
    results = nb.run(tmp_path / "equal.toml", out=tmp_path / "out")
    silent = results[(results["protocol.kind"] == "silent") & (results["metric"] == "regret")]
    assert silent.groupby(["links.peer.latency", "links.peer.loss"])["value"].count().tolist() == [2, 2, 2, 2]
    assert silent["run"].is_unique
