import math
import random
import statistics
from fractions import Fraction

import pytest
import scipy
from helpers.examples import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from packaging.version import Version
from scipy import special, stats

from netbandit.results import intervals

varied = st.lists(st.floats(-1e6, 1e6).filter(bool), min_size=3, max_size=30, unique=True).filter(
    lambda values: max(values) - min(values) > 1e-3 and not intervals.are_counts(values)
)


@given(varied, st.sampled_from([0.8, 0.95, 0.99]))
def test_mean_is_student_s(values, confidence):
    found = intervals.mean(values, confidence)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    assert found.value == pytest.approx(sum(values) / len(values), abs=1e-6)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6, abs=1e-6)


@given(varied, varied)
def test_difference_that_is_not_paired_is_welch_s(first, second):
    found = intervals.difference(first, second, 0.95, paired=False)
    low, high = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6, abs=1e-5)


def test_pairs_take_out_what_they_share():
    random.seed(1)
    shared = [random.gauss(0, 100) for _ in range(50)]
    first, second = [value + 1 + random.gauss(0, 0.1) for value in shared], shared
    paired = intervals.difference(first, second, 0.95, paired=True)
    low, high = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert (paired.low, paired.high) == pytest.approx((low, high))
    assert paired.low > 0 > intervals.difference(first, second, 0.95, paired=False).low


def undecided(first, second, end):
    """Return the square of t of ``first - end second`` in exact fractions, over that at which a test is undecided."""
    rests = [Fraction(one) - Fraction(end) * Fraction(other) for one, other in zip(first, second, strict=True)]
    count, centre = len(rests), sum(rests) / len(rests)
    variance = sum((rest - centre) ** 2 for rest in rests) / (count - 1)
    return float(centre**2 * count / variance) / stats.t.ppf(0.975, count - 1) ** 2


@examples(100)
@given(st.lists(st.tuples(st.floats(1, 100), st.floats(50, 60)), min_size=5, max_size=30))
@example([(1, 50), (2, 52), (3, 53), (4, 54), (5, 51)])  # three differences are equal
@example([(1, 50), (1, 50), (3, 55), (4, 59), (5, 51), (9, 58)])
def test_fieller_holds_the_ratios_that_a_t_test_does_not_reject_and_what_repeated_values_add(pairs):
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found = intervals.ratio(first, second, 0.95, paired=True)
    rests = [one - found.value * other for one, other in pairs]
    assume(max(rests) - min(rests) > 1e-3)
    assert found.low <= found.value <= found.high
    differences, counts = [one - other for one, other in pairs], intervals.are_counts
    halves = [intervals.mean(rests, 0.95).half_width] if counts(first) or counts(second) else []
    halves += [intervals.mean(differences, 0.95).half_width] if counts(differences) else []
    added = max(halves, default=0.0) / statistics.fmean(second)
    for end in (found.low, found.high):
        away = abs(end - found.value)
        if away > added * (1 + 1e-9):  # at its ends the test is just undecided
            assert undecided(first, second, end) == pytest.approx(1, rel=1e-6)
        else:
            assert away == pytest.approx(added, rel=1e-9)
            assert undecided(first, second, end) > 1 - 1e-6


@pytest.mark.parametrize("digits", [1, 4, 7, 10])
def test_fieller_is_as_exact_where_ratios_of_pairs_differ_by_little(digits):
    random.seed(3)
    second = [random.gauss(2e6, 4e5) for _ in range(10)]
    first = [other * random.gauss(3, 10**-digits) for other in second]
    found = intervals.ratio(first, second, 0.95, paired=True)
    for end in (found.low, found.high):
        assert undecided(first, second, end) == pytest.approx(1, rel=1e-3)


@pytest.mark.ci
def test_fieller_without_pairs_covers_as_often_as_it_says():
    random.seed(2)
    covered = 0
    for _ in range(1000):
        first = [random.gauss(3, 1) for _ in range(20)]
        second = [random.gauss(10, 2) for _ in range(20)]
        found = intervals.ratio(first, second, 0.95, paired=False)
        covered += found.low <= 0.3 <= found.high
    assert stats.binomtest(covered, 1000, 0.95).pvalue > 1e-4


def test_a_ratio_to_what_may_be_zero_has_no_interval():
    found = intervals.ratio([1.0, 2.0, 3.0], [-1.0, 0.5, 1.0], 0.95, paired=True)
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert math.isnan(intervals.ratio([1.0, 2.0], [0.0, 0.0], 0.95, paired=True).value)


