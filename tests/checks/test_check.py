"""Whatever a scenario says wrongly is answered in lines, all at once, and never by a traceback."""

import json
import re
import sys
from time import process_time

import pytest
from helpers.examples import examples
from helpers.scenes import SMALL, study
from hypothesis import given
from hypothesis import strategies as st

import netbandit as nb
from netbandit.checks.check import check
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.replication import RunnablePoint

MINE = '''\
import numpy as np
from netbandit.bandits.bandit import Bandit
from netbandit.bandits.bernoulli import Bernoulli
from netbandit.learners.learner import AnyLearner
from netbandit.learners.slots import Learner
from netbandit.protocols.gis import Gis
from netbandit.protocols.protocol import NetworkProtocol

class Half(Bandit):
    """Leaves everything out."""

class Fair(Bernoulli):
    """Like ours."""

class Gossiping(AnyLearner):
    talks = frozenset({"broadcast"})

class First(Learner):
    def start(self, world, agents, rng): ...
    def choose(self, slot, agents): return np.zeros(len(agents), dtype=int)
    def learn(self, slot, agents, arms, rewards): ...

class Unheard(First):
    def share(self, slot, agents): return np.zeros((len(agents), 1))

class Waiting(First):
    def adopt(self, slot, agents, combined): ...

class NoRounds(NetworkProtocol):
    patterns = frozenset({"round"})
    def receive(self, node, arrivals): ...

class Mute(NetworkProtocol):
    def receive(self, node, arrivals): ...

class WrongStandIn(Gis):
    stand_ins = {"round": NoRounds}

class NoGathers(NetworkProtocol):
    patterns = frozenset({"gather"})
    def receive(self, node, arrivals): ...

class Gossiped(Gis):
    fanout: int = 1

class OtherKeys(Gis):
    stand_ins = {"round": Gossiped}
'''

GATHERING = ["bandit.kind=vertical", "learner.kind=linucb"]

