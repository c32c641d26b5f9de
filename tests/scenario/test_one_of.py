"""Where a key takes one of several tables, such as laws, another one takes the place of the whole."""

from itertools import permutations

import pytest

import netbandit as nb
from netbandit.checks.check import check
from netbandit.parts.registry import BUILT_IN, load_class
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load, load_tables
from netbandit.scenario.model import scenario_model, tables_of
from netbandit.scenario.one_of import _tables_inside
from netbandit.scenario.sweep import expand
from netbandit.scenario.toml_text import toml_text, toml_value
from netbandit.testing.scenes import put_over
from netbandit.util.key_paths import lookup

BASE = {
    "run": {"horizon": 40},
    "topology": {"family": "ring", "agents": 4},
    "links": {"peer": {"radio": {"preset": "lora-eu868-sf7"}}},
    "bandit": {"kind": "bernoulli", "arms": 3},
    "learner": {"kind": "ucb"},
    "protocol": {"kind": "local"},
}
EXAMPLES = {
    "uniform": {"uniform": ["1 ms", "2 ms"]},
    "geometric": {"geometric": 3},
    "GeometricJitter": {"geometric": [1, 4]},
    "exponential": {"exponential": "2 ms"},
    "lognormal": {"lognormal": ["2 ms", 0.5]},
    "pareto": {"pareto": ["1 ms", 2.5]},
    "file": {"file": "values.csv"},
    "UniformSpeed": {"uniform": [0.5, 2.0]},
    "LognormalSpeed": {"lognormal": 0.5},
    "ParetoSpeed": {"pareto": 2.5},
    "per_bit": {"per_bit": 1e-6},
    "good": {"good": 0.1, "bad": 0.9, "good_for": "9 ms", "bad_for": "3 ms"},
    "share": {"share": 0.5},
    "ShareSpeed": {"share": 0.5, "factor": 0.25},
    "poisson": {"poisson": "2 ms"},
    "aloha": {"aloha": "2 ms"},
    "csma": {"csma": "2 ms", "attempts": 3},
    "up_for": {"up_for": "9 ms", "down_for": "3 ms"},
    "up": {"up": 0.5},
    "from": {"power": "2 mW", "from": "1 ms", "until": "3 ms", "every": "5 ms"},
    "on_for": {"power": "2 mW", "on_for": "1 ms", "off_for": "3 ms"},
    "born": {"born": 0.2, "dies": 0.1, "every": "2 slots"},
    "matching": {"matching": "random"},
    "RecurringChanges": {"up_for": "3 ms", "every": "9 ms"},
}
"""A table of each, by its class, or by one of its keys."""


def _example(model):
    keys = _tables_inside(model)
    return next((table for name, table in EXAMPLES.items() if name == model.__name__), None) or next(
        table for name, table in EXAMPLES.items() if name in keys and table.keys() <= keys.keys()
    )


def _one_of(model, path=()):
    """Yield the keys that take one of several tables, with these."""
    for key, tables in _tables_inside(model).items():
        if len(tables) > 1:
            yield (*path, key), tables
        for table in tables:
            yield from _one_of(table, (*path, key)) if len(tables) == 1 else ()


KEYS = {
    **dict(_one_of(scenario_model(tuple(tables_of({}).items())))),
    **{
        (table, *path): tables
        for table, kinds in BUILT_IN.items()
        for target in kinds.values()
        for path, tables in _one_of(load_class(target))
    },
}
PAIRS = [
    pytest.param(path, _example(one), _example(other), id=f"{'.'.join(path)}, {one.__name__} to {other.__name__}")
    for path, tables in KEYS.items()
    for one, other in permutations(tables, 2)
]


def _nested(path, value):
    for key in reversed(path):
        value = {key: value}
    return value


def test_the_keys_are_known():
    assert {".".join(path) for path in KEYS} >= {
        "run.activity", "links.peer.loss", "links.uplink.jitter", "links.peer.radio.access", "faults.links",
        "feedback.delay", "compute.agents.item", "compute.speed", "energy.harvest", "topology.changes",
    }  # fmt: skip


def _points(file, changes=(), **tables):
    return [point.data for point in expand(load(file, changes, toml_text(tables)).data)]


def _by_case(file, path, base, table):
    cases = [{"label": "as it is"}, {"label": "other", **_nested(path, table)}]
    return _points(file, **base, sweep={"cases": cases})[1]


def _by_extends(file, path, base, table):
    (file.parent / "base.toml").write_text(toml_text(base))
    return _points(file, extends="base.toml", **_nested(path, table))[0]


