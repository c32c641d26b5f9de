import copy
import time
from typing import Any

import pytest

from netbandit.parts.validation import UNKNOWN_KEY
from netbandit.scenario.load import load
from netbandit.scenario.sweep import MOST_POINTS, expand, problems
from netbandit.scenario.validate import validate


def test_without_a_sweep_there_is_one_point(write, valid):
    write(small=valid)
    document = load("small.toml", ["run.seed=3"])
    (point,) = expand(document.data, document.parameters)
    assert point.parameters == {"run.seed": 3}
    assert point.data == document.data
    assert expand(document.data)[0].parameters == {}


def test_the_grid_in_the_order_of_the_file_last_key_fastest(write, valid):
    write(
        small=valid
        + '[sweep]\ntopology.agents = [2, 3]\n"learner.epsilon" = [inf, 1]\ntopology.family = ["ring", "star"]\n'
    )
    document = load("small.toml")
    points = expand(document.data)
    inf = float("inf")
    assert [tuple(point.parameters.values()) for point in points] == [
        (2, inf, "ring"), (2, inf, "star"), (2, 1, "ring"), (2, 1, "star"),
        (3, inf, "ring"), (3, inf, "star"), (3, 1, "ring"), (3, 1, "star"),
    ]  # fmt: skip
    assert list(points[0].parameters) == ["topology.agents", "learner.epsilon", "topology.family"]
    assert points[2].data["topology"] == {"family": "ring", "agents": 2}
    assert points[2].data["learner"] == {"kind": "elimination", "epsilon": 1}
    assert all("sweep" not in point.data for point in points)


def test_points_leave_the_document_as_it_is(write, valid):
    write(small=valid + "[sweep]\nlinks.peer.cost = [1, 2]\nrun.horizon = [3, 4]\n")
    document = load("small.toml")
    before = copy.deepcopy(document.data)
    assert [point.data["links"]["peer"]["cost"] for point in expand(document.data)] == [1, 1, 2, 2]
    assert document.data == before


def test_a_swept_table_replaces_the_table():
    data = {"links": {"peer": {"latency": {"uniform": ["1 ms", "2 ms"]}}}}
    data |= {"sweep": {"links.peer.latency": ["3 ms", {"uniform": ["4 ms", "5 ms"]}]}}
    assert [point.data["links"]["peer"]["latency"] for point in expand(data)] == [
        "3 ms",
        {"uniform": ["4 ms", "5 ms"]},
    ]


def test_a_required_key_may_come_from_the_sweep_alone(write, check, valid):
    write(
        small=valid.replace("horizon = 100\n", "").replace('kind = "gis"', "")
        + '[sweep]\n"run.horizon" = [1]\n"protocol.kind" = ["a", "b"]\n'
    )
    assert check("small.toml") == []


def test_a_mistake_stands_at_the_value_that_makes_it(write, check, valid):
    write(
        small=valid
        + """\
[sweep]
topology.agents = [2, 0, 3, "x"]
"topology.famly" = ["ring", "star"]
"toplogy.p" = [0.1]
"run.slot" = ["1 ms",
  "1 m"]
"links.peer.latency" = ["1 ms", { uniform = ["1 ms", "2"] }]
run.horizon.x = [1]
"learner" = [{ epsilon = 1 }, { kind = "b" }]
"""
    )
    lines = [line.split(", must be")[0].split(" such as")[0].split(", not")[0] for line in check("small.toml")]
    assert lines == [
        "small.toml:20:23: sweep.topology.agents[1]: must be an integer from 1 to 10^7",
        "small.toml:20:29: sweep.topology.agents[3]: must be an integer from 1 to 10^7",
        f"small.toml:21:1: sweep.topology.famly: {UNKNOWN_KEY}",
        f"small.toml:22:1: sweep.toplogy.p: {UNKNOWN_KEY}",
        "small.toml:24:3: sweep.run.slot[1]: must be a duration",
        "small.toml:25:54: sweep.links.peer.latency[1].uniform[1]: must be a duration",
        "small.toml:26:13: sweep.run.horizon.x: must be an integer from 1 to 10^12",
        "small.toml:27:14: sweep.learner[0].kind: is missing",
    ]


