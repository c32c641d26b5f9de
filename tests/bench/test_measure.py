import pytest

from netbandit.bench.measure import noise, rates_in_turns, ratios


def work(name, amount, seconds, calls):
    def run():
        calls.append(name)
        return amount, seconds

    return run


def test_slow_work_is_measured_less_often_and_quick_work_repeated():
    calls = []
    slow, quick = rates_in_turns([work("slow", 10, 5.0, calls), work("quick", 3, 0.06, calls)], 3, 2.0)
    assert (slow, quick) == ([2.0], pytest.approx([50.0] * 3))
    assert calls == ["slow", *["quick"] * 6]


def test_what_was_not_measured_in_a_round_is_as_it_was_last():
    assert ratios([6.0, 8.0, 9.0], [2.0, 4.0]) == [3.0, 2.0, 2.25]


def test_noise_is_the_range_of_the_middle_half():
    assert noise([1.0, 2.0, 3.0, 4.0, 50.0]) == pytest.approx(2 / 3)
