from math import log, sqrt

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from netbandit.privacy.tree import Tree
from netbandit.privacy.tree_calibration import DATA_DEPENDENT, account_tree, calibrate, depth_of


def nodes_of(release):
    """Return the dyadic intervals that cover 1..release, as (first, last)."""
    found, first = [], 1
    for level in reversed(range(release.bit_length())):
        if release >> level & 1:
            found.append((first, first + 2**level - 1))
            first += 2**level
    return found


def releases(count, runs, size=1, deviation=1.0, seed=0):
    found = np.empty((runs, count, size, size))
    for run in range(runs):
        tree = Tree(size, deviation, np.random.default_rng([seed, run]))
        for release in range(count):
            found[run, release] = tree.release(np.zeros((size, size)))
    return found


def test_releases_are_running_sums_without_noise():
    tree = Tree(2, 0.0, np.random.default_rng(0))
    leaves = np.arange(20.0).reshape(5, 2, 2)
    for count, leaf in enumerate(leaves, start=1):
        assert np.array_equal(tree.release(leaf), leaves[:count].sum(axis=0))


def test_a_release_covers_what_it_sums_with_few_nodes():
    tree = Tree(2, 1.0, np.random.default_rng(0))
    for release in range(1, 200):
        tree.release(np.zeros((2, 2)))
        assert tree.nodes == len(nodes_of(release)) == release.bit_count() <= depth_of(release)


@pytest.mark.ci
def test_the_covariance_of_releases_is_that_of_the_nodes_they_share():
    count, runs = 12, 10_000
    noise = releases(count, runs)[:, :, 0, 0]
    shared = [
        [2.0 * len(set(nodes_of(one)) & set(nodes_of(other))) for other in range(1, count + 1)]
        for one in range(1, count + 1)
    ]  # twice the variance of N' on the diagonal
    covariance = noise.T @ noise / runs
    # Each entry errs by about sqrt((c_ii c_jj + c_ij^2) / runs): six of these, over 78 entries, once in 10^7.
    variance = np.diag(shared)
    error = np.sqrt((np.outer(variance, variance) + np.square(shared)) / runs)
    assert np.all(np.abs(covariance - shared) < 6 * error)


@pytest.mark.ci
def test_noise_is_symmetric_and_has_the_right_variance_off_the_diagonal():
    noise = releases(1, 20_000, size=3, deviation=2.5)[:, 0]
    assert np.array_equal(noise, np.swapaxes(noise, 1, 2))
    runs = len(noise)
    for row, column, variance in [(0, 1, 2.5**2), (1, 2, 2.5**2), (0, 0, 2 * 2.5**2), (2, 2, 2 * 2.5**2)]:
        found = np.square(noise[:, row, column]).sum() / variance
        assert chi2.ppf(1e-7, runs) < found < chi2.ppf(1 - 1e-7, runs)


@given(st.integers(1, 300), st.integers(0, 2**31))
def test_the_noise_of_a_node_never_changes(count, seed):
    tree = Tree(1, 1.0, np.random.default_rng(seed))
    noise = {}
    for release in range(1, count + 1):
        value = float(tree.release(np.zeros((1, 1)))[0, 0])
        known = [noise[node] for node in nodes_of(release) if node in noise]
        fresh = [node for node in nodes_of(release) if node not in noise]
        assert len(fresh) == 1
        noise[fresh[0]] = value - sum(known)
        again = sum(noise[node] for node in nodes_of(release))
        assert again == pytest.approx(value, abs=1e-9)


def test_the_papers_noise_is_that_of_its_formulas():
    noise = calibrate("paper", epsilon=0.5, delta=0.01, alpha=0.05, dimension=7, releases=1000, trees=30)
    m = 11
    union = log(2 * 1000 * 30 / 0.05)
    assert noise.depth == m
    assert noise.deviation**2 == pytest.approx(16 * m * 4 * log(200) ** 2 / 0.25)
    assert noise.shift == pytest.approx(sqrt(32) * m * 2 * log(400) * (4 * sqrt(7) + 2 * union) / 0.5)
    assert noise.kappa(7) == pytest.approx(sqrt(m) * noise.deviation * (sqrt(7) + sqrt(2 * union)) / sqrt(noise.shift))
    assert noise.paper_kappa(7, 0.5) == pytest.approx(sqrt(m * 2 * (sqrt(7) + 2 * union) / (sqrt(2) * 0.5)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("delta", [0.1, 1e-5])
def test_what_a_tree_spends_is_what_the_accountant_says(epsilon, delta):
    noise = calibrate("zcdp", epsilon=epsilon, delta=delta, alpha=0.1, dimension=5, releases=1000, trees=10)
    spent = account_tree(noise.deviation, delta, releases=1000, claimed=epsilon, trigger_is_private=True)
    accountant = PLDAccountant()
    accountant.compose(dp_event.GaussianDpEvent(noise.deviation / 2), depth_of(1000) - 1)
    assert spent.epsilon == pytest.approx(accountant.get_epsilon(delta), rel=1e-3, abs=1e-3)
    # No more than was asked for, and not much less: concentrated privacy is not tight at a large delta.
    assert spent.epsilon <= epsilon
    assert spent.delta == delta


def test_a_trigger_that_looks_at_the_data_is_said_to():
    private = account_tree(1.0, 0.1, releases=4, claimed=1.0, trigger_is_private=True)
    told = account_tree(1.0, 0.1, releases=4, claimed=1.0, trigger_is_private=False)
    assert set(told.caveats) - set(private.caveats) == {DATA_DEPENDENT}
    assert told.unit == private.unit


def test_the_papers_noise_is_several_times_what_epsilon_asks_for():
    def ratio(epsilon, delta):
        keys = {"epsilon": epsilon, "delta": delta, "alpha": 0.1, "dimension": 10, "releases": 1000, "trees": 10}
        return calibrate("paper", **keys).deviation / calibrate("zcdp", **keys).deviation

    assert ratio(1.0, 0.1) == pytest.approx(5.1, abs=0.05)
    for epsilon in (0.1, 1.0, 10.0):
        for delta in (0.1, 1e-2, 1e-5):
            assert 3 < ratio(epsilon, delta) < 11
