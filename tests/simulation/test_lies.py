"""Runs with liars: what is counted, what reaches honest agents, and that nothing else moves."""

from unittest.mock import patch

import numpy as np
import pytest
from helpers.scenes import study

from netbandit.network.fingerprint import Fingerprint
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation import byzantine_items

SCENE = """\
run = { horizon = 3_000 }
topology = { family = "ring", agents = 9 }
links.peer = { latency = "1 ms" }
bandit = { kind = "bernoulli", means = [0.3, 0.4, 0.5, 0.9] }
learner = { kind = "elimination" }
protocol = { kind = "gis" }
"""
LIARS = ("adversary.agents=[1, 4, 7]",)
PROTOCOLS = ("gis", "flooding", "gossip", "relay", "sink", "master-worker", "local", "pooled")


def made(folder, *overrides):
    return study(folder, *overrides, text=SCENE)


def run(folder, *overrides, replication=0):
    return made(folder, *overrides).points[0].simulation(replication).run()


def refused(folder, *overrides):
    with pytest.raises(ScenarioError) as error:
        made(folder, *overrides)
    return str(error.value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_where_nobody_lies_everything_is_as_without_the_table(tmp_path, protocol):
    before = run(tmp_path, f"protocol.kind={protocol}")
    for quiet in (["adversary.share=0.0", "adversary.attack=swap"], ["adversary.share=0.1", "adversary.attack=swap"]):
        found = run(tmp_path, f"protocol.kind={protocol}", *quiet)
        assert found.fingerprint == before.fingerprint
        own = {"lies": 0, "rejected": 0, "wall_s": found.metrics["wall_s"]}
        assert found.metrics == {**before.metrics, **own}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_liars_that_tell_the_truth_are_only_not_counted(tmp_path, protocol):
    before = run(tmp_path, f"protocol.kind={protocol}")
    found = run(tmp_path, f"protocol.kind={protocol}", *LIARS, "adversary.attack=none")
    assert found.fingerprint == before.fingerprint
    assert found.kinds == before.kinds
    assert found.metrics["lies"] == 0
    assert 0 < found.metrics["regret"] < before.metrics["regret"]
    assert found.metrics["regret_per_agent"] == found.metrics["regret"] / 6
    assert found.metrics["regret_per_decision"] == found.metrics["regret"] / 6 / 3000


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_lies_turn_the_mean_and_not_the_median(tmp_path, protocol):
    swap = (f"protocol.kind={protocol}", *LIARS, "adversary.attack=swap", "links.uplink.latency=1 ms")
    fooled = run(tmp_path, *swap, "protocol.ttl=4" if protocol == "local" else "run.seed=0")
    held = run(tmp_path, *swap, "protocol.ttl=4" if protocol == "local" else "run.seed=0", "learner.robust=median")
    assert fooled.metrics["best_lost"] == 1
    assert held.metrics["best_lost"] == 0
    assert held.metrics["regret"] < fooled.metrics["regret"]
    assert fooled.metrics["rejected"] == held.metrics["rejected"] == 0
    assert held.metrics["lies"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("robust", ["trimmed", "geometric", "median-of-means", "krum"])
def test_other_rules_hold_too(tmp_path, robust):
    found = run(tmp_path, *LIARS, "adversary.attack=swap", f"learner.robust={robust}")
    assert found.metrics["best_lost"] == 0


def test_over_silent_no_lie_is_heard(tmp_path):
    truth = run(tmp_path, "protocol.kind=silent", *LIARS, "adversary.attack=none")
    lie = run(tmp_path, "protocol.kind=silent", *LIARS, "adversary.attack=swap")
    assert lie.fingerprint == truth.fingerprint
    assert lie.metrics["regret"] == truth.metrics["regret"]
    assert lie.metrics["lies"] == 0


def test_lies_begin_when_they_begin(tmp_path):
    swap = (*LIARS, "adversary.attack=flip", "bandit.means=[0.4, 0.5, 0.55, 0.6]", "run.horizon=10000")
    always, later = run(tmp_path, *swap), run(tmp_path, *swap, "adversary.from=1 s")
    never = run(tmp_path, *swap, "adversary.from=20 s")
    assert always.metrics["lies"] > later.metrics["lies"] > never.metrics["lies"] == 0


@pytest.mark.parametrize(
    "wrong", [np.nan, np.inf, -np.inf, 1e300, 1.5, "shape", "text", "none", "columns"], ids=lambda word: f"{word}"
)
@pytest.mark.parametrize("more", [(), ("protocol.deadline=60 ms",), ("protocol.kind=sink",)])
def test_what_cannot_be_true_never_enters_an_estimate(tmp_path, wrong, more):
    """Arms are dropped as if liars were not there: with the others' mean, and never later than without anything."""

    def lie(attack, view, rng):
        if wrong == "shape":
            return np.zeros(len(view.arms) + 1)
        if wrong == "columns":
            return np.zeros((len(view.arms), 2))
        if wrong == "text":
            return np.array(["x"] * len(view.arms))
        return None if wrong == "none" else np.full(len(view.arms), wrong)

    point = made(tmp_path, *LIARS, "adversary.attack=swap", "adversary.range=any", *more).points[0]
    with patch.object(byzantine_items, "false_means", lie):
        found = point.simulation(0).run()
    assert found.metrics["best_lost"] == 0
    assert found.metrics["rejected"] > 0 or wrong == "none"
    assert np.isfinite(found.metrics["regret"])


def test_where_all_that_is_heard_is_wrong_nobody_drops_an_arm(tmp_path):
    many = "adversary.agents=[0, 1, 2, 3, 4, 5, 6, 7]"
    with patch.object(byzantine_items, "false_means", lambda attack, view, rng: np.full(len(view.arms), np.nan)):
        point = made(
            tmp_path, many, "adversary.attack=flip", "protocol.kind=master-worker", "learner.participation=0.1"
        ).points[0]
        found = point.simulation(0).run()
    assert found.metrics["rejected"] > 0
    assert np.isfinite(found.metrics["regret"])


def test_honest_agents_have_the_same_luck_under_every_attack(tmp_path):
    """The first contributions of honest agents are the same, whoever lies and how."""
    told = {}
    real = byzantine_items.MeanLies.sent

    def noted(self, agent, arms, truth, releases=None):
        told.setdefault((self._plan.attack, agent), truth.copy())
        return real(self, agent, arms, truth, releases)

    with patch.object(byzantine_items.MeanLies, "sent", noted):
        for attack in ("none", "noise", "swap"):
            run(tmp_path, *LIARS, f"adversary.attack={attack}")
    for agent in (0, 2, 3):
        assert told["none", agent].tolist() == told["noise", agent].tolist() == told["swap", agent].tolist()


def test_covered_widths_keep_the_best_arm_where_plain_ones_do_not(tmp_path):
    """11 of 25 agents lie: the median's bias is far above what the plain width allows for."""
    near_half = (
        *("topology.agents=25", "topology.family=complete", "run.horizon=20000", "adversary.share=0.44"),
        *("bandit.means=[0.5, 0.55]", "adversary.attack=swap", "learner.robust=median"),
    )
    plain = [run(tmp_path, *near_half, replication=number) for number in range(5)]
    covered = [run(tmp_path, *near_half, "learner.widths=covered", replication=number) for number in range(5)]
    assert sum(each.metrics["best_lost"] for each in plain) >= 3
    assert sum(each.metrics["best_lost"] for each in covered) == 0


def test_who_lies_is_drawn_afresh_or_placed(tmp_path):
    star = ("topology.family=star", "adversary.share=0.12", "adversary.attack=flip")
    drawn, placed = made(tmp_path, *star).points[0], made(tmp_path, *star, "adversary.place=degree").points[0]

    def liars(point, number):
        return point.simulation(number).context(point.topology(number), Fingerprint(), None).lies.liars

    assert liars(placed, 0) == liars(placed, 1) == {0}
    assert len({liars(drawn, number) for number in range(8)}) > 1


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (["adversary.share=0.2"], "adversary: selects liars without an attack"),
        (["adversary.attack=flip"], "adversary: has an attack without liars"),
        (["adversary.share=0.2", "adversary.agents=[1]", "adversary.attack=flip"], "only one of them may select"),
        (["adversary.share=0.2", "adversary.attack=flp"], 'did you mean "flip"?'),
        (["adversary.share=0.2", "adversary.attack=flip", "adversary.target=best"], 'must be "worst", "second" or'),
        (["adversary.agents=[1, 44]", "adversary.attack=flip"], "adversary.agents[1]: the graph has no agent 44"),
        (["adversary.agents=[1, 1]", "adversary.attack=flip"], "adversary.agents[1]: 1 stands twice"),
        (["topology.agents=3", "adversary.agents=[0, 1, 2]", "adversary.attack=flip"], "somebody must be honest"),
        (["adversary.share=0.2", "adversary.attack=collude", "adversary.target=4"], "the bandit has arms 0 to 3"),
        (["adversary.share=0.2", "adversary.attack=hidden", "protocol.kind=local"], 'cannot be "hidden"'),
        (
            ["adversary.share=0.2", "adversary.attack=flip", "learner.kind=ucb"],
            "no lie is defined for single observations",
        ),
        (
            ["learner.kind=ucb", "learner.robust=median"],
            'must be "mean" with share = "observations"',
        ),
        (
            ["learner.kind=dducb", "protocol.kind=consensus", "learner.robust=median"],
            "learner.robust: unknown key: agents mix",
        ),
        (
            ["learner.kind=gosine", "protocol.kind=gossip", *LIARS, "adversary.attack=flip"],
            "tell an arm to those that ask",
        ),
        (["learner.kind=gosine", "protocol.kind=gossip", "learner.robust=median"], "nothing to combine: block is"),
        (["learner.robust=trimmed", "learner.tolerate=5"], "needs 11 contributions, and there are 9 at one place"),
        (["learner.robust=krum", "learner.tolerate=4"], "needs 11 contributions, and there are 9"),
        (["learner.robust=median-of-means", "learner.groups=10"], "learner.groups: robust"),
        (["learner.robust=geometric", "protocol.kind=local"], "combined arm by arm"),
        (["learner.robust=krum", "learner.widths=covered"], "how far it strays with liars is not known"),
        (["learner.robust=median", "learner.widths=covered", "learner.epsilon=1.0"], "values without noise"),
        (["learner.robust=median", "learner.widths=covered", "learner.tolerate=5"], "half of all, or more"),
        (["learner.robust=median", "learner.widths=covered", "protocol.deadline=50 ms"], "is not known"),
        *[
            ([f"learner.robust={rule}", "learner.widths=covered", "protocol.kind=silent", *more], "holds no lies")
            for rule in ("median", "trimmed", "median-of-means")
            for more in ([], ["learner.tolerate=1"], [*LIARS, "adversary.attack=flip"])
        ],
    ],
)
def test_what_is_not_possible_is_said(tmp_path, overrides, text):
    assert text in refused(tmp_path, *overrides)


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        (["adversary.share=0.2", "adversary.attack=flip", "protocol.kind=silent"], "nobody hears a lie"),
        (["adversary.share=0.1", "adversary.attack=flip"], "less than one: nobody lies"),
        (["adversary.share=0.2", "adversary.attack=flip", "adversary.target=second"], "is used only with attack"),
        (["learner.robust=median", "protocol.kind=silent"], "agents never communicate"),
        (["learner.tolerate=2"], "which needs no number"),
        (["learner.robust=median", "adversary.agents=[0,1,2,3,4]", "adversary.attack=flip"], "nothing helps"),
        (["learner.robust=trimmed", "learner.tolerate=1", *LIARS, "adversary.attack=flip"], "3 agents lie, more than"),
    ],
)
def test_what_has_no_effect_is_noted(tmp_path, overrides, text):
    assert any(text in str(note) for note in made(tmp_path, *overrides).notes)
