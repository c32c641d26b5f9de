import math

from helpers.some_claim import claim, judge

from netbandit.results.intervals import Interval
from netbandit.studies.papers.claim_text import asked, each_text, interval_text, line
from netbandit.studies.papers.verdicts import InterimLook

SMALL = [0.9, 0.8, 0.85, 0.88]


def test_intervals_have_as_many_digits_as_they_are_wide():
    assert interval_text(Interval(0.92613, 0.92134, 0.93121, 0.95, 9)) == "0.9261 [0.9213, 0.9312]"
    assert interval_text(Interval(43199.3, 42707.1, 43691.5, 0.95, 9)) == "43,199 [42,707, 43,692]"
    assert interval_text(Interval(440, 440, 440, 0.95, 9)) == "440 [440, 440]"
    assert interval_text(Interval(2.5, -math.inf, math.inf, 0.95, 1)) == "2.5 [no interval]"


def test_a_line_names_what_was_taken_off():
    asked = claim(
        measure="ratio", of="regret", points=[{"k": 1.0}], against=[{"k": 0.25}], less={"k": 4.0}, region={"below": 0.8}
    )
    found = judge(asked, [("k 1 less k 4 against k 0.25 less k 4", [[[2.0, 2.1, 1.9]], [[3.0, 3.2, 2.9]]])])
    assert "Measured: ratio of regret less regret at k 4: k 1 less k 4 against k 0.25 less k 4: " in line(found)


def test_the_line_says_that_it_was_a_planned_look_and_what_was_fitted_held_and_chosen():
    asked = claim(kind="fitted", region={"below": 1})
    found = judge(
        asked, [("x", [[SMALL]])], "of bandit.seed 1 alone", "the number of replications", look=InterimLook(2, 4)
    )
    text = line(found)
    assert "98.75 % intervals" in text
    assert "(look 2 of at most 4, planned beforehand; each errs 4 times more rarely than one would)" in text
    assert "(the setting was chosen so that this comes out: this is no test of it)" in text
    assert "(of bandit.seed 1 alone)" in text
    assert "(chosen after looking: the number of replications)" in text


def test_only_a_quotation_stands_between_quotation_marks():
    less = claim(says="less", region={"below": 1})
    assert asked(less) == '"less"'
    assert asked(less.model_copy(update={"paraphrased": True})) == "in our words: less"
    assert asked(less.model_copy(update={"kind": "ours"})) == "our own question: less"


def test_each_of_several_comparisons_is_told_with_a_verdict_of_its_own():
    found = judge(claim(region={"below": 1}), [("x", [[SMALL]]), ("y", [[[2.0, 2.1, 1.9, 2.0]]])])
    assert found.verdict == "does not hold"
    assert [text.partition(":")[0] for text in each_text(found)] == ["x", "y"]
    assert [text.endswith("(holds)") for text in each_text(found)] == [True, False]
    assert not list(each_text(judge(claim(region={"below": 1}), [("x", [[SMALL]])])))
