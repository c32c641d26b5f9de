import numpy as np
import pytest
from pydantic import ValidationError

from netbandit.papers import reproduce as study
from netbandit.papers.claim_text import line
from netbandit.papers.claims import Claim
from netbandit.papers.figures import paper_names, papers_folder, read_paper
from netbandit.papers.verdicts import Look, judge


def claim(**keys):
    whole = {"id": "x", "figure": "f", "where": "here", "says": "a", "read_as": "b", "of": "cost", "measure": "mean"}
    return Claim.model_validate({**whole, **keys})


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
    ("keys", "message"),
    [
        ({"of": "epsilon", "region": {"at_most": 1}}, "say bound"),
        ({"of": "log(delta)", "region": {"at_most": 1}}, "say bound"),
        ({"of": "epsilon", "bound": "upper", "region": {"at_least": 1}}, "an upper bound cannot show"),
        ({"of": "epsilon", "bound": "lower", "region": {"below": 1}}, "a lower bound cannot show"),
        ({"measure": "share", "every_run": True, "region": {"below": 1}}, "every_run belongs to"),
    ],
)
def test_a_claim_must_say_what_its_number_is(keys, message):
    with pytest.raises(ValidationError, match=message):
        claim(**keys)


def test_a_key_of_the_scenario_is_no_bound():
    assert claim(of="cost * learner.epsilon", region={"at_most": 1}).bound is None


@pytest.mark.parametrize("name", paper_names())
def test_every_claim_on_what_an_accountant_finds_says_what_it_is(name):
    for asked in read_paper(papers_folder() / name).claims:
        if "epsilon" in asked.formulas[0].names or "delta" in asked.formulas[0].names:
            assert asked.bound is not None, asked.id


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


def test_a_line_names_what_was_taken_off():
    asked = claim(
        measure="ratio", of="regret", points=[{"k": 1.0}], against=[{"k": 0.25}], less={"k": 4.0}, region={"below": 0.8}
    )
    found = judge(asked, [("k 1 less k 4 against k 0.25 less k 4", [[[2.0, 2.1, 1.9]], [[3.0, 3.2, 2.9]]])])
    assert "Measured: ratio of regret less regret at k 4: k 1 less k 4 against k 0.25 less k 4: " in line(found)


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
            judge(asked, [("x", [[some]])], look=Look(number, 6)).verdict != "not decidable"
            for number, some in enumerate(samples, start=1)
        )
    assert planned / 1200 < 0.05
    assert naive / 1200 > 0.08  # what the plan is for


def test_a_claim_is_not_looked_at_again_once_it_is_decided(monkeypatch):
    class Runs:
        points = ()

    calls = []

    def judged(asked, runs, look):
        calls.append((asked.id, look))
        verdict = "holds" if asked.id == "soon" or look.number == 3 else "not decidable"
        return type("Judgement", (), {"claim": asked, "verdict": verdict, "look": look})

    monkeypatch.setattr(study, "judged", judged)
    claims = [claim(id=name, region={"below": 1}) for name in ("soon", "late")]
    paper = type("Paper", (), {"claims": claims})
    figure = type("Figure", (), {"id": "f"})
    times = []
    _, found = study._looked_at(paper, figure, lambda many: times.append(many) or Runs(), (1, 2, 4, 8))
    assert times == [1, 2, 4]
    assert [(judgement.claim.id, judgement.look.number) for judgement in found] == [("soon", 1), ("late", 3)]
    assert {look.of for _, look in calls} == {4}
    assert [name for name, _ in calls] == ["soon", "late", "late", "late"]


def test_the_line_says_that_it_was_a_planned_look_and_what_was_fitted_held_and_chosen():
    asked = claim(fitted=True, region={"below": 1})
    found = judge(asked, [("x", [[SMALL]])], "of bandit.seed 1 alone", "the number of replications", Look(2, 4))
    text = line(found)
    assert "98.75 % intervals" in text
    assert "(look 2 of at most 4, planned beforehand; each errs 4 times more rarely than one would)" in text
    assert "(the setting was chosen so that this comes out: this is no test of it)" in text
    assert "(of bandit.seed 1 alone)" in text
    assert "(chosen after looking: the number of replications)" in text
