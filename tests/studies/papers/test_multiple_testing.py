"""The claims of a figure err together as often as one would; p-values are those of the tests that intervals invert."""

import numpy as np
import pytest
from helpers.made_up_runs import made_up
from helpers.some_claim import claim
from scipy import stats

from netbandit.results.failures import ENOUGH
from netbandit.results.study_result import PointResult
from netbandit.studies.papers.claim_text import line
from netbandit.studies.papers.figure_runs import FigureRuns
from netbandit.studies.papers.figures import paper_names, papers_folder, read_paper
from netbandit.studies.papers.measuring import evidence
from netbandit.studies.papers.multiple_testing import judged_together
from netbandit.studies.papers.verdicts import Evidence, InterimLook, Measured


def seen(samples, look=None, **keys):
    return Evidence(
        claim(**keys), [Measured(str(place), [[one]]) for place, one in enumerate(samples)], look=look or InterimLook()
    )


def together(all_seen):
    return judged_together(all_seen, all_seen)


def test_p_is_that_of_the_t_test_against_the_bound_of_the_region():
    sample = np.random.default_rng(31).normal(0.6, 1, 12).tolist()
    expected = stats.ttest_1samp(sample, 0).pvalue
    for region in ({"above": 0}, {"at_most": 0}):  # decided one way or the other
        assert seen([sample], region=region).p == pytest.approx(expected, rel=1e-6)
    assert seen([sample] * 4, region={"above": 0}).p == pytest.approx(4 * expected, rel=1e-6)  # Bonferroni within it
    assert seen([sample], InterimLook(2, 3), region={"above": 0}).p == pytest.approx(3 * expected, rel=1e-6)
    assert seen([sample], region={"above": 0}, every_run=True).p is None
    near = float(np.mean(sample))
    assert seen([sample], region={"at_least": near - 0.01, "at_most": near + 0.01}).p > 0.9


def test_p_is_the_level_at_which_the_verdict_changes():
    asked = seen([np.random.default_rng(32).normal(0.8, 1, 9).tolist()], region={"above": 0})
    assert asked.judged(asked.p * 1.001).verdict == "holds"
    assert asked.judged(asked.p / 1.001).verdict == "not decidable"


def test_intervals_are_printed_at_the_level_at_which_they_were_judged():
    generator = np.random.default_rng(33)
    strengths = (2.0, 0.9, 0.0)
    asked = [seen([generator.normal(s, 1, 30).tolist()], id=str(s), region={"above": 0}) for s in strengths]
    asked.append(seen([[1.0, 2.0]], id="every", region={"above": 0}, every_run=True))
    found = together(asked)
    assert [one.verdict for one in found] == ["holds", "holds", "not decidable", "holds"]
    assert [one.level for one in found[:3]] == pytest.approx([0.05 / 3, 0.05 / 2, 0.05])
    assert "(98.33 % intervals, 30 replications, p < 0.0001, judged at level 0.017 (Holm over 3 claims), " in line(
        found[0]
    )
    assert "(95 % intervals, 30 replications, p = " in line(found[2])
    assert "Holm" not in line(found[3])
    assert "p = " not in line(found[3])


def test_what_is_not_decided_first_stops_what_comes_after():
    """Two claims of p = 0.03: alone each would be decided, together none is, and both are judged at half the level."""
    generator = np.random.default_rng(34)
    sample = generator.normal(0, 1, 20)
    sample = (sample - sample.mean()) / sample.std(ddof=1) + stats.t.ppf(1 - 0.03 / 2, 19) / np.sqrt(20)
    asked = [seen([sample.tolist()], region={"above": 0}) for _ in range(2)]
    assert [one.p for one in asked] == pytest.approx([0.03, 0.03])
    assert asked[0].judged().verdict == "holds"
    assert [one.verdict for one in together(asked)] == ["not decidable"] * 2
    assert [one.level for one in together(asked)] == pytest.approx([0.025] * 2)


