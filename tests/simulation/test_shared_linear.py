"""LinUCB and Thompson sampling that agents share over protocols of calls."""

import numpy as np
import pytest
from helpers.one_by_one import OneByOne
from helpers.worlds import started
from scipy.stats import binomtest, norm

import netbandit as nb
from netbandit.bandits.linear import Linear
from netbandit.checks.check import check
from netbandit.learners.linear import LinTs
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.execution import executed
from netbandit.util.streams import Streams

SCENARIO = """\
schema = 1
run = {{ horizon = {horizon}, slot = "1 ms" }}
topology = {{ family = "ring", agents = 4 }}
bandit = {{ kind = "{bandit}", dimension = 3, arms = 5 }}
learner = {{ kind = "{learner}", every = 20 }}
protocol = {{ kind = "{protocol}" }}
"""


def run(tmp_path, *, horizon=500, bandit="linear", learner="linucb", protocol="gis"):
    file = tmp_path / "linear.toml"
    file.write_text(SCENARIO.format(horizon=horizon, bandit=bandit, learner=learner, protocol=protocol))
    return check(load(file)).points[0].simulation(0).run()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("learner", ["linucb", "lints"])
@pytest.mark.parametrize("protocol", ["master-worker", "gis", "sink", "flooding", "gossip", "local", "silent"])
def test_every_protocol_of_calls_carries_them(tmp_path, learner, protocol):
    found = run(tmp_path, learner=learner, protocol=protocol)
    assert found.metrics["regret"] > 0
    assert (found.metrics["rounds"] > 0) == (protocol != "silent")
    if protocol != "silent":
        assert found.metrics["regret"] != run(tmp_path, learner=learner, protocol="silent").metrics["regret"]
    assert any("no compiled loop" in remark for remark in found.remarks) == (learner == "lints")


@pytest.mark.ci
@pytest.mark.parametrize(("learner", "key", "enough"), [("linucb", "alpha", 1.0), ("lints", "v", 0.5)])
def test_agents_that_explore_too_little_are_told_of(tmp_path, learner, key, enough):
    """The defaults are for contexts whose rewards have a tenth of this noise."""
    told = [remark for remark in run(tmp_path, learner=learner).remarks if f"with {key} = {enough:g} they" in remark]
    assert len(told) == 1
    file = tmp_path / "linear.toml"
    brave = check(load(file, [f"learner.{key}={enough}"])).points[0].simulation(0).run()
    assert not any("early guess" in remark for remark in brave.remarks)


@pytest.mark.parametrize("protocol", ["master-worker", "silent"])
def test_linucb_chooses_what_a_plain_loop_chooses(tmp_path, protocol):
    """Every agent, its own matrix and what all released every twenty slots, in plain numpy."""
    found = run(tmp_path, protocol=protocol)
    streams = Streams(0, 0)
    world = started(Linear(dimension=3, arms=5), 4, streams.generator)
    arms = world.actions(np.arange(1))[0]
    means = arms @ world.vector
    luck = [streams.generator("rewards", agent) for agent in range(4)]
    gram, response = np.stack([np.eye(3)] * 4), np.zeros((4, 3))
    fresh, paid = np.zeros((4, 3, 3)), np.zeros((4, 3))
    regret = 0.0
    for slot in range(500):
        for agent in range(4):
            inverse = np.linalg.inv(gram[agent] + fresh[agent])
            widths = np.sqrt(np.einsum("ki,ij,kj->k", arms, inverse, arms))
            arm = int(np.argmax(arms @ inverse @ (response[agent] + paid[agent]) + 0.1 * widths))
            fresh[agent] += np.outer(arms[arm], arms[arm])
            paid[agent] += arms[arm] * luck[agent].beta(means[arm], 1 - means[arm])
            regret += means.max() - means[arm]
        if protocol == "master-worker" and slot % 20 == 19:
            gram += fresh.sum(axis=0)
            response += paid.sum(axis=0)
            fresh[:], paid[:] = 0, 0
    assert found.metrics["regret"] == pytest.approx(regret, rel=1e-9)


@pytest.mark.ci
def test_thompson_draws_have_the_covariance_of_the_posterior():
    learner = OneByOne(LinTs(v=0.7).in_slots(), 1, arms=2, dimension=3, isolated=True)
    # Much is known of one direction: else a wrong root of the posterior's covariance would do as well.
    often = [((0.8, 0.4, 0.4), 0.3)] * 30
    for action, reward in [*often, ((0.9, 0.1, 0.0), 0.5), ((0.2, -0.6, 0.3), 0.1), ((0.2, 0.6, 0.5), 0.9)]:
        learner.learn(0, 0, np.array(action), reward)
    beliefs = learner.beliefs
    gram = beliefs.shared_gram[0, 0] + beliefs.own_gram[0, 0]
    estimate = np.linalg.solve(gram, beliefs.own_response[0, 0])
    for pair in (
        [(0.3, 0.8, -0.4), (0.1, 0.2, 0.5)],
        [(0.6, -0.1, 0.2), (0.5, 0.5, 0.5)],
        [(0.0, 0.0, 0.4), (0.1, 0, 0)],
        [(0.6, 0.4, 0.1), (0.0, 0.0, 0.0)],
    ):
        across = np.subtract(*pair)
        deviation = 0.7 * np.sqrt(across @ np.linalg.solve(gram, across))
        first = sum(learner.choose(0, 0, 0, np.array(pair)) == 0 for _ in range(3_000))
        assert binomtest(first, 3_000, norm.cdf(across @ estimate / deviation)).pvalue > 1e-6


@pytest.mark.parametrize("learner", ["linucb", "lints"])
def test_contexts_in_parts_cannot_be_shared_by_calls(tmp_path, learner):
    text = f'learner.kind = "{learner}" needs here: must be "vertical" or one of your own'
    with pytest.raises(ScenarioError, match=rf'protocol\.kind: "gis" offers no gathers, .*, as {text}'):
        run(tmp_path, bandit="vertical", learner=learner, protocol="gis")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("learner", ["thompson", "klucb", "ucb"])
@pytest.mark.parametrize(("rewards", "law"), [("gaussian", "gaussian"), ("beta", "other"), ("bernoulli", "other")])
def test_learners_of_arms_know_the_law_of_rewards(learner, rewards, law):
    """Sums of Gaussian rewards may be far below 0, where no beta law is."""
    bandit = Linear(dimension=2, arms=3, rewards=rewards, gap_means={"best": [0.2, 0.3], "others": [0.01, 0.1]})
    assert bandit.law == law
    tables = {"run": {"horizon": 60}, "topology": {"family": "ring", "agents": 3}, "protocol": {"kind": "local"}}
    (point,) = check(nb.Scenario(**tables, bandit=bandit, learner={"kind": learner}).document()).points
    found = []
    for execution in ("plain", "chosen"):
        with executed(execution):
            found.append(point.simulation(0).run())
    assert found[0].fingerprint == found[1].fingerprint
    assert 0 < found[0].metrics["regret"] < 60 * 3 * 0.3
