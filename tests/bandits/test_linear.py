import numpy as np
import pytest
from helpers.worlds import started
from scipy import stats

from netbandit.bandits.draws import beta, states, uniform
from netbandit.bandits.linear import Linear
from netbandit.parts.component import read_part
from netbandit.util.streams import Streams


def generators(count: int) -> list[np.random.Generator]:
    return [Streams(3, 1).generator("rewards", agent) for agent in range(count)]


def build(agents: int = 3, seed: int = 0, **keys: object) -> Linear:
    streams = Streams(seed, 0)
    bandit = started(Linear.model_validate({"dimension": 4, "arms": 6, **keys}), agents, streams.generator)
    bandit.begin(streams.generator)
    return bandit


def mistakes(table: dict[str, object]) -> list[tuple[str | int, ...]]:
    return [path for path, _ in read_part(Linear, {"dimension": 4, "arms": 6, **table}, "bandit")[1]]


def test_compiled_uniforms_are_those_of_numpy() -> None:
    compiled = states(generators(4))
    for agent, generator in enumerate(generators(4)):
        assert [uniform(compiled[agent]) for _ in range(1_000)] == generator.random(1_000).tolist()


def test_compiled_betas_are_those_of_numpy() -> None:
    compiled = states(generators(1))
    (generator,) = generators(1)
    for mean in np.linspace(0.001, 0.999, 500):
        assert beta(compiled[0], mean) == pytest.approx(generator.beta(mean, 1 - mean), rel=1e-12, abs=1e-300)


def test_only_pcg64_can_be_compiled() -> None:
    with pytest.raises(ValueError, match="PCG64"):
        states([np.random.Generator(np.random.MT19937(0))])


@pytest.mark.parametrize("actions", ["fixed", "fresh"])
@pytest.mark.parametrize("dimension", [1, 2, 10])
@pytest.mark.parametrize("arms", [1, 7])
def test_one_arm_lies_in_the_best_band_and_the_others_in_theirs(actions: str, dimension: int, arms: int) -> None:
    for seed in range(20):
        bandit = build(actions=actions, dimension=dimension, arms=arms, seed=seed)
        assert 0.85 <= np.linalg.norm(bandit.vector) <= 1
        everybody = np.arange(bandit.agents)
        sets = bandit.actions(everybody)
        _, regrets = bandit.pull(everybody, np.zeros(bandit.agents, dtype=np.int64))
        for shown, regret in zip(sets, regrets, strict=True):
            assert np.all(np.linalg.norm(shown, axis=1) <= 1 + 1e-12)
            means = np.sort(shown @ bandit.vector)
            assert 0.7 <= means[-1] <= 0.8
            assert np.all((means[:-1] >= 0.5) & (means[:-1] <= 0.6))
            assert regret == pytest.approx(means[-1] - shown[0] @ bandit.vector, abs=1e-12)


def test_fresh_sets_differ_by_slot_and_agent_and_fixed_ones_do_not() -> None:
    fresh = build(actions="fresh")
    everybody = np.arange(fresh.agents)
    first = fresh.actions(everybody).copy()
    assert not np.allclose(first, fresh.actions(everybody))
    assert not np.allclose(first[0], first[1])
    fixed = build()
    assert np.shares_memory(fixed.actions(everybody), fixed.fixed_actions)
    assert (fixed.actions(everybody)[2] == fixed.fixed_actions).all()
    assert fresh.fixed_actions is None


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("law", "variance"), [("beta", None), ("bernoulli", None), ("gaussian", 0.04)])
def test_rewards_have_the_mean_and_the_variance_of_their_law(law: str, variance: float | None) -> None:
    bandit = build(rewards=law, deviation=0.2) if law == "gaussian" else build(rewards=law)
    who = np.zeros(1, dtype=np.int64)
    mean = float(bandit.actions(who)[0, 2] @ bandit.vector)
    drawn = np.array([bandit.pull(who, who + 2)[0][0] for _ in range(20_000)])
    # Beta(m, 1 - m) has the variance m (1 - m) / 2, half that of a coin.
    expected = variance or mean * (1 - mean) / (2 if law == "beta" else 1)
    assert drawn.mean() == pytest.approx(mean, abs=4 * np.sqrt(expected / drawn.size))
    assert drawn.var() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    ("table", "path"),
    [
        ({"gap_means": {"best": [0.8, 0.7]}}, ("gap_means", "best")),
        ({"gap_means": {"others": [0.5, 0.75]}}, ("gap_means", "others")),
        ({"gap_means": {"best": [0.4, 0.5]}}, ("gap_means", "best")),
        ({"gap_means": {"others": [0.0, 0.1]}}, ("gap_means", "others")),
        ({"gap_means": {"others": [-0.1, 0.1]}, "rewards": "bernoulli"}, ("gap_means", "others")),
    ],
)
def test_bands_that_cannot_be_are_said(table: dict[str, object], path: tuple[str, ...]) -> None:
    assert mistakes(table) == [("bandit", *path)]


def test_bands_below_zero_suit_gaussian_rewards() -> None:
    table = {"gap_means": {"best": [0.1, 0.2], "others": [-0.8, -0.1]}, "rewards": "gaussian"}
    assert mistakes(table) == []


