import math
from datetime import date
from typing import Any

import pytest

from netbandit.scenario.load import load


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("run.horizon=7", ("run", "horizon"), 7),
        ("run.horizon = 7", ("run", "horizon"), 7),
        ("topology.family=ring", ("topology", "family"), "ring"),
        ('topology.family="ring"', ("topology", "family"), "ring"),
        ("topology.family='ring'", ("topology", "family"), "ring"),
        ("run.slot=10 ms", ("run", "slot"), "10 ms"),
        ('run.slot="10 ms"', ("run", "slot"), "10 ms"),
        ("bandit.means=[0.1, 0.2]", ("bandit", "means"), [0.1, 0.2]),
        ("a.b=[1,2]", ("a", "b"), [1, 2]),
        ("learner.epsilon=inf", ("learner", "epsilon"), math.inf),
        ("learner.epsilon=0.5", ("learner", "epsilon"), 0.5),
        ("learner.private=true", ("learner", "private"), True),
        ("learner.private=True", ("learner", "private"), "True"),
        ("name=a=b", ("name",), "a=b"),
        ('name="a#b"', ("name",), "a#b"),
        ("name=a#b", ("name",), "a#b"),
        ('name=""', ("name",), ""),
        ("learner.since=2024-01-31", ("learner", "since"), date(2024, 1, 31)),
        ("\"links\" . peer.'cost'=3", ("links", "peer", "cost"), 3),
        ("links.peer={cost = 3}", ("links", "peer"), {"cost": 3}),
        ("learner.kind=my.module:Learner", ("learner", "kind"), "my.module:Learner"),
        ("name=x\ny = 3", ("name",), "x\ny = 3"),
    ],
)
def test_a_value_is_read_as_toml_and_a_bare_word_is_a_string(
    write, valid, text: str, path: tuple[str, ...], value: Any
):
    write(small=valid)
    read: Any = load("small.toml", [text]).data
    for key in path:
        read = read[key]
    assert read == value
    assert type(read) is type(value)


def test_later_ones_win(write, valid):
    write(small=valid)
    document = load("small.toml", ["run.horizon=1", "run.horizon=2", "run={horizon=3, seed=4}", "run.seed=5"])
    assert document.data["run"] == {"horizon": 3, "seed": 5}
    assert document.parameters == {"run.horizon": 2, "run": {"horizon": 3, "seed": 4}, "run.seed": 5}


def test_parameters_are_what_was_varied(write, valid):
    write(small=valid)
    document = load("small.toml", ["topology.agents=7", "name=other", "sweep.run.horizon=[1, 2]"])
    assert document.data["name"] == "other"
    assert document.data["sweep"] == {"run.horizon": [1, 2]}
    assert document.parameters == {"topology.agents": 7}


@pytest.mark.parametrize(
    "text",
    [
        "sweep.topology.agents=[3, 4]",
        'sweep."topology.agents"=[3, 4]',
        "sweep.topology={agents=[3, 4]}",
        'sweep={"topology.agents"=[3, 4]}',
        "sweep={topology.agents=[3, 4]}",
    ],
)
def test_a_sweep_can_be_set(write, valid, text):
    write(small=valid + "[sweep]\ntopology.agents = [1, 2]\n")
    document = load("small.toml", [text])
    assert document.data["sweep"] == {"topology.agents": [3, 4]}
    assert document.place(("sweep", "topology.agents", 1)) == f"--set {text.split('=')[0]}"


@pytest.mark.parametrize("text", ["topology.agents=7", "topology={family='star', agents=7}"])
def test_a_value_takes_the_place_of_a_sweep(write, valid, text):
    write(small=valid + '[sweep]\n"topology.agents" = [1, 2]\n"run.horizon" = [3]\n')
    document = load("small.toml", [text])
    assert document.data["topology"]["agents"] == 7
    assert document.data["sweep"] == {"run.horizon": [3]}


def test_extends_can_be_set(write, check, valid):
    write(small="# empty\n", base=valid)
    assert check("small.toml", ["extends=base.toml"]) == []
    assert check("small.toml", ["extends=none.toml"]) == ["--set extends: extends: none.toml: no such file"]
    assert check("small.toml", ["extends=3"]) == ["--set extends: extends: must be the name of a scenario file, not 3"]


def test_mistakes_stand_at_the_override(write, check, valid):
    write(small=valid)
    overrides = ["topology.agents=5.0", "run.slto=1 ms", "links.peer={latency='2 m', cost=-1}", "run.horizon.x=1"]
    assert check("small.toml", overrides) == [
        "--set topology.agents: topology.agents: must be an integer from 1 to 10^7, not 5.0 (did you mean 5?)",
        '--set run.slto: run.slto: unknown key, must be one of "horizon", "slot", "replications", "seed", '
        '"activity", "skew", "header", "until", "idle" '
        '(did you mean "slot"?)',
        "--set links.peer: links.peer.cost: must be a number of at least 0, not -1",
        '--set links.peer: links.peer.latency: must be a duration such as "10 ms": a number and one of ns, us, ms, s, '
        'min, h, slots; or "geographic", or "edges"; or { uniform = ["1 ms", "5 ms"] }, not "2 m"',
        "--set run.horizon.x: run.horizon: must be an integer from 1 to 10^12, not a table",
    ]


def test_an_override_mends_a_mistake_of_the_file(write, check, valid):
    write(small=valid.replace("agents = 5", "agents = 0"))
    assert check("small.toml", ["topology.agents=5"]) == []


def test_a_table_made_by_an_override_misses_a_key_there(write, check, valid):
    write(small=valid.replace("[run]\nhorizon = 100\n", ""))
    assert check("small.toml", ["run.seed=1"]) == [
        "--set run.seed: run.horizon: is missing, must be an integer from 1 to 10^12"
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("run.horizon", "--set run.horizon: run.horizon: must be KEY=VALUE with a key such as run.horizon"),
        ("=3", "--set =3: =3: must be KEY=VALUE with a key such as run.horizon"),
        ("", "--set: key: must be KEY=VALUE with a key such as run.horizon"),
        ("run..horizon=3", "--set run..horizon: run..horizon: must be KEY=VALUE with a key such as run.horizon"),
        ("a b=3", "--set a b: a b: must be KEY=VALUE with a key such as run.horizon"),
        ("means[0]=3", "--set means[0]: means[0]: must be KEY=VALUE with a key such as run.horizon"),
        ("run.slot=", '--set run.slot: run.slot: has no value, must be KEY=VALUE; the empty string is ""'),
        ("a=[1, 2", '--set a: a: must be a TOML value, not "[1, 2": unclosed array'),
        ("a={b=1, b=2}", '--set a: a: must be a TOML value, not "{b=1, b=2}": duplicate inline table key \'b\''),
        ('a="x" y', '--set a: a: must be a TOML value, not "\\"x\\" y": expected newline or end of document after a '
         "statement"),
    ],
)  # fmt: skip
def test_a_malformed_override(write, check, valid, text, line):
    write(small=valid)
    assert check("small.toml", [text]) == [line]


def test_malformed_overrides_and_a_broken_file_are_all_reported(write, check):
    write(small="[run\n")
    assert check("small.toml", ["a", "b"]) == [
        "small.toml:1:5: syntax: expected ']' at the end of a table declaration",
        "--set a: a: must be KEY=VALUE with a key such as run.horizon",
        "--set b: b: must be KEY=VALUE with a key such as run.horizon",
    ]
