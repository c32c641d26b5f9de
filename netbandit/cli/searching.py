"""``netbandit optimize``: which values of some keys are best."""

import shlex
from pathlib import Path
from typing import Any

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import jobs_option, plain_errors, prepared, set_option, values_of, working
from netbandit.cli.exit_codes import fail


@click.command(cls=ManyOptions)
@click.argument("file", metavar="FILE")
@click.option(
    "--over",
    "over",
    multiple=True,
    required=True,
    metavar="KEY=RANGE",
    help="A key and its values: LOW..HIGH, as in learner.alpha='0.1..10 log' or links.peer.latency='1 ms..50 ms', or a "
    'list, as in \'protocol.kind=["gis", "relay"]\'; may be repeated.',
)
@click.option(
    "--minimize",
    metavar="METRIC[,METRIC]",
    default="",
    help="A metric that is to be as low as possible; of several the Pareto front is found.",
)
@click.option("--maximize", metavar="METRIC[,METRIC]", default="", help="A metric that is to be as high as possible.")
@click.option(
    "--trials", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="Number of candidates."
)
@jobs_option
@set_option
@click.option(
    "--within",
    multiple=True,
    metavar="METRIC=LIMIT",
    help="The largest mean of a metric that a winner may have, as in bytes=400000; may be repeated.",
)
@click.option("--budget", metavar="DURATION", help="Begin no further candidate after so much time, such as '30 min'.")
@click.option(
    "--replications",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    metavar="N",
    help="Replications of each candidate at first.",
)
@click.option(
    "--most",
    type=click.IntRange(min=2),
    default=80,
    show_default=True,
    metavar="N",
    help="Replications of candidates that are close to the best.",
)
@click.option(
    "--final",
    type=click.IntRange(min=2),
    default=30,
    show_default=True,
    metavar="N",
    help="Replications with fresh seeds of the winners.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of the search, from which it goes on.  [default: results/NAME-search]",
)
def optimize(
    file: str,
    changes: tuple[str, ...],
    minimize: str,
    maximize: str,
    over: tuple[str, ...],
    within: tuple[str, ...],
    trials: int,
    budget: str | None,
    replications: int,
    most: int,
    final: int,
    jobs: int,
    out: Path | None,
) -> None:
    """Search for the values of some keys at which metrics are best.

    Optuna proposes the candidates; if there are no more than --trials, all are tried. All have the same seeds; those
    that are not significantly worse than the best get more replications. The winners are measured again with fresh
    seeds, and only these numbers are printed, with the command that repeats those of the first. The same command
    continues a search that was interrupted.
    """
    from netbandit.api.search import search
    from netbandit.running.search import SearchError, lines_of
    from netbandit.scenario.load import load
    from netbandit.scenario.toml_text import toml_value
    from netbandit.util.wording import names

    prepared(jobs)
    low, high, limits = names(minimize), names(maximize), values_of(within, "the limits of metrics")
    if not low and not high:
        raise click.UsageError("Say what is to be low or high, such as --minimize regret or --maximize alive.")
    with plain_errors():
        try:
            with working("searching"):
                found = search(
                    lambda values: load(
                        file, [*changes, *(f"{key}={toml_value(value)}" for key, value in values.items())]
                    ),
                    dict[str, Any](values_of(over, "what to search over")),
                    minimize=low,
                    maximize=high,
                    within=limits,
                    numbers={"trials": trials, "first": replications, "most": most, "final": final},
                    budget=budget,
                    jobs=jobs,
                    out=out,
                    tell=lambda line: click.echo(line, err=True),
                )
        except SearchError as error:
            fail(error)
        for line in lines_of(found, [*low, *high], {metric: float(limit) for metric, limit in limits.items()}):
            click.echo(line)
        sets = [*changes, *(f"{key}={toml_value(value)}" for key, value in found.best.items())]
        sets += [f"run.seed={found.seed}", f"run.replications={found.replications}"]
        click.echo(shlex.join(["netbandit", "run", file, *(word for one in sets for word in ("--set", one))]))
