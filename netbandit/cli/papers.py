"""``netbandit reproduce``: the figures and claims of a paper."""

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import MOST_JOBS, console_on_stderr, plain_errors, prepared, report_failed
from netbandit.cli.exit_codes import FAILURE, fail
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from netbandit.running.sweeps import FailedRun
    from netbandit.studies.papers.figure_runs import FigureRuns
    from netbandit.studies.papers.figures import Figure, Paper
    from netbandit.studies.papers.reproduce import Ended
    from netbandit.studies.papers.verdicts import Judgement


def _budget(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """Return the seconds of a duration."""
    from netbandit.util.units import Duration

    if value is None:
        return None
    try:
        found = Duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None
    if found.in_slots:
        raise click.BadParameter("must be a time, such as 2 h: there are no slots here", context, option)
    return float(found.amount) / 1e9


@click.command(cls=ManyOptions)
@click.argument("what", metavar="[PAPER[/FIGURE]]", required=False)
@click.option(
    "--estimate",
    "only_estimate",
    is_flag=True,
    help="Only list the figures with an estimate of the time and disk space of each.",
)
@click.option("--replications", type=click.IntRange(min=1), metavar="N", help="Runs of each point.  [default: its own]")
@click.option(
    "--jobs",
    type=click.IntRange(min=0, max=MOST_JOBS),
    default=0,
    metavar="N",
    help="Number of parallel processes; 0: one for each core.  [default: 0]",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The folder of the results.  [default: results/PAPER]"
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print all that is known of a claim: how it is read, levels, remarks.",
)
@click.option("--all", "every", is_flag=True, help="Reproduce all papers, which takes hours.")
@click.option(
    "--until-decided",
    is_flag=True,
    help="Double the replications of a figure until its claims are decided: four looks, the last at eight times the "
    "replications; intervals are wider for it, so that the looks err together as often as one.",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Add each figure that FILE does not hold yet to it, a line of JSON: verdicts, fingerprints, time, machine, "
    "versions.",
)
@click.option(
    "--budget",
    metavar="DURATION",
    callback=_budget,
    help="With --record: begin no further figure after so much computing time, such as 2 h.",
)
def reproduce(
    what: str | None,
    every: bool,
    verbose: bool,
    replications: int | None,
    jobs: int,
    out: Path | None,
    until_decided: bool,
    only_estimate: bool,
    record: Path | None,
    budget: float | None,
) -> None:
    """Run the figures of a paper and say which of its claims hold.

    Prints three lines for each claim: the verdict, the number that decides it, and where that must lie; and at the end
    a table of the verdicts, counted for each kind: claims of the paper, those decided by our own numbers, those that a
    setting was fitted to, and our own questions. Draws each figure, and writes claims.csv. A paper begins with the list
    of its figures and what each takes. Without a PAPER the papers are listed.
    The statistical claims of a figure have a family-wise error rate of at most 5 % (Holm): each is printed with its
    p-value and the level at which it was tested. The number of replications is fixed in advance: to run again with more
    because a claim was not decided raises the error rate; --until-decided plans its looks and does not.
    """
    from netbandit.studies.papers.figures import PaperError
    from netbandit.studies.papers.record import PaperRecordError
    from netbandit.util.extras import require

    if record is not None and (replications is not None or until_decided or only_estimate):
        raise click.UsageError("--record takes replications from the papers' scenarios: leave out the other options.")
    if budget is not None and record is None:
        raise click.UsageError("--budget goes with --record.")
    if what is not None and every:
        raise click.UsageError("--all is all papers: leave out PAPER, or --all.")
    if what is None and record is not None and not every:
        raise click.UsageError("--record needs a PAPER, or --all.")
    try:
        with plain_errors():
            if what is None and not every:
                _list_papers()
                return
            if only_estimate:
                _list_figures(_papers(what), replications, jobs, tried=True)
                return
            require("plots", "netbandit reproduce")
            prepared(jobs)
            failed = _reproduce(what, verbose, replications, jobs, out, until_decided, record, budget)
    except (PaperError, PaperRecordError) as error:
        fail(error)
    if failed:
        sys.exit(FAILURE)


def _reproduce(
    what: str | None,
    verbose: bool,
    replications: int | None,
    jobs: int,
    out: Path | None,
    until_decided: bool,
    record: Path | None,
    budget: float | None,
) -> bool:
    """Reproduce one paper, one of its figures, or all papers; return whether a run failed."""
    from rich.console import Console

    from netbandit.running.progress import ProgressReport
    from netbandit.studies.papers.claim_tables import write_claims
    from netbandit.studies.papers.claim_text import KINDS
    from netbandit.studies.papers.reproduce import UNTIL_DECIDED
    from netbandit.studies.papers.reproduce import reproduce as reproduced
    from netbandit.util.text import print_line

    name = (what or "").partition("/")[0]
    papers = _papers(what)
    folder = out if out is not None else Path("results") / (name or "papers")
    judgements: list[tuple[str, Judgement]] = []
    failures: list[FailedRun] = []
    recording = None if record is None else _Recording(record, budget)
    console = Console()
    for paper in papers:
        print_line(console, f"{paper.name}: {paper.title}")
        print_line(console, f"setting: {paper.setting}")
        if len(paper.figures) > 1 and recording is None:
            _list_figures([paper], replications, jobs, tried=False)
        for part in [paper] if recording is None else recording.missing(paper):
            found, failed = reproduced(
                part,
                folder if name else folder / paper.name,
                replications=replications,
                looks=UNTIL_DECIDED if until_decided else (1,),
                jobs=jobs,
                reporting=lambda: ProgressReport(console_on_stderr),
                tell=lambda text: print_line(console, text),
                verbose=verbose,
                ended=None if recording is None else recording.ended(part),
            )
            judgements += [(paper.name, judgement) for judgement in found]
            failures += failed
    files = write_claims(folder, judgements)
    if judgements:
        _show_verdicts(judgements, several=len(papers) > 1)
    for kind, (noun, rest) in KINDS.items():
        verdicts = [judgement.verdict for _, judgement in judgements if judgement.claim.kind == kind]
        counts = ", ".join(_said_of(verdicts.count(each), each) for each in dict.fromkeys(verdicts))
        if verdicts:
            click.echo(f"{pluralize(len(verdicts), noun)}{rest}: {counts}")
    if not judgements:
        click.echo("no claim")
    click.echo(f"results: {folder}, {', '.join(file.name for file in files)} and the pictures of the figures")
    report_failed(failures)
    return bool(failures)


class _Recording:
    """Figures that are added to a record as they end.

    Args:
        file: The record, which may be there.
        budget: The seconds of computing after which no further figure begins; None: no limit.

    Raises:
        PaperRecordError: The file is something else.
    """

    def __init__(self, file: Path, budget: float | None) -> None:
        from netbandit.studies.papers.record import read

        self._file, self._left = file, math.inf if budget is None else budget
        self._before = read(file)

    def missing(self, paper: "Paper") -> "Iterator[Paper]":
        """Yield *paper* with one unrecorded figure at a time; print which are left out, and why."""
        from netbandit.studies.papers.record import current

        for figure, found in current(self._before, paper):
            if found is not None:
                click.echo(f"{paper.name}/{figure.id}: recorded {found.at}")
            elif self._left <= 0:
                click.echo(f"{paper.name}/{figure.id}: not run, the budget is spent")
            else:
                yield paper.only(figure.id)

    def ended(self, paper: "Paper") -> "Ended":
        """Return the function that records a figure of *paper*."""
        from netbandit.studies.papers.record import keep, recorded

        def ended(figure: "Figure", runs: "FigureRuns", judgements: "Sequence[Judgement]") -> None:
            self._left -= runs.seconds
            if not runs.failed:
                keep(self._file, recorded(paper, figure, runs, judgements))

        return ended


def _papers(what: str | None) -> "list[Paper]":
    """Return the papers, or the figure of one, that *what* names."""
    from netbandit.studies.papers.figures import load_paper, paper_names

    name, _, figure = (what or "").partition("/")
    papers = [load_paper(each) for each in ([name] if name else paper_names())]
    return [paper.only(figure) for paper in papers] if figure else papers


def _list_papers() -> None:
    """Print a line for each paper, and how to reproduce one."""
    from netbandit.studies.papers.record import current, shipped
    from netbandit.util.units import rough_time

    papers = _papers(None)
    width = max(len(paper.name) for paper in papers)
    for paper in papers:
        found = [one for _, one in current(shipped(), paper)]
        seconds = [one.seconds for one in found if one is not None and one.seconds is not None]
        time = f", {rough_time(sum(seconds))} on one core when recorded" if len(seconds) == len(found) else ""
        size = f"{pluralize(len(paper.figures), 'figure')}, {pluralize(len(paper.claims), 'claim')}{time}"
        click.echo(f"{paper.name:<{width}}  {paper.title}\n{'':<{width}}  {size}")
    click.echo(
        "netbandit reproduce PAPER runs one of them, PAPER/FIGURE a figure, --all all; PAPER --estimate lists figures"
    )


def _list_figures(papers: "Sequence[Paper]", replications: int | None, jobs: int, *, tried: bool) -> None:
    """Print the figures of each paper, and the time of each."""
    from netbandit.studies.papers.overview import figure_lines
    from netbandit.util.process import cores

    workers = jobs or cores()
    for paper in papers:
        click.echo(f"figures of {paper.name}, {'estimated ' if tried else ''}on {pluralize(workers, 'core')}:")
        for line in figure_lines(paper, replications, workers, tried=tried):
            click.echo(line)


_WIDTH = 80
"""Columns of the table of verdicts, wherever it is printed."""


def _said_of(number: int, verdict: str) -> str:
    """Return how many claims have a verdict: ``1 holds``, ``2 do not hold``."""
    plural = {"holds": "hold", "does not hold": "do not hold"}
    return f"{number} {verdict if number == 1 else plural.get(verdict, verdict)}"


def _show_verdicts(judgements: "Sequence[tuple[str, Judgement]]", *, several: bool) -> None:
    """Print a table of the verdicts: the claim, whether it holds, and its figure."""
    from rich.console import Console
    from rich.text import Text

    from netbandit.results.columns import plain_table
    from netbandit.studies.papers.claim_text import tagged

    table = plain_table()
    table.add_column("claim")
    for heading in ("verdict", "figure"):
        table.add_column(heading, no_wrap=True)
    for paper, judgement in judgements:
        claim = judgement.claim
        figure = f"{paper}/{claim.figure}" if several else claim.figure
        table.add_row(*map(Text, (f"{tagged(claim)}: {claim.says}", judgement.verdict, figure)))
    Console(width=_WIDTH, highlight=False).print(table)
