"""A parameter server: what is sent, by which way, and what is refused."""

import json

import numpy as np
import pytest
from helpers.deposit_scenes import LAGGING, SCENARIO, metrics, regret, theta
from helpers.deposits_reference import Setup, one_a_slot
from helpers.feducb_reference import World
from helpers.scenes import study

from netbandit.checks.check import check
from netbandit.learners.oful import Oful
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load

ONE = 'run={ horizon = 1_500, activity = "one" }'
EVERYTHING = ("learner.upload=1", LAGGING)


def test_without_latency_each_upload_is_answered_at_once():
    for activity in ("every", "one"):
        found = metrics(f'run={{ horizon = 600, activity = "{activity}" }}')
        assert found["messages"] == 2 * found["uploads"] == 2 * found["downloads"] > 20
        assert found["rounds"] == found["uploads"]
        assert found["round_slots"] == 0
        numbers = 3 * 4 // 2 + 3
        assert found["bytes"] == found["uploads"] * (20 + 8 * (numbers + 1) + 20 + 8 * (numbers + 2))


@pytest.mark.ci
def test_where_one_decides_an_upload_makes_all_others_lag_whatever_push_is():
    found = [metrics(ONE, LAGGING, "learner.upload=3", f"learner.push={push}") for push in (3, 2, 1)]
    assert {one["regret"] for one in found} == {found[0]["regret"]}
    for one in found:
        assert one["messages"] == 4 * one["uploads"] > 40
    rarely = metrics(ONE, LAGGING, "learner.upload=3", "learner.push=9")
    assert rarely["messages"] < 4 * rarely["uploads"]
    every = metrics('run={ horizon = 1_500, activity = "every" }', LAGGING, "learner.upload=3", "learner.push=3")
    assert every["messages"] != 4 * every["uploads"]  # two may upload in one slot


@pytest.mark.ci
def test_everything_to_everybody_is_one_learner_that_sees_everything():
    found = metrics(ONE, *EVERYTHING)
    setup = Setup(4, 3, 4, 1_500, [0] * 4, "lagging", "all", 1.0, 1.0, theta=theta(), turns=one_a_slot(4, 1_500))
    assert found["messages"] == 4 * 1_500
    assert found["unseen"] == 0
    # One learner: whoever is active decides by all that was ever observed.
    alone = Setup(4, 3, 4, 1_500, [0] * 4, theta=setup.theta, turns=setup.turns)
    assert found["regret"] == pytest.approx(one_that_sees_everything(alone), rel=1e-9)


def one_that_sees_everything(setup):
    world, regret = World(setup), 0.0
    gram, response = np.eye(setup.dimension), np.zeros(setup.dimension)
    for (agent,) in setup.turns:
        shown = world.show(agent)
        inverse = np.linalg.inv(gram)
        scores = [x @ inverse @ response + setup.radius * np.sqrt(x @ inverse @ x) for x in shown]
        arm = int(np.argmax(scores))
        means = shown @ setup.theta
        regret += means.max() - means[arm]
        gram = gram + np.outer(shown[arm], shown[arm])
        response = response + world.pay(agent, means[arm]) * shown[arm]
    return regret


