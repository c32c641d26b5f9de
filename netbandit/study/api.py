"""Running a scenario and reading results from Python."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netbandit.scenario.load import load
from netbandit.study import sweep
from netbandit.study.results import StudyResult, load_study
from netbandit.study.table import FIXED, parameter_names, records
from netbandit.study.toml import toml_value

if TYPE_CHECKING:
    from pandas import DataFrame


class RunsFailedError(Exception):
    """Some runs of a scenario failed; the others are in the results folder."""


def run(
    file: str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    trace: bool = False,
    **overrides: Any,
) -> "DataFrame":
    """Run a scenario and its sweep, and return all figures, as `load_results` does.

    Runs that are already in the folder of the results are not done again.

    Args:
        file: The scenario.
        out: The folder of the results; ``results/NAME`` if not given.
        jobs: How many processes run at once; 1 runs in this process, 0 means one for each core.
        scheduler: The address of a dask scheduler to use the workers of.
        trace: Whether each run writes a trace of its events.
        overrides: Keys of the scenario to set, with ``__`` for each dot: ``run__horizon=1000``.

    Raises:
        ScenarioError: The scenario has mistakes; nothing is written.
        StorageError: The results cannot be written.
        RunsFailedError: Some runs failed.
    """
    from netbandit.simulation.parts import check

    document = load(file, [f"{key.replace('__', '.')}={toml_value(value)}" for key, value in overrides.items()])
    study = check(document)
    folder = Path(out) if out is not None else Path("results") / document.data["name"]
    result = sweep.run(study, folder, jobs=jobs, scheduler=scheduler, trace=trace)
    if result.failed:
        first = result.failed[0]
        where = f"replication {first.replication}" + (f" of {first.parameters}" if first.parameters else "")
        raise RunsFailedError(f"{len(result.failed)} runs failed, the first is {where}: {first.failure.text}")
    return _frame(result.study)


def load_results(folder: str | PathLike[str]) -> "DataFrame":
    """Return all figures of a results folder, long and tidy: one row for each point, replication and metric.

    The columns are the keys the sweep or ``--set`` varied, then ``replication``, ``seed``, ``metric``, ``value`` (NaN
    where it does not exist or is infinite) and ``run``, the name of the run folder.

    Raises:
        FileNotFoundError: *folder* is not a results folder.
        ValueError: It is damaged.
    """
    return _frame(load_study(Path(folder), details=False))


def _frame(study: StudyResult) -> "DataFrame":
    from pandas import DataFrame

    frame = DataFrame.from_records(list(records(study)), columns=[*parameter_names(study), *FIXED])
    frame["value"] = frame["value"].astype(float)
    return frame
