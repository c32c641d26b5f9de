from hypothesis import given
from hypothesis import strategies as st

from netbandit.simulation.drivers.up_slots import UpSlots


@st.composite
def absences(draw):
    bounds = sorted(draw(st.sets(st.integers(0, 40), max_size=8)))
    return [(first, last) for first, last in zip(bounds[::2], bounds[1::2], strict=False)]


@given(absences(), st.integers(0, 45), st.integers(0, 30))
def test_an_agent_plays_in_every_slot_in_which_it_is_there(absent, first, length):
    presence = UpSlots(absent)
    there = [slot for slot in range(100) if not any(begin <= slot < end for begin, end in absent)]
    after = [slot for slot in there if slot >= first]
    assert presence.next(first) == after[0]
    spans = presence.spans(first, first + length)
    assert [slot for begin, end in spans for slot in range(begin, end)] == [s for s in after if s < first + length]
    assert presence.end(first, length) == (after[length - 1] + 1 if length else first)
