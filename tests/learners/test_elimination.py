"""The elimination learner against a slow reference written from the paper, and its settings."""

from decimal import ROUND_CEILING, Decimal, localcontext
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.examples import examples
from helpers.known import mistakes as mistaken
from helpers.known import notes, others
from hypothesis import given
from hypothesis import strategies as st

from netbandit.bandits.bandit import Outline
from netbandit.checks.check import check
from netbandit.learners.elimination import Commit, Elimination, Phase
from netbandit.learners.elimination_schedule import EliminationSchedule, count_participants
from netbandit.parts.validation import read
from netbandit.scenario.load import load


def reference_pulls(r, previous, active, *, arms, horizon, participants, epsilon, rounds, gap):
    """S(r) with 40 digits, straight from the text."""
    with localcontext() as context:
        context.prec = 40
        t, n = Decimal(horizon), Decimal(participants)
        d = Decimal(2) ** -r if rounds is None else Decimal(gap) ** (Decimal(r) / rounds)
        needed = 8 * (8 * active * r * r * t).ln() / (n * d * d)
        if epsilon != inf:
            noise = 8 * r * (2 * (8 * arms * r * r * t).ln()).sqrt() / (n ** Decimal("1.5") * Decimal(epsilon) * d)
            needed = max(needed, noise)
        return max(int(needed.to_integral_value(ROUND_CEILING)), previous + 1)


def reference_width(r, pulls, active, *, arms, horizon, participants, epsilon):
    """C(r) with 40 digits, straight from the text."""
    with localcontext() as context:
        context.prec = 40
        t, n = Decimal(horizon), Decimal(participants)
        width = ((8 * active * r * r * t).ln() / (2 * n * pulls)).sqrt()
        if epsilon != inf:
            width += r * (8 * (8 * arms * r * r * t).ln()).sqrt() / (n ** Decimal("1.5") * Decimal(epsilon) * pulls)
        return width


class Reference:
    """Algorithm 1 for all agents, one agent, arm and number at a time."""

    def __init__(self, *, arms, horizon, members, participants, epsilon, rounds, gap):
        self.members, self.rounds = members, rounds
        self.common = {"arms": arms, "horizon": horizon, "participants": participants, "epsilon": epsilon}
        self.gap = gap
        self.active = list(range(arms))
        self.r = self.s = 0
        self.total = [[0] * arms for _ in range(members)]
        self.bar = [[0.0] * arms for _ in range(members)]
        self.committed = 0 if arms == 1 else None

    def begin(self):
        self.r += 1
        self.old = self.s
        self.s = reference_pulls(self.r, self.old, len(self.active), rounds=self.rounds, gap=self.gap, **self.common)
        return self.s - self.old

    def observe(self, sums, noise):
        n = self.s - self.old
        for agent in range(self.members):
            for column, arm in enumerate(self.active):
                y = int(sums[agent][column]) / n + float(noise[agent][column])
                self.bar[agent][arm] = self.old / self.s * self.bar[agent][arm] + n / self.s * y
                self.total[agent][arm] += int(sums[agent][column])
        return [[self.bar[agent][arm] for arm in self.active] for agent in range(self.members)]

    def best_arms(self):
        best = []
        for agent in range(self.members):
            chosen = self.active[0]
            for arm in self.active:
                if self.total[agent][arm] > self.total[agent][chosen]:
                    chosen = arm
            best.append(chosen)
        return best

    def conclude(self, means):
        width = reference_width(self.r, self.s, len(self.active), **self.common)
        values = dict(zip(self.active, (Decimal(float(mean)) for mean in means), strict=True))
        top = max(values.values())
        best = next(arm for arm in self.active if values[arm] == top)
        self.active = [arm for arm in self.active if not top - values[arm] >= 2 * width]
        if len(self.active) == 1 or self.r == self.rounds:
            self.committed = best


