from dataclasses import replace
from types import SimpleNamespace

import pytest
from helpers.made_up_runs import made_up

from netbandit.results.remarks import privacy_lines
from netbandit.results.run_folder import load_run, save_run

UNIT = "one reward of one agent"


def study(*spent, unit=UNIT):
    runs = [
        replace(made_up(metrics={"epsilon": epsilon, "epsilon_claimed": claimed}), privacy_unit=unit)
        for epsilon, claimed in spent
    ]
    return SimpleNamespace(points=[SimpleNamespace(finished=[run]) for run in runs])


@pytest.mark.parametrize(
    ("spent", "found", "stated"),
    [
        ([(60.0, 100.0)], "60", "100"),
        ([(60.0, 100.0), (60.0, 100.0)], "60", "100"),
        ([(0.5, 100.0), (2.0, 100.0), (1.0, 100.0)], "0.5, 1 or 2", "100"),
        ([(3.0, 4.0), (None, None)], "3 or infinite", "4 or infinite"),
        ([(float(epsilon), 100.0) for epsilon in range(1, 6)], "1 to 5", "100"),
        ([(float(epsilon), 100.0) for epsilon in range(1, 5)] + [(None, None)], "1 to infinite", "100 or infinite"),
    ],
)
def test_privacy_is_told_with_its_unit(spent, found, stated):
    assert privacy_lines(study(*spent)) == [
        f"privacy of {UNIT}: epsilon {found} for the agent worst off; the paper states {stated}"
    ]


def test_the_delta_is_told_with_it():
    run = replace(made_up(metrics={"epsilon": 0.0, "epsilon_claimed": 1.0, "delta": 0.1}), privacy_unit=UNIT)
    (line,) = privacy_lines(SimpleNamespace(points=[SimpleNamespace(finished=[run])]))
    assert line == f"privacy of {UNIT}: epsilon 0 at delta 0.1 for the agent worst off; the paper states 1"


def test_agents_alone_do_not_make_others_private():
    assert privacy_lines(study((None, None), (0.0, 0.0))) == []
    (line,) = privacy_lines(study((3.0, 4.0), (0.0, 0.0)))
    assert line.endswith(": epsilon 3 for the agent worst off; the paper states 4")


def test_nothing_is_said_where_nothing_is_accounted_for():
    assert privacy_lines(study((1.0, 2.0), unit="")) == []
    assert privacy_lines(study((None, None))) == []  # without noise


def test_the_unit_is_kept_in_the_run_folder(tmp_path):
    run = replace(made_up(), privacy_unit=UNIT)
    save_run(tmp_path / "run", run)
    assert load_run(tmp_path / "run").privacy_unit == UNIT
