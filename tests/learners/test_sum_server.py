"""What a server makes of what agents deposit with it."""

import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.learners.uploads import Own, SumServer, Upload


def test_a_server_takes_the_newest_of_each_agent_and_knows_who_lags():
    server = SumServer(3, 2, 1.0, 2.0)
    sums = [np.array([4.0, 0.0, 1.0, 2.0, 3.0]), np.array([9.0, 1.0, 2.0, 2.0, 5.0])]
    assert server.absorb([(1, Upload(sums[1], 7)), (1, Upload(sums[0], 4))]) == 1
    assert server.total.sums == pytest.approx(sums[1])
    assert server.absorb([(1, Upload(sums[1], 7))]) == 0
    assert server.lagging() == [0, 2]
    assert server.give([0, 2]) == [Own(0), Own(0)]
    assert server.lagging() == []
    assert server.absorb([(2, Upload(sums[0], 4))]) == 1
    assert server.total.observations == 11
    # det(I + total): 3 for 0, who knows 10 * 3 - 1 of (14 * 4 - 1); 1 too.
    assert server.lagging() == []
    assert server.absorb([(2, Upload(sums[0] + [40, 0, 0, 0, 0], 44))]) == 1
    assert server.lagging() == [0, 1]
    assert server.give([0, 1]) == [Own(0), Own(7)]


def test_what_was_deposited_in_an_earlier_life_stays_and_who_has_forgotten_it_lags():
    server = SumServer(2, 2, 1.0, 1.5)
    sums = np.array([4.0, 0.0, 1.0, 2.0, 3.0])
    server.absorb([(0, Upload(sums, 5)), (1, Upload(sums, 5))])
    server.give([0, 1])
    assert server.absorb([(0, Upload(sums, 3, 1))]) == 1
    assert server.total.sums == pytest.approx(3 * sums)
    assert server.total.observations == 13
    assert server.absorb([(0, Upload(2 * sums, 9, 0))]) == 0  # of a life that is over, and late
    assert server.lagging() == [0, 1]
    assert server.give([0, 1]) == [Own(3, 1), Own(5)]


@examples(20)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6)), max_size=30), st.floats(1, 4))
def test_a_total_is_the_sum_of_the_newest_and_lagging_goes_by_determinants(uploads, push):
    rng = np.random.default_rng(0)
    server, newest, known = SumServer(4, 2, 1.5, push), np.zeros((4, 5)), np.zeros((4, 5))
    counts, known_counts = np.zeros(4, dtype=int), np.zeros(4, dtype=int)

    def det(packed):
        return (1.5 + packed[0]) * (1.5 + packed[2]) - packed[1] ** 2

    for agent, new in uploads:
        actions = rng.standard_normal((new, 2))
        gram = actions.T @ actions
        sums = newest[agent] + [gram[0, 0], gram[0, 1], gram[1, 1], 1.0, 2.0]
        known[agent] += sums - newest[agent]
        newest[agent], counts[agent] = sums, counts[agent] + new
        known_counts[agent] += new
        assert server.absorb([(agent, Upload(sums, counts[agent]))]) == 1
        total = newest.sum(axis=0)
        assert server.total.sums == pytest.approx(total)
        assert server.total.observations == counts.sum()
        found = server.lagging()
        for other in range(4):
            ratio = det(total) / det(known[other])
            if abs(ratio - push) > 1e-9:
                assert (other in found) == (known_counts[other] < counts.sum() and ratio > push)
        assert server.give(found) == [Own(count) for count in counts[found].tolist()]
        known[found], known_counts[found] = total, counts.sum()
