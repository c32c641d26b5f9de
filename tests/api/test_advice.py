"""Advice from Python, and the shipped scenario whose runs bear it out."""

from pathlib import Path

import netbandit as nb

SCENARIO = str(Path(__file__).parents[2] / "scenarios" / "advice.toml")


def test_the_advised_backbone_waits_exactly_as_much_less_as_was_said():
    advice = nb.advise_links(SCENARIO, replications=2, run__horizon=5_000)
    (step,) = advice.steps
    best = step.best[0]
    said = best.value - step.before
    assert (step.before, best.value) == (66e6, 53e6)
    confirmed = advice.confirmed[0]
    assert confirmed.link == best.link
    assert confirmed.differences["round_slots"].value == said / 1e6 == -13
    assert advice.unchanged["round_slots"].value == 66


def test_without_runs_nothing_is_confirmed():
    advice = nb.advise_links("ring", 2, lose=True, topology__agents=6)
    assert (advice.unchanged, advice.confirmed) == ({}, [])
    assert [step.lose for step in advice.steps] == [True, True]
    assert advice.steps[0].before == 3e6
