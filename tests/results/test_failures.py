"""Where a run can fail, and how many replications it takes until one that fails is hardly missed."""

import pytest

from netbandit.results.failures import ENOUGH, Failures, failures_of, too_few

FINE = {"best_lost": 0, "stalled": 0, "rounds": 5, "waiting_slots": None, "may_stall": 0}
OTHERS = {"stalled": 0, "rounds": 0, "waiting_slots": None, "may_stall": 0}


def test_the_rule_is_where_a_failure_in_ten_is_hardly_missed():
    assert 0.9 ** (ENOUGH - 1) > 0.05 >= 0.9**ENOUGH
    assert ENOUGH == 29


@pytest.mark.parametrize(
    ("metrics", "how"),
    [
        (FINE, ()),
        (FINE | {"best_lost": 1}, ("an agent dropped the best arm",)),
        (FINE | {"stalled": 3, "rounds": 0, "waiting_slots": 7.5}, ("agents stalled", "no round ended")),
        (OTHERS, ()),  # nobody waits for a round
        ({"regret": 1.0}, ()),  # a run of an earlier version
    ],
)
def test_how_a_run_fails(metrics, how):
    assert failures_of(metrics) == how


@pytest.mark.parametrize("failed", [0, 1, 28])
@pytest.mark.parametrize(
    ("fine", "bad", "open_"),
    [
        (FINE, {"best_lost": 1}, {"regret": True, "regret_per_agent": True, "cost": False}),
        (OTHERS | {"may_stall": 1}, {"stalled": 2}, {"regret": True, "cost": True}),
    ],
)
def test_below_enough_replications_a_mean_is_open_whether_or_not_one_has_failed(fine, bad, open_, failed):
    runs = [fine | bad] * failed + [fine] * (28 - failed)
    for metric, expected in open_.items():
        assert Failures.of(runs).leave_open(metric) is expected
        assert not Failures.of([*runs, fine]).leave_open(metric)


def test_what_has_failed_can_fail():
    assert not Failures.of([OTHERS] * 5).leave_open("regret")
    assert Failures.of([OTHERS] * 4 + [OTHERS | {"stalled": 1}]).leave_open("regret")


def test_the_share_of_runs_that_failed_and_what_so_few_may_miss():
    found = Failures.of([FINE] * 8 + [FINE | {"best_lost": 1, "stalled": 1}] * 2)
    assert (found.failed, found.share.value, dict(found.kinds)) == (
        2, 0.2, {"an agent dropped the best arm": 2, "agents stalled": 2},
    )  # fmt: skip
    assert "10 replications can miss failures that happen in up to 26 % of runs" in too_few(found)
    assert found.most_missed == pytest.approx(1 - 0.05**0.1)
