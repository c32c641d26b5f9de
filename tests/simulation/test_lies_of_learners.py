"""Liars among learners that decide in slots: what is counted, what is left out, and that nothing else moves."""

from unittest.mock import patch

import numpy as np
import pytest
from helpers.scenes import study

from netbandit.byzantine.adversaries.false_sums import Sums
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation import byzantine_replies, byzantine_sums, byzantine_vectors
from netbandit.simulation.execution import executed

ARMS = """\
run = { horizon = 120 }
topology = { family = "complete", agents = 7 }
links.peer = { latency = "1 ms" }
bandit = { kind = "bernoulli", means = [0.3, 0.4, 0.5, 0.9] }
learner = { kind = "ucb", share = "totals" }
protocol = { kind = "local" }
"""
VECTORS = """\
run = { horizon = 120 }
topology = { family = "complete", agents = 7 }
links = { peer = { latency = "1 ms" }, uplink = { latency = "1 ms" } }
bandit = { kind = "linear", dimension = 3, arms = 4 }
learner = { kind = "oful", threshold = 1.0, radius_scale = 0.3 }
protocol = { kind = "gis" }
"""
MARKET = """\
run = { horizon = 100 }
topology = { family = "complete", agents = 7 }
bandit = { kind = "procurement", producers = 4, capacity = [1, 9] }
learner = { kind = "pfcb", start = 10, stop = 80, share = "exact" }
protocol = { kind = "relay" }
"""
LIARS = ("adversary.agents=[1, 4]",)

SUMS = {
    "gis": (),
    "master-worker": ("learner.schedule=fixed", "learner.every=10"),
    "sink": (),
    "local": ("protocol.ttl=1",),
    "pooled": (),
    "parameter-server": ("learner.upload=1.2",),
    "linucb": ("learner.kind=linucb", "learner.every=10"),
    "feducb": ("learner.kind=feducb", "learner.epsilon=inf", "learner.threshold=1.0"),
}


def made(folder, text, *overrides):
    return study(folder, *overrides, text=text)


def run(folder, text, *overrides):
    return made(folder, text, *overrides).points[0].simulation(0).run()


def sums_over(name):
    if name in ("linucb", "feducb"):
        own = [key for key in SUMS[name] if "threshold" not in key or name == "feducb"]
        text = VECTORS.replace('kind = "oful", threshold = 1.0, radius_scale = 0.3', f'kind = "{name}"')
        return text, own
    return VECTORS, [f"protocol.kind={name}", *SUMS[name]]


def refused(folder, text, *overrides):
    with pytest.raises(ScenarioError) as error:
        made(folder, text, *overrides)
    return str(error.value)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", SUMS)