ONE_MISTAKE = {
    "horizon 0": (["run.horizon=0"], "run.horizon", "must be an integer from 1 to 10^12, not 0"),
    "horizon nan": (["run.horizon=nan"], "run.horizon", "must be an integer from 1 to 10^12, not nan"),
    "horizon true": (["run.horizon=true"], "run.horizon", "must be an integer from 1 to 10^12, not true"),
    "horizon 5.0": (["run.horizon=5.0"], "run.horizon", "must be an integer from 1 to 10^12, not 5.0"),
    "epsilon negative": (["learner.epsilon=-1"], "learner.epsilon", "must be a number above 0 or inf, not -1"),
    "epsilon nan": (["learner.epsilon=nan"], "learner.epsilon", "must be a number above 0 or inf, not nan"),
    "who chooses": (
        ["learner.participation=0.5"],
        "learner.participation",
        'must be 1.0: only a server (master-worker) can choose who takes part in a round (protocol.kind = "gis")',
    ),
    "ring of one": (["topology.agents=1"], "topology.agents", "a ring has at least 3 agents, not 1"),
    "no place": (
        ["links.peer.latency=geographic"],
        "links.peer.latency",
        '"geographic" needs the coordinates of a topology file: must be a duration such as "10 ms" '
        'with topology.family = "ring"',
    ),
    "latency of ages": (
        ['links.peer.latency="99999999999 h"'],
        "links.peer.latency",
        'must be less than "4611686018 s" (146 years), not "99999999999 h"',
    ),
    "latency of ages in slots": (
        ['links.uplink.latency={ uniform = ["0 slots", "9999999999999 slots"] }'],
        "links.uplink.latency",
        'must be less than "4611686018 s" (146 years), not "9999999999999 slots"',
    ),
    "too many arms": (["bandit.arms=99999999999999999999"], "bandit.arms", "must be an integer from 1 to 10^6"),
    "misspelt key": (
        ["protocol.knd=gis"],
        "protocol.knd",
        'unknown key, must be one of "kind", "timing", "feedback_deadline", "deadline" (did you mean "kind"?)',
    ),
    "misspelt kind": (
        ["bandit.kind=bernouli"],
        "bandit.kind",
        '(did you mean "bernoulli"?)',
    ),
    "no gap": (
        ["bandit.means=[0.5, 0.5, 0.5]", "learner.rounds=2", "learner.gap=true"],
        "learner.gap",
        'must be "true" (in quotes) or a number > 0 and at most 1',
    ),
    "no module": (['bandit.kind="no_such:X"'], "bandit.kind", "cannot import no_such: ModuleNotFoundError"),
    "no class": (['bandit.kind="mine:Nobody"'], "bandit.kind", 'the module mine has no class "Nobody"'),
    "no bandit": (['bandit.kind="numpy:array"'], "bandit.kind", "numpy:array is not a bandit"),
    "abstract": (['bandit.kind="mine:Half"'], "bandit.kind", "mine:Half cannot be used: it leaves out start"),
    "abstract learner": (
        ['learner.kind="netbandit.learners.slots:Learner"'],
        "learner.kind",
        "netbandit.learners.slots:Learner cannot be used: it leaves out choose, learn, start",
    ),
    "tells nobody": (['learner.kind="mine:Unheard"'], "learner.kind", "it shares, but has neither receive"),
    "nothing to adopt": (
        ['learner.kind="mine:Waiting"'],
        "learner.kind",
        "nothing is ever sent",
    ),
    "rounds over gathers": (
        ["protocol.kind=vertical"],
        "protocol.kind",
        '"vertical" offers no rounds, in which each agent contributes an item and receives all, as learner.kind = ',
    ),
    "broadcasts of one's own": (
        ['learner.kind="mine:Gossiping"', "protocol.kind=relay"],
        "learner.kind",
        "it needs contexts to choose by, which this bandit does not show",
    ),
    "rounds without rounds": (
        ['protocol.kind="mine:NoRounds"'],
        "protocol.kind",
        'a protocol that offers "round" must be a subclass of netbandit.protocols.protocol:CallbackRoundProtocol or '
        "netbandit.protocols.broadcast:BroadcastProtocol",
    ),
    "no patterns": (['protocol.kind="mine:Mute"'], "protocol.kind", '"mine:Mute" offers no rounds'),
    "a stand-in that cannot stand in": (
        ['protocol.kind="mine:WrongStandIn"'],
        "protocol.kind",
        'mine:NoRounds stands in for "round" and must be a subclass of '
        "netbandit.protocols.protocol:CallbackRoundProtocol",
    ),
    "gathers without gathers": (
        [*GATHERING, 'protocol.kind="mine:NoGathers"'],
        "protocol.kind",
        'a protocol that offers "gather" must be a subclass of netbandit.protocols.gather:GatherProtocol',
    ),
    "a stand-in with keys of its own": (
        ['protocol.kind="mine:OtherKeys"'],
        "protocol.kind",
        'mine:Gossiped stands in for "round" and must have the same keys',
    ),
}


def mistakes(folder, *overrides, text=SMALL):
    with pytest.raises(ScenarioError) as error:
        study(folder, *overrides, text=text)
    return [line.replace(f"{folder}/", "") for line in error.value.lines]


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    return tmp_path


@pytest.mark.parametrize(("overrides", "key", "text"), ONE_MISTAKE.values(), ids=ONE_MISTAKE)
def test_one_mistake_is_one_line_at_its_key(place, overrides, key, text):
    (line,) = mistakes(place, *overrides)
    assert line.startswith(f"--set {key}: {key}: ")
    assert text in line


def test_a_combination_stands_at_the_key_that_must_change(tmp_path):
    split = ["topology.family=hybrid", "topology.components=[2, 2]"]
    assert mistakes(tmp_path, *split) == [
        "scene.toml:12:1: protocol.kind: gis needs a connected graph, but this one has 2 components"
    ]


def test_a_missing_key_stands_at_the_header_of_its_table(tmp_path):
    assert mistakes(tmp_path, "learner.rounds=3") == [
        'scene.toml:9:1: learner.gap: is missing: a budget of rounds needs it, "true" or a number > 0 and at most 1'
    ]


