"""The documentation's pages of papers, which are made from the claims and the shipped record."""

import re
from typing import get_args

import pytest
from helpers.docs_extension import docs_extension

from netbandit.studies.papers.claims import Kind
from netbandit.studies.papers.figures import load_paper, paper_names
from netbandit.studies.papers.record import shipped


@pytest.fixture(scope="module")
def pages():
    return docs_extension("paper_pages")


@pytest.mark.parametrize("name", paper_names())
def test_a_page_has_each_claim_with_its_verdict_and_each_figure_with_its_command(pages, name, tmp_path):
    paper, record = load_paper(name), shipped()
    text = pages.page(paper, record, tmp_path)
    summary, verdicts, setting = (text.index(part) for part in (" claim", "\n## Verdicts\n", "\n## Setting\n"))
    assert summary < verdicts < text.index("::::{dropdown}") < setting
    assert text[:verdicts].count("\n- ") <= 5  # what is doubtful
    for figure in paper.figures:
        assert f"netbandit reproduce {name}/{figure.id}\n" in text
    for claim in paper.claims:
        found = record.get((name, claim.figure))
        (block,) = [part for part in text.split("\n\n") if part.startswith(f"**{claim.id}** (")]
        verdict = block.splitlines()[1]
        if found is None:
            assert verdict == ": *not recorded*"
        else:
            (one,) = [each for each in found.claims if each.id == claim.id]
            assert verdict == f": **{one.verdict}**"


@pytest.mark.ci
def test_the_table_of_all_papers_counts_every_claim_once(pages):
    record = shipped()
    tables = [
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
        for table in re.split(r"^\w.*:$", pages.overview(record), flags=re.MULTILINE)[1:]
    ]
    claims = [claim for name in paper_names() for claim in load_paper(name).claims]
    for rows, kind in zip(tables, get_args(Kind), strict=True):
        numbers = [list(map(int, row[1:])) for row in rows[2:-1]]
        assert len(rows) > 3, kind
        for count, *verdicts in numbers:
            assert count == sum(verdicts) > 0
        assert rows[-1][1:] == [f"{sum(column)}" for column in zip(*numbers, strict=True)]
        assert int(rows[-1][1]) == sum(claim.kind == kind for claim in claims)


def test_without_a_record_nothing_is_said_to_hold(pages, tmp_path):
    text = pages.page(load_paper("dpmab"), {}, tmp_path)
    assert "**holds**" not in text
    assert text.count("Not recorded yet") == len(load_paper("dpmab").figures)


@pytest.mark.ci
def test_where_a_papers_settings_come_from_is_said(pages, tmp_path):
    for name in paper_names():
        sources = load_paper(name).sources
        assert sources.ours, name
        text = pages.page(load_paper(name), {}, tmp_path)
        for words in ("From the paper's text", "From its authors' code", "Chosen or guessed here"):
            assert f"- **{words}**: " in text
