"""Runs that were made are found again: a key of a scenario that is added later changes no name of a run folder."""

import networkx
import pytest
from helpers.fake_study import resolved

from netbandit.checks.check import check
from netbandit.results import run_keys as keys_of_runs
from netbandit.results.changed_numbers import numbers_of
from netbandit.results.run_keys import run_key, run_keys
from netbandit.scenario.load import load
from netbandit.simulation.sweep_point import Point
from netbandit.testing.scenes import WORLDS

BERNOULLI = 'bandit = { kind = "bernoulli", arms = 3 }\nlearner = { kind = "elimination" }\n'
LINEAR = 'bandit = { kind = "linear", arms = 3, dimension = 2 }\n'
GIS = 'protocol = { kind = "gis" }\n'
FAMILY = 'topology = {{ family = "{}", {} }}\n'.format
RING = FAMILY("ring", "agents = 4")

PINNED = {
    # What today's code calls these runs. Where one fails because a key was added to a table, register the key in
    # netbandit/results/run_keys.py, ADDED; the name must not change.
    "gis": (RING + BERNOULLI + GIS, "1a11dbdaa48a3e173f9a"),
    "sink": (RING + BERNOULLI + 'protocol = { kind = "sink" }\n', "85f9a9a878f6822d62e5"),
    "flooding": (RING + BERNOULLI + 'protocol = { kind = "flooding" }\n', "e4efd3e3878fe94d4e13"),
    "gossip": (RING + BERNOULLI + 'protocol = { kind = "gossip" }\n', "5eaf69c6ade210ef03a9"),
    "master-worker": (RING + BERNOULLI + 'protocol = { kind = "master-worker" }\n', "c64df5bbd6b13eb502e1"),
    "silent": (
        RING + LINEAR + 'learner = { kind = "feducb" }\nprotocol = { kind = "silent" }\n',
        "5df935208e9f63bfe53f",
    ),
    "relay": (RING + LINEAR + 'learner = { kind = "feducb" }\nprotocol = { kind = "relay" }\n', "ad28d3655029f18f9436"),
    "local": (RING + LINEAR + 'learner = { kind = "feducb" }\nprotocol = { kind = "local" }\n', "fa315be6c6180d449115"),
    "vertical": (
        RING + 'bandit = { kind = "vertical" }\nlearner = { kind = "linucb" }\nprotocol = { kind = "vertical" }\n',
        "16bbb10fd5b599bc28ba",
    ),
    "lints": (
        RING + 'bandit = { kind = "vertical" }\nlearner = { kind = "lints" }\nprotocol = { kind = "vertical" }\n',
        "f908c40a6ff928c4cdf4",
    ),
    "pfcb": (
        RING + 'bandit = { kind = "procurement" }\nlearner = { kind = "pfcb" }\nprotocol = { kind = "gis" }\n',
        "d4d56d0e0480ccb00b50",
    ),
    **{
        family: (FAMILY(family, keys) + BERNOULLI + GIS, key)
        for family, keys, key in (
            ("star", "agents = 4", "48a1f13383c0f5460598"),
            ("complete", "agents = 4", "8d7b1bceba921a2a791f"),
            ("path", "agents = 4", "64132b70b9c888084fe1"),
            ("grid", "agents = 4", "8bbd433971e8598a1559"),
            ("tree", "agents = 4", "e443e191339374f1b63e"),
            ("random", "agents = 4, p = 0.9", "4d13134be0412e57b732"),
            ("regular", "agents = 4, degree = 2", "b1ce6a854a66d9a39e37"),
            ("small-world", "agents = 6", "45e616b5d11374d73160"),
            ("scale-free", "agents = 6", "632bbf4a53babf0f0a11"),
            ("geometric", "agents = 6, reach = 1.0", "91b4f7d6275335dd078b"),
        )
    },
    "hybrid": (
        FAMILY("hybrid", "components = [2, 3]") + BERNOULLI + 'protocol = { kind = "sink" }\n',
        "1d74400477d4607afd5f",
    ),
    "links": (
        RING
        + BERNOULLI
        + GIS
        + '[links]\npeer = { latency = { uniform = ["1 ms", "5 ms"] }, bandwidth = "1 Mbit/s" }\n'
        'uplink = { latency = "3 ms", cost = 7.0, energy = { per_message = 0.5 } }\n',
        "7ef60062b55aadca1509",
    ),
}


def point_of(text):
    return check(load("scenario.toml", text=f"run = {{ horizon = 100, seed = 3 }}\n{text}")).points[0]


@pytest.mark.parametrize("name", PINNED)
def test_no_run_of_today_is_called_by_another_name(name):
    text, key = PINNED[name]
    assert run_key(point_of(text), 2) == key


def with_tables(**tables):
    return Point({}, resolved(bandit={"kind": "bernoulli", "arms": 3}, links={"peer": {"cost": 2.0}}) | tables)


@pytest.fixture
def added(monkeypatch):
    """Keys as they would be added: to a table inside a table, to a kind, and a table of their own."""
    keys = {
        "links.peer.loss": 0.0,
        "bandit:vertical.unserved": "free",
        "faults.churn": None,
        "run.activity": "all",
        "topology:star.heavy": False,
    }
    monkeypatch.setattr(keys_of_runs, "ADDED", keys)
    return keys


