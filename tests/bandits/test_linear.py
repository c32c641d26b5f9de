import numpy as np
import pytest
from helpers.worlds import started

from netbandit.bandits.draws import beta, states, uniform
from netbandit.bandits.linear import Linear
from netbandit.part import read_part
from netbandit.streams import Streams


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
        assert 0.85 <= np.linalg.norm(bandit.theta) <= 1
        everybody = np.arange(bandit.agents)
        sets = bandit.actions(everybody)
        _, regrets = bandit.pull(everybody, np.zeros(bandit.agents, dtype=np.int64))
        for shown, regret in zip(sets, regrets, strict=True):
            assert np.all(np.linalg.norm(shown, axis=1) <= 1 + 1e-12)
            means = np.sort(shown @ bandit.theta)
            assert 0.7 <= means[-1] <= 0.8
            assert np.all((means[:-1] >= 0.5) & (means[:-1] <= 0.6))
            assert regret == pytest.approx(means[-1] - shown[0] @ bandit.theta, abs=1e-12)


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


@pytest.mark.parametrize(("law", "variance"), [("beta", None), ("bernoulli", None), ("gaussian", 0.04)])
def test_rewards_have_the_mean_and_the_variance_of_their_law(law: str, variance: float | None) -> None:
    bandit = build(rewards=law, deviation=0.2) if law == "gaussian" else build(rewards=law)
    who = np.zeros(1, dtype=np.int64)
    mean = float(bandit.actions(who)[0, 2] @ bandit.theta)
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
