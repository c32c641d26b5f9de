"""What the benchmarks have in common: measure in turns, and tell medians."""

from collections.abc import Callable, Sequence
from statistics import median

Row = dict[str, str | int | float]
"""One line of a benchmark's table: name of a column -> figure."""


def in_turns(subjects: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """Measure each of *subjects* in each round, one after the other, so that a drift of the machine hits all alike.

    Args:
        subjects: Each does its work once and returns its figure.
        rounds: How often.

    Returns:
        For each subject its figures, one a round; a first round, which warms up, is left out.
    """
    for subject in subjects:
        subject()
    figures: list[list[float]] = [[] for _ in subjects]
    for _ in range(rounds):
        for row, subject in zip(figures, subjects, strict=True):
            row.append(subject())
    return figures


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """Return the median of the ratios, round by round."""
    return median(above / below for above, below in zip(numerators, denominators, strict=True))
