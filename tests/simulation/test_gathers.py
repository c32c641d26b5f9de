import numpy as np
import pytest

from netbandit.network.clock import Clock, Environment
from netbandit.network.fingerprint import Fingerprint
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.build import build_network, topology_streams
from netbandit.simulation.driver import Stage
from netbandit.simulation.gathers import Gathers
from netbandit.simulation.parts import check
from netbandit.streams import Streams

SCENARIO = """
schema = 1
[run]
horizon = 400
slot = "1 ms"
[topology]
family = "star"
agents = 4
[bandit]
kind = "vertical"
dimension = 12
arms = 5
[learner]
kind = "linucb"
[protocol]
kind = "vertical"
timing = "asynchronous"
"""


def point(tmp_path, *overrides):
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO)
    return check(load(file, overrides)).points[0]


def played(parts):
    """Run one replication; return the driver and its outcome."""
    scenario = parts.scenario
    streams = Streams(scenario.run.seed, 0)
    clock = Clock(Environment(), scenario.run.slot_nanoseconds, scenario.run.horizon)
    topology, fingerprint = parts.topology(0), Fingerprint()
    graph_streams = topology_streams(scenario.topology, scenario.run.seed, 0)
    network = build_network(
        scenario.links, topology, clock, graph_streams, fingerprint, None, own_streams=streams, peers=True
    )
    bandit = parts.bandit.build(parts.bandit_settings, topology.agents, streams.generator)
    driver = Gathers(Stage(parts, topology, network, clock, bandit, streams, fingerprint))
    driver.start()
    clock.environment.run()
    return driver, driver.finish()


CASES = [
    ("linucb", 10_000, 2, "[1, 1]"),
    ("linucb", 10_000, 30, "[1, 20, 9]"),
    ("linucb", 500, 200, "5"),
    ("lints", 10_000, 2, "[1, 1]"),
    ("lints", 1_500, 30, "[1, 20, 9]"),
    ("lints", 10, 200, "5"),
]


@pytest.mark.parametrize(("learner", "horizon", "dimension", "parts"), CASES)
@pytest.mark.parametrize("secure", [False, True])
def test_masked_and_central_runs_choose_the_same_arms(tmp_path, learner, horizon, dimension, parts, secure):
    agents = 5 if parts == "5" else parts.count(",") + 1
    if secure and agents < 3:
        pytest.skip("a sum of one hides nothing")
    common = [
        f"learner.kind={learner}",
        f"run.horizon={horizon}",
        f"bandit.dimension={dimension}",
        f"bandit.participants={parts}",
        f"topology.agents={agents}",
    ]
    if learner == "lints":
        common.append("learner.v=0.1")
    masked, _ = played(point(tmp_path, *common, f"protocol.secure_sum={str(secure).lower()}"))
    central, outcome = played(point(tmp_path, *common, "protocol.masks=false"))
    assert outcome.metrics["rounds"] == horizon
    np.testing.assert_array_equal(np.concatenate(masked.arms), np.concatenate(central.arms))
    np.testing.assert_allclose(masked.mask.T @ masked.learner.parameter, central.learner.parameter, atol=1e-9, rtol=0)


def test_bytes_on_a_star(tmp_path):
    kinds = point(tmp_path).simulation(0).run().kinds
    users, context = 400, 8 * 5 * 12
    assert kinds["CONTEXT"] == (3 * users, 3 * users * (context + 20))
    # Agent 1 makes the masks: three others get three columns each; two of them through the centre, a hop more.
    assert kinds["MASK"] == (5, 5 * (8 * 12 * 3 + 20))


@pytest.mark.parametrize("pipeline", [1, 2, 100])
def test_decisions_follow_from_latency_and_bandwidth(tmp_path, pipeline):
    # 8 * 5 * 12 + 20 = 500 bytes at 1 Mbit/s take 4 ms, and 6 ms more to get there: 10 slots.
    links = ['links.peer.bandwidth="1 Mbit/s"', 'links.peer.latency="6 ms"']
    result = point(tmp_path, *links, f"protocol.pipeline={pipeline}").simulation(0).run()
    decisions, horizon = result.metrics["rounds"], 400
    if pipeline == 1:
        assert result.metrics["round_slots"] == 10
        assert decisions == (horizon - 1) // 10
    elif pipeline == 2:
        assert decisions == pytest.approx(horizon / 5, abs=4)
    else:
        assert decisions == pytest.approx(horizon / 4, abs=4)


def test_slotted_hops_take_a_slot_each(tmp_path):
    parts = point(tmp_path, "topology.family=path", "protocol.timing=slotted", "protocol.pipeline=10")
    result = parts.simulation(0).run()
    assert result.metrics["round_slots"] == 3
    assert result.metrics["rounds"] == 400 - 3
    assert result.fingerprint == parts.simulation(0).run().fingerprint


def test_a_participant_with_nothing_to_show_sends_nothing(tmp_path):
    result = point(tmp_path, "bandit.partial=0.25", "protocol.masks=false").simulation(0).run()
    assert "CONTEXT" not in result.kinds
    assert result.metrics["rounds"] == 400


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (["topology.agents=2", "protocol.secure_sum=true"], "at least 3 participants"),
        (["protocol.generator=4"], "the agents are 0 to 3"),
        (["protocol.generator=0"], "third-party"),
        (["bandit.participants=[1, 2]"], "lists 3 columns"),
        (["bandit.participants=3"], "makes 3 participants"),
        (["protocol.kind=gis", "protocol.timing=slotted"], 'talks by "gather"'),
    ],
)
def test_mistakes(tmp_path, overrides, text):
    with pytest.raises(ScenarioError) as error:
        point(tmp_path, *overrides)
    assert text in "\n".join(error.value.lines)
