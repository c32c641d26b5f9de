"""Who dominates whom, who has which rank (only what is decided counts), and how much less differences of pairs vary."""

import numpy as np
import pytest
from helpers.suite_tracks import cell

from netbandit.studies.suite.differences import decided, dominated, p_values, pairing, ranks

REGRETS = [1.0, 5.0, 2.0, 8.0]
LUCK = np.random.default_rng(0).normal(0, 5, 20)


def noisy(mean, seed):
    return (mean + LUCK + np.random.default_rng(seed).normal(0, 1, 20)).tolist()


def test_less_regret_and_fewer_bytes_dominate_if_both_are_decided():
    cells = {
        "good": cell(noisy(10, 1), [5.0] * 20),
        "costly": cell(noisy(5, 2), [50.0] * 20),
        "bad": cell(noisy(20, 3), [6.0] * 20),
        "like good": cell(noisy(10, 4), [7.0] * 20),
        "free": cell(noisy(30, 5), [0.0] * 20),
    }
    assert dominated(cells) == {"bad": ["good"]}


def test_what_is_the_same_in_every_replication_leaves_the_decision_to_the_other():
    silent = {"one": cell(noisy(10, 1)), "two": cell(noisy(50, 2)), "like one": cell(noisy(10, 3))}
    assert dominated(silent) == {"two": ["one", "like one"]}
    alike = {"one": cell(noisy(10, 1), [5.0] * 20), "two": cell(noisy(10, 1), [7.0] * 20)}
    assert dominated(alike) == {"two": ["one"]}
    assert dominated({"one": cell(noisy(10, 1)), "two": cell(noisy(10, 1))}) == {}


def test_ranks_are_as_wide_as_what_is_undecided():
    cells = {"b": cell(noisy(10, 1)), "c": cell(noisy(10.1, 2)), "a": cell(noisy(1, 3)), "d": cell(noisy(90, 4))}
    assert ranks(cells) == {"a": (1, 1), "b": (2, 3), "c": (2, 3), "d": (4, 4)}


@pytest.mark.ci
def test_decisions_of_a_family_err_together_as_often_as_one():
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(400):
        cells = {str(name): cell(rng.normal(0, 1, 20).tolist()) for name in range(6)}
        wrong += any(found != (1, 6) for found in ranks(cells).values())
    assert wrong / 400 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_levels_are_those_of_the_interval_of_a_mean():
    from netbandit.results.intervals import mean
    from netbandit.results.paired import p_value

    rng = np.random.default_rng(6)
    rows = np.concatenate([rng.normal(0.5, 1, (5, 20)), rng.poisson(0.5, (5, 20)) - rng.poisson(0.1, (5, 20))])
    rows[-1] = [1.0] * 12 + [2.0] * 7 + [2.5]
    for row, level in zip(rows, p_values(rows), strict=True):
        assert abs(level - p_value(lambda confidence, row=row: mean(row.tolist(), confidence))) < 1e-6
    counts = np.array([[1.0] * 15 + [2.0] * 5, [3.0] * 20, [0.0] * 20])
    assert p_values(counts)[0] > 0
    assert p_values(counts)[1:].tolist() == [2.0**-19, 1.0]


def test_holm_stops_at_the_first_that_is_not_decided():
    assert decided([0.03, 0.001, 0.04]).tolist() == [False, True, False]


def test_variance_is_zero_where_replications_have_all_in_common_and_two_where_they_are_opposite():
    same = {"one": cell(REGRETS), "two": cell([each + 3 for each in REGRETS])}
    assert pairing(same) == pytest.approx(0)
    assert pairing({"one": cell(REGRETS), "two": cell([-each for each in REGRETS])}) == pytest.approx(2)


@pytest.mark.parametrize("cells", [
    {}, {"one": cell(REGRETS)}, {"one": cell([1.0] * 4), "two": cell([2.0] * 4)},
], ids=["none", "one", "none varies"])  # fmt: skip
def test_there_is_none_without_a_pair_whose_regrets_vary(cells):
    assert pairing(cells) is None
