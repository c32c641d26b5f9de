"""Regret counted by phases is regret counted pull by pull, and obeys the theory."""

import math

import numpy as np
import pytest
from helpers.examples import examples
from helpers.scenes import run, study
from hypothesis import given, settings
from hypothesis import strategies as st

from netbandit.simulation.regret import MOST_KNOTS, PhaseAccount, thinned
from netbandit.simulation.result import Curve

BLOCKS = st.lists(
    st.tuples(st.integers(0, 60), st.booleans(), st.integers(0, 3), st.integers(1, 9), st.integers(0, 30)), max_size=25
)


@given(
    blocks=BLOCKS,
    horizon=st.integers(1, 60),
    gaps=st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
@settings(deadline=None)
def test_blocks_are_counted_like_single_pulls(blocks, horizon, gaps):
    account = PhaseAccount(np.array(gaps), horizon)
    slots = np.zeros(horizon)
    for number, (start, explores, arm, pulls, length) in enumerate(blocks):
        if start >= horizon:
            continue
        if explores:
            arms = np.arange(arm, 4)
            account.explore(start, number, arms, pulls)
            played = np.repeat(arms, pulls)
        else:
            account.exploit(start, min(start + length, horizon), arm)
            played = np.full(min(length, horizon - start), arm)
        for slot, what in zip(range(start, horizon), played, strict=False):
            slots[slot] += gaps[what]
    total, curve = account.total_and_curve()
    expected = np.concatenate([[0.0], np.cumsum(slots)])
    assert math.isclose(total, expected[-1], rel_tol=1e-12, abs_tol=1e-12)
    np.testing.assert_allclose(curve.at(np.arange(horizon + 1)), expected, rtol=1e-9, atol=1e-9)
    assert (np.diff(curve.values) >= 0).all()


def test_a_phase_longer_than_any_integer_of_the_machine():
    account = PhaseAccount(np.array([0.0, 0.5]), 100)
    account.explore(40, "long", np.array([1, 0]), 10**30)
    total, curve = account.total_and_curve()
    assert total == 30
    assert curve.slots.tolist() == [0, 40, 100]


@given(st.integers(1, 10**12), st.integers(2, 5000))
@examples(50)
def test_thinning_keeps_the_ends_and_lies_on_the_curve(horizon, knots):
    slots = np.unique(np.linspace(0, horizon, knots).astype(np.int64))
    curve = Curve(slots, np.sqrt(slots))
    thin = thinned(curve)
    assert len(thin.slots) <= MOST_KNOTS
    assert (thin.slots[0], thin.slots[-1]) == (0, horizon)
    assert (np.diff(thin.slots) > 0).all()
    np.testing.assert_array_equal(thin.values, curve.at(thin.slots))


@pytest.mark.ci
def test_the_best_arm_survives(tmp_path):
    """The theory lets it leave in a run with probability at most 1/T: one of 150 runs with T = 4000 has
    probability below 4 % to show it, two below 0.1 %; so at most one may.
    """
    point = study(
        tmp_path,
        "run.horizon=4000",
        "topology.agents=10",
        "bandit.means=[0.4, 0.5, 0.6, 0.9]",
        "bandit.arms=4",
        "protocol.kind=master-worker",
    ).points[0]
    lost = 0
    for replication in range(150):
        curve = point.simulation(replication).run().curves["regret"]
        # Whoever has kept the best arm pays nothing in the end.
        lost += bool(np.diff(curve.at(np.array([3990, 4000])))[0] > 0)
    assert lost <= 1


def central(means, agents, horizon, rng):
    """The regret of CDP-MAB with two arms, no privacy and no delay, written again from the paper."""
    pulled, sums, arms = 0, np.zeros(2), 2
    used = regret = 0
    epoch = 1
    gap = abs(means[0] - means[1])
    worse = int(np.argmin(means))
    while arms == 2:
        total = math.ceil(8 * math.log(8 * 2 * epoch**2 * horizon) / (agents * 4.0**-epoch))
        pulls = total - pulled
        for arm in range(2):
            regret += gap * agents * (arm == worse) * max(0, min(pulls, horizon - used))
            used = min(horizon, used + pulls)
        if used >= horizon:
            return regret
        sums += rng.binomial(agents * pulls, means)
        pulled = total
        width = math.sqrt(math.log(8 * 2 * epoch**2 * horizon) / (2 * agents * total))
        average = sums / (agents * total)
        if abs(average[0] - average[1]) >= 2 * width:
            arms = 1
            worse_left = int(np.argmax(average)) == worse
            return regret + gap * agents * worse_left * (horizon - used)
        epoch += 1
    return regret


@pytest.mark.ci
def test_central_regret_is_that_of_a_second_simulation(tmp_path):
    """Two samples of 300: they differ by more than 4 standard errors with probability below 1e-4."""
    horizon, agents, means = 6000, 5, [0.42, 0.5]
    point = study(
        tmp_path,
        f"run.horizon={horizon}",
        f"topology.agents={agents}",
        f"bandit.means={means}",
        "bandit.arms=2",
        "protocol.kind=master-worker",
    ).points[0]
    ours = [point.simulation(number).run().metrics["regret"] for number in range(300)]
    rng = np.random.default_rng(5)
    again = [central(means, agents, horizon, rng) for _ in range(300)]
    assert np.std(ours) > 0
    error = math.hypot(np.std(ours), np.std(again)) / math.sqrt(300)
    assert abs(np.mean(ours) - np.mean(again)) < 4 * error


def test_synchronization_costs_as_much_as_the_server_and_the_wait(tmp_path):
    """The draws are the same, so the difference is what is pulled while waiting, and what that leaves out."""
    same = ["topology.family=complete", "topology.agents=6", "bandit.means=[0.5, 0.8, 0.9]", "run.horizon=60000"]
    for seed in range(10):
        server = run(tmp_path, *same, f"run.seed={seed}", "protocol.kind=master-worker")
        gis = run(tmp_path, *same, f"run.seed={seed}", "protocol.kind=gis")
        assert gis.metrics["rounds"] == server.metrics["rounds"] > 0
        assert gis.metrics["round_slots"] == 1
        # Both have found the best arm before the end, so all they differ by are the slots of the waits.
        most = 6 * gis.metrics["rounds"] * 0.4
        assert -1e-6 <= gis.metrics["regret"] - server.metrics["regret"] <= most + 1e-6
