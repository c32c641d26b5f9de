"""Whatever a scenario says, ``check`` finds it valid or names the mistakes: a thousand hostile ones, the same ones."""

import os
import shutil
import traceback
from collections import Counter

import pytest
from helpers.hostile import FILES, ROOT, cases

from netbandit.checks.check import check
from netbandit.parts.registry import BUILT_IN, kind_key, part_class
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load, load_tables
from netbandit.testing.scenes import small

SEED = 16
COUNT = int(os.environ.get("HOSTILE", "250"))
"""By hand: ``HOSTILE=100000 pytest tests/scenario/test_hostile.py -n0``."""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with what the scenarios name, on a machine that can spare 3 MB for a graph."""
    for file in FILES:
        shutil.copy(file, tmp_path)
    (tmp_path / "topologies").symlink_to(ROOT / "topologies")
    monkeypatch.setattr("netbandit.util.memory.affordable", lambda: 3_000_000)
    monkeypatch.setattr("netbandit.util.memory._SURELY_FITS", 3_000_000)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def outcome(content, overrides, file):
    """``valid``, ``wrong``, or what else has happened, with the scenario."""
    file.write_bytes(content)
    try:
        check(load(file.name, overrides))
    except ScenarioError as error:
        plain = error.lines and all(line.isprintable() for line in error.lines)
        return "wrong" if plain else f"lines that are not plain: {error.lines}"
    except BaseException as error:
        return f"{traceback.format_exception(error)[-2:]}\n{overrides}\n{content!r}"
    return "valid"


@pytest.mark.ci
def test_a_check_ends_in_a_result_or_in_plain_lines(place):
    found = Counter(outcome(*case, place / "scene.toml") for case in cases(SEED, COUNT))
    assert set(found) == {"valid", "wrong"}, "\n\n".join(found)
    assert found["valid"] > COUNT * 0.03
    assert found["wrong"] > COUNT * 0.5


@pytest.mark.ci
@pytest.mark.sampled(20)
@pytest.mark.parametrize("table", list(BUILT_IN))
def test_no_number_of_a_part_is_too_large_for_check(place, table):
    """Each key that takes a number, of every kind, at values that nobody means."""
    wrong = []
    for kind in BUILT_IN[table]:
        part = part_class(table, kind, place)
        for key in [field.alias or name for name, field in part.model_fields.items() if _takes_a_number(field)]:
            for value in (10**9, 1e300):
                for world, learner, protocol in FITTING:
                    parts = {"bandit": small("bandit", world), "learner": small("learner", learner)}
                    parts |= {"protocol": {"kind": protocol}, "topology": {"family": "ring", "agents": 4}}
                    if parts[table][kind_key(table)] != kind:
                        parts[table] = {"agents": 4} if "agents" in part.model_fields else {}
                        parts[table] |= {kind_key(table): kind}
                    parts[table] = {**parts[table], key: value}
                    try:
                        check(load_tables({"run": {"horizon": 60}, **parts}))
                    except ScenarioError:
                        pass
                    except Exception as error:
                        wrong.append(f"{table}.{kind}.{key} = {value}: {error!r}")
                    if table == "topology":
                        break
    assert not wrong


FITTING = (
    ("bernoulli", "elimination", "gis"),
    ("bernoulli", "ucb", "local"),
    ("bernoulli", "coop-ucb2", "consensus"),
    ("linear", "feducb", "master-worker"),
)


def _takes_a_number(field):
    return any(name in str(field.annotation) for name in ("int", "float"))
