"""Runs that were made are found again: a key of a scenario that is added later changes no name of a run folder."""

import pytest
from helpers.fake_study import resolved

from netbandit.checks.check import check
from netbandit.results import changed_numbers
from netbandit.results import run_keys as keys_of_runs
from netbandit.results.run_keys import run_key, run_keys
from netbandit.scenario.load import load
from netbandit.simulation.sweep_point import Point

BERNOULLI = 'bandit = { kind = "bernoulli", arms = 3 }\nlearner = { kind = "elimination" }\n'
LINEAR = 'bandit = { kind = "linear", arms = 3, dimension = 2 }\n'
GIS = 'protocol = { kind = "gis" }\n'
FAMILY = 'topology = {{ family = "{}", {} }}\n'.format
RING = FAMILY("ring", "agents = 4")

PINNED = {
    # What today's code calls these runs. Where one fails because a key was added to a table, register the key in
    # netbandit/results/run_keys.py, ADDED; the name must not change.
    "gis": (RING + BERNOULLI + GIS, "20bb268f278d49883bed"),
    "sink": (RING + BERNOULLI + 'protocol = { kind = "sink" }\n', "45e2f781d38f8ccd820a"),
    "flooding": (RING + BERNOULLI + 'protocol = { kind = "flooding" }\n', "6604d06d9b40d40ab74e"),
    "gossip": (RING + BERNOULLI + 'protocol = { kind = "gossip" }\n', "f9ed44ca666e00578f7e"),
    "master-worker": (RING + BERNOULLI + 'protocol = { kind = "master-worker" }\n', "54a34e98c9666329b340"),
    "silent": (
        RING + LINEAR + 'learner = { kind = "feducb" }\nprotocol = { kind = "silent" }\n',
        "a49d2d4afc8f0a78c881",
    ),
    "relay": (RING + LINEAR + 'learner = { kind = "feducb" }\nprotocol = { kind = "relay" }\n', "1d586f1caa7a11a9ea80"),
    "local": (RING + LINEAR + 'learner = { kind = "feducb" }\nprotocol = { kind = "local" }\n', "f2b9b44b64508446abf2"),
    "vertical": (
        RING + 'bandit = { kind = "vertical" }\nlearner = { kind = "linucb" }\nprotocol = { kind = "vertical" }\n',
        "19390a0067a6953aaef9",
    ),
    "lints": (
        RING + 'bandit = { kind = "vertical" }\nlearner = { kind = "lints" }\nprotocol = { kind = "vertical" }\n',
        "f0d24cf03148e786b9c4",
    ),
    "pfcb": (
        RING + 'bandit = { kind = "procurement" }\nlearner = { kind = "pfcb" }\nprotocol = { kind = "gis" }\n',
        "0b7b0910b19b340f4e79",
    ),
    **{
        family: (FAMILY(family, keys) + BERNOULLI + GIS, key)
        for family, keys, key in (
            ("star", "agents = 4", "f987d35bc32c32c0f614"),
            ("complete", "agents = 4", "df348f73410b6a623bb1"),
            ("path", "agents = 4", "8c04dbde126925e5cbce"),
            ("grid", "agents = 4", "3d7ac14fc8ee2f509d51"),
            ("tree", "agents = 4", "48040a22e8c7100cb91b"),
            ("random", "agents = 4, p = 0.9", "262c8e45bf19a543a1a0"),
            ("regular", "agents = 4, degree = 2", "fe072bb0705a86517106"),
            ("small-world", "agents = 6", "de8bbade883576d063ec"),
            ("scale-free", "agents = 6", "6f02d4a0205ed616d28d"),
            ("geometric", "agents = 6, reach = 1.0", "1f46a5d22e3866af5316"),
        )
    },
    "hybrid": (
        FAMILY("hybrid", "components = [2, 3]") + BERNOULLI + 'protocol = { kind = "sink" }\n',
        "52fd4b6dd3deaa66d986",
    ),
    "links": (
        RING
        + BERNOULLI
        + GIS
        + '[links]\npeer = { latency = { uniform = ["1 ms", "5 ms"] }, bandwidth = "1 Mbit/s" }\n'
        'uplink = { latency = "3 ms", cost = 7.0, energy = { per_message = 0.5 } }\n',
        "2d9f32ee109b62df9acb",
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


def test_a_change_that_affects_some_scenarios_makes_other_runs_of_these_alone(monkeypatch):
    texts = [RING + BERNOULLI + GIS, RING + BERNOULLI + 'protocol = { kind = "sink" }\n']
    before = [run_key(point_of(text), 0) for text in texts]
    monkeypatch.setattr(changed_numbers, "CHANGES", (lambda scenario: scenario["protocol"]["kind"] == "gis",))
    now = [run_key(point_of(text), 0) for text in texts]
    assert now[0] != before[0]
    assert now[1] == before[1]


def test_a_class_of_the_users_own_counts_by_what_is_known_of_it():
    def key(identity):
        return run_key(Point({}, with_tables().resolved, identities={"bandit.kind": identity}), 0)

    assert key("one source") == key("one source")
    assert key("one source") != key("another source")
    assert key(None) != key(None)  # nothing is known: never taken for a run that was made
