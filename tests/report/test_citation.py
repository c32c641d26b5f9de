"""citation.bib names netbandit in its version and the papers of what was run, and of nothing else."""

import re
from pathlib import Path

import pytest
from helpers.made_up_runs import made_up, study_of, write

import netbandit
from netbandit.parts.registry import BUILT_IN, load_class
from netbandit.report import CITATION, write_report
from netbandit.report.citation import URL, YEAR, citation, papers

CFF = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")


def keys(text):
    return re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)


def cited(**parameters):
    return keys(citation(study_of([made_up(parameters={key.replace("__", "."): v for key, v in parameters.items()})])))


def test_it_names_what_was_run():
    assert cited(learner__kind="ucb", protocol__kind="local", protocol__route="tree") == ["netbandit", "auer2002finite"]
    flood = cited(learner__kind="ucb", protocol__kind="local", protocol__route="flood", protocol__absorb=True)
    assert flood == [
        *("netbandit", "auer2002finite", "dubey2020cooperative", "madhushani2021one", "lee2023communication"),
    ]
    assert cited(learner__kind="oful", protocol__kind="master-worker")[1:] == [
        "abbasi2011improved",
        "wang2020distributed",
    ]
    assert cited(learner__kind="mine:Own", protocol__kind="silent") == ["netbandit"]


def test_parts_of_ones_own_are_named():
    study = study_of([made_up(parameters={"learner.kind": "mine:Own", "protocol.kind": "silent"})])
    assert "% mine:Own is a part of your own" in citation(study)


def test_each_rule_speaks_of_a_kind_that_there_is_and_of_its_keys():
    rules = [rule for paper in papers() for rule in paper.rules]
    assert len(rules) > 20
    for rule in rules:
        kinds = {key.partition(".")[0]: value for key, value in rule.items() if key.endswith(".kind")}
        for table, kind in kinds.items():
            assert kind in BUILT_IN[table]
        for key, value in rule.items():
            table, _, name = key.partition(".")
            if name != "kind":
                field = load_class(BUILT_IN[table][kinds[table]]).model_fields[name]
                assert value in str(field.annotation) or value in ("true", "false")


def test_each_learner_has_a_paper():
    covered = {rule.get("learner.kind") for paper in papers() for rule in paper.rules}
    assert set(BUILT_IN["learner"]) - covered == set()


def test_entries_are_whole_and_told_apart():
    entries = [paper.entry for paper in papers()]
    assert (
        len(set(keys("\n".join(entries))))
        == len(entries)
        == (Path(netbandit.__file__).parent / "report" / "references.bib").read_text(encoding="utf-8").count("\n@")
    )
    for entry in entries:
        assert entry.count("{") == entry.count("}")
        assert {"author", "title", "year"} <= set(re.findall(r"^  (\w+) +=", entry, re.MULTILINE))


@pytest.mark.ci
def test_the_report_writes_it_and_shows_it(tmp_path):
    write(tmp_path, [made_up()])
    page = write_report(tmp_path).read_text(encoding="utf-8")
    text = (tmp_path / CITATION).read_text(encoding="utf-8")
    assert "version = {0}" in text  # the made-up runs' own
    assert "li2022privacy" in text
    assert "li2022privacy" in page


def test_the_repository_says_the_same():
    assert f"  year: {YEAR}\n" in CFF
    assert CFF.count(f'url: "{URL}"') == 2
    assert CFF.count(f"version: {netbandit.VERSION}\n") == 2
