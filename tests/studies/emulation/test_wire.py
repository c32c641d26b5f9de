"""A frame is the ledger's message written out: as long as the ledger says, and it brings what was sent."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netbandit.learners.differing_sets import Told
from netbandit.network.message import HEADER_BYTES, Kind, Message
from netbandit.protocols.broadcast import Heard
from netbandit.protocols.node import LabelMessage
from netbandit.protocols.protocol import Item
from netbandit.studies.emulation.wire import Codec

KINDS = [Kind("ONE"), Kind("OTHER")]
NUMBERS = st.floats(allow_nan=False)
MEANS = st.lists(NUMBERS, min_size=1, max_size=6).map(np.array)
PLACES = {"round": st.integers(1, 2**32 - 1), "begun": st.integers(0, 2**63)}


def told_of(means, pulls):
    return Item(12 * len(means) + 8, Told(np.arange(len(means)), means, pulls))


ITEMS = st.one_of(
    st.dictionaries(st.integers(0, 63), MEANS.map(lambda means: Item(8 * len(means), means)), min_size=1, max_size=5),
    st.dictionaries(st.integers(0, 63), st.builds(told_of, MEANS, st.integers(1, 2**40)), min_size=1, max_size=5),
)


def sent(carries, message, items):
    """Return how long the frame of a message is, what it says, and the message that it is in another round."""
    codec = Codec(carries)
    frame = codec.encode(message, items)
    found = codec.decode(frame)
    there = open_round(message.round, found.items) if carries == "labels" else None
    return len(frame), found, found.message(carries, there)


def open_round(number, items):
    """Return what a message about items needs of a round."""
    size = lambda labels: sum(4 + items[label].size for label in items if labels >> label & 1)  # noqa: E731
    return SimpleNamespace(number=number, size=size, header=HEADER_BYTES)


def assert_same(one, other):
    assert one.size == other.size
    if isinstance(one.value, Told):
        assert one.value.pulls == other.value.pulls
        pairs = (one.value.arms, other.value.arms), (one.value.means, other.value.means)
    else:
        pairs = ((one.value, other.value),)
    for mine, yours in pairs:
        assert mine.dtype == yours.dtype
        assert mine.tobytes() == yours.tobytes()


@given(items=ITEMS, **PLACES)
def test_labels_and_their_items(items, round, begun):
    mask = sum(1 << label for label in items)
    message = LabelMessage(open_round(round, items), KINDS[1], mask, True, None, begun)
    length, found, there = sent("labels", message, items)
    assert length == message.size == there.size
    assert (there.kind, there.round, there.labels, there.begun) == (KINDS[1], round, mask, begun)
    assert there.items is True
    assert sorted(found.items) == sorted(items)
    for label, item in items.items():
        assert_same(found.items[label], item)


@given(labels=st.sets(st.integers(0, 63)), **PLACES)
def test_labels_alone(labels, round, begun):
    mask = sum(1 << label for label in labels)
    message = LabelMessage(open_round(round, {}), KINDS[0], mask, False, None, begun)
    length, found, there = sent("labels", message, {})
    assert length == 20 + 4 * len(labels) == there.size
    assert (there.labels, there.items, there.begun) == (mask, False, begun)
    assert found.items == {}


def test_a_size_of_ones_own_is_kept():
    items = {3: Item(16, np.array([0.5, 0.25]))}
    message = LabelMessage(open_round(2, items), KINDS[0], 8, True, 21, 5)
    _, found, there = sent("labels", message, items)
    assert (there.size, there.items, there.labels) == (21, None, 8)
    assert_same(found.items[3], items[3])


@given(items=ITEMS, **PLACES)
def test_what_is_broadcast(items, round, begun):
    source, item = next(iter(items.items()))
    message = Message(KINDS[0], 24 + item.size, (Heard(source, round, item), begun), round)
    length, found, there = sent("heard", message, {})
    assert length == message.size == there.size
    heard, at = there.value
    assert (heard.source, heard.round, at) == (source, round, begun)
    assert_same(heard.item, item)
    assert_same(found.items[source], item)


@given(source=st.integers(0, 63), **PLACES)
def test_who_is_done_is_in_the_header(source, round, begun):
    length, _, there = sent("heard", Message(KINDS[0], 20, (Heard(source, round, None), begun), round), {})
    assert length == 20
    assert there.value == (Heard(source, round, None), begun)


PAYLOADS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | NUMBERS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers(0, 99), inner, max_size=3)
        | st.builds(Item, st.integers(0, 99), inner)
    ),
    max_leaves=8,
)


@given(payload=PAYLOADS, **PLACES)
def test_payloads_of_coroutines(payload, round, begun):
    _, _, there = sent("payload", Message(KINDS[0], 20, (payload, begun), round), {})
    assert there.value == (payload, begun)
    assert type(there.value[0]) is type(payload)


def test_arrays_in_payloads_may_be_written_into():
    means = np.linspace(0, 1, 6).reshape(2, 3)
    _, _, there = sent("payload", Message(KINDS[0], 68, ([means, np.float64(0.5)], 0), 1), {})
    array, number = there.value[0]
    assert np.array_equal(array, means)
    assert number == 0.5
    array[0, 0] = 7


def test_items_of_another_form_are_packed():
    items = {3: Item(10, {"sum": 2, "of": [1, 1]})}
    _, found, there = sent("labels", LabelMessage(open_round(1, items), KINDS[0], 8, True, None, 5), items)
    assert (there.labels, there.items, there.begun) == (8, True, 5)
    assert found.items == items
