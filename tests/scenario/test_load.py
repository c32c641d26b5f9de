import os
import pickle
import time
from pathlib import Path

import pytest

from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import LONGEST_CHAIN, load
from netbandit.scenario.model import Scenario
from netbandit.scenario.validate import validate


def test_the_tables_as_they_were_written(write, valid):
    write(small=valid)
    document = load("small.toml")
    assert document.data == {
        "schema": 1,
        "name": "small",
        "run": {"horizon": 100},
        "topology": {"family": "star", "agents": 5},
        "bandit": {"kind": "bernoulli"},
        "learner": {"kind": "elimination"},
        "protocol": {"kind": "gis"},
    }
    assert document.parameters == {}
    assert document.file == "small.toml"


def test_defaults(write, valid):
    write(small=valid)
    scenario, problems = validate(load("small.toml").data)
    assert problems == []
    assert scenario.schema_ == 1
    assert (scenario.run.slot, scenario.run.replications, scenario.run.seed) == ("1 ms", 1, 0)
    assert scenario.run.slot_nanoseconds == 1_000_000
    assert (scenario.links.peer.cost, scenario.links.uplink.cost) == (1.0, 25.0)
    assert (scenario.links.peer.latency, scenario.links.peer.bandwidth) == ("0 ms", None)
    assert scenario.links.peer.energy.per_byte == 0
    assert scenario.learner == {"kind": "elimination"}


def test_a_resolved_scenario_is_a_scenario(write, valid):
    write(small=valid + '[links.peer]\nlatency.uniform = ["1 ms", "2 ms"]\n[sweep]\n"run.horizon" = [1, 2]\n')
    scenario, _ = validate(load("small.toml").data)
    resolved = scenario.model_dump(mode="json")
    assert "sweep" not in resolved
    assert "extends" not in resolved
    again, problems = validate(resolved)
    assert problems == []
    assert again.model_dump(mode="json") == resolved


def test_a_name_is_the_files_unless_it_is_given(write, valid):
    write(**{"my scenario": valid.replace('name = "small"\n', "")})
    assert load("my scenario.toml").data["name"] == "my scenario"


BASE = """\
schema = 1
name = "base"
description = "what it shows"
[run]
horizon = 100
seed = 7
[topology]
family = "random"
agents = 50
p = 0.1
[links.peer]
latency = "1 ms"
[bandit]
kind = "bernoulli"
means = [0.1, 0.2, 0.3]
[learner]
kind = "elimination"
rounds = 3
[protocol]
kind = "gis"
[sweep]
"topology.p" = [0.1, 0.2]
"run.seed" = [1]
"""


def test_extends_merges_tables_and_replaces_values(write):
    write(
        base=BASE,
        child='extends = "base.toml"\n[run]\nhorizon = 5\n[links]\npeer.latency = {uniform = ["1 ms", "2 ms"]}\n'
        "uplink.cost = 3\n[bandit]\nmeans = [0.5]\n",
    )
    document = load("child.toml")
    assert document.data == {
        "schema": 1,
        "name": "child",
        "run": {"horizon": 5, "seed": 7},
        "topology": {"family": "random", "agents": 50, "p": 0.1},
        "links": {"peer": {"latency": {"uniform": ["1 ms", "2 ms"]}}, "uplink": {"cost": 3}},
        "bandit": {"kind": "bernoulli", "means": [0.5]},
        "learner": {"kind": "elimination", "rounds": 3},
        "protocol": {"kind": "gis"},
        "sweep": {"topology.p": [0.1, 0.2], "run.seed": [1]},
    }


def test_a_chain_of_files_in_folders(write, tmp_path: Path):
    write()
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "base.toml").write_text("[topology]\nfile = 'net.graphml'\n[run]\nhorizon = 0\n")
    (tmp_path / "a" / "b" / "middle.toml").write_text("extends = '../base.toml'\n[run]\nseed = -1\n")
    (tmp_path / "top.toml").write_text("extends = 'a/b/middle.toml'\n[topology]\nfamily = 'file'\n")
    document = load("top.toml", ["topology.agents=3"])
    assert document.folder == Path()
    assert document.base_of(("topology", "file")) == Path("a/b/..")
    assert document.base_of(("topology", "agents")) == Path()
    assert document.base_of(("topology", "family")) == Path()
    problems = [(("run", "horizon"), "x"), (("run", "seed"), "y"), (("topology", "p"), "z"), (("bandit",), "w")]
    assert document.error(problems).lines == [
        "top.toml:1:1: bandit: w",
        "top.toml:2:1: topology.p: z",
        "a/b/middle.toml:3:1: run.seed: y",
        "a/b/../base.toml:4:1: run.horizon: x",
    ]


