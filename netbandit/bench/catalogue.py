"""All benchmarks by name."""

from collections.abc import Callable, Mapping
from importlib import import_module

from netbandit.bench.measure import Row
from netbandit.results.numbers import shortest

NAMES = (
    "messages",
    "faults",
    "horizon",
    "rounds",
    "scale",
    "procurement",
    "decisions",
    "slots",
    "vertical",
    "cooperative",
)
"""Those that run when none is named."""

ON_REQUEST = ("million",)
"""Those that take a machine of their own: they run when they are named."""


def run(name: str) -> list[Row]:
    """Run one of `NAMES` or `ON_REQUEST`; return the rows of its table."""
    bench: Callable[[], list[Row]] = import_module(f"netbandit.bench.{name}").bench
    return bench()


def title(name: str) -> str:
    """Return what a benchmark measures, in a line."""
    return (import_module(f"netbandit.bench.{name}").__doc__ or name).split("\n", 1)[0].rstrip(".")


def head(column: str) -> str:
    """Return a column as the head of a table says it, in words."""
    return column.replace("_", " ")


def text(row: Mapping[str, str | int | float], column: str) -> str:
    """Return a figure of a row as a table shows it."""
    value = row[column]
    if isinstance(value, str):
        return value
    return shortest(round(value)) if isinstance(value, int) or value >= 1000 else shortest(value, 3)
