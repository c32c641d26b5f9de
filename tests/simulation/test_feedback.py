"""Rewards that are learned later than they are paid."""

from itertools import repeat

import numpy as np
import pytest
from helpers.feedback_reference import follow
from helpers.scenes import study

from netbandit.execution import executed
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.feedback import Feedback
from netbandit.simulation.slot_worlds import ActionSetWorld, ArmWorld

SLOT = 1_000_000


@pytest.fixture
def decisions(monkeypatch):
    """Note each decision: slot, agent, arm, reward, and the vectors shown, or None."""
    found = []
    for world in (ArmWorld, ActionSetWorld):

        def pull(self, slot, agents, arms, original=world.pull):
            shown = self.actions(agents).copy() if isinstance(self, ActionSetWorld) else [None] * len(agents)
            rewards, missed = original(self, slot, agents, arms)
            found.extend(zip(repeat(slot), agents.tolist(), arms.tolist(), rewards.tolist(), shown))
            return rewards, missed

        monkeypatch.setattr(world, "pull", pull)
    return found


def scene(learner, feedback, *, agents=2, means=(0.6, 0.5, 0.3), slots=80, bandit=None, protocol="silent", **others):
    tables = {
        "run": {"horizon": slots, "slot": "1 ms"},
        "topology": {"family": "path", "agents": agents} if agents > 1 else {"family": "path", "agents": 1},
        "bandit": bandit or {"kind": "bernoulli", "means": list(means)},
        "learner": learner,
        "protocol": {"kind": protocol},
        "feedback": feedback,
        **others,
    }
    return toml_text({key: table for key, table in tables.items() if table})


def runs(folder, text):
    """Return the runs of a scene, event by event and compiled, which are alike."""
    point = study(folder, text=text).points[0]
    found = []
    for way in ("plain", "compiled"):
        with executed(way):
            found.append(point.simulation(0).run())
    assert found[0].fingerprint == found[1].fingerprint
    keys = ("regret", "feedback_slots", "outstanding", "outstanding_most", "censored", "feedback_late")
    assert [found[0].metrics.get(key) for key in keys] == pytest.approx([found[1].metrics.get(key) for key in keys])
    return found[0]


def _laws(rng):
    return [
        "0 ms",
        f"{rng.integers(1, 25)} slots",
        f"{rng.integers(1, 9)}.5 ms",
        {"uniform": ["0 ms", f"{rng.integers(1, 20)} ms"]},
        {"geometric": float(rng.integers(1, 15))},
        {"exponential": f"{rng.integers(1, 15)} ms"},
        {"lognormal": [f"{rng.integers(1, 10)} ms", 0.8]},
        {"pareto": [f"{rng.integers(1, 6)} ms", 1.2]},
    ]


def _some_feedback(rng, agents, arms, windowed):
    def law():
        return _laws(rng)[rng.integers(8)]

    shape = rng.integers(4)
    found = {"delay": law()}
    if shape == 2:
        found = {"by_arm": [law() for _ in range(arms)]}
    elif shape == 3:
        found = {"by_agent": [law() for _ in range(agents)]}
    if rng.random() < 0.4:
        found["never"] = 0.3 if rng.random() < 0.5 else [round(float(one), 2) for one in rng.random(arms)]
    if windowed or rng.random() < 0.4:
        found["window"] = f"{rng.integers(2, 30)} slots"
        if rng.random() < 0.5:
            found["missing"] = "zero"
    if (windowed or found.get("missing") == "zero") and rng.random() < 0.5:
        found["reports"] = "nonzero"
    return found


def _some_learner(kind, rng):
    if kind == "queued":
        return {"kind": kind, "base": {"kind": str(rng.choice(["ucb", "klucb", "thompson"]))}}
    if kind == "otflinucb":
        return {"kind": kind, "bonus": str(rng.choice(["paper", "tight"])), "scale": 0.5, "delta": 0.1}
    keys = {"kind": kind}
    if kind != "thompson" and rng.random() < 0.3:
        keys["counts"] = "pulled"
    elif rng.random() < 0.2:
        keys["discount"] = 0.97
    return keys


@pytest.mark.parametrize("kind", ["ucb", "klucb", "thompson", "queued", "otflinucb"])
def test_each_decision_is_that_of_a_reference_written_apart(tmp_path, decisions, kind):
    rng = np.random.default_rng(49)
    late = 0
    for _ in range(40):
        agents, arms = int(rng.integers(1, 4)), int(rng.integers(2, 5))
        bandit = {"kind": "linear", "dimension": 3, "arms": arms, "actions": str(rng.choice(["fixed", "fresh"]))}
        bandit["rewards"] = "bernoulli"
        if kind != "otflinucb":
            bandit = {"kind": "bernoulli", "means": [round(float(mean), 2) for mean in rng.random(arms)]}
        learner, feedback = _some_learner(kind, rng), _some_feedback(rng, agents, arms, kind == "otflinucb")
        text = scene(learner, feedback, agents=agents, bandit=bandit)
        decisions.clear()
        with executed("plain"):
            study(tmp_path, text=text).points[0].simulation(0).run()
        assert len(decisions) == 80 * agents
        tables = {"slot": SLOT, "agents": agents, "arms": arms, "learner": learner, "feedback": feedback}
        late += follow(tables, decisions)
    assert late > 3_000  # else nothing was late


