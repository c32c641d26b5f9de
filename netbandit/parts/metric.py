"""What is said of a metric: by the catalogue, and by conditions that count some of their own."""

from dataclasses import dataclass

Metric = float | int | None
"""A figure of a run; None where it does not exist or is infinite."""


@dataclass(frozen=True)
class MetricEntry:
    """One metric.

    Attributes:
        unit: Its unit; empty for a plain number.
        meaning: The exact definition, in one or two sentences.
        given_by: The runs that have it.
    """

    unit: str
    meaning: str
    given_by: str = "every run"
