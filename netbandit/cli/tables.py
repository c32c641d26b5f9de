"""``netbandit table``: a table for a paper."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import folder_argument, results_of, several_values_of, statistic_option, working
from netbandit.cli.exit_codes import fail

if TYPE_CHECKING:
    from netbandit.results.intervals import Statistic


@click.command(cls=ManyOptions)
@folder_argument
@click.argument("where", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--rows", metavar="KEY[,KEY]", help="Keys whose values form the rows.  [default: all other keys]")
@click.option(
    "--columns",
    metavar="KEY[,KEY]",
    help="Keys whose values form the columns.  [default: with --rows, all other keys]",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME[,NAME]",
    help="The metric; may be repeated.  [default: regret; regret_per_decision where users or agents are away]",
)
@click.option(
    "--compare",
    "compared",
    metavar="KEY",
    help="The key whose values are compared.  [default: case, learner or protocol, the first that varies, else the "
    "last of the rows]",
)
@click.option("--differences", is_flag=True, help="Show differences from the best, with their p-values.")
@statistic_option
@click.option("--markdown", "layout", flag_value="markdown", default=True, help="Print Markdown.  [default]")
@click.option("--latex", "layout", flag_value="latex", help="Print LaTeX, for the packages booktabs and multirow.")
@click.option(
    "--csv", "layout", flag_value="csv", help="Print a row for each entry, with its difference from the best."
)
def table(
    folder: Path,
    where: tuple[str, ...],
    rows: str | None,
    columns: str | None,
    metrics: tuple[str, ...],
    compared: str | None,
    differences: bool,
    statistic: "Statistic",
    layout: str,
) -> None:
    """Print a table for a paper: means with intervals, the best bold.

    The best is the lowest value (of rewards the highest) among entries that differ only in the compared key, such as
    the learner. It is bold where all its differences are significant at the 5 % level: comparisons are paired by
    replication, with Holm's correction over the whole table. KEY=VALUE selects points; a KEY may be given several
    times. The caption is printed with the table, further notes on stderr.
    """
    from netbandit.api.tables import table_of
    from netbandit.results.paired import CompareError
    from netbandit.results.results_folder import ResultsFolder
    from netbandit.util.wording import names

    if differences and layout == "csv":
        raise click.UsageError("--csv prints entries and differences side by side: leave out --differences.")
    study = results_of(ResultsFolder(folder), details=False)
    try:
        with working("comparing"):
            found = table_of(
                study,
                None if rows is None else names(rows),
                None if columns is None else names(columns),
                [name for given in metrics for name in names(given)],
                compared=compared,
                statistic=statistic.key,
                where=several_values_of(where, "which points to show"),
            )
    except CompareError as error:
        fail(error)
    if layout == "csv":
        click.echo(found.to_csv(), nl=False)
    else:
        print_as = found.to_latex if layout == "latex" else found.to_markdown
        click.echo(print_as(differences=differences), nl=False)
    for line in found.notes:
        click.echo(line, err=True)
