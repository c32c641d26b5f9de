"""Rewards that are learned later than they are paid."""

from itertools import repeat

import numpy as np
import pytest
from helpers.feedback_reference import Counts, delay_of, follow
from helpers.scenes import study

from netbandit.bandits.linear import Linear
from netbandit.conditions.feedback import Feedback
from netbandit.conditions.feedback_queue import _COUNT, FeedbackQueue
from netbandit.learners.counts import CountingLearner
from netbandit.learners.otflinucb import OtfLinUcb
from netbandit.network.draws import Draws
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.toml_text import toml_text
from netbandit.simulation.bandit_environments import ActionSetEnvironment, ArmEnvironment
from netbandit.simulation.execution import executed
from netbandit.trace.read import read_trace
from netbandit.util.streams import Streams

SLOT = 1_000_000


@pytest.fixture
def decisions(monkeypatch):
    """Note each decision: slot, agent, arm, reward, and the vectors shown, or None."""
    found = []
    for world in (ArmEnvironment, ActionSetEnvironment):

        def pull(self, slot, agents, arms, original=world.pull):
            shown = self.actions(agents).copy() if isinstance(self, ActionSetEnvironment) else [None] * len(agents)
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


@pytest.mark.sampled(7)
@pytest.mark.parametrize("kind", ["ucb", "klucb", "thompson", "queued", "otflinucb"])
def test_each_decision_is_that_of_a_reference_written_apart(tmp_path, decisions, kind):
    rng = np.random.default_rng(49)
    late = 0
    for _ in range(20):
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
    assert late > 1_000  # else nothing was late


LEARNERS = [
    {"kind": "ucb"},
    {"kind": "ucb", "counts": "pulled"},
    {"kind": "klucb"},
    {"kind": "thompson"},
    {"kind": "coop-ucb2"},
    {"kind": "queued", "base": {"kind": "klucb"}},
]


@pytest.mark.sampled(6)
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


@pytest.mark.sampled(3)
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


@pytest.mark.sampled(6)
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


@pytest.mark.parametrize("protocol", ["local", "silent"])
def test_a_trace_changes_no_number_and_has_all_rewards_that_are_late(tmp_path, decisions, protocol):
    text = scene({"kind": "ucb"}, {"by_arm": ["2 slots", "0 ms", "3.5 ms"]}, protocol=protocol, slots=60)
    traced = study(tmp_path, text=text).points[0].simulation(0).run(tmp_path / "trace.jsonl")
    rewards = read_trace(tmp_path / "trace.jsonl").rewards
    due = {0: 2 * SLOT, 2: 3_500_000}
    assert rewards == [
        (arm, agent, slot * SLOT, slot * SLOT + due[arm]) for slot, agent, arm, *_ in decisions if arm in due
    ]
    assert traced.fingerprint == runs(tmp_path, text).fingerprint


@pytest.mark.ci
@pytest.mark.compiled
@pytest.mark.parametrize(
    "feedback",
    [
        {"delay": {"geometric": 9.0}, "never": 0.2},
        {"delay": {"geometric": 9.0}, "never": 0.2, "window": "6 slots"},
        {"delay": {"pareto": ["2 ms", 1.1]}, "window": "6 slots", "missing": "zero", "reports": "nonzero"},
    ],
)
def test_each_pull_is_learned_outstanding_censored_or_late(tmp_path, monkeypatch, feedback):
    with executed("plain"):  # what is compiled of the queue is made before it is patched
        study(tmp_path, text=scene({"kind": "ucb"}, feedback)).points[0].simulation(0).run()
    learned = []
    take, take_one = FeedbackQueue.take, FeedbackQueue.take_one

    def noted(self, *given):
        agents, rows = take(self, *given)
        learned.extend(agents.tolist())
        return agents, rows

    monkeypatch.setattr(FeedbackQueue, "take", noted)  # what is due after the last decision is taken row by row
    monkeypatch.setattr(FeedbackQueue, "take_one", lambda self, *given: learned.append(given) or take_one(self, *given))
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