def test_liars_that_tell_the_truth_are_only_not_counted_in_sums(tmp_path, name):
    text, own = sums_over(name)
    before, found = run(tmp_path, text, *own), run(tmp_path, text, *own, *LIARS, "adversary.attack=none")
    assert found.fingerprint == before.fingerprint
    assert found.kinds == before.kinds
    assert found.metrics["lies"] == found.metrics["rejected"] == 0
    assert 0 < found.metrics["regret"] < before.metrics["regret"]
    assert found.metrics["regret_per_agent"] == found.metrics["regret"] / 5
    assert found.metrics["regret_per_agent"] <= found.metrics["regret_worst_agent"] <= found.metrics["regret"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "own"),
    [
        (ARMS, ()),
        (ARMS, ("learner.kind=klucb",)),
        (ARMS, ("protocol.kind=relay",)),
        (ARMS, ("protocol.kind=pooled", "protocol.when=pull")),
        (MARKET, ()),
        *[(ARMS, (f"learner={{kind='{kind}'}}", "protocol.kind=consensus")) for kind in ("coop-ucb2", "dec-ucb")],
        (ARMS, ("learner={kind='gosine', power=2}", "protocol.kind=gossip", "bandit={kind='bernoulli', arms=14}")),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_liars_that_tell_the_truth_are_only_not_counted(tmp_path, text, own):
    before, found = run(tmp_path, text, *own), run(tmp_path, text, *own, *LIARS, "adversary.attack=none")
    assert found.fingerprint == before.fingerprint
    assert found.metrics["lies"] == found.metrics["rejected"] == 0
    assert found.metrics["regret"] < before.metrics["regret"]
    decisions = 5 * 1000 * found.metrics["simulated_s"]
    assert found.metrics["regret_per_decision"] == pytest.approx(found.metrics["regret"] / decisions)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("robust", ["geometric", "median", "trimmed", "krum"])
def test_every_defence_of_sums_runs_everywhere(tmp_path, name, robust):
    text, own = sums_over(name)
    found = run(tmp_path, text, *own, *LIARS, "adversary.attack=swap", f"learner.robust={robust}")
    assert found.metrics["lies"] > 0
    assert found.metrics["rejected"] == found.metrics["outnumbered"] == 0
    assert np.isfinite(found.metrics["regret"])


@pytest.mark.ci
def test_a_sum_is_turned_by_lies_and_a_geometric_median_is_not(tmp_path):
    more = ("run.horizon=600", "run.seed=3", *LIARS, "adversary.attack=swap")
    truth, turned = run(tmp_path, VECTORS, *more[:2]), run(tmp_path, VECTORS, *more)
    held = run(tmp_path, VECTORS, *more, "learner.robust=geometric")
    assert turned.metrics["regret_per_agent"] > 3 * truth.metrics["regret_per_agent"]
    assert held.metrics["regret_per_agent"] < turned.metrics["regret_per_agent"] / 3


@pytest.mark.sampled(6)
@pytest.mark.parametrize("attack", ["flip", "inflate", "collude", "swap", "topple", "noise", "constant", "stale"])
@pytest.mark.parametrize("text", [ARMS, VECTORS, MARKET], ids=["totals", "sums", "statistics"])
def test_what_could_be_true_is_never_left_out(tmp_path, text, attack):
    found = run(tmp_path, text, *LIARS, f"adversary.attack={attack}")
    assert found.metrics["rejected"] == 0
    assert found.metrics["lies"] > 0


def test_sums_that_are_too_heavy_are_left_out(tmp_path):
    found = run(tmp_path, VECTORS, *LIARS, "adversary.attack=inflate", "adversary.range=any")
    assert found.metrics["rejected"] > 0


WRONG_SUMS = {
    "nan": lambda truth: truth._replace(response=np.full(3, np.nan)),
    "infinite": lambda truth: truth._replace(gram=np.full((3, 3), np.inf)),
    "huge": lambda truth: truth._replace(response=np.full(3, 1e300)),
    "negative": lambda truth: truth._replace(gram=-truth.gram),
    "asymmetric": lambda truth: truth._replace(gram=truth.gram + np.triu(np.ones((3, 3)), 1)),
    "shape": lambda truth: truth._replace(gram=np.zeros((2, 2))),
    "long": lambda truth: truth._replace(response=np.zeros(4)),
    "text": lambda truth: "sums",
    "none": lambda truth: None,
    "heavy": lambda truth: Sums(1e18 * truth.gram, truth.response, 1e18),
}


@pytest.mark.sampled(18)
@pytest.mark.parametrize("wrong", WRONG_SUMS)
@pytest.mark.parametrize("name", ["gis", "parameter-server"])
def test_sums_that_cannot_be_true_never_enter_an_estimate(tmp_path, wrong, name):
    text, own = sums_over(name)
    point = made(tmp_path, text, *own, *LIARS, "adversary.attack=swap", "run.horizon=60").points[0]
    with patch.object(byzantine_sums, "false_sums", lambda attack, view, rng: WRONG_SUMS[wrong](view.truth)):
        found = point.simulation(0).run()
    mute = run(tmp_path, text, *own, *LIARS, "adversary.attack=mute", "run.horizon=60")
    assert found.metrics["rejected"] > 0
    if name == "parameter-server":  # nobody waits for a liar, so its silence is the same
        assert found.metrics["regret"] == mute.metrics["regret"]
    else:
        assert mute.metrics["stalled"] > 0


@pytest.mark.sampled(10)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e300, -1.0, 1e18])
@pytest.mark.parametrize("protocol", ["local", "relay", "gis"])
def test_totals_that_cannot_be_true_are_as_silence(tmp_path, wrong, protocol):
    point = made(tmp_path, ARMS, *LIARS, f"protocol.kind={protocol}", "adversary.attack=swap").points[0]

    def lie(attack, view):
        return np.full_like(view.pulls, wrong), view.sums

    with patch.object(byzantine_vectors, "false_totals", lie):
        found = point.simulation(0).run()
    assert found.metrics["rejected"] > 0
    if protocol != "gis":
        mute = run(tmp_path, ARMS, *LIARS, f"protocol.kind={protocol}", "adversary.attack=mute")
        assert found.metrics["regret"] == mute.metrics["regret"]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0, 14.0, 0.5, 1e300, "text"])
def test_no_arm_is_recommended_that_is_none(tmp_path, wrong):
    own = ("learner={kind='gosine', power=2}", "protocol.kind=gossip", "bandit={kind='bernoulli', arms=14}")
    point = made(tmp_path, ARMS, *own, *LIARS, "adversary.attack=naive").points[0]
    with patch.object(byzantine_replies, "false_recommendation", lambda attack, view, rng: wrong):
        found = point.simulation(0).run()
    mute = run(tmp_path, ARMS, *own, *LIARS, "adversary.attack=mute")
    assert found.metrics["rejected"] > 0
    assert found.metrics["regret"] == mute.metrics["regret"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "own"),
    [
        (ARMS, ("adversary.attack=noise",)),
        (ARMS, ("adversary.attack=noise", "learner.robust=median")),
        (ARMS, ("adversary.attack=swap", "learner.kind=klucb", "learner.robust=resilient")),
        (ARMS, ("adversary.attack=flip", "protocol.kind=relay", "learner.robust=trimmed")),
        (ARMS, ("adversary.attack=noise", "learner={kind='coop-ucb2'}", "protocol.kind=consensus")),
        (VECTORS, ("adversary.attack=noise", "learner.robust=geometric")),
        (MARKET, ("adversary.attack=noise",)),
    ],
)
def test_plain_and_compiled_runs_agree_with_liars_in(tmp_path, text, own):
    point = made(tmp_path, text, *LIARS, *own, "run.horizon=60").points[0]
    found = []
    for how in ("plain", "compiled"):
        with executed(how):
            found.append(point.simulation(0).run())
    assert found[0].fingerprint == found[1].fingerprint
    assert {**found[0].metrics, "wall_s": 0} == {**found[1].metrics, "wall_s": 0}


