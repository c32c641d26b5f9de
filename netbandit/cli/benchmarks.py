"""``netbandit bench``: how fast the simulator is on this machine."""

import json

import click


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list on stdout.")
def bench(name: str | None, as_json: bool) -> None:
    """Measure how fast the simulator is on this machine; all benchmarks without NAME."""
    from netbandit.bench import catalogue

    if name is not None and name not in catalogue.NAMES:
        raise click.UsageError(f"There is no benchmark {name!r}; there are {', '.join(catalogue.NAMES)}.")
    if as_json:
        rows = [row for one in ([name] if name else catalogue.NAMES) for row in catalogue.run(one)]
        click.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    for one in [name] if name else catalogue.NAMES:
        click.echo(f"{one}: measuring, which takes from half a minute to some minutes", err=True)
        rows = catalogue.run(one)
        table = Table(title=catalogue.title(one), title_justify="left", box=None)
        for column, value in rows[0].items():
            table.add_column(column, justify="left" if isinstance(value, str) else "right", no_wrap=True)
        for row in rows:
            table.add_row(*(catalogue.text(row, column) for column in row))
        Console().print(table)