@pytest.mark.ci
def test_a_threshold_of_zero_is_a_synchronisation_a_slot():
    found = metrics('protocol.kind="master-worker"', "learner.threshold=0")
    assert found["rounds"] == 300
    # All decide in a slot and then hear all of it: as where everything is deposited and pushed at once.
    assert found["regret"] == pytest.approx(regret(*EVERYTHING), rel=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("latency", [0, 7])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_more_is_uploaded_than_the_determinants_allow(latency, seed):
    decisions, upload, push = 1_500, 1.5, 2.5
    most = 3 * np.log(1 + decisions / 3)
    keys = (f'run={{ horizon = {decisions}, activity = "one", seed = {seed} }}', f"learner.upload={upload}")
    late = f'links.uplink.latency="{latency} ms"'
    lagging = metrics(*keys, LAGGING, f"learner.push={push}", late)
    assert 0 < lagging["uploads"] <= 4 * most / np.log(upload)
    assert 0 < lagging["downloads"] <= 4 * most / np.log(push)
    if not latency:
        found = metrics(*keys)
        assert 0 < found["uploads"] <= (4 + np.ceil(1 / (upload - 1)) + 1) * (1 + most / np.log(2))


def test_where_one_decides_there_are_as_many_decisions_as_slots():
    assert metrics(ONE)["decisions"] == 1_500


def deposits_of(agent, tmp_path, *more):
    """Return what is put on links by one deposit of *agent* in slot 10, as (slot, kind, from, to); and the metrics."""
    trace = tmp_path / "trace.jsonl"
    point = check(
        load(
            "scenario.toml",
            [
                "topology.agents=5",
                'protocol.server="centre"',
                f'learner.kind="{__name__}:Once"',
                f"learner.who={agent}",
                *more,
            ],
            text=SCENARIO,
        )
    ).points[0]
    found = point.simulation(0).run(trace).metrics
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    return [(line["start"] // 10**6, line["kind"], line["from"], line["to"]) for line in lines if "kind" in line], found


class Once(Oful):
    """One agent deposits after its decision of slot 10, and nobody ever else."""

    who: int = 0

    def wants(self, slot, agents):
        return (slot == 10) & (agents == self.who)


@pytest.mark.ci
def test_what_is_hosted_by_an_agent_goes_hop_by_hop(tmp_path):
    hops, found = deposits_of(0, tmp_path)
    assert hops == [(10, "UPLOAD", 0, 1), (11, "UPLOAD", 1, 2), (12, "ANSWER", 2, 1), (13, "ANSWER", 1, 0)]
    assert (found["messages"], found["uploads"], found["downloads"]) == (4, 1, 1)
    assert found["round_slots"] == 4
    hops, found = deposits_of(2, tmp_path)
    assert hops == []
    assert (found["messages"], found["uploads"], found["round_slots"]) == (0, 1, 0)
    hops, found = deposits_of(4, tmp_path, 'protocol.timing="asynchronous"', 'links.peer.latency="0.25 ms"')
    assert len(hops) == 4
    assert found["round_slots"] == 1


def test_a_lost_answer_stops_the_test_until_the_deadline():
    lossy = ("links.uplink.loss=1.0", "run.horizon=400")
    found = metrics(*lossy, 'protocol.deadline="20 ms"', "learner.upload=1")
    assert found["uploads"] == 4 * 400 / 20
    assert found["downloads"] == 0


def test_what_is_repeated_needs_no_deadline():
    retry = 'links.uplink.retry={ timeout = "9 ms" }'
    assert metrics("links.uplink.loss=0.2", retry)["uploads"] > 5


def problems(*overrides):
    with pytest.raises(ScenarioError) as error:
        check(load("scenario.toml", overrides, text=SCENARIO))
    return error.value.lines


@pytest.mark.parametrize(
    ("keys", "key", "text"),
    [
        ([LAGGING, 'learner.decide="received"'], "protocol.answer", 'must be "uploader"'),
        (['faults.server={ up_for = "90 ms", down_for = "9 ms" }'], "protocol.deadline", "is missing"),
        (
            ["protocol.server=0", 'faults.nodes={ up_for = "90 ms", down_for = "9 ms" }'],
            "protocol.deadline",
            "is missing",
        ),
        (["links.uplink.loss=0.1"], "protocol.deadline", "is missing"),
        (['protocol.server="centre"', "links.peer.loss=0.1"], "protocol.deadline", "is missing"),
        (["protocol.server=4"], "protocol.server", "must be an agent, from 0 to 3"),
        (['protocol.server="middle"'], "protocol.server", 'must be "uplink", "centre" or the number of an agent'),
        (['learner.radius="big"'], "learner.radius", 'must be "logdet", "trace" or a number >= 0'),
        (["learner.threshold=-1"], "learner.threshold", 'must be "dislinucb" or a number >= 0'),
        (["learner.upload=0.5"], "learner.upload", "1"),
        (['learner.schedule="fixed"'], "learner.every", "is missing"),
        (['learner={ kind = "feducb" }'], "protocol.kind", "offers no calls"),
        (
            ['topology={ family = "hybrid", components = [2, 2] }', 'protocol.server="centre"'],
            "protocol.server",
            "2 components",
        ),
    ],
)
def test_what_cannot_be_is_refused(keys, key, text):
    (line,) = problems(*keys)
    assert f"{key}: " in line
    assert text in line


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        (["learner.push=3"], "learner.push"),
        (["learner.threshold=3"], "learner.threshold"),
        (["learner.delta=0.2"], "learner.delta"),
        ([LAGGING, 'protocol.deadline="3 ms"'], "protocol.deadline"),
        (['protocol.kind="gis"', "learner.upload=3"], "learner.upload"),
        (['protocol.kind="silent"', 'learner.decide="received"'], "learner.decide"),
        (['learner={ kind = "linucb", every = 3 }'], "learner.every"),
    ],
)
def test_what_has_no_effect_is_noted(keys, key):
    (note,) = check(load("scenario.toml", keys, text=SCENARIO)).notes
    assert f"{key}: " in note


REPEATED = 'retry={ timeout = "9 ms", attempts = 3 }'


@pytest.mark.parametrize(
    ("keys", "table"),
    [
        (["links.uplink.loss=0.1", f"links.uplink.{REPEATED}"], "uplink"),
        (['faults.server={ up_for = "90 ms", down_for = "9 ms" }', f"links.uplink.{REPEATED}"], "uplink"),
        (["protocol.server=0", "links.peer.loss=0.1", f"links.peer.{REPEATED}"], "peer"),
    ],
)
def test_an_uploader_that_may_wait_for_ever_is_noted_with_what_ends_it(keys, table):
    (note,) = check(load("scenario.toml", keys, text=SCENARIO)).notes
    assert f"links.{table}.retry.attempts: an agent whose upload or answer is lost 3 times waits for ever" in note
    assert "protocol.deadline ends its wait, and more attempts" in note
    for mended in ('protocol.deadline="30 ms"', LAGGING):
        assert check(load("scenario.toml", [*keys, mended], text=SCENARIO)).notes == []


@pytest.mark.ci
def test_uploads_wait_for_their_uplink_as_in_a_queue_of_constant_service(tmp_path):
    """M/D/1: rho s / (2 (1 - rho)); an uplink a batch, 4.5 standard errors of their mean."""
    gap, service, agents, upload_bits = 20, 16, 40, 8 * 68
    text = f"""
        run = {{ horizon = 600, slot = "{gap} ms", activity = {{ poisson = "{gap} ms" }} }}
        topology = {{ family = "star", agents = {agents} }}
        links.uplink.bandwidth = "{upload_bits // service} kbit/s"
        bandit = {{ kind = "linear", dimension = 2, arms = 3 }}
        learner = {{ kind = "oful", upload = 1.0, push = inf }}
        protocol = {{ kind = "parameter-server", answer = "lagging", timing = "asynchronous" }}
    """
    use = study(tmp_path, text=text).points[0].simulation(0).run().uplinks
    assert (use.bytes * 8 == upload_bits * use.messages).all()
    waits = use.waited / use.messages / 1e6
    load = service / gap
    error = waits.std(ddof=1) / np.sqrt(agents)
    assert abs(waits.mean() - load * service / (2 * (1 - load))) < 4.5 * error < 10
