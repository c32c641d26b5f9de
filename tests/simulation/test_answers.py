"""Answers, when agents stop, and runs that end with the last answer."""

import numpy as np
import pytest

import netbandit as nb
from netbandit.checks.check import check
from netbandit.conditions.answering import enough
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load
from netbandit.simulation.answers import ANSWERS
from netbandit.studies.emulation.limits import refusals
from netbandit.user_code.errors import ReturnedError

TEXT = """
run = { horizon = 400, slot = "1 ms", until = "answered" }
topology = { family = "ring", agents = 6 }
links = { peer.latency = "2.5 ms", uplink.latency = "2.5 ms" }
bandit = { kind = "bernoulli", means = [0.2, 0.5, 0.9] }
learner = { kind = "helpers.own_learners:Counted", enough = 60 }
protocol = { kind = "relay" }
"""
HORIZON = ("run.until=horizon",)
ELIMINATION = ("learner={kind='elimination'}", "run.horizon=4000", "protocol.kind=master-worker")


def found(*overrides, cut=None):
    """Return the run, or its beginning: of so many slots, with a learner that plans for the whole horizon."""
    simulation = check(load("answers.toml", overrides, text=TEXT)).points[0].simulation(0)
    if cut is not None:
        simulation._horizon = cut
    return simulation.run()


def sure(*says, early="false"):
    return (f"learner={{kind='helpers.own_learners:Sure', says={list(says)}, early={early}}}",)


def metrics_of(*overrides):
    metrics = found(*overrides).metrics
    return {name: metrics[name] for name in ANSWERS if name in metrics}


def answers(run):
    return {name: run.metrics.get(name) for name in ANSWERS}


CASES = {
    "alone": ("protocol.kind=silent",),
    "relay": (),
    "relay, event by event": ("links.peer.overtaking=true", "links.peer.jitter=1 ms"),
    "to neighbours": ("protocol={kind='local'}",),
    "floods": ("protocol={kind='local', ttl=2, route='flood'}",),
    "pooled": ("protocol.kind=pooled",),
    "one after the other": ("protocol={kind='pooled', when='pull'}",),
    "rounds": ("protocol.kind=master-worker",),
    "gis": ("protocol.kind=gis",),
    "loss": ("links.peer.loss=0.3",),
    "outage": ("faults.outages=[{nodes=[2], from='4 ms', until='90 ms'}]",),
    "agents fail": ("faults.nodes={up_for='20 ms', down_for='6 ms'}",),
    "agents forget": ("faults.nodes={up_for='30 ms', down_for='4 ms', memory='lost'}",),
    "batteries": ("energy={capacity='30 uJ', idle='1 mW', recover=0.4, harvest='400 uW'}",),
    "liars": ("adversary={agents=[1], attack='flip'}", "learner={kind='helpers.own_learners:Counted', share='totals'}"),
    "some decide": ("run.activity={share=0.5}",),
    "users": ("run.activity={poisson='1.5 ms'}", "protocol.timing=asynchronous"),
    "late rewards": ("feedback={delay='7 slots'}",),
    "changing links": ("topology.changes={up=0.6}", "protocol={kind='local'}"),
    "elimination": ELIMINATION,
    "elimination alone": (*ELIMINATION, "protocol.kind=silent"),
    "elimination per agent": (*ELIMINATION, "protocol.kind=gis", "protocol.deadline='20 ms'"),
    "elimination, agents fail": (*ELIMINATION, "faults.nodes={up_for='90 ms', down_for='30 ms'}"),
    "elimination, agents forget": (
        *(*ELIMINATION, "protocol.kind=gis", "protocol.deadline='20 ms'"),
        "faults.nodes={up_for='2 s', down_for='30 ms', memory='lost'}",
    ),
    "elimination, late rewards": (*ELIMINATION, "feedback={delay={uniform=['1 ms', '30 ms']}}"),
}
"""What ends with the last answer."""
SOME_ARE_DOWN = ("outage", "agents fail", "batteries", "elimination, agents fail")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_a_run_until_all_have_answered_is_one_of_that_horizon(case, idle):
    """A prefix of the run to the limit in all that is counted, and the shortest after which all that are up stopped."""
    overrides = (*CASES[case], f"run.idle={str(idle).lower()}")
    if idle and case in ("some decide", "users"):
        with pytest.raises(ScenarioError, match=r'run.idle: needs run.activity = "every"'):
            found(*overrides)
        return
    run = found(*overrides)
    last = round(run.metrics["simulated_s"] * 1000)
    assert 2 < last < run.resolved["run"]["horizon"]
    other = found(*overrides, "run.until=horizon", cut=last)
    if not case.startswith("elimination"):  # its phases depend on the horizon
        assert other.metrics | {"wall_s": 0} == found(
            *overrides, f"run.horizon={last}", "run.until=horizon"
        ).metrics | {"wall_s": 0}
    run.metrics.pop("wall_s"), other.metrics.pop("wall_s")
    assert (run.fingerprint, run.metrics) == (other.fingerprint, other.metrics)
    assert run.metrics["answered"] > 0
    before = found(*overrides, "run.until=horizon", cut=last - 1)
    assert before.metrics["stop_slot"] is None or case in (
        "outage",
        "agents fail",
        "batteries",
        "elimination, agents fail",
    )
    for name, curve in run.curves.items():
        assert curve.slots[-1] == run.resolved["run"]["horizon"]
        np.testing.assert_allclose(curve.at(other.curves[name].slots), other.curves[name].values)


