"""What is told by everybody in every slot: all at once is the same as message by message."""

import pytest
from helpers.examples import examples
from helpers.own_learners import Sometimes
from hypothesis import given
from hypothesis import strategies as st

from netbandit.checks.check import check
from netbandit.network import draws
from netbandit.scenario.load import load
from netbandit.simulation.strategies import broadcasts
from netbandit.simulation.strategies.broadcasts import bulk_carrier

SCENARIO = """\
run = {{ horizon = {horizon}, slot = "1 ms", seed = {seed} }}
topology = {{ family = "random", agents = {agents}{shape} }}
links.peer = {{ latency = {latency}{faults} }}
bandit = {{ {bandit} }}
learner = {{ kind = {learner} }}
protocol = {{ {protocol} }}
{more}
"""
BERNOULLI = 'kind = "bernoulli", means = [0.2, 0.5, 0.9]'
PLAIN = {
    "horizon": 60,
    "seed": 0,
    "agents": 7,
    "shape": ", mean_degree = 3",
    "latency": '"0 ms"',
    "faults": "",
    "bandit": BERNOULLI,
    "learner": '"ucb"',
    "protocol": 'kind = "local"',
    "more": "",
}


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Run a scenario in bulk, and message by message."""

    def runs(learner=PLAIN["learner"], latency=PLAIN["latency"], protocol=PLAIN["protocol"], seed=0, faults="", **more):
        file = tmp_path / "local.toml"
        chosen = {"learner": learner, "latency": latency, "protocol": protocol, "seed": seed, "faults": faults}
        file.write_text(SCENARIO.format(**{**PLAIN, **chosen, **more}))
        point = check(load(file)).points[0]
        made = []

        def noted(*given):
            made.append(bulk_carrier(*given))
            return made[-1]

        with monkeypatch.context() as patch:
            patch.setattr(broadcasts, "bulk_carrier", noted)
            bulk = point.simulation(0).run()
        assert made != [None]  # else there is nothing to compare
        with monkeypatch.context() as patch:
            patch.setattr(broadcasts, "bulk_carrier", lambda *_: None)
            return bulk, point.simulation(0).run()

    return runs


DOWN = [
    'faults.links = { up_for = "9 ms", down_for = "4 ms" }',
    'faults.links = { up = 0.6, every = "1 slot" }',
    'faults.outages = [{ partition = [[0, 1, 2]], from = "5 ms", until = "20 ms" }]',
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("down", DOWN)
@pytest.mark.parametrize("faults", ["", ', loss = 0.2, jitter = "3 ms"'])
@pytest.mark.parametrize("ttl", [1, 3])
def test_links_that_fail_cut_the_same_messages(both, down, faults, ttl):
    for number, latency in enumerate(LATENCIES[:5]):
        protocol = f"{FLOOD}, ttl = {ttl}"
        bulk, single = both('"ucb"', latency, protocol, seed=number, faults=faults, horizon=30, more=down)
        same(bulk, single)
        assert bulk.metrics["lost"] > 0


def same(bulk, single):
    assert bulk.fingerprint == single.fingerprint
    without = {"wall_s"}
    assert {key: bulk.metrics[key] for key in bulk.metrics.keys() - without} == {
        key: single.metrics[key] for key in single.metrics.keys() - without
    }
    assert list(bulk.metrics) == list(single.metrics)
    assert bulk.kinds == single.kinds
    assert (bulk.curves["regret"].values == single.curves["regret"].values).all()
    for name in ("messages", "bytes", "activations", "lost"):
        assert (getattr(bulk.links, name) == getattr(single.links, name)).all()


LATENCIES = [
    '"0 ms"',
    '"1 ms"',
    '"2.5 ms"',
    '"0.3 ms"',
    '{ uniform = ["0 ms", "4 ms"] }',
    '{ uniform = ["0 ms", "1 us"] }',
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("learner", ["ucb", "klucb", "thompson"])
@pytest.mark.parametrize("latency", LATENCIES)
def test_in_bulk_is_the_same_as_message_by_message(both, learner, latency):
    bulk, single = both(f'"{learner}"', latency)
    same(bulk, single)
    assert bulk.metrics["messages"] == 60 * 2 * bulk.topology["links"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", ['kind = "local", route = "flood"', 'kind = "pooled"'])
@pytest.mark.parametrize("seed", range(3))
def test_floods_of_one_hop_and_pooling_are_alike(both, protocol, seed):
    same(*both('"ucb"', '{ uniform = ["0 ms", "4 ms"] }', protocol, seed))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("latency", LATENCIES)
def test_some_slots_may_pass_in_silence(both, latency):
    bulk, single = both(f'"{Sometimes.__module__}:Sometimes"', latency)
    same(bulk, single)
    assert bulk.metrics["rounds"] == 20


FLOOD = 'kind = "local", route = "flood"'
OBSERVERS = [
    '"ucb"',
    '"klucb", keep = 0.3',
    '"thompson", use_after = 3',
    '"ucb", keep = "degree", discount = 0.98',
    '"ucb", share = "totals"',
    f'"{Sometimes.__module__}:Sometimes"',
]
FAULTS = [
    "",
    ", loss = 0.3",
    ", loss = { per_bit = 1e-3 }",
    ', loss = 0.2, jitter = "3 ms"',
    ', jitter = { geometric = ["2 slots", "5 slots"] }, overtaking = true',
    ', jitter = "2 ms", overtaking = true, duplicate = 0.4',
    ", loss = 0.1, duplicate = 0.3",
    ', loss = { good = 0.05, bad = 0.9, good_for = "3 ms", bad_for = "1.5 ms" }',
]


@pytest.mark.sampled(80)
@pytest.mark.parametrize("learner", OBSERVERS)
@pytest.mark.parametrize("faults", FAULTS)
def test_floods_in_bulk_are_the_same_as_message_by_message(both, learner, faults):
    for number, latency in enumerate(LATENCIES[:3] + LATENCIES[4:5]):
        ttl = 2 + number % 3
        same(*both(learner, latency, f"{FLOOD}, ttl = {ttl}", seed=number, faults=faults, horizon=15))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("route", ["flood", "tree"])
def test_one_hop_in_bulk_is_the_same_however_links_fail(both, faults, route):
    for number, latency in enumerate(LATENCIES):
        same(*both('"ucb"', latency, f'kind = "local", route = "{route}"', seed=number, faults=faults, horizon=40))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("ttl", [1, 4])
def test_absorption_in_bulk_is_the_same(both, faults, ttl):
    for sets in ("", ", arms_per_agent = 2"):
        bandit = f'kind = "gaussian", means = [0.2, 0.5, 0.9, 1.1]{sets}'
        protocol = f"{FLOOD}, ttl = {ttl}, absorb = true"
        same(*both('"ucb"', LATENCIES[4], protocol, faults=faults, bandit=bandit, horizon=40))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("faults", FAULTS)
def test_random_stops_in_bulk_are_the_same(both, faults):
    stopped, all_of_them = (
        both('"ucb"', LATENCIES[4], f"{FLOOD}, ttl = 4, stop = {stop}", faults=faults, horizon=30)
        for stop in (0.5, 0.0)
    )
    same(*stopped)
    assert stopped[0].metrics["items"] < 0.8 * all_of_them[0].metrics["items"]


@pytest.mark.parametrize("p", [0.0, 0.1])
def test_a_graph_may_lie_in_pieces(both, p):
    """Who cannot be reached is nobody's neighbour: not for what is kept either."""
    pieces = {"shape": f", p = {p}, disconnected = true", "agents": 12}
    single, bulk = both('"ucb", keep = "degree"', '"0 ms"', f"{FLOOD}, ttl = 3", **pieces)
    same(bulk, single)
    assert bulk.metrics["rounds"] == (60 if p else 0)


