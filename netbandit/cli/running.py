"""``netbandit run``: scenarios and their sweeps."""

import json
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TextIO

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import (
    checked,
    console_on_stderr,
    estimated,
    jobs_option,
    plain_errors,
    prepared,
    report_failed,
    report_repeated,
    set_option,
    statistic_option,
    working,
)
from netbandit.cli.exit_codes import FAILURE
from netbandit.cli.stdout import stdout_alone
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from netbandit.checks.check import RunPlan
    from netbandit.results.intervals import Statistic
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.results.study_result import StudyResult


@dataclass(frozen=True)
class _RunOptions:
    """The options of execution, by their names, and the console of the results."""

    jobs: int
    scheduler: str | None
    trace: bool
    replace: bool
    parquet: bool
    as_json: bool
    statistic: "Statistic"
    output: TextIO
    first: int
    everything: bool


@click.command(cls=ManyOptions)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@set_option
@click.option("--seed", metavar="N", help="The root seed; short for --set run.seed=N.")
@click.option(
    "--replications",
    metavar="N|A:B",
    help="Number of replications; short for --set run.replications=N. A:B runs those from A to B - 1, counted from 0; "
    "netbandit merge puts the parts together.",
)
@jobs_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of the results; with several FILEs, of their folders.  [default: results/NAME]",
)
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Use the workers of this dask scheduler.")
@click.option("--replace", is_flag=True, help="Remove the results of another study, if DIR holds them.")
@statistic_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and all else on stderr.")
@click.option("--parquet", is_flag=True, help="Write table.parquet too; needs the extra netbandit[parquet].")
@click.option(
    "--estimate",
    "only_estimate",
    is_flag=True,
    help="Only estimate time and disk space, from a short run of each point, and say where the runs already there took "
    "another time.",
)
@click.option("--all", "everything", is_flag=True, help="Print all metrics, not only the most telling.")
@click.option("--trace", is_flag=True, help="Write every message and phase of every run to trace.jsonl in its folder.")
def run(
    files: tuple[str, ...],
    changes: tuple[str, ...],
    seed: str | None,
    replications: str | None,
    jobs: int,
    scheduler: str | None,
    out: Path | None,
    replace: bool,
    statistic: "Statistic",
    as_json: bool,
    parquet: bool,
    only_estimate: bool,
    everything: bool,
    trace: bool,
) -> None:
    """Run scenarios and their sweeps.

    Runs that are already in the folder of results are reused, unless their files are damaged. How long a study still
    takes is shown as it goes.
    """
    from netbandit.util.extras import require

    if as_json and len(files) > 1:
        raise click.UsageError("--json prints the object of one scenario: give one FILE.")
    overrides = [*changes]
    overrides += [f"run.seed={seed}"] if seed is not None else []
    first, number = _part(replications)
    overrides += [f"run.replications={number}"] if number is not None else []
    with plain_errors(), stdout_alone(as_json) as output:
        if parquet:
            require("parquet", "--parquet")
        if scheduler is not None:
            require("cluster", "--scheduler")
        if scheduler is None and not only_estimate:
            prepared(jobs)  # whose processes print where this one does now
        studies = checked(files, overrides)
        folders = _folders(files, studies, out)
        if only_estimate:
            for file, study, folder in zip(files, studies, folders, strict=True):
                for note in study.notes:
                    click.echo(note, err=True)
                for line in estimated(study.points, jobs, folder, trace=trace):
                    click.echo(f"{file}: {line}" if len(files) > 1 else line, err=as_json)
            return
        if not replace and len(studies) > 1:  # before the first of them runs
            from netbandit.results.results_folder import ResultsFolder
            from netbandit.running.sweeps import plan_of

            for study, folder in zip(studies, folders, strict=True):
                ResultsFolder(folder).refuse_other(plan_of(study))
        how = _RunOptions(jobs, scheduler, trace, replace, parquet, as_json, statistic, output, first, everything)
        failed = False
        for study, folder in zip(studies, folders, strict=True):
            failed |= not _run(study, folder, how)
    if failed:
        sys.exit(FAILURE)


def _part(replications: str | None) -> tuple[int, str | None]:
    """Return the first replication that is run, and how many the study has."""
    found = re.fullmatch(r"(\d+):(\d+)", replications or "")
    if found is None:
        return 0, replications
    first, behind = map(int, found.groups())
    if first >= behind:
        raise click.UsageError(f"--replications {replications} is empty: 10:20 are the ten from 10 to 19.")
    return first, str(behind)


