"""Labels of a graph that are no harmless text: they reach terminals, pictures and pages as text."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from netbandit.cli import main
from netbandit.plots import style
from netbandit.results.numbers import as_csv

LABELS = [
    "\x1b[31mred\x07", "<script>alert(1)</script>", "\u4e2d\u6587\u5b57", "\ud800 half", "\u202eabc", "$x^{$", "a\x00b",
    "&amp; \"'", "line\nbreak",
]  # fmt: skip
SCENARIO = """\
[run]
horizon = 200
[topology]
family = "file"
file = "net.json"
[bandit]
kind = "bernoulli"
arms = 2
[learner]
kind = "elimination"
[protocol]
kind = "gis"
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    nodes = [{"id": number, "label": label} for number, label in enumerate(LABELS)]
    links = [{"source": number, "target": number + 1} for number in range(len(LABELS) - 1)]
    (tmp_path / "net.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    (tmp_path / "labels.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(style, "_lacking", set())
    return tmp_path


@pytest.mark.ci
def test_labels_are_text_wherever_they_go(place):
    for command in (
        ["run", "labels.toml"],
        ["plot", "results/labels", "--all"],
        ["report", "results/labels"],
        ["topology", "labels.toml", "--plot", "n.svg"],
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.stderr
        for line in (done.stdout + done.stderr).splitlines():
            assert line.isprintable(), line
        if command[0] == "run":
            assert done.stderr.count("the font of the pictures lacks U+") <= 1
    pictures = [*place.glob("results/labels/*.svg"), place / "n.svg"]
    assert len(pictures) >= 3
    for picture in pictures:
        text = picture.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert "<script" not in text
    page = (place / "results" / "labels" / "report.html").read_text(encoding="utf-8")
    assert "alert(1)</script>" not in page
    assert "\x1b" not in page
    assert "\x07" not in page


def test_a_missing_sign_is_said_once(place, capsys):
    from matplotlib.figure import Figure

    for _ in range(2):
        drawn = Figure()
        drawn.subplots().set_title("\U0001f9ec \ue123")
        style.encoded(drawn, "png")
    lines = [line for line in capsys.readouterr().err.splitlines() if "U+E123" in line]
    assert len(lines) == 1


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1"]
TABLES = """
[[sweep.cases]]
label = "=HYPERLINK(1)"
run.horizon = 200
[[sweep.cases]]
label = "-7"
run.horizon = 100
"""


def test_no_table_has_a_formula_for_spreadsheets(place):
    nodes = [{"id": number, "label": label} for number, label in enumerate(FORMULAS)]
    links = [{"source": number, "target": number + 1} for number in range(len(FORMULAS) - 1)]
    (place / "net.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    (place / "labels.toml").write_text(SCENARIO + TABLES)
    assert CliRunner().invoke(main, ["run", "labels.toml", "--replications", "2"]).exit_code == 0
    texts = [(place / "results" / "labels" / name).read_text(encoding="utf-8") for name in ("table.csv", "summary.csv")]
    for command in (["nodes"], ["links"], ["table", "--rows", "case"]):
        done = CliRunner().invoke(main, [command[0], "results/labels", *command[1:], "--csv"])
        assert done.exit_code == 0, done.stderr
        texts.append(done.stdout)
    found = set()
    for text in texts:
        cells = {one for row in csv.reader(io.StringIO(text)) for one in row}
        found |= cells
        assert "'=HYPERLINK(1)" in cells
        assert "-7" in cells  # a number, which no spreadsheet calls
        assert all(re.fullmatch(r"-\d+(\.\d+)?(e[+-]\d+)?", one) for one in cells if one.startswith((*"=+-@\t",)))
    assert {f"'{label}" for label in FORMULAS[:4]} < found
    assert as_csv([[-1.5, "-1.5", "+inf", "", None, "'=1", "a=1", *FORMULAS]]).split(",") == (
        ["-1.5", "-1.5", "+inf", "", "", "'=1", "a=1", *(f"'{label}" for label in FORMULAS[:4]), "'\t=1+1\n"]
    )
