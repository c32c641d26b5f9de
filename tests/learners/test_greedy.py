import numpy as np
import pytest
from scipy.optimize import LinearConstraint, linprog, milp
from scipy.sparse import block_diag

from netbandit.learners.greedy import choose, relaxed


def solve(step, qualities, revenues, capacities, threshold):
    quantities = np.zeros(len(qualities))
    step(qualities, revenues, capacities, threshold, np.zeros(len(qualities), dtype=np.int64), quantities)
    return quantities


def instances(count):
    """Random markets, of which three quarters have ties, zeros and equal ratios."""
    rng = np.random.default_rng(1)
    for number in range(count):
        producers = int(rng.integers(1, 12))
        capacities = rng.integers(1, 51, producers)
        if number % 4 == 0:
            yield rng.random(producers), rng.normal(size=producers), capacities, rng.random()
        elif number % 4 == 1:
            yield rng.integers(0, 5, producers) / 4, rng.integers(-2, 3, producers) / 2, capacities, rng.integers(5) / 4
        elif number % 4 == 2:  # decimals, whose sums and products are off by rounding errors
            qualities, threshold = (
                rng.integers(0, 11, producers) / 10,
                rng.integers(0, 6) / 10 + rng.integers(0, 6) / 10,
            )
            yield qualities, 1.1 * qualities - 0.1 * rng.integers(0, 11, producers), capacities, threshold
        else:
            qualities = rng.integers(0, 9, producers) / 8
            yield qualities, (0.5 - qualities) * rng.choice([1.0, -1.0, 0.0, 2.0], producers), capacities, 0.5


def optima(markets):
    """What each market's relaxation is worth, of one linear programme that has them all side by side."""
    revenues = np.concatenate([market[1] for market in markets])
    excess = block_diag([[threshold - qualities] for qualities, _, _, threshold in markets], format="csr")
    bounds = [(0, most) for _, _, capacities, _ in markets for most in capacities]
    best = linprog(-revenues, A_ub=excess, b_ub=np.zeros(len(markets)), bounds=bounds)
    return np.add.reduceat(best.x * revenues, np.cumsum([0, *(len(market[1]) for market in markets[:-1])]))


def test_oracle_is_the_relaxations_optimum_and_rounds_within_one_unit():
    markets = list(instances(4_000))
    for (qualities, revenues, capacities, threshold), best in zip(markets, optima(markets), strict=True):
        before = solve(relaxed, qualities, revenues, capacities, threshold)
        assert before @ revenues == pytest.approx(best, abs=1e-6)
        after = solve(choose, qualities, revenues, capacities, threshold)
        assert (after == np.rint(after)).all()
        assert (after >= 0).all()
        assert (after <= capacities).all()
        assert after @ (qualities - threshold) >= -1e-9
        assert before @ revenues - after @ revenues <= abs(revenues).max() + 1e-9


def test_among_equals_the_first_producer_is_bought_from():
    """Spenders with the same gain per unit of quality, then sellers at the same price of it."""
    spent = solve(choose, np.array([0.7, 0.3, 0.3, 0.3]), np.array([1.0, 0.5, 0.5, 0.5]), np.array([5, 4, 4, 4]), 0.5)
    assert spent.tolist() == [5, 4, 1, 0]
    sold = solve(choose, np.array([0.75, 0.75, 0.75, 0.25]), np.array([-0.1, -0.1, -0.1, 1.0]), np.array([4] * 4), 0.5)
    assert sold.tolist() == [4, 0, 0, 4]


@pytest.mark.ci
@pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9])
def test_oracle_against_the_exact_integer_optimum(threshold):
    rng = np.random.default_rng(2)
    ratios, differences = [], []
    for _ in range(300):
        qualities = rng.random(30)
        revenues, capacities = qualities - rng.random(30), rng.integers(1, 51, 30)
        constraint = LinearConstraint((qualities - threshold)[None, :], lb=0.0)
        exact = -milp(-revenues, integrality=np.ones(30), bounds=(0, capacities), constraints=constraint).fun
        found = solve(choose, qualities, revenues, capacities, threshold) @ revenues
        differences.append(exact - found)
        if exact > 1e-9:
            ratios.append(found / exact)
    if threshold <= 0.7:
        assert np.median(differences) < 1e-9
    else:
        assert np.quantile(ratios, 0.05) >= 0.97