@pytest.mark.parametrize(
    ("sweep", "found"),
    [
        (3, [(("sweep",), "must be a table of dotted keys, each with a list of values, not 3")]),
        ({"a": 3}, [(("sweep", "a"), "must be a list of one or more values, not 3")]),
        ({"a": []}, [(("sweep", "a"), "must be a list of one or more values, not an empty list")]),
        ({"a": {}}, [(("sweep", "a"), "must be a list of one or more values, not a table")]),
        (
            {"run.seed": [1, 2]},
            [
                (
                    ("sweep", "run.seed"),
                    "cannot be swept, replications already have different random numbers: use run.replications",
                )
            ],
        ),
        ({"run.replications": [1]}, [(("sweep", "run.replications"), "cannot be swept, set it once, for all points")]),
        ({"name": ["a"]}, [(("sweep", "name"), "cannot be swept, it names the folder of all results")]),
        ({"sweep.a": [1]}, [(("sweep", "sweep.a"), "cannot be swept, a sweep has no sweep")]),
        (
            {"a..b": [1]},
            [(("sweep", "a..b"), "must be the dotted key path of a key of the scenario, such as topology.agents")],
        ),
        (
            {"a": [{}], "a.b": [1], "ab": [1]},
            [(("sweep", "a.b"), 'must not be swept inside "a", which is swept itself')],
        ),
        ({"a": [1, 2, 1.0]}, [(("sweep", "a", 2), "must be given once, 1.0 occurs already")]),
        ({"a": [1, True]}, []),
        ({"a": [[1, 2], [1, 2.0], [2, 1]]}, [(("sweep", "a", 1), "must be given once, a list occurs already")]),
        (
            {"a": [{"x": 1, "y": 2}, {"y": 2, "x": 1}, {"x": 1}]},
            [(("sweep", "a", 1), "must be given once, a table occurs already")],
        ),
        ({"a": [float("nan"), float("nan")]}, [(("sweep", "a", 1), "must be given once, nan occurs already")]),
        (
            {"a": list(range(1000)), "b": list(range(1000))},
            [(("sweep",), "must have at most 100000 combinations, not 1000000")],
        ),
    ],
)
def test_what_cannot_be_swept(sweep: Any, found: list[Any]):
    data = {"sweep": sweep}
    assert problems(data) == found
    assert 1 <= len(expand(data)) <= MOST_POINTS


def test_mistakes_of_the_sweep_and_of_its_points_are_reported_together(write, check, valid):
    write(small=valid + "[sweep]\nrun.seed = [1]\ntopology.agents = [0]\n")
    assert [line.split(": ")[1] for line in check("small.toml")] == ["sweep.run.seed", "sweep.topology.agents[0]"]


def test_a_mistake_of_the_file_is_said_once_for_all_points(write, check, valid):
    write(small=valid.replace("horizon = 100", "horizon = 0") + "[sweep]\ntopology.agents = [1, 2, 3]\n")
    assert check("small.toml") == ["small.toml:5:1: run.horizon: must be an integer from 1 to 10^12, not 0"]


def test_a_large_grid_is_quick(write, valid):
    write(small=valid + f"[sweep]\ntopology.agents = {list(range(1, 101))}\nrun.horizon = {list(range(1, 101))}\n")
    document = load("small.toml")
    start = time.process_time()
    points = expand(document.data)
    for point in points[:2000]:
        assert validate(point.data)[1] == []
    assert len(points) == 10_000
    assert time.process_time() - start < 2


CASES = """\
[[sweep.cases]]
protocol.kind = "silent"
[[sweep.cases]]
protocol = { kind = "sink", collect = "gis" }
topology.agents = 7
"""


def cases_of(tmp_path, cases, more=""):
    file = tmp_path / "cases.toml"
    file.write_text(
        "[run]\nhorizon = 100\n[topology]\nfamily = 'ring'\nagents = 5\n[bandit]\nkind = 'bernoulli'\narms = 3\n"
        "[learner]\nkind = 'elimination'\n[protocol]\nkind = 'gis'\n[sweep]\n" + more + cases
    )
    return load(file)


