"""Running scenarios and reading results from Python."""

import warnings
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from netbandit.parts.arguments import whole
from netbandit.parts.validation import native
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.run_keys import run_key
from netbandit.running.sweeps import run as run_study
from netbandit.scenario.load import Document, load, load_tables
from netbandit.scenario.objects import refuse_deep, swept, tables_of
from netbandit.simulation.sweep_point import Point
from netbandit.util.text import first_few, pluralize
from netbandit.util.wording import show

if TYPE_CHECKING:
    from netbandit.api.results import Results


class Written(Protocol):
    """A scenario as an object: ``Scenario``."""

    def document(self, overrides: Mapping[str, Any] | None = None) -> Document:
        """Return the scenario as it was written."""


AnyScenario = str | PathLike[str] | Mapping[str, Any] | Written
"""A scenario file, its tables, or an object."""


class RunsFailedError(Exception):
    """Some runs of a scenario failed; the others are in the results folder."""


def run(
    scenario: AnyScenario,
    *,
    out: str | PathLike[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    trace: bool = False,
    replace: bool = False,
    **overrides: Any,
) -> "Results":
    """Run a scenario and its sweep, and return all figures, as `load_results` does.

    Runs that are already in the folder of the results are not done again.

    Args:
        scenario: The file; or the tables that would be in it, as a dictionary of dictionaries or objects, whose
            relative paths start in the working directory; or a `Scenario`.
        out: The folder of the results; if not given ``results/NAME``, and without a name ``results/scenario-HASH8``.
        jobs: The number of parallel processes; 1: in this process, 0: one for each core.
        scheduler: The address of a dask scheduler to use the workers of.
        trace: Whether each run writes a trace of its messages and phases.
        replace: Whether the results of another study, if *out* holds them, are removed.
        overrides: Keys of the scenario to set, with ``__`` for each dot: ``run__horizon=1000``.

    Raises:
        ScenarioError: The scenario has mistakes; nothing is written.
        OtherStudyError: *out* holds the results of another study, and *replace* is not given.
        StorageError: The results cannot be written.
        RunsFailedError: Some runs failed.
    """
    return run_document(document_of(scenario, overrides), out, jobs, scheduler, trace, replace)


def sweep(
    scenario: AnyScenario,
    *,
    out: str | PathLike[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    trace: bool = False,
    replace: bool = False,
    **grid: Any,
) -> "Results":
    """Run a scenario at all combinations of the values given, and return all figures, as `load_results` does.

    Args:
        scenario: The file, its tables or an object, as for `run`; a key it sweeps itself is swept too, unless it is
            given here.
        out: As for `run`.
        jobs: As for `run`.
        scheduler: As for `run`.
        trace: As for `run`.
        replace: As for `run`.
        grid: Keys with ``__`` for each dot: a list, tuple, range, array of numpy or series of pandas is swept, anything
            else is set: ``topology__agents=[10, 20], run__horizon=1000``.

    Raises:
        ScenarioError: The scenario has mistakes; nothing is written.
        OtherStudyError: *out* holds the results of another study, and *replace* is not given.
        StorageError: The results cannot be written.
        RunsFailedError: Some runs failed.
    """
    return run_document(document_of(scenario, as_sweep(grid)), out, jobs, scheduler, trace, replace)


def load_results(folder: str | PathLike[str]) -> "Results":
    """Return all figures of a results folder, long and tidy: one row for each point, replication and metric.

    It is a pandas table. The columns are the keys the sweep or ``--set`` varied, then ``replication``, ``seed``,
    ``metric``, ``value`` (NaN where it does not exist or is infinite) and ``run``, the name of the run folder.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged.

    Warns:
        UserWarning: Runs are missing, or left out because their files are not as they were written.
    """
    from netbandit.api.results import Results

    opened = ResultsFolder(Path(folder))
    opened.tidy()
    study = opened.study(details=False)
    for lines, why in ((study.damaged, "left out, not as written"), (study.missing, "missing")):
        if lines:
            many = f"{pluralize(len(lines), 'run')} {why}; run the scenario again"
            warnings.warn(f"{many}: {first_few(lines)}", stacklevel=2)
    return Results.of(study, Path(folder))


def as_sweep(grid: Mapping[str, Any]) -> dict[str, Any]:
    """Return overrides by keyword: a list of any kind is swept, of a part objects and classes too; else it is set."""
    refuse_deep(grid)
    found = {}
    for key, value in grid.items():
        values = swept(key.replace("__", "."), value)
        found[f"sweep__{key}" if isinstance(values, list) else key] = values if isinstance(values, list) else value
    return found


def run_document(
    document: Document,
    out: str | PathLike[str] | None,
    jobs: int,
    scheduler: str | None,
    trace: bool,
    replace: bool,
) -> "Results":
    """Check and run a scenario as it was written; see `run`."""
    from netbandit.api.results import Results
    from netbandit.checks.check import check

    jobs = whole("jobs", jobs, 0)
    study = check(document)
    folder = Path(out) if out is not None else Path("results") / _folder_name(document, study.points)
    result = run_study(study, folder, jobs=jobs, scheduler=scheduler, trace=trace, replace=replace)
    for line in result.replaced:
        warnings.warn(line, stacklevel=3)
    if result.failed:
        first = result.failed[0]
        where = f"replication {first.replication}" + (f" of {first.parameters}" if first.parameters else "")
        raise RunsFailedError(
            f"{pluralize(len(result.failed), 'run')} failed, the first is {where}: {first.failure.text}"
        )
    return Results.of(result.study, folder)


def _folder_name(document: Document, points: Sequence[Point]) -> str:
    """Return the name of the study; without one, it is derived from the keys that determine its numbers."""
    if not document.nameless:
        return str(document.data["name"])
    keys = "".join(run_key(point, 0) for point in points)
    return f"scenario-{blake2b(keys.encode(), digest_size=4).hexdigest()}"


def document_of(scenario: AnyScenario, overrides: Mapping[str, Any]) -> Document:
    """Return a scenario as it was written, with keys set as keywords (``__`` for each dot); not yet checked."""
    refuse_deep(overrides)
    overrides = {key: native(value) for key, value in overrides.items()}
    if isinstance(scenario, Mapping):
        return load_tables(tables_of(scenario), overrides)
    if isinstance(scenario, str | PathLike):
        return load(scenario, overrides)
    if not hasattr(scenario, "document"):
        raise ValueError(f"scenario must be a file, a dictionary of tables or a Scenario, not {show(scenario)}")
    return scenario.document(overrides)
