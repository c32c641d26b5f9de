"""``netbandit merge`` and ``clean``: the content of results folders."""

from pathlib import Path

import click

from netbandit.cli.common import folder_argument, plain_errors, report_missing, working
from netbandit.cli.exit_codes import fail
from netbandit.util.text import pluralize

_MOST_LISTED = 20


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The destination folder; created if needed.  [default: the first DIR]",
)
def merge(folders: tuple[Path, ...], out: Path | None) -> None:
    """Put the runs of a study from several folders into one.

    The folders may come from several machines, each with a part of the points or of the replications (run
    --replications A:B). Runs are copied; what is there already stays as it is, and so do the other folders.
    """
    from netbandit.results.merging import MergeError
    from netbandit.results.merging import merge as put_together

    if len(folders) == 1 and out is None:
        raise click.UsageError("Give two folders or more, or one and --out DIR.")
    target = out if out is not None else folders[0]
    others = folders if out is not None else folders[1:]
    with plain_errors():
        try:
            with working("merging"):
                study, copied, damaged = put_together(target, others)
        except MergeError as error:
            fail(error)
    for line in damaged:
        click.echo(f"left out: {line}", err=True)
    runs = sum(len(point.finished) for point in study.points)
    click.echo(
        f"results: {target}, {pluralize(len(study.points), 'point')}, {pluralize(runs, 'run')} ({copied} copied)"
    )
    report_missing(study)


@click.command()
@folder_argument
@click.option("--yes", is_flag=True, help="Remove them without asking.")
def clean(folder: Path, yes: bool) -> None:
    """Remove the runs in a folder of results that belong to no study.

    They are left of classes and files that were edited, or of a scenario whose place another has taken. They are
    listed, and removed once that is confirmed. What commands that were killed left unfinished is removed in any case.
    """
    from netbandit.results.merging import leftovers, remove
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.util.memory import shown

    with plain_errors():
        try:
            with working(f"reading {folder}"):
                found = leftovers(folder)
        except (FileNotFoundError, ValueError) as error:
            fail(error)
        unfinished = ResultsFolder(folder).tidy()
        if unfinished:
            click.echo(f"removed: {pluralize(unfinished, 'unfinished file')} of commands that were killed")
        if not found:
            click.echo(f"{folder}: every run belongs to its study")
            return
        for one in found[:_MOST_LISTED]:
            click.echo(f"{one.folder}, {shown(one.bytes)}")
        if len(found) > _MOST_LISTED:
            click.echo(f"and {len(found) - _MOST_LISTED} more")
        what = f"{pluralize(len(found), 'run')} of no study, {shown(sum(one.bytes for one in found))}"
        if not yes and not click.confirm(f"Remove {what}?"):
            click.echo("nothing removed")
            return
        remove(found)
        click.echo(f"removed: {what}")