def test_all_mistakes_at_once_each_at_its_place(tmp_path):
    text = SMALL.replace("400", "0").replace('"ring"', '"rnig"').replace("arms = 3", "arms = 0\nheterogenity = 1.0")
    places = [line.split(" ")[0] for line in mistakes(tmp_path, text=text)]
    assert places == ["scene.toml:2:1:", "scene.toml:4:1:", "scene.toml:8:1:", "scene.toml:9:1:"]


def test_a_bad_element_of_a_sweep(tmp_path):
    text = SMALL + '[sweep]\n"topology.agents" = [4, 2, 5]\n"protocol.kind" = ["gis", "giss"]\n'
    lines = mistakes(tmp_path, text=text)
    assert [line.split(" ")[0] for line in lines] == ["scene.toml:14:25:", "scene.toml:15:27:"]
    assert "a ring has at least 3 agents, not 2" in lines[0]
    assert '(did you mean "gis"?)' in lines[1]


def test_a_mistake_of_some_points_of_a_sweep_names_them(tmp_path):
    text = SMALL.replace('family = "ring"\n', "") + (
        '[sweep]\n"topology.family" = ["ring", "regular"]\n"learner.epsilon" = [1, 2]\n'
    )
    (line,) = mistakes(tmp_path, text=text)
    assert line.startswith("scene.toml:3:1: topology.degree: missing")
    assert line.endswith('(in the sweep: topology.family = "regular")')


def test_a_kind_in_a_case_replaces_the_part_as_in_a_file_that_extends(tmp_path):
    """Keys of the part that it replaces are left over, and no mistakes."""
    text = SMALL.replace('kind = "gis"', 'kind = "sink"\ncollect = "gis"')
    text += '[[sweep.cases]]\nlearner.epsilon = 1.0\n[[sweep.cases]]\nprotocol = { kind = "gis" }\n'
    found = study(tmp_path, text=text)
    assert [point.resolved["protocol"]["kind"] for point in found.points] == ["sink", "gis"]
    assert "collect" not in found.points[1].resolved["protocol"]


def test_a_mistake_that_was_inherited_stands_in_the_file_it_comes_from(tmp_path):
    (tmp_path / "base.toml").write_text(SMALL.replace("horizon = 400", "horizon = -4"))
    (line,) = mistakes(tmp_path, text='extends = "base.toml"\n')
    assert line == "base.toml:2:1: run.horizon: must be an integer from 1 to 10^12, not -4"


def test_a_name_no_file_can_have(tmp_path):
    (line,) = mistakes(tmp_path, 'extends="\\u0000"')
    assert line.startswith("--set extends: extends: must be the name of a scenario file, not ")


def test_a_file_that_is_no_graph(tmp_path):
    (tmp_path / "words.graphml").write_text("hello")
    (line,) = mistakes(tmp_path, "topology.family=file", "topology.file=words.graphml")
    assert "topology.file: " in line
    assert "is named as GraphML, but its content is not" in line


def test_a_part_of_the_users_own(place):
    point = study(place, 'bandit.kind="mine:Fair"').points[0]
    assert point.simulation(0).run().metrics["rounds"] is not None


def test_a_key_without_effect_is_a_note(tmp_path):
    (note,) = study(tmp_path, "learner.gap=0.1").notes
    assert note.endswith("learner.gap: is used only with a budget of rounds")


