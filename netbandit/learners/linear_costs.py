"""The cost of linear learners and masks in unit operations (papers/vertical-2022-vfucb, C).

An addition, multiplication, comparison or random number is one operation, a dot product of n numbers 2n - 1, and an
inverse, a Cholesky factor or an orthogonalisation of an n x n matrix n^3. These are upper bounds of a plain
implementation, good to compare by; this package's own loops take fewer.
"""


def dot(length: int) -> int:
    """Return the operations of a dot product of *length* numbers."""
    return 2 * length - 1


def linucb_slot(arms: int, dimension: int) -> int:
    """Return the operations of a decision of LinUCB and of learning from it.

    Args:
        arms: K.
        dimension: The columns d of a context.
    """
    theta = dimension * dot(dimension)
    means = arms * dot(dimension)
    bonus = arms * (dimension * dot(dimension) + dot(dimension) + 2)  # x' V^-1 x, its root, and times alpha
    choice = 2 * arms  # add both, and find the largest
    return theta + means + bonus + choice + _update(dimension)


def lints_slot(arms: int, dimension: int) -> int:
    """Return the operations of a decision of linear Thompson sampling and of learning from it.

    Args:
        arms: K.
        dimension: The columns d of a context.
    """
    covariance = dimension**2
    sample = dimension**3 + dimension * dot(dimension) + dimension  # Cholesky, a product, and the mean
    scores = arms * dot(dimension)
    theta = dimension * dot(dimension)
    return covariance + sample + scores + arms + _update(dimension) + theta


def _update(dimension: int) -> int:
    """Return the operations of V += x x', u += r x, and V^-1."""
    return 2 * dimension**2 + 2 * dimension + dimension**3


def masks_setup(dimension: int) -> int:
    """Return the operations of drawing the mask: random numbers, and making them orthogonal."""
    return dimension**2 + dimension**3


def masks_slot(arms: int, dimension: int) -> int:
    """Return the operations of masking the parts of all contexts of a user and of adding them up, all participants.

    However the columns are split: ``sum_i d (2 d_i - 1) + (N - 1) d = 2 d^2 - d`` an arm.
    """
    return arms * (2 * dimension**2 - dimension)
