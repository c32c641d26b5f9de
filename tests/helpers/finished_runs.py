"""All runs of a folder of results."""

from pathlib import Path

from netbandit.results.store import load_study
from netbandit.simulation.result import RunResult


def finished_runs(out: Path, details: bool = True) -> list[RunResult]:
    """Return the complete runs of the study in *out*, by point and replication."""
    return [run for point in load_study(out, details).points for run in point.finished]