@pytest.mark.ci
def test_all_claims_of_a_figure_err_together_as_often_as_one_would():
    """Five claims, of which one is plainly true and four are at the very bound, where any decision is by chance."""
    generator = np.random.default_rng(35)
    figures, alone, family = 120, 0, 0
    for _ in range(figures):
        asked = [seen([generator.normal(0, 1, 10).tolist()], region={"above": 0}) for _ in range(4)]
        asked.append(seen([generator.normal(5, 1, 10).tolist()], region={"above": 0}))
        alone += any(one.judged().verdict != "not decidable" for one in asked[:4])
        found = together(asked)
        assert found[4].verdict == "holds"
        family += any(one.verdict != "not decidable" for one in found[:4])
    assert stats.binomtest(family, figures, 0.05, alternative="greater").pvalue > 1e-3
    assert stats.binomtest(alone, figures, 0.05, alternative="greater").pvalue < 1e-3  # what it is for: 1 - 0.95^4


def runs_of(count, lost=(), **metrics):
    runs = [
        made_up(replication=run, metrics={"regret": 100.0 + run, "best_lost": int(run in lost), **metrics})
        for run in range(count)
    ]
    return PointResult(parameters={}, runs=runs)


class Figure(FigureRuns):
    """Points under their names."""

    def one(self, selector):
        return self.points[selector["at"]]


def of_points(*points):
    return Figure(type("Figure", (), {"average": None, "chosen": ""})(), points)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("count", [ENOUGH - 1, ENOUGH])
@pytest.mark.parametrize("lost", [(), (3,)])
def test_a_mean_of_too_few_runs_that_can_fail_is_not_decided_and_a_median_is(count, lost):
    keys = {"of": "regret_per_agent", "points": [{"at": 0}], "region": {"below": 1e4}}
    of_figure = of_points(runs_of(count, lost))
    mean = evidence(claim(measure="mean", **keys), of_figure)
    assert mean.judged().verdict == ("holds" if count >= ENOUGH else "not decidable")
    assert ("means are compared from 29 replications on" in line(mean.judged())) == (count < ENOUGH)
    assert (mean.p == 1) == (count < ENOUGH)
    assert ("an agent dropped the best arm in 1 of " in line(mean.judged())) == bool(lost)
    assert evidence(claim(measure="median", **keys), of_figure).judged().verdict == "holds"
    curve = claim(measure="mean", **(keys | {"of": "curve('regret', 1) / 10"}))
    assert (evidence(curve, of_figure).p == 1) == (count < ENOUGH)
    assert evidence(claim(measure="mean", **(keys | {"of": "cost"})), of_figure).judged().verdict == "holds"


@pytest.mark.ci
def test_regrets_of_points_at_which_agents_stalled_are_compared_with_a_sentence():
    keys = {"points": [{"at": 0}], "against": [{"at": 1}], "region": {"below": 1}, "measure": "ratio"}
    of_figure = of_points(runs_of(30, stalled=2), runs_of(30))
    sentence = "Lower regret at such a point is not an improvement"
    assert sentence in line(evidence(claim(of="regret", **keys), of_figure).judged())
    assert sentence not in line(evidence(claim(of="cost", **keys), of_figure).judged())
    assert sentence not in line(evidence(claim(of="regret", **keys), of_points(runs_of(30), runs_of(30))).judged())


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", paper_names())
def test_claim_files_plan_enough_replications_where_runs_can_fail(name):
    """Fixed beforehand, where arms are dropped: there a mean regret of fewer is not decided."""
    from netbandit.studies.papers.figure_runs import points_of

    paper = read_paper(papers_folder() / name)
    for figure in paper.figures:
        asked = [one for one in paper.claims if one.figure == figure.id and one.averages]
        if not asked:
            continue
        for _, point, _ in points_of(paper, figure, None):
            if point.resolved["learner"]["kind"] == "elimination":
                assert point.resolved["run"]["replications"] >= ENOUGH, (figure.id, point.parameters)
