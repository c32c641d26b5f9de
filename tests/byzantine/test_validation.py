"""A receiver is never stopped by what it receives, and takes nothing that cannot be true."""

import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.byzantine.adversaries.validation import valid_arms, valid_means, valid_pulls

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.lists(st.floats()),
    st.dictionaries(st.text(), st.integers()),
    st.lists(st.floats(), max_size=5).map(np.array),
    st.lists(st.complex_numbers(), max_size=5).map(np.array),
    st.lists(st.text(), max_size=5).map(np.array),
    st.lists(st.booleans(), max_size=5).map(np.array),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5).map(lambda some: np.array(some, dtype=np.int64)),
    st.integers(0, 3).map(lambda axes: np.zeros((2,) * axes)),
    st.just(np.array([None, object()], dtype=object)),
)


@pytest.mark.ci
@given(ANYTHING, st.integers(0, 5), st.booleans())
@examples(300)
def test_what_is_taken_can_be_averaged(value, arms, bounded):
    if valid_means(value, arms, bounded=bounded):
        assert value.shape == (arms,)
        assert np.isfinite(value.astype(float) ** 2).all()
        assert not bounded or (np.abs(value - 0.5) <= 0.5 + 1e-9).all()
    if valid_arms(value, arms):
        assert set(value.tolist()) <= set(range(arms))
    if valid_pulls(value, 1000):
        assert 1 <= value <= 1000


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e300, 1.001, -0.001])
def test_a_wrong_number_is_seen(wrong):
    assert valid_means(np.array([0.5, 1.0]), 2, bounded=True)
    assert not valid_means(np.array([0.5, wrong]), 2, bounded=True)
    assert valid_means(np.array([0.5, wrong]), 2, bounded=False) == (abs(wrong) < 2)


def test_counts_and_arms():
    assert not valid_pulls(10**18, 1000)
    assert not valid_pulls(0, 1000)
    assert valid_pulls(np.int64(1000), 1000)
    assert valid_arms(np.array([0, 2]), 3)
    assert valid_arms(np.array([], dtype=np.int64), 3)  # what an honest agent says before rewards come
    for wrong in ([2, 0], [1, 1], [-1, 0], [0, 3]):
        assert not valid_arms(np.array(wrong, dtype=np.int64), 3)
