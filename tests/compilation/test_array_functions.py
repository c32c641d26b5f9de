"""Functions of objects do as functions of arrays and numbers what they do as they stand."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.compilation.array_functions import OneAgentError, StepError, array_function

LIMIT = 10
STEP = np.uint64(3)


class Counter:
    """An object whose methods are steps."""

    def __init__(self, agents=3):
        self.counts = np.zeros((agents, 4))
        self.weight = 2.0
        self.names = {}
        self.inner = Inner()
        self.rngs = [np.random.default_rng(agent) for agent in range(agents)]

    def add(self, agent, arm, weight=1.0):
        self.counts[agent, arm] += self.weight * weight
        self.inner.seen[agent] += 1

    def first(self, agent):
        for arm in range(self.counts.shape[1]):
            if self.counts[agent, arm] == 0:
                return arm
        return largest(self, agent)

    def clipped(self, agent, number):
        """Return a number by several ways out."""
        if number < 0:
            return -1.0
        found: float = number * number
        if found > LIMIT:
            if self.inner.seen[agent] > 2:
                return self.weight
            found += 0.5
        number = found  # the caller keeps its own
        return number + 0.0

    def draw(self, who):
        return self.rngs[who].random()

    def name(self, agent):
        self.names[agent] = "it"

    def grow(self, agent):
        self.weight = 3.0

    def lacks(self, agent):
        return self.missing[agent]

    def again(self, agent):
        return self.again(agent)

    def starred(self, agent):
        return self.clipped(*agent)

    def many(self, agent):
        self.add(agent, 1, 1.0, 2.0)

    def taken(self, *agents):
        return agents[0]

    def takes(self, agent):
        return self.taken(agent)

    def passes(self, agent):
        return len(self)


class Inner:
    def __init__(self):
        self.seen = np.zeros(3, dtype=np.int64)


def largest(self, agent):
    best = 0
    for arm in range(self.counts.shape[1]):
        if self.counts[agent, arm] > self.counts[agent, best]:
            best = arm
    return best


def near(number):
    return number + float(STEP)


def steps(counter, agent, numbers):
    """Use the names of what it calls for something else."""
    found = total = weight = 0.0
    for number in numbers:
        arm = counter.first(agent)
        counter.add(agent, arm, weight=0.5)
        found = counter.clipped(agent, number)
        total += found + counter.draw(agent) if counter.clipped(agent, number - 1) > 1 or arm == 3 else near(number)
        weight += number
    return total, found, weight


@given(st.lists(st.integers(-3, 6)))
def test_they_do_the_same(numbers):
    one, other = Counter(), Counter()
    found = array_function(steps, {"counter": one}, "steps")
    paths = ["counts", "weight", "inner.seen", "rngs[agent]"]
    assert sorted(found.paths) == sorted(f"counter.{path}" for path in paths)
    values = {"counts": one.counts, "weight": one.weight, "inner.seen": one.inner.seen}
    for agent in range(3):
        given = {**values, "rngs[agent]": one.rngs[agent]}
        read = [given[path.removeprefix("counter.")] for path in found.paths]
        assert found.function(agent, numbers, *read) == steps(other, agent, numbers)
    assert (one.counts == other.counts).all()
    assert (one.inner.seen == other.inner.seen).all()


def test_one_text_has_one_name():
    first, second = (array_function(steps, {"counter": Counter()}, "steps").function for _ in range(2))
    assert (
        first.__name__ == second.__name__ != array_function(Counter.add, {"self": Counter()}, "steps").function.__name__
    )


def of_all(counter):
    for agent in range(3):
        counter.draw(agent)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (Counter.name, "self.names is of type dict, and neither an array nor a number"),
        (Counter.grow, "self.weight is given a new value; only arrays can change"),
        (Counter.lacks, "self.missing is nowhere made"),
        (Counter.again, "again calls itself"),
        (Counter.starred, "clipped is given arguments by a star"),
        (Counter.takes, "taken takes arguments by a star"),
        (Counter.many, "add: too many positional arguments"),
        (Counter.passes, "an object can only be read, or given to functions of Python"),
        (of_all, "of self.rngs only that of the agent can be used"),
    ],
)
def test_what_no_compiler_knows_is_said_with_its_line(function, why):
    first = function.__code__.co_varnames[0]
    with pytest.raises(StepError, match=re.escape(why)) as found:
        array_function(function, {first: Counter()}, "step")
    assert re.match(r"test_array_functions.py, line \d+: ", str(found.value))
    assert isinstance(found.value, OneAgentError) == (function is of_all)


def test_a_function_without_source_is_refused():
    space = {}
    exec("def made(counter):\n    return counter.weight", space)
    with pytest.raises(StepError, match="made has no source to be read"):
        array_function(space["made"], {"counter": Counter()}, "made")
    with pytest.raises(StepError, match="no plain function of a module"):
        array_function(lambda counter: counter.weight, {"counter": Counter()}, "made")


class Optional:
    def __init__(self, factors):
        self.factors = factors


def scaled(agent, optional):
    factor = 1.0
    if optional.factors is not None:
        factor = optional.factors[agent]
    return factor


@pytest.mark.parametrize("factors", [None, np.ones(3)])
def test_the_text_for_something_is_none_for_nothing(factors):
    made = array_function(scaled, {"optional": Optional(factors)}, "scaled")
    for other in (None, np.zeros(4)):
        assert made.fits({"optional": Optional(other)}) == ((factors is None) == (other is None))


class Drawing:
    def __init__(self, draw):
        self.draw = draw


def half(agent):
    return 0.5 * agent


def twice(agent):
    return 2.0 * agent


def drawn(agent, drawing):
    return drawing.draw(agent)


@pytest.mark.parametrize("draw", [half, twice])
def test_the_text_with_a_function_is_none_for_another(draw):
    made = array_function(drawn, {"drawing": Drawing(draw)}, "drawn")
    assert [made.fits({"drawing": Drawing(other)}) for other in (half, twice)] == [draw is half, draw is twice]
    assert made.function(3.0) == draw(3.0)