def test_an_added_key_at_its_default_changes_no_name(added):
    before = run_key(with_tables(), 0)
    now = with_tables(links={"peer": {"cost": 2.0, "loss": 0.0}}, faults={"churn": None})
    now.resolved["run"]["activity"] = "all"
    now.resolved["topology"]["heavy"] = False
    assert run_key(now, 0) == before
    assert now.resolved["links"] == {"peer": {"cost": 2.0, "loss": 0.0}}  # the scenario itself stays whole


def test_an_added_key_off_its_default_counts(added):
    before = run_key(with_tables(), 0)
    others = [
        with_tables(links={"peer": {"cost": 2.0, "loss": 0.1}}),
        with_tables(faults={"churn": "1 s"}),
        with_tables(links={"peer": {"cost": 2.0, "loss": False}}),  # false is not 0
    ]
    assert len({before, *(run_key(other, 0) for other in others)}) == 4


def test_a_key_added_to_one_kind_counts_for_others(added):
    plain, default = {"kind": "vertical"}, {"kind": "vertical", "unserved": "free"}
    assert run_key(with_tables(bandit=default), 0) == run_key(with_tables(bandit=plain), 0)
    other = {"kind": "linear", "unserved": "free"}
    assert run_key(with_tables(bandit=other), 0) != run_key(with_tables(bandit={"kind": "linear"}), 0)


def test_numbers_that_have_changed_are_of_other_runs(monkeypatch):
    before = run_keys(with_tables())
    monkeypatch.setattr(keys_of_runs, "NUMBERS", 2)
    second = run_keys(with_tables())
    monkeypatch.setattr(keys_of_runs, "NUMBERS", 3)
    assert not {*before} & {*second} | {*second} & {*run_keys(with_tables())}
    monkeypatch.setattr(keys_of_runs, "NUMBERS", 1)
    assert run_keys(with_tables()) == before


PROTOCOL = 'protocol = {{ kind = "{}" }}\n'.format
CALLS = LINEAR + 'learner = { kind = "feducb" }\n'
PEERS = "links.peer = {{ {} }}\n".format
UPLINKS = "links.uplink = {{ {} }}\n".format
RETRY = 'retry = { timeout = "9 ms" }'
PRIVATE = 'bandit = {{ kind = "bernoulli", arms = 3 }}\nlearner = {{ kind = "elimination", epsilon = {} }}\n'.format
FORGETS = 'faults.nodes = {{ up_for = "1 s", down_for = "1 s", memory = "{}" }}\n'.format
REWARDS = f'bandit = {{ kind = "table", path = \'{WORLDS["table"]["path"]}\', rows = "drawn" }}\n'
SOME = BERNOULLI.replace('n" }', 'n", participation = 0.5 }')


LIES = 'adversary = {{ agents = [1], attack = "{}" }}\n'.format
COMES = 'topology.changes = { born = 0.1, dies = 0.1 }\ntopology.neighbours = "sensed"\n'
ARMS = 'bandit = { kind = "bernoulli", arms = 3 }\n'
MIXES = ARMS + 'learner = { kind = "coop-ucb2" }\n' + PROTOCOL("consensus")
COUNTS = ARMS + 'learner = { kind = "ucb", share = "totals" }\n' + PROTOCOL("local")
OFUL = LINEAR + 'learner = { kind = "oful" }\n'