def _folders(files: Sequence[str], studies: "Sequence[RunPlan]", out: Path | None) -> list[Path]:
    """Return the folder of the results of each scenario."""
    if out is not None and len(files) == 1:
        return [out]
    folders: dict[Path, str] = {}
    for file, study in zip(files, studies, strict=True):
        folder = (out if out is not None else Path("results")) / study.document.data["name"]
        if folder in folders:
            raise click.UsageError(f"{folders[folder]} and {file} have the same name, so both would write to {folder}.")
        folders[folder] = file
    return list(folders)


def _run(study: "RunPlan", folder: Path, how: _RunOptions) -> bool:
    """Run one scenario and print its results; return whether all runs finished."""
    from rich.console import Console

    from netbandit.results.columns import show
    from netbandit.results.summary import as_json as object_of
    from netbandit.running import sweeps as sweep
    from netbandit.running.progress import ProgressReport, reading

    for note in study.notes:
        click.echo(note, err=True)
    with ProgressReport(console_on_stderr) as progress, ExitStack() as before:
        watch = before.enter_context(reading(console_on_stderr))

        def count(*numbers: int) -> None:
            before.close()  # one bar at a time
            progress(*numbers)

        result = sweep.run(
            study,
            folder,
            jobs=how.jobs,
            scheduler=how.scheduler,
            trace=how.trace,
            replace=how.replace,
            first=how.first,
            progress=count,
            looking=lambda done, total: watch("what is already there", done, total),
        )
    if how.as_json:
        click.echo(json.dumps(object_of(result.study), indent=2, allow_nan=False), file=how.output)
    if how.parquet:
        from netbandit.results.tables import write_parquet

        write_parquet(folder, result.study)
    finished = any(point.finished for point in result.study.points)
    if finished:
        show(result.study, Console(stderr=how.as_json, highlight=False), how.statistic, everything=how.everything)
    report_repeated(result.repeated)
    for line in (*result.replaced, *result.others):
        click.echo(line, err=True)
    known = ""
    if result.reused:
        known = f" ({pluralize(result.reused, 'run')} of {result.reused + result.done} already there)"
    click.echo(f"results: {folder}{known}", err=how.as_json)
    if result.copied:
        runs = pluralize(result.copied, "run")
        click.echo(f"{runs} copied from identical runs, which differ only in keys that have no effect", err=True)
    drawn = _draw(result.folder, folder, how.as_json, how.statistic) if finished else True
    _tell_of_the_report(folder, result.study, how.as_json)
    if any(run.metrics.get("first_death") is not None for point in result.study.points for run in point.finished):
        click.echo(f"which batteries ran empty first: netbandit nodes {quote(str(folder))}", err=how.as_json)
    report_failed(result.failed)
    return drawn and not result.failed


def _tell_of_the_report(folder: Path, study: "StudyResult", as_json: bool) -> None:
    """Mark a report that is older than the results, and print that it is."""
    page = folder / "report.html"
    if not page.is_file():
        return
    from netbandit.report import outdate

    command = f"netbandit report {quote(str(folder))}"
    if outdate(page, study, command):
        click.echo(f"report: {page} is older than these results; {command} writes it anew", err=as_json)


def _draw(folder: "ResultsFolder", named: Path, as_json: bool, statistic: "Statistic") -> bool:
    """Draw the pictures of *folder* that are out of date, and print them as in the folder *named* so.

    The results stand whether or not that works, or can be.
    """
    from netbandit.util.extras import MissingExtraError, installed

    if not installed("plots"):
        click.echo(f"no picture is drawn: {MissingExtraError('plots', 'that')}", err=True)
        return True
    from netbandit.results.picture_inputs import PictureInputs

    try:
        inputs = PictureInputs(folder, statistic)
        files = inputs.drawn()
        if not files:
            from netbandit.plots import plot_folder

            with working("drawing pictures"):
                files = plot_folder(folder, statistic=statistic, outdated=inputs)
        pictures: dict[Path, list[str]] = {}
        for path in files:
            pictures.setdefault(named / path.stem, []).append(path.suffix)
        for stem, suffixes in pictures.items():
            click.echo(f"picture: {', '.join([f'{stem}{suffixes[0]}', *suffixes[1:]])}", err=as_json)
    except Exception as error:
        click.echo(f"the pictures could not be drawn: {type(error).__name__}: {error}", err=True)
        return False
    return True