def test_cases_set_several_keys_together_and_combine_with_the_grid(tmp_path):
    document = cases_of(tmp_path, CASES, "run.horizon = [10, 20]\n")
    assert problems(document.data) == []
    assert [point.parameters for point in expand(document.data)] == [
        {"run.horizon": 10, "protocol.kind": "silent"},
        {"run.horizon": 10, "protocol.kind": "sink", "protocol.collect": "gis", "topology.agents": 7},
        {"run.horizon": 20, "protocol.kind": "silent"},
        {"run.horizon": 20, "protocol.kind": "sink", "protocol.collect": "gis", "topology.agents": 7},
    ]
    last = expand(document.data)[-1].data
    assert last["topology"] == {"family": "ring", "agents": 7}
    assert last["protocol"] == {"kind": "sink", "collect": "gis"}


LABELLED = """\
[[sweep.cases]]
label = "as it is"
[[sweep.cases]]
label = "alone"
protocol.kind = "silent"
"""


def test_a_case_with_a_label_is_known_by_it_and_may_set_nothing(tmp_path):
    document = cases_of(tmp_path, LABELLED, "run.horizon = [10, 20]\n")
    assert problems(document.data) == []
    points = expand(document.data)
    assert [point.parameters for point in points] == [
        {"run.horizon": 10, "case": "as it is"},
        {"run.horizon": 10, "case": "alone", "protocol.kind": "silent"},
        {"run.horizon": 20, "case": "as it is"},
        {"run.horizon": 20, "case": "alone", "protocol.kind": "silent"},
    ]
    assert [point.data["protocol"] for point in points[:2]] == [{"kind": "gis"}, {"kind": "silent"}]
    assert all("label" not in point.data for point in points)


@pytest.mark.parametrize(
    ("change", "index", "text"),
    [
        (('"alone"', '"as it is"'), 1, "must be given once"),
        (('"alone"', "3"), 1, "must be a text"),
        (('label = "alone"', ""), 1, "is missing"),
        (('"as it is"', '" "'), 0, "must be a text"),
    ],
)
def test_labels_tell_all_cases_apart(tmp_path, change, index, text):
    ((path, said),) = problems(cases_of(tmp_path, LABELLED.replace(*change)).data)
    assert path == ("sweep", "cases", index, "label")
    assert text in said


def test_the_name_of_a_case_is_told_to_be_its_label(tmp_path):
    point = expand(cases_of(tmp_path, LABELLED.replace('label = "alone"', 'case = "alone"')).data)[1]
    assert point.origin((("case",), "unknown key, must be one of"))[1] == "unknown key, a case is called by its label"


def test_labels_do_not_tell_cases_apart_that_set_the_same(tmp_path):
    ((path, said),) = problems(cases_of(tmp_path, LABELLED.replace('"as it is"', '"x"\nprotocol.kind = "silent"')).data)
    assert path == ("sweep", "cases", 1)
    assert "occurs already" in said


def test_mistakes_in_cases_stand_where_they_were_written(tmp_path):
    document = cases_of(tmp_path, CASES + "[[sweep.cases]]\nrun.seed = 1\ntopology.agents = 2\n")
    found = problems(document.data)
    assert [path for path, _ in found] == [("sweep", "cases", 2, "run", "seed")]
    point = expand(document.data)[2]
    problem = point.origin((("topology", "agents"), "too few"))
    assert problem == (("sweep", "cases", 2, "topology", "agents"), "too few")
    assert document.place(problem[0]).endswith("cases.toml:21:10")
    assert point.origin((("bandit", "arms"), "other")) == (("bandit", "arms"), "other")


