"""All runs and all files of a folder of results."""

from pathlib import Path

from netbandit.results.results_folder import ResultsFolder
from netbandit.simulation.result import RunResult


def finished_runs(out: Path, details: bool = True) -> list[RunResult]:
    """Return the complete runs of the study in *out*, by point and replication."""
    return [run for point in ResultsFolder(out).study(details).points for run in point.finished]


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files in *folder*, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
