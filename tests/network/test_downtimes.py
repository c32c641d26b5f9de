from itertools import count, islice
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.downtimes import Downtimes, failing, redrawn
from netbandit.network.draws import Draws
from netbandit.util.streams import Streams

MOMENTS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=8)


@given(MOMENTS, MOMENTS, st.integers(0, 45), st.integers(0, 10))
def test_a_thing_is_down_in_each_interval_up_to_its_end(first, second, time, length):
    sources = [sorted((begin, begin + span) for begin, span in some) for some in (first, second)]
    down = Downtimes.of(*sources)
    moments = {moment for source in sources for begin, end in source for moment in range(begin, end)}
    assert down.at(time) == (time in moments)
    assert down.during(time, time + length) == any(moment in moments for moment in range(time, time + length + 1))
    assert down.up(time) == next(moment for moment in range(time, 200) if moment not in moments)
    assert down.down(time) == next((moment for moment in range(time, 200) if moment in moments), inf)
    ended = down.ended(time)
    assert ended == sum(end <= time for _, end in down.until(1_000))
    covered = [moment for begin, end in down.until(1_000) for moment in range(begin, int(end))]
    assert covered == sorted(moments)


TIMES = st.lists(st.tuples(st.integers(0, 45), st.integers(0, 10)), max_size=12)


@given(MOMENTS, MOMENTS, TIMES)
def test_whatever_was_asked_before_changes_no_answer(first, second, times):
    sources = [sorted((begin, begin + span) for begin, span in some) for some in (first, second)]
    down = Downtimes.of(*sources)
    moments = {moment for source in sources for begin, end in source for moment in range(begin, end)}
    for begin, length in times:
        assert down.during(begin, begin + length) == any(begin <= moment <= begin + length for moment in moments)
        assert down.at(begin) == (begin in moments)
        assert down.down(begin + length) == min((each for each in moments if each >= begin + length), default=inf)


def test_a_long_time_is_looked_at_up_to_the_first_moment_at_which_a_thing_is_down():
    begins = count(10, 2)
    down = Downtimes((begin, begin + 1) for begin in begins)
    assert down.during(0, 10**15)
    assert down.during(35, 10**15)
    assert next(begins) < 50


def test_of_two_that_begin_at_once_none_is_overlooked():
    down = Downtimes([(19, 19), (19, 20)])
    assert not down.at(9)
    assert down.during(9, 19)


def test_what_never_ends():
    down = Downtimes([(5, inf)])
    assert (down.up(4), down.up(5), down.down(0)) == (4, inf, 5)
    assert down.until(10) == [(5, inf)]
    assert Downtimes(redrawn(Draws(Streams(0, 0), "x", 1), 0, 0.0, 7)).up(3) == inf
    assert not Downtimes(redrawn(Draws(Streams(0, 0), "x", 1), 0, 1.0, 7)).during(0, 10**9)


def test_availability_is_that_of_the_law():
    """400 things, each over 50 periods: the share of time down is 1/4 within 4 standard errors (1 in 16,000)."""
    draws = Draws(Streams(3, 0), "x", 400)
    horizon = 50 * 40_000
    shares = []
    for column in range(400):
        intervals = Downtimes(failing(draws, column, 30_000, 10_000)).until(horizon)
        shares.append(sum(min(end, horizon) - begin for begin, end in intervals) / horizon)
    assert abs(np.mean(shares) - 0.25) < 4 * np.std(shares, ddof=1) / 20


def test_periods_are_drawn_afresh():
    """10,000 periods, up with probability 0.7: within 4 standard errors (1 in 16,000)."""
    down = Downtimes(redrawn(Draws(Streams(3, 0), "x", 3), 1, 0.7, 10))
    share = np.mean([down.at(10 * period + 9) for period in range(10_000)])
    assert abs(share - 0.3) < 4 * (0.21 / 10_000) ** 0.5


@pytest.mark.parametrize("columns", [1, 3, 40_000])
def test_a_number_depends_on_its_column_and_place_alone(columns):
    streams = Streams(1, 2)
    draws, again = Draws(streams, "loss", columns), Draws(streams, "loss", columns)
    rows = max(1, min(64, 2**20 // columns))
    assert draws.rows == rows
    wanted = [
        streams.generator("loss", n // rows).random((rows, columns))[n % rows, columns - 1] for n in range(rows + 2)
    ]
    list(islice(again.numbers(0), rows + 2))
    for one in (draws, again):
        assert list(islice(one.numbers(columns - 1), rows + 2)) == wanted
