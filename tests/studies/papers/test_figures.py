from pathlib import Path

import pytest

import netbandit
from netbandit.results.study_result import PointResult
from netbandit.studies.papers import figures as papers
from netbandit.studies.papers.cells import base_of
from netbandit.studies.papers.figure_runs import FigureRuns, points_of
from netbandit.studies.papers.figures import PaperError, load_paper, paper_names, papers_folder, read_paper
from netbandit.studies.papers.reproduce import reproduce

SCENARIO = """
schema = 1
[run]
horizon = 200
replications = 2
[topology]
family = "star"
agents = 3
[bandit]
kind = "bernoulli"
arms = 2
[learner]
kind = "elimination"
[protocol]
kind = "master-worker"
"""

FIGURE = """
paper = "A paper"
setting = "found by nobody"
[[figures]]
id = "fig1"
title = "regret"
scenarios = ["one.toml"]
series = [{ name = "all" }]
panels = [{}]
"""


def write(folder: Path, claims: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "one.toml").write_text(SCENARIO)
    (folder / "claims.toml").write_text(claims)
    return folder


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", paper_names())
def test_every_figure_series_and_claim_has_its_points(name):
    paper = load_paper(name)
    assert paper.claims
    for figure in paper.figures:
        points = points_of(paper, figure, None)
        runs = FigureRuns(figure, [PointResult({"scenario": name}, point.resolved) for name, point, _ in points])
        referred: set[str] = set()
        for panel in figure.panels:
            if panel.kind == "cells":
                shown = runs.select(panel.where)
                assert len(shown) > 1
                assert panel.ratio_to is None or any(base_of(runs, panel, point) for point in shown)
                continue
            shown = panel.series or [series.name for series in figure.series]
            assert shown
            assert any(runs.select({**panel.where, "series": series}) for series in shown)
            for reference in figure.references if panel.kind == "points" else []:
                each = [{"series": series} for series in shown] if reference.each else [{}]
                there = [bool(runs.select({**panel.where, **one, **reference.where})) for one in each]
                assert all(there) == any(there)  # a panel has a reference for each series, or none
                referred.update({reference.name} if all(there) else ())
        assert referred == {reference.name for reference in figure.references}
        for claim in paper.claims:
            if claim.figure != figure.id:
                continue
            assert list(claim.comparisons())
            for pair in claim.comparisons():
                for selector in pair:
                    if selector is not None and claim.measure == "slope":
                        assert len(runs.select(selector)) > 2
                    elif selector is not None:
                        runs.one(selector)


def test_the_figures_of_li_and_song_are_there():
    paper = load_paper("dpmab")
    expected = {"fig3", *(f"fig{number}" for number in range(4, 13))}  # figures 1 and 9 are one
    assert expected <= {figure.id for figure in paper.figures}
    assert expected <= {claim.figure for claim in paper.claims}


@pytest.mark.ci
def test_the_figures_of_cao_are_there_and_what_is_counted_is_decided(tmp_path):
    """Counted costs are exact, so their verdicts are known: what does not hold is not for want of replications."""
    paper = load_paper("vertical")
    figures = {"fig4", "fig5", "theorem42", "fig6", "fig6-log", "delay", "delay-bandwidth"}
    assert {figure.id for figure in paper.figures} == {claim.figure for claim in paper.claims} == figures
    judgements, failed = reproduce(paper.only("fig5"), tmp_path, replications=2, tell=lambda line: None)
    assert not failed
    verdicts = {judgement.claim.kind: judgement.verdict for judgement in judgements}
    assert verdicts == {"not the paper's number": "not tested", "ours": "holds"}
    measured = {judgement.claim.id: judgement.deciding.interval.value for judgement in judgements}
    assert measured["fig5-vfts-first"] == pytest.approx(5.3, abs=0.05)
    assert measured["fig5-vfts-last"] == pytest.approx(1.2, abs=0.05)
    assert measured["fig5-gigabytes"] == pytest.approx(0.032, rel=1e-4)
    assert (tmp_path / "fig5.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", paper_names())
def test_each_paper_says_how_its_setting_was_found(name):
    assert len(load_paper(name).setting) > 100


def test_one_figure_of_a_paper():
    only = load_paper("dpmab").only("fig4")
    assert [figure.id for figure in only.figures] == ["fig4"]
    assert {claim.figure for claim in only.claims} == {"fig4"}
    with pytest.raises(PaperError, match='did you mean "fig4'):
        load_paper("dpmab").only("fig4b")


def test_an_unknown_paper():
    with pytest.raises(PaperError, match='did you mean "dpmab'):
        load_paper("dpmap")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FIGURE + "[[claims]]\nid = 'x'", "claims.0.figure: Field required"),
        (FIGURE + "more = 1\nclaims = []", "figures.0.more: Extra inputs"),
        (FIGURE, "claims: Field required"),
        (FIGURE.replace("one.toml", "two.toml").replace("[[f", "claims = []\n[[f"), "there is no two.toml"),
        (
            FIGURE.replace("panels = [{}]", "panels = [{ series = ['none'] }]").replace("[[f", "claims = []\n[[f"),
            "none",
        ),
        ("paper = ", "claims.toml"),
    ],
)
def test_mistakes_of_a_file_of_claims(tmp_path, text, message):
    with pytest.raises(PaperError) as error:
        read_paper(write(tmp_path, text))
    assert message in str(error.value)


def test_papers_of_an_installed_package(tmp_path, monkeypatch):
    package = tmp_path / "netbandit"
    monkeypatch.setattr(netbandit, "__file__", str(package / "__init__.py"))
    package.mkdir()
    with pytest.raises(PaperError, match="missing"):
        papers_folder()
    (package / "studies" / "papers" / "data").mkdir(parents=True)
    write(package / "studies" / "papers" / "data" / "mine", FIGURE.replace("[[f", "claims = []\n[[f"))
    assert paper_names() == ["mine"]
    assert papers.load_paper("mine").title == "A paper"


def test_a_paper_without_a_text_quotes_nothing(tmp_path):
    claims = """
    [[claims]]
    id = "one"
    figure = "fig1"
    where = "abstract"
    says = "little"
    read_as = "below 1"
    measure = "mean"
    of = "regret"
    region = { below = 1 }
    """
    assert [one.paraphrased for one in read_paper(write(tmp_path / "a", FIGURE + claims)).claims] == [False]
    without = read_paper(write(tmp_path / "b", f"paraphrased = true\n{FIGURE}{claims}"))
    assert [one.paraphrased for one in without.claims] == [True]