RACE = """
run = { horizon = 100, replications = 300 }
topology = { family = "ring", agents = 3 }
bandit = { kind = "bernoulli", means = [0.9, 0.5] }
learner = { kind = "race" }
protocol = { kind = "relay" }
[sweep]
"""


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        ('"links.peer.loss" = [0.0, 0.1, 0.2]', ["learner.pool: @ (in the sweep: links.peer.loss = 0.1 or 0.2)"]),
        ('"links.peer.loss" = [0.1, 0.2]', ["learner.pool: @"]),
        (
            '"learner.pool" = ["totals", "observations"]\n"links.peer.loss" = [0.0, 0.1]',
            ['sweep.learner.pool: @ (in the sweep: learner.pool = "observations", links.peer.loss = 0.1)'],
        ),
        (
            '"links.peer.loss" = [0.0, 0.1]\n"protocol.kind" = ["relay", "silent"]',
            ['learner.pool: @ (in the sweep: links.peer.loss = 0.1, protocol.kind = "relay")'],
        ),
        (
            '"links.peer.loss" = [0.0, 0.1]\n"links.peer.queue" = [1, 9]\n"links.peer.bandwidth" = ["1 Mbit/s"]\n'
            '"protocol.kind" = ["relay", "silent"]',
            ['learner.pool: @ (in the sweep: protocol.kind = "relay")'],
        ),
        (
            'cases = [{ label = "a", links.peer.loss = 0.1 }, { label = "b" }, { label = "c", links.peer.loss = 0.2 }]',
            ['learner.pool: @ (in the sweep: case "a" or "c")'],
        ),
        (
            '"links.peer.loss" = [0.0, 0.1]\ncases = [{ label = "a" }, { links.uplink.loss = 0.1, label = "b", '
            'faults.nodes = { up_for = "9 s", down_for = "1 s" } }]',
            ["learner.pool: @ (in the sweep: at 3 of 4 points)"],
        ),
    ],
)
def test_a_note_on_some_points_of_a_sweep_names_them(sweep, said):
    notes = [note.split(" ", 1)[1] for note in check(load("race.toml", text=RACE + sweep)).notes]
    text = re.compile(r"an observation that is lost .* with the next message")
    assert [text.sub("@", note) for note in notes if "pool" in note] == said


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ('components = [2, 2]\nprotocol.kind = "relay"', "2 components of 2 agents, which hear nothing of one another"),
        ('components = [1, 3]\nprotocol.kind = "earliest"', "2 components of 1 to 3 agents, which hear nothing of"),
        ('components = [1, 3]\nprotocol = { kind = "local", ttl = 1 }', "2 components of 1 to 3 agents"),
        ('disconnected = true\ntopology.p = 0.0\nprotocol.kind = "relay"', "3 components of 1 agent, which"),
        ('components = [3]\nprotocol.kind = "relay"', ""),
        (
            'components = [1, 3]\nprotocol = { kind = "local", ttl = 1 }\nlearner.kind = "elimination"',
            "2 components of",
        ),
        ('components = [1, 3]\nprotocol = { kind = "local", ttl = 0 }', ""),
        ('components = [1, 3]\nprotocol.kind = "silent"', ""),
        ('components = [1, 3]\nprotocol.kind = "pooled"', ""),
        ('components = [1, 3]\nprotocol.kind = "sink"', ""),
        ('components = [1, 3]\nprotocol.kind = "master-worker"', ""),
    ],
)
def test_components_that_hear_nothing_of_one_another_are_a_note(parts, said):
    family = "random" if "disconnected" in parts else "hybrid"
    text = f"""
run = {{ horizon = 100, replications = 2 }}
topology.family = "{family}"
{"topology.agents = 3" if family == "random" else 'topology.inside = "star"'}
topology.{parts}
bandit = {{ kind = "bernoulli", means = [0.9, 0.5] }}
{"" if "learner" in parts else 'learner.kind = "ucb"'}
"""
    notes = [note for note in check(load("parts.toml", text=text)).notes if "topology" in note]
    assert len(notes) == bool(said)
    assert not said or re.fullmatch(rf"parts.toml:5:10: topology\.(components|disconnected): {said}.*", notes[0])


def test_notes_that_differ_in_numbers_are_one_and_a_key_that_some_points_use_is_none():
    def notes(sweep):
        return [note.split(" ", 1)[1] for note in check(load("race.toml", text=RACE + sweep)).notes]

    text = "run.replications: about"
    (note,) = notes('"learner.confidence" = [0.3, 0.02, 0.01, 0.005]')
    assert note.startswith(text)
    assert note.endswith("(in the sweep: learner.confidence = 0.02); with other numbers at 2 more points")
    (note,) = notes('"learner.confidence" = [0.02, 0.01]')
    assert note.endswith("(in the sweep: learner.confidence = 0.02); with other numbers at 1 more point")
    assert not notes('"run.activity" = ["one", "every"]\n"run.skew" = [0.5]\n"learner.confidence" = [0.3]')
    (note,) = notes('"run.activity" = ["every"]\n"run.skew" = [0.5]\n"learner.confidence" = [0.3]')
    assert note.startswith("run.skew: is used only")


