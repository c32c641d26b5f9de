"""The alpha of a learner's bonus, and what is said where learners with different ones, or told more, are compared."""

from html import unescape
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from helpers.made_up_runs import made_up, study_of

from netbandit.checks.check import check
from netbandit.checks.exploration import bonus_alpha, unequal_exploration, unequal_knowledge
from netbandit.learners.world import World
from netbandit.parts.registry import BUILT_IN, part_class
from netbandit.report.page import page
from netbandit.results.remarks import comparison_notes
from netbandit.scenario.load import load
from netbandit.util.streams import Streams

BASE = """
run = { horizon = 100 }
topology = { family = "ring", agents = 3 }
bandit = { kind = "gaussian", means = [0.1, 0.9] }
protocol = { kind = "silent" }
"""


def plan(*lines):
    return check(load("scenario.toml", (), text="\n".join([BASE, *lines])))


@pytest.mark.parametrize(
    ("learner", "alpha"),
    [
        ("kind = 'ucb'", 4.0),
        ("kind = 'ucb', exploration = 1.5", 1.5),
        ("kind = 'klucb'", 1.0),
        ("kind = 'dducb'", 2.0),
        ("kind = 'coop-ucb2'", 8 / 3),
        ("kind = 'coop-ucb2', eta = 0", 2.0),
        ("kind = 'coop-ucb2', index = 'coop-ucb', exploration = 3", 3.0),
        ("kind = 'dec-ucb'", 6.0),
        ("kind = 'dec-ucb', theorem = 1", 8 / 3),
    ],
)
def test_alpha_is_that_of_the_width_that_a_learner_uses(learner, alpha):
    (point,) = plan(f"learner = {{ {learner} }}").points
    assert bonus_alpha(point.resolved["learner"]) == pytest.approx(alpha)
    one, world = point.learner.fresh(), World(3, 100, Streams(0, 0), arms=2, sub_gaussian=0.7, law="gaussian")
    one.start(world, 3, np.random.default_rng(0))
    width = one.level_of(1.0) if hasattr(one, "level_of") else one._spread
    assert width == pytest.approx(0.7 * sqrt(2 * alpha))


def test_every_learner_with_such_a_key_has_an_alpha():
    for kind in BUILT_IN["learner"]:
        fields = part_class("learner", kind, Path()).model_fields
        if "exploration" in fields:
            table = {"kind": kind, **{name: field.default for name, field in fields.items()}}
            assert bonus_alpha(table) is not None, kind


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ('["ucb", "klucb"]', "ucb 4, klucb 1 (alpha of sigma sqrt(2 alpha ln t / n)); learner.exploration = 1 for all"),
        ('["ucb", "dducb"]', "learner.exploration = 2 for all equalizes them"),
        ('["ucb", "coop-ucb2"]', "= 2 for all, with learner.eta = 0 for coop-ucb2, equalizes them"),
        ('["klucb", "dec-ucb"]', "klucb and dec-ucb have no key to equalize them"),
        ('["ucb", "thompson"]', None),
        ('["ucb"]', None),
    ],
)
def test_check_notes_learners_whose_bonuses_differ(cases, said):
    notes = plan('learner = { kind = "ucb" }', "[sweep]", f'"learner.kind" = {cases}').notes
    found = [note for note in notes if "bonuses differ" in note]
    assert len(found) == (said is not None)
    if said is not None:
        assert said in found[0]
        assert found[0].startswith("scenario.toml:9:")


def test_what_is_advised_makes_them_equal():
    lines = ["learner = { kind = 'ucb', exploration = 2, eta = 0 }", "[sweep]"]
    assert not plan(*lines, "'learner.kind' = ['ucb', 'dducb', 'coop-ucb2']").notes
    lines = ["learner = { kind = 'ucb', exploration = 1 }", "[sweep]"]
    assert not plan(*lines, "'learner.kind' = ['ucb', 'klucb']").notes


def test_a_sweep_in_which_kinds_have_one_in_common_is_not_noted():
    tables = [{"kind": kind, "exploration": alpha} for kind in ("ucb", "dducb") for alpha in (1.0, 2.0)]
    assert unequal_exploration(tables) == ""
    assert unequal_exploration([{"kind": "ucb", "exploration": 1.0}, {"kind": "linucb", "alpha": 3.0}]) == ""


@pytest.mark.parametrize(
    ("sweep", "noted"),
    [
        ('cases = [{ label = "a", learner.rounds = 4 }, { label = "b" }]', True),
        ('"learner.kind" = ["elimination", "ucb"]', False),
        ('"learner.kind" = ["elimination", "ucb"]\n"learner.rounds" = [4]', True),
        ('"learner.rounds" = [2, 4]', False),
        ('cases = [{ label = "a", learner = { rounds = 4, gap = 0.1 } }, { label = "b" }]', False),
    ],
)
def test_learners_that_are_told_the_gap_of_the_instance_beside_others_are_a_note(sweep, noted):
    notes = plan('learner = { kind = "elimination", gap = "true" }', "[sweep]", sweep).notes
    found = [note for note in notes if "tells some learners the smallest gap of the instance" in note]
    assert len(found) == noted
    assert all(note.startswith("scenario.toml:9:") for note in found)


def test_comparisons_say_so_too():
    tables = [{"kind": "elimination", "rounds": rounds, "gap": "true"} for rounds in (2, 4)] + [{"kind": "thompson"}]
    runs = [made_up(parameters={f"learner.{key}": value for key, value in table.items()}) for table in tables]
    assert comparison_notes(study_of(runs), ["regret"]) == [unequal_knowledge(tables)]
    assert comparison_notes(study_of(runs[:2]), ["regret"]) == []


@pytest.mark.ci
def test_the_report_says_so_too(tmp_path):
    tables = [{"kind": "ucb", "exploration": 4.0}, {"kind": "dducb", "exploration": 2.0}]
    runs = [made_up(parameters={f"learner.{key}": value for key, value in table.items()}) for table in tables]
    assert unescape(page(tmp_path, study_of(runs))).count(unequal_exploration(tables)) == 1
    assert "bonuses differ" not in page(tmp_path, study_of(runs[:1]))
