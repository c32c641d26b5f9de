"""The rows of a benchmark whose subjects do their work here, without pyperf and processes."""

from benchmarks import benchmark
from benchmarks.measure import Measured


def rows_of(name: str, times: int = 1):
    found = {}
    for subject, work in benchmark(name).subjects().items():
        done = [work() for _ in range(times)]
        found[subject] = Measured([one.seconds / one.work for one in done], dict(done[-1].counts))
    return benchmark(name).rows(found)