KEYS = [
    "run.horizon", "run.slot", "run.seed", "run.replications", "topology.family", "topology.agents", "topology.p",
    "topology.degree", "topology.components", "topology.inside", "topology.file", "links.peer.latency",
    "links.uplink.latency", "links.peer.bandwidth", "links.peer.cost", "bandit.kind", "bandit.arms", "bandit.means",
    "bandit.heterogeneity", "bandit.seed", "learner.kind", "learner.epsilon", "learner.rounds", "learner.gap",
    "learner.participation", "protocol.kind", "protocol.timing", "sweep", "name", "bandit", "links", "x.y",
    "schema", "extends",
]  # fmt: skip
VALUES = [
    "0", "-1", "1", "3", "0.5", "nan", "inf", "-inf", "true", '""', '"x"', '":"', "[]", "[1, 2]", "[0.5, 0.2]", "{}",
    '"1 ms"', '"1e400 s"', '"-1 ms"', '{ uniform = ["2 ms", "1 ms"] }', "{ uniform = 3 }", '"1 Mbit/s"', '"ring"',
    '"star"', '"hybrid"', '"file"', '"random"', '"silent"', '"sink"', '"master-worker"', "1979-05-27", "10" * 15,
    '{ "run.horizon" = [1, "x"] }', '{ "bandit" = [1] }', '{ "learner.kind" = [3] }', '{ "sweep" = [1] }', '"\\u0000"',
]  # fmt: skip


def test_check_never_fails_otherwise(tmp_path):
    @examples(300)
    @given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), min_size=1, max_size=4))
    def mutate(changes):
        try:
            study(tmp_path, *(f"{key}={value}" for key, value in changes))
            lines = [""]
        except ScenarioError as error:
            lines = error.lines
        assert lines
        assert all("\n" not in line for line in lines)

    mutate()


HALF_PLACED = """\
graph [
  node [ id 0 label "Here" Latitude 10.0 Longitude 20.0 ]
  node [ id 1 label "There" Latitude 11.0 Longitude 20.0 ]
  node [ id 2 label "Nowhere" ]
  edge [ source 0 target 1 ]
  edge [ source 1 target 2 ]
]
"""


def test_geographic_latencies_name_the_nodes_without_coordinates(tmp_path):
    (tmp_path / "half.gml").write_text(HALF_PLACED)
    where = ["topology.family=file", "topology.file=half.gml", "links.peer.latency=geographic"]
    text = SMALL.replace("agents = 4\n", "")
    (line,) = mistakes(tmp_path, *where, text=text)
    assert line.startswith("--set links.peer.latency: links.peer.latency: ")
    assert "Nowhere" in line
    assert 'set links.peer.missing = "median"' in line
    (tmp_path / "none.gml").write_text(re.sub("L[a-z]+itude [0-9.]+ ?", "", HALF_PLACED))
    (line,) = mistakes(tmp_path, *where, "topology.file=none.gml", text=text)
    assert line.endswith(
        'no node of the topology has coordinates (a latitude and a longitude); give them, or a latency such as "10 ms"'
    )
    point = study(tmp_path, *where, "links.peer.missing=median", text=text).points[0]
    assert point.simulation(0).run().topology["agents"] == 3


@pytest.mark.parametrize(
    ("learner", "protocol", "text"),
    [
        (
            "elimination",
            "vertical",
            '"vertical" offers no rounds, in which each agent contributes an item and receives all, ',
        ),
        ("feducb", "vertical", '"vertical" offers no calls, in which an agent asks all others for their statistics'),
    ],
)
def test_a_pair_that_cannot_talk_is_told_how_and_what_can(tmp_path, learner, protocol, text):
    bandit = ["bandit.kind=linear", "bandit.dimension=2"] if learner == "feducb" else []
    (line,) = mistakes(tmp_path, f"learner.kind={learner}", f"protocol.kind={protocol}", *bandit)
    assert line.startswith(f"--set protocol.kind: protocol.kind: {text}")
    assert f'as learner.kind = "{learner}" needs here: must be one of "master-worker", "gis", ' in line
    assert '"vertical" or' not in line
    assert "stands at" not in line


