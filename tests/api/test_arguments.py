"""What Python users give that cannot be is answered in a line that names it."""

import math
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netbandit as nb
from netbandit.parts.validation import KeysError
from netbandit.running.search import Range
from netbandit.scenario.errors import ScenarioError

ITSELF: list[Any] = []
ITSELF += [ITSELF, ITSELF]
TABLE: dict[Any, Any] = {}
TABLE["table"] = TABLE

SCENARIO = nb.Scenario(
    topology=nb.families.Ring(agents=4),
    bandit=nb.bandits.Bernoulli(means=[0.2, 0.8]),
    learner=nb.learners.Ucb(),
    protocol=nb.protocols.Silent(),
    run=nb.Run(horizon=5),
)


@pytest.mark.parametrize("value", [-1, 1.5, True, "a", None, math.nan])
def test_a_number_of_processes_is_one(tmp_path, value):
    with pytest.raises(ValueError, match="jobs must be an integer of at least 0, not "):
        SCENARIO.run(jobs=value, out=tmp_path / "never")
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("values", [{1: [2]}, {None: [2]}, {b"x": [2]}, {("a", "b"): [1]}, [1], "links"])
def test_swept_keys_are_texts(values):
    with pytest.raises(ValueError, match="values must be a dictionary of dotted keys with a list of values each"):
        SCENARIO.sweep(values)


LISTS = {
    "list": [5, 6, 7, 8],
    "array": np.array([5, 6, 7, 8]),
    "whole-numbers": [np.int64(5), np.int32(6), 7, np.uint8(8)],
    "objects": np.array([5, 6, 7, 8], dtype=object),
    "range": range(5, 9),
    "series": pd.Series([5, 6, 7, 8], index=[3, 1, 2, 0]),
    "index": pd.RangeIndex(5, 9),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("values", LISTS.values(), ids=LISTS)
def test_what_holds_values_is_swept_like_a_list(tmp_path, values):
    for number, results in enumerate(
        [
            SCENARIO.sweep({"run.horizon": values}, replications=1, out=tmp_path / "0"),
            nb.sweep(SCENARIO, run__horizon=values, run__replications=1, out=tmp_path / "1"),
            nb.run(SCENARIO.tables | {"sweep": {"run.horizon": values}}, run__replications=1, out=tmp_path / "2"),
        ]
    ):
        assert list(results.groupby("run.horizon").groups) == [5, 6, 7, 8], number
    assert results.table(where={"run.horizon": values[:2]}).to_frame()["run.horizon"].tolist() == [5, 6]
    assert Range.read("run.horizon", values).values == (5, 6, 7, 8)


def test_numbers_of_numpy_are_taken_at_any_depth(tmp_path):
    means = {"rows": np.array([[0.2, 0.8], [0.5, 0.4]]), "of-numpy": [np.array([0.2, 0.8]), pd.Series([0.5, 0.4])]}
    for name, values in means.items():
        results = SCENARIO.sweep(bandit__means=values, replications=1, out=tmp_path / name)
        assert sorted(results.groupby("bandit.means").groups) == ["[0.2, 0.8]", "[0.5, 0.4]"]
    found = nb.sweep(SCENARIO, learner__kappa=np.linspace(1, 2, 4), run__replications=1, out=tmp_path / "linspace")
    assert len(found.groupby("learner.kappa")) == 4
    assert list(nb.bandits.Bernoulli(means=pd.Series([0.5, 0.1])).means) == [0.5, 0.1]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: nb.Scenario(bandit=TABLE), "bandit=...: lists or tables are nested too deeply"),
        (lambda: nb.Scenario(bandit={"kind": "bernoulli", "means": ITSELF}), "bandit=...: lists or tables are nested"),
        (lambda: nb.Scenario(sweep={"bandit.means": ITSELF}), "sweep=...: lists or tables are nested"),
        (lambda: nb.run(TABLE), "table=...: lists or tables are nested"),
        (lambda: nb.run(SCENARIO, bandit__means=ITSELF), "bandit__means=...: lists or tables are nested"),
        (lambda: SCENARIO.sweep({"bandit.means": [ITSELF]}), "bandit__means=...: lists or tables are nested"),
        (lambda: nb.Scenario.from_toml("a.toml", bandit__means=ITSELF), "bandit__means=...: lists or tables are"),
        (lambda: nb.bandits.Bernoulli(means=ITSELF), r"Bernoulli\(means=...\): lists or tables are nested"),
        (lambda: nb.Link(latency=TABLE), r"Link\(latency=...\): lists or tables are nested"),
    ],
)
def test_what_holds_itself_is_refused(call, said):
    with pytest.raises((ScenarioError, KeysError), match=said):
        call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: nb.run(3), "scenario must be a file, a dictionary of tables or a Scenario, not 3"),
        (lambda: nb.advise_links("ring", 0, topology__agents=6), "links must be an integer of at least 1, not 0"),
        (lambda: nb.advise_links("ring", 1.5), "links must be an integer of at least 1, not 1.5"),
        (lambda: nb.advise_links(SCENARIO, replications=-1), "replications must be an integer of at least 0, not -1"),
        (lambda: nb.advise_links(SCENARIO, measure="x"), 'measure must be one of "time", "cost", .*, not "x"'),
    ],
)
def test_other_arguments(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return SCENARIO.run(replications=2, out=tmp_path_factory.mktemp("results"))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        *(
            (
                lambda found, share=share: nb.compare(found, confidence=share),
                "confidence must be a number between 0 and 1",
            )
            for share in (-1, 0, 1, 2, math.nan, "a", None)
        ),
        (lambda found: nb.compare(found, against="ring"), 'against must be a dictionary of keys .*, not "ring"'),
        (lambda found: nb.compare(found, against={1: 2}), "against must be .* and a key is a text, not 1"),
        (lambda found: found.plot(3), "name must be a text, not 3"),
        (lambda found: found.plot(x=3), "x must be a text, not 3"),
        (lambda found: found.plot("regret", where={1: 2}), "where must be .* and a key is a text, not 1"),
        (lambda found: found.plot("regret", where=3), "where must be a dictionary of keys that vary .*, not 3"),
    ],
)
def test_arguments_of_what_reads_results(results, call, said):
    with pytest.raises(ValueError, match=said):
        call(results)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "not object"),
        (len, "not builtin_function_or_method"),
        (np.zeros(3), "not ndarray"),
        (math.nan, "not nan"),
        pytest.param(2**20_000, "not an integer of many digits, more than 64 bits", id="digits"),
        ("\ud800", "not a text that is none in UTF-8"),
        (date(2020, 1, 1), "not the date 2020-01-01"),
        ({1: 2}, "not a table with keys that are no text"),
        ([{"a": {1, 2}}], "not set"),
        (ITSELF, "not what is nested too deeply"),
    ],
)
@pytest.mark.parametrize("table", ["bandit", "topology"])
def test_the_keys_of_ones_own_part_are_what_a_file_can_hold(value, said, table):
    base = {"bandit": nb.bandits.Bernoulli, "topology": nb.families.Ring}[table]
    kind = type("Mine", (base,), {"__module__": __name__, "__annotations__": {"x": Any}, "x": value})
    keys = {"arms": 2} if table == "bandit" else {"agents": 4}
    (line,) = nb.Scenario(**(TABLES | {table: kind(**keys)})).check()
    assert f"{table}.x: must be made of texts, numbers, lists and tables, {said}: " in line


TABLES = SCENARIO.tables