def test_a_chain_of_files_ends_at_a_depth(write):
    write(
        **{
            f"f{number}": f"extends = 'f{number + 1}.toml'\nrun.seed = {number}\n"
            for number in range(LONGEST_CHAIN + 1)
        },
        **{f"f{LONGEST_CHAIN + 1}": BASE},
    )
    with pytest.raises(ScenarioError) as refused:
        load("f0.toml")
    text = "extends: at most 32 files may extend one another; put some of them together"
    assert refused.value.lines == [f"f{LONGEST_CHAIN}.toml:1:1: {text}"]
    assert load("f1.toml").data["run"] == {"horizon": 100, "seed": 1}
    assert f"up to {LONGEST_CHAIN} in a row" in Scenario.model_fields["extends"].description


def test_inherited_mistakes_stand_under_the_name_of_their_file(write, check):
    write(
        base=BASE.replace("agents = 50", "agents = 0").replace('"run.seed" = [1]\n', ""),
        child='extends = "base.toml"\nname = "/"\n[run]\nhorizon = 0\n',
    )
    assert check("child.toml") == [
        'child.toml:2:1: name: must be a name for a folder, without / and \\, not "/"',
        "child.toml:4:1: run.horizon: must be an integer from 1 to 10^12, not 0",
        "base.toml:9:1: topology.agents: must be an integer from 1 to 10^7, not 0",
    ]


def test_a_key_missing_in_a_table_of_both_files_is_missing_in_the_first(write, check, valid):
    write(base=valid.replace("horizon = 100", "seed = 1"), child='extends = "base.toml"\n[run]\nslot = "1 s"\n')
    assert check("child.toml") == ["child.toml:2:1: run.horizon: is missing, must be an integer from 1 to 10^12"]
    write(child='extends = "base.toml"\n')
    assert check("child.toml") == ["base.toml:4:1: run.horizon: is missing, must be an integer from 1 to 10^12"]


@pytest.mark.parametrize(
    ("extends", "text"),
    [
        ("3", "must be the name of a scenario file, not 3"),
        ('""', 'must be the name of a scenario file, not ""'),
        ('["base.toml"]', "must be the name of a scenario file, not a list"),
        ('"none.toml"', "none.toml: no such file"),
        ('"."', "is a folder, must be a scenario file"),
        ('"child.toml"', "must not lead back to the file itself: child.toml -> child.toml"),
        ('"./child.toml"', "must not lead back to the file itself: child.toml -> ./child.toml"),
    ],
)
def test_what_cannot_be_extended(write, check, extends, text):
    write(child=f"schema = 1\nextends = {extends}\n[run]\nhorizon = 0\n")
    (line,) = check("child.toml")
    assert line.startswith("child.toml:2:1: extends: ")
    assert line.endswith(text)


def test_what_may_have_no_end_is_not_extended(write, check):
    os.mkfifo("pipe.toml")
    write(child='extends = "pipe.toml"\n', other='extends = "/dev/zero"\n')
    assert check("child.toml") == ["child.toml:1:1: extends: pipe.toml: is a pipe, must be a scenario file"]
    assert check("other.toml") == ["other.toml:1:1: extends: /dev/zero: is a device, must be a scenario file"]


def test_a_circle_of_files(write, check):
    write(a='extends = "b.toml"\n', b='# b\nextends = "c.toml"\n', c='extends = "b.toml"\n')
    assert check("a.toml") == ["c.toml:1:1: extends: must not lead back to the file itself: b.toml -> c.toml -> b.toml"]