@pytest.mark.parametrize(
    ("override", "end"),
    [
        ("topology.family=erdos-renyi", '"random" is G(n, p), the Erdős-Rényi graph'),
        ("topology.family=gnp_graph", '"random" is G(n, p), the Erdős-Rényi graph'),
        ("topology.family=WattsStrogatz", '"small-world" is the Watts-Strogatz graph'),
        ("topology.family=cycle", '"ring" is a cycle'),
        ("learner.epsilon=1.0", '"ucb" is not private, "elimination", "feducb" and "pfcb" are'),
        ("learner.gap=0.1", '"ucb" has no such key, "elimination" has'),
        ("learner.exploratoin=1", '(did you mean "exploration"?)'),
        ("learner.aaa=1", '"exploration"'),
        ("run.messages=400", 'see the guide "Under a communication budget"'),
        ("run.bytes=400", 'see the guide "Under a communication budget"'),
        ("run.budget=400", 'see the guide "Under a communication budget"'),
        ("budget=400", 'see the guide "Under a communication budget"'),
    ],
)
def test_who_has_what_this_kind_has_not_is_named(override, end):
    text = """
run = { horizon = 100 }
topology = { family = "ring", agents = 5 }
bandit = { kind = "bernoulli", means = [0.1, 0.9] }
learner = { kind = "ucb" }
protocol = { kind = "relay" }
"""
    with pytest.raises(ScenarioError) as caught:
        check(load("scenario.toml", [override], text=text))
    assert caught.value.lines[0].partition("; learner.")[0].endswith(end)


@pytest.mark.parametrize("learner", ["queued", "otflinucb"])
def test_of_protocols_those_are_named_that_the_learner_takes(tmp_path, learner):
    bandit = ["bandit.kind=linear", "bandit.dimension=2"] if learner == "otflinucb" else []
    late = ["feedback.delay=1 ms", "feedback.window=5 slots"]
    lines = mistakes(tmp_path, f"learner.kind={learner}", "protocol.kind=vertical", *bandit, *late)
    assert any(line.endswith('needs here: must be "silent" or one of your own') for line in lines)
    assert study(tmp_path, f"learner.kind={learner}", "protocol.kind=silent", *bandit, *late).points


BASE = SMALL.replace('kind = "gis"', 'kind = "master-worker"').replace("[protocol]", "participation = 0.5\n[protocol]")


@pytest.mark.parametrize(
    ("child", "line"),
    [
        ('bandit.kind = "linear"\nbandit.dimension = 3', "base.toml:10:1: learner.kind: .*; bandit.kind stands at {}"),
        ('protocol.kind = "gis"', "base.toml:11:1: learner.participation: .*; protocol.kind stands at {}"),
        ('protocol.kind = "vertical"', r"child.toml:2:\d+: .*; learner.kind stands at base.toml:10:1"),
        (
            'topology.components = [3, 3]\ntopology.family = "hybrid"',
            "base.toml:5:1: topology.agents: .*; topology.components stands at {}",
        ),
        ("bandit.means = [0.1, 0.2]", "base.toml:8:1: bandit.arms: .*; bandit.means stands at {}"),
        ("topology.agents = 1", r"child.toml:2:\d+: topology.agents: .*, not 1"),
    ],
)
def test_a_mistake_between_a_file_and_what_it_extends_names_both(tmp_path, monkeypatch, child, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "child.toml").write_text(f'extends = "base.toml"\n{child}\n')
    with pytest.raises(ScenarioError) as error:
        check(load("child.toml"))
    (found,) = error.value.lines
    assert re.fullmatch(line.format(r"child.toml:2:\d+"), found)


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        ({"learner.epsilon": [1.0, -1.0]}, "learner.epsilon"),  # a key of a part
        ({"links.peer.latency": ["1 ms", "soon"]}, "links.peer.latency"),  # of the scenario
        ({"protocol.kind": ["gis", "vertical"]}, "protocol.kind"),  # of what goes together
        ({"bandit.arms": [3, 10**12]}, "bandit.arms"),  # of what fits into memory
        ({"run.horizons": [1, 2]}, "run.horizons"),  # of the sweep itself
        ({"learner.kind": ["elimination", "absent:Learner"]}, "learner.kind"),  # of the user's own
    ],
)
@pytest.mark.parametrize("large", [{"topology.agents": [4, 100_000]}, {"topology.family": ["ring", "complete"]}])
def test_a_mistake_that_is_cheap_to_find_is_told_before_any_large_graph_is_drawn(
    tmp_path, monkeypatch, mistake, line, large
):
    """Mistakes of small graphs are told with it."""
    drawn = []
    topology = RunnablePoint.topology
    monkeypatch.setattr(
        RunnablePoint,
        "topology",
        lambda point, number: drawn.append(point.resolved["topology"]) or topology(point, number),
    )
    overrides = [f"sweep.{key}={json.dumps(values)}" for key, values in {**large, **mistake}.items()]
    agents = ["topology.agents=1_200"] if "topology.family" in large else []
    (found, *_) = mistakes(tmp_path, *overrides, *agents)
    assert line in found
    assert all(graph["agents"] < 10_000 and graph["family"] == "ring" for graph in drawn)


