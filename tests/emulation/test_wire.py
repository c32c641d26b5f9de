"""A frame is the ledger's message written out: as long as the ledger says, and it brings what was sent."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netbandit.emulation.wire import Codec
from netbandit.learners.differing_sets import Told
from netbandit.network.message import Kind, Message
from netbandit.protocols.broadcast import Heard
from netbandit.protocols.protocol import Item

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
    codec = Codec(KINDS, carries)
    frame = codec.encode(message, items)
    return len(frame), codec.decode(frame)


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
    size = 20 + sum(4 + item.size for item in items.values())
    length, found = sent("labels", Message(KINDS[1], size, (mask, begun), round), items)
    assert length == size == found.message.size
    assert (found.message.kind, found.message.round, found.message.value) == (KINDS[1], round, (mask, begun))
    assert sorted(found.items) == sorted(items)
    for label, item in items.items():
        assert_same(found.items[label], item)


@given(labels=st.sets(st.integers(0, 63)), **PLACES)
def test_labels_alone(labels, round, begun):
    mask = sum(1 << label for label in labels)
    length, found = sent("labels", Message(KINDS[0], 20 + 4 * len(labels), (mask, begun), round), {})
    assert length == 20 + 4 * len(labels)
    assert found.message.value == (mask, begun)
    assert found.items == {}


@given(items=ITEMS, **PLACES)
def test_what_is_broadcast(items, round, begun):
    source, item = next(iter(items.items()))
    message = Message(KINDS[0], 24 + item.size, (Heard(source, round, item), begun), round)
    length, found = sent("heard", message, {})
    assert length == message.size == found.message.size
    heard, at = found.message.value
    assert (heard.source, heard.round, at) == (source, round, begun)
    assert_same(heard.item, item)
    assert_same(found.items[source], item)


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
    _, found = sent("payload", Message(KINDS[0], 20, (payload, begun), round), {})
    assert found.message.value == (payload, begun)
    assert type(found.message.value[0]) is type(payload)


def test_arrays_in_payloads_may_be_written_into():
    means = np.linspace(0, 1, 6).reshape(2, 3)
    _, found = sent("payload", Message(KINDS[0], 68, ([means, np.float64(0.5)], 0), 1), {})
    array, number = found.message.value[0]
    assert np.array_equal(array, means)
    assert number == 0.5
    array[0, 0] = 7


def test_items_of_another_form_are_packed():
    items = {3: Item(10, {"sum": 2, "of": [1, 1]})}
    _, found = sent("labels", Message(KINDS[0], 34, (8, 5), 1), items)
    assert found.message.value == (8, 5)
    assert found.items == items
