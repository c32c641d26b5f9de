"""Tuples of arrays as pointers: compiled functions read, and write, what Python does."""

from typing import NamedTuple

import numpy as np
import pytest

from netbandit.simulation.machine.compiled import entry, machine_code
from netbandit.simulation.machine.packed import Packed

ROW = np.dtype([("number", np.int32), ("share", np.float64)])


class Inner(NamedTuple):
    cube: np.ndarray
    rows: np.ndarray


class Outer(NamedTuple):
    before: np.ndarray
    inner: Inner
    nothing: None
    after: np.ndarray


@entry
def read_and_write(outer, factor):
    inner = outer.inner
    total = 0.0
    for one in range(inner.cube.shape[0]):
        for other in range(inner.cube.shape[1]):
            for last in range(inner.cube.shape[2]):
                total += inner.cube[one, other, last] * outer.before[one]
    for row in range(len(inner.rows)):
        inner.rows[row].number += len(outer.after)
        total += inner.rows[row].share
    for place in range(len(outer.after)):
        outer.after[place] *= factor
    return total


def outer_of(seed):
    random = np.random.default_rng(seed)
    rows = np.zeros(3 + seed, dtype=ROW)
    rows["share"] = random.random(3 + seed)
    return Outer(
        random.integers(9, size=2), Inner(random.random((2, 3 + seed, 4)), rows), None, random.integers(9, size=5)
    )


def test_fields_are_read_and_written_in_the_arrays_of_the_tuple_that_is_given():
    first = outer_of(0)
    call = machine_code(read_and_write, first, 3)
    for outer in (first, first, first._replace(after=np.arange(7)), outer_of(2), outer_of(1)):
        numbers, after = outer.inner.rows["number"].copy(), outer.after.copy()
        expected = (outer.inner.cube.sum((1, 2)) * outer.before).sum() + outer.inner.rows["share"].sum()
        assert call(outer, 3) == pytest.approx(expected, rel=1e-12)
        assert (outer.inner.rows["number"] == numbers + len(after)).all()
        assert (outer.after == 3 * after).all()


def test_arrays_whose_rows_are_apart_are_refused():
    with pytest.raises(TypeError, match="contiguous"):
        Packed(outer_of(0)._replace(before=np.arange(10)[::5]))