@st.composite
def instances(draw):
    members = draw(st.integers(1, 12))
    rounds = draw(st.none() | st.integers(1, 6))
    return {
        "arms": draw(st.integers(1, 7)),
        "horizon": draw(st.sampled_from([1, 2, 100, 10**4, 10**6, 10**6, 10**9])),
        "members": members,
        "participants": draw(st.integers(1, members)),
        "epsilon": draw(st.just(inf) | st.floats(1e-2, 100)),
        "rounds": rounds,
        "gap": None if rounds is None else draw(st.floats(0.01, 1)),
    }


def learner_of(*, epsilon=inf, rounds=None, gap=None, smallest_gap=None, **facts):
    learner = Elimination(epsilon=epsilon, rounds=rounds, gap=gap)
    learner.start(smallest_gap=smallest_gap, **facts)
    return learner


@examples(150)
@given(instances(), st.integers(0, 2**32))
def test_same_as_the_reference(instance, seed):
    rng = np.random.default_rng(seed)
    means = rng.random(instance["arms"])
    learner, reference = learner_of(**instance), Reference(**instance)
    slot = 0
    while True:
        step = learner.begin(learner.epoch + 1)
        if reference.committed is not None:
            assert step == Commit(reference.committed)
            return
        pulls = reference.begin()
        assert (step.epoch, step.arms.tolist(), step.pulls) == (reference.r, reference.active, pulls)
        assert step.slots == len(reference.active) * pulls
        slot += step.slots
        if slot > instance["horizon"]:
            return
        sums = rng.binomial(pulls, means[step.arms], size=(instance["members"], len(step.arms)))
        noise_seed = int(rng.integers(2**32))
        noise = np.zeros(sums.shape)
        if instance["epsilon"] != inf:
            scale = 1 / (instance["participants"] * pulls * instance["epsilon"])
            noise = np.random.default_rng(noise_seed).laplace(0, scale, sums.shape)
        learner.observe(sums, np.random.default_rng(noise_seed))
        assert learner.releases.tolist() == reference.observe(sums, noise)
        assert learner.best_arms.tolist() == reference.best_arms()
        chosen = rng.choice(instance["members"], instance["participants"], replace=False)
        aggregated = learner.combine(learner.releases[chosen])
        learner.conclude(aggregated)
        reference.conclude(aggregated)
        assert learner.active.tolist() == reference.active


