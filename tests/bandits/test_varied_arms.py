"""Worlds of arms whose means change, that not everybody has, or that pay by other laws."""

import numpy as np
import pytest
from helpers.examples import examples
from helpers.scenes import run
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from netbandit.bandits.bernoulli import Bernoulli
from netbandit.bandits.gaussian import Gaussian
from netbandit.bandits.mixed import Mixed, centre, truncated_mean, truncated_quantile
from netbandit.parts.component import Others
from netbandit.scenario.errors import ScenarioError
from netbandit.simulation.execution import executed
from netbandit.util.streams import Streams

EVERYBODY = np.arange(3)


def started(bandit, agents=3, horizon=1_000, seed=0):
    fresh = bandit.fresh()
    fresh.horizon = horizon
    fresh.start(agents, Streams(seed, 0).generator)
    return fresh


def texts(checks):
    return [(found.key, found.text) for found in checks]


def test_means_change_at_their_slots_and_regret_follows():
    world = started(Bernoulli(means=[0.2, 0.5], changes=[{"slot": 10, "means": [0.9, 0.1]}]), horizon=30)
    assert world.means_at(9).tolist()[0] == [0.2, 0.5] or world.means_at(9).tolist() == [0.2, 0.5]
    assert world.means_at(10).tolist() == [0.9, 0.1]
    zeros = np.zeros(3, dtype=np.int64)
    assert world.regrets(9, EVERYBODY, zeros) == pytest.approx([0.3] * 3)
    assert world.regrets(10, EVERYBODY, zeros) == pytest.approx([0.0] * 3)
    assert world.regrets(3, EVERYBODY, zeros) == pytest.approx([0.3] * 3)  # asked for an earlier slot again
    # Arm 0 adds up to 10 * .2 + 20 * .9 = 20, arm 1 to 10 * .5 + 20 * .1 = 7.
    assert world.best_static == 0
    assert world.static_regrets(5, np.array([1])) == pytest.approx([0.2 - 0.5])


@examples(40)
@given(st.integers(2, 200), st.integers(1, 6), st.integers(0, 5), st.integers(0, 50))
def test_breakpoints_are_distinct_slots_within_the_horizon(horizon, arms, count, seed):
    count = min(count, horizon - 1)
    world = started(Bernoulli(arms=arms, breakpoints=count), horizon=horizon, seed=seed)
    starts = world.course.starts
    assert starts[0] == 0
    assert sorted(set(starts)) == starts
    assert len(starts) == count + 1
    assert starts[-1] < horizon
    assert world.course.lengths().sum() == horizon
    for slot in range(horizon):
        period = max(place for place, start in enumerate(starts) if start <= slot)
        assert world.course.period(slot) == period


@examples(60)
@given(st.integers(1, 12), st.sets(st.integers(1, 14), min_size=1), st.booleans())
def test_listed_changes_begin_at_their_slots_however_many_and_however_late(horizon, slots, own):
    listed = [0, *sorted(slots)]
    changes = [{"slot": slot, "means": [0.5, slot / 20]} for slot in listed[1:]]
    sets = [[0, 1], [1], [0]] if own else None
    world = started(Bernoulli(means=[0.5, 0.0], changes=changes, arm_sets=sets), horizon=horizon)
    for slot in range(horizon):
        now = max(each for each in listed if each <= slot)
        assert world.means_at(slot).tolist() == [0.5, now / 20]
    assert world.course.lengths().sum() == horizon
    found = texts(world.check_with(Others(horizon=horizon, agents=3, kinds={"learner": "ucb"})))
    late = [place for place, slot in enumerate(listed[1:]) if slot >= horizon]
    assert [key for key, _ in found] == [("changes", place, "slot") for place in late[:1]]
    assert all("has no effect: the run ends before it" in text for _, text in found)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", ["plain", "compiled"])
