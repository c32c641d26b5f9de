from dataclasses import replace

import pytest
from helpers.made_up_runs import made_up, study_of

from netbandit.results.remarks import MEANING, cost_lines, energy_lines, privacy_lines, remarks, unequal_privacy
from netbandit.results.run_folder import load_run, save_run
from netbandit.results.study_result import PointResult, StudyResult

UNIT = "one reward of one agent"


def study(*spent, unit=UNIT):
    made = (made_up(metrics={"epsilon": epsilon, "epsilon_claimed": claimed}) for epsilon, claimed in spent)
    return study_of([replace(run, privacy_unit=unit) for run in made])


@pytest.mark.parametrize(
    ("spent", "found", "stated"),
    [
        ([(60.0, 100.0)], "60", "100"),
        ([(60.0, 100.0), (60.0, 100.0)], "60", "100"),
        ([(0.5, 100.0), (2.0, 100.0), (1.0, 100.0)], "0.5, 1 or 2", "100"),
        ([(float(epsilon), 100.0) for epsilon in range(1, 6)], "1 to 5", "100"),
    ],
)
def test_privacy_is_told_with_its_unit_and_what_it_means(spent, found, stated):
    assert privacy_lines(study(*spent)) == [
        f"privacy of {UNIT}: epsilon {found} for the worst-off agent; the paper states {stated}",
        f"  {MEANING}",
    ]


def lasting(*figures):
    runs = [
        replace(made_up(metrics={"simulated_s": 86_400.0, **each}), resolved={"run": {"horizon": 100, "slot": "864 s"}})
        for each in figures
    ]
    points = [PointResult({"a": place}, keys=[f"{place}"], runs=[run]) for place, run in enumerate(runs)]
    return energy_lines(StudyResult("lasting", points))


def test_whether_batteries_last_is_said_and_of_those_that_none_emptied_a_forecast():
    forecast = {"sustained": 0, "lifetime_slots": 3_000.0, "first_death": None}
    assert lasting({"sustained": 1, "lifetime_slots": None}, forecast, {**forecast, "first_death": 3.0}) == [
        "at a = 0: batteries last: what is harvested suffices for what is spent",
        "at a = 1: no battery ran empty in 1 day; the first is forecast to after 30 days, at the rate of the run",
    ]
    (line,) = lasting({"sustained": None, "lifetime_slots": None})
    assert line.startswith("whether batteries last cannot be said: run.horizon must be long enough")
    assert lasting({}) == []


def test_who_asked_for_no_privacy_is_told_so_beside_others():
    line, *_ = privacy_lines(study((3.0, 4.0), (None, None)))
    assert line.endswith(": epsilon 3 for the worst-off agent; the paper states 4 (elsewhere no privacy was asked for)")


@pytest.mark.parametrize("alone", [(0.0, 0.0), (0.0, None)])
def test_where_nobody_asked_for_privacy_nothing_is_said_of_it(alone):
    assert privacy_lines(study((None, None))) == []
    assert privacy_lines(study((None, None), alone)) == []
    assert unequal_privacy(study((None, None), alone)) == []


def test_the_delta_is_told_with_it():
    run = replace(made_up(metrics={"epsilon": 0.0, "epsilon_claimed": 1.0, "delta": 0.1}), privacy_unit=UNIT)
    line, *_ = privacy_lines(study_of([run]))
    assert line == f"privacy of {UNIT}: epsilon 0 at delta 0.1 for the worst-off agent; the paper states 1"


def test_what_epsilon_does_not_cover_is_told_once():
    runs = [
        replace(made_up(metrics={"epsilon": 1.0, "epsilon_claimed": 1.0}), privacy_unit=UNIT, privacy_caveats=caveats)
        for caveats in (("one", "other"), ("one",))
    ]
    _, _, *lines = privacy_lines(study_of(runs))
    assert lines == ["  not covered: one", "  not covered: other"]


def test_basic_composition_is_called_an_upper_bound():
    metrics = {"epsilon": 0.136, "delta": 0.01, "epsilon_claimed": 1.0}
    metrics |= {"epsilon_basic_composition": 1.54, "delta_basic_composition": 0.18}
    run = replace(made_up(metrics=metrics), privacy_unit=UNIT)
    line, *_ = privacy_lines(study_of([run]))
    assert "epsilon 0.136 at delta 0.01 for the worst-off agent; the paper states 1;" in line
    assert line.endswith("basic composition, an upper bound that adds up all releases: 1.54 at delta 0.18")


