import random

import pytest
from click.testing import CliRunner
from pydantic import Field

from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.learners.ucb import Ucb
from netbandit.parts.registry import BUILT_IN, kind_key
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.testing import swarm


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("first", range(0, 40, 20))
def test_random_scenarios_keep_all_invariants(first):
    failures = {number: swarm.failure(5, number) for number in range(first, first + 20)}
    assert {number: found for number, found in failures.items() if found is not None} == {}


@pytest.mark.search
def test_random_scenarios_of_another_seed_keep_all_invariants(request):
    seed = int(request.config.getoption("--hypothesis-seed") or 0)
    failures = {number: swarm.failure(seed, number) for number in range(40)}
    assert {number: found for number, found in failures.items() if found is not None} == {}, f"seed {seed}"


def test_a_scenario_is_drawn_from_its_seed_and_number():
    assert swarm.draw(1, 2) == swarm.draw(1, 2) != swarm.draw(1, 4)


@pytest.mark.ci
def test_scenarios_differ_in_parts_and_have_all_tables():
    drawn = [swarm.draw(1, number) for number in range(0, 24, 2)]
    assert len({(one["learner"]["kind"], one["protocol"]["kind"]) for one in drawn}) > 6
    tables = set().union(*drawn)
    assert {"links", "faults", "energy", "feedback", "compute"} <= tables


@pytest.mark.ci
def test_keys_of_all_tables_and_parts_are_drawn_each_in_its_turn():
    """A sample of them; not every key goes with every scenario."""
    keys = swarm.keys()
    assert {key.table for key in keys} >= {
        "run",
        "links",
        "faults",
        "adversary",
        "energy",
        "feedback",
        "compute",
        *BUILT_IN,
    }
    assert {key.kind for key in keys if key.table == "protocol"} == set(BUILT_IN["protocol"])
    turns = range(5, len(keys), 40)
    there = [keys[turn] for turn in turns if has(swarm.draw(2, 2 * turn + 1), keys[turn])]
    assert len(there) > 0.6 * len(turns)


def has(tables, key):
    """Return whether a scenario says something of a key."""
    inner = tables
    for name in (key.table, *key.path):
        if not isinstance(inner, dict) or name not in inner:
            return False
        inner = inner[name]
    return key.kind in (None, tables[key.table].get(kind_key(key.table)))


class Zealous(Ucb):
    """Somebody else's learner, with a key of its own."""

    zeal: float = Field(default=1.0, ge=0.25, lt=0.75, validate_default=False)


def test_a_key_that_is_new_is_drawn_without_anybody_thinking_of_it(monkeypatch):
    monkeypatch.setitem(BUILT_IN["learner"], "ucb", f"{__name__}:Zealous")
    key = swarm.Key("learner", "ucb", ("zeal",))
    turn = swarm.keys().index(key)
    drawn = [swarm.draw(seed, 2 * turn + 1)["learner"] for seed in range(4)]
    assert {one["kind"] for one in drawn} == {"ucb"}
    assert all(0.25 <= one["zeal"] < 0.75 for one in drawn)
    assert len({one["zeal"] for one in drawn}) > 1


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 4}, {3, 4}),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.1}, {1e-3, 0.05}),
        ({"enum": ["a", "b"]}, {"a", "b"}),
        ({"type": "boolean"}, {True, False}),
        ({"anyOf": [{"const": 1}, {"type": "string"}], "x-words": 'a number, or "all"'}, {1, "all"}),
    ],
)
def test_values_are_those_that_the_schema_allows(schema, allowed):
    values = swarm._Values(random.Random(1), {})
    assert {values.of(schema) for _ in range(60)} == allowed


@pytest.mark.ci
def test_a_failure_is_made_smaller_and_can_be_replayed(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def broken(tables):
        try:
            check(load_tables(tables))
        except ScenarioError as error:
            return f"refused: {error}"
        return "lost for good" if "loss" in tables.get("links", {}).get("peer", {}) else None

    monkeypatch.setattr(swarm, "broken", broken)
    number = next(number for number in range(0, 100, 2) if broken(swarm.draw(0, number)) == "lost for good")
    found = swarm.failure(0, number)
    assert found.text == "lost for good"
    assert set(found.tables["links"]) == {"peer"}
    assert set(found.tables["links"]["peer"]) == {"loss"}
    assert "faults" not in found.tables
    assert found.tables["run"]["horizon"] == 1
    done = CliRunner().invoke(main, ["swarm", "1", "--start", str(number)])
    assert done.exit_code == 1
    assert f"netbandit swarm --replay swarm-0-{number}.toml" in done.output
    again = CliRunner().invoke(main, ["swarm", "--replay", f"swarm-0-{number}.toml"])
    assert (again.exit_code, again.output) == (1, "lost for good\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a = [", "scene.toml:1:6: syntax: "),
        ('run = "é"'.encode("utf-16"), "scene.toml:1:1: encoding: the byte 0xff is not UTF-8"),
        (b"run = 3", "scene.toml:1:1: run: must be a table"),
        (b"x = " + b"[" * 1_000 + b"]" * 1_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_replayed_is_told_as_by_check(tmp_path, monkeypatch, content, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scene.toml").write_bytes(content)
    done = CliRunner().invoke(main, ["swarm", "--replay", "scene.toml"])
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not done.stdout
