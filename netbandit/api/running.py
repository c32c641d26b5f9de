"""Running scenarios and reading results from Python."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.plural import counted
from netbandit.results.compare import compare
from netbandit.results.store import load_study
from netbandit.running.sweeps import run as run_study
from netbandit.scenario.load import Document, load
from netbandit.scenario.toml_text import toml_text, toml_value

if TYPE_CHECKING:
    from netbandit.api.results import Results

Scenario = str | PathLike[str] | Mapping[str, Any]
"""A scenario file, or its tables."""


class RunsFailedError(Exception):
    """Some runs of a scenario failed; the others are in the results folder."""


def run(
    scenario: Scenario,
    *,
    out: str | PathLike[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    trace: bool = False,
    **overrides: Any,
) -> "Results":
    """Run a scenario and its sweep, and return all figures, as `load_results` does.

    Runs that are already in the folder of the results are not done again.

    Args:
        scenario: The file, or the tables that would be in it, as a dictionary of dictionaries; relative paths in them
            start in the working directory, and without a ``name`` they are called ``scenario``.
        out: The folder of the results; ``results/NAME`` if not given.
        jobs: How many processes run at once; 1 runs in this process, 0 means one for each core.
        scheduler: The address of a dask scheduler to use the workers of.
        trace: Whether each run writes a trace of its messages and phases.
        overrides: Keys of the scenario to set, with ``__`` for each dot: ``run__horizon=1000``.

    Raises:
        ScenarioError: The scenario has mistakes; nothing is written.
        StorageError: The results cannot be written.
        RunsFailedError: Some runs failed.
    """
    return _run(scenario, _settings(overrides), out, jobs, scheduler, trace)


def sweep(
    scenario: Scenario,
    *,
    out: str | PathLike[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    trace: bool = False,
    **grid: Any,
) -> "Results":
    """Run a scenario at all combinations of the values given, and return all figures, as `load_results` does.

    Args:
        scenario: The file, or its tables, as for `run`; a key it sweeps itself is swept too, unless it is given here.
        out: As for `run`.
        jobs: As for `run`.
        scheduler: As for `run`.
        trace: As for `run`.
        grid: Keys with ``__`` for each dot: a list or tuple is swept, anything else is set:
            ``topology__agents=[10, 20], run__horizon=1000``.

    Raises:
        ScenarioError: The scenario has mistakes; nothing is written.
        StorageError: The results cannot be written.
        RunsFailedError: Some runs failed.
    """
    settings = _settings(
        {f"sweep__{key}" if isinstance(value, list | tuple) else key: value for key, value in grid.items()}
    )
    return _run(scenario, settings, out, jobs, scheduler, trace)


def load_results(folder: str | PathLike[str]) -> "Results":
    """Return all figures of a results folder, long and tidy: one row for each point, replication and metric.

    It is a pandas table. The columns are the keys the sweep or ``--set`` varied, then ``replication``, ``seed``,
    ``metric``, ``value`` (NaN where it does not exist or is infinite) and ``run``, the name of the run folder.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged.
    """
    from netbandit.api.results import Results

    return Results.of(load_study(Path(folder), details=False))


def _settings(overrides: Mapping[str, Any]) -> list[str]:
    return [f"{key.replace('__', '.')}={toml_value(value)}" for key, value in overrides.items()]


def _run(
    scenario: Scenario,
    settings: list[str],
    out: str | PathLike[str] | None,
    jobs: int,
    scheduler: str | None,
    trace: bool,
) -> "Results":
    from netbandit.api.results import Results
    from netbandit.simulation.parts import check

    document = _document(scenario, settings)
    study = check(document)
    folder = Path(out) if out is not None else Path("results") / document.data["name"]
    result = run_study(study, folder, jobs=jobs, scheduler=scheduler, trace=trace)
    if result.failed:
        first = result.failed[0]
        where = f"replication {first.replication}" + (f" of {first.parameters}" if first.parameters else "")
        raise RunsFailedError(
            f"{counted(len(result.failed), 'run')} failed, the first is {where}: {first.failure.text}"
        )
    return Results.of(result.study)


def _document(scenario: Scenario, settings: list[str]) -> Document:
    if isinstance(scenario, Mapping):
        return load("scenario", settings, text=toml_text(scenario))
    return load(scenario, settings)


__all__ = ["RunsFailedError", "Scenario", "compare", "load_results", "run", "sweep"]
