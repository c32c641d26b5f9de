"""The paper for a journal of research software: what it cites, how long it is, what it shows."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from netbandit.studies.papers.record import shipped

PAPER = Path(__file__).parents[1] / "paper"
TEXT = (PAPER / "paper.md").read_text(encoding="utf-8")
ENTRIES = {
    found[1]: found[0]
    for found in re.finditer(
        r"^@\w+\{(\w+),\n(?:.*\n)*?\}$", (PAPER / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE
    )
}


def test_every_citation_has_an_entry_and_every_entry_is_cited():
    _, _, body = TEXT.split("---\n", 2)
    assert set(re.findall(r"@(\w+)", body)) == set(ENTRIES)


def test_every_entry_can_be_found():
    for name, entry in ENTRIES.items():
        assert re.search(r"^  (doi|url) += \{\S+\}", entry, re.MULTILINE), name


def test_its_result_is_the_recorded_one():
    figure = shipped()["asynchronous", "latency"]
    (claim,) = [one for one in figure.claims if one.id == "latency-uplinks-far"]
    assert claim.verdict == "holds"
    assert f"it has {claim.number} times the regret of agents that never" in TEXT
    others = [one.verdict for one in figure.claims if one.id.startswith("latency-others")]
    assert others == ["holds"] * 4


def test_it_has_at_most_a_thousand_words():
    _, _, body = TEXT.split("---\n", 2)
    assert 500 < len(re.sub(r"\(\w+\.png\)|\[@[^]]*\]|\\\w+\{[^}]*\}", "", body).split()) <= 1000


def test_its_pictures_are_there():
    pictures = re.findall(r"\]\((\w+\.png)\)", TEXT)
    assert pictures
    for name in pictures:
        assert (PAPER / name).stat().st_size > 10_000


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="needs pandoc")
def test_it_builds_with_the_command_that_contributors_are_told(tmp_path):
    told = re.search(r"`(pandoc [^`]*)`", (PAPER.parent / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    command = shlex.split(told[1].replace("paper.html", str(tmp_path / "paper.html")))
    subprocess.run(command, cwd=PAPER.parent, check=True)
    built = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert built.count('class="csl-entry"') == len(ENTRIES)