APART = {
    "loss": ("links.peer.loss=0.1",),
    "jitter": ("links.peer.jitter=3 ms",),
    "duplicates": ("links.peer.duplicate=0.3",),
    "latencies": ("links.peer.latency={uniform=['1 ms', '9 ms']}",),
    "pace": ("protocol.pace=slot", "links.peer.latency=4 ms"),
    "changes": ("topology.changes={up_for='5 ms', every='12 ms', phase='stagger'}", "topology.neighbours=unknown"),
    "outages": ("faults.links={up=0.7}",),
}
"""What makes rows of exchanges take different times."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("kind", "attack", "apart"),
    [
        *[("coop-ucb2", "flip", apart) for apart in APART],
        *[(kind, "noise", "loss") for kind in ("coop-ucb2", "dducb", "dec-ucb")],
        ("dec-ucb", "mute", "loss"),
    ],
)
def test_liars_lie_in_exchanges_whose_rows_take_different_times(tmp_path, kind, attack, apart):
    own = ("topology.family=ring", f"learner={{kind='{kind}'}}", "protocol.kind=consensus", *APART[apart])
    point = made(tmp_path, ARMS, *LIARS, *own, f"adversary.attack={attack}", "run.horizon=60").points[0]
    found = []
    for how in ("plain", "chosen"):
        with executed(how):
            found.append(point.simulation(0).run())
    assert found[0].fingerprint == found[1].fingerprint
    assert {**found[0].metrics, "wall_s": 0} == {**found[1].metrics, "wall_s": 0}
    if attack != "mute":
        assert found[0].metrics["lies"] > 0


def test_resilient_agents_on_a_ring_decide_alone_if_one_of_two_neighbours_may_lie(tmp_path):
    ring = ("topology.family=ring", "learner.robust=resilient", "learner.tolerate=1")
    found = run(tmp_path, ARMS, *ring, *LIARS, "adversary.attack=swap")
    alone = run(tmp_path, ARMS, *ring, "protocol.kind=silent", *LIARS, "adversary.attack=none")
    assert found.metrics["regret"] == alone.metrics["regret"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "fault", ["links.peer.loss=0.2", "faults.nodes={up_for='30 ms', down_for='5 ms', memory='lost'}"]
)
@pytest.mark.parametrize(
    ("text", "own"),
    [
        (ARMS, ("learner.robust=median",)),
        (VECTORS, ("learner.robust=geometric", "protocol.deadline=4 ms")),
        (VECTORS, ("learner.robust=trimmed", "protocol.kind=parameter-server")),
    ],
)
def test_lies_over_networks_that_fail(tmp_path, text, own, fault):
    found = run(tmp_path, text, *own, fault, *LIARS, "adversary.attack=swap")
    assert 0 < found.metrics["lies"] < 1
    assert found.metrics["rejected"] == 0
    assert np.isfinite(found.metrics["regret"])


@pytest.mark.parametrize(
    ("text", "overrides", "said"),
    [
        (ARMS, ["adversary.attack=hidden"], "whose agents tell pulls and rewards: must be"),
        (ARMS, ["adversary.attack=naive"], "whose agents tell pulls and rewards: must be"),
        (ARMS, ["learner={kind='dducb'}", "protocol.kind=consensus", "adversary.attack=flip", "adversary.range=any"],
         "a step cannot leave out"),
        (ARMS, ["learner={kind='thompson', share='totals', robust='median'}", "adversary.attack=flip"], "posterior"),
        (VECTORS, ["learner={kind='feducb'}", "adversary.attack=flip"], "makes the truth look like a lie"),
        (VECTORS, ["learner={kind='feducb', robust='median'}", "adversary.attack=flip"], "cannot be told from a lie"),
        (VECTORS, ["learner.robust=krum", "learner.tolerate=3", "adversary.attack=flip"], "needs 9 contributions"),
        (VECTORS, ["learner.robust=trimmed", "protocol.kind=local", "protocol.ttl=1", "topology.family=ring",
                   "adversary.attack=flip"], "at one place"),
        (MARKET, ["learner.robust=median", "adversary.attack=flip"], "band and weight are the defence"),
    ],
)  # fmt: skip
def test_what_is_not_possible_is_said(tmp_path, text, overrides, said):
    assert said in refused(tmp_path, text, *LIARS, *overrides)
