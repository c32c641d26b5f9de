from math import inf, nan

import pytest

from netbandit.privacy.accountant import account_block_means


def test_rounds_compose_in_parallel():
    spent = account_block_means(0.5, participants=4, members=10, releases=1)
    assert (spent.epsilon, spent.delta, spent.epsilon_claimed) == (2.0, 0.0, 5.0)
    assert account_block_means(0.5, participants=4, members=10, releases=7) == spent
    assert spent.unit == "one reward of one agent"


def test_nothing_released_spends_nothing():
    assert account_block_means(0.5, participants=4, members=10, releases=0).epsilon == 0
    assert account_block_means(inf, participants=4, members=10, releases=0).epsilon == 0


def test_without_noise_everything_is_spent():
    spent = account_block_means(inf, participants=4, members=10, releases=1)
    assert (spent.epsilon, spent.epsilon_claimed) == (inf, inf)


@pytest.mark.parametrize(
    ("epsilon", "participants", "members", "releases"),
    [(0, 1, 1, 1), (-1, 1, 1, 1), (nan, 1, 1, 1), (1, 0, 1, 1), (1, 2, 1, 1), (1, 1, 1, -1)],
)
def test_impossible_accounts(epsilon, participants, members, releases):
    with pytest.raises(ValueError, match="no account"):
        account_block_means(epsilon, participants=participants, members=members, releases=releases)


def test_the_guarantee_holds_for_the_noise_that_is_drawn():
    # The likelihood ratio of a released block mean under two neighbouring data sets is at most exp(N epsilon).
    from netbandit.privacy.mechanisms import block_mean_scale

    participants, epsilon, pulls = 5, 0.3, 17
    scale = block_mean_scale(participants, epsilon, pulls)
    worst_log_ratio = (1 / pulls) / scale
    spent = account_block_means(epsilon, participants=participants, members=5, releases=3)
    assert worst_log_ratio == pytest.approx(spent.epsilon, rel=1e-12)