@pytest.mark.sampled(11)
@pytest.mark.parametrize("kind", ["ucb", "klucb", "thompson"])
@pytest.mark.parametrize("feedback", [{"delay": "8 slots"}, {"delay": {"geometric": 6.0}}])
def test_late_rewards_fade_with_the_decisions_of_their_agent(tmp_path, decisions, kind, feedback):
    """Discounted UCB (Garivier & Moulines 2011) counts rounds in which an arm is pulled."""
    faults = {"outages": [{"nodes": [1], "from": "30 ms", "until": "45 ms"}]}
    learner = {"kind": kind, "discount": 0.9}
    text = scene(learner, feedback, faults=faults)
    runs(tmp_path, text)
    decisions.clear()
    with executed("plain"):
        study(tmp_path, text=text).points[0].simulation(0).run()
    assert len(decisions) == 160 - 15
    follow({"slot": SLOT, "agents": 2, "arms": 3, "learner": learner, "feedback": feedback}, decisions)


@pytest.mark.parametrize(
    ("learner", "feedback", "others", "text"),
    [
        ({"kind": "ucb"}, {"delay": "3 ms", "by_arm": ["1 ms"] * 3}, {}, "feedback: has delay and by_arm: one of them"),
        ({"kind": "ucb"}, {"by_arm": ["1 ms"]}, {}, "feedback.by_arm: has 1 entries, but the bandit has 3 arms"),
        ({"kind": "ucb"}, {"never": [0.1, 0.2]}, {}, "feedback.never: has 2 entries, but the bandit has 3 arms"),
        ({"kind": "ucb"}, {"by_agent": ["1 ms"] * 3}, {}, "feedback.by_agent: has delays of 3 agents, but there are 2"),
        ({"kind": "ucb"}, {"never": 1.5}, {}, "feedback.never: must be a probability from 0 to 1, or a list of them"),
        ({"kind": "ucb"}, {"delay": {"pareto": ["1 ms", 0.0]}}, {}, "must be a number above 0"),
        ({"kind": "ucb"}, {"delay": {"geometric": 0.0}}, {}, "must be a number above 0"),
        ({"kind": "ucb"}, {"delay": {"geometric": 2.0, "uniform": ["1 ms"] * 2}}, {}, "the keys of two distributions"),
        ({"kind": "ucb"}, {"delay": {"uniform": ["3 ms", "1 ms"]}}, {}, "the longest must not be below the shortest"),
        ({"kind": "ucb"}, {"missing": "zero"}, {}, 'feedback.missing: cannot be "zero" without feedback.window'),
        ({"kind": "ucb"}, {"reports": "nonzero"}, {}, 'feedback.reports: must be "all" with missing = "forgotten"'),
        ({"kind": "otflinucb"}, {"delay": "3 ms"}, {"bandit": LINEAR}, "feedback.window: is missing"),
        ({"kind": "thompson", "counts": "pulled"}, {"delay": "3 ms"}, {}, 'learner.counts: must be "observed"'),
        ({"kind": "queued"}, {"delay": "3 ms"}, {"protocol": "local"}, 'protocol.kind: must be "silent" with'),
        ({"kind": "queued", "base": {"kind": "oful"}}, {}, {}, "learner.base: must be a learner that counts"),
        ({"kind": "queued", "base": {"kind": "ucb", "exploration": -1.0}}, {}, {}, "learner.base: exploration must be"),
        ({"kind": "queued", "base": {"kind": "ucb", "keep": 0.5}}, {}, {}, "learner.base: keep has no effect"),
        ({"kind": "queued", "base": {"kind": "ucb", "use_after": 2}}, {}, {}, "learner.base: use_after has no effect"),
        ({"kind": "queued", "base": {"kind": "ucb", "share": "totals"}}, {}, {}, "learner.base: share has no effect"),
        ({"kind": "dducb"}, {"delay": "3 ms"}, {}, 'feedback: cannot be with learner.kind = "dducb"'),
        ({"kind": "ucb"}, {"delay": {"file": "none.csv"}}, {}, "feedback.delay.file"),
    ],
)
def test_what_cannot_be_is_said_at_its_key(tmp_path, learner, feedback, others, text):
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, text=scene(learner, feedback, **others))
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["DELAY,ARM", "0.001,0", "0.002,1"], "has delays of 2 arms, but there are 3"),
        (["DELAY,ARM", "1,0", "1,2", "1,3"], "names arms, but not those of the bandit: 3; its arms are 0, 1, 2"),
        (["DELAY", "-1"], "delays.csv:2: DELAY must be seconds from 0 to 1e+09, or empty: never"),
        (["LATE", "1"], "must be DELAY, and ARM or AGENT beside it"),
        (["DELAY,AGENT", "1,0"], "has delays of 1 agents, but there are 2"),
        (["DELAY"], "lists no delay"),
        (["AGENT,DELAY", "0,1", "2,1"], "names agents, but not those of the network: 2; its agents are 0, 1"),
        (["AGENT,DELAY", "0,1", ",1"], "delays.csv:3: the AGENT is missing"),
        (["ARM,DELAY", "0,1", "1,1", "red,1"], "names arms, but not those of the bandit: red; its arms are 0, 1, 2"),
    ],
)
def test_a_file_that_is_none_of_delays_is_refused(tmp_path, lines, text):
    (tmp_path / "delays.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, text=scene({"kind": "ucb"}, {"delay": {"file": "delays.csv"}}))
    assert text in str(error.value)


def test_a_file_of_one_delay_for_each_arm_is_a_list_of_constants(tmp_path):
    (tmp_path / "delays.csv").write_text("ARM,DELAY\n0,0.004\n1,0.009\n2,\n")
    listed = runs(tmp_path, scene({"kind": "klucb"}, {"delay": {"file": "delays.csv"}}))
    same = {"by_arm": ["4 ms", "9 ms", "0 ms"], "never": [0.0, 0.0, 1.0]}
    assert listed.fingerprint == runs(tmp_path, scene({"kind": "klucb"}, same)).fingerprint
    assert listed.metrics["censored"] > 0


def test_what_was_hardly_meant_is_mentioned(tmp_path):
    notes = study(tmp_path, text=scene({"kind": "ucb"}, {"delay": {"pareto": ["1 ms", 1.0]}})).notes
    assert any("a Pareto distribution with a shape of at most 1 has no mean" in note for note in notes)
    late = {"by_arm": [{"exponential": "10 slots"}, "20 slots", "21 slots"], "window": "20 slots"}
    notes = study(tmp_path, text=scene({"kind": "ucb"}, late)).notes
    shares = [note.partition("feedback.window: ")[2] for note in notes if "come after it" in note]
    assert {share.partition(" come")[0] for share in shares} == {
        "14% of the rewards of arm 0",  # exp(-2)
        "100% of the rewards of arm 2",
    }
    notes = study(tmp_path, text=scene({"kind": "ucb"}, {"never": [0.0, 1.0, 0.5]})).notes
    assert any("nothing is ever learned of arm 1" in note for note in notes)
    notes = study(tmp_path, text=scene({"kind": "ucb", "counts": "pulled"}, {})).notes
    assert any("counts" in note and "has no effect without [feedback]" in note for note in notes)
    queued = {"kind": "queued", "base": {"kind": "ucb", "counts": "pulled"}}
    notes = study(tmp_path, text=scene(queued, {"delay": "3 slots"})).notes
    assert any("learner.base: counts has no effect" in note for note in notes)


@pytest.mark.ci
@pytest.mark.parametrize("law", [{"geometric": 6.0}, {"pareto": ["3 ms", 1.3]}, "8 slots"])
@pytest.mark.parametrize("kind", ["ucb", "thompson"])
def test_what_a_queued_base_was_fed_gives_its_arms_and_its_pulls_exceed_them_by_what_is_outstanding(
    tmp_path, decisions, monkeypatch, kind, law
):
    """N_i(T) <= N_i^base(T) + G_i on each path, the base being alone with the rewards in order of arrival."""
    fed = []
    learn = CountingLearner.learn_one
    monkeypatch.setattr(
        CountingLearner,
        "learn_one",
        lambda self, slot, agent, arm, reward: (
            fed.append((agent, arm, reward)) or learn(self, slot, agent, arm, reward)
        ),
    )
    text = scene({"kind": "queued", "base": {"kind": kind}}, {"delay": law}, slots=300)
    with executed("plain"):
        study(tmp_path, text=text).points[0].simulation(0).run()
    streams = Streams(0, 0)
    delays = Draws(streams, "feedback", 2)
    for agent in range(2):
        base = Counts(3, {"kind": kind}, streams.generator("thompson", agent))
        own = [(arm, reward) for one, arm, reward in fed if one == agent]
        for clock, (arm, reward) in enumerate(own):
            assert base.choose(clock, None) == arm
            base.learn(clock, arm, reward, None)
        assert len(own) > 200
        pulls = [(slot, arm) for slot, one, arm, *_ in decisions if one == agent]
        lags = [max(1, -(-delay_of(law, delays.number(agent, number), SLOT) // SLOT)) for number in range(300)]
        for arm in range(3):
            own_pulls = [(slot, slot + lags[slot]) for slot, one in pulls if one == arm]
            most = max((sum(slot < now < due for slot, due in own_pulls) for now in range(300)), default=0)
            # The base has wanted the arm once more than it was fed of it, at most.
            assert len(own_pulls) <= sum(one == arm for one, _ in own) + 1 + most


@pytest.mark.ci
def test_outstanding_pulls_follow_little_s_law(tmp_path):
    """Before slot t they are in the mean the sum over j = 1..t of P(lag > j): one trial an agent, 4.5 s.e. apart."""
    mean, slots, agents = 12.0, 40, 400
    outstanding = []
    note = FeedbackQueue.note

    def noted(self, chosen):
        outstanding.append(self._agent[:, _COUNT].copy())
        note(self, chosen)

    with pytest.MonkeyPatch.context() as patch, executed("plain"):
        patch.setattr(FeedbackQueue, "note", noted)
        text = scene({"kind": "ucb"}, {"delay": {"geometric": mean}}, agents=agents, slots=slots)
        study(tmp_path, text=text).points[0].simulation(0).run()
    stays = [(mean / (1 + mean)) ** (j + 1) for j in range(1, slots)]  # lag > j: geometric from 0 above j
    for slot in (5, 20, 39):
        found = outstanding[slot]
        expected = sum(stays[:slot])
        assert abs(found.mean() - expected) < 4.5 * found.std(ddof=1) / np.sqrt(agents)


def test_otflinucb_without_delay_is_the_plain_ellipsoid(tmp_path, decisions):
    """Window a slot, bonus tight: V and u of all pulls, and the bonus of Abbasi-Yadkori et al. 2011 with R = 1."""
    learner = {"kind": "otflinucb", "bonus": "tight", "delta": 0.1}
    text = scene(learner, {"delay": "0 ms", "window": "1 slot"}, bandit={**LINEAR, "actions": "fresh"}, slots=120)
    with executed("plain"):
        study(tmp_path, text=text).points[0].simulation(0).run()
    for agent in range(2):
        gram, response = np.eye(3), np.zeros(3)
        for _, one, arm, reward, shown in decisions:
            if one != agent:
                continue
            radius = 1 + np.sqrt(2 * np.log(10) + np.log(np.linalg.det(gram)))
            widths = [np.sqrt(x @ np.linalg.inv(gram) @ x) for x in shown]
            assert arm == int(np.argmax(shown @ np.linalg.inv(gram) @ response + radius * np.array(widths)))
            gram += np.outer(shown[arm], shown[arm])
            response += reward * shown[arm]


@pytest.mark.parametrize("bonus", ["paper", "tight"])
def test_a_window_of_years_is_one_of_the_whole_run(tmp_path, bonus):
    def fingerprint(window):
        learner = {"kind": "otflinucb", "bonus": bonus}
        return runs(tmp_path, scene(learner, {"delay": "3 slots", "window": window}, bandit=LINEAR)).fingerprint

    assert fingerprint("1000000000000 slots") == fingerprint("80 slots")


@pytest.mark.ci
@pytest.mark.parametrize("bonus", ["paper", "tight"])
def test_otflinucb_s_ellipsoid_holds_what_it_promises(tmp_path, monkeypatch, bonus):
    """With probability 1 - 2 delta ||theta^ - tau_m theta|| <= b in all slots; here it is never outside."""
    agents, outside = 40, set()
    width = OtfLinUcb._width

    def checked(self, slot, chosen, inverse):
        found = width(self, slot, chosen, inverse)
        estimates = np.einsum("nij,nj->ni", inverse, self._response[chosen])
        away = estimates - share * theta[0]
        norms = np.sqrt(np.einsum("ni,nij,nj->n", away, self._gram[chosen], away))
        outside.update(chosen[norms > found].tolist())
        return found

    monkeypatch.setattr(OtfLinUcb, "_width", checked)
    theta = []
    begin = Linear.begin
    monkeypatch.setattr(Linear, "begin", lambda self, generator: theta.append(self.vector) or begin(self, generator))
    share = 1 - (8 / 9) ** 21  # a geometric lag of mean 8 is at most 20 slots
    feedback = {"delay": {"geometric": 8.0}, "window": "20 slots", "reports": "nonzero"}
    learner = {"kind": "otflinucb", "bonus": bonus, "delta": 0.05}
    text = scene(learner, feedback, agents=agents, bandit={**LINEAR, "rewards": "bernoulli"}, slots=150)
    with executed("plain"):
        study(tmp_path, text=text).points[0].simulation(0).run()
    assert len(outside) <= 0.05 * agents


def test_delays_are_those_of_the_agents_that_a_file_names(tmp_path):
    (tmp_path / "net.csv").write_text("source,target\na,b\nb,c\n")
    text = scene({"kind": "ucb"}, {"delay": {"file": "delays.csv"}}, topology={"family": "file", "file": "net.csv"})
    (tmp_path / "delays.csv").write_text("AGENT,DELAY\nc,0.009\na,0.004\nb,0\n")
    named = runs(tmp_path, text)
    (tmp_path / "delays.csv").write_text("AGENT,DELAY\n0,0.004\n1,0\n2,0.009\n")
    assert runs(tmp_path, text).fingerprint == named.fingerprint
    listed = scene(
        {"kind": "ucb"}, {"by_agent": ["4 ms", "0 ms", "9 ms"]}, topology={"family": "file", "file": "net.csv"}
    )
    assert runs(tmp_path, listed).fingerprint == named.fingerprint


def test_an_empty_line_of_a_single_column_is_a_reward_that_never_comes(tmp_path):
    text = scene({"kind": "ucb"}, {"delay": {"file": "delays.csv"}})
    (tmp_path / "delays.csv").write_text("DELAY\n0.003\n\n0.003\n\n")
    assert any("2 of 4 rows are empty: rewards that never arrive" in note for note in study(tmp_path, text=text).notes)
    bare = runs(tmp_path, text)
    (tmp_path / "delays.csv").write_text('DELAY\n0.003\n""\n0.003\n""\n')
    assert runs(tmp_path, text).fingerprint == bare.fingerprint
    assert bare.metrics["censored"] > 0


TABLE = {"kind": "table", "path": "rewards.csv", "rows": "drawn"}


def test_arms_of_a_table_of_rewards_are_known_by_their_names(tmp_path):
    (tmp_path / "rewards.csv").write_text("red,2,blue\n0,1,1\n1,0,0\n")
    text = scene({"kind": "ucb"}, {"delay": {"file": "delays.csv"}}, bandit=TABLE)
    (tmp_path / "delays.csv").write_text("ARM,DELAY\nblue,0.009\nred,0.004\n2,0\n")
    named = runs(tmp_path, text)
    listed = scene({"kind": "ucb"}, {"by_arm": ["4 ms", "0 ms", "9 ms"]}, bandit=TABLE)
    assert runs(tmp_path, listed).fingerprint == named.fingerprint
    (tmp_path / "delays.csv").write_text("ARM,DELAY\n0,0.009\n1,0.004\n2,0\n")  # 2 is an arm, and another than arm 2
    with pytest.raises(ScenarioError, match="names arms, but not those of the bandit: 0, 1; its arms are red, 2, blue"):
        study(tmp_path, text=text)


@pytest.mark.parametrize(
    "feedback", [{"by_arm": ["1 ms", "2 ms"]}, {"never": [0.1, 0.2]}, {"delay": {"file": "delays.csv"}}]
)
def test_as_many_delays_as_a_table_has_arms(tmp_path, feedback):
    (tmp_path / "rewards.csv").write_text("red,green,blue\n0,1,1\n1,0,0\n")
    (tmp_path / "delays.csv").write_text("ARM,DELAY\nred,0.009\ngreen,0.004\n")
    with pytest.raises(
        ScenarioError, match=r"has (2 entries, but the bandit has 3 arms|delays of 2 arms, but there are 3)"
    ):
        study(tmp_path, text=scene({"kind": "ucb"}, feedback, bandit=TABLE))
    if "delay" in feedback:
        feedback = {"delay": {"file": str(tmp_path / "delays.csv")}}
    # What a world of one's own has, is known when it has started.
    with pytest.raises(
        ValueError, match=r"has (2 entries, but the bandit has 3 arms|delays of 2 arms, but there are 3)"
    ):
        Feedback.model_validate(feedback).plan(1_000_000, ["0"], ["0", "1", "2"])


@pytest.mark.parametrize(
    ("keys", "noted"),
    [
        ({}, False),
        ({"regularizer": 13.4}, False),
        ({"regularizer": 13.6}, True),
        ({"regularizer": 13.6, "bonus": "tight"}, False),
        ({"regularizer": 3.2, "delta": 0.5}, True),
    ],
)
def test_a_regularizer_beyond_what_the_width_of_the_theorem_has_room_for_is_noted(tmp_path, keys, noted):
    learner = {"kind": "otflinucb"} | keys
    notes = study(tmp_path, text=scene(learner, {"delay": "2 slots", "window": "5 slots"}, bandit=LINEAR)).notes
    assert any("learner.regularizer: above 4.5 ln(1/delta)" in note for note in notes) == noted
