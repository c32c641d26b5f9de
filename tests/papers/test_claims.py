import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from netbandit.papers.claim_text import interval_text
from netbandit.papers.claims import Claim
from netbandit.papers.regions import Region
from netbandit.papers.selectors import selector_text
from netbandit.papers.verdicts import judge
from netbandit.results.statistics import Interval


def claim(**keys):
    whole = {"id": "x", "figure": "f", "where": "here", "says": "a", "read_as": "b", "of": "regret", **keys}
    return Claim.model_validate(whole)


def between(low, high):
    return Interval((low + high) / 2, low, high, 0.95, 10)


@pytest.mark.parametrize(
    ("region", "low", "high", "verdict"),
    [
        ({"below": 1}, 0.5, 0.9, "holds"),
        ({"below": 1}, 1.0, 1.2, "does not hold"),
        ({"below": 1}, 0.9, 1.0, "not decidable"),
        ({"at_most": 1}, 0.9, 1.0, "holds"),
        ({"at_most": 1}, 1.0, 1.2, "not decidable"),
        ({"at_most": 1}, 1.1, 1.2, "does not hold"),
        ({"above": 1}, 0.2, 1.0, "does not hold"),
        ({"at_least": 1, "at_most": 1}, 1.0, 1.0, "holds"),
        ({"at_least": 0.9, "at_most": 1.1}, 0.8, 1.2, "not decidable"),
        ({"below": 1}, -math.inf, math.inf, "not decidable"),
        ({"below": 1}, math.nan, math.nan, "not decidable"),
    ],
)
def test_where_the_interval_lies(region, low, high, verdict):
    assert Region(**region).verdict(between(low, high)) == verdict


@given(st.floats(-10, 10), st.floats(0, 5), st.floats(-10, 10))
def test_a_bound_and_its_opposite_never_agree(low, width, bound):
    interval = between(low, low + width)
    below, not_below = Region(below=bound).verdict(interval), Region(at_least=bound).verdict(interval)
    opposite = {"holds": "does not hold", "does not hold": "holds", "not decidable": "not decidable"}
    assert not_below == opposite[below]


LOW, HIGH, WIDE = [1.0, 1.1, 0.9, 1.01, 1.05], [2.02, 2.1, 1.91, 2.0, 2.06], [0.2, 4.0, 1.0, 3.0, 0.1]
FAR = [3.0, 3.2, 2.7, 3.1, 3.3]
TRUE, FALSE = [1.0] * 60, [0.0] * 60
FLIPS = {
    "mean": ({"region": {"below": 1.5}}, [[LOW]], [[HIGH]], [[WIDE]]),
    "difference": (
        {"region": {"below": 0}, "against": [{"a": 1}]},
        [[LOW], [HIGH]],
        [[HIGH], [LOW]],
        [[WIDE], [HIGH]],
    ),
    "ratio": ({"region": {"below": 1}, "against": [{"a": 1}]}, [[LOW], [HIGH]], [[HIGH], [LOW]], [[WIDE], [HIGH]]),
    "geometric ratio": (
        {"region": {"below": 1}, "against": [{"a": 1}]},
        [[LOW], [HIGH]],
        [[HIGH], [LOW]],
        [[WIDE], [HIGH]],
    ),
    "share": ({"region": {"at_least": 0.9}}, [[TRUE]], [[FALSE]], [[[1.0, 1.0, 1.0]]]),
    "slope": (
        {"region": {"below": 0}, "over": "cost"},
        [[HIGH, LOW], [LOW, FAR]],
        [[LOW, LOW], [HIGH, FAR]],
        [[WIDE, LOW], [HIGH, FAR]],
    ),
}


