import numpy as np
import pytest
from helpers.worlds import started
from scipy.stats import chi2, kstest

from netbandit.bandits import vertical
from netbandit.bandits.vertical import Vertical
from netbandit.util.streams import Streams

ALMOST_NEVER = 1e-6
"""How often a test of chance fails where nothing is wrong."""


def world(agents=5, replication=0, **keys):
    streams = Streams(3, replication)
    return started(Vertical(**keys), agents, streams.generator), streams.generator


def test_theta_and_contexts_have_norm_one():
    bandit, generator = world(dimension=17, arms=4)
    users = bandit.users(2, generator)
    assert users.contexts.shape == (bandit.block, 4, 17)
    np.testing.assert_allclose(np.linalg.norm(users.contexts, axis=2), 1.0, rtol=1e-14)
    assert np.linalg.norm(bandit.parameter()) == pytest.approx(1.0, rel=1e-14)


def test_contexts_and_theta_point_anywhere_alike():
    """In three dimensions each coordinate of a vector of norm 1 is uniform on [-1, 1] (Archimedes)."""
    bandit, generator = world(agents=3, dimension=3, arms=2)
    contexts = bandit.users(0, generator).contexts[:3_000].reshape(-1, 3)
    thetas = np.array([world(agents=3, replication=number, dimension=3)[0].parameter() for number in range(400)])
    for vectors in (contexts, thetas):
        for column in range(3):
            assert kstest(vectors[:, column], "uniform", args=(-1, 2)).pvalue > ALMOST_NEVER


@pytest.mark.parametrize("noise", [0.0, 0.05, 2.0])
def test_rewards_are_linear_with_one_disturbance_a_user(noise):
    bandit, generator = world(dimension=30, arms=6, noise=noise)
    users = bandit.users(1, generator)
    disturbance = users.rewards - users.contexts @ bandit.theta
    np.testing.assert_allclose(disturbance, np.repeat(disturbance[:, :1], 6, axis=1), atol=1e-14)
    if noise:
        squares = float(np.sum((disturbance[:, 0] / noise) ** 2))
        assert ALMOST_NEVER < chi2.cdf(squares, bandit.block) < 1 - ALMOST_NEVER
        assert kstest(disturbance[:, 0] / noise, "norm").pvalue > ALMOST_NEVER
    else:
        np.testing.assert_allclose(disturbance, 0.0, atol=1e-14)


def test_regrets_are_free_of_noise():
    loud, generator = world(dimension=30, arms=6, noise=5.0)
    users = loud.users(1, generator)
    means = users.contexts @ loud.theta
    np.testing.assert_allclose(users.regrets, means.max(axis=1, keepdims=True) - means, atol=1e-14)
    assert (users.regrets.min(axis=1) == 0).all()


@pytest.mark.parametrize(("partial", "seen"), [(1.0, 20), (0.29, 6), (0.2, 4), (0.01, 1)])
def test_what_is_not_seen_still_pays(partial, seen):
    whole, generator = world(dimension=20, arms=3)
    part, _ = world(dimension=20, arms=3, partial=partial)
    first, second = whole.users(0, generator), part.users(0, generator)
    np.testing.assert_array_equal(first.contexts[:, :, :seen], second.contexts)
    np.testing.assert_array_equal(first.rewards, second.rewards)
    np.testing.assert_array_equal(first.regrets, second.regrets)
    assert part.seen == seen
    assert np.concatenate(part.columns).tolist() == list(range(seen))


def test_users_do_not_depend_on_the_learner_or_on_blocks_before(monkeypatch):
    bandit, generator = world(dimension=8, arms=2)
    later = bandit.users(3, generator)
    bandit.users(0, generator)
    again = bandit.users(3, generator)
    np.testing.assert_array_equal(later.contexts, again.contexts)
    np.testing.assert_array_equal(later.rewards, again.rewards)
    monkeypatch.setattr(vertical, "_NUMBERS_OF_A_BLOCK", 1)
    assert world(dimension=8, arms=2)[0].block == 1
