from itertools import product

import numpy as np
import pytest
from helpers.worlds import started
from scipy import stats

from netbandit.bandits.procurement import Procurement
from netbandit.util.streams import Streams


def market(agents=10, seed=0, **keys):
    return started(Procurement(**keys), agents, Streams(seed, 0).generator)


def small(qualities, costs, capacities, threshold, rho=1.0):
    """A market of one agent."""
    world = Procurement(quality_threshold=threshold, rho=rho)
    world.settle(np.array(qualities), np.array([costs]), np.array([capacities]))
    return world


def test_uniform_sampling_is_uniform():
    """The level is 1e-4 in all, fixed seeds."""
    worlds = [market(seed=seed, producers=100) for seed in range(5)]
    for drawn in ([world.qualities for world in worlds], [world.costs for world in worlds]):
        assert stats.kstest(np.concatenate([each.ravel() for each in drawn]), "uniform").pvalue > 5e-5


@pytest.mark.parametrize("threshold", [0.4, 0.95])
def test_normal_sampling_is_normal_around_the_threshold_and_qualities_stay_probabilities(threshold):
    """The level is 1e-4 in all, fixed seeds."""
    worlds = [
        market(seed=seed, producers=100, sampling="normal", spread=0.2, quality_threshold=threshold)
        for seed in range(20)
    ]
    normal = stats.norm(threshold, 0.2)
    assert stats.kstest(np.concatenate([world.costs.ravel() for world in worlds]), normal.cdf).pvalue > 5e-5
    qualities = np.concatenate([world.qualities for world in worlds])
    assert ((qualities >= 0) & (qualities <= 1)).all()
    inside = np.sort(qualities[(qualities > 0) & (qualities < 1)])
    part = (normal.cdf(inside) - normal.cdf(0)) / (normal.cdf(1) - normal.cdf(0))
    assert stats.kstest(part, "uniform").pvalue > 5e-5
    assert stats.binomtest(int((qualities == 1).sum()), len(qualities), normal.sf(1)).pvalue > 5e-5


def test_capacities_are_all_integers_of_their_range_and_each_as_likely():
    capacities = np.concatenate([market(seed=seed, capacity=[3, 7]).capacities.ravel() for seed in range(10)])
    counts = np.bincount(capacities)
    assert counts[:3].tolist() == [0, 0, 0]
    assert len(counts) == 8
    assert stats.chisquare(counts[3:]).pvalue > 1e-4


def test_a_homogeneous_market_is_the_same_for_all_and_another_for_each():
    alike, other = market(homogeneous=True), market()
    for name in ("costs", "capacities"):
        assert (getattr(alike, name) == getattr(alike, name)[0]).all()
        assert (getattr(other, name)[1:] != getattr(other, name)[0]).any(axis=1).all()


def test_more_agents_meet_the_same_producers_and_change_nothing_for_the_first():
    few, many = market(agents=3), market(agents=12)
    assert (few.qualities == many.qualities).all()
    assert (few.costs == many.costs[:3]).all()
    assert (few.capacities == many.capacities[:3]).all()


def test_thresholds_and_least_revenue_of_all_that_can_be_bought():
    rng = np.random.default_rng(0)
    violations = 0
    for _ in range(50):
        world = small(rng.random(3), rng.random(3), rng.integers(1, 4, 3), 0.6, rho=1.5)
        everything = [np.array([bought]) for bought in product(*(range(most + 1) for most in world.capacities[0]))]
        revenues = [float(bought[0] @ (1.5 * world.qualities - world.costs[0])) for bought in everything]
        kept = [bool(bought[0] @ (world.qualities - 0.6) >= -1e-9) for bought in everything]
        assert world.least_revenue[0] == pytest.approx(min(revenues), abs=1e-12)
        for bought, revenue, keeps in zip(everything, revenues, kept, strict=True):
            assert world.revenue(bought)[0] == pytest.approx(revenue, abs=1e-12)
            assert world.keeps_threshold(bought)[0] == keeps
            violations += not keeps
    assert violations > 100


def test_a_threshold_met_exactly_is_met():
    world = small([0.3, 0.5], [0.1, 0.1], [10, 10], 0.4)
    assert world.keeps_threshold(np.array([[7, 7]]))[0]
    assert not world.keeps_threshold(np.array([[8, 7]]))[0]


def test_the_threshold_binds_where_the_best_choice_without_it_violates_it():
    assert small([0.3, 0.5], [0.1, 0.1], [10, 9], 0.4).binding.tolist() == [True]
    assert small([0.3, 0.5], [0.1, 0.1], [9, 10], 0.4).binding.tolist() == [False]
    assert small([0.3, 0.5], [0.31, 0.1], [10, 9], 0.4).binding.tolist() == [False]  # nobody wants the first
    shares = [
        np.mean([market(agents=20, seed=seed, quality_threshold=threshold).binding.mean() for seed in range(20)])
        for threshold in (0.4, 0.7, 0.9)
    ]
    assert shares[0] < 0.05
    assert shares[1] > 0.5
    assert shares[2] > 0.95
