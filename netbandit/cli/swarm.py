"""``netbandit swarm``: random scenarios over all keys, with invariants on."""

from pathlib import Path

import click

from netbandit.cli.common import plain_errors, working


@click.command()
@click.argument("count", type=click.IntRange(min=1), default=100)
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="The seed of the scenarios.")
@click.option("--start", type=click.IntRange(min=0), default=0, metavar="N", help="The number of the first scenario.")
@click.option("--replay", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Check one scenario file.")
def swarm(count: int, seed: int, start: int, replay: Path | None) -> None:
    """Run COUNT random scenarios, and check what must hold in all.

    They are drawn from all keys of all tables. A failing scenario is reduced while it still fails, and written to a
    file; the line that replays it is printed.
    """
    from netbandit.checks.check import check
    from netbandit.scenario.load import load
    from netbandit.scenario.toml_text import toml_text
    from netbandit.testing.swarm import broken, failure

    if replay is not None:
        with plain_errors():
            document = load(str(replay), [])
            check(document)
        text = broken(document.data)
        click.echo(text or "all invariants hold")
        raise SystemExit(1 if text else 0)
    failures = 0
    with working("running scenarios") as report:
        for number in range(start, start + count):
            report(number - start, count)
            found = failure(seed, number)
            if found is not None:
                failures += 1
                file = Path(f"swarm-{seed}-{number}.toml")
                file.write_text(toml_text(found.tables), encoding="utf-8")
                click.echo(f"scenario {number}: {found.text}\n  netbandit swarm --replay {file}")
    click.echo(f"{count} scenarios from seed {seed}: {failures or 'none'} failed")
    raise SystemExit(1 if failures else 0)