@pytest.mark.parametrize("protocol", ["silent", "relay", "master-worker", "pooled"])
def test_who_has_answered_is_idle(protocol):
    """It decides no more, sends nothing of its own, and over rounds no more than a header."""
    base = (f"protocol.kind={protocol}", "run.until=horizon")
    idle, busy = found(*base, "run.idle=true"), found(*base)
    ended = found(f"protocol.kind={protocol}")
    assert answers(idle) == answers(busy) == answers(ended)
    metrics = idle.metrics
    assert metrics["decisions"] == metrics["samples"] < 6 * 400 - busy.metrics["absent_slots"]
    assert metrics["regret"] == ended.metrics["regret"] < busy.metrics["regret"]
    assert metrics["messages"] <= busy.metrics["messages"] / 4
    assert metrics["regret_per_decision"] == metrics["regret"] / metrics["decisions"]


def test_over_rounds_agents_that_are_idle_send_headers_for_the_others():
    """Agent 0 knows enough from the beginning, and the others, which wait for its rows, go on."""
    idle, busy = (
        found(*sure(0, early="true"), "protocol.kind=master-worker", "run.horizon=12", *HORIZON, f"run.idle={idle}")
        for idle in ("true", "false")
    )
    assert idle.metrics["messages"] == busy.metrics["messages"] > 0
    assert idle.metrics["bytes"] < busy.metrics["bytes"]
    assert idle.metrics["decisions"] == 1 + 5 * 12


def test_one_agent_alone_stops_when_its_last_observation_is_known():
    alone = found("protocol.kind=silent").metrics
    assert (alone["stop_slot"], alone["stop_slot_mean"], alone["samples"]) == (60, 60.0, 360)
    late = found("protocol.kind=silent", "feedback={delay='7 slots'}").metrics
    assert (late["stop_slot"], late["samples"]) == (67, 402)


SOME = {"answered": 1.0, "stop_slot": 60, "stop_slot_mean": 60.0, "samples": 360}
WRONG = {"wrong": 0.5, "wrong_any": 1, "simple_regret": pytest.approx((0.4 + 0.7 + 0.4) / 6)}


def test_the_world_judges_answers():
    """Ties are all right; who has no answer is as good as a random one."""
    alone = "protocol.kind=silent"
    assert metrics_of(*sure(1, 2, 0), alone, "bandit.means=[0.9, 0.9, 0.9]") == {
        **SOME,
        "wrong": 0.0,
        "wrong_any": 0,
        "simple_regret": 0.0,
    }
    assert metrics_of(*sure(2, 1, 2, 0, 2, 1), alone) == SOME | WRONG
    nobody = sum((0.7, 0.4, 0.0)) / 3
    assert metrics_of(*sure(-1), alone)["simple_regret"] == pytest.approx(nobody)
    curve = found(*sure(-1), alone).curves["simple_regret"]
    np.testing.assert_allclose(curve.values, nobody)


def test_only_honest_agents_that_have_stopped_are_judged():
    liars = ("adversary={agents=[1, 3, 5], attack='flip'}", "protocol.kind=silent")
    found = metrics_of(*sure(2, 1, 2, 0, 2, 1), "learner.share=totals", *liars)
    assert found == SOME | {"samples": 180, "wrong": 0.0, "wrong_any": 0, "simple_regret": 0.0}
    early = metrics_of(*sure(1, 2, early="true"), "protocol.kind=silent", *HORIZON, "run.horizon=30")
    assert early["answered"] == 1 / 6
    assert (early["wrong"], early["wrong_any"], early["stop_slot"], early["stop_slot_mean"]) == (1.0, 1, None, 1.0)
    assert early["samples"] == 1 + 5 * 30