def test_a_base_that_is_no_scenario(write, check):
    write(child='extends = "base.toml"\n', base="[run\n")
    assert check("child.toml") == ["base.toml:1:5: syntax: expected ']' at the end of a table declaration"]
    write(base=b"\xff")
    assert check("child.toml") == [
        "base.toml:1:1: encoding: the byte 0xff is not UTF-8, the file must be saved as UTF-8"
    ]
    write(base="schema = 3")
    assert check("child.toml") == ["base.toml:1:1: schema: must be 1, the only format this version reads, not 3"]


def test_a_value_ends_an_inherited_sweep_of_its_key(write):
    write(base=BASE, child='extends = "base.toml"\n[topology]\np = 0.3\n')
    assert load("child.toml").data["sweep"] == {"run.seed": [1]}
    write(both=BASE.replace("[sweep]", '[sweep]\n"topology.agents" = [2]'))
    assert load("both.toml").data["sweep"] == {"topology.agents": [2], "topology.p": [0.1, 0.2], "run.seed": [1]}


def test_inherited_sweeps_are_replaced_key_by_key_however_they_are_written(write):
    write(base=BASE, child='extends = "base.toml"\n[sweep]\ntopology.p = [0.5]\nrun.horizon = [1]\n')
    assert load("child.toml").data["sweep"] == {"topology.p": [0.5], "run.seed": [1], "run.horizon": [1]}


def test_keys_left_over_from_another_kind_are_known_as_such(write):
    write(base=BASE, child='extends = "base.toml"\n[learner]\nkind = "feducb"\nepsilon = 1\n')
    document = load("child.toml", ["protocol.kind=sink"])
    assert document.other_kinds("learner", "rounds") == ["elimination"]
    assert document.other_kinds("learner", "epsilon") == []
    assert document.other_kinds("protocol", "timing") == []
    assert document.other_kinds("bandit", "means") == []
    swept = load("child.toml", ['sweep.learner.kind=["feducb", "pfcb"]'])
    assert swept.other_kinds("learner", "epsilon") == ["feducb", "pfcb"]
    assert swept.other_kinds("learner", "rounds") == ["feducb", "pfcb", "elimination"]


def test_problems_are_sorted_and_said_once(write, valid):
    write(small=valid)
    document = load("small.toml")
    problems = [(("topology", "p"), "b"), (("run", "horizon"), "a"), (("topology", "p"), "b"), ((), "c")]
    assert document.error(problems).lines == [
        "small.toml:1:1: scenario: c",
        "small.toml:5:1: run.horizon: a",
        "small.toml:7:1: topology.p: b",
    ]


def test_places(write, valid):
    write(small=valid + '[sweep]\n"topology.agents" = [1, 2]\n')
    document = load("small.toml", ["links.peer.cost=2"])
    assert document.place(("run", "horizon")) == "small.toml:5:1"
    assert document.place(("run", "slot")) == "small.toml:4:1"
    assert document.place(("nothing", "there")) == "small.toml:1:1"
    assert document.place(("links", "peer", "cost")) == "--set links.peer.cost"
    assert document.place(("sweep", "topology.agents", 1)) == "small.toml:20:25"
    assert document.place(("sweep", "topology.agents", 1, "deeper")) == "small.toml:20:25"


def test_documents_and_errors_travel_to_other_processes(write, valid):
    write(small=valid)
    document = pickle.loads(pickle.dumps(load("small.toml", ["run.seed=3"])))
    assert document.place(("run", "seed")) == "--set run.seed"
    with pytest.raises(ScenarioError) as caught:
        load("none.toml")
    assert pickle.loads(pickle.dumps(caught.value)).lines == caught.value.lines


def test_reading_is_quick(write, valid):
    write(small=valid + '[sweep]\n"topology.agents" = [1, 2]\n')
    load("small.toml")
    times = []
    for _ in range(5):
        start = time.thread_time()
        document = load("small.toml", ["run.seed=3"])
        document.error(validate(document.data)[1])
        times.append(time.thread_time() - start)
    assert min(times) < 0.02


@pytest.mark.ci
def test_a_long_list_is_read_and_located(write, check, valid):
    means = ", ".join(["0.5"] * 50_000)
    write(large=valid + f"[links]\npeer.latency.uniform = [{means}]\n")
    (line,) = check("large.toml")
    assert line.startswith("large.toml:20:14: links.peer.latency.uniform: must be a list of 2 values, ")
    assert line.endswith(", not a list of 50000")