@pytest.mark.parametrize("faults", FAULTS[:2])
def test_more_agents_than_a_word_has_bits(both, faults):
    same(*both('"ucb"', '"0 ms"', f"{FLOOD}, ttl = 3", faults=faults, agents=70, horizon=12))


CHANGES = [
    "{ up = 0.5 }",
    '{ born = 0.2, dies = 0.3, every = "1.5 slots" }',
    '{ up_for = "1.3 ms", every = "4.7 ms" }',
    "{ up = 0.0 }",
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("changes", CHANGES)
@pytest.mark.parametrize("keys", ["ttl = 3", "ttl = 1", "ttl = 2, absorb = true", "ttl = 4, stop = 0.5"])
def test_who_is_away_is_told_nothing(both, changes, keys):
    for number, faults in enumerate(("", ', loss = 0.2, jitter = "3 ms"')):
        shape = f", mean_degree = 3, changes = {changes}"
        bulk, single = both('"ucb"', LATENCIES[2 * number], f"{FLOOD}, {keys}", number, faults, horizon=30, shape=shape)
        same(bulk, single)
        assert bulk.metrics["messages"] < 60 * bulk.topology["links"]
        assert (bulk.metrics["rounds"] == 0) == (bulk.metrics["messages"] == 0)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("faults", FAULTS[1:])
@pytest.mark.parametrize("ttl", [1, 3])
def test_each_channel_draws_at_its_own_pace(both, monkeypatch, faults, ttl):
    """What is drawn at once is used up soon, and by some channels earlier than by others."""
    monkeypatch.setattr(draws, "MOST_ROWS", 3)
    for changes in CHANGES[:2]:
        shape = f", mean_degree = 3, changes = {changes}"
        same(*both('"ucb"', LATENCIES[4], f"{FLOOD}, ttl = {ttl}", faults=faults, horizon=40, shape=shape))


@examples(25)
@given(st.integers(0, 10**6), st.sampled_from(FAULTS), st.sampled_from(LATENCIES), st.integers(1, 5), st.integers(2, 9))
def test_any_flood_in_bulk_is_the_same(both, seed, faults, latency, ttl, agents):
    same(*both('"ucb"', latency, f"{FLOOD}, ttl = {ttl}", seed, faults, agents=max(agents, 5), horizon=20))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "changed",
    [
        ["protocol.ttl=2", "links.peer.loss=0.1"],
        ["protocol.route=flood", "protocol.ttl=2", "links.peer.jitter=20 s"],
        ["links.peer.latency=1000 s"],
        ["links.peer.loss=0.1", "run.slot=30000000 s", "topology.agents=30"],
        ["links.peer.jitter={ exponential = '1 ms' }"],
        ["links.peer.retry={ timeout = '5 ms' }"],
        ["links.peer.bandwidth=1 Mbit/s"],
        ["topology.changes={ up = 0.5 }"],
    ],
)
def test_what_is_irregular_goes_message_by_message(tmp_path, monkeypatch, changed):
    file = tmp_path / "local.toml"
    file.write_text(SCENARIO.format(**PLAIN))
    found = []
    monkeypatch.setattr(broadcasts, "bulk_carrier", lambda *given: found.append(bulk_carrier(*given)))
    assert check(load(file, changed)).points[0].simulation(0).run().metrics["messages"] > 0
    assert found == [None]


def test_a_trace_is_kept_message_by_message(tmp_path, monkeypatch):
    file = tmp_path / "local.toml"
    file.write_text(SCENARIO.format(**PLAIN))
    point = check(load(file)).points[0]
    plain = point.simulation(0).run()
    assert point.simulation(0).run(tmp_path / "trace.jsonl").fingerprint == plain.fingerprint
