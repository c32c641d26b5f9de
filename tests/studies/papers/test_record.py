"""The record of papers: what is in it, what is run again, and that the shipped one can be repeated."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.small_paper import small_paper

from netbandit.cli import main
from netbandit.studies.papers import figures as papers
from netbandit.studies.papers.figure_runs import points_of
from netbandit.studies.papers.figures import load_paper, read_paper
from netbandit.studies.papers.record import PaperRecordError, content_of, current, read, shipped


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = small_paper(tmp_path / "papers")
    monkeypatch.setattr(papers, "papers_folder", lambda: folder.parent)
    monkeypatch.setattr("netbandit.studies.papers.record.papers_folder", lambda: folder.parent)
    return folder


def recorded(folder: Path, *more: str):
    arguments = ["reproduce", "mine", "--jobs", "1", "--out", str(folder.parent / "out")]
    return CliRunner().invoke(main, [*arguments, "--record", str(folder.parent / "record.jsonl"), *more])


@pytest.mark.ci
def test_a_figure_is_recorded_once_and_again_when_what_is_measured_has_changed(folder):
    first = recorded(folder)
    assert first.exit_code == 0, first.output
    (figure,) = read(folder.parent / "record.jsonl").values()
    assert [claim.verdict for claim in figure.claims] == ["holds", "does not hold", "not decidable", "holds"]
    assert (figure.runs, figure.timed_runs, figure.decided, len(figure.fingerprints)) == (8, 8, 3, 2)
    assert figure.seconds == pytest.approx(figure.core_seconds)
    assert figure.core_seconds > 0
    delay = figure.claims[0]
    assert (delay.number, delay.replications, delay.comparisons, delay.confidence) == ("2", 4, 1, None)
    assert delay.measured == "in each pair of runs, difference of round_slots: ring against complete"

    again = recorded(folder)
    assert f"mine/fig1: recorded {figure.at}" in again.output
    assert "no claim" in again.output

    text = (folder / "claims.toml").read_text()
    (folder / "claims.toml").write_text(text.replace("a ring is slow", "a ring takes its time"))
    assert "mine/fig1: recorded" in recorded(folder).output
    (folder / "claims.toml").write_text(text.replace("region = { above = 1 }", "region = { above = 3 }", 1))
    changed = recorded(folder)
    assert "mine/fig1: recorded" not in changed.output
    (newest,) = read(folder.parent / "record.jsonl").values()
    assert newest.claims[0].verdict == "does not hold"
    assert (newest.timed_runs, newest.core_seconds) == (8, figure.core_seconds)  # the runs were there
    assert len((folder.parent / "record.jsonl").read_text().splitlines()) == 1

    (folder / "claims.toml").write_text(text.replace('if_not = "it', 'kind = "ours"\nnot_tested = "it'))
    untested = recorded(folder)
    (newest,) = read(folder.parent / "record.jsonl").values()
    assert [claim.verdict for claim in newest.claims] == ["holds", "not tested", "not decidable", "holds"]
    assert newest.decided == 2
    assert "3 claims: 2 hold, 1 not decidable\n1 own question: 1 not tested\n" in untested.output
    listed = CliRunner().invoke(main, ["reproduce", "mine", "--estimate", "--jobs", "1"])
    assert "  fig1  4 claims (1 ours), 8 runs" in listed.output


ALIKE = """
[[claims]]
id = "alike"
figure = "fig1"
where = "Section 1"
says = "a ring is close to a ring"
kind = "not the paper's number"
read_as = "within 10 %"
measure = "ratio"
of = "regret"
points = [{ series = "ring" }]
against = [{ series = "ring" }]
every_run = true
region = { at_least = 0.9, at_most = 1.1 }
around = 1
"""


@pytest.mark.ci
def test_kinds_of_claims_and_margins_are_in_what_is_printed_in_tables_and_in_the_record(folder):
    with (folder / "claims.toml").open("a") as file:
        file.write(ALIKE)
    first = recorded(folder)
    assert (
        "4 claims: 2 hold, 1 does not hold, 1 not decidable\n1 claim by numbers that are not the paper's: 1 holds\n"
        in (first.output)
    )
    assert "margins: holds with 5 %, 10 %, 20 % and 50 %" in first.output
    assert "alike (not the paper's number): a ring is close" in first.output
    (figure,) = read(folder.parent / "record.jsonl").values()
    assert {claim.id: claim.kind for claim in figure.claims}["pace"] == "the paper's"
    assert figure.claims[-1].kind == "not the paper's number"
    assert figure.claims[-1].margins == dict.fromkeys(("5 %", "10 %", "20 %", "50 %"), "holds")
    (*_, row) = csv.DictReader((folder.parent / "out" / "claims.csv").read_text().splitlines())
    assert (row["kind"], row["by_margin"]) == ("not the paper's number", "margins: holds with 5 %, 10 %, 20 % and 50 %")
    listed = CliRunner().invoke(main, ["reproduce", "mine", "--estimate", "--jobs", "1"])
    assert "  fig1  5 claims (1 not the paper's number), 8 runs" in listed.output


@pytest.mark.ci
def test_no_time_is_recorded_of_runs_that_were_there_already(folder):
    assert recorded(folder).exit_code == 0
    (folder.parent / "record.jsonl").unlink()
    assert recorded(folder).exit_code == 0
    (figure,) = read(folder.parent / "record.jsonl").values()
    assert (figure.timed_runs, figure.seconds) == (0, None)


def test_no_figure_begins_when_the_budget_is_spent(folder):
    result = recorded(folder, "--budget", "0 s")
    assert result.exit_code == 0, result.output
    assert "mine/fig1: not run, the budget is spent" in result.output
    assert not (folder.parent / "record.jsonl").exists()


@pytest.mark.ci
def test_the_list_of_figures_says_what_was_recorded(folder):
    assert recorded(folder).exit_code == 0
    listed = CliRunner().invoke(main, ["reproduce", "mine", "--estimate", "--jobs", "1"])
    lines = listed.output.splitlines()
    assert re.fullmatch(r"  fig1  4 claims, 8 runs, \d+ s when recorded, 3 decided at 4 replications", lines[1])
    assert lines[2] == "  claims decided within a minute: mine/fig1"
    others = CliRunner().invoke(main, ["reproduce", "mine", "--estimate", "--jobs", "1", "--replications", "9"])
    assert others.output.splitlines()[1:] == ["  fig1  4 claims, 18 runs, seconds"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--record", "r.jsonl", "--replications", "3"], "--record takes replications from the papers' scenarios"),
        (["--all"], "--all is all papers: leave out PAPER, or --all"),
        (["--budget", "2 h"], "--budget goes with --record"),
        (["--record", "r.jsonl", "--budget", "3 slots"], "must be a time, such as 2 h"),
        (["--record", "r.jsonl", "--budget", "soon"], "must be a duration"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, said):
    result = CliRunner().invoke(main, ["reproduce", "dpmab/fig4", *options])
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())


def test_what_is_no_record_is_refused_before_anything_runs(folder):
    (folder.parent / "record.jsonl").write_text('{"paper": "mine"}\n')
    result = recorded(folder)
    assert result.exit_code == 2
    assert "record.jsonl:1: not a line that netbandit reproduce --record writes" in result.output
    (folder.parent / "record.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(PaperRecordError, match="not a text"):
        read(folder.parent / "record.jsonl")


def _cheapest(number: int):
    """Return the recorded figures whose runs take least, one of each paper, the first *number* of them."""
    by_cost = sorted(shipped().values(), key=lambda one: (one.seconds or 1e9) / one.runs)
    return list({one.paper: one for one in reversed(by_cost)}.values())[-number:]


@pytest.mark.ci
@pytest.mark.parametrize("one", _cheapest(4), ids=lambda one: f"{one.paper}/{one.figure}")
def test_a_sample_of_the_shipped_record_has_the_same_fingerprints_today(one):
    paper = load_paper(one.paper)
    (figure,) = paper.only(one.figure).figures
    assert content_of(paper, figure) == one.content, "its points or claims have changed: record it again"
    points = points_of(paper, figure, 1)
    for _, point, _ in (points[0], points[-1]):
        place = [each for _, each, _ in points].index(point)
        assert point.simulation(0).run().fingerprint == one.fingerprints[place]


@pytest.mark.slow
@pytest.mark.parametrize("name", papers.paper_names())
def test_the_shipped_record_is_of_todays_figures(name):
    stale = [figure.id for figure, found in current(shipped(), load_paper(name)) if found is None]
    assert not stale, f"not recorded, or changed since: {stale}"


@pytest.mark.ci
def test_each_recorded_claim_is_a_claim_of_its_figure():
    for (name, figure), one in shipped().items():
        claims = [claim.id for claim in read_paper(papers.papers_folder() / name).claims if claim.figure == figure]
        assert sorted(claim.id for claim in one.claims) == sorted(claims)


@pytest.mark.ci
def test_each_recorded_claim_has_its_kind_and_is_decided_by_what_may_decide_it():
    for (name, _), one in shipped().items():
        claims = {claim.id: claim for claim in read_paper(papers.papers_folder() / name).claims}
        for found in one.claims:
            asked = claims[found.id]
            assert found.kind == asked.kind, found.id
            assert list(found.margins) == list(asked.by_margin()), found.id
            assert (found.verdict == "not tested") == bool(asked.not_tested), found.id
            by_text = asked.left_open or {"holds", "does not hold"} <= set(found.margins.values())
            assert (found.verdict == "not decidable by the text") == bool(by_text), found.id


@pytest.mark.ci
def test_where_some_runs_were_there_the_time_is_what_all_have_noted(folder):
    assert recorded(folder).exit_code == 0
    (folder.parent / "record.jsonl").unlink()
    study = folder.parent / "out" / "fig1"
    noted = {run: json.loads((run / "result.json").read_text()) for run in sorted((study / "runs").iterdir())}
    shutil.rmtree(next(iter(noted)))
    assert recorded(folder).exit_code == 0
    (figure,) = read(folder.parent / "record.jsonl").values()
    new, *others = (json.loads((run / "result.json").read_text()) for run in noted)
    assert figure.timed_runs == figure.runs == 8
    assert figure.seconds == pytest.approx(sum(run["metrics"]["wall_s"] for run in (new, *others)), abs=1e-3)