def test_where_means_differ_local_answers_are_judged_by_ones_own():
    means = "bandit={kind='helpers.own_learners:Own'}"
    metrics = metrics_of(*sure(1), means, "protocol.kind=silent")
    assert (metrics["wrong"], metrics["wrong_local"]) == (0.0, 1 / 6)
    metrics = metrics_of(*sure(0, 1, 1, 1, 1, 1), means, "protocol.kind=silent")
    assert (metrics["wrong"], metrics["wrong_local"]) == (1 / 6, 0.0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["ucb", "klucb", "thompson", "gosine", "elimination"])
def test_answers_do_not_depend_on_the_order_of_arms(kind):
    """In the mean: rewards are drawn anew. No learner of regret stops, and all find the best of few arms."""
    protocol = {"gosine": "gossip", "elimination": "master-worker"}.get(kind, "relay")
    base = (f"learner={{kind='{kind}'}}", f"protocol.kind={protocol}", *HORIZON, "run.horizon=3000")
    for means in ("[0.9, 0.2, 0.3, 0.1]", "[0.1, 0.2, 0.9, 0.3]"):
        metrics = metrics_of(*base, f"bandit.means={means}")
        assert (metrics["wrong"], metrics["wrong_any"], metrics["simple_regret"]) == (0.0, 0, 0.0)
        assert ("answered" in metrics) == (kind == "elimination")


@pytest.mark.parametrize(
    ("overrides", "refusal"),
    [
        (("learner.kind=ucb",), r'run.until: leave it out with learner.kind = "ucb", which never answers for good'),
        (("learner.kind=ucb", "run.idle=true", *HORIZON), r'run.idle: leave it out with learner.kind = "ucb"'),
        (
            ("run.idle=true", "energy={capacity='1 J', pull='1 uJ'}"),
            "energy.pull: with energy.capacity every agent must pull in every slot, but run.idle says otherwise",
        ),
    ],
)
def test_what_cannot_end_or_be_idle_is_refused(overrides, refusal):
    overrides = ("learner={kind='ucb'}", *overrides) if "learner.kind=ucb" in overrides else overrides
    with pytest.raises(ScenarioError, match=refusal):
        found(*overrides)


def test_a_check_says_how_many_replications_tell_an_error_from_twice_as_much():
    assert enough(0.05) == 184
    study = check(load("answers.toml", ("learner={kind='helpers.own_learners:Confident'}",), text=TEXT))
    assert [text for text in study.notes if "wrong_any" in str(text)]


def test_what_ends_early_is_not_emulated():
    point = check(load("answers.toml", (*ELIMINATION, "run.idle=true"), text=TEXT)).points[0]
    assert {path for path, _ in refusals(point, 0) if path[0] == "run"} == {("run", "until"), ("run", "idle")}


def test_wrong_returns_are_one_clear_line():
    class Far(nb.Learner):
        def start(self, world, agents, rng):
            pass

        def choose(self, slot, agents):
            return 0 * agents

        def learn(self, slot, agents, arms, rewards):
            pass

        def answers(self, agents):
            return agents + 1

    scenario = nb.Scenario(
        run={"horizon": 3},
        topology={"family": "ring", "agents": 4},
        bandit={"kind": "bernoulli", "means": [0.1, 0.2]},
        learner={"kind": Far},
        protocol={"kind": "silent"},
    )
    with pytest.raises(ReturnedError, match=r"Far.answers must return an arm from 0 to 1, or -1, for each of its 4 ag"):
        check(scenario.document()).points[0].simulation(0).run()


def test_a_run_that_ends_with_the_answers_says_when_each_came_and_which_are_wrong():
    run = found(*sure(2, 1, early="true"), "protocol.kind=silent")
    assert run.nodes.answered.tolist() == [1, 60, 60, 60, 60, 60]
    assert run.nodes.wrong.tolist() == [0, 1, 0, 1, 0, 1]
    some = found(*sure(2, early="true"), "protocol.kind=silent", "run.horizon=30")
    np.testing.assert_array_equal(some.nodes.wrong, [0] + 5 * [np.nan])
    assert found(*sure(2), *HORIZON).nodes is None
