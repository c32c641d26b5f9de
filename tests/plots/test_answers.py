"""The title of a picture says what it answers, with its number, where that is decided."""

import pytest
from helpers.made_up_runs import made_up, study_of

from netbandit.plots.answers import answer, answer_between, best_of, last_answers, range_of
from netbandit.plots.grouping import arrange

KEY = "links.peer.latency"


def runs(factors, families=("ring",), replications=4, between=1.0):
    """Regret 100 at the least latency, and so many times as much at 5 ms, with the same luck in each replication."""
    return [
        made_up(
            parameters={"topology.family": family, KEY: latency},
            family=family,
            replication=number,
            metrics={"regret": 100.0 * factor * (1 + 0.1 * number) + 0.01 * number**2 * place},
        )
        for family, largest in zip(families, factors, strict=True)
        for place, (latency, factor) in enumerate((("0 ms", 1.0), ("2 ms", between), ("5 ms", largest)))
        for number in range(replications)
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("factors", "families", "text"),
    [
        ((1.68,), ("ring",), "regret grows by 68 % as latency of a peer link goes from 0 ms to 5 ms"),
        ((0.0124,), ("ring",), "regret falls by 98.7 % as latency of a peer link goes from 0 ms to 5 ms"),
        ((0.0003,), ("ring",), "regret falls by 99.9 % as latency of a peer link goes from 0 ms to 5 ms"),
        ((0.5,), ("ring",), "regret falls by 50 % as latency of a peer link goes from 0 ms to 5 ms"),
        ((7.0,), ("ring",), "regret grows 7-fold as latency of a peer link goes from 0 ms to 5 ms"),
        (
            (1.68, 1.06),
            ("ring", "star"),
            "regret grows by up to 68 % as latency of a peer link goes from 0 ms to 5 ms (ring)",
        ),
        ((2.12,), ("ring",), "regret grows by 110 % as latency of a peer link goes from 0 ms to 5 ms"),
        ((1.0,), ("ring",), ""),
    ],
)
def test_the_largest_change_that_pairs_decide_is_the_answer(factors, families, text):
    arrangement = arrange(study_of(runs(factors, families)))
    assert answer(arrangement, arrangement.points, KEY, "regret") == text


@pytest.mark.parametrize(
    ("between", "text"),
    [(9.0, ", and is largest at 2 ms"), (0.4, ", and is least at 2 ms"), (1.3, "")],
)
def test_a_value_between_the_ends_that_has_more_or_less_than_both_is_named(between, text):
    arrangement = arrange(study_of(runs((1.68,), between=between)))
    grows = "regret grows by 68 % as latency of a peer link goes from 0 ms to 5 ms"
    assert answer(arrangement, arrangement.points, KEY, "regret") == f"{grows}{text}"


def test_one_replication_answers_nothing():
    arrangement = arrange(study_of(runs((1.68,), replications=1)))
    assert answer(arrangement, arrangement.points, KEY, "regret") == ""


@pytest.mark.parametrize(
    ("regrets", "text"),
    [
        ((100.0, 60.0, 150.0), "regret grows by 50 % from complete (diameter 1) to ring (diameter 9)"),
        ((100.0, 500.0, 40.0), "regret falls by 60 % from complete (diameter 1) to ring (diameter 9)"),
        ((100.0, 500.0, 100.0), ""),
    ],
)
def test_the_points_of_least_and_largest_cost_are_compared_and_named(regrets, text):
    study = study_of(
        [
            made_up(
                parameters={"topology.family": family},
                replication=number,
                metrics={"regret": regret * (1 + 0.1 * number) + 0.01 * number**2 * hops, "diameter": hops},
            )
            for family, hops, regret in zip(("complete", "star", "ring"), (1, 2, 9), regrets, strict=True)
            for number in range(4)
        ]
    )
    assert answer_between(arrange(study), "diameter", "regret") == text


@pytest.mark.parametrize(
    ("regrets", "text"),
    [
        (
            (1_000.0, 101.0, 100.0),
            "regret falls by 90 % from complete (cost 10) to star (cost 20); nothing beyond is decidedly better",
        ),
        ((1_000.0, 500.0, 100.0), "regret falls by 90 % from complete (cost 10) to ring (cost 90)"),
        ((100.0, 300.0, 1_000.0), "regret grows 10-fold from complete (cost 10) to ring (cost 90)"),
    ],
)
def test_more_of_a_cost_is_told_up_to_the_least_that_is_as_good_as_any(regrets, text):
    study = study_of(
        [
            made_up(
                parameters={"topology.family": family},
                replication=number,
                metrics={"regret": regret * (1 + luck[number]), "cost": cost},
            )
            for family, cost, regret, luck in zip(
                ("complete", "star", "ring"),
                (10, 20, 90),
                regrets,
                ((-0.05, 0.05, 0.02, -0.02), (0.05, -0.05, 0.01, -0.01), (-0.05, 0.03, 0.05, -0.03)),
                strict=True,
            )
            for number in range(4)
        ]
    )
    assert answer_between(arrange(study), "cost", "regret") == text


