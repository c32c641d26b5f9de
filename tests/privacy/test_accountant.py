from math import expm1, inf, log, nan, sqrt

import pytest
from dp_accounting import dp_event, get_epsilon_gaussian
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from netbandit.learners.pfcb_schedule import round_epsilon
from netbandit.privacy.accountant import HELD_FIXED, MADE, account_block_means, account_statistics
from netbandit.privacy.gaussian import exact_epsilon, noise_multiplier


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

    epsilon = account_block_means(ratio, participants=1, members=1, releases=1).epsilon
    loss = LaplacePrivacyLoss(parameter=1.0, sensitivity=ratio)
    assert epsilon == loss.connect_dots_bounds().epsilon_upper
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


def paper_rounds():
    return [round_epsilon(1.0, 100_000, 9, number) for number in range(1, 10)]


def test_a_quantity_is_told_in_one_round_only():
    spent = account_statistics(paper_rounds(), 0.01, claimed=1.0)
    assert (spent.epsilon, spent.delta) == (pytest.approx(0.136, abs=5e-4), 0.01)
    # An independent account of the two releases: their loss distributions composed, for a capacity of 1.
    accountant = PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(sqrt(2 * log(125)) / max(paper_rounds())), 2)
    assert spent.epsilon == pytest.approx(accountant.get_epsilon(0.01), rel=1e-3)
    assert account_statistics(paper_rounds()[:1], 0.01, claimed=1.0).epsilon == spent.epsilon
    assert spent.epsilon_claimed == 1.0


def test_basic_composition_stands_beside_it_by_its_name():
    assert account_statistics(paper_rounds(), 0.01, claimed=1.0).basic == (
        pytest.approx(1.54, abs=0.005),
        pytest.approx(0.18),
    )
    assert account_statistics([], 0.01, claimed=1.0).basic is None
    assert account_statistics([inf], 0.01, claimed=inf).epsilon == inf


@given(st.floats(1e-3, 50), st.floats(1e-6, 0.4))
def test_basic_composition_is_an_upper_bound_of_what_is_exact(epsilon, delta):
    spent = account_statistics([epsilon], delta, claimed=epsilon)
    bound, at_delta = spent.basic
    assert at_delta == 2 * delta
    # Both at one delta: that of basic composition is twice as large.
    assert exact_epsilon(at_delta, noise_multiplier(epsilon, delta) / sqrt(2)) <= bound * (1 + 1e-9)


def test_no_account_is_without_its_limits():
    means = account_block_means(0.5, participants=4, members=10, releases=1)
    assert "Laplace" in means.accountant
    assert means.caveats == (MADE,)
    assert account_statistics([0.5], 0.01, claimed=1.0).caveats == (MADE, HELD_FIXED)


@pytest.mark.parametrize(("multiplier", "delta"), [(0.1, 0.1), (1.0, 1e-5), (7.9, 0.01), (0.5, 1e-100)])
def test_the_gaussians_epsilon_is_that_of_dp_accounting(multiplier, delta):
    expected = get_epsilon_gaussian(multiplier, delta)
    assert exact_epsilon(delta, multiplier) == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize(("multiplier", "at_least"), [(0.5, 0.18), (1.0, 0.25), (3.5, 0.5)])
def test_delta_is_not_the_probability_with_which_epsilon_is_exceeded(multiplier, at_least):
    # The loss of one Gaussian release is normal, with mean mu^2 / 2 and variance mu^2, mu = 1 / multiplier.
    epsilon, mu = exact_epsilon(0.1, multiplier), 1 / multiplier
    exceeds = norm.sf((epsilon - mu**2 / 2) / mu)
    assert exceeds > at_least > 0.1