LEARNERS = [
    {"kind": "ucb"},
    {"kind": "ucb", "counts": "pulled"},
    {"kind": "klucb"},
    {"kind": "thompson"},
    {"kind": "coop-ucb2"},
    {"kind": "queued", "base": {"kind": "klucb"}},
]


@pytest.mark.parametrize("delay", ["0 ms", "1 slot", "0.2 ms"])
@pytest.mark.parametrize("learner", LEARNERS[:-1])
def test_rewards_that_are_there_by_the_next_slot_change_no_decision(tmp_path, learner, delay):
    plain = {key: value for key, value in learner.items() if key != "counts"}
    on_time = runs(tmp_path, scene(plain, {}, slots=150))
    found = runs(tmp_path, scene(learner, {"delay": delay, "window": "1 slot"}, slots=150))
    assert found.fingerprint == on_time.fingerprint
    assert found.metrics["feedback_slots"] == 1
    assert found.metrics["outstanding"] == (delay == "1 slot")


def test_a_queued_learner_is_its_base_where_nothing_is_late(tmp_path):
    for base in ({"kind": "ucb"}, {"kind": "thompson"}, {"kind": "klucb"}):
        queued = runs(tmp_path, scene({"kind": "queued", "base": base}, {"delay": "1 slot"}, slots=150))
        assert queued.fingerprint == runs(tmp_path, scene(base, {}, slots=150)).fingerprint


@pytest.mark.parametrize("learner", LEARNERS)
def test_with_a_constant_lag_all_arms_are_tried_in_turn_until_the_first_reward_comes(tmp_path, decisions, learner):
    lag = 13
    with executed("plain"):
        found = study(tmp_path, text=scene(learner, {"delay": f"{lag} slots"})).points[0].simulation(0).run()
    early = [(slot, arm) for slot, _, arm, _, _ in decisions if slot < lag]
    if learner["kind"] != "queued":  # what its base wants is pulled until it is fed
        assert all(arm == slot % 3 for slot, arm in early)
    else:
        assert all(arm == 0 for _, arm in early)
    assert found.metrics["feedback_slots"] == lag
    assert found.metrics["outstanding"] == lag
    assert found.metrics["outstanding_most"] == lag - 1


@pytest.mark.parametrize("learner", LEARNERS[:4])
def test_arms_are_pulled_in_turn_if_no_reward_ever_comes(tmp_path, decisions, learner):
    with executed("plain"):
        found = study(tmp_path, text=scene(learner, {"never": 1.0}, slots=90)).points[0].simulation(0).run()
    pulls = np.bincount([arm for _, agent, arm, _, _ in decisions if agent == 1], minlength=3)
    assert pulls.tolist() == [30, 30, 30]
    assert found.metrics["censored"] == 1.0
    assert found.metrics["feedback_slots"] is None


def test_equal_laws_of_arms_are_one_law(tmp_path):
    law = {"geometric": 7.0}
    one = runs(tmp_path, scene({"kind": "klucb"}, {"delay": law}))
    assert runs(tmp_path, scene({"kind": "klucb"}, {"by_arm": [law] * 3})).fingerprint == one.fingerprint
    assert runs(tmp_path, scene({"kind": "klucb"}, {"by_agent": [law] * 2})).fingerprint == one.fingerprint


LINEAR = {"kind": "linear", "dimension": 3, "arms": 6}


