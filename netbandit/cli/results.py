"""``netbandit plot``, ``compare``, ``report`` and ``trace``: pictures, comparisons and pages of results."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import (
    folder_argument,
    plain_errors,
    results_of,
    several_values_of,
    statistic_option,
    values_of,
    working,
)
from netbandit.cli.exit_codes import fail
from netbandit.results.picture_names import PICTURE_NAMES
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from netbandit.results.intervals import Statistic
    from netbandit.results.study_result import StudyResult


def _with_names(command: click.Command) -> click.Command:
    """Let the help of *command* list the pictures."""
    width = max(map(len, PICTURE_NAMES))
    lines = [f"  {name:<{width}}  {what}" for name, what in PICTURE_NAMES.items()]
    command.epilog = "\n".join(["\b", "Pictures that a study may have (NAME):", *lines])
    return command


@_with_names
@click.command(cls=ManyOptions)
@folder_argument
@click.argument("words", metavar="[NAME] [KEY=VALUE]...", nargs=-1)
@click.option("--x", metavar="KEY|METRIC|slot", help="Horizontal axis: a key that varies, a metric, or slot (time).")
@click.option("--y", metavar="METRIC", help="Vertical axis.  [default: regret]")
@click.option("--color", metavar="KEY", help="One colour for each value of a key that varies.")
@click.option("--rows", metavar="KEY", help="One row of panels for each value of a key that varies.")
@click.option("--columns", metavar="KEY", help="One column of panels for each value of a key that varies.")
@click.option(
    "--bands",
    type=click.Choice(["auto", "mean", "comparison", "none"]),
    default="auto",
    show_default=True,
    help="95 % intervals: of each mean, or for comparing means (within replications); auto: of each mean, unless these "
    "hide a difference that pairs of replications decide.",
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["png", "svg", "pdf"]),
    help="The format of the files; may be repeated.  [default: as before, at first png and svg]",
)
@click.option("--all", "every", is_flag=True, help="Draw every available picture, not only the relevant ones.")
@statistic_option
def plot(
    folder: Path,
    words: tuple[str, ...],
    x: str | None,
    y: str | None,
    color: str | None,
    rows: str | None,
    columns: str | None,
    bands: Literal["auto", "mean", "comparison", "none"],
    formats: tuple[str, ...],
    every: bool,
    statistic: "Statistic",
) -> None:
    """Draw the pictures of a folder of results.

    By default these are the pictures that show what the sweep varies; --all draws the others too. With a NAME, --x,
    --y, --color, --rows, --columns or KEY=VALUE only that picture is drawn, of the points with the given VALUEs; a KEY
    may be given several times.
    Requested pictures are updated by later runs into the folder, in their formats, and included in its report.
    """
    from netbandit import plots
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.results.safe_files import storage
    from netbandit.util.extras import require

    with plain_errors():
        require("plots", "netbandit plot")
    opened = ResultsFolder(folder)
    study = results_of(opened)
    names = [word for word in words if "=" not in word]
    unknown = [name for name in names if name not in PICTURE_NAMES]
    if unknown:
        raise click.UsageError(f"There is no picture {unknown[0]}; there are {', '.join(PICTURE_NAMES)}.")
    if len(names) > 1 or (names and (x or y)):
        raise click.UsageError("Give one NAME, or --x and --y: a named picture has its own axes.")
    fixed = several_values_of([word for word in words if "=" in word], "which points to draw")
    kind = None if bands == "none" else bands
    asked = plots.Asked(x, y, color, fixed, statistic.key, names[0] if names else None, rows, columns, kind)
    asks = asked != plots.Asked(statistic=statistic.key, bands=kind)
    if asks and every:
        raise click.UsageError("--all draws every picture there is: it excludes options that ask for one.")
    _tell_of_traces(folder, study)
    with plain_errors(), storage(folder):
        try:
            with working("drawing pictures"):
                files = (
                    plots.plot_against(opened, asked, formats or None, study=study)
                    if asks
                    else plots.plot_folder(
                        opened, kinds=formats or None, every=every, study=study, statistic=statistic, bands=kind
                    )
                )
        except plots.UnknownNameError as error:
            fail(error)
        for path in files:
            click.echo(str(path))


@click.command()
@folder_argument
@click.argument("against", metavar="[KEY=VALUE]...", nargs=-1)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="The metric to compare.  [default: regret; regret_per_decision where users or agents are absent]",
)
@click.option(
    "--statistic",
    type=click.Choice(["mean", "median"]),
    default="mean",
    show_default=True,
    help="Statistic of the paired differences.",
)
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object on stdout, and all else on stderr.")
def compare(folder: Path, against: tuple[str, ...], metrics: tuple[str, ...], statistic: str, as_object: bool) -> None:
    """Compare the points of a folder by paired differences.

    Each point is compared with the point that has the given VALUEs and agrees in all other keys; without VALUEs, with
    the first point. Replications are paired by their seed, so common random inputs, such as the means of the arms,
    cancel in the difference. Points without a counterpart are listed and left out. Each p-value is shown with Holm's
    correction for all comparisons made; intervals are not corrected. Where runs can fail, because agents drop the best
    arm or stall, means of fewer than 29 pairs have no p-value; medians may.
    """
    from rich.console import Console

    from netbandit.results.columns import main_metric, run_values
    from netbandit.results.compare import as_json, comparison, corrected_together, show_comparison
    from netbandit.results.paired import CompareError
    from netbandit.results.remarks import comparison_notes
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.results.tables import columns

    study = results_of(ResultsFolder(folder), details=False)
    table = columns(study)
    given = values_of(against, "what to compare with") or None
    chosen = metrics or (main_metric([run_values(point) for point in study.points]),)
    try:
        with working("comparing"):
            found = corrected_together([comparison(table, metric, given, statistic=statistic) for metric in chosen])
        if as_object:
            whole = {"scenario": study.name, "comparisons": [as_json(each) for each in found]}
            click.echo(json.dumps(whole, indent=2, allow_nan=False))
        else:
            for each in found:
                show_comparison(each, Console(highlight=False))
        for line in comparison_notes(study, metrics):
            click.echo(line, err=as_object)
    except CompareError as error:
        fail(error)


@click.command()
@folder_argument
def report(folder: Path) -> None:
    """Write report.html, one page about a folder of results.

    It is self-contained. Beside it comes citation.bib: netbandit in its version, and the papers whose algorithms were
    run.
    """
    from netbandit.report import CITATION, write_report
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.util.extras import require

    with plain_errors():
        require("plots", "netbandit report")
    study = results_of(ResultsFolder(folder))
    _tell_of_traces(folder, study)
    with plain_errors():
        with working("writing the report"):
            page = write_report(folder, study)
        click.echo(str(page))
        click.echo(str(folder / CITATION))


def _tell_of_traces(folder: Path, study: "StudyResult") -> None:
    """Say on stderr which traces are not shown, as they were changed."""
    from netbandit.trace.read import left_out

    for line in left_out(folder, study):
        click.echo(f"trace left out: {line}", err=True)


@click.command()
@click.argument("place", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--format", "layout", type=click.Choice(["perfetto", "html", "gif", "mp4"]), default="perfetto", show_default=True
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The file to write.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="How much of the trace to take.  [default: 100000 lines for perfetto, 20000 messages for html, "
    "2000 for a film]",
)
def trace(place: Path, layout: str, out: Path | None, limit: int | None) -> None:
    """Show what happened in a run, on a page that opens in a browser.

    RUN is a run folder, its trace.jsonl, or a folder of results, of which the first traced run is taken; run --trace
    writes traces. With html it is one page that plays the run back: messages move along the links of the network in
    simulated time, and a cursor along the regret; gif and mp4, which takes ffmpeg, are a film of that. With perfetto it
    is a file for https://ui.perfetto.dev and chrome://tracing: a track for each agent with what it explores and
    exploits, arrows for messages, rewards that are learned late, and the rounds.
    """
    from netbandit.trace.read import TraceError
    from netbandit.util.extras import require

    with plain_errors():
        try:
            if layout in ("gif", "mp4"):
                require("plots", f"--format {layout}")
                _film(place, "gif" if layout == "gif" else "mp4", out, limit)
            else:
                (_animation if layout == "html" else _perfetto)(place, out, limit)
        except TraceError as error:
            fail(error)


def _perfetto(place: Path, out: Path | None, limit: int | None) -> None:
    from netbandit.trace import perfetto

    source = perfetto.find_trace(place)
    target = out if out is not None else source.parent / perfetto.PICTURE
    with working(f"reading {source}"):
        made = perfetto.convert(source, target, limit if limit is not None else perfetto.LIMIT)
    found = [pluralize(made.messages, "message"), pluralize(made.phases, "phase"), pluralize(made.rounds, "round")]
    if made.jobs:
        found.append(pluralize(made.jobs, "job"))
    if made.rewards:
        found.append(pluralize(made.rewards, "late reward"))
    click.echo(f"trace: {source}")
    click.echo(f"perfetto: {made.path}, {', '.join(found)}; open it at https://ui.perfetto.dev")
    if made.lines < made.total:
        click.echo(
            f"only the first {made.lines} of {made.total} lines of the trace are in it; --limit {made.total} takes all",
            err=True,
        )


def _film(place: Path, kind: Literal["gif", "mp4"], out: Path | None, limit: int | None) -> None:
    from netbandit.report import film
    from netbandit.trace.perfetto import find_trace

    source = find_trace(place)
    target = out if out is not None else source.with_suffix(f".{kind}")
    with working("drawing the film"):
        shown = film.write_film(source, target, kind, limit if limit is not None else film.LIMIT)
    click.echo(f"trace: {source}")
    click.echo(f"film: {target}, {pluralize(shown, 'message')}")


def _animation(place: Path, out: Path | None, limit: int | None) -> None:
    from netbandit.report import animation
    from netbandit.trace.perfetto import find_trace

    source = find_trace(place)
    target = out if out is not None else source.parent / animation.PAGE
    with working(f"reading {source}"):
        made = animation.animate(source, target, limit if limit is not None else animation.LIMIT)
    click.echo(f"trace: {source}")
    click.echo(f"html: {made.path}, {pluralize(made.messages, 'message')}; open it in a browser")
    if made.messages < made.total:
        click.echo(
            f"only the first {made.messages} of {made.total} messages are in it; --limit {made.total} takes all",
            err=True,
        )
