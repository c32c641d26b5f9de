"""The picture of what a round waits for, by cause."""

import pytest
from helpers.made_up_runs import arranged, made_up

from netbandit.plots.style import subtitle
from netbandit.plots.waits import causes, draw_waits, have_causes
from netbandit.results.study_result import PointResult


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"round_slots": 9.0}, [0.0, 0.0, 9.0]),
        ({"round_slots": 0.0}, None),
        ({"round_slots": 9.0, "round_computing_slots": 5.0}, [0.0, 5.0, 4.0]),
        ({"round_slots": 9.0, "feedback_wait_slots": 2.0}, [2.0, 0.0, 9.0]),
        ({"round_slots": None, "feedback_wait_slots": 2.0}, [2.0, 0.0, 0.0]),
    ],
)
def test_causes_add_up_to_the_wait(metrics, expected):
    run = made_up()
    run.metrics.update(metrics)
    assert causes(PointResult({}, run.resolved, keys=["key"], runs=[run])) == expected


def test_a_point_that_waits_for_messages_alone_has_a_bar_and_one_that_never_waits_is_named():
    waits = {"2 ms": (9.0, 5.0), "4 ms": (4.0, 0.0), "6 ms": (0.0, 0.0)}
    study = arranged(
        [
            made_up(
                parameters={"links.peer.latency": latency},
                metrics={"round_slots": slots, "round_computing_slots": computing},
            )
            for latency, (slots, computing) in waits.items()
        ]
    )
    assert [have_causes(point) for point in study.points] == [True, False, False]
    drawn = draw_waits(study)
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["latency 2 ms", "latency 4 ms"]
    assert subtitle(drawn) == "means of 1 replication; without 6 ms"
    assert " slots (latency " in drawn.get_suptitle()