@pytest.mark.parametrize(
    ("learner", "protocol"),
    [
        ({"kind": "oful", "threshold": 2.0}, "local"),
        ({"kind": "oful", "schedule": "fixed", "every": 7}, "gis"),
        ({"kind": "feducb", "threshold": 2.0, "epsilon": 2.0}, "flooding"),
        ({"kind": "feducb", "schedule": "fixed", "every": 9, "epsilon": 1e5}, "relay"),
        ({"kind": "linucb", "alpha": 2.0}, "pooled"),
        ({"kind": "lints"}, "parameter-server"),
        ({"kind": "linucb", "alpha": 2.0}, "parameter-server"),
        ({"kind": "ucb"}, "local"),
        ({"kind": "klucb", "share": "totals"}, "relay"),
        ({"kind": "thompson"}, "gis"),
        ({"kind": "coop-ucb2", "discount": 0.98}, "consensus"),
    ],
)
def test_however_agents_talk_rewards_may_be_late(tmp_path, learner, protocol):
    bandit = LINEAR if learner["kind"] in ("oful", "feducb", "linucb", "lints") else None
    both = {"agents": 4, "slots": 120, "bandit": bandit, "protocol": protocol}
    on_time = runs(tmp_path, scene(learner, {}, **both))
    at_once = runs(tmp_path, scene(learner, {"delay": "0 ms", "window": "1 slot"}, **both))
    assert at_once.fingerprint == on_time.fingerprint
    assert at_once.metrics["messages"] == on_time.metrics["messages"]
    assert at_once.metrics.get("unseen") == on_time.metrics.get("unseen")
    late = runs(tmp_path, scene(learner, {"delay": {"geometric": 6.0}}, **both))
    assert late.fingerprint != on_time.fingerprint
    assert late.metrics["feedback_slots"] > 3
    assert late.metrics["rounds"] > 0


def test_observations_are_told_at_the_boundary_at_which_they_are_known_all_in_one_message(tmp_path):
    links = {"peer": {"latency": "0.5 ms"}}
    text = scene({"kind": "ucb"}, {"by_agent": ["2.5 ms", "5 slots"]}, protocol="local", links=links, slots=20)
    found = runs(tmp_path, text)
    # Agent 0 tells pulls 0 to 16 at slots 3 to 19, agent 1 pulls 0 to 14 at slots 5 to 19, one at a time.
    assert found.metrics["messages"] == 17 + 15
    single = found.metrics["bytes"] / found.metrics["messages"]
    outage = {"outages": [{"nodes": [0], "from": "10 ms", "until": "16 ms"}]}
    found = runs(
        tmp_path, scene({"kind": "ucb"}, {"delay": "3 slots"}, protocol="local", links=links, slots=20, faults=outage)
    )
    # Agent 0 learns pulls 0 to 6 one by one, 7 to 9 together at slot 16, and pull 16 at slot 19.
    assert found.metrics["messages"] == 7 + 1 + 1 + 17
    assert found.metrics["bytes"] == pytest.approx(26 * single + 2 * 24)


def test_a_trace_changes_no_number(tmp_path):
    text = scene({"kind": "ucb"}, {"delay": {"geometric": 7.0}}, protocol="local", slots=60)
    traced = study(tmp_path, text=text).points[0].simulation(0).run(tmp_path / "trace.jsonl")
    assert traced.fingerprint == runs(tmp_path, text).fingerprint


@pytest.mark.parametrize(
    "feedback",
    [
        {"delay": {"geometric": 9.0}, "never": 0.2},
        {"delay": {"geometric": 9.0}, "never": 0.2, "window": "6 slots"},
        {"delay": {"pareto": ["2 ms", 1.1]}, "window": "6 slots", "missing": "zero", "reports": "nonzero"},
    ],
)
def test_each_pull_is_learned_outstanding_censored_or_late(tmp_path, monkeypatch, feedback):
    learned = []
    take = Feedback.take_one
    monkeypatch.setattr(Feedback, "take_one", lambda self, *given: learned.append(given) or take(self, *given))
    forget = {"nodes": {"up_for": "12 ms", "down_for": "4 ms", "memory": "lost"}}
    for faults in ({}, forget):
        learned.clear()
        with executed("plain"):
            text = scene({"kind": "ucb"}, feedback, faults=faults)
            metrics = study(tmp_path, text=text).points[0].simulation(0).run().metrics
        pulls = 160 - metrics["absent_slots"]
        assert len(learned) > 20
        others = 2 * metrics["outstanding"] + metrics["censored"] * pulls + metrics["feedback_late"]
        assert len(learned) + others == pytest.approx(pulls, abs=1e-9)
        assert (metrics["feedback_late"] > 0) == (bool(faults) or feedback.get("missing", "window") in feedback)


def test_what_is_due_while_an_agent_is_down_is_learned_when_it_is_back(tmp_path, decisions):
    faults = {"outages": [{"nodes": [1], "from": "10 ms", "until": "20 ms"}]}
    text = scene({"kind": "ucb"}, {"delay": "3 slots"}, faults=faults, slots=40)
    with executed("plain"):
        found = study(tmp_path, text=text).points[0].simulation(0).run()
    # Agent 1 learns pulls 7, 8 and 9 at slot 20, and all others after three slots.
    lags = [3] * (37 + 37 - 10 - 3) + [13, 12, 11]
    assert found.metrics["feedback_slots"] == pytest.approx(sum(lags) / len(lags))
    assert found.metrics["outstanding"] == 3
