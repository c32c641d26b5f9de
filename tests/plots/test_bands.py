import networkx
import numpy as np
import pytest
from helpers.examples import examples
from helpers.made_up_runs import made_up, study_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from netbandit.plots.bands import band, side_by_side
from netbandit.plots.chart import draw_chart
from netbandit.plots.chart_kinds import chart_of
from netbandit.plots.estimates import Estimates
from netbandit.plots.grouping import arrange
from netbandit.plots.style import subtitle


def named(rows):
    return [{(0, place): float(value) for place, value in enumerate(row)} for row in rows]


def half(one):
    return float(one.high - one.mean)


def test_what_all_points_share_is_no_part_of_the_bars_but_of_the_thin_ones():
    luck = np.array([0.0, 50.0, -30.0, 80.0])
    rows = [100 + luck + np.array([1, -1, 2, -2]), 90 + luck + np.array([-1, 1, -2, 2])]
    first, second = side_by_side(named(rows))
    assert (float(first.mean), float(second.mean)) == (125.0, 115.0)
    # By hand: cousineau subtracts each replication's mean over the points; morey multiplies by sqrt(2 / 1).
    within = np.std([1, -1, 2, -2], ddof=1) * np.sqrt(2)
    quantile = stats.t.ppf(0.975, 3)
    assert half(first) == pytest.approx(quantile * within / 2)
    assert float(first.alone[1] - first.mean) == pytest.approx(quantile * np.std(rows[0], ddof=1) / 2)


def test_the_bars_are_those_of_an_analysis_of_variance_within_replications():
    """Pooled over the points, Morey's variance is the mean square of what is left without points and replications."""
    rows = np.random.default_rng(3).normal(size=(5, 8)) + np.random.default_rng(4).normal(size=8) * 20
    left = rows - rows.mean(axis=0) - rows.mean(axis=1, keepdims=True) + rows.mean()
    mean_square = (left**2).sum() / (4 * 7)
    quantile = stats.t.ppf(0.975, 7)
    found = [(half(one) * np.sqrt(8) / quantile) ** 2 for one in side_by_side(named(rows))]
    assert np.mean(found) == pytest.approx(mean_square)


def test_a_point_of_another_spread_does_not_blur_the_others():
    rng = np.random.default_rng(1)
    luck = rng.normal(size=6) * 300
    rows = [9_000 + luck + rng.normal(size=6) for _ in range(5)]
    silent = rng.normal(500_000, 50_000, 6)
    bands = side_by_side(named([*rows, silent]))
    assert max(map(half, bands[:5])) < 5
    assert half(bands[5]) == pytest.approx(half(band(silent)))


@pytest.mark.ci
def test_two_bars_that_do_not_meet_tell_points_apart_and_equal_ones_seldom_do():
    """Of 2,000 pairs of equal means at most five per cent, and a little for chance, differ by more than both bars."""
    rng = np.random.default_rng(7)
    apart = 0
    for _ in range(2_000):
        rows = rng.normal(size=10) * 5 + rng.normal(size=(2, 10))
        first, second = side_by_side(named(rows))
        apart += abs(float(first.mean - second.mean)) > np.hypot(half(first), half(second))
    assert apart / 2_000 < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 2_000)


@examples(40)
@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_bar_is_never_wider_than_that_of_its_mean(rows):
    for one, row in zip(side_by_side(named(rows)), rows, strict=True):
        low, high = one.widest
        assert low <= one.low <= one.mean <= one.high <= high
        alone = band(row)
        assert (float(low), float(high)) == (float(alone.low), float(alone.high))


def test_points_that_share_no_replication_are_each_by_themselves():
    rows = [{(0, 0): 1.0, (0, 1): 3.0}, {(1, 0): 2.0, (1, 1): 7.0}]
    assert [one.alone for one in side_by_side(rows)] == [None, None]
    assert side_by_side([]) == []
    (alone,) = side_by_side(rows[:1])
    assert alone.alone is None


def test_values_that_repeat_keep_the_interval_of_their_mean():
    rows = [[3.0, 3.0, 4.0, 3.0], [5.0, 5.0, 6.0, 5.0]]
    for one in side_by_side(named(rows)):
        assert (one.low, one.high) == one.alone


def test_curves_are_compared_slot_by_slot():
    luck = np.array([[0.0, 10.0], [5.0, -20.0], [1.0, 4.0]])
    curves = [[luck[one] + np.array([place, one]) for one in range(3)] for place in range(3)]
    bands = side_by_side([{(0, one): curve for one, curve in enumerate(some)} for some in curves])
    for one in bands:
        np.testing.assert_allclose(one.low, one.mean, atol=1e-9)
        assert (one.alone[1] > one.mean).all()


def by_latency(better, replications=12):
    """Two points whose replications have much in common, and between which there is a small difference."""
    luck, noise = np.random.default_rng(1).normal(100, 30, replications), np.random.default_rng(2).normal(0, 1, (2, 99))
    return study_of(
        [
            made_up(
                parameters={"links.peer.latency": latency},
                replication=number,
                metrics={"regret": luck[number] + shift + noise[place, number]},
            )
            for place, (latency, shift) in enumerate((("0 ms", 0.0), ("5 ms", better)))
            for number in range(replications)
        ]
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("better", "asked", "kind"),
    [
        (0.0, "auto", "mean"),
        (9.0, "auto", "comparison"),  # pairs decide it, and the intervals of the means overlap
        (200.0, "auto", "mean"),  # these say it themselves
        (9.0, "mean", "mean"),
        (9.0, None, None),
    ],
)
def test_where_the_intervals_of_means_hide_a_difference_those_for_comparing_are_drawn(better, asked, kind):
    arrangement = arrange(by_latency(better), bands=asked)
    assert arrangement.bands == kind
    drawn = draw_chart(chart_of(arrangement, "links.peer.latency", "regret", None))
    assert ("95 % intervals for comparing" in subtitle(drawn)) == (kind == "comparison")


def test_few_replications_of_what_may_fail_decide_nothing_by_themselves():
    study = by_latency(9.0)
    for point in study.points:
        for run in point.finished:
            run.metrics["best_lost"] = 0
    assert arrange(study).bands == "mean"


def test_an_error_that_never_happens_has_the_interval_of_a_share():
    runs = [made_up(networkx.path_graph(2), replication=number, metrics={"wrong_any": 0}) for number in range(50)]
    (one,) = Estimates(arrange(study_of(runs)), "wrong_any").bands
    assert (one.low, one.mean) == (0.0, 0.0)
    assert one.high == pytest.approx(1 - 0.025 ** (1 / 50))
