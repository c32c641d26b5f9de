"""The picture of what a round waits for, by cause."""

import pytest
from helpers.made_up_runs import made_up

from netbandit.plots.waits import causes
from netbandit.results.study_result import PointResult


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"round_slots": 9.0}, None),
        ({"round_slots": 9.0, "round_computing_slots": 5.0}, [0.0, 5.0, 4.0]),
        ({"round_slots": 9.0, "feedback_wait_slots": 2.0}, [2.0, 0.0, 9.0]),
        ({"round_slots": None, "feedback_wait_slots": 2.0}, [2.0, 0.0, 0.0]),
    ],
)
def test_causes_add_up_to_the_wait(metrics, expected):
    run = made_up()
    run.metrics.update(metrics)
    assert causes(PointResult({}, run.resolved, keys=["key"], runs=[run])) == expected
