"""What the benchmarks have in common: measure in turns, and tell medians."""

import gc
from collections.abc import Callable, Sequence
from math import inf
from statistics import median, quantiles

Row = dict[str, str | int | float]
"""One line of a benchmark's table: name of a column -> figure."""

Work = Callable[[], tuple[int, float]]
"""Does some work once; returns how much that was, and the seconds it took."""

_LEAST_SECONDS = 0.1
"""What a measurement takes at the least: work that is done sooner is done again."""


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


def rates_in_turns(subjects: Sequence[Work], rounds: int, seconds: float) -> list[list[float]]:
    """Measure in turns how much work *subjects* do a second, of which some may take a thousand times as long as others.

    A measurement repeats the work until it has taken a tenth of a second. In each round every subject is measured once
    that has not taken so many *seconds* yet: what takes longer at once is measured once, what is quick in all rounds.

    Args:
        subjects: What is measured; it is warm.
        rounds: How often at the most.
        seconds: How long a subject is measured at the least, if it is not measured in all rounds.

    Returns:
        For each subject its rates, one a round in which it was measured.
    """
    rates: list[list[float]] = [[] for _ in subjects]
    spent = [0.0] * len(subjects)
    for _ in range(rounds):
        for place, subject in enumerate(subjects):
            if spent[place] < seconds:
                work, took = _measure(subject)
                rates[place].append(work / took)
                spent[place] += took
    return rates


def _measure(subject: Work) -> tuple[int, float]:
    gc.collect()  # what earlier measurements left behind is not this one's to clear
    work, took = subject()
    while took < _LEAST_SECONDS:
        more, longer = subject()
        work += more
        took += longer
    return work, took


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> list[float]:
    """Return the ratios, round by round; what was not measured in a round is as it was measured last."""
    rounds = range(max(len(numerators), len(denominators)))
    return [numerators[min(at, len(numerators) - 1)] / denominators[min(at, len(denominators) - 1)] for at in rounds]


def noise(values: Sequence[float]) -> float:
    """Return how far apart the quartiles of *values* are, as a part of their median; of one value infinity."""
    if len(values) == 1:
        return inf
    first, middle, third = quantiles(values, n=4, method="inclusive")
    return (third - first) / middle


def median_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    """Return the median of the ratios, round by round."""
    return median(above / below for above, below in zip(numerators, denominators, strict=True))