def test_points_of_as_many_agents_are_compared_and_privacy_that_may_be_infinite_is_not():
    study = study_of(
        [
            made_up(
                parameters={"topology.family": family, "topology.agents": agents},
                replication=number,
                metrics={
                    "regret": hops * agents * (1 + 0.1 * number) + 0.01 * number**2 * hops**2,
                    "diameter": hops * agents,
                    "epsilon": hops,
                },
            )
            for family, hops in (("star", 2), ("ring", 4))
            for agents in (10, 80)
            for number in range(4)
        ]
    )
    text = "regret grows by 100 % from star, agents 80 (diameter 160) to ring, agents 80 (diameter 320)"
    assert answer_between(arrange(study), "diameter", "regret") == text
    assert answer_between(arrange(study), "epsilon", "regret") == ""


def protocols(regrets, costs, spread=0.1):
    """Three protocols with these means of regret and cost; replications are *spread*, with other luck for each."""
    luck = ((-1, 1, 0.5, -0.5), (1, -1, -0.5, 0.5), (-1, -0.5, 0.5, 1))
    return arrange(
        study_of(
            [
                made_up(
                    parameters={"protocol.kind": kind},
                    replication=number,
                    metrics={"regret": regret * (1 + spread * luck[place][number]), "cost": cost},
                )
                for place, kind, regret, cost in zip(range(3), ("gis", "sink", "silent"), regrets, costs, strict=True)
                for number in range(4)
            ]
        )
    )


@pytest.mark.parametrize(
    ("regrets", "text"),
    [
        ((100.0, 200.0, 4_000.0), "regret is between 100 (gis) and 4,000 (silent) at the end"),
        ((100.0, 101.0, 102.0), "regret is between 100 (gis) and 102 (silent) at the end, which may be chance"),
    ],
)
def test_the_least_and_the_largest_mean_are_named_and_whether_chance_may_be_all(regrets, text):
    assert range_of(protocols(regrets, (9, 4, 0)), "regret", when=" at the end") == text


@pytest.mark.parametrize(
    ("regrets", "costs", "text"),
    [
        ((100.0, 200.0, 300.0), (9, 4, 0), "the least regret is 100 (gis), the least cost 0 (silent)"),
        ((100.0, 200.0, 300.0), (1, 4, 5), "the least regret is 100 and the least cost 1 (gis)"),
        (
            (100.0, 101.0, 300.0),
            (9, 4, 7),
            "the least regret is 100 (gis), the least cost 4 (sink); sink may be as good in regret",
        ),
        ((100.0, 200.0, 300.0), (4, 4, 4), ""),
    ],
)
def test_the_best_of_two_metrics_are_named_unless_others_may_be_as_good(regrets, costs, text):
    assert best_of(protocols(regrets, costs), "cost", "regret") == text


def test_what_one_value_of_another_key_goes_with_each_protocol_is_in_no_name():
    cases = (("gis", "ring", 2), ("sink", "hybrid", 2), ("sink", "hybrid", 4))
    keys = ("protocol.kind", "topology.family", "learner.rounds")
    whole = arrange(study_of([made_up(parameters=dict(zip(keys, case, strict=True))) for case in cases]))
    assert {whole.called(point) for point in whole.points} == {"gis, rounds 2", "sink, rounds 2", "sink, rounds 4"}


@pytest.mark.parametrize(
    ("metrics", "text"),
    [
        ({}, ""),
        ({"answered": 1.0, "stop_slot": 93, "wrong_any": 0}, "; last answers after 93 to 95 slots, none wrong"),
        (
            {"answered": 1.0, "stop_slot": 93, "wrong_any": 1},
            "; last answers after 93 to 95 slots, some wrong in up to 100 % of runs",
        ),
        ({"answered": 0.5, "stop_slot": None, "wrong_any": 0}, "; not all agents answer"),
        ({"answered": 1.0, "stop_slot": 93, "wrong_any": 0, "best_lost": 0}, ""),
    ],
)
def test_when_the_last_answers_come_is_said_where_they_are_asked_for(metrics, text):
    places = range(1 if metrics.get("stop_slot") is None else 3)
    points = study_of(
        [
            made_up(
                parameters={KEY: f"{place} ms"},
                metrics=metrics | ({"stop_slot": 93 + place} if metrics.get("stop_slot") else {}),
            )
            for place in places
        ]
    ).points
    assert last_answers(points) == text


def test_where_some_do_not_answer_the_last_answers_are_those_of_the_others():
    metrics = {"answered": 1.0, "stop_slot": 93, "wrong_any": 0}
    halving = made_up(parameters={"learner.kind": "halving"}, metrics=metrics | {"best_lost": 1, "wrong_any": 1})
    race, late = (made_up(parameters={"learner.kind": kind}, metrics=metrics) for kind in ("race", "late"))
    assert (
        last_answers(study_of([race, halving]).points)
        == "; last answers after 93 slots, some wrong in up to 100 % of runs"
    )
    late.metrics["stop_slot"] = None
    where = "; last answers after 93 slots where all agents answer, none wrong"
    assert last_answers(study_of([race, late]).points) == where
