"""Measures all subjects of a benchmark once with pyperf: ``python -m benchmarks.worker NAME --append FILE``."""

import argparse
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any

import pyperf

from benchmarks import benchmark
from benchmarks.measure import Subject, seconds_a_unit

_counts: dict[str, int | float] = {}


class Counts:
    """A hook of pyperf: what a subject counted is kept beside its values."""

    def __enter__(self) -> None:
        """Begin a value."""

    def __exit__(self, *_: object) -> None:
        """End a value."""

    def teardown(self, metadata: dict[str, Any]) -> None:
        """Add what was counted."""
        metadata.update({f"count_{key}": count for key, count in _counts.items()})


def _value(subject: Subject, loops: int) -> float:
    return loops * seconds_a_unit(subject, _counts)


def main() -> None:
    """Measure, in one process for each subject."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    runner = pyperf.Runner(
        processes=1,
        loops=1,
        program_args=("-m", "benchmarks.worker"),
        add_cmdline_args=lambda command, args: command.append(args.name),
        hooks=[EntryPoint("counts", f"{__name__}:Counts", "pyperf.hook")],
        _argparser=parser,
    )
    name = parser.parse_known_args()[0].name
    module = benchmark(name)
    parser.set_defaults(values=module.VALUES, warmups=module.WARMUPS, hook=["counts"], copy_env=True, quiet=True)
    runner.parse_args()
    for subject, work in module.subjects().items():
        runner.bench_time_func(f"{name}: {subject}", partial(_value, work))


if __name__ == "__main__":
    main()
