"""``netbandit check``, ``schema`` and ``parts``: what a scenario may say, and what is wrong with one."""

import json

import click

from netbandit.cli.common import checked, plain_errors, set_option
from netbandit.plural import counted
from netbandit.printable import one_line


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@set_option
def check(files: tuple[str, ...], changes: tuple[str, ...]) -> None:
    """Say whether scenarios are valid, and what is wrong with them."""
    with plain_errors():
        for file, study in zip(files, checked(files, changes), strict=True):
            runs = sum(point.resolved["run"]["replications"] for point in study.points)
            click.echo(f"{file}: ok, {counted(len(study.points), 'point')}, {counted(runs, 'run')}")
            for note in study.notes:
                click.echo(note)


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from netbandit.simulation.check import schema as scenario_schema

    click.echo(json.dumps(scenario_schema(), indent=2))


@click.command()
def parts() -> None:
    """List the parts that a scenario can name, those of installed packages among them."""
    from netbandit.registry import BUILT_IN, kind_key, named_parts

    for table in BUILT_IN:
        click.echo(f"{table}.{kind_key(table)}")
        for part in named_parts(table):
            what = part.problem if part.found is None else (part.found.__doc__ or "").strip().partition("\n")[0]
            of = f" [{one_line(part.package)}]" if part.package else ""
            click.echo(f"  {one_line(part.kind):<18}{one_line(what)}{of}")
