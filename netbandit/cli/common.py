"""Shared by commands: options, plain errors, and reading arguments."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netbandit.cli.exit_codes import FAILURE, MISTAKE, fail
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from rich.console import Console

    from netbandit.checks.check import RunPlan
    from netbandit.results.intervals import Statistic
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.results.study_result import StudyResult
    from netbandit.running.progress import ProgressReport
    from netbandit.running.sweeps import FailedRun
    from netbandit.simulation.replication import RunnablePoint


set_option = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the scenario; VALUE is TOML, or a bare word for a string. May be repeated.",
)


def _statistic(context: click.Context, param: click.Parameter, value: str) -> "Statistic":
    from netbandit.results.intervals import Statistic, StatisticError

    try:
        return Statistic.named(value)
    except StatisticError as error:
        raise click.BadParameter(f"{error}.", context, param) from None


statistic_option = click.option(
    "--statistic",
    callback=_statistic,
    default="mean",
    show_default=True,
    metavar="mean|median|qN",
    help="Statistic over the replications of a point in tables and pictures; q90 is the 90 % quantile.",
)


folder_argument = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


MOST_JOBS = max(64, 4 * (os.cpu_count() or 1))
"""The most worker processes that this machine is asked for: each takes some 150 MB."""

jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=0, max=MOST_JOBS),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of parallel processes; 0: one for each core.",
)


class FiniteRange(click.FloatRange):
    """A number in a range, which excludes nan."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """See `click.ParamType.convert`."""
        number = super().convert(value, param, context)
        if number != number:
            self.fail(f"{value} is not a number.", param, context)
        return number


@contextmanager
def plain_errors() -> Iterator[None]:
    """Report errors that the user can act on in plain lines, and end with their exit code."""
    try:
        yield
    except Exception as error:
        from netbandit.scenario.errors import ScenarioError

        if isinstance(error, ScenarioError):
            for line in error.lines:
                click.echo(line, err=True)
            sys.exit(MISTAKE)
        from netbandit.results.results_folder import OtherStudyError
        from netbandit.util.extras import MissingExtraError

        if isinstance(error, OtherStudyError | MissingExtraError):
            fail(error)
        from netbandit.results.safe_files import StorageError
        from netbandit.running.pool import SchedulerError

        if isinstance(error, SchedulerError | StorageError):
            fail(error, FAILURE)
        raise


def results_of(folder: "ResultsFolder", details: bool = True) -> "StudyResult":
    """Return the results in *folder*; a problem with it is reported as a mistake of the user."""
    try:
        with working(f"reading {folder.path}"):
            found = folder.finished_study(details)
    except (FileNotFoundError, ValueError) as error:
        fail(error)
    if found.damaged:
        left_out = (
            f"{pluralize(len(found.damaged), 'run')} left out, as their files are damaged; run the scenario again:"
        )
        _listed(left_out, found.damaged)
    report_missing(found)
    return found


def report_missing(study: "StudyResult") -> None:
    """Say on stderr which runs of *study* are missing."""
    if study.missing:
        runs = (
            f"{pluralize(len(study.missing), 'run')} of the study {'is' if len(study.missing) == 1 else 'are'} missing"
        )
        _listed(f"{runs}; run the scenario again, or merge what was run elsewhere:", study.missing)


def report_repeated(repeated: Sequence[str]) -> None:
    """Say on stderr which runs were done again because their files were damaged."""
    if repeated:
        _listed(
            f"{pluralize(len(repeated), 'run')} repeated, as their files were damaged or of an unknown format:",
            repeated,
        )


_MOST_LISTED = 10


def _listed(heading: str, lines: Sequence[str]) -> None:
    click.echo(heading, err=True)
    for line in lines[:_MOST_LISTED]:
        click.echo(f"  {line}", err=True)
    if len(lines) > _MOST_LISTED:
        click.echo(f"  and {len(lines) - _MOST_LISTED} more", err=True)


def values_of(entries: Sequence[str], what: str) -> dict[str, str]:
    """Return the value by key of *entries*, which the messages call *what*; a key may be given once."""
    found = several_values_of(entries, what)
    twice = next((key for key, values in found.items() if len(values) > 1), None)
    if twice is not None:
        raise click.UsageError(f"Give {twice} once: {', '.join(found[twice])} exclude each other here.")
    return {key: value for key, (value,) in found.items()}


def several_values_of(entries: Sequence[str], what: str) -> dict[str, tuple[str, ...]]:
    """Return all values by key of *entries*, which the messages call *what*; a key may be given several times."""
    if not all("=" in entry for entry in entries):
        raise click.UsageError(f"Give {what} as KEY=VALUE, such as topology.family=star.")
    found: dict[str, tuple[str, ...]] = {}
    for key, _, value in (entry.partition("=") for entry in entries):
        found[key] = (*found.get(key, ()), value)
    return found


def checked(files: Sequence[str], overrides: Sequence[str]) -> "list[RunPlan]":
    """Return the checked scenarios, or raise all mistakes of all files at once."""
    from netbandit.scenario.errors import ScenarioError

    studies, lines = valid_and_mistakes(files, overrides)
    if lines:
        raise ScenarioError(lines)
    return [study for _, study in studies]


def console_on_stderr() -> "Console":
    """Return where it is shown how far things are."""
    from rich.console import Console

    return Console(stderr=True)


def working(doing: str) -> "ProgressReport":
    """Return a context for what may take long, which shows so; it may be called with how far it is."""
    from netbandit.running.progress import ProgressReport

    return ProgressReport(console_on_stderr, doing)


def valid_and_mistakes(
    files: Sequence[str], overrides: Sequence[str], *, own_code: bool = True
) -> "tuple[list[tuple[str, RunPlan]], list[str]]":
    """Return the valid files with their scenarios, and all mistakes of the others, a line each.

    Args:
        files: The scenarios.
        overrides: Each the ``KEY=VALUE`` of a ``--set``.
        own_code: Whether modules that are not ours may be imported.
    """
    from netbandit.checks.check import check as check_scenario
    from netbandit.parts.registry import with_own_code
    from netbandit.running.progress import reading
    from netbandit.scenario.errors import ScenarioError
    from netbandit.scenario.load import load

    studies: list[tuple[str, RunPlan]] = []
    lines: list[str] = []
    cut = next((change for change in overrides if change[-1:].isdigit()), "")
    for file in files:
        try:
            with reading(console_on_stderr, f"checking {file}") as watch, with_own_code(own_code):
                studies.append((file, check_scenario(load(file, overrides), watch, own_code=own_code)))
        except ScenarioError as error:
            lines += error.lines
            if cut and not Path(file).suffix and not Path(file).exists():
                lines[-1] += f"; if this is part of a value, quote it: --set '{cut} {file}'"
    return studies, list(dict.fromkeys(lines))


_LOAD = 0.5
"""The load by other processes on a core from which a note says that it is not idle."""


def prepared(jobs: int) -> None:
    """Let worker processes, if there will be any, import modules while this one reads its scenarios."""
    if jobs != 1:
        from netbandit.running.pool import prepare_workers

        prepare_workers()


def estimated(points: "Sequence[RunnablePoint]", jobs: int, folder: Path, *, trace: bool = False) -> list[str]:
    """Return the estimated times of the runs of *points*, in lines, from short runs and from runs in *folder*."""
    from netbandit.running.estimate import estimate, learnt
    from netbandit.util.process import cores

    usable = cores()
    with working("trying short runs"):
        found = estimate(points, trace=trace)
    lines = [*found.lines(jobs or usable), *filter(None, [learnt(found, folder)])]
    others = (os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0) - 1  # this process is busy too
    if others > _LOAD * usable:
        lines.append(
            f"others use {others:.1f} of {pluralize(usable, 'core')} now: until they finish, this takes longer"
        )
    return lines


def report_failed(failed: "Sequence[FailedRun]") -> None:
    """Say on stderr which runs failed and why, each reason once, with the first run that had it."""
    from netbandit.results.numbers import run_text

    same = Counter(run.failure.text for run in failed)
    if failed:
        click.echo(f"{pluralize(len(failed), 'run')} failed; the same command tries again:", err=True)
    first: dict[str, FailedRun] = {}
    for run in failed:
        first.setdefault(run.failure.text, run)
    for run in first.values():
        report = f" (see {run.failure.report})" if run.failure.report is not None else ""
        others = same[run.failure.text] - 1
        alike = f"; the same in {pluralize(others, 'other run')}" if others else ""
        click.echo(f"  {run_text(run.parameters, run.replication)}: {run.failure.text}{report}{alike}", err=True)