@pytest.mark.parametrize(("horizon", "slot"), [(2, 7), (3, 3), (2, 1)])
@pytest.mark.parametrize(("learner", "protocol"), [("ucb", "silent"), ("thompson", "local"), ("dec-ucb", "consensus")])
def test_a_change_beyond_the_horizon_costs_nothing(tmp_path, how, horizon, slot, learner, protocol):
    """Means of 0 and 1: whoever tries each arm once loses 1, and less is lost only by a change that comes."""
    world = 'kind = "bernoulli"\nmeans = [0.0, 1.0]'
    text = SCENARIO.format(bandit=world, learner=learner).replace("silent", protocol)
    later = f"bandit.changes=[{{ slot = {slot}, means = [0.8, 0.2] }}]"
    with executed(how):
        changed, constant = (
            run(tmp_path, f"run.horizon={horizon}", *more, text=text).metrics for more in ([later], [])
        )
    assert (changed["regret"] == constant["regret"]) == (slot >= horizon)


def test_a_drift_takes_normal_steps_and_stays_between_zero_and_one():
    world = started(Bernoulli(arms=40, drift=0.003), horizon=4_000)
    means = world.course.means
    assert ((means >= 0) & (means <= 1)).all()
    inside = (means[:-1] > 0.05) & (means[:-1] < 0.95)
    steps = np.diff(means, axis=0)[inside]
    assert len(steps) > 50_000
    # Of 60,000 steps the deviation is within 2 % of the true one but for one case in 10^10.
    assert steps.std() == pytest.approx(0.003, rel=0.02)


def test_only_one_way_of_changing_and_only_what_fits():
    found = Bernoulli(means=[0.1, 0.9], changes=[{"slot": 5, "means": [0.5, 0.5, 0.5]}], drift=0.1)
    assert [key for key, _ in texts(found.check())] == ["drift", ("changes", 0, "means")]
    found = Bernoulli(means=[0.1, 0.9], changes=[{"slot": 5, "means": [0.5, 2.0]}, {"slot": 5, "means": [0.5, 0.5]}])
    assert [key for key, _ in texts(found.check())] == [("changes", 1, "slot"), ("changes", 0, "means")]
    assert [key for key, _ in texts(Bernoulli(means=[0.1, 0.9], breakpoints=2).check())] == ["breakpoints"]


@examples(40)
@given(st.integers(1, 6), st.integers(1, 8), st.integers(1, 8), st.integers(0, 100))
def test_each_agent_has_as_many_arms_as_it_should_and_each_arm_is_somebodys(agents, arms, own, seed):
    own = min(own, arms)
    if own * agents < arms:
        return
    try:
        world = started(Bernoulli(arms=arms, arms_per_agent=own), agents=agents, seed=seed)
    except ValueError:
        assert own * agents < 2 * arms  # so few that a thousand draws can all fail
        return
    assert world.own_arms.shape == (agents, arms)
    assert (world.own_arms.sum(axis=1) == own).all()
    assert world.own_arms.any(axis=0).all()
    best = np.where(world.own_arms, world.course.means[0], -1).max(axis=1)
    for arm in range(arms):
        expected = best - world.course.means[0][arm]
        assert world.regrets(0, np.arange(agents), np.full(agents, arm)) == pytest.approx(expected)


def test_sets_that_are_given():
    world = started(Gaussian(means=[1.0, 5.0, 3.0], arm_sets=[[0], [0, 2], [1, 2]]))
    assert world.regrets(0, EVERYBODY, np.array([0, 0, 2])).tolist() == [0.0, 2.0, 2.0]
    assert [key for key, _ in texts(Gaussian(means=[1.0, 2.0], arm_sets=[[0], [2], [1, 1], []]).check())] == [
        ("arm_sets", 1),
        ("arm_sets", 2),
        ("arm_sets", 3),
    ]


