"""Benchmarks: how fast the simulator is on this machine, beside something that is known.

`NAMES` run when none is named; `ON_REQUEST` take a machine of their own, idle or large. Each is a module with
``subjects()``, what is measured by name; ``rows(found)``, the table made of it; and ``PROCESSES``, ``VALUES`` and
``WARMUPS``, how often: in so many processes a subject, so many values in each after so many that are left out.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

NAMES = (
    "messages", "faults", "horizon", "rounds", "scale", "procurement", "decisions", "slots", "vertical", "cooperative",
)  # fmt: skip
ON_REQUEST = ("commands", "million")


def benchmark(name: str) -> Any:
    """Return the module of one of `NAMES` or `ON_REQUEST`."""
    return import_module(f"benchmarks.{name}")


def title(name: str) -> str:
    """Return what a benchmark measures, in a line."""
    return str(benchmark(name).__doc__).split("\n", 1)[0].rstrip(".")


def head(column: str) -> str:
    """Return a column as the head of a table says it, in words."""
    return column.replace("_", " ")


def text(row: Mapping[str, str | int | float], column: str) -> str:
    """Return a figure of a row as a table shows it."""
    from netbandit.results.numbers import shortest

    value = row[column]
    if isinstance(value, str):
        return value
    return shortest(round(value)) if isinstance(value, int) or value >= 1000 else shortest(value, 3)
