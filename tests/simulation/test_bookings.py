"""Slots that the two directions of a link book ahead, in any order, count once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netbandit.simulation.compiled_rounds.bookings import Bookings

LINKS = 3


@given(st.lists(st.tuples(st.integers(0, 5), st.lists(st.tuples(st.integers(0, LINKS - 1), st.integers(0, 9))))))
def test_each_slot_of_a_link_counts_once(parts):
    bookings = Bookings(LINKS)
    now, expected = 0, set()
    for later, ahead in parts:
        now += later
        booked = [(link, now + slots) for link, slots in ahead]
        expected |= set(booked)
        bookings.add(np.array(booked, dtype=np.int64).reshape(-1, 2), now)
    bookings.close()
    assert bookings.activations.tolist() == [sum(one == link for one, _ in expected) for link in range(LINKS)]