def test_cases_that_are_no_tables_or_repeat_what_is_swept_are_mistakes(tmp_path):
    [(path, text)] = problems(cases_of(tmp_path, "cases = [1]\n").data)
    assert path == ("sweep", "cases")
    assert "[[sweep.cases]]" in text
    document = cases_of(tmp_path, CASES + "[[sweep.cases]]\n")
    assert expand(document.data)
    assert document.error(problems(document.data)).lines == [
        f"{tmp_path / 'cases.toml'}:19:1: sweep.cases[2]: is empty: a case [[sweep.cases]] must set one or more keys, "
        "or have a label"
    ]
    document = cases_of(tmp_path, CASES, "protocol.kind = ['gis', 'silent']\n")
    assert {path for path, _ in problems(document.data)} == {
        ("sweep", "cases", 0, "protocol", "kind"),
        ("sweep", "cases", 1, "protocol", "kind"),
    }


@pytest.mark.parametrize(
    ("child", "overrides", "varied"),
    [
        ("[sweep]\ninherit = false\n", [], [()]),
        ("[sweep]\ninherit = false\nlearner.epsilon = [1, 2]\n", [], [("learner.epsilon",)] * 2),
        ("[sweep]\ninherit = true\nlearner.epsilon = [1, 2]\n", [], [("topology.agents", "learner.epsilon")] * 4),
        ("", ["sweep.inherit=false"], [()]),
        ("", ["sweep.inherit=false", "sweep.learner.epsilon=[1]"], [("learner.epsilon",)]),
    ],
)
def test_an_inherited_sweep_can_be_removed(write, valid, child, overrides, varied):
    write(base=valid + "[sweep]\ntopology.agents = [2, 3]\n", small=f'extends = "base.toml"\n{child}')
    document = load("small.toml", overrides)
    assert problems(document.data) == []
    assert [tuple(point.parameters) for point in expand(document.data, document.parameters)] == varied


def test_inherit_is_true_or_false(write, valid):
    write(small=valid + "[sweep]\ninherit = [1]\n")
    assert problems(load("small.toml").data) == [(("sweep", "inherit"), "must be true or false, not a list")]


def extending(tmp_path, sweep):
    """A file that extends one with the cases above."""
    cases_of(tmp_path, CASES)
    file = tmp_path / "more.toml"
    file.write_text(f'extends = "cases.toml"\n{sweep}')
    return load(file)


def test_cases_are_added_to_those_of_the_extended_file(tmp_path):
    before = expand(cases_of(tmp_path, CASES).data)
    document = extending(tmp_path, '[[sweep.cases_append]]\nprotocol.kind = "flooding"\n')
    assert problems(document.data) == []
    assert document.notes == []
    points = expand(document.data)
    assert [point.parameters for point in points[:-1]] == [point.parameters for point in before]
    assert points[-1].parameters == {"protocol.kind": "flooding"}


def test_a_mistake_in_an_added_case_stands_where_it_was_written(tmp_path):
    document = extending(
        tmp_path, '[[sweep.cases_append]]\nprotocol.kind = "flooding"\n\n[[sweep.cases_append]]\nrun.seed = 1\n'
    )
    (problem,) = problems(document.data)
    assert (
        document.error([problem]).lines[0].startswith(f"{tmp_path / 'more.toml'}:6:5: sweep.cases[3].run.seed: cannot")
    )


@pytest.mark.parametrize("written", ["3", "[]"])
def test_what_is_added_must_be_cases(tmp_path, written):
    ((path, said),) = problems(extending(tmp_path, f"[sweep]\ncases_append = {written}\n").data)
    assert path == ("sweep", "cases_append")
    assert said.startswith("must be tables")


def test_there_must_be_cases_to_add_to(tmp_path):
    ((path, said),) = problems(cases_of(tmp_path, "[[sweep.cases_append]]\nprotocol.kind = 'silent'\n").data)
    assert path == ("sweep", "cases_append")
    assert said.startswith("needs cases to add to")


def test_cases_that_replace_those_of_the_extended_file_are_noted(tmp_path):
    document = extending(tmp_path, '[[sweep.cases]]\nprotocol.kind = "flooding"\n')
    assert len(expand(document.data)) == 1
    ((path, said),) = document.notes
    assert path == ("sweep", "cases")
    assert said == "replaces the 2 cases of the extended file; [[sweep.cases_append]] adds to them"
    assert extending(tmp_path, "[sweep]\ninherit = false\n[[sweep.cases]]\nrun.horizon = 5\n").notes == []
