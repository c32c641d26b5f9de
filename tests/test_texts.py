"""Texts that are written out do what they say, and pay for no call and no branch that cannot happen."""

import dis

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.texts import TextError, primitive, text, written_out

DOUBLES = True
LIMIT = 10


@primitive
def taken(box, number):
    """Return what *box* makes of a number."""
    raise NotImplementedError


@text
def square(number):
    return number * number


@text
def clipped(number, limit=LIMIT):
    """Return a square, clipped, by several ways out."""
    if number < 0:
        return -1
    found = square(number)
    if DOUBLES:
        found += found
    if found > limit:
        return limit
    if found == 2:
        round = 0.5
        return found + round
    return found


@text
def first_above(numbers, limit):
    """End within a loop: this one stays a call."""
    for number in numbers:
        if number > limit:
            return number
    return None


@text
def swapped(one, other):
    """Give its arguments new values, which is nobody else's business."""
    one, other = other, one
    return one - other


@text
def root(box, numbers):
    """Use the names of what it calls for something else."""
    found = 0
    one = 1
    previous = 0
    for number in numbers:
        if number == 3:
            continue
        found += round(clipped(number)) if number % 2 else clipped(number, 50)
        limit = clipped(number - 1)
        if clipped(number) > 5 and limit > 0 and not (DOUBLES and number == 4):
            box.append(number)
        found += swapped(one, number) + previous
        previous = number
        rest = first_above(numbers, number)
        if rest is not None or clipped(rest or 0) > 1:
            found += 1000
        clipped(number)
    return found, one, previous


def _taken(box, number):
    return len(box) + number


@pytest.mark.parametrize("doubles", [True, False])
@given(st.lists(st.integers(-3, 6)))
def test_what_is_written_out_does_the_same(doubles, numbers):
    original = written_out(root, {"DOUBLES": doubles})
    boxes = [], []
    globals()["DOUBLES"] = doubles
    assert original(boxes[0], numbers) == root(boxes[1], numbers)
    assert boxes[0] == boxes[1]


def test_what_cannot_happen_is_left_out_and_nothing_is_called():
    @text
    def inner(number):
        return number

    found = written_out(clipped, {"DOUBLES": False})
    assert "DOUBLES" not in found.__doc__
    assert "found + found" not in found.__doc__
    assert "found += found" in written_out(clipped, {"DOUBLES": True}).__doc__
    assert not [one for one in dis.get_instructions(found) if one.opname.startswith("CALL")]
    with pytest.raises(TextError, match="no plain function of a module"):
        written_out(text(lambda number: number), {})


@text
def grown(row, more):
    kept = row
    extra = more
    kept.total += extra
    return kept.total


@text
def grows(row):
    return grown(row, 3)


def test_names_that_stand_for_others_vanish():
    code = ["def grows(row):", "row.total += 3", "result_1 = row.total", "return result_1"]
    assert list(map(str.strip, written_out(grows, {}).__doc__.splitlines())) == code


def test_a_primitive_stands_for_something():
    @text
    def uses(box, number):
        return taken(box, number) + 1

    with pytest.raises(TextError, match="uses calls taken, for which nothing stands here"):
        written_out(uses, {})
    assert written_out(uses, {"taken": _taken})([7, 7], 5) == 8
    assert "_taken" not in written_out(uses, {"taken": text(_taken)}).__doc__


def test_arguments_are_counted():
    @text
    def uses(number):
        return clipped(number, number, number)

    with pytest.raises(TextError, match="clipped takes number, limit"):
        written_out(uses, {})


def test_a_text_without_source_is_refused():
    space = {}
    exec("def made(number):\n    return number", space)
    with pytest.raises(TextError, match="made has no source to be read"):
        written_out(text(space["made"]), {})