def test_normal_rewards_have_their_law_pull_by_pull_and_in_blocks():
    world = started(Gaussian(means=[2.0, -1.0], sigma=[0.5, 3.0]))
    assert (world.law, world.sub_gaussian) == ("gaussian", 3.0)
    rng = np.random.default_rng(1)
    numbers = world.draw(rng, 20_000)
    rewards = world.pull(0, np.zeros(20_000, dtype=np.int64), np.ones(20_000, dtype=np.int64), numbers)
    assert stats.kstest(rewards, stats.norm(-1, 3).cdf).pvalue > 1e-6
    sums = np.concatenate([world.pull_blocks(rng, EVERYBODY, np.array([0, 1]), 9) for _ in range(3_000)])
    assert stats.kstest(sums[:, 0], stats.norm(18, 1.5).cdf).pvalue > 1e-6
    assert stats.kstest(sums[:, 1], stats.norm(-9, 9).cdf).pvalue > 1e-6


def test_numbers_drawn_in_blocks_are_the_same():
    for world in (started(Gaussian(means=[0.0])), started(Bernoulli(means=[0.5])), started(Mixed(means=[0.5]))):
        whole = world.draw(np.random.default_rng(5), 100)
        rng = np.random.default_rng(5)
        assert np.concatenate([world.draw(rng, 30), world.draw(rng, 70)]).tolist() == whole.tolist()


@pytest.mark.parametrize("mean", [0.05, 0.3, 0.5, 0.93])
def test_a_cut_normal_has_the_mean_of_its_arm(mean):
    at = centre(mean, 0.05)
    assert truncated_mean(at, 0.05) == pytest.approx(mean, abs=1e-10)
    law = stats.truncnorm((0 - at) / 0.05, (1 - at) / 0.05, loc=at, scale=0.05)
    chances = np.array([0.001, 0.2, 0.5, 0.9, 0.999])
    assert truncated_quantile(chances, at, 0.05) == pytest.approx(law.ppf(chances), abs=1e-9)


def test_mixed_laws_have_the_arms_means_and_lie_between_zero_and_one():
    world = started(Mixed(means=[0.1, 0.5, 0.9], differ="agents"), agents=50)
    assert set(np.unique(world.law_of)) == {0, 1, 2}
    numbers = (np.arange(20_000) + 0.5) / 20_000  # evenly through the law: no noise
    for agent in range(9):
        for arm in range(3):
            rewards = world.pull(0, np.full(20_000, agent), np.full(20_000, arm), numbers)
            assert ((rewards >= 0) & (rewards <= 1)).all()
            assert rewards.mean() == pytest.approx([0.1, 0.5, 0.9][arm], abs=2e-4)
            if world.law_of[agent, arm] == 1:
                assert rewards.std() == pytest.approx(0.05, abs=1e-3)
    alike = started(Mixed(arms=8, differ="arms"), agents=5)
    assert (alike.law_of == alike.law_of[0]).all()


