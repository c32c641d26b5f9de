"""Each value that a paper's scenario sets, beside the passage that prints it: no setting drifts from its source.

The rows are in tests/data/passages.toml.
"""

import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from netbandit.papers.figures import FILE, papers_folder
from netbandit.scenario.load import load

PASSAGES = tomllib.loads((Path(__file__).parents[1] / "data" / "passages.toml").read_text(encoding="utf-8"))
PARTS = ("run", "topology", "links", "bandit", "learner", "protocol")
WHOLE = {"links.peer.latency", "bandit.gap_means"}
"""Keys whose values are tables."""

FILES = [(name, path) for name in PASSAGES for path in sorted((papers_folder() / name).glob("*.toml"))]
FILES = [pytest.param(*one, id=f"{one[0]}-{one[1].stem}") for one in FILES if one[1].name != FILE]


def keys_of(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield each key of a table, dotted, with its value."""
    whole = next((key for key in WHOLE if path == key or path.startswith(f"{key}.")), None)
    if whole is not None or not isinstance(value, dict):
        yield whole or path, value
    else:
        yield from chain.from_iterable(keys_of(inner, f"{path}.{key}") for key, inner in value.items())


def settings(path: Path) -> dict[str, list[object]]:
    """Return all values that a file, with what it extends, sets a key to; of one that is swept, those of the sweep."""
    data = dict(load(path).data)
    sweep = dict(data.pop("sweep", {}))
    cases = [
        pair
        for case in sweep.pop("cases", [])
        for table in case
        if table in PARTS
        for pair in keys_of(case[table], table)
    ]
    swept = [pair for key, values in sweep.items() if key != "inherit" for one in values for pair in keys_of(one, key)]
    found: dict[str, list[object]] = {}
    for key, value in (*swept, *cases):
        found.setdefault(key, []).append(value)
    everywhere = {key for key, _ in swept}
    for key, value in chain.from_iterable(keys_of(data[part], part) for part in PARTS if part in data):
        if key not in everywhere:
            found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize(("name", "path"), FILES)
def test_each_value_stands_in_its_passage_or_is_marked_as_ours(name, path):
    of_paper = PASSAGES[name]
    for key, values in settings(path).items():
        rows = [row for row in of_paper["printed"] if row["key"] == key]
        own = [row for row in rows if path.stem in row.get("files", [])] or [row for row in rows if "files" not in row]
        assert own or key in of_paper["not_printed"], f"{path.name}: {key} has no row in tests/data/passages.toml"
        for row in own:
            strange = [value for value in values if value not in [*row.get("values", []), *row.get("ours", [])]]
            assert not strange, f"{path.name}: {key} = {strange}, but {row['passage']}"


@pytest.mark.parametrize("name", PASSAGES)
def test_no_row_is_left_over(name):
    of_paper, folder = PASSAGES[name], papers_folder() / name
    found = {one.values[1].stem: settings(one.values[1]) for one in FILES if one.values[0] == name}
    assert set(of_paper["not_printed"]) <= {key for one in found.values() for key in one}
    assert not {row["key"] for row in of_paper["printed"]} & set(of_paper["not_printed"])
    for row in of_paper["printed"]:
        where = row.get("files", [path.stem for path in folder.glob("*.toml") if path.name != FILE])
        assert any(row["key"] in found[stem] for stem in where), row
