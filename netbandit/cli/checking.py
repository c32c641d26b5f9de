"""``netbandit check`` and ``netbandit schema``: what a scenario may say, and what is wrong with one."""

import json

import click

from netbandit.cli.common import checked, plain_errors, set_option
from netbandit.plural import counted


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
