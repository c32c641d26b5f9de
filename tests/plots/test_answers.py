"""The title of a picture says what it answers, with its number, where that is decided."""

import pytest
from helpers.made_up_runs import made_up, study_of

from netbandit.plots.answers import answer
from netbandit.plots.grouping import arrange

KEY = "links.peer.latency"


def runs(factors, families=("ring",), replications=4):
    """Regret 100 at the least latency, and so many times as much at 5 ms, with the same luck in each replication."""
    return [
        made_up(
            parameters={"topology.family": family, KEY: latency},
            family=family,
            replication=number,
            metrics={"regret": 100.0 * factor * (1 + 0.1 * number) + 0.01 * number**2 * place},
        )
        for family, largest in zip(families, factors, strict=True)
        for place, (latency, factor) in enumerate((("0 ms", 1.0), ("2 ms", 9.0), ("5 ms", largest)))
        for number in range(replications)
    ]


@pytest.mark.parametrize(
    ("factors", "families", "text"),
    [
        ((1.68,), ("ring",), "regret grows by 68 % as latency of a peer link goes from 0 ms to 5 ms"),
        ((0.5,), ("ring",), "regret falls by 50 % as latency of a peer link goes from 0 ms to 5 ms"),
        ((7.0,), ("ring",), "regret grows to 7 times as much as latency of a peer link goes from 0 ms to 5 ms"),
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


def test_one_replication_answers_nothing():
    arrangement = arrange(study_of(runs((1.68,), replications=1)))
    assert answer(arrangement, arrangement.points, KEY, "regret") == ""