@examples(300)
@given(instances(), st.integers(1, 30), st.integers(0, 10**6))
def test_schedule_is_that_of_the_paper(instance, epoch, previous):
    del instance["members"]
    if instance["rounds"] is not None:
        epoch = min(epoch, instance["rounds"])
    schedule = EliminationSchedule(**instance)
    pulls = schedule.cumulative_pulls(epoch, previous, instance["arms"])
    expected = reference_pulls(epoch, previous, instance["arms"], **instance)
    # The logarithms have 53 bits: beyond 10^7 pulls the last ones may be rounded the other way.
    assert abs(pulls - expected) <= (0 if expected < 10**7 else 1 + expected // 10**14)
    del instance["rounds"], instance["gap"]
    width = reference_width(epoch, pulls, instance["arms"], **instance)
    assert schedule.width(epoch, pulls, instance["arms"]) == pytest.approx(float(width), rel=1e-14)


def test_schedule_by_hand():
    # 8 ln(8 * 10 * 1 * 10^4) / (50 / 4) = 8 * 13.5924 / 12.5 = 8.70
    schedule = EliminationSchedule(arms=10, horizon=10**4, participants=50, epsilon=inf)
    assert schedule.cumulative_pulls(1, 0, 10) == 9
    # sqrt(13.5924 / (2 * 50 * 9)) = 0.12289
    assert schedule.width(1, 9, 10) == pytest.approx(0.122893, abs=1e-6)
    # 8 sqrt(2 * 13.5924) / (50^1.5 * 0.01 / 2) = 41.711 / 1.76777 = 23.60
    private = EliminationSchedule(arms=10, horizon=10**4, participants=50, epsilon=0.01)
    assert private.cumulative_pulls(1, 0, 10) == 24
    # sqrt(13.5924 / 2400) + sqrt(8 * 13.5924) / (50^1.5 * 0.01 * 24) = 0.075257 + 0.122891
    assert private.width(1, 24, 10) == pytest.approx(0.198148, abs=1e-5)


def test_budget_reaches_the_gap_in_the_last_round():
    schedule = EliminationSchedule(arms=10, horizon=100, participants=5, epsilon=inf, rounds=4, gap=0.0625)
    assert [float(schedule.target_gap(epoch)) for epoch in (1, 2, 3, 4)] == [0.5, 0.25, 0.125, 0.0625]


def test_every_epoch_pulls_at_least_once():
    schedule = EliminationSchedule(arms=2, horizon=100, participants=10**6, epsilon=inf, rounds=9, gap=1.0)
    assert [schedule.cumulative_pulls(1, previous, 2) for previous in (0, 1, 500)] == [1, 2, 501]


def test_astronomic_phases_stay_exact_integers():
    for keys in ({"epsilon": 5e-324}, {"epsilon": 5e-324, "rounds": 1, "gap": 5e-324}):
        learner = learner_of(arms=3, horizon=10**12, members=2, participants=2, **keys)
        phase = learner.begin(1)
        assert type(phase.pulls) is int
        assert type(phase.slots) is int
        assert phase.slots == 3 * phase.pulls > 10**300
        assert 0 <= learner.width < 1
    later = EliminationSchedule(arms=3, horizon=10**12, participants=2, epsilon=inf)
    assert later.cumulative_pulls(2000, 0, 3) > 4**2000
    assert later.width(2000, 4**2000, 3) == 0.0


@pytest.mark.parametrize(
    ("participation", "members", "expected"),
    [
        (1.0, 50, 50),
        (0.1, 30, 3),
        (0.2, 50, 10),
        (0.21, 50, 11),
        (1e-7, 50, 1),
        (0.7, 10, 7),
        (1, 3, 3),
        (0.07, 100, 7),
    ],
)
def test_participants_follow_the_decimal_that_was_written(participation, members, expected):
    assert count_participants(participation, members) == expected


def test_one_arm_needs_no_exploration():
    learner = learner_of(arms=1, horizon=100, members=3, participants=3, rounds=2, gap="true")
    assert learner.begin(1) == learner.begin(2) == Commit(0)


def concluded(means, *, rounds=None, gap=None):
    """A learner after a first epoch that ended with these aggregated *means*."""
    learner = learner_of(
        arms=len(means), horizon=10**4, members=2, participants=2, rounds=rounds, gap=gap, smallest_gap=0.3
    )
    phase = learner.begin(1)
    learner.observe(np.zeros((2, len(means)), dtype=np.int64), np.random.default_rng(0))
    learner.conclude(np.array(means) if phase.pulls else None)
    return learner


def test_an_arm_leaves_at_exactly_twice_the_width():
    width = concluded([0.5, 0.5, 0.5]).width
    assert concluded([2 * width, 0.0, 2 * width]).active.tolist() == [0, 2]
    assert concluded([np.nextafter(2 * width, 0), 0.0, 0.0]).active.tolist() == [0, 1, 2]


def test_the_last_arm_is_kept_to_the_end():
    learner = concluded([0.0, 9.0, 0.0])
    assert learner.begin(2) == learner.begin(3) == Commit(1)


def test_a_used_up_budget_commits_to_the_best_arm():
    assert concluded([0.1, 0.2, 0.15], rounds=1, gap=0.1).begin(2) == Commit(1)
    assert concluded([0.1, 0.2, 0.2], rounds=1, gap="true").begin(2) == Commit(1)
    assert isinstance(concluded([0.1, 0.2, 0.2], rounds=2, gap=0.1).begin(2), Phase)


def test_the_true_gap_is_that_of_the_instance():
    facts = {"arms": 3, "horizon": 1000, "members": 4, "participants": 4, "rounds": 3}
    true = learner_of(gap="true", smallest_gap=0.02, **facts).begin(1)
    assert true.pulls == learner_of(gap=0.02, smallest_gap=0.5, **facts).begin(1).pulls
    # No arm is worse than another: any schedule will do.
    assert learner_of(gap="true", smallest_gap=None, **facts).begin(1).pulls > 0


def test_best_arms_use_all_epochs_without_noise_and_ties_go_to_the_lowest():
    learner = learner_of(arms=3, horizon=10**6, members=3, participants=3, epsilon=1e-3)
    first = learner.begin(1)
    learner.observe(np.array([[5, 5, 1], [0, 3, 3], [2, 1, 9]]), np.random.default_rng(1))
    assert first.pulls > 10
    assert learner.best_arms.tolist() == [0, 1, 2]
    learner.conclude(np.array([-9.0, 0.5, 0.5]))
    assert learner.begin(2).arms.tolist() == [1, 2]
    learner.observe(np.array([[1, 4], [2, 1], [8, 0]]), np.random.default_rng(1))
    assert learner.best_arms.tolist() == [1, 1, 1]


def test_items_in_flight_are_not_changed():
    learner = learner_of(arms=2, horizon=10**6, members=2, participants=2)
    learner.begin(1)
    learner.observe(np.array([[1, 2], [3, 4]]), np.random.default_rng(1))
    item = learner.releases[0]
    before = item.copy()
    learner.conclude(np.array([0.5, 0.5]))
    learner.begin(2)
    learner.observe(np.array([[9, 9], [9, 9]]), np.random.default_rng(1))
    assert np.array_equal(item, before)


def test_noise_of_a_member_is_its_row():
    learner = learner_of(arms=2, horizon=10**6, members=3, participants=3, epsilon=0.5)
    pulls = learner.begin(1).pulls
    learner.observe(np.zeros((3, 2), dtype=np.int64), np.random.default_rng(5))
    assert learner.releases.tolist() == np.random.default_rng(5).laplace(0, 1 / (3 * pulls * 0.5), (3, 2)).tolist()


@examples(50)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32))
def test_a_mean_depends_on_no_order(rows, arms, seed):
    rng = np.random.default_rng(seed)
    values = rng.laplace(0, 10.0 ** rng.integers(-8, 8), (rows, arms))
    weights = rng.integers(1, 100, rows)
    order = rng.permutation(rows)
    assert Elimination().combine(values).tolist() == Elimination().combine(list(values[order])).tolist()
    weighted = Elimination().combine(values, weights.tolist())
    assert weighted.tolist() == Elimination().combine(values[order], weights[order].tolist()).tolist()
    assert weighted == pytest.approx(np.average(values, axis=0, weights=weights), rel=1e-9, abs=1e-9)


