from fractions import Fraction

import numpy as np
import pytest
from helpers.worlds import started
from pydantic import ValidationError
from scipy import stats

from netbandit.bandits.bernoulli import Bernoulli
from netbandit.parts.component import read_part
from netbandit.util.streams import Streams


def build(agents=3, seed=0, replication=0, **keys):
    return started(Bernoulli(**keys), agents, Streams(seed, replication).generator)


def settled(means, agents):
    bandit = Bernoulli(arms=means.shape[-1] or 1)
    bandit.settle(means, agents)
    return bandit


def mistakes(**keys):
    with pytest.raises(ValidationError) as caught:
        Bernoulli.model_validate(keys)
    return [(error["loc"], error["msg"]) for error in caught.value.errors()]


def places(**keys):
    return [place for place, _ in mistakes(**keys)]


def test_given_means_are_taken_as_they_are():
    bandit = build(means=[0.2, 0.9, 0.5])
    assert (bandit.arm_count, bandit.agents) == (3, 3)
    assert bandit.agent_means.tolist() == [[0.2, 0.9, 0.5]] * 3
    assert bandit.global_means.tolist() == [0.2, 0.9, 0.5]
    assert bandit.gaps.tolist() == [0.9 - 0.2, 0.0, 0.9 - 0.5]
    assert bandit.smallest_gap == 0.9 - 0.5


def test_ties_at_the_top_are_no_gap():
    assert build(means=[0.5, 0.25, 0.5]).smallest_gap == 0.25
    assert build(means=[0.5, 0.5]).smallest_gap is None
    assert build(means=[0.5]).smallest_gap is None


def test_uniform_means_are_uniform():
    # Fixed seed; fails one seed in 1,000.
    means = build(agents=1, arms=20_000).global_means
    assert stats.kstest(means, "uniform").pvalue > 1e-3


def test_heterogeneous_means_surround_the_common_ones():
    agents, spread = 2_000, 0.3
    common = build(agents=1, arms=5).global_means
    bandit = build(agents=agents, arms=5, heterogeneity=spread)
    assert np.all(np.abs(bandit.agent_means - common) <= spread)
    assert np.all((bandit.agent_means >= 0) & (bandit.agent_means <= 1))
    # Each column follows clip(mean + U(-h, h)): uniform inside [0, 1], the rest of the mass on the border.
    # Fixed seed; five columns at 2 in 10,000 each: fails one seed in 1,000.
    for mean, column in zip(common, bandit.agent_means.T, strict=True):
        inside = column[(column > 0) & (column < 1)]
        low, high = max(0.0, mean - spread), min(1.0, mean + spread)
        assert stats.kstest(inside, stats.uniform(low, high - low).cdf).pvalue > 2e-4
        assert stats.binomtest(inside.size, agents, (high - low) / (2 * spread)).pvalue > 2e-4 or inside.size == agents


def test_global_mean_is_the_average_of_the_realised_means():
    bandit = build(agents=101, arms=4, heterogeneity=0.3)
    for arm in range(4):
        exact = sum(Fraction(float(mean)) for mean in bandit.agent_means[:, arm]) / 101
        assert bandit.global_means[arm] == pytest.approx(float(exact), rel=2**-52)
    assert np.array_equal(bandit.gaps, bandit.global_means.max() - bandit.global_means)


def test_global_means_do_not_depend_on_the_order_of_the_agents():
    means = np.random.default_rng(3).random((1_000, 7))
    shuffled = np.random.default_rng(4).permutation(means)
    assert np.array_equal(settled(means, 1_000).global_means, settled(shuffled, 1_000).global_means)


def test_same_seed_same_instance():
    first, again = build(arms=6, heterogeneity=0.1, seed=5), build(arms=6, heterogeneity=0.1, seed=5)
    assert np.array_equal(first.agent_means, again.agent_means)
    assert not np.array_equal(first.agent_means, build(arms=6, heterogeneity=0.1, seed=6).agent_means)
    assert not np.array_equal(first.agent_means, build(arms=6, heterogeneity=0.1, seed=5, replication=1).agent_means)


