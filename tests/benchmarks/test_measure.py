import pytest

from benchmarks.measure import Done, Measured, median_ratio, noise, ratios, seconds_a_unit


def test_quick_work_is_repeated_and_what_it_counts_is_kept():
    done, counts = iter([Done(0.06, 3, {"messages": 7}), Done(0.06, 3, {"messages": 7}), Done(9.0)]), {}
    assert seconds_a_unit(lambda: next(done), counts) == pytest.approx(0.02)
    assert counts == {"messages": 7}
    assert next(done).seconds == 9.0


def test_a_ratio_is_of_values_that_belong_together():
    above, below = Measured([6.0, 8.0, 9.0]), Measured([2.0, 4.0, 1.0])
    assert ratios(above, below) == [3.0, 2.0, 9.0]
    assert median_ratio(above, below) == 3.0


def test_noise_is_the_range_of_the_middle_half():
    assert noise([1.0, 2.0, 3.0, 4.0, 50.0]) == pytest.approx(2 / 3)
