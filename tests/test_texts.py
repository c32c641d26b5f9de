"""Texts that are written out do what they say, and pay for no call and no branch that cannot happen."""

import dis
import re
import sys

import numpy as np
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


class Counter:
    """An object whose methods are steps."""

    def __init__(self):
        self.counts = np.zeros((3, 4))
        self.weight = 2.0
        self.names = {}
        self.rngs = [np.random.default_rng(agent) for agent in range(3)]

    def add(self, agent, arm):
        self.counts[agent, arm] += self.weight

    def first(self, agent):
        for arm in range(self.counts.shape[1]):
            if self.counts[agent, arm] == 0:
                return arm
        return largest(self, agent)

    def draw(self, agent):
        return self.rngs[agent].random()

    def name(self, agent):
        self.names[agent] = "it"

    def grow(self, agent):
        self.weight = 3.0


def largest(self, agent):
    best = 0
    for arm in range(self.counts.shape[1]):
        if self.counts[agent, arm] > self.counts[agent, best]:
            best = arm
    return best


def steps(counter, agent, times):
    total = 0.0
    for _ in range(times):
        arm = counter.first(agent)
        counter.add(agent, arm)
        total += counter.draw(agent) + arm
    return total


def test_what_is_read_of_objects_becomes_arguments():
    one, other = Counter(), Counter()
    written = written_out(steps, {}, objects={"counter": one})
    assert [path for _, path in written.__read__] == ["counts", "weight", "rngs[agent]"]
    for agent in range(3):
        expected = steps(other, agent, 6)
        assert written(agent, 6, one.counts, one.weight, one.rngs[agent]) == expected
    assert (one.counts == other.counts).all()
    assert one.counts.sum() == 2.0 * 18


def of_all(counter):
    for agent in range(3):
        counter.draw(agent)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (Counter.name, "names is of type dict, and neither an array nor a number"),
        (Counter.grow, "weight is given a new value; only arrays can change"),
        (of_all, "rngs are the generators of several agents"),
    ],
)
def test_what_no_compiler_knows_is_said_with_its_line(function, why):
    first = function.__code__.co_varnames[0]
    with pytest.raises(TextError, match=why) as found:
        written_out(function, {}, objects={first: Counter()})
    line = re.match(r"test_texts.py, line (\d+): ", str(found.value))
    assert line
    assert function.__code__.co_firstlineno < int(line[1]) <= function.__code__.co_firstlineno + 3


@pytest.mark.parametrize(
    "written", ["with open(name):\n        pass", "try:\n        pass\n    finally:\n        pass"]
)
def test_statements_that_cannot_be_written_out_are_refused(tmp_path, monkeypatch, written):
    (tmp_path / "texts_of_mine.py").write_text(f"def step(name):\n    {written}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "texts_of_mine", raising=False)
    import texts_of_mine

    with pytest.raises(TextError, match=r"texts_of_mine.py, line 2: a text has no"):
        written_out(texts_of_mine.step, {})