def _by_set(file, path, base, table):
    return _points(file, [f"{'.'.join(path)}={toml_value(table)}"], **base)[0]


def _by_setting_keys(file, path, base, table):
    """Its own keys first: one that the former has too would be a key of the former."""
    keys = sorted(table, key=lambda key: key in lookup(base, path))
    return _points(file, [f"{'.'.join((*path, key))}={toml_value(table[key])}" for key in keys], **base)[0]


def _by_keyword(file, path, base, table):
    return expand(load_tables(base, {"__".join(path): table}).data)[0].data


def _by_swept_values(file, path, base, table):
    return _points(file, **base, sweep={".".join(path): [table]})[0]


def _by_swept_keys(file, path, base, table):
    keys = sorted(table, key=lambda key: key in lookup(base, path))
    return _points(file, **base, sweep={".".join((*path, key)): [table[key]] for key in keys})[0]


def _for_a_trial(file, path, base, table):
    return put_over(base, _nested(path, table))


WAYS = (
    _by_case, _by_extends, _by_set, _by_setting_keys, _by_keyword, _by_swept_values, _by_swept_keys, _for_a_trial,
)  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("path", "one", "other"), PAIRS)
def test_another_table_takes_the_place_of_the_whole(path, one, other, tmp_path):
    base = put_over(BASE, _nested(path, one))
    found = {way.__name__: lookup(way(tmp_path / "a.toml", path, base, other), path) for way in WAYS}
    assert found == dict.fromkeys(found, other)
    assert lookup(base, path) == one


def test_the_same_law_is_merged_key_by_key():
    base = put_over(BASE, {"links": {"peer": {"loss": EXAMPLES["good"], "radio": {"access": EXAMPLES["csma"]}}}})
    case = {"links": {"peer": {"loss": {"bad": 0.5}, "radio": {"access": {"csma": "5 ms"}}}}}
    (point,) = expand({**base, "sweep": {"cases": [case]}})
    assert point.data["links"]["peer"]["loss"] == EXAMPLES["good"] | {"bad": 0.5}
    assert point.data["links"]["peer"]["radio"]["access"] == {"csma": "5 ms", "attempts": 3}


def test_a_key_of_no_law_is_told_as_such():
    text = toml_text({**BASE, "links": {"peer": {"loss": EXAMPLES["good"]}}})
    with pytest.raises(ScenarioError) as refused:
        check(load("a.toml", ["links.peer.loss.bda=0.5"], text))
    (line,) = refused.value.lines
    assert line.startswith("--set links.peer.loss.bda: links.peer.loss.bda: unknown key, must be one of")
    assert 'did you mean "bad"?' in line


def test_a_part_inside_a_part_of_another_kind_takes_its_place():
    base = {"learner": {"kind": "queued", "base": {"kind": "ucb", "alpha": 3.0}}}
    assert put_over(base, {"learner": {"base": {"alpha": 4.0}}})["learner"]["base"] == {"kind": "ucb", "alpha": 4.0}
    assert put_over(base, {"learner": {"base": {"kind": "klucb"}}})["learner"]["base"] == {"kind": "klucb"}


@pytest.mark.parametrize("loss", ["{ per_bit = 1e-6 }", "0.1"])
def test_what_another_law_lacks_is_missing_in_its_case(loss):
    text = toml_text(BASE | {"links": {}}).replace("[links]", f"[links.peer]\nloss = {loss}")
    text += '[[sweep.cases]]\nlabel = "as it is"\n[[sweep.cases]]\nlabel = "other"\n'
    text += "links.peer.loss = { good = 0.1, bad = 0.5 }\n"
    with pytest.raises(ScenarioError) as refused:
        check(load("a.toml", text=text))
    here = f"a.toml:{len(text.splitlines())}:"
    assert [line.startswith(here) for line in refused.value.lines] == [True, True], refused.value.lines
    assert "sweep.cases[1].links.peer.loss.bad_for: is missing" in refused.value.lines[0]


def test_a_case_of_another_law_runs(tmp_path):
    file = tmp_path / "late.toml"
    late = {"feedback": {"delay": {"geometric": 3}}, "links": {"peer": {}}}
    cases = [{"feedback": {"delay": law}} for law in ({"geometric": 5}, {"pareto": ["1 ms", 2.5]}, "3 slots")]
    file.write_text(toml_text({**BASE, **late, "sweep": {"cases": cases}}))
    assert len(nb.run(file, out=tmp_path / "out").query("metric == 'regret'")) == 3
