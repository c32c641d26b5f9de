"""How often means of skewed regret are misjudged: ``PYTHONPATH=tests python -m helpers.skewed_means [STUDIES]``.

It prints the table of docs/concepts/intervals.md. A study has so many replications of a law whose mean is known: its
95 % interval covers that mean or not, and a comparison with a steady law of the same mean, pair by pair, should be left
open, but finds a difference in some studies.
"""

import math
import sys
from collections.abc import Callable

import numpy as np

from netbandit.results import intervals
from netbandit.results.intervals import CONFIDENCE, MEDIAN

COUNTS = (5, 10, 20, 29, 40, 60, 100)
"""Replications of a study."""

_SPREAD = 0.2
"""The standard deviation of runs that do not fail, in units of their mean."""

Law = tuple[Callable[[np.random.Generator, int], np.ndarray], float, float]
"""Draws so many runs; the mean; the median."""


def _failing(share: float, times: float) -> Law:
    """Return the law of runs of which a *share* fail, with so many *times* the regret of the others."""
    from scipy.stats import norm

    def draw(random: np.random.Generator, count: int) -> np.ndarray:
        runs = random.normal(1.0, _SPREAD, count)
        return np.where(random.random(count) < share, times * runs, runs)

    return draw, 1 - share + share * times, 1 + _SPREAD * float(norm.ppf(0.5 / (1 - share)))


def _lognormal(sigma: float) -> Law:
    return lambda random, count: random.lognormal(0.0, sigma, count), math.exp(sigma**2 / 2), 1.0


LAWS: dict[str, Law] = {
    "nothing fails": _failing(0.0, 1.0),
    "10 % fail, 10 times the regret": _failing(0.1, 10.0),
    "10 % fail, 100 times": _failing(0.1, 100.0),
    "3 % fail, 10 times": _failing(0.03, 10.0),
    "lognormal, σ = 1": _lognormal(1.0),
    "lognormal, σ = 2": _lognormal(2.0),
}


def measured(law: str, count: int, studies: int) -> tuple[float, float, float]:
    """Return what becomes of *studies* of *count* runs.

    Returns:
        The share of intervals of the mean that cover it, that of intervals of the median, and the share of comparisons
        with a steady law of equal mean that find a difference.
    """
    draw, expectation, middle = LAWS[law]
    random = np.random.default_rng([list(LAWS).index(law), count])
    covered = medians = erred = 0
    for _ in range(studies):
        runs = draw(random, count).tolist()
        steady = (expectation * random.normal(1.0, _SPREAD / 2, count)).tolist()
        mean = intervals.mean(runs, CONFIDENCE)
        median = MEDIAN.of(runs, CONFIDENCE)
        difference = intervals.difference(runs, steady, CONFIDENCE, paired=True)
        covered += mean.low <= expectation <= mean.high
        medians += median.low <= middle <= median.high
        erred += not difference.low <= 0 <= difference.high
    return covered / studies, medians / studies, erred / studies


def table(studies: int) -> list[str]:
    """Return the lines of the table: per cent of intervals of the mean that cover, and of comparisons that err."""
    lines = [f"| of 100 studies | {' | '.join(map(str, COUNTS))} |", "|---" * (1 + len(COUNTS)) + "|"]
    for law in LAWS:
        found = [measured(law, count, studies) for count in COUNTS]
        cells = [f"{100 * covered:.0f}, {100 * erred:.0f}" for covered, _, erred in found]
        lines.append(f"| {law} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)))