def test_components_weigh_by_their_size():
    components = [np.array([0.0, 1.0]), np.array([1.0, 0.0])]
    assert Elimination().combine(components, [3, 1]).tolist() == [0.25, 0.75]
    assert Elimination().combine(components).tolist() == [0.5, 0.5]


def test_calls_out_of_turn():
    learner = learner_of(arms=2, horizon=100, members=2, participants=2)
    sums = np.zeros((2, 2), dtype=np.int64)
    with pytest.raises(RuntimeError, match="begin is due"):
        learner.observe(sums, np.random.default_rng(0))
    with pytest.raises(ValueError, match="begin"):
        learner.begin(2)
    learner.begin(1)
    with pytest.raises(RuntimeError, match="observe is due"):
        learner.begin(2)
    with pytest.raises(ValueError, match="observe"):
        learner.observe(sums[:1], np.random.default_rng(0))
    learner.observe(sums, np.random.default_rng(0))
    with pytest.raises(ValueError, match="conclude"):
        learner.conclude(np.array([nan, 0.0]))


@pytest.mark.parametrize("facts", [(0, 10, 2, 2), (2, 0, 2, 2), (2, 10, 2, 0), (2, 10, 2, 3), (2, 10, 0, 0)])
def test_impossible_cohorts(facts):
    arms, horizon, members, participants = facts
    with pytest.raises(ValueError, match=r"schedule|part in a round"):
        learner_of(arms=arms, horizon=horizon, members=members, participants=participants)