def test_an_account_that_proves_no_more_is_called_an_upper_bound():
    run = replace(made_up(metrics={"epsilon": 4.0, "epsilon_claimed": 2.0}), privacy_unit=UNIT)
    runs = [run, replace(run, privacy_bound="upper")]
    line, *_ = privacy_lines(study_of(runs))
    assert line == f"privacy of {UNIT}: epsilon 4, an upper bound, for the worst-off agent; the paper states 2"


def test_agents_alone_do_not_make_others_private():
    line, *_ = privacy_lines(study((3.0, 4.0), (0.0, 0.0)))
    assert line.endswith(": epsilon 3 for the worst-off agent; the paper states 4")


def test_nothing_is_said_where_nothing_is_accounted_for():
    assert privacy_lines(study((1.0, 2.0), unit="")) == []


def test_the_account_is_kept_in_the_run_folder(tmp_path):
    told = {"privacy_unit": UNIT, "privacy_accountant": "exact", "privacy_caveats": ("one", "other")}
    told["privacy_bound"] = "upper"
    run = replace(made_up(), **told)
    save_run(tmp_path / "run", run)
    kept = load_run(tmp_path / "run")
    assert {name: getattr(kept, name) for name in told} == told


@pytest.mark.parametrize(
    ("cost", "activations", "parts"),
    [
        (12.0, 12, "1 for each link between agents and slot in which a message is sent on it"),
        (300.0, 12, "25 for each link to the server and round in which it is used"),
        (36.0, 12, "1 for each link between agents and slot in which a message is sent on it, "
         "25 for each link to the server and round in which it is used"),
    ],
)  # fmt: skip
def test_what_a_cost_is_made_of(cost, activations, parts):
    links = {"peer": {"cost": 1.0}, "uplink": {"cost": 25.0}}
    run = made_up(metrics={"cost": cost, "activations": activations})
    run = replace(run, resolved={**run.resolved, "links": links})
    assert cost_lines(study_of([run, run])) == [f"cost: {parts}"]


def test_nothing_is_said_of_a_cost_that_is_zero():
    run = made_up(metrics={"cost": 0.0, "activations": 0})
    assert cost_lines(study_of([run])) == []


def test_points_that_spend_different_privacy_are_no_like_for_like():
    (line,) = unequal_privacy(study((3.0, 4.0), (60.0, 60.0), (None, None)))
    assert line.startswith("privacy differs between these points, epsilon 3, 60 or infinite")
    assert unequal_privacy(study((3.0, 4.0), (3.0, 4.0), (0.0, 0.0))) == []  # the last one alone
    assert unequal_privacy(study((None, None), (None, None))) == []
    of_other_units = study((None, None), (None, None))
    of_other_units.points[0].runs[0] = replace(of_other_units.points[0].runs[0], privacy_unit="a row")
    assert unequal_privacy(of_other_units) == []  # of neither: nobody is private


def remarked(*points):
    """A study whose points have parameters and remarks."""
    found = [PointResult(keys, keys=["a"], runs=[replace(made_up(), remarks=lines)]) for keys, lines in points]
    return StudyResult("s", found)


def test_a_remark_that_holds_everywhere_names_no_point():
    assert remarks(remarked(({"a.kind": "x"}, ("one",)), ({"a.kind": "y"}, ("one",)))) == ["one"]
    assert remarks(remarked(({}, ("one",)))) == ["one"]


def test_a_remark_of_some_points_names_them():
    grid = [({"a.kind": kind, "b": number}, kind, number) for kind in ("x", "y", "z") for number in (1, 2)]

    def at(holds):
        return remarks(remarked(*((keys, ("one",) * holds(kind, number)) for keys, kind, number in grid)))

    assert at(lambda kind, number: kind == "x") == ["at a = x: one"]
    assert at(lambda kind, number: kind != "y") == ["at a = x or z: one"]
    assert at(lambda kind, number: kind != "y" and number == 2) == ["at a = x or z, b = 2: one"]
    assert at(lambda kind, number: (kind, number) in (("x", 1), ("y", 2))) == [
        "at 2 of 6 points: a = x, b = 1; a = y, b = 2: one"
    ]
    assert at(lambda kind, number: (kind, number) != ("z", 2))[0].endswith("a = y, b = 1; and 2 more: one")


def test_a_point_without_a_key_is_told_by_that():
    points = [({"a.kind": "x", "b": 1}, ("one",)), ({"a.kind": "x"}, ()), ({"a.kind": "y"}, ("other",))]
    assert remarks(remarked(*points)) == ["at b = 1: one", "at a = y: other"]
