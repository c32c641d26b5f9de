import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import networkx
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.made_up_runs import arranged, made_up, study_of, write

import netbandit.report as package
from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.report import write_report
from netbandit.report.citation import URL
from netbandit.report.curves import readings
from netbandit.report.recipe import recipe, without_folders
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_keys import run_keys
from netbandit.results.study_result import PointResult, StudyResult
from netbandit.scenario.load import load

VOID = {"meta", "link", "br", "hr", "img", "input", "path", "use"}
REFERENCES = {"src", "href", "xlink:href", "data", "action", "srcset", "poster", "background"}


class Page(HTMLParser):
    """A page as a reader of HTML sees it: closed elements, ids, references and the text of its tables."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.references, self.tables, self.headings, self.texts = [], [], [], [], [], []
        self.labels = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        self.references += [value for name, value in attributes.items() if name in REFERENCES]
        self.references += re.findall(r"url\(([^)]*)\)", attributes.get("style") or "")
        self.labels += [attributes["aria-label"]] if attributes.get("role") == "img" else []
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        data = data.replace("±\N{NO-BREAK SPACE}", "± ")
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data

    def table(self, heading):
        (found,) = [table for table in self.tables if table[0][: len(heading)] == heading]
        return found


def sweep(replications=3, **metrics):
    return [
        made_up(
            graph,
            family=family,
            parameters={"topology.family": family, "learner.epsilon": epsilon},
            replication=replication,
            metrics=metrics,
        )
        for family, graph in {"star": networkx.star_graph(7), "ring": networkx.cycle_graph(8)}.items()
        for epsilon in (0.5, 1.0)
        for replication in range(replications)
    ]


def report(folder, runs, written=None):
    write(folder, runs, written)
    return write_report(folder).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    return report(tmp_path_factory.mktemp("report"), sweep(), {"description": "What <privacy> & topology cost"})


def test_the_page_is_well_formed_and_refers_to_nothing_outside_itself(html):
    page = Page(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert page.references
    for reference in page.references:
        assert reference.startswith(("#", "data:image/png;base64,"))
        assert not reference.startswith("#") or reference[1:] in page.ids
    assert not re.search(r"@import|<link|<iframe|<img|fetch\(|XMLHttpRequest|\bimport\b.*from", html)
    text = html.replace('http-equiv="Content-Security-Policy"', "").replace(URL, "")  # which stands to be read
    assert "http" not in text


def test_there_is_a_row_for_each_point_with_mean_and_interval(html):
    rows = Page(html).table(["point", "family", "learner.epsilon", "regret"])
    assert [row[:3] for row in rows[1:]] == [
        ["1", "star", "0.5"],
        ["2", "star", "1.0"],
        ["3", "ring", "0.5"],
        ["4", "ring", "1.0"],
    ]
    values = [run.metrics["regret"] for run in sweep()[:3]]
    mean, half = rows[1][3].replace(",", "").split(" ± ")
    assert float(mean) == pytest.approx(np.mean(values), rel=0.01)
    assert float(half) == pytest.approx(4.302653 * np.std(values, ddof=1) / np.sqrt(3), rel=0.05)


@pytest.mark.ci
def test_what_is_the_same_at_every_point_stands_above_and_a_default_in_its_column(tmp_path):
    runs = [
        made_up(parameters=parameters, replication=replication, metrics={"cost": 50.0, "regret": 7.0 + agents})
        for agents, parameters in enumerate(({"learner.rounds": 2}, {"learner.rounds": 4, "protocol.kind": "sink"}))
        for replication in range(2)
    ]
    page = Page(report(tmp_path, runs))
    assert "At every point: cost 50, round " in "".join(page.texts)
    rows = page.table(["point", "learner.rounds", "protocol", "regret"])
    assert "cost" not in rows[0]
    assert [row[2] for row in rows[1:]] == ["gis", "sink"]


def test_the_question_stands_above_and_is_escaped(html):
    assert '<p class="question">What &lt;privacy&gt; &amp; topology cost</p>' in html
    assert "<privacy>" not in html


def test_the_networks_are_told_once_each(html):
    rows = Page(html).table(["point", "family", "agents", "links"])
    assert rows[0][2:] == ["agents", "links", "links per agent", "diameter", "radius"]
    assert rows[1:] == [["1", "star", "8", "7", "1.75", "2", "1"], ["3", "ring", "8", "8", "2", "4", "4"]]


@pytest.mark.ci
def test_what_a_sweep_varies_is_not_told_twice(tmp_path):
    runs = [made_up(networkx.path_graph(n), family="path", parameters={"topology.agents": n}) for n in (3, 4)]
    assert Page(report(tmp_path, runs)).table(["point", "agents", "links"])[1:] == [
        ["1", "3", "2", "1.33", "2", "1"],
        ["2", "4", "3", "1.5", "3", "2"],
    ]


def test_every_picture_says_what_it_is(html):
    labels = Page(html).labels
    assert labels[0].startswith(
        "quickstart: regret is 7,250 at all points after 10,000 slots; mean of 3 replications, shaded: its"
    )
    assert len(labels) == html.count("<svg ")


def test_fingerprints_versions_and_commands_are_there(html):
    page = Page(html)
    runs = [table for table in page.tables if table[0] == ["replication", "fingerprint", "run folder"]]
    assert len(runs) == 4
    assert [row[:2] for row in runs[0][1:]] == [[str(number), "0" * 16] for number in range(3)]
    assert page.table(["what", "version"])[1:] == [["netbandit", "0"]]
    assert "netbandit run quickstart.toml\nnetbandit report results/quickstart\n" in "".join(page.texts)


def test_what_the_pointer_reads_is_the_mean_over_the_replications():
    from netbandit.plots.regret import draw_regret
    from netbandit.plots.style import encoded

    runs = [made_up(replication=replication) for replication in range(3)]
    figure = draw_regret(arranged(runs))
    encoded(figure, "svg")
    (panel,) = readings(study_of(runs), figure)
    (line,) = panel["lines"]
    assert (line["slots"][0], line["slots"][-1], len(line["slots"])) == (0, 10_000, 200)
    samples = np.array([run.curves["regret"].at(np.array(line["slots"])) for run in runs])
    np.testing.assert_allclose(line["mean"], samples.mean(axis=0), rtol=1e-5)
    half = 4.302653 * samples.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(line["half"], half, rtol=1e-4, atol=1e-4)
    left, top, right, bottom = panel["box"]
    assert 0 < left < right < 1
    assert 0 < top < bottom < 1


@pytest.mark.ci
def test_results_that_do_not_know_their_scenario_refer_to_that_of_a_point(tmp_path, html):
    text = re.sub(r"<[^>]*>", "", report(tmp_path, [made_up()]))
    assert "Save the scenario of a point, from below, as quickstart.toml." in text
    assert "These results do not say how the scenario was written" in text
    assert "Save the scenario as quickstart.toml." in re.sub(r"<[^>]*>", "", html)


@pytest.mark.ci
def test_one_replication_has_no_interval_and_no_series_no_label(tmp_path):
    text = report(tmp_path, [made_up()])
    (found,) = re.findall(r'<script type="application/json" class="reading">(.*?)</script>', text)
    (panel,) = json.loads(found)
    assert [(line["label"], line["half"]) for line in panel["lines"]] == [("", None)]
    rows = Page(text).tables[0]
    assert rows[0] == ["metric", "mean", "±", "median", "middle 80 %", "unit"]
    assert ["rounds", "5", "", "", "", ""] in rows


@pytest.mark.ci
def test_regrets_of_points_with_stalled_agents_are_marked_and_medians_stand_beside_means(tmp_path):
    runs = [
        made_up(parameters={"loss": loss}, replication=run, metrics={"stalled": 3 * (loss > 0), "regret": 100.0 * run})
        for loss in (0.0, 0.1)
        for run in range(5)
    ]
    found = Page(report(tmp_path, runs))
    regrets = [row[found.tables[0][0].index("regret")] for row in found.tables[0][1:]]
    assert [text.endswith("*") for text in regrets] == [False, True]
    assert any(text.startswith("* agents stalled: ") for text in found.texts)
    assert {row[3]: row[4] for table in found.tables for row in table if row[0] == "regret"} == {"200": "40 to 360"}


@pytest.mark.ci
def test_scenarios_with_every_default_say_how_many_replications_there_are_now(tmp_path):
    runs = sweep(3)
    assert all(run.resolved["run"]["replications"] == 10 for run in runs)  # as many as there were to be once
    text = report(tmp_path, runs)
    assert set(re.findall(r"^replications = (\d+)$", text, re.MULTILINE)) == {"3"}


@pytest.mark.ci
def test_privacy_is_told_where_it_was_asked_for(tmp_path):
    from dataclasses import replace

    silent = report(tmp_path / "without", sweep(epsilon=None, delta=0.0))
    assert "No privacy was asked for" in silent
    runs = [
        replace(run, privacy_unit="one reward of one agent", privacy_caveats=("the time of releases",))
        for run in sweep(1, epsilon=1.5, delta=1e-5, epsilon_claimed=None)
    ]
    page = Page(report(tmp_path / "with", runs))
    rows = page.table(["point", "family", "learner.epsilon", "epsilon spent", "delta spent"])
    assert rows[1][3:] == ["1.5", "1e-05", "infinite"]
    assert "Over the whole run epsilon and delta protect one reward of one agent." in "".join(page.texts)
    assert "not covered: the time of releases" in "".join(page.texts)
    assert "may be exceeded" not in "".join(page.texts)


@pytest.mark.ci
def test_the_same_results_give_the_same_bytes_in_another_process_and_place(tmp_path):
    here = report(tmp_path / "here", sweep(2))
    write(tmp_path / "there", sweep(2))
    code = "import sys; from pathlib import Path; from netbandit.report import write_report; "
    code += "write_report(Path(sys.argv[1]))"
    environment = {**os.environ, "PYTHONHASHSEED": "17", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, tmp_path / "there"], check=True, env=environment)
    assert (tmp_path / "there" / "report.html").read_text(encoding="utf-8") == here


@pytest.mark.ci
def test_a_name_cannot_break_out_of_the_page(tmp_path):
    name = "</script><script>alert(1)</script>\"'<b>-->"
    runs = [
        made_up(name=name, parameters={"protocol.kind": kind}) for kind in ("</script><b>", "<!--<script>", "a & b")
    ]
    text = report(tmp_path, runs, {"name": name, "description": name})
    page = Page(text)
    assert page.open == []
    assert "alert(1)</script>" not in text
    assert "<b>" not in text


@pytest.mark.ci
def test_runs_that_are_missing_are_counted(tmp_path):
    write(tmp_path, sweep())
    study = ResultsFolder(tmp_path).study()
    for point, replication in ((0, 0), (0, 2), (1, 0), (1, 1), (1, 2)):
        (tmp_path / "runs" / study.points[point].keys[replication] / "result.json").unlink()
    page = Page(write_report(tmp_path).read_text(encoding="utf-8"))
    rows = page.table(["point", "family", "learner.epsilon", "runs"])
    assert [row[3] for row in rows[1:]] == ["1 of 3", "0 of 3", "3 of 3", "3 of 3"]
    assert rows[2][4] == "–"


@pytest.mark.parametrize("damage", ["missing", "a file", "no study", "damaged", "nothing finished"])
def test_what_is_not_a_results_folder_is_one_line_and_two(tmp_path, damage):
    folder = tmp_path / "results"
    if damage == "a file":
        folder.write_text("")
    elif damage != "missing":
        write(folder, [made_up()])
        if damage == "no study":
            (folder / "study.json").unlink()
        elif damage == "damaged":
            (folder / "study.json").write_text("{")
        else:
            next(folder.glob("runs/*/result.json")).unlink()
    for command in ("report", "plot"):
        done = CliRunner().invoke(main, [command, str(folder)])
        assert (done.exit_code, done.stdout) == (2, "")
        assert re.fullmatch(rf"Error: {re.escape(str(folder))}\S* .*\n", done.stderr)
    assert not (folder / "report.html").exists()


@pytest.mark.ci
def test_a_report_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    report(tmp_path, [made_up()])
    before = (tmp_path / "report.html").read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done = CliRunner().invoke(main, ["report", str(tmp_path)])
    assert (done.exit_code, done.stderr) == (1, f"Error: cannot write to {tmp_path}: No space left on device\n")
    assert (tmp_path / "report.html").read_bytes() == before
    assert list(tmp_path.glob(".*")) == []


SCENARIO = """\
description = "a base"
[run]
horizon = 500
replications = 2
[topology]
family = "ring"
agents = 4
[links.peer]
latency = { uniform = ["1 ms", "2 ms"] }
[bandit]
kind = "bernoulli"
arms = 3
[learner]
kind = "elimination"
epsilon = inf
[protocol]
kind = "sink"
collect = "gis"
"""
CHANGED = """\
extends = "base.toml"
[protocol]
kind = "gis"
[sweep]
topology.agents = [4, 5]
cases = [{ bandit = { arms = 3 } }, { bandit = { arms = 5 } }]
"""


@pytest.mark.ci
def test_the_scenario_in_the_report_makes_the_same_runs_again(tmp_path):
    (tmp_path / "base.toml").write_text(SCENARIO)
    (tmp_path / "changed.toml").write_text(CHANGED)
    done = CliRunner().invoke(
        main, ["run", str(tmp_path / "changed.toml"), "--set", "links.peer.cost=3", "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    text = write_report(tmp_path / "out").read_text(encoding="utf-8")
    page = Page(text)
    (scenario,) = [one for one in page.texts if one.startswith('name = "changed"')]
    (tmp_path / "again.toml").write_text(scenario)
    again = check(load(str(tmp_path / "again.toml")))
    assert [run_keys(point) for point in again.points] == [
        point.keys for point in ResultsFolder(tmp_path / "out").study().points
    ]
    assert "collect" not in scenario
    assert scenario.count("[") > 5


def test_the_templates_are_part_of_the_package():
    templates = Path(package.__file__).parent / "templates"
    assert {file.name for file in templates.iterdir()} >= {"page.html", "macros.html", "style.css"}
    for script in templates.glob("*.js"):
        assert "</script" not in script.read_text(encoding="utf-8")


def test_files_that_the_scenario_names_are_told():
    run = made_up(parameters={"topology.file": "net/x.txt", "bandit.kind": "my.world:World"})
    point = PointResult({}, run.resolved, keys=["key"], runs=[run])
    assert recipe(StudyResult("mine", [point], inputs=("topology.file",))).needs == ["net/x.txt", "my/world.py"]
    run = made_up(parameters={"topology.file": "/home/me/net/x.txt"})
    study = StudyResult("mine", [PointResult({}, run.resolved, keys=["key"], runs=[run])], inputs=("topology.file",))
    assert recipe(study).needs == ["x.txt"]
    assert without_folders(study, {"topology": {"file": "/home/me/net/x.txt"}}) == {"topology": {"file": "x.txt"}}
    assert recipe(StudyResult("my 'study'", [point])).commands[0] == "netbandit run 'my '\"'\"'study'\"'\"'.toml'"
