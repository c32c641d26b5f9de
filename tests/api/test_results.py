import numpy as np
import pytest

import netbandit as nb
from netbandit.results.results_folder import ResultsFolder


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    scenario = nb.Scenario(
        name="tidy",
        topology=nb.families.Ring(agents=4),
        bandit=nb.bandits.Bernoulli(means=[0.2, 0.5]),
        learner=nb.learners.Elimination(),
        protocol=nb.protocols.Gis(),
        run=nb.Run(horizon=2_000, replications=2),
    )
    return scenario.sweep({"links.peer.latency": ["0 ms", "40 ms"], "protocol.kind": ["gis", "silent"]}, out=folder)


def test_knots_of_curves_are_tidy_and_those_of_the_runs(results):
    curves = results.curves("regret", knots=True)
    assert list(curves) == ["links.peer.latency", "protocol.kind", "replication", "slot", "value"]
    study = ResultsFolder(results.folder).study()
    for point in study.points:
        latency, kind = point.parameters.values()
        for run in point.runs:
            part = curves[
                (curves["links.peer.latency"] == latency)
                & (curves["protocol.kind"] == kind)
                & (curves["replication"] == run.replication)
            ]
            np.testing.assert_array_equal(part["slot"], run.curves["regret"].slots)
            np.testing.assert_array_equal(part["value"], run.curves["regret"].values)
    at_the_end = curves[curves["slot"] == 2_000]["value"].tolist()
    assert at_the_end == pytest.approx(results[results["metric"] == "regret"]["value"].tolist())
    with pytest.raises(ValueError, match="no run has a curve 'regrets'; there are: regret"):
        results.curves("regrets")


@pytest.fixture(scope="module")
def two_horizons(tmp_path_factory):
    """Return results whose runs have knots of their own."""
    tables = {
        "topology": {"family": "ring", "agents": 4},
        "bandit": {"kind": "bernoulli", "arms": 3},
        "learner": {"kind": "elimination"},
        "protocol": {"kind": "gis"},
    }
    out = tmp_path_factory.mktemp("horizons")
    return nb.sweep(tables, run__horizon=[1_000, 3_000], run__replications=4, out=out)


def test_curves_have_values_of_all_runs_at_each_slot(two_horizons):
    regret = two_horizons[two_horizons["metric"] == "regret"].groupby("run.horizon").value.mean()
    for horizon, part in two_horizons.curves().groupby("run.horizon"):
        found = part.groupby("slot").value.agg(["mean", "count"])
        assert set(found["count"]) == {4}
        assert min(horizon, 1_500) < len(found) <= 2_000
        assert found["mean"].is_monotonic_increasing
        assert found["mean"].loc[horizon] == pytest.approx(regret.loc[horizon])


def test_curves_are_read_between_the_knots_of_each_run(two_horizons):
    asked = [1_000, 0, 700.5, 145]
    read = two_horizons.curves(at=asked)
    assert read["slot"].tolist() == 8 * asked
    at = read.groupby(["run.horizon", "replication"]).value
    for point, run in two_horizons.curves(knots=True).groupby(["run.horizon", "replication"]):
        assert at.get_group(point).tolist() == pytest.approx(np.interp(asked, run["slot"], run["value"]))
    assert two_horizons.curves(at=range(3))["slot"].tolist() == 8 * [0, 1, 2]
    assert two_horizons.curves(at=500)["slot"].tolist() == 8 * [500]


@pytest.mark.parametrize("at", [[1_001], [-1], [], "100", [[1, 2]], [True], [float("nan")], {5}])
def test_slots_that_not_all_curves_have_are_refused(two_horizons, at):
    with pytest.raises(ValueError, match=r"^at must be a list of slots from 0 to 1000, where the shortest curve ends$"):
        two_horizons.curves(at=at)
    with pytest.raises(ValueError, match="knots=True exclude"):
        two_horizons.curves(at=at, knots=True)


def test_links_are_tidy_and_add_up(results):
    links = results.links()
    assert list(links)[:4] == ["links.peer.latency", "protocol.kind", "replication", "link"]
    assert sorted(set(links["link"])) == ["0-1", "0-3", "1-2", "2-3"]
    gis = links[links["protocol.kind"] == "gis"]
    told = results[(results["metric"] == "messages") & (results["protocol.kind"] == "gis")]["value"].sum()
    assert gis["messages"].sum() == told > 0
    assert links[links["protocol.kind"] == "silent"]["messages"].sum() == 0


def test_pictures_are_figures(results):
    from matplotlib.figure import Figure

    for asked in ({"name": "regret"}, {}, {"x": "cost", "y": "regret"}, {"name": "cost"}):
        assert isinstance(results.plot(**asked), Figure)
    figure = results.plot(x="links.peer.latency", where={"protocol.kind": "gis"})
    assert isinstance(figure, Figure)
    with pytest.raises(ValueError, match=r"^name=\.\.\.: there is no picture 'regrets' here, only regret"):
        results.plot("regrets")
    with pytest.raises(ValueError, match=r"^x=\.\.\.: "):
        results.plot(x="latencie")
    with pytest.raises(ValueError, match='bands must be "auto", "mean", "comparison" or None'):
        results.plot(bands="both")


@pytest.mark.ci
def test_a_picture_of_some_points_keeps_curves_over_time_and_changes_like_any_of_matplotlib(results, tmp_path):
    figure = results.plot("regret", where={"protocol.kind": "gis"})
    assert figure.axes[0].get_xlabel() == "time (slots)"
    figure = results.plot("regret", columns="protocol", bands=None)
    first = figure.axes[0]
    before = [text.get_text() for text in first.texts]
    assert first.get_title() == "gis"
    first.set_title("mine")
    figure.suptitle("all mine")
    assert [first.get_title(loc=side) for side in ("left", "center", "right")] == ["", "mine", ""]
    assert figure.get_suptitle() == "all mine"
    assert [text.get_text() for text in first.texts] == before
    figure.savefig(tmp_path / "mine.pdf")
    assert (tmp_path / "mine.pdf").read_bytes().startswith(b"%PDF")
    assert len(first.collections) == 0  # no band
    with pytest.raises(ValueError, match=r"^rows=\.\.\. and columns=\.\.\.: protocol.kind can be one of them"):
        results.plot("regret", rows="protocol", columns="protocol.kind")


@pytest.mark.ci
def test_a_report_is_one_page_where_it_is_wanted(results, tmp_path):
    page = results.report(tmp_path / "page.html")
    assert "<html" in page.read_text()[:500]
    assert results.report() == results.folder / "report.html"


def test_loaded_results_know_their_folder(results):
    again = nb.load_results(results.folder)
    assert again.curves().equals(results.curves())
