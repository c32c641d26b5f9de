"""What the benchmarks have in common: subjects, which pyperf measures in processes of their own, and what it found."""

import gc
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import benchmark

if TYPE_CHECKING:
    from netbandit.simulation.replication import RunnablePoint

Row = dict[str, str | int | float]
"""One line of a benchmark's table: name of a column -> figure."""


class Done(NamedTuple):
    """Work that was done once: its seconds, how many units of work it was, and what it counted."""

    seconds: float
    work: int = 1
    counts: Mapping[str, int | float] = {}


Subject = Callable[[], Done]


@dataclass
class Measured:
    """What was measured of a subject: the seconds of a unit of work, value by value, and what it counted."""

    values: list[float]
    counts: dict[str, int | float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The median."""
        return median(self.values)


Found = Mapping[str, Measured]


class MeasureError(RuntimeError):
    """A process that measured failed."""


_LEAST_SECONDS = 0.1


def seconds_a_unit(subject: Subject, counts: dict[str, int | float]) -> float:
    """Do the work until it has taken a tenth of a second; return the seconds of a unit, and add to *counts*."""
    gc.collect()  # what earlier values left behind is not this one's to clear
    took, work = 0.0, 0
    while took < _LEAST_SECONDS:
        done = subject()
        took, work = took + done.seconds, work + done.work
        counts.update(done.counts)
    return took / work


def measure(name: str) -> Any:
    """Measure a benchmark; return its pyperf suite.

    Each subject is measured in a process of its own, one after the other, and then again: a drift of the machine hits
    all alike, and the values of all with the same place belong together.

    Raises:
        MeasureError: A process failed; it has said why on stderr.
    """
    import pyperf

    module = benchmark(name)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        command = [sys.executable, "-m", "benchmarks.worker", name, "--append", str(file)]
        for _ in range(module.PROCESSES):
            if subprocess.run(command, stdout=2).returncode:
                raise MeasureError(f"{name}: a process that measured it failed")
        return pyperf.BenchmarkSuite.load(str(file))


def found_in(suite: Any) -> Found:
    """Return what a pyperf suite holds of each subject; a count that differs from run to run is the median."""
    found = {}
    for bench in suite.get_benchmarks():
        runs = [run.get_metadata() for run in bench.get_runs()]
        counted = {key: [run[key] for run in runs] for key in runs[0] if key.startswith("count_")}
        counts = {key.removeprefix("count_"): median(values) for key, values in counted.items()}
        found[bench.get_name().partition(": ")[2]] = Measured(list(bench.get_values()), counts)
    return found


def noise(values: Sequence[float]) -> float:
    """Return how far apart the quartiles of *values* are, as a part of their median; of one value infinity."""
    if len(values) == 1:
        return inf
    first, middle, third = quantiles(values, n=4, method="inclusive")
    return (third - first) / middle


def ratios(above: Measured, below: Measured) -> list[float]:
    """Return the ratios of values that belong together."""
    return [one / other for one, other in zip(above.values, below.values, strict=True)]


def median_ratio(above: Measured, below: Measured) -> float:
    """Return the median of these ratios."""
    return median(ratios(above, below))


@cache
def point_of(text: str, *overrides: str) -> "RunnablePoint":
    """Return the only point of the scenario in *text*."""
    from netbandit.checks.check import check
    from netbandit.scenario.load import load

    with TemporaryDirectory() as folder:
        file = Path(folder) / "bench.toml"
        file.write_text(text, encoding="utf-8")
        return check(load(file, overrides)).points[0]
