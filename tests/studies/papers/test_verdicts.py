from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.made_up_runs import made_up
from helpers.some_claim import claim, judge

from netbandit.results.study_result import PointResult
from netbandit.studies.papers.claim_text import line, short_lines
from netbandit.studies.papers.measuring import evidence
from netbandit.studies.papers.verdicts import Evidence, InterimLook, Measured

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
    "median": ({"region": {"below": 1.5}}, [[LOW + LOW]], [[HIGH + HIGH]], [[WIDE + WIDE]]),
    "median difference": (
        {"region": {"below": 0}, "against": [{"a": 1}]},
        [[LOW + LOW], [HIGH + HIGH]],
        [[HIGH + HIGH], [LOW + LOW]],
        [[LOW], [HIGH]],  # five pairs are too few
    ),
    "median ratio": (
        {"region": {"below": 1}, "against": [{"a": 1}]},
        [[LOW + LOW], [HIGH + HIGH]],
        [[HIGH + HIGH], [LOW + LOW]],
        [[WIDE + WIDE], [HIGH + HIGH]],
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
    paired = paired or measure.startswith(("geometric", "median "))
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


def test_what_the_setting_cannot_decide_is_not_tested_whatever_was_measured():
    why = "the paper prints no horizon, and the verdict turns with it"
    asked = claim(measure="mean", region={"below": 1.5}, not_tested=why)
    for values, value in ((LOW, "1.012"), (HIGH, "2.018"), (WIDE, "1.7"), ([1.0, None], "does not exist")):
        found = judge(asked, [("x", [[values]])])
        assert found.verdict == found.deciding.verdict == "not tested"
        assert value in line(found)
        assert line(found).endswith(f"(not tested: {why}): not tested")
    assert Evidence(asked, [Measured("x", [[LOW]])]).p is None  # no verdict, so no part in the error of a figure


def test_what_the_text_leaves_open_is_not_decidable_by_the_text_whatever_was_measured():
    asked = claim(measure="mean", region={"below": 1.5}, left_open="the text has two readings")
    for values in (LOW, HIGH, WIDE):
        found = judge(asked, [("x", [[values]])])
        assert found.verdict == found.deciding.verdict == "not decidable by the text"
        assert "(not decidable by the text: the text has two readings)" in line(found)
    assert Evidence(asked, [Measured("x", [[LOW]])]).p is None


@pytest.mark.parametrize(
    ("centre", "spread", "verdict", "margins"),
    [
        (1.02, 0.005, "holds", ["holds"] * 4),
        (1.9, 0.005, "does not hold", ["does not hold"] * 4),
        (1.15, 0.005, "not decidable by the text", ["does not hold"] * 2 + ["holds"] * 2),
        (1.05, 0.01, "not decidable", ["not decidable", *["holds"] * 3]),
        (1.5, 0.01, "not decidable", [*["does not hold"] * 3, "not decidable"]),
        (1.1, 0.01, "not decidable by the text", ["does not hold", "not decidable", "holds", "holds"]),
    ],
)
def test_a_margin_of_ours_is_one_of_four_and_decides_only_if_all_of_them_agree(centre, spread, verdict, margins):
    values = [centre + spread * step for step in (-1, 0, 1, 0.5, -0.5)]
    keys = {"kind": "not the paper's number", "around": 1, "region": {"at_least": 0.9, "at_most": 1.1}}
    found = judge(claim(**keys), [("x", [[values]])])
    assert found.verdict == verdict
    assert list(found.margins.items()) == list(zip(("5 %", "10 %", "20 %", "50 %"), margins, strict=True))
    assert found.deciding.verdict == margins[1]  # the one with our margin
    for said in (line(found), " ".join(short_lines(found))):
        assert "what decides is ours, not the paper's" in said
        assert f"margins: {margins[0]} with 5 %" in said


def test_a_margin_is_a_share_of_the_number_that_the_region_is_around():
    asked = claim(kind="not the paper's number", around=4, region={"above": 3.6, "below": 4.4})
    bounds = {name: (one.region.above, one.region.below) for name, one in asked.by_margin().items()}
    assert bounds == {"5 %": (3.8, 4.2), "10 %": (3.6, 4.4), "20 %": (3.2, 4.8), "50 %": (2.0, 6.0)}
    fewer = claim(kind="not the paper's number", around=1, region={"below": 0.5})
    assert [one.region.below for one in fewer.by_margin().values()] == [0.95, 0.9, 0.8, 0.5]
    assert claim(region={"below": 0.5}).by_margin() == {}


SMALL, LARGE = [0.9, 0.8, 0.85, 0.88], [1.9, 1.8, 1.85, 1.88]


@pytest.mark.parametrize("every_run", [True, False])
def test_an_upper_bound_bears_out_that_a_number_is_small_and_refutes_nothing(every_run):
    keys = {"of": "epsilon", "region": {"at_most": 1}, "every_run": every_run}
    upper, exact = claim(bound="upper", **keys), claim(bound="exact", **keys)
    for asked, verdict in ((upper, "not decidable"), (exact, "does not hold")):
        assert judge(asked, [("x", [[SMALL]])]).verdict == "holds"
        found = judge(asked, [("x", [[LARGE]]), ("y", [[SMALL]])])
        assert found.verdict == verdict
    assert "an upper bound, which refutes nothing" in line(judge(upper, [("x", [[LARGE]])]))


def test_a_lower_bound_bears_out_that_a_number_is_large_and_refutes_nothing():
    asked = claim(of="epsilon", bound="lower", region={"at_least": 1})
    assert [judge(asked, [("x", [[values]])]).verdict for values in (LARGE, SMALL)] == ["holds", "not decidable"]


@pytest.mark.parametrize(
    ("bound", "region", "verdict"),
    [
        ("exact", {"at_most": 1}, "does not hold"),
        ("upper", {"at_most": 1}, "not decidable"),
        ("exact", {"at_least": 1}, "holds"),
        ("upper", {"at_least": 1}, "not decidable"),
    ],
)
def test_where_the_account_of_a_run_proves_no_more_its_epsilon_is_an_upper_bound(bound, region, verdict):
    """Whatever the claim says of accounts in general: of one of these runs it is known to be a bound only."""
    runs = [replace(made_up(metrics={"epsilon": value}), replication=place) for place, value in enumerate(LARGE)]
    runs[2] = replace(runs[2], privacy_bound=bound)
    of_figure = SimpleNamespace(
        one=lambda _: PointResult(parameters={}, runs=runs), held="", figure=SimpleNamespace(chosen="")
    )
    assert evidence(claim(of="epsilon", bound="exact", region=region), of_figure).judged().verdict == verdict


def test_one_run_outside_refutes_what_is_claimed_of_every_run_and_one_inside_shows_nothing():
    asked = claim(every_run=True, region={"at_least": 0, "at_most": 0})
    assert judge(asked, [("x", [[[0.0, 0.0, 0.0]]])]).verdict == "holds"
    assert judge(asked, [("x", [[[0.0, 0.0, 1e-9]]])]).verdict == "does not hold"
    assert judge(asked, [("x", [[[0.0]]])]).verdict == "not decidable"
    # The mean of three replications that are alike is not known to be that.
    assert judge(claim(region={"at_least": 0, "at_most": 0}), [("x", [[[0.0, 0.0, 0.0]]])]).verdict == "not decidable"


def test_pairs_of_runs_are_compared_one_by_one():
    asked = claim(measure="ratio", every_run=True, against=[{"a": 1}], region={"below": 1})
    found = judge(asked, [("x against y", [[[1.0, 3.0]], [[2.0, 4.0]]])])
    assert (found.verdict, found.comparisons[0].interval.low, found.comparisons[0].interval.high) == (
        "holds",
        0.5,
        0.75,
    )
    assert "in each pair of runs, ratio of cost: x against y: 0.5 to 0.75 (2 replications, holds if" in line(found)
    assert judge(asked, [("x", [[[1.0, 5.0]], [[2.0, 4.0]]])]).verdict == "does not hold"
    assert judge(asked, [("x", [[[1.0]], [[0.0]]])]).comparisons[0].interval is None


@pytest.mark.ci
def test_all_looks_together_err_as_often_as_one():
    """A mean that is exactly at the bound is decided by chance alone. 1,200 studies of six looks, doubled each time."""
    asked = claim(region={"below": 0})
    generator = np.random.default_rng(8)
    naive = planned = 0
    for _ in range(1200):
        values = generator.normal(0, 1, 4 * 2**5)
        samples = [values[: 4 * 2**look].tolist() for look in range(6)]
        naive += any(judge(asked, [("x", [[some]])]).verdict != "not decidable" for some in samples)
        planned += any(
            judge(asked, [("x", [[some]])], look=InterimLook(number, 6)).verdict != "not decidable"
            for number, some in enumerate(samples, start=1)
        )
    assert planned / 1200 < 0.05
    assert naive / 1200 > 0.08  # what the plan is for
