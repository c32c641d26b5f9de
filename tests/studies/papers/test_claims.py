import math
import re

import pytest
from helpers.some_claim import claim
from pydantic import ValidationError

from netbandit.studies.papers.figures import paper_names, papers_folder, read_paper

NOT = "not the paper's number"

FROM_THE_PAPER = {
    "asynchronous/he-bound-square": "twice as many agents, and d M^2",
    "dpmab/equal-cost": "equal, to rounding",
    "dpmab/fig3-hybrid": "the largest distance to a sink",
    "dpmab/fig3-one-way": "links times slots of GIS",
    "dpmab/fig3-uplinks": "Q / M",
    "dpmab/remark3-algebra": "at most M, to rounding",
    "dpmab/theorem1-rounds": "1 - 1 / T",
    "fedelim/cost-thrice": "resp. 3",
    "fedelim/errors": "the probability of error that it is given",
    "fedelim/selections-twice": "at most 2 times",
    "gosine/messages": "two messages a phase and agent",
    "pfcb/exp1-delta": "delta = 0.01",
    "pfcb/exp2-sub-linear": "the half of a straight line",
    "vertical/fig4-same-theta": "0, to rounding",
}
"""Claims that a number other than 0 and 1 decides, and how that follows from the sentence."""


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
        {"measure": "median ratio", "region": {"below": 1}, "against": [{"a": 1}], "paired": False},
        {"measure": "median", "region": {"below": 1}, "every_run": True},
        {"measure": "median difference", "region": {"below": 1}},
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


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"of": "epsilon", "region": {"at_most": 1}}, "say bound"),
        ({"of": "log(delta)", "region": {"at_most": 1}}, "say bound"),
        ({"of": "epsilon", "bound": "upper", "region": {"at_least": 1}}, "an upper bound cannot show"),
        ({"of": "epsilon", "bound": "lower", "region": {"below": 1}}, "a lower bound cannot show"),
        ({"measure": "share", "every_run": True, "region": {"below": 1}}, "every_run belongs to"),
        ({"not_tested": "a", "if_not": "b", "region": {"below": 1}}, "give not_tested, left_open or if_not"),
        ({"not_tested": "a", "left_open": "b", "region": {"below": 1}}, "give not_tested, left_open or if_not"),
        ({"around": 1, "region": {"at_most": 1.1}}, 'say kind = "not the paper\'s number"'),
        ({"around": 1, "kind": NOT, "region": {"at_most": 1.15}}, "a margin away from 1: one of 5 %, 10 %, 20 %, 50 %"),
        ({"around": 1, "kind": NOT, "region": {"at_least": 0.9, "at_most": 1.2}}, "a margin away from 1"),
        ({"kind": "mine", "region": {"below": 1}}, "kind"),
    ],
)
def test_a_claim_must_say_what_its_number_is(keys, message):
    with pytest.raises(ValidationError, match=message):
        claim(**keys)


def test_a_key_of_the_scenario_is_no_bound():
    assert claim(of="cost * learner.epsilon", region={"at_most": 1}).bound is None


@pytest.mark.parametrize("name", paper_names())
def test_what_is_said_to_be_no_sentence_of_the_paper_is_a_question_of_our_own(name):
    for asked in read_paper(papers_folder() / name).claims:
        assert "(ours)" not in asked.says, asked.id
        if asked.where.startswith(("our own", "no paper", "not in the", "beyond the paper")):
            assert asked.ours, asked.id


@pytest.mark.parametrize("name", ["dpmab", "feducb", "pfcb", "vertical"])
def test_a_claim_of_a_paper_whose_text_was_read_names_the_passage(name):
    passage = re.compile("(Section|Theorem|Proposition|Corollary|Remark|Appendix|Figure|Table|Algorithm) [0-9IVXA-Z]")
    for asked in read_paper(papers_folder() / name).claims:
        assert asked.ours or passage.search(asked.where), asked.id


@pytest.mark.parametrize("name", paper_names())
def test_every_claim_on_what_an_accountant_finds_says_what_it_is(name):
    for asked in read_paper(papers_folder() / name).claims:
        if "epsilon" in asked.formulas[0].names or "delta" in asked.formulas[0].names:
            assert asked.bound is not None, asked.id


@pytest.mark.parametrize("name", paper_names())
def test_what_decides_a_claim_of_the_papers_own_is_the_papers_own(name):
    """0 and 1 say no more than which of two is larger, or that nothing is there."""
    for asked in read_paper(papers_folder() / name).claims:
        if asked.kind != "the paper's" or asked.no_verdict:
            continue
        bounds = [bound for bound in (asked.region.lowest, asked.region.highest) if math.isfinite(bound)]
        assert set(bounds) <= {0, 1} or f"{name}/{asked.id}" in FROM_THE_PAPER, asked.id
        assert not re.search("lost|reconstructed|is ours|the constant is", asked.note), asked.id
        vague = re.search(r"\b(close to|similar|slightly|almost the same|as good as|identical|far below)\b", asked.says)
        assert not vague or asked.region.lowest == asked.region.highest == 0, asked.id


def test_what_a_reconstructed_model_counts_is_not_tested():
    for name in ("vertical", "feducb"):
        for asked in read_paper(papers_folder() / name).claims:
            counted = re.search("_operations|context_bytes|mask_bytes", asked.of) or asked.where == "Proposition 1"
            if counted and not asked.ours:
                assert (asked.kind, bool(asked.not_tested)) == (NOT, True), asked.id


def test_what_settings_were_fitted_to_is_no_test():
    papers = {name: read_paper(papers_folder() / name) for name in paper_names()}
    claims = [(name, asked) for name, paper in papers.items() for asked in paper.claims]
    assert {f"{name}/{asked.id}" for name, asked in claims if asked.kind == "fitted"} == {
        *(f"pfcb/exp1-{who}-{how}" for who in ("p-fcb", "alone") for how in ("uniform", "normal")),
        *(f"vertical/{name}" for name in ("fig4-ten-times", "fig4-difference", "fig6-ten-times")),
        "dpmab/fig7-rounds",
    }


def test_what_li_and_song_call_the_same_has_one_margin():
    paper = read_paper(papers_folder() / "dpmab")
    ratios = [asked for asked in paper.claims if asked.measure == "ratio" and not asked.every_run]
    bands = {asked.id: (asked.region.lowest, asked.region.highest) for asked in ratios}
    two_sided = {name: band for name, band in bands.items() if -math.inf < band[0] and band[1] < math.inf}
    assert {"fig4-non-private", "fig8-share", "fig11-similar", "fig12-slightly"} < two_sided.keys()
    for name, (low, high) in two_sided.items():
        assert (high - low) / (high + low) == pytest.approx(0.1), name


def test_each_sentence_of_li_and_song_has_one_verdict():
    said = [(asked.where, asked.says) for asked in read_paper(papers_folder() / "dpmab").claims]
    assert len(said) == len(set(said))
