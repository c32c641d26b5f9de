import networkx
import pytest
from click.testing import CliRunner
from helpers.made_up_runs import made_up, write
from helpers.scenes import SMALL

from netbandit.cli import main
from netbandit.plots import Asked, plot_against
from netbandit.report import outdate, write_report
from netbandit.results.results_folder import ResultsFolder


def sweep(**keys):
    graphs = {"star": networkx.star_graph(3), "ring": networkx.cycle_graph(4)}
    return [made_up(graph, family=name, parameters={"topology.family": name}, **keys) for name, graph in graphs.items()]


@pytest.mark.ci
def test_a_page_says_that_it_is_older_than_its_results_until_it_is_not(tmp_path):
    write(tmp_path, sweep())
    page = write_report(tmp_path)
    fresh = page.read_bytes()
    assert not outdate(page, ResultsFolder(tmp_path).study(), "netbandit report here")
    assert page.read_bytes() == fresh
    before = ResultsFolder(tmp_path).study()
    write(tmp_path, sweep() + sweep(replication=1))
    for _ in range(2):
        assert outdate(page, ResultsFolder(tmp_path).study(), "netbandit report 'a <b>'")
        text = page.read_text()
        assert text.count("This page is older than its results") == 1
        assert "netbandit report &#x27;a &lt;b&gt;&#x27;" in text
    assert not outdate(page, before, "netbandit report here")
    assert page.read_bytes() == fresh


def test_what_is_no_page_of_ours_stays_as_it_is(tmp_path):
    write(tmp_path, sweep())
    study = ResultsFolder(tmp_path).study()
    assert not outdate(tmp_path / "report.html", study, "")
    (tmp_path / "report.html").write_bytes(b"\xff\xfe my own page")
    assert not outdate(tmp_path / "report.html", study, "")
    (tmp_path / "report.html").write_text("<html><body>mine</body></html>")
    assert not outdate(tmp_path / "report.html", study, "")
    assert (tmp_path / "report.html").read_text() == "<html><body>mine</body></html>"


@pytest.mark.ci
def test_a_run_tells_of_the_report_that_it_makes_old(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(SMALL)

    def call(*arguments):
        done = CliRunner().invoke(main, list(arguments))
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "report:" not in call("run", "tiny.toml")
    call("report", "results/tiny")
    assert "report:" not in call("run", "tiny.toml")  # nothing is new
    told = call("run", "tiny.toml", "--replications", "2")
    assert "netbandit report results/tiny writes it anew" in told
    assert "older than its results" in (tmp_path / "results" / "tiny" / "report.html").read_text()
    call("report", "results/tiny")
    assert "older than its results" not in (tmp_path / "results" / "tiny" / "report.html").read_text()


@pytest.mark.ci
def test_pictures_that_were_asked_for_come_into_the_report(tmp_path):
    write(tmp_path, sweep())
    assert "diameter is 2 at all points" not in write_report(tmp_path).read_text()
    plot_against(ResultsFolder(tmp_path), Asked(x="cost", y="diameter"))
    assert "quickstart: diameter is 2 at all points" in write_report(tmp_path).read_text()
