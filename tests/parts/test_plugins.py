"""A part of another installed package is known by its name."""

import json
import re
import sys

import pytest
from click.testing import CliRunner
from helpers.scenes import study

import netbandit as nb
from netbandit.checks.check import schema
from netbandit.cli import main
from netbandit.parts.plugins import look_again
from netbandit.parts.registry import BUILT_IN
from netbandit.scenario.errors import ScenarioError

HUB = """\
import netbandit as nb

REPORT, RESULT = nb.Kind("REPORT"), nb.Kind("RESULT")

class Hub(nb.RoundProtocol):
    '''Agent 0 hears all others, and tells them what it makes of it.'''

    rounds_told: int = 1

    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(REPORT, from_=me.neighbours)
            answer = self.aggregate([item, *items])
            me.send(RESULT, answer, to=me.neighbours)
        else:
            me.send(REPORT, item, to=0)
            answer = yield me.receive(RESULT)
        return answer

class Late(Hub):
    def check_with(self, others):
        raise ValueError("too late")

class Not:
    pass
"""
WHEEL = """\
import networkx
import netbandit as nb

class Wheel(nb.Family):
    agents: int

    def build(self, rng):
        return networkx.wheel_graph(self.agents)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution into a folder where packages are found, as pip leaves it behind."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr("sys.path", [*sys.path, str(folder)])
    for name in ("hubs", "wheels", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def installed(name, entry_points, **modules):
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(text)
        info = folder / f"{name}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(entry_points)
        look_again()

    return installed


STAR = ["topology.family=star", "learner.rounds=2", "learner.gap=0.9"]


def problem(folder, *overrides):
    with pytest.raises(ScenarioError) as error:
        study(folder, *STAR, *overrides)
    (line,) = error.value.lines
    return line


def test_a_part_of_another_package_runs_by_its_name(tmp_path, install):
    install("two-hubs", "[netbandit.protocols]\nhub = hubs:Hub\n", hubs=HUB)
    install("wheel", "[netbandit.families]\nwheel = wheels:Wheel\n", wheels=WHEEL)
    named, written = (study(tmp_path, *STAR, f"protocol.kind={kind}").points[0] for kind in ("hub", "hubs:Hub"))
    found, same = (point.simulation(0).run() for point in (named, written))
    assert found.metrics["rounds"] > 0
    assert found.fingerprint == same.fingerprint
    # Its content counts in the keys of runs, as that of every class of one's own, and its version stands in the result.
    assert named.identities["protocol.kind"] == written.identities["protocol.kind"] is not None
    assert found.versions["two-hubs"] == "1.2"
    assert "two-hubs" not in same.versions
    assert found.resolved["protocol"]["kind"] == "hub"
    graph = study(tmp_path, "topology.family=wheel", "topology.agents=6").points[0].topology(0)
    assert (graph.agents, graph.links) == (6, 10)
    described = CliRunner().invoke(main, ["topology", "wheel", "--agents", "7"])
    assert described.exit_code == 0, described.output
    assert "nodes" in described.output


def test_an_edited_part_of_another_package_runs_anew(tmp_path, install, monkeypatch):
    install("hub", "[netbandit.protocols]\nhub = hubs:Hub\n", hubs=HUB)
    before = study(tmp_path, *STAR, "protocol.kind=hub").points[0].identities
    monkeypatch.delitem(sys.modules, "hubs")
    (tmp_path / "site" / "hubs.py").write_text(HUB.replace("[item, *items]", "[*items, item][:]"))
    assert study(tmp_path, *STAR, "protocol.kind=hub").points[0].identities != before


def test_python_and_keys_of_other_kinds_know_it_too(tmp_path, install):
    install("hub", "[netbandit.protocols]\nhub = hubs:Hub\n", hubs=HUB)
    keys = ["protocol.rounds_told=2", 'sweep.protocol.kind=["hub", "gis"]']
    assert [point.resolved["protocol"]["kind"] for point in study(tmp_path, *STAR, *keys).points] == ["hub", "gis"]
    scenario = nb.Scenario(
        topology={"family": "star", "agents": 4}, bandit={"kind": "bernoulli", "arms": 3}, learner="elimination",
        protocol={"kind": "hub"}, run={"horizon": 50},
    )  # fmt: skip
    assert scenario.check() == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("hubs:Absent", 'the module hubs has no class "Absent"'),
        ("hubs:Not", "hubs:Not is not a protocol: it must be a subclass of netbandit.protocols.protocol:Network"),
        ("hubs", '"hubs" is not "package.module:Class"'),
        ("no_such:Hub", "cannot import no_such: ModuleNotFoundError: No module named 'no_such'"),
        ("broken:Hub", "cannot import broken: ZeroDivisionError: division by zero, in "),
    ],
)
def test_what_cannot_be_used_is_said_with_the_package(tmp_path, install, value, said):
    install("two-hubs", f"[netbandit.protocols]\nhub = {value}\n", hubs=HUB, broken="1 / 0\n")
    line = problem(tmp_path, "protocol.kind=hub")
    assert line.startswith(f'--set protocol.kind: protocol.kind: "hub" of the package two-hubs 1.2: {said}')


def test_what_fails_in_its_check_is_said_with_its_place(tmp_path, install):
    install("two-hubs", "[netbandit.protocols]\nlate = hubs:Late\n", hubs=HUB)
    line = problem(tmp_path, "protocol.kind=late")
    assert line.startswith("--set protocol.kind: protocol.kind: late fails: ValueError: too late, in ")
    assert "hubs.py, line" in line


def test_an_unknown_name_is_told_those_of_packages_as_well(tmp_path, install):
    install("two-hubs", "[netbandit.protocols]\nhub = hubs:Hub\n", hubs=HUB)
    line = problem(tmp_path, "protocol.kind=hubb")
    assert '"silent", "hub" ("hub" of two-hubs 1.2) or "package.module:Class", not "hubb" (did you mean "hub"?)' in line


def test_two_packages_that_offer_one_name_are_both_told(tmp_path, install):
    install("one-hub", "[netbandit.protocols]\nhub = hubs:Hub\n", hubs=HUB)
    install("other-hub", "[netbandit.protocols]\nhub = hubs:Late\n")
    said = '"hub" is offered by one-hub 1.2 (hubs:Hub) and other-hub 1.2 (hubs:Late): write the class that is meant'
    assert said in problem(tmp_path, "protocol.kind=hub")


def test_all_names_are_listed_with_their_packages(install):
    offers = "hub = hubs:Hub\ngis = hubs:Hub\nbad = broken:Hub\n"
    install("two-hubs", f"[netbandit.protocols]\n{offers}", hubs=HUB, broken="1 / 0\n")
    done = CliRunner().invoke(main, ["parts"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    for table, kinds in BUILT_IN.items():
        assert [line for line in lines if line.startswith(f"{table}.")]
        assert all(any(line.startswith(f"  {kind} ") for line in lines) for kind in kinds)
    of = "[two-hubs 1.2]"
    assert f"  hub               Agent 0 hears all others, and tells them what it makes of it. {of}" in lines
    assert f"  gis               netbandit has a protocol of this name, which is the one that is used {of}" in lines
    (bad,) = [line for line in lines if line.startswith("  bad ")]
    assert '"bad" of the package two-hubs 1.2: cannot import broken: ZeroDivisionError' in bad
    keys = CliRunner().invoke(main, ["parts", "learner.ucb", "metrics"]).output
    assert re.search(r"^    exploration: alpha: 4 is UCB1 .*?default 4\.0\.$", keys, re.MULTILINE | re.DOTALL)
    assert re.search(r"^energy_j \(J\): ", keys, re.MULTILINE)
    wrong = CliRunner().invoke(main, ["parts", "learner.ucbb"])
    assert (wrong.exit_code, 'did you mean "ucb"?' in wrong.stderr) == (2, True)
    text = json.dumps(schema())
    assert '"hub"' in text
    assert "rounds_told" in text
    assert "broken" not in text


def test_a_name_of_ours_is_ours_and_nobody_is_asked(tmp_path, install, monkeypatch):
    install("two-hubs", "[netbandit.protocols]\ngis = hubs:Hub\n", hubs=HUB)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: pytest.fail("looked up"))
    point = study(tmp_path, *STAR, "protocol.kind=gis").points[0]
    assert type(point.protocol) is nb.protocols.Gis
    assert point.simulation(0).run().versions.keys().isdisjoint({"two-hubs"})
