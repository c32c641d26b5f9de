import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.small_paper import BASE, CLAIMS, small_paper
from helpers.some_claim import claim as some_claim
from helpers.some_claim import judge

from netbandit.cli import main
from netbandit.plots.style import NEUTRAL, subtitle
from netbandit.results.safe_files import sealed, unsealed
from netbandit.results.study_result import PointResult
from netbandit.running import estimate as estimating
from netbandit.running.estimate import PointEstimate
from netbandit.studies.papers import figures as papers
from netbandit.studies.papers import overview
from netbandit.studies.papers import reproduce as reproducing
from netbandit.studies.papers.claim_tables import write_claims
from netbandit.studies.papers.claim_text import line
from netbandit.studies.papers.expressions import Expression
from netbandit.studies.papers.figure_runs import FigureRuns, points_of, run_figure, values_of
from netbandit.studies.papers.figures import PaperError, read_paper
from netbandit.studies.papers.measuring import evidence
from netbandit.studies.papers.pictures import draw_figure
from netbandit.studies.papers.reproduce import reproduce
from netbandit.studies.papers.selectors import SCENARIO
from netbandit.studies.papers.verdicts import Evidence, Measured

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path):
    return small_paper(tmp_path / "papers")


def test_runs_pictures_lines_and_tables(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "papers_folder", lambda: folder.parent)
    out = tmp_path / "out"
    result = CliRunner().invoke(main, ["reproduce", "mine", "--jobs", "1", "--out", str(out)])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    verdicts = [line.rpartition(": ")[2] for line in lines[2:14:3]]
    assert verdicts == ["holds", "does not hold", "not decidable", "holds"]
    assert lines[:2] == ["mine: A paper", "setting: found by nobody"]
    assert lines[2:5] == [
        'delay: "a ring is slow" (Section 1): holds',
        "  in each pair of runs, difference of round_slots: ring against complete: 2",
        "  holds if above 1",
    ]
    assert (out / "fig1.png").stat().st_size > 10_000
    assert (out / "fig1.svg").read_text().startswith("<?xml")
    rows = list(csv.DictReader((out / "claims.csv").read_text().splitlines()))
    assert [(row["claim"], row["verdict"]) for row in rows] == list(
        zip(["delay", "not-delay", "share", "pace"], verdicts, strict=True)
    )
    assert (rows[0]["value"], rows[0]["low"], rows[0]["replications"]) == ("2", "2", "4")
    table = [line for line in lines[14:] if line.strip()]
    assert table[0].split() == ["claim", "verdict", "figure"]
    assert max(map(len, table[: table.index(next(line for line in table if line.startswith("4 claims")))])) <= 80
    shown = [re.split(r"  +", line.strip()) for line in table if line.rstrip().endswith(" fig1")]
    assert [row[1:] for row in shown] == [[verdict, "fig1"] for verdict in verdicts]
    assert shown[0][0] == "delay: a ring is slow"


@pytest.mark.ci
def test_all_that_is_known_of_a_claim_is_one_line_where_it_is_asked_for(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "papers_folder", lambda: folder.parent)
    result = CliRunner().invoke(main, ["reproduce", "mine", "-v", "--jobs", "1", "--out", str(tmp_path)])
    lines = result.output.splitlines()
    assert '"a ring is slow" (Section 1). Read as: ' in lines[2]
    assert "in each pair of runs, difference of round_slots: ring against complete: 2 (4 replications" in lines[2]
    assert "it has a large diameter" in lines[3]