SCENARIO = """
[run]
horizon = 400
[topology]
family = "ring"
agents = 4
[bandit]
{bandit}
[learner]
kind = "{learner}"
[protocol]
kind = "silent"
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("bandit", "learner", "key"),
    [
        ('kind = "gaussian"\nmeans = [0.0, 1.0]', "ucb", None),
        ('kind = "mixed"\narms = 3', "klucb", None),
        ('kind = "bernoulli"\narms = 3\nbreakpoints = 2', "ucb", None),
        ('kind = "bernoulli"\narms = 3\narms_per_agent = 2', "thompson", None),
        ('kind = "bernoulli"\narms = 3\ndrift = 0.01', "elimination", "learner.kind"),
        ('kind = "bernoulli"\narms = 3\narms_per_agent = 2', "elimination", "learner.kind"),
        ('kind = "bernoulli"\narms = 3\nbreakpoints = 400', "ucb", "bandit.breakpoints"),
        ('kind = "bernoulli"\narms = 9\narms_per_agent = 2', "ucb", "bandit.arms_per_agent"),
        ('kind = "gaussian"\nmeans = [0.0, 1.0]', "elimination", None),
    ],
)
def test_learners_play_them_or_check_says_why_not(tmp_path, bandit, learner, key):
    import netbandit

    file = tmp_path / "world.toml"
    file.write_text(SCENARIO.format(bandit=bandit, learner=learner))
    if key is not None:
        with pytest.raises(Exception, match=key.replace(".", r"\.")):
            netbandit.run(file, out=tmp_path / "out")
        return
    found = netbandit.run(file, out=tmp_path / "out")
    values = dict(zip(found["metric"], found["value"], strict=True))
    assert values["regret"] >= 0
    if "breakpoints" in bandit:
        assert values["regret_static"] <= values["regret"] + 1e-9


@pytest.mark.parametrize(
    ("breakpoints", "horizon", "arms", "text"),
    [
        (999_999_999, 10**9, 2, "2,000,000,000 means, of each arm"),
        (4 * 10**7, 10**9, 2, "80,000,002 means, of each arm"),
        (21 * 10**6, 10**9, 2, "some 8.2 GB of memory; 1 GB is available here"),
        (20 * 10**6, 10**9, 2, "some 1.8 GB of memory"),  # of so few slots not all are numbered
        (10**6, 10**9, 2, None),
        (10**6, 10**7, 2, None),
    ],
)
def test_breakpoints_that_do_not_fit_the_memory_are_refused(monkeypatch, breakpoints, horizon, arms, text):
    monkeypatch.setattr("netbandit.util.memory.affordable", lambda: 10**9)
    world = Bernoulli(arms=arms, breakpoints=breakpoints)
    found = texts(world.check_with(Others(horizon=horizon, kinds={"learner": "ucb"})))
    assert [key for key, _ in found] == ["breakpoints"] * (text is not None)
    assert text is None or text in found[0][1]


def test_what_never_changes_costs_as_before(tmp_path):
    """A world with a change that changes nothing gives the regret of the same world without one."""
    import netbandit

    found = []
    for place, extra in enumerate(["", "\nchanges = [{ slot = 200, means = [0.2, 0.8] }]"]):
        file = tmp_path / f"world{place}.toml"
        file.write_text(SCENARIO.format(bandit=f'kind = "bernoulli"\nmeans = [0.2, 0.8]{extra}', learner="ucb"))
        table = netbandit.run(file, out=tmp_path / f"out{place}")
        found.append(float(table[table["metric"] == "regret"]["value"].iloc[0]))
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("kind", [Bernoulli, Gaussian])
def test_means_can_be_listed_by_agent(kind):
    rows = [[0.1, 0.9], [0.8, 0.3], [1.0, 0.0]]
    world = started(kind(means=rows))
    assert world.agent_means.tolist() == rows
    assert world.global_means == pytest.approx([1.9 / 3, 0.4])
    assert world.outline().arms == 2
    assert world.outline().has_gap
    assert not kind(means=[[0.0, 1.0], [1.0, 0.0]]).outline().has_gap
    near = started(kind(means=rows, heterogeneity=0.2))
    shifts = Streams(0, 0).generator("bandit.heterogeneity").uniform(-0.2, 0.2, (3, 2))
    assert near.agent_means == pytest.approx(np.clip(np.array(rows) + shifts, *kind.bounds))
    changed = started(kind(means=rows, changes=[{"slot": 5, "means": [0.5, 0.5]}]))
    assert changed.means_at(4) == pytest.approx(np.array(rows))
    shifted = np.array(rows) - np.array(rows).mean(axis=0) + 0.5
    assert changed.means_at(5) == pytest.approx(np.clip(shifted, *kind.bounds))


def test_means_by_agent_are_told_apart_from_the_wrong_number_of_them(tmp_path):
    three = "bandit={kind='bernoulli', means=[[0.1, 0.9], [0.8], [1.0, 1.5]]}"
    with pytest.raises(ScenarioError) as wrong:
        run(tmp_path, three)
    assert any("bandit.means[2][1]" in line for line in wrong.value.lines)
    with pytest.raises(ScenarioError) as wrong:
        run(tmp_path, three.replace("1.5", "0.5"))
    (line,) = wrong.value.lines
    assert "bandit.means[1]: lists 1 mean, but there are 2 arms in the row of agent 0" in line
    with pytest.raises(ScenarioError) as wrong:
        run(tmp_path, "bandit={kind='gaussian', means=[[0.1, 0.9], [0.8, 0.3]]}")
    (line,) = wrong.value.lines
    assert "lists the means of 2 agents, but there are 4 agents" in line