@given(st.integers(1, 60), st.data())
def test_share_is_clopper_and_pearson_s(count, data):
    found = data.draw(st.integers(0, count))
    interval = intervals.share([1.0] * found + [0.0] * (count - found), 0.95)
    expected = stats.binomtest(found, count).proportion_ci(0.95, method="exact")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_slope_is_that_of_each_replication():
    places = [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [4.0, 4.0, 4.0]]
    heights = [[5.0, 3.0, 7.0], [4.0, 2.5, 6.0], [1.0, 1.0, 4.0]]
    found = intervals.slope(places, heights, 0.9)
    slopes = [stats.linregress([1, 2, 4], [row[run] for row in heights]).slope for run in range(3)]
    expected = intervals.mean(slopes, 0.9)
    assert (found.value, found.low) == pytest.approx((expected.value, expected.low))


def test_a_replication_in_one_place_does_not_move_a_slope():
    places = [[1.0, 1.0, 1.0, 7.0], [2.0, 2.0, 2.0, 7.0]]
    heights = [[5.0, 3.0, 7.0, 0.0], [4.0, 1.0, 6.5, 9.0]]
    found = intervals.slope(places, heights, 0.9)
    assert found.value == pytest.approx((-1 - 2 - 0.5) / 3)
    assert math.isnan(intervals.slope([[1.0], [1.0]], [[2.0], [3.0]], 0.9).value)


def test_replications_that_are_all_alike_have_no_interval():
    for found in (
        intervals.mean([0.1] * 7, 0.95),
        intervals.mean([0.1 + 0.2, 0.3, 0.3], 0.95),  # but for the order in which something was added up
        intervals.ratio([0.1] * 7, [0.1] * 7, 0.95, paired=True),
        intervals.ratio([2.0, 4.0, 7.0], [1.0, 2.0, 3.5], 0.95, paired=True),
        intervals.difference([0.1] * 7, [0.0] * 7, 0.95, paired=False),
        intervals.difference([0.1] * 7, [0.0, 1.0], 0.95, paired=False),
    ):
        assert (found.low, found.high, found.half_width) == (-math.inf, math.inf, None)
        assert "identical" in found.why_none


@pytest.mark.parametrize("paired", [True, False])
def test_one_replication_says_nothing_of_the_spread(paired):
    for found in (
        intervals.mean([1.0], 0.95),
        intervals.ratio([1.0], [2.0], 0.95, paired=paired),
        intervals.difference([1.0], [2.0], 0.95, paired=paired),
    ):
        assert (found.low, found.high) == (-math.inf, math.inf)


def test_what_cannot_be():
    with pytest.raises(ValueError, match="no replication"):
        intervals.mean([], 0.95)
    with pytest.raises(ValueError, match="0 or 1"):
        intervals.share([0.5], 0.95)
    with pytest.raises(ValueError, match="no pairs"):
        intervals.ratio([1.0, 2.0], [1.0], 0.95, paired=True)


def test_a_geometric_ratio_counts_each_pair_alike():
    first, second = [1.0, 200.0, 3e6], [2.0, 300.0, 5e6]
    found = intervals.geometric_ratio(first, second, 0.95)
    ratios = [0.5, 2 / 3, 0.6]
    assert found.value == pytest.approx(stats.gmean(ratios))
    ends = stats.ttest_1samp([math.log(ratio) for ratio in ratios], 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((math.exp(ends.low), math.exp(ends.high)))
    assert intervals.geometric_ratio([2.0, 6.0], [1.0, 3.0], 0.95).half_width is None
    with pytest.raises(ValueError, match="above zero"):
        intervals.geometric_ratio([0.0, 1.0], [1.0, 1.0], 0.95)


@pytest.mark.skipif(Version(scipy.__version__) < Version("1.17"), reason="scipy finds it to ten digits until 1.17")
@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.8, 0.9, 0.95, 0.99])
def test_quantiles_are_those_of_scipy(confidence):
    freedoms = [*range(1, 200), 499, 1_000, 1_999]
    found = [intervals.student_quantile(freedom, confidence) for freedom in freedoms]
    assert found[:50] == pytest.approx(special.stdtrit(freedoms[:50], (1 + confidence) / 2), rel=1e-13)
    assert found == pytest.approx(special.stdtrit(freedoms, (1 + confidence) / 2), rel=1e-12)


def test_quantiles_that_are_known_exactly():
    assert intervals.student_quantile(1, 0.5) == pytest.approx(
        1.0, rel=1e-15
    )  # Cauchy: a quarter lies beyond 1 on each side
    assert intervals.student_quantile(2, 0.5) == pytest.approx((2 / 3) ** 0.5, rel=1e-15)
    assert intervals.student_quantile(7, 0.0) == 0.0