def test_without_a_paper_they_are_listed_and_all_are_run_only_on_demand(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "papers_folder", lambda: folder.parent)
    result = CliRunner().invoke(main, ["reproduce", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[:2] == ["mine  A paper", "      1 figure, 4 claims"]
    assert "--all all" in result.output
    assert not (tmp_path / "out").exists()
    result = CliRunner().invoke(main, ["reproduce", "--all", "--jobs", "1", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "mine" / "fig1.png").exists()


def test_the_figures_of_a_paper_are_listed_with_what_they_take(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(papers, "papers_folder", lambda: folder.parent)
    result = CliRunner().invoke(main, ["reproduce", "mine", "--estimate", "--jobs", "1", "--out", str(tmp_path / "o")])
    assert result.exit_code == 0, result.output
    assert result.output == "figures of mine, estimated on 1 core:\n  fig1  4 claims, 8 runs, seconds\n"
    assert not (tmp_path / "o").exists()
    (folder / "base.toml").write_text(BASE.replace("horizon = 400", "horizon = 400_000"))
    result = CliRunner().invoke(main, ["reproduce", "mine/fig1", "--estimate", "--jobs", "1"])
    assert re.fullmatch(r"  fig1  4 claims, 8 runs, about \d+ \w+, [\d.]+ kB", result.output.splitlines()[1])


def test_the_estimate_of_a_figure_tries_each_of_its_scenarios_for_itself(folder, monkeypatch):
    (folder / "base.toml").write_text(BASE.replace("horizon = 400", "horizon = 400_000"))
    (folder / "dear.toml").write_text('schema = 1\nextends = "base.toml"\n[run]\nreplications = 1\nseed = 7\n')
    claims = folder / "claims.toml"
    claims.write_text(
        claims.read_text().replace('scenarios = ["base.toml"]', 'scenarios = ["base.toml", "dear.toml"]', 1)
    )
    monkeypatch.setattr(
        estimating,
        "_tried",
        lambda point, *_: PointEstimate(point, 600.0 if point.scenario.run.seed == 7 else 60.0, 1e6),
    )
    (line,) = overview.figure_lines(read_paper(folder), None, 1, tried=True)
    assert line == "  fig1  4 claims, 10 runs, about 28 min, 10 MB"  # 2 of 10 minutes, 8 of one
    monkeypatch.setattr(estimating, "_tried", lambda *_: pytest.fail("nobody has asked for an estimate"))
    assert [*overview.figure_lines(read_paper(folder), None, 1, tried=False)] == [
        "  fig1  4 claims, 10 runs, not recorded"
    ]


def test_a_second_time_nothing_is_run_and_more_replications_are_added(folder, tmp_path):
    paper = read_paper(folder)
    first = run_figure(paper, paper.figures[0], tmp_path / "out", replications=2)
    results = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").rglob("result.json")}
    assert len(results) == 4
    more = run_figure(paper, paper.figures[0], tmp_path / "out", replications=3)
    assert {file: file.stat().st_mtime_ns for file in results} == results
    assert len(list((tmp_path / "out").rglob("result.json"))) == 6
    assert [len(point.runs) for point in first.points] == [2, 2]
    assert [len(point.runs) for point in more.points] == [3, 3]


def test_a_verdict_follows_the_data(folder, tmp_path):
    paper = read_paper(folder)
    runs = run_figure(paper, paper.figures[0], tmp_path / "out")
    assert evidence(paper.claims[0], runs).judged().verdict == "holds"
    for file in (tmp_path / "out").rglob("result.json"):  # as if a round took no time on any graph
        whole = unsealed(file.read_bytes())
        whole["metrics"]["round_slots"] = 0
        file.write_text(sealed(whole))
    runs = run_figure(paper, paper.figures[0], tmp_path / "out")
    assert evidence(paper.claims[0], runs).judged().verdict == "does not hold"


@pytest.mark.ci
def test_one_replication_decides_nothing(folder, tmp_path):
    judgements, failed = reproduce(read_paper(folder), tmp_path / "out", replications=1, tell=lambda line: None)
    # But one run outside refutes what is claimed of every run.
    assert [judgement.verdict for judgement in judgements if judgement.claim.id != "not-delay"] == ["not decidable"] * 3
    assert not failed


@pytest.mark.ci
def test_a_figure_of_li_and_song(tmp_path):
    arguments = ["reproduce", "dpmab/fig8", "--replications", "3", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "fig8.png").exists()
    assert len(list(csv.DictReader((tmp_path / "claims.csv").read_text().splitlines()))) == 4


def test_verdicts_on_other_figures_are_kept(tmp_path):
    def judged(figure, claim, value):
        said = some_claim(id=claim, figure=figure, region={"above": 0})
        return judge(said, [("a", [[[value, value]]])])

    for judgement in (judged("one", "a", 1.0), judged("two", "b", 2.0), judged("one", "c", 3.0)):
        write_claims(tmp_path, [("mine", judgement)])
    write_claims(tmp_path, [("yours", judged("one", "d", 4.0))])
    for name in ("claims.csv", "comparisons.csv"):
        rows = csv.DictReader((tmp_path / name).read_text().splitlines())
        found = [(row["paper"], row["figure"], row["claim"], row["value"]) for row in rows]
        assert found == [("mine", "two", "b", "2"), ("mine", "one", "c", "3"), ("yours", "one", "d", "4")]


@pytest.mark.ci
def test_what_the_readme_reproduces_leaves_no_claim_open(tmp_path):
    (command,) = re.findall(r"^netbandit (reproduce .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    result = CliRunner().invoke(main, [*command.split(), "--jobs", "1", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    verdicts = [row["verdict"] for row in csv.DictReader((tmp_path / "claims.csv").read_text().splitlines())]
    assert len(verdicts) == 5
    assert set(verdicts) == {"holds", "does not hold"}


@pytest.mark.parametrize("what", ["nothing", "dpmab/fig0"])
def test_what_is_not_there(what):
    result = CliRunner().invoke(main, ["reproduce", what])
    assert result.exit_code == 2
    assert "there is no paper nothing" in result.output or "no figure fig0" in result.output


INSTANCES = """
paper = "A paper"
setting = "found by nobody"

[[figures]]
id = "fig1"
title = "regret"
scenarios = ["base.toml"]
average = "bandit.seed"
series = [
  { name = "ring", where = { "topology.family" = "ring" } },
  { name = "complete", where = { "topology.family" = "complete" } },
]
panels = [
  { per = "agents" },
  { kind = "bars", y_label = "share", ratio_to = { "topology.family" = "complete" } },
]

[[claims]]
id = "ratio"
figure = "fig1"
where = "Section 1"
says = "a ring is worse"
read_as = "its mean regret is larger"
measure = "ratio"
of = "regret"
points = [{ series = "ring" }]
against = [{ series = "complete" }]
region = { above = 1 }

[[claims]]
id = "gain"
figure = "fig1"
where = "Section 1"
says = "a star is hardly worse"
read_as = "it loses less than half of what a ring loses"
measure = "ratio"
of = "regret"
points = [{ "topology.family" = "star" }]
against = [{ "topology.family" = "ring" }]
less = { "topology.family" = "complete" }
region = { below = 0.5 }
"""


@pytest.fixture
def instances(folder):
    text = BASE.replace("means = [0.9, 0.2, 0.1]\n", "").replace("[sweep]", '[sweep]\n"bandit.seed" = [1, 2, 3]')
    text = text.replace('["ring", "complete"]', '["ring", "complete", "star"]')
    (folder / "base.toml").write_text(text)
    (folder / "claims.toml").write_text(INSTANCES)
    return read_paper(folder)


def test_instances_are_averaged_replication_by_replication(instances, tmp_path):
    runs = run_figure(instances, instances.figures[0], tmp_path / "out")
    assert len(runs.points) == 9
    ring, complete = (runs.one({"series": name}) for name in ("ring", "complete"))
    values = values_of(Expression("regret"), ring)
    for number in range(4):
        same = [run.metrics["regret"] for run in ring.runs if run.replication == number]
        assert len(same) == 3
        assert values[number] == pytest.approx(sum(same) / 3)
    interval = evidence(instances.claims[0], runs).judged().deciding.interval
    ring_mean, complete_mean, star_mean = (
        sum(run.metrics["regret"] for run in runs.one({"topology.family": family}).runs) / 12
        for family in ("ring", "complete", "star")
    )
    assert interval.replications == 4
    assert interval.value == pytest.approx(ring_mean / complete_mean)
    gain = evidence(instances.claims[1], runs).judged()
    assert gain.deciding.interval.value == pytest.approx((star_mean - complete_mean) / (ring_mean - complete_mean))
    # The line and the tables say what was measured, and of which instances alone.
    assert "ratio of regret less regret at family complete: family star less family complete against" in line(gain)
    assert "(of bandit.seed 1, 2, 3 alone: the interval is for the mean over these 3, and says nothing of" in line(gain)
    write_claims(tmp_path, [("mine", gain)])
    for name in ("claims.csv", "comparisons.csv"):
        (row,) = csv.DictReader((tmp_path / name).read_text().splitlines())
        assert row["of"] == "regret less regret at family complete"
        assert row["what"] == "family star less family complete against family ring less family complete"
        assert "of bandit.seed 1, 2, 3 alone" in row["remark"]
    drawn = draw_figure(runs)
    assert "of 4 replications" in subtitle(drawn)
    assert "each of 3 fixed instances" in subtitle(drawn)
    heights = [bar.get_height() for bar in drawn.axes[1].patches]
    others = values_of(Expression("regret"), complete)
    assert heights == pytest.approx([sum(values[n] / others[n] for n in range(4)) / 4, 1.0])


def test_few_numbers_have_a_tick_each(folder, tmp_path):
    paper = read_paper(folder)
    runs = run_figure(paper, paper.figures[0], tmp_path / "out")
    diameters = {run.topology["diameter"] for point in runs.points for run in point.runs}
    assert len(diameters) == 2
    assert draw_figure(runs).axes[1].get_xticks().tolist() == sorted(diameters)


@pytest.mark.ci
def test_few_runs_are_dots_those_that_failed_crosses_and_points_with_stalled_agents_are_marked(folder, tmp_path):
    paper = read_paper(folder)
    runs = run_figure(paper, paper.figures[0], tmp_path / "out")
    for point in runs.points:
        for number, run in enumerate(point.runs):
            run.curves["regret"].values[:] *= 1 + number
            run.metrics["regret"] *= 1 + number
    assert "dots: all runs; " in f"{subtitle(draw_figure(runs))}; "
    for number, run in enumerate(runs.one({"series": "ring"}).runs):
        run.metrics.update(best_lost=int(number == 1), stalled=int(number == 2))
    drawn = draw_figure(runs)
    assert "crosses: agents stalled or an agent dropped the best arm; * agents stalled" in subtitle(drawn)
    metrics = ["regret", "regret", "cost"]
    for panel, metric in zip(drawn.axes, metrics, strict=True):
        single = [line for line in panel.lines if line.get_label() == "_run"]
        heights = {kind: [y for line in single if line.get_marker() == kind for y in line.get_ydata()] for kind in "ox"}
        if metric == "regret":
            values = [run.metrics["regret"] for run in runs.one({"series": "ring"}).runs]
            others = [run.metrics["regret"] for run in runs.one({"series": "complete"}).runs]
            assert sorted(heights["x"]) == pytest.approx(sorted(values[1:3]))
            assert sorted(heights["o"]) == pytest.approx(sorted([values[0], values[3], *others]))
        assert len([text for text in panel.texts if text.get_text() == "*"]) == 1


@pytest.mark.ci
def test_a_replication_that_an_instance_lacks_is_left_out(instances, tmp_path):
    runs = run_figure(instances, instances.figures[0], tmp_path / "out")
    first = runs.points[0]
    short = FigureRuns(runs.figure, [replace(first, runs=first.runs[:3]), *runs.points[1:]])
    assert evidence(instances.claims[0], short).judged().deciding.interval.replications == 3


def test_a_share_of_averages_is_refused(folder, instances):
    text = INSTANCES.replace('measure = "ratio"\nof = "regret"', 'measure = "share"\nof = "regret < 1"', 1)
    (folder / "claims.toml").write_text(text.replace('against = [{ series = "complete" }]\n', "", 1))
    with pytest.raises(PaperError, match=r"no share of runs where runs are averaged over bandit\.seed"):
        read_paper(folder)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", papers.paper_names())
def test_every_claim_names_points_that_its_figure_has(name):
    paper = papers.load_paper(name)
    for figure in paper.figures:
        points = [
            PointResult({SCENARIO: scenario}, point.resolved) for scenario, point, _ in points_of(paper, figure, None)
        ]
        runs = FigureRuns(figure, points)
        for series in figure.series:
            assert runs.select(series.where), f"{figure.id}: {series.name}"
        for panel in figure.panels:
            for name in panel.series or [one.name for one in figure.series]:
                if panel.ratio_to is not None and panel.kind != "cells":  # those are looked at by `test_figures`
                    assert runs.one({**panel.where, "series": name, **panel.ratio_to}), figure.id
                if panel.minus is not None:
                    assert runs.one({**panel.where, **panel.minus}), figure.id
        for claim in paper.claims:
            if claim.figure != figure.id:
                continue
            for selector, against in claim.comparisons():
                if claim.measure == "slope":
                    assert len(runs.select(selector)) > 1, claim.id
                    continue
                for each in filter(None, [selector, against, {**selector, **claim.less} if claim.less else None]):
                    assert runs.one(each), claim.id


REFERENCES = """
references = [
  { name = "each alone", each = true, where = { "protocol.kind" = "silent" } },
  { name = "a ring", where = { "topology.family" = "ring", "protocol.kind" = "gis" } },
]
"""


def test_references_are_level_lines_in_the_colours_of_their_series_or_the_same_for_all(folder, tmp_path):
    base = BASE.replace('"topology.family" = ["ring", "complete"]', 'topology.family = ["ring", "complete"]')
    (folder / "base.toml").write_text(f'{base}\nprotocol.kind = ["gis", "silent"]\n')
    named = ("ring", "complete")
    claims = CLAIMS.replace('"topology.family" = "ring" } }', '"topology.family" = "ring", "protocol.kind" = "gis" } }')
    claims = claims.replace('"complete" } }', '"complete", "protocol.kind" = "gis" } }')
    (folder / "claims.toml").write_text(claims.replace("panels = [", f"{REFERENCES.strip()}\npanels = [", 1))
    paper = read_paper(folder)
    runs = run_figure(paper, paper.figures[0], tmp_path / "out", replications=3)
    drawn = draw_figure(runs)
    panel = drawn.axes[1]
    lines = [line for line in panel.lines if line.get_gid() == "reference"]

    def mean(**where):
        point = runs.one({key.replace("_", "."): value for key, value in where.items()})
        return np.mean([run.metrics["regret"] for run in point.runs])

    expected = [mean(topology_family=name, protocol_kind="silent") for name in named]
    expected.append(mean(topology_family="ring", protocol_kind="gis"))
    assert [line.get_ydata()[0] for line in lines] == pytest.approx(expected)
    marks = [bars.lines[0] for bars in panel.containers]
    assert [line.get_color() for line in lines] == [*(mark.get_color() for mark in marks), NEUTRAL]
    low, high = panel.get_ylim()
    assert all(low < height < high for height in expected)
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [*named, "each alone", "a ring"]
    assert not [line for line in drawn.axes[2].lines if line.get_gid() == "reference"]  # none beside bars


def test_looks_end_when_all_claims_are_decided_and_each_is_told_by_the_look_that_decides_it(monkeypatch):
    """The claim ``soon`` is decided by the first look, ``late`` by the third; ``always`` is asked of every run.

    What is not tested is told by the last, and has no part in the error.
    """
    late, sure = [0.1, 2.0, 0.3, 1.9], [0.5, 0.51, 0.49, 0.5, 0.502, 0.498]

    class Runs:
        points = ()

    def measured(asked, runs, look):
        samples = sure if asked.id != "late" or look.number == 3 else late
        return Evidence(asked, [Measured("x", [[samples]])], look=look)

    monkeypatch.setattr(reproducing, "evidence", measured)
    claims = [some_claim(id=name, region={"below": 1}) for name in ("soon", "late")]
    claims.append(some_claim(id="always", every_run=True, region={"below": 1}))
    claims.append(some_claim(id="never", region={"below": 1}, not_tested="why"))
    paper = type("Paper", (), {"claims": claims})
    figure = type("Figure", (), {"id": "f"})
    times = []
    _, found = reproducing._looked_at(paper, figure, lambda many: times.append(many) or Runs(), (1, 2, 4, 8))
    assert times == [1, 2, 4]
    assert [(one.claim.id, one.verdict, one.look.number) for one in found] == [
        ("soon", "holds", 1), ("late", "holds", 3), ("always", "holds", 1), ("never", "not tested", 3),
    ]  # fmt: skip
    assert {one.look.of for one in found} == {4}
    # Two claims that chance decides, of which one is judged at half the level, and each in four looks.
    confidences = sorted(one.deciding.interval.confidence for one in found[:2])
    assert confidences == pytest.approx([1 - 0.05 / 4, 1 - 0.05 / 2 / 4])


def test_what_no_look_decides_is_told_by_the_last(monkeypatch):
    class Runs:
        points = ()

    wide = [0.1, 2.0, 0.3, 1.9, 0.2]
    monkeypatch.setattr(
        reproducing,
        "evidence",
        lambda asked, runs, look: Evidence(asked, [Measured("x", [[wide * look.number]])], look=look),
    )
    paper = type("Paper", (), {"claims": [some_claim(region={"below": 1})]})
    _, (found,) = reproducing._looked_at(paper, type("Figure", (), {"id": "f"}), lambda many: Runs(), (1, 2))
    assert (found.verdict, found.look.number, found.deciding.interval.replications) == ("not decidable", 2, 10)
