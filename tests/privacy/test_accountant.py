from math import expm1, inf, nan

import pytest

from netbandit.privacy.accountant import account_block_means, laplace_epsilon


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


@pytest.mark.parametrize("ratio", [1e-3, 0.1, 1.0, 30.3, 50.0, 1e5])
def test_epsilon_of_laplace_noise_is_where_no_failure_is_left(ratio):
    # delta(e) = P(loss > e) - exp(e) Q(loss > e) for Laplace densities with scale 1 that lie ratio apart:
    # 1 - exp((e - ratio) / 2) up to e = ratio, and nothing beyond.
    from dp_accounting.pld.privacy_loss_mechanism import LaplacePrivacyLoss

    epsilon = laplace_epsilon(ratio)
    assert epsilon == ratio
    loss = LaplacePrivacyLoss(parameter=1.0, sensitivity=ratio)
    for below in (0.25 * ratio, 0.75 * ratio):
        assert loss.get_delta_for_epsilon(below) == pytest.approx(-expm1((below - ratio) / 2), rel=1e-9)
    assert loss.get_delta_for_epsilon(epsilon * (1 + 1e-9)) == pytest.approx(0, abs=1e-12)


def test_blocks_compose_in_parallel_not_one_after_the_other():
    # Two neighbouring data sets differ in one block: the log likelihood ratios of all other blocks are zero.
    participants, epsilon, blocks = 7, 0.25, [3, 11, 40, 160]
    scales = [1 / (participants * epsilon * pulls) for pulls in blocks]
    worst = max((1 / pulls) / scale for pulls, scale in zip(blocks, scales, strict=True))
    spent = account_block_means(epsilon, participants=participants, members=9, releases=len(blocks))
    assert spent.epsilon == pytest.approx(worst, rel=1e-12)
    assert spent.epsilon < sum((1 / pulls) / scale for pulls, scale in zip(blocks, scales, strict=True))
