"""Each value that a paper's scenario sets, beside the passage that prints it: no setting drifts from its source.

The rows are in tests/data/passages.toml.
"""

import math
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from netbandit.scenario.load import load
from netbandit.studies.papers.figure_runs import points_of
from netbandit.studies.papers.figures import FILE, load_paper, papers_folder

PASSAGES = tomllib.loads((Path(__file__).parents[2] / "data" / "passages.toml").read_text(encoding="utf-8"))
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


def points(figure: str, name: str) -> list[dict[str, object]]:
    """Return all keys of each point of a figure, those at their defaults too."""
    paper = load_paper(name).only(figure)
    found = [point.resolved for _, point, _ in points_of(paper, paper.figures[0], None)]
    return [
        {f"{table}.{key}": value for table in PARTS if table != "links" for key, value in one[table].items()}
        for one in found
    ]


@pytest.mark.parametrize("figure", ["fig3", "fig11", "fig12", "budget"])
def test_components_of_li_and_song_are_averaged_as_their_algorithm_prints(figure):
    hybrid = [one for one in points(figure, "dpmab") if one["protocol.kind"] == "sink"]
    uneven = [one for one in hybrid if one["learner.aggregate"] != "paper"]
    assert len(hybrid) > len(uneven) == (2 if figure == "fig11" else 0)


@pytest.mark.ci
def test_other_readings_of_solanki_differ_from_the_figure_in_one_thing_each():
    own, readings = points("exp1", "pfcb")[0], points("readings", "pfcb")
    varied = {"bandit.sampling", "bandit.seed", "learner.share", "run.replications"}
    together = {"learner.band": "learner.weight", "learner.zeta": "learner.explore"}
    for point in readings:
        off = {key for key, value in point.items() if value != own[key]} - varied
        if point["learner.communicate"] == "every":  # FCB, as it is in EXP1
            off.remove("learner.communicate")
        assert len({together.get(key, key) for key in off}) <= 1, off
    spreads = {point["bandit.spread"] for point in readings}
    assert spreads == {0.1, 0.2, round(math.sqrt(0.2), 3)}


@pytest.mark.ci
def test_no_claim_of_solanki_is_measured_where_its_setting_was_chosen():
    """The readings are the search, on markets with a seed of their own; a claim has a market of its own in each run."""
    paper = load_paper("pfcb")
    seeds = {figure.id: {point["bandit.seed"] for point in points(figure.id, "pfcb")} for figure in paper.figures}
    assert None not in seeds.pop("readings")
    assert all(each == {None} for each in seeds.values())
    assert {claim.figure for claim in paper.claims} == set(seeds)
    assert {claim.id for claim in paper.claims if claim.kind == "fitted"} == {
        claim.id for claim in paper.claims if "% more" in claim.says
    }


def test_each_percentage_of_solanki_has_one_verdict():
    said = [claim.says for claim in load_paper("pfcb").claims if "% more" in claim.says]
    assert len(said) == len(set(said)) == 4


def test_both_horizons_of_dubeys_second_figure_are_ours_and_no_claim_of_the_paper_is_judged_by_one():
    horizons = {point["run.horizon"] for point in points("fig2", "feducb")}
    claims = [claim for claim in load_paper("feducb").claims if claim.figure == "fig2"]
    assert horizons == {20_000, 200_000}
    assert [claim.id for claim in claims if not claim.ours] == ["fig2-gap", "fig2-sensitivity"]
    for claim in claims:
        both = {selector["scenario"] for selector, _ in claim.comparisons()} == {"fig2", "fig2-long"}
        assert both == bool(claim.not_tested) == (not claim.ours), claim.id


def test_dubeys_peers_are_private():
    local = [point for point in points("private", "feducb") if point["protocol.kind"] == "local"]
    assert {point["topology.family"] for point in local} == {"complete", "random", "path", "ring"}
    assert all(point["learner.epsilon"] < math.inf for point in local)