def mistakes(**keys):
    found, problems = read(Elimination, keys)
    assert found is None
    return problems


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("epsilon", [0, -1.0, nan, -inf, "1", True]),
        ("rounds", [0, -1, 2.0, True, "3"]),
        ("participation", [0, -0.1, 1.01, 2, nan, inf, True]),
        ("gap", [0, -0.5, 1.5, nan, inf, True, "false", [0.1]]),
        ("aggregate", ["mean", 1, True]),
        ("epsilom", [1.0]),
    ],
)
def test_settings_refuse_what_cannot_be(key, values):
    for value in values:
        assert [place for place, _ in mistakes(**{key: value})] == [(key,)], value


def test_the_bare_word_true_is_told_what_to_be():
    assert mistakes(gap=True) == [(("gap",), 'must be "true" (in quotes) or a number > 0 and at most 1')]


def test_defaults():
    keys = Elimination()
    assert (keys.epsilon, keys.rounds, keys.participation, keys.gap, keys.aggregate) == (
        inf,
        None,
        1.0,
        None,
        "weighted",
    )
    assert Elimination(epsilon=1, participation=1, gap=1, rounds=1).gap == 1.0


def test_a_budget_needs_a_gap():
    assert mistaken(Elimination(rounds=4).check()) == ["gap"]
    assert mistaken(Elimination(rounds=4, gap="true").check()) == []
    assert mistaken(Elimination().check()) == []


def test_a_true_gap_needs_means_that_differ():
    def keys(facts, **keys):
        return mistaken(
            Elimination(**keys).check_with(others(bandit=SimpleNamespace(outline=lambda: Outline(**facts))))
        )

    equal = {"arms": 3, "has_gap": False}
    assert keys(equal, rounds=2, gap="true") == ["gap"]
    assert keys(equal, rounds=2, gap=0.1) == []
    assert keys(equal, gap="true") == []
    assert keys({"arms": 1, "has_gap": False}, rounds=2, gap="true") == []
    assert keys({"arms": 3, "has_gap": True}, rounds=2, gap="true") == []
    assert keys({}, rounds=2, gap="true") == []


def test_a_gap_without_a_budget_is_unused():
    assert notes(Elimination(gap=0.1).check()) == ["gap"]
    assert notes(Elimination(gap=0.1, rounds=2).check()) == []
    assert notes(Elimination().check()) == []


def test_settings_have_a_json_schema():
    schema = Elimination.model_json_schema()["properties"]
    assert {"const": "true", "type": "string"} in schema["gap"]["anyOf"]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["learner.epsilon=0.5"], "one reward spends 2.5 in a run, 5 times this"),
        (
            ["learner.epsilon=0.5", "protocol.kind=master-worker", "learner.participation=0.4"],
            "spends 1 in a run, 2 times",
        ),
        (["learner.epsilon_total=2.5"], ""),
        (["learner.epsilon=inf"], ""),
        (["learner.epsilon=0.5", "protocol.kind=silent"], ""),
        (["learner.epsilon=0.5", "protocol.kind=master-worker", "learner.participation=0.1"], ""),
    ],
)
def test_an_epsilon_of_which_one_reward_spends_more_is_a_note(keys, said):
    text = """
run = { horizon = 100 }
topology = { family = "ring", agents = 5 }
bandit = { kind = "bernoulli", means = [0.1, 0.9] }
learner = { kind = "elimination" }
protocol = { kind = "gis" }
"""
    notes = [note for note in check(load("scenario.toml", keys, text=text)).notes if "epsilon" in note]
    assert len(notes) == bool(said)
    assert all(said in note for note in notes)
