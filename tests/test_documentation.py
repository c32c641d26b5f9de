"""The documentation is what it says: its commands and code run, and nothing public is without an entry."""

import ast
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from helpers import known_datasets

import netbandit
from netbandit.checks.check import check
from netbandit.parts.registry import BUILT_IN
from netbandit.results.run_keys import run_key
from netbandit.scenario.load import load

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*(DOCS / "guides").glob("*.md"), *(DOCS / "start").glob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALLS = ("python3 -m venv", "eval ", "python -m benchmarks")


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder like the project's."""
    folder = tmp_path_factory.mktemp("documentation")
    for name in ("examples", "scenarios", "topologies"):
        shutil.copytree(ROOT / name, folder / name)
    known_datasets.write(folder)
    return folder


def quick(page):
    """Leave out what the README's test runs as well."""
    return page.name not in ("first_study.md", "install.md", "tour.md")


@pytest.mark.ci
@pytest.mark.parametrize("page", [page for page in PAGES if quick(page)], ids=lambda page: page.stem)
def test_everything_on_the_page_runs(page, folder, fresh):
    for language, text in blocks(page):
        first = text.split("\n", 1)[0]
        if first.startswith("# ") and re.fullmatch(r"# [\w.]+\.(py|toml|edgelist|csv)", first):
            (folder / first.removeprefix("# ")).write_text(text, encoding="utf-8")
        elif language == "python":
            done = fresh(["-c", text], folder)
            assert done.returncode == 0, done.stderr
        elif language == "sh":
            for command in text.splitlines():
                done = fresh(["-m", "netbandit", *shlex.split(command)[1:]], folder)
                assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def recipes(text):
    """Yield the expressions of some code that average curves by slot."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("mean", "agg"):
            recipe = ast.unparse(node)
            if "curves" in recipe and "'slot'" in recipe:
                yield recipe


AVERAGING = [
    pytest.param(text, id=page.stem)
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    for language, text in blocks(page)
    if language == "python" and any(recipes(text))
]


@pytest.mark.ci
@pytest.mark.parametrize("text", AVERAGING)
def test_means_of_curves_are_those_of_the_table(text, folder, monkeypatch):
    for language, named in blocks(ROOT / "README.md"):
        if language == "python" and named.startswith("# "):
            (folder / named.split("\n", 1)[0].removeprefix("# ")).write_text(named, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    names = {}
    exec(text, names)
    for name in ("neighbours", "shift"):
        sys.modules.pop(name, None)
    found = [eval(recipe, names) for recipe in recipes(text)]
    assert found
    results = names["results"]
    regret = results[results["metric"] == "regret"]
    for each in found:
        mean = each if each.ndim == 1 else each["mean"]
        keys = [key for key in mean.index.names if key != "slot"]
        assert (mean.groupby(keys).diff().dropna() >= 0).all()
        assert mean.groupby(keys).last().to_dict() == pytest.approx(regret.groupby(keys).value.mean().to_dict())


def test_every_command_on_a_page_is_one_of_ours():
    for page in DOCS.rglob("*.md"):
        for language, text in blocks(page):
            if language == "sh":
                for command in text.splitlines():
                    assert command.startswith(("netbandit ", *INSTALLS)), f"{page}: {command}"


def test_every_learner_and_protocol_has_a_page():
    pages = {page.stem for page in (DOCS / "algorithms").glob("*.md")}
    shared = {"lints": "linucb", "klucb": "ucb", "thompson": "ucb"}
    for table in ("learner", "protocol"):
        for kind in BUILT_IN[table]:
            assert shared.get(kind, kind) in pages, f"{table} {kind}"


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    rest = (DOCS / "reference" / "python_names.md").read_text(encoding="utf-8")
    assert [name for name in netbandit.__all__ if f"netbandit.{name}" not in text and f"`{name}`" not in rest] == []


def test_every_page_of_a_section_is_in_its_table_of_contents():
    for section in ("concepts", "algorithms", "guides", "start"):
        index = (DOCS / section / "index.md").read_text(encoding="utf-8")
        for page in (DOCS / section).glob("*.md"):
            assert page.stem == "index" or re.search(rf"^{re.escape(page.stem)}$", index, re.MULTILINE), page


def test_pictures_of_the_gallery_are_of_the_scenarios_as_they_are(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from scenario_gallery import what_runs

    kept = json.loads((DOCS / "gallery" / "whole_runs.json").read_text(encoding="utf-8"))
    files = {file.stem: file for file in (ROOT / "scenarios").glob("*.toml")}
    names = sorted(files)
    old = [name for name in names if kept.get(name, {}).get("what") != what_runs(files[name])]
    assert not old, f"run python docs/gallery/whole_runs.py {' '.join(old)}"
    for folder in ("pictures", "pictures/thumbnails"):
        assert [name for name in names if not (DOCS / "gallery" / folder / f"{name}.png").exists()] == []


def test_pages_of_algorithms_show_rounds_and_regret_of_the_studies_as_they_are(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from recorded_names import CURVES, ROUNDS
    from scenario_gallery import what_runs

    algorithms = DOCS / "algorithms"
    kept = json.loads((algorithms / "recorded.json").read_text(encoding="utf-8"))
    files = {file.stem: file for file in (algorithms / "studies").glob("*.toml")}
    old = [name for name, file in files.items() if kept.get(name) != what_runs(file)]
    assert not old, f"run python docs/algorithms/recorded.py {' '.join(old)}"
    shared = {"lints": "linucb", "klucb": "ucb", "thompson": "ucb"}
    assert {shared.get(kind, kind) for kind in BUILT_IN["learner"]} == {*CURVES}
    assert {*BUILT_IN["protocol"]} - {"silent", "pooled", "earliest"} == {*ROUNDS}  # these send no messages
    for names, directive, folder in ((ROUNDS, "round", algorithms / "rounds"), (CURVES, "regret-curve", None)):
        for name in names:
            assert f"```{{{directive}}} {name}\n" in (algorithms / f"{name}.md").read_text(encoding="utf-8"), name
            picture = algorithms / "pictures" / f"{directive.partition('-')[0]}-{name}.png"
            assert 5_000 < picture.stat().st_size < 60_000
            assert 500 < (picture.parent / "thumbnails" / picture.name).stat().st_size < 20_000
            assert folder is None or 500 < (folder / f"{name}.json").stat().st_size < 100_000


def test_the_scenario_on_the_first_page_is_the_one_its_picture_shows(tmp_path):
    (text,) = [text for language, text in blocks(DOCS / "index.md") if language == "toml"]
    assert len(text.splitlines()) <= 10
    (tmp_path / "first.toml").write_text(text, encoding="utf-8")
    first, shipped = (check(load(file)) for file in (tmp_path / "first.toml", ROOT / "scenarios" / "quickstart.toml"))
    assert [run_key(point, 0) for point in first.points] == [run_key(point, 0) for point in shipped.points]


def test_every_scenario_has_a_question_and_a_card_in_the_gallery(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    from scenario_gallery import GROUPS, grid

    names = {file.stem for file in (ROOT / "scenarios").glob("*.toml")}
    assert sorted(" ".join(GROUPS.values()).split()) == sorted(names)
    cards = re.findall(r"^:::\{grid-item-card\} (.+)$", grid(), re.MULTILINE)
    assert len(cards) == len(names)
    assert all(card.endswith("?") for card in cards)


@pytest.fixture
def key_pages(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    import generated_reference

    return generated_reference.key_pages(generated_reference.schema())


def keys_of(page):
    """Return the keys on a page, with the name that the search finds, its meaning, and its type with its default."""
    found = re.findall(r"^```\{key\} (.+)\n(?::no-index:\n\n)?(.*)\n\n\*(.+)\n```$", page, re.MULTILINE)
    assert len(found) == page.count("```{key}")
    return {name: (meaning, facts) for name, meaning, facts in found}


def test_types_of_keys_are_told_in_words(key_pages):
    facts = {name: one[1] for page in key_pages.values() for name, one in keys_of(page).items()}
    types = [text.partition("*")[0] for text in facts.values()]
    assert not [
        found for found in types if re.search(r"\b(string|array|object|≥|≤)$", found) and "a string" not in found
    ]
    for key in ("run.slot", "protocol.deadline of gis"):
        assert facts[key].startswith('a duration such as "10 ms"*')
    assert facts["run.horizon"] == "an integer from 1 to 10^12*"


def test_the_first_page_of_keys_has_ten_and_each_table_a_page_with_all_of_its_own(key_pages):
    first, *pages = key_pages.values()
    assert len([name for name in keys_of(first) if "." in name]) == 10
    listed = [name for page in (first.partition("## At the top")[2], *pages) for name in keys_of(page)]
    assert len(listed) == len(set(listed)) > 350  # the search finds each once
    assert {"links.peer.loss", "learner.epsilon of elimination", "faults.outages", "extends"} <= set(listed)
    assert all(f"({file})" in first for file in key_pages if file != "keys.md")