@pytest.mark.parametrize("measure", FLIPS)
@pytest.mark.parametrize("paired", [True, False])
def test_each_verdict_flips_with_the_data(measure, paired):
    keys, true, false, unclear = FLIPS[measure]
    paired = paired or measure == "geometric ratio"
    asked = claim(measure=measure, paired=paired, **keys)
    assert judge(asked, [("x", true)]).verdict == "holds"
    assert judge(asked, [("x", false)]).verdict == "does not hold"
    assert judge(asked, [("x", unclear)]).verdict == "not decidable"


def test_a_claim_is_as_good_as_its_worst_comparison():
    asked = claim(measure="mean", region={"below": 1.5})
    good, bad, unclear = ("good", [[LOW]]), ("bad", [[HIGH]]), ("unclear", [[WIDE]])
    assert judge(asked, [good, good]).verdict == "holds"
    assert judge(asked, [good, unclear]).verdict == "not decidable"
    worst = judge(asked, [good, unclear, bad])
    assert (worst.verdict, worst.deciding.what) == ("does not hold", "bad")
    assert [one.interval.confidence for one in worst.comparisons] == pytest.approx([1 - 0.05 / 3] * 3)


def test_a_number_that_does_not_exist_decides_nothing():
    found = judge(claim(measure="mean", region={"below": 1.5}), [("x", [[[1.0, None, 1.0]]])])
    assert (found.verdict, found.comparisons[0].interval) == ("not decidable", None)
    assert found.deciding is found.comparisons[0]


def test_which_points_are_compared():
    asked = claim(measure="ratio", along={"k": [1, 2, 3]}, each={"T": [10, 20]}, region={"below": 1})
    pairs = list(asked.comparisons())
    assert pairs[:2] == [({"T": 10, "k": 2}, {"T": 10, "k": 1}), ({"T": 10, "k": 3}, {"T": 10, "k": 2})]
    assert len(pairs) == 4
    asked = claim(measure="difference", points=[{"a": 1}], against=[{"a": 2}, {"a": 3}], region={"below": 1})
    assert list(asked.comparisons()) == [({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 3})]
    assert list(claim(measure="mean", region={"below": 1}).comparisons()) == [({}, None)]


@pytest.mark.parametrize(
    "keys",
    [
        {"measure": "ratio", "region": {"below": 1}},
        {"measure": "geometric ratio", "region": {"below": 1}, "against": [{"a": 1}], "paired": False},
        {"measure": "mean", "region": {"below": 1}, "against": [{"a": 1}]},
        {"measure": "mean", "region": {"below": 1}, "over": "cost"},
        {"measure": "slope", "region": {"below": 1}},
        {"measure": "mean", "region": {"below": 1}, "to": "cost"},
        {"measure": "mean", "region": {}},
        {"measure": "mean", "region": {"below": 1, "at_most": 2}},
        {"measure": "mean", "region": {"above": 2, "below": 1}},
        {"measure": "mean", "region": {"below": 1}, "of": "regret +"},
        {"measure": "mean", "region": {"below": 1}, "of": "open('x')"},
    ],
)
def test_claims_that_cannot_be(keys):
    with pytest.raises(ValidationError):
        claim(**keys)


def test_intervals_have_as_many_digits_as_they_are_wide():
    assert interval_text(Interval(0.92613, 0.92134, 0.93121, 0.95, 9)) == "0.9261 [0.9213, 0.9312]"
    assert interval_text(Interval(43199.3, 42707.1, 43691.5, 0.95, 9)) == "43,199 [42,707, 43,692]"
    assert interval_text(Interval(440, 440, 440, 0.95, 9)) == "440 [440, 440]"
    assert interval_text(Interval(2.5, -math.inf, math.inf, 0.95, 1)) == "2.5 [no interval]"


def test_what_a_comparison_is_of():
    assert selector_text({"series": "star", "run.horizon": 10000}, {"series": "ring", "run.horizon": 10000}) == (
        "star against ring, horizon 10,000"
    )
    assert selector_text({"learner.epsilon": 0.3}, None) == "epsilon 0.3"
    assert selector_text({}, None) == "all runs"