@pytest.mark.parametrize(
    ("text", "has_changed"),
    [
        # A node that gossips waits until its last copy has left it.
        (BERNOULLI + PROTOCOL("gossip") + PEERS('bandwidth = "1 Mbit/s"'), True),
        (BERNOULLI + PROTOCOL("gossip"), False),
        (BERNOULLI + PROTOCOL("gis") + PEERS('bandwidth = "1 Mbit/s"'), False),
        # Epsilons of lives are not added up.
        (PRIVATE(1.0) + GIS + FORGETS("lost"), True),
        (PRIVATE(1.0) + GIS + FORGETS("kept"), False),
        (PRIVATE("inf") + GIS + FORGETS("lost"), False),
        # Both.
        (PRIVATE(1.0) + PROTOCOL("gossip") + PEERS('bandwidth = "1 Mbit/s"') + FORGETS("lost"), True),
        # Sums name releases where something may be lost, not where it is only repeated.
        *[
            (CALLS + PROTOCOL(kind) + PEERS(RETRY), True)
            for kind in ("master-worker", "sink", "flooding", "local", "relay")
        ],
        (CALLS + PROTOCOL("flooding") + PEERS(f'{RETRY}, jitter = "0 s", loss = {{ per_bit = 0.0 }}'), True),
        *[
            (CALLS + PROTOCOL("flooding") + PEERS(f"{RETRY}, {also}"), False)
            for also in ("loss = 0.1", 'jitter = "1 ms"', "duplicate = 0.1", 'bandwidth = "1 Mbit/s"')
        ],
        *[(CALLS + PROTOCOL("flooding") + PEERS(RETRY) + UPLINKS(also), False) for also in ("loss = 0.1", RETRY)],
        (CALLS + PROTOCOL("flooding") + PEERS(RETRY) + 'faults.outages = [{ nodes = [0], from = "1 ms" }]\n', False),
        (CALLS + PROTOCOL("flooding") + PEERS("loss = 0.1"), False),
        (CALLS + PROTOCOL("silent") + PEERS(RETRY), False),
        (BERNOULLI + PROTOCOL("flooding") + PEERS(RETRY), False),
        # Broadcasts are acknowledged and repeated.
        (BERNOULLI + PROTOCOL("sink") + UPLINKS(RETRY), True),
        (CALLS + PROTOCOL("sink") + UPLINKS(f"{RETRY}, loss = 0.1"), True),
        (SOME + PROTOCOL("master-worker") + UPLINKS(RETRY), True),
        (BERNOULLI + PROTOCOL("master-worker") + UPLINKS(RETRY), False),
        (BERNOULLI + PROTOCOL("sink") + UPLINKS("loss = 0.1"), False),
        (BERNOULLI + PROTOCOL("sink") + PEERS(RETRY), False),
        # Names and slots of tables are read as they are.
        (REWARDS + 'learner.kind = "ucb"\n' + PROTOCOL("local"), True),
        # Liars lie in exchanges whose rows take different times.
        *[(MIXES + LIES(attack), attack == "flip") for attack in ("flip", "none", "mute")],
        (MIXES, False),
        (COUNTS + LIES("flip"), False),
        # Who waits for links may stall.
        *[
            (learner + PROTOCOL(kind) + COMES, True)
            for learner in (BERNOULLI, CALLS)
            for kind in ("flooding", "relay", "sink")
        ],
        (BERNOULLI + PROTOCOL('flooding", carry = "9 ms') + COMES, False),
        (BERNOULLI + PROTOCOL("flooding") + COMES.replace("sensed", "unknown"), False),
        (BERNOULLI + PROTOCOL("gossip") + COMES, False),
        (COUNTS + COMES, False),
        # Who tells nothing waits for no call, and is not taken for others.
        *[(COUNTS.replace("local", "gis") + LIES(attack), attack == "mute") for attack in ("flip", "mute")],
        (COUNTS + LIES("mute"), False),
        (OFUL + PROTOCOL("flooding") + LIES("mute"), True),
        (OFUL + PROTOCOL("flooding") + LIES("flip"), False),
        (BERNOULLI + PROTOCOL("flooding") + LIES("mute"), False),
        # Nobody stalls where nothing gets lost.
        *[(CALLS + PROTOCOL("gossip") + PEERS(late), True) for late in ('jitter = "1 ms"', "duplicate = 0.1", RETRY)],
        (CALLS + PROTOCOL("gossip") + PEERS('jitter = "1 ms", loss = 0.1'), False),
        (CALLS + PROTOCOL("gossip"), False),
        (COUNTS.replace("local", "gossip") + PEERS('jitter = "1 ms"'), False),
    ],
)
def test_scenarios_that_alone_have_other_numbers_than_before_are_called_by_another_name(monkeypatch, text, has_changed):
    text = 'topology.family = "ring"\ntopology.agents = 4\n' + text
    now = run_key(point_of(text), 0)
    monkeypatch.setattr(keys_of_runs, "numbers_of", lambda scenario, least: least)
    assert (run_key(point_of(text), 0) != now) == has_changed


@pytest.mark.parametrize(("name", "has_changed"), [("a.csv", True), ("a.txt", True), ("a.graphml", False)])
def test_graphs_of_edge_lists_alone_are_read_in_another_way(tmp_path, monkeypatch, name, has_changed):
    networkx.write_graphml(networkx.path_graph(2), tmp_path / "a.graphml")
    for edges in ("a.csv", "a.txt"):
        (tmp_path / edges).write_text("a,b\n")
    text = FAMILY("file", f"file = '{tmp_path / name}'") + BERNOULLI + GIS
    now = run_key(point_of(text), 0)
    monkeypatch.setattr(keys_of_runs, "numbers_of", lambda scenario, least: least)
    assert (run_key(point_of(text), 0) != now) == has_changed


@pytest.mark.parametrize(
    ("topology", "has_changed"),
    [
        ({"family": "mobile", "model": "file", "format": "one"}, True),
        ({"family": "mobile", "model": "waypoint", "format": "one"}, False),
        ({"family": "contacts", "format": "one"}, False),
    ],
)
def test_runs_over_files_that_are_read_otherwise_are_called_by_another_name(topology, has_changed):
    assert (numbers_of({"topology": topology}, 1) > 1) == has_changed


def test_a_class_of_the_users_own_counts_by_what_is_known_of_it():
    def key(identity):
        return run_key(Point({}, with_tables().resolved, identities={"bandit.kind": identity}), 0)

    assert key("one source") == key("one source")
    assert key("one source") != key("another source")
    assert key(None) != key(None)  # nothing is known: never taken for a run that was made