def sets_of(bandit: Linear, count: int) -> np.ndarray:
    """Return the next sets of agent 0, shape (count, K, d)."""
    who = np.zeros(1, dtype=np.int64)
    return np.stack([bandit.actions(who)[0].copy() for _ in range(count)])


def test_entries_of_a_cube_are_uniform_and_means_follow() -> None:
    bandit = build(draw="cube", rewards="gaussian", dimension=3, arms=5)
    entries = sets_of(bandit, 2_000) * np.sqrt(3)
    assert stats.kstest(entries.ravel(), stats.uniform(-1, 2).cdf).pvalue > 1e-6
    covariance = np.cov(entries.reshape(-1, 3).T)
    assert covariance == pytest.approx(np.eye(3) / 3, abs=5 * 0.4 / np.sqrt(10_000))
    who = np.zeros(1, dtype=np.int64)
    shown = bandit.actions(who)[0]
    rewards = bandit.pull(who, who + 4)
    means = shown @ bandit.vector
    assert rewards[1][0] == pytest.approx(means.max() - means[4], abs=1e-12)


def test_a_cube_is_drawn_from_the_stream_of_the_agent_number_by_number() -> None:
    bandit = build(draw="cube", rewards="gaussian", dimension=3, arms=5)
    numbers = Streams(0, 0).generator("bandit.actions", 0).random(4 * 15).reshape(4, 5, 3)
    assert (sets_of(bandit, 4) == (2 * numbers - 1) * (1 / np.sqrt(3))).all()


@pytest.mark.ci
def test_a_pool_shows_some_of_its_vectors_none_twice_and_all_alike() -> None:
    bandit = build(draw="pool", rewards="gaussian", dimension=2, arms=40, agents=1)
    pool = bandit.world.pool
    assert pool.shape == (1_000, 2)
    assert np.linalg.norm(pool, axis=1) == pytest.approx(np.ones(1_000))
    numbers = {tuple(vector): number for number, vector in enumerate(pool.tolist())}
    assert len(numbers) == 1_000
    seen = np.array([[numbers[tuple(action)] for action in shown] for shown in sets_of(bandit, 2_500).tolist()])
    assert all(len(set(row)) == 40 for row in seen.tolist())
    # Without replacement each count has the variance n k/P (1 - k/P): less than multinomial, by the factor below.
    counts = np.bincount(seen.ravel(), minlength=1_000)
    statistic = ((counts - 100) ** 2 / 100).sum() / (1 - 40 / 1_000)
    assert 1e-6 < stats.chi2(999).sf(statistic) < 1 - 1e-6
    assert (bandit.world.order == np.arange(1_000)).all()


def test_the_entries_of_a_pool_had_falling_variances() -> None:
    """After scaling the ratio of two entries is Cauchy with the ratio of their deviations as its scale."""
    pool = build(draw="pool", rewards="gaussian", dimension=4, arms=2).world.pool
    for entry in range(1, 4):
        ratio = pool[:, entry] / pool[:, 0]
        assert stats.kstest(ratio, stats.cauchy(scale=np.sqrt((4 - entry) / 4)).cdf).pvalue > 1e-6


@pytest.mark.parametrize("draw", ["cube", "pool"])
def test_what_an_agent_is_shown_does_not_depend_on_the_others(draw: str) -> None:
    together, alone = (build(draw=draw, rewards="gaussian") for _ in range(2))
    for _ in range(5):
        shown = together.actions(np.arange(3))[2]
        assert (alone.actions(np.array([2]))[0] == shown).all()


@pytest.mark.parametrize("dimension", [1, 5])
def test_thetas(dimension: int) -> None:
    ones = build(draw="cube", rewards="gaussian", theta="ones", dimension=dimension).vector
    assert ones == pytest.approx(np.full(dimension, dimension**-0.5))
    positive = build(draw="cube", rewards="gaussian", theta="positive", dimension=dimension).vector
    drawn = Streams(0, 0).generator("bandit.theta", 0).random(dimension)
    assert positive == pytest.approx(drawn / np.linalg.norm(drawn))
    assert (positive >= 0).all()
    assert build(theta="positive", dimension=dimension).vector == pytest.approx(positive)


@pytest.mark.parametrize("draw", ["cube", "pool"])
def test_sets_of_a_cube_or_a_pool_are_fresh_unless_said_otherwise(draw: str) -> None:
    assert Linear(dimension=2, arms=2, draw=draw, rewards="gaussian").showing == "fresh"
    assert Linear(dimension=2, arms=2).showing == "fixed"
    fixed = build(draw=draw, rewards="gaussian", actions="fixed")
    assert (fixed.actions(np.arange(2))[1] == fixed.fixed_actions).all()


@pytest.mark.parametrize("draw", ["cube", "pool"])
def test_means_below_zero_need_gaussian_rewards(draw: str) -> None:
    assert mistakes({"draw": draw}) == [("bandit", "rewards")]
    assert mistakes({"draw": draw, "rewards": "bernoulli"}) == [("bandit", "rewards")]
    assert mistakes({"draw": draw, "rewards": "gaussian"}) == []


def test_a_pool_has_no_more_vectors_than_it_has() -> None:
    assert mistakes({"draw": "pool", "rewards": "gaussian", "arms": 1_001}) == [("bandit", "arms")]
    assert mistakes({"draw": "pool", "rewards": "gaussian", "arms": 1_000}) == []