@pytest.mark.slow
def test_a_hundred_thousand_agents_and_a_server(tmp_path):
    overrides = ["topology.family=star", "topology.agents=100_000", "protocol.kind=master-worker", "run.horizon=2000"]
    budget = ["learner.participation=0.2", "learner.rounds=6", "learner.gap=0.5"]
    began = process_time()
    found = study(tmp_path, *overrides, *budget).points[0].simulation(0).run()
    assert found.metrics["rounds"] >= 1
    assert process_time() - began < 60


MISPLACED = {
    "loss": "0.1",
    "latency": '"5 ms"',
    "bandwidth": '"1 kB/s"',
    "jitter": '"2 ms"',
    "duplicate": "0.1",
    "cost": "2.0",
    "timeout": '"5 ms"',
    "per_byte": '"1 uJ"',
    "horizon": "10",
    "replications": "2",
    "duty": "0.5",
}
"""Keys of the tables of a scenario, with a value each."""


@pytest.mark.parametrize("key", MISPLACED)
@pytest.mark.parametrize("table", ["links", "faults"])
def test_a_key_in_the_wrong_table_is_taken_wherever_the_hint_says(tmp_path, key, table):
    def unknown(path):
        try:
            study(tmp_path, f"{path}={MISPLACED[key]}", text=SMALL)
        except ScenarioError as error:
            return [line for line in error.lines if "unknown key" in line]
        return []

    (line,) = unknown(f"{table}.{key}")
    places = re.findall(r'"([\w.]+)"', line.partition("(did you mean ")[2])
    assert len(places) == (1 if key in ("horizon", "replications", "duty") else 2), line
    for place in places:
        assert place.endswith(f".{key}")
        assert unknown(place) == []


def test_a_key_of_several_other_tables_gets_no_hint(tmp_path):
    (line,) = mistakes(tmp_path, "faults.agents=[1]")
    assert line.endswith('faults.agents: unknown key, must be one of "links", "nodes", "server", "outages"')


class Bare(nb.ActionSetBandit):
    """Sets one of four things, and to something else."""

    def start(self, agents, generator):
        self.arm_count = 0

    def begin(self, generator):
        raise AssertionError("only start is tried")

    def actions(self, agents): ...
    def pull(self, agents, arms): ...


class Picky(Bare):
    """Cannot be tried with two agents."""

    def start(self, agents, generator):
        raise {2: KeyError, 4: AssertionError}[agents]("not this many")


def test_all_that_a_world_lacks_is_found_before_anything_runs():
    given = {"topology": nb.families.Ring(agents=4), "learner": nb.learners.Oful(), "protocol": nb.protocols.Silent()}
    run = nb.Run(horizon=5)
    (mistake,) = nb.Scenario(**given, bandit=Bare, run=run).check()
    for text in (
        "Bare.start must set arm_count to an integer of at least 1, not 0; ",
        "Bare.start must set dimension to an integer of at least 1, not NoneType; ",
        "Bare.start must set sub_gaussian to a number above 0",
    ):
        assert text in mistake
    assert nb.Scenario(**given, bandit=Picky, run=run).check() == []
