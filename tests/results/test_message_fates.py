"""What became of a hundred messages: each is counted once, for one cause."""

import pytest

from netbandit.results.message_fates import CAUSES, FATES, counted, failing, not_arrived, of_a_hundred


def test_of_a_hundred_each_has_one_fate():
    runs = [
        {"delivered": 30, "lost": 6, "collided": 2, "refused": 1, "dropped": None},
        {"delivered": 10, "dropped": 40, "unsent": 2, "in_flight": 8, "duplicates_dropped": 4},
    ]
    found = of_a_hundred(runs)
    assert sum(found.values()) == pytest.approx(100)
    assert {fate: round(number) for fate, number in found.items()} == {
        "delivered": 40, "duplicates_dropped": 4, "in_flight": 8, "lost": 3, "collided": 2, "refused": 1,
        "dropped": 40, "unsent": 2,
    }  # fmt: skip
    assert failing(found) == pytest.approx(48)
    assert of_a_hundred([{"delivered": 0}, {}]) is None
    assert set(CAUSES) < set(FATES)


def test_what_had_not_arrived_by_the_end_is_lost_for_good_or_under_way():
    run = {"delivered": 60, "lost": 20, "in_flight": 20}
    assert (counted([run]), not_arrived([run])) == ("messages", pytest.approx(40))
    again = {**run, "retransmissions": 15, "given_up": 5}
    assert (counted([again]), not_arrived([again])) == ("attempts", pytest.approx(25))
    assert not_arrived([{}]) == 0