def test_an_instance_cannot_be_changed():
    bandit = build(means=[0.2, 0.9])
    for array in (bandit.agent_means, bandit.global_means, bandit.gaps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def bandit_pulls(bandit, rng, arm, pulls, blocks):
    """Return the sums of *pulls* single pulls of agent 1, *blocks* times."""
    agents, arms = np.ones(blocks, dtype=np.int64), np.full(blocks, arm)
    drawn = (bandit.pull(slot, agents, arms, bandit.draw(rng, blocks)) for slot in range(pulls))
    return sum(drawn).astype(np.int64)


def test_a_block_has_the_law_of_single_pulls():
    """Chi-square of blocks against single pulls, and of blocks against the binomial law.

    Fixed seed; four checks at 2.5 in 10,000 each: fails one seed in 1,000.
    """
    pulls, blocks = 6, 10_000
    bandit = build(agents=2, means=[0.3, 0.85])
    rng = np.random.default_rng(11)
    for arm, mean in enumerate([0.3, 0.85]):
        drawn = bandit.pull_blocks(rng, np.zeros(blocks, dtype=np.int64), np.array([arm]), pulls).ravel()
        single = bandit_pulls(bandit, rng, arm, pulls, blocks)
        # Outcomes too rare for a chi-square are counted together with their neighbour towards the middle.
        expected = stats.binom(pulls, mean).pmf(np.arange(pulls + 1)) * blocks
        lowest, highest = np.flatnonzero(expected >= 5)[[0, -1]]
        bins = highest - lowest + 1
        counts, reference, singles = (
            np.bincount(np.clip(outcomes, lowest, highest) - lowest, weights=weights, minlength=bins)
            for outcomes, weights in ((drawn, None), (np.arange(pulls + 1), expected), (np.array(single), None))
        )
        assert stats.chisquare(counts, reference).pvalue > 2.5e-4
        assert stats.chi2_contingency([counts, singles]).pvalue > 2.5e-4


def test_long_blocks_have_the_right_law():
    # Another algorithm of numpy draws these; fixed seed, two checks at 5 in 10,000 each.
    pulls, mean = 10_000, 0.4
    drawn = build(agents=1, means=[mean]).pull_blocks(
        np.random.default_rng(12), np.zeros(20_000, dtype=np.int64), np.array([0]), pulls
    )
    scores = (drawn.ravel() - pulls * mean) / np.sqrt(pulls * mean * (1 - mean))
    assert abs(scores.mean()) < stats.norm.isf(2.5e-4) / np.sqrt(scores.size)
    low, high = stats.chi2(scores.size).ppf([2.5e-4, 1 - 2.5e-4])
    assert low < np.sum(scores**2) < high


def test_blocks_belong_to_their_agent_and_arm():
    means = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    bandit = settled(means, 3)
    sums = bandit.pull_blocks(np.random.default_rng(1), np.array([2, 0]), np.array([0, 2]), 9)
    assert sums.tolist() == [[9, 0], [0, 0]]
    assert sums.dtype == np.int64


def test_block_lengths():
    bandit = build(means=[1.0])
    one, arm = np.array([0]), np.array([0])
    rng = np.random.default_rng(1)
    assert bandit.pull_blocks(rng, one, arm, 0).tolist() == [[0]]
    assert bandit.pull_blocks(rng, one, arm, 10**12).tolist() == [[10**12]]
    for pulls in (-1, 2**63):
        with pytest.raises(ValueError, match="cannot draw"):
            bandit.pull_blocks(rng, one, arm, pulls)


@pytest.mark.parametrize(
    ("means", "agents"), [([0.5, 1.1], 2), ([-0.1], 2), ([float("nan")], 2), ([], 2), ([0.5], 0), ([[0.5]], 2)]
)
def test_impossible_instances(means, agents):
    with pytest.raises(ValueError, match="mean"):
        settled(np.array(means), agents)


def test_settings_refuse_what_cannot_be():
    assert places(arms=0) == [("arms",)]
    assert places(arms=2.0) == [("arms",)]
    assert places(arms=True) == [("arms",)]
    assert places(arms=2, heterogeneity=-0.1) == [("heterogeneity",)]
    assert places(arms=2, heterogeneity=float("nan")) == [("heterogeneity",)]
    assert places(arms=2, seed=-1) == [("seed",)]
    assert places(arms=2, gap=0.1) == [("gap",)]


def test_each_wrong_mean_is_named_once():
    assert places(means=[0.5, 1.5, "x", True, -1, float("nan")]) == [("means", index) for index in range(1, 6)]
    assert places(means=[]) == [("means",)]
    for means in ("unifrom", 0.5, True, {}):
        (mistake,) = mistakes(means=means)
        assert mistake == (("means",), 'must be "uniform" or a list of numbers from 0 to 1, or one for each agent')
    for means in ([[0.5, 0.2], 0.3], [0.3, [0.5, 0.2]]):
        (mistake,) = mistakes(means=means)
        assert mistake[1].endswith("or one for each agent, not numbers beside lists")


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        ({}, ["arms"]),
        ({"means": "uniform"}, ["arms"]),
        ({"arms": 3, "means": [0.1, 0.2]}, ["arms"]),
        ({"arms": 2, "means": [0.1, 0.2]}, []),
        ({"means": [0.1, 0.2]}, []),
        ({"arms": 5}, []),
        ({"arms": 0, "means": [0.1]}, []),  # already wrong alone
        ({"arms": "x", "means": 3}, []),
        ({"means": 3}, []),
    ],
)
def test_mistakes_between_keys(table, keys):
    _, problems, _ = read_part(Bernoulli, table, "bandit")
    assert [path[1] for path, text in problems if "is missing" in text or text.startswith("is ")] == keys


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"arms": 4}, (4, None, True)),
        ({"arms": 1}, (1, None, False)),
        ({"means": [0.1, 0.2]}, (2, None, True)),
        ({"means": [0.2, 0.2]}, (2, None, False)),
        ({"means": [0.2, 0.2], "heterogeneity": 0.1}, (2, None, True)),
    ],
)
def test_what_is_known_before_the_draw(keys, facts):
    assert Bernoulli(**keys).outline() == facts


def test_integers_are_means_too():
    assert build(means=[0, 1]).agent_means.tolist() == [[0.0, 1.0]] * 3


def test_the_partner_of_a_heterogeneous_instance_has_its_global_means():
    keys = {"arms": 10, "heterogeneity": 0.3}
    draw = Streams(1, 2).generator
    differing = started(Bernoulli(**keys), 5, draw)
    partner = started(Bernoulli(**keys, averaged=True), 5, draw)
    assert (partner.agent_means == differing.global_means).all()
    assert (partner.global_means == differing.global_means).all()
    assert (partner.gaps == differing.gaps).all()
    assert (differing.agent_means != partner.agent_means).any()
    assert [note.key for note in Bernoulli(arms=2, averaged=True).check()] == ["averaged"]
    assert not list(Bernoulli(**keys, averaged=True).check())


def test_a_world_of_ones_own_may_do_no_more_than_settle_its_means():
    class Halves(Bernoulli):
        def start(self, agents, generator):
            self.settle(np.full(self.arms, 0.5), agents)

    world = Halves(arms=3)
    world.start(2, None)
    assert world.means_at(7).tolist() == [[0.5] * 3] * 2
