import pytest
from helpers.paper_costs import numbers_bound, numbers_sent, relative

from netbandit.learners.gathering import GatherLearner
from netbandit.learners.linear import LinTs, LinUcb
from netbandit.learners.linear_costs import (
    dot,
    lints_slot,
    linucb_slot,
    masks_setup,
    masks_slot,
)


class Counted:
    """A number that counts what is done with it."""

    operations = 0

    def __add__(self, other):
        Counted.operations += 1
        return self

    __mul__ = __add__


def counted(work):
    """Return how many additions and multiplications *work* takes on a factory of numbers."""
    Counted.operations = 0
    work(lambda rows, columns: [[Counted() for _ in range(columns)] for _ in range(rows)])
    return Counted.operations


def product(left, right):
    """Multiply two matrices in the plain way."""
    columns = list(zip(*right, strict=True))
    found = []
    for row in left:
        found.append([])
        for column in columns:
            terms = [a * b for a, b in zip(row, column, strict=True)]
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            found[-1].append(total)
    return found


def plus(left, right):
    return [[a + b for a, b in zip(row, other, strict=True)] for row, other in zip(left, right, strict=True)]


SIZES = [(1, 1), (3, 4), (7, 5)]


def test_a_dot_product():
    assert counted(lambda made: product(made(1, 9), made(9, 1))) == dot(9) == 17


@pytest.mark.parametrize(("arms", "dimension"), SIZES)
def test_linucb_is_what_is_counted_by_doing_it(arms, dimension):
    def work(made):
        product(made(dimension, dimension), made(dimension, 1))  # theta
        for _ in range(arms):
            context = made(1, dimension)
            mean = product(context, made(dimension, 1))
            width = product(product(context, made(dimension, dimension)), made(dimension, 1))
            plus(mean, product(made(1, 1), width))
        plus(made(dimension, dimension), product(made(dimension, 1), made(1, dimension)))  # V
        plus(made(dimension, 1), product(made(dimension, 1), made(1, 1)))  # u

    # Besides: a root and a comparison an arm, and the inverse.
    assert linucb_slot(arms, dimension) == counted(work) + 2 * arms + dimension**3


@pytest.mark.parametrize(("arms", "dimension"), SIZES)
def test_lints_is_what_is_counted_by_doing_it(arms, dimension):
    def work(made):
        product(made(dimension, dimension), made(dimension, 1))  # theta
        product(made(dimension, dimension), made(dimension, 1))  # the sample
        plus(made(dimension, 1), made(dimension, 1))  # and its mean
        for _ in range(arms):
            product(made(1, dimension), made(dimension, 1))
        plus(made(dimension, dimension), product(made(dimension, 1), made(1, dimension)))
        plus(made(dimension, 1), product(made(dimension, 1), made(1, 1)))

    # Besides: v^2 V^-1, a comparison an arm, Cholesky, and the inverse.
    assert lints_slot(arms, dimension) == counted(work) + dimension**2 + arms + 2 * dimension**3


@pytest.mark.parametrize("split", [[6], [1, 5], [2, 2, 2], [3, 1, 1, 1]])
def test_masking_costs_the_same_however_columns_are_split(split):
    def work(made):
        for _ in range(4):
            sums = [product(made(6, own), made(own, 1)) for own in split]
            total = sums[0]
            for part in sums[1:]:
                total = plus(total, part)

    assert masks_slot(4, 6) == counted(work)


def test_masked_linucb_costs_at_most_twice_as_much():
    ratios = [
        relative(linucb_slot(arms, dimension), arms, dimension, 10_000)
        for arms in (1, 10, 100, 1_000, 10_000)
        for dimension in (1, 2, 5, 10, 50, 100, 500, 1_000, 5_000)
    ]
    assert 1 < min(ratios) < 1.01
    assert 1.9 < max(ratios) < 2


def test_masked_lints_costs_most_in_between():
    ratios = [relative(lints_slot(1_000, d), 1_000, d, 10_000) for d in (5, 50, 5_000)]
    assert [round(ratio, 1) for ratio in ratios] == [5.3, 14.5, 1.2]


def test_relative_costs_tell_all_slots_together():
    slot = linucb_slot(10, 100)
    whole = masks_setup(100) + 7 * (slot + masks_slot(10, 100))
    assert relative(slot, 10, 100, 7) == pytest.approx(whole / (7 * slot), rel=1e-14)


def test_numbers_that_are_sent():
    assert numbers_bound(1_000, 1_000, 5) == (10**6, 5 * 10**6)
    assert 8 * numbers_bound(1_000, 1_000, 5)[1] == 0.04e9
    assert numbers_sent(1_000, 1_000, 5, 200) == (800_000, 4 * 10**6)
    assert numbers_sent(10, 100, 5, None) == (0, 4_000)


def test_learners_know_their_costs():
    assert LinUcb().operations(10, 100) == linucb_slot(10, 100) == 1_243_120
    assert LinTs().operations(10, 100) == lints_slot(10, 100)
    assert GatherLearner.operations(LinUcb(), 10, 100) is None
