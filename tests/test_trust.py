"""Every number on the page "Why trust it?" comes from a file that a command makes again."""

import importlib.util
import json
import math
import re
from pathlib import Path

import pytest
from helpers.docs_extension import docs_extension

ROOT = Path(__file__).parents[1]
TRUST = ROOT / "docs" / "trust"
PAGE = (TRUST / "index.md").read_text(encoding="utf-8")
FIELD = re.compile(r"\{\{ ([\w.]+) \}\}")


def measure():
    spec = importlib.util.spec_from_file_location("measure", TRUST / "measure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured():
    return json.loads((TRUST / "measured.json").read_text(encoding="utf-8"))


def test_the_text_has_no_number_of_its_own():
    words = re.sub(r"`[^`]*`|\]\([^)]*\)|:?--:", "", FIELD.sub("", PAGE))
    assert re.findall(r"[^\n]*\d[^\n]*", words.replace("beyond 3 it", "")) == []  # a convention, no measurement


def test_each_number_is_in_a_file_that_has_been_measured_whole():
    found = docs_extension("trust_page").substitutions()
    for name in FIELD.findall(PAGE):
        value = found
        for part in name.split("."):
            value = value[part]
        assert isinstance(value, str), name
    assert list(measured()) == list(measure().MEASURES)


def test_what_was_measured_speaks_for_the_simulator():
    found = measured()
    assert found["conservation"]["points_unbalanced"] == 0
    assert found["swarm"]["failed"] == 0
    assert found["emulation"]["differ"] == 0
    assert not any(one["caught"] for one in found["audit"].values())
    compared = [
        one["z"] for name in ("closed_forms", "references") for one in found[name].values() if type(one) is dict
    ]
    assert max(abs(z) for z in compared if z is not None) < 3.5


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) if isinstance(one, float) else one == other


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("closed_forms", marks=pytest.mark.ci),
        pytest.param("conservation", marks=[pytest.mark.slow, pytest.mark.ci]),
        pytest.param("swarm", marks=[pytest.mark.slow]),
        pytest.param("audit", marks=[pytest.mark.slow]),
    ],
)
def test_it_is_measured_again_as_it_stands(name):
    assert same(measure().MEASURES[name](), measured()[name])


@pytest.mark.ci
def test_the_regret_that_is_compared_with_others_is_as_it_stands():
    module, found = measure(), measured()["references"]
    for kind in ("ucb", "thompson"):
        others = module._loop(kind)
        assert math.isclose(sum(others) / len(others), found[f"{kind}_loop"]["theirs"], rel_tol=1e-9)
        assert found[f"{kind}_loop"]["ours"] == found[f"{kind}_mabwiser"]["ours"]
