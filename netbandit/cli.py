"""The commands. Each imports what it needs when it runs, so that ``--help`` is there at once."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netbandit

if TYPE_CHECKING:
    from netbandit.simulation.parts import Study
    from netbandit.study.claims import Judgement
    from netbandit.study.results import StudyResult
    from netbandit.study.sweep import FailedRun, SweepResult

MISTAKE = 2
"""The exit code of a mistake of the user: in a scenario or on the command line."""

FAILURE = 1
"""The exit code where something could not be done: a run failed, or results could not be written."""

INTERRUPTED = 130
"""The exit code of a shell's command that Ctrl-C has ended."""

_set = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the scenario; VALUE is read as TOML, a bare word is a string. May be given several times.",
)


_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(netbandit.__version__, prog_name="netbandit")
def main() -> None:
    """Simulate agents that learn together over a network.

    What do delay, topology, a communication budget and privacy cost in regret?
    """


@main.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@_set
@click.option("--seed", metavar="N", help="The root seed; short for --set run.seed=N.")
@click.option("--replications", metavar="N", help="Independent repetitions; short for --set run.replications=N.")
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that run at once; 0 means one for each core.",
)
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Use the workers of this dask scheduler.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder of the results; with several FILEs, of their folders.  [default: results/NAME]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, and all else on stderr.")
@click.option("--parquet", is_flag=True, help="Write table.parquet too; needs the extra netbandit[parquet].")
@click.option("--trace", is_flag=True, help="Write every message and phase of every run to trace.jsonl in its folder.")
def run(
    files: tuple[str, ...],
    changes: tuple[str, ...],
    seed: str | None,
    replications: str | None,
    jobs: int,
    scheduler: str | None,
    out: Path | None,
    as_json: bool,
    parquet: bool,
    trace: bool,
) -> None:
    """Run scenarios and their sweeps.

    Runs that are already in the folder of the results are not done again.
    """
    if parquet and find_spec("pyarrow") is None:
        raise click.UsageError("--parquet needs pyarrow: pip install 'netbandit[parquet]'.")
    if as_json and len(files) > 1:
        raise click.UsageError("--json prints the object of one scenario: give one FILE.")
    overrides = [*changes]
    overrides += [f"run.seed={seed}"] if seed is not None else []
    overrides += [f"run.replications={replications}"] if replications is not None else []
    with _plain_errors():
        studies = _checked(files, overrides)
        folders = _folders(files, studies, out)
        failed = False
        for study, folder in zip(studies, folders, strict=True):
            failed |= not _run(study, folder, jobs, scheduler, trace, parquet, as_json)
    if failed:
        sys.exit(FAILURE)


@main.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@_set
def check(files: tuple[str, ...], changes: tuple[str, ...]) -> None:
    """Say whether scenarios are valid, and what is wrong with them."""
    with _plain_errors():
        for file, study in zip(files, _checked(files, changes), strict=True):
            runs = sum(point.resolved["run"]["replications"] for point in study.points)
            click.echo(f"{file}: ok, {_count(len(study.points), 'point')}, {_count(runs, 'run')}")
            for note in study.notes:
                click.echo(note)


@main.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from netbandit.simulation.parts import schema as scenario_schema

    click.echo(json.dumps(scenario_schema(), indent=2))


@main.command()
@_folder
@click.argument("where", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--x", metavar="KEY|METRIC", help="What is across: a key that varies, or a metric.")
@click.option("--y", metavar="METRIC", help="What is upward.  [default: regret]")
@click.option("--color", metavar="KEY", help="What the colours tell apart: a key that varies.")
def plot(folder: Path, where: tuple[str, ...], x: str | None, y: str | None, color: str | None) -> None:
    """Draw the pictures of a folder of results.

    Which there are is up to what the sweep varies. With --x, --y or --color one picture of just that is drawn, of those
    points that have the VALUEs given.
    """
    from netbandit.study import plots
    from netbandit.study.files import storage

    _results(folder, details=False)
    fixed = _values(where, "which points to draw")
    with _plain_errors(), storage(folder):
        try:
            if x or y or color or fixed:
                files = plots.plot_against(folder, x, y, color, where=fixed)
            else:
                files = plots.plot_folder(folder)
        except plots.UnknownNameError as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(MISTAKE)
        for path in files:
            click.echo(str(path))


@main.command()
@_folder
@click.argument("against", metavar="[KEY=VALUE]...", nargs=-1)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="What to compare.  [default: regret]")
def compare(folder: Path, against: tuple[str, ...], metrics: tuple[str, ...]) -> None:
    """Show how much the points of a folder of results differ, pair by pair.

    Each point is compared with the one that has the VALUEs given and is like it in all other keys; without any, with
    the first point. The same replication has the same random numbers at both, so their difference is known better than
    either mean.
    """
    from rich.console import Console

    from netbandit.study.compare import CompareError, differences, parameters_of, show_differences, whole_keys
    from netbandit.study.frame import Results

    table = Results.of(_results(folder, details=False))
    given = _values(against, "what to compare with")
    try:
        wanted = whole_keys(given, parameters_of(table)) if given else None
        for metric in metrics or ("regret",):
            show_differences(differences(table, metric, wanted), metric, wanted, Console(highlight=False))
    except CompareError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(MISTAKE)


@main.command()
@click.argument("place", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--format", "layout", type=click.Choice(["perfetto"]), default="perfetto", show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="The file to write.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Lines of the trace to take, messages and phases together.  [default: 100000]",
)
def trace(place: Path, layout: str, out: Path | None, limit: int | None) -> None:
    """Show what happened in a run, on a page that opens in a browser.

    RUN is a run folder, its trace.jsonl, or a folder of results, of which the first traced run is taken; run --trace
    writes traces. The file opens at https://ui.perfetto.dev and in chrome://tracing: a track for each agent with what
    it explores and exploits, arrows for messages, and the rounds.
    """
    from netbandit.study import perfetto
    from netbandit.study.trace import TraceError

    with _plain_errors():
        try:
            source = perfetto.find_trace(place)
            target = out if out is not None else source.parent / perfetto.PICTURE
            made = perfetto.convert(source, target, limit if limit is not None else perfetto.LIMIT)
        except TraceError as error:
            click.echo(str(error), err=True)
            sys.exit(MISTAKE)
    found = (_count(made.messages, "message"), _count(made.phases, "phase"), _count(made.rounds, "round"))
    click.echo(f"trace: {source}")
    click.echo(f"{layout}: {made.path}, {', '.join(found)}; open it at https://ui.perfetto.dev")
    if made.lines < made.total:
        click.echo(
            f"only the first {made.lines} of {made.total} lines of the trace are in it; --limit {made.total} takes all",
            err=True,
        )


@main.command()
@_folder
def report(folder: Path) -> None:
    """Write report.html, one page about a folder of results that needs nothing but itself."""
    study = _results(folder)
    from netbandit.study.report import write_report

    with _plain_errors():
        click.echo(str(write_report(folder, study)))


@main.command()
@click.argument("source", metavar="FILE-OR-FAMILY")
@click.option("--agents", metavar="N", help="The number of agents.")
@_set
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw it into this .png or .svg file.",
)
def topology(source: str, agents: str | None, changes: tuple[str, ...], picture: Path | None) -> None:
    """Show what a topology is like, and what a round of GIS costs on it.

    FILE-OR-FAMILY is the name of a family (netbandit topology ring --agents 50), a scenario, or a graph file. Keys of
    a family are given by --set: --set p=0.1.
    """
    from netbandit.study import graphs
    from netbandit.study.files import storage

    if picture is not None and picture.suffix.lower() not in (".png", ".svg"):
        raise click.UsageError(f"--plot draws a .png or an .svg file, not {picture}.")
    with _plain_errors():
        graph = graphs.graph_of(source, agents, changes)
        lines = graphs.figures(graph.topology)
        width = max(len(name) for name, _ in lines)
        for name, value in lines:
            click.echo(f"{name:<{width}}  {value}")
        if picture is not None:
            with storage(picture):
                graphs.draw(source, graph, picture)
            click.echo(f"picture: {picture}")


@main.command()
@click.argument("what", metavar="[PAPER[/FIGURE]]", required=False)
@click.option("--replications", type=click.IntRange(min=1), metavar="N", help="Runs of each point.  [default: its own]")
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Processes that run at once; 0 means one for each core.  [default: 0]",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The folder of the results.  [default: results/PAPER]"
)
def reproduce(what: str | None, replications: int | None, jobs: int, out: Path | None) -> None:
    """Run the figures of a paper and say which of its claims hold.

    Prints a line for each claim, draws each figure, and writes claims.csv. Without a PAPER all papers are reproduced.
    """
    from netbandit.study.papers import PaperError

    try:
        with _plain_errors():
            failed = _reproduce(what, replications, jobs, out)
    except PaperError as error:
        click.echo(str(error), err=True)
        sys.exit(MISTAKE)
    if failed:
        sys.exit(FAILURE)


def _reproduce(what: str | None, replications: int | None, jobs: int, out: Path | None) -> bool:
    """Reproduce one paper, one of its figures, or all papers; return whether a run failed."""
    from rich.console import Console

    from netbandit.study import reproduce as study
    from netbandit.study.papers import load_paper, paper_names
    from netbandit.study.progress import ProgressReport

    name, _, figure = (what or "").partition("/")
    papers = [load_paper(each) for each in ([name] if name else paper_names())]
    papers = [paper.only(figure) for paper in papers] if figure else papers
    folder = out if out is not None else Path("results") / (name or "papers")
    judgements: list[tuple[str, Judgement]] = []
    failures: list[FailedRun] = []
    for paper in papers:
        click.echo(f"{paper.name}: {paper.title}")
        found, failed = study.reproduce(
            paper,
            folder if name else folder / paper.name,
            replications=replications,
            jobs=jobs,
            reporting=lambda: ProgressReport(Console(stderr=True)),
            tell=click.echo,
        )
        judgements += [(paper.name, judgement) for judgement in found]
        failures += failed
    files = study.write_claims(folder, judgements)
    verdicts = [judgement.verdict for _, judgement in judgements]
    counts = ", ".join(f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts))
    click.echo(f"{_count(len(verdicts), 'claim')}: {counts}" if verdicts else "no claim")
    click.echo(f"results: {folder}, {', '.join(file.name for file in files)} and the pictures of the figures")
    _report_failed(failures)
    return bool(failures)


@main.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list on stdout.")
def bench(name: str | None, as_json: bool) -> None:
    """Measure how fast the simulator is on this machine; all benchmarks without NAME."""
    import json

    from netbandit.study.bench import catalogue

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


def _results(folder: Path, details: bool = True) -> "StudyResult":
    """Return the results in *folder*, or say what is wrong with it: that is a mistake of the user."""
    from netbandit.study.results import load_finished

    try:
        return load_finished(folder, details)
    except (FileNotFoundError, ValueError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(MISTAKE)


def _checked(files: Sequence[str], overrides: Sequence[str]) -> "list[Study]":
    """Return the checked scenarios, or raise all mistakes of all files at once."""
    from rich.console import Console

    from netbandit.scenario.errors import ScenarioError
    from netbandit.scenario.load import load
    from netbandit.simulation.parts import check as check_scenario
    from netbandit.study.progress import reading

    studies: list[Study] = []
    lines: list[str] = []
    for file in files:
        try:
            with reading(Console(stderr=True)) as watch:
                studies.append(check_scenario(load(file, overrides), watch))
        except ScenarioError as error:
            lines += error.lines
    if lines:
        raise ScenarioError(dict.fromkeys(lines))
    return studies


def _values(entries: Sequence[str], what: str) -> dict[str, str]:
    """Return the values by key of *entries*, which say *what* the user means."""
    if not all("=" in entry for entry in entries):
        raise click.UsageError(f"Give {what} as KEY=VALUE, such as topology.family=star.")
    return dict(entry.partition("=")[::2] for entry in entries)


def _folders(files: Sequence[str], studies: "Sequence[Study]", out: Path | None) -> list[Path]:
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


def _run(
    study: "Study", folder: Path, jobs: int, scheduler: str | None, trace: bool, parquet: bool, as_json: bool
) -> bool:
    """Run one scenario and show what it found; return whether all runs came to their end."""
    from rich.console import Console

    from netbandit.study import sweep
    from netbandit.study.display import show
    from netbandit.study.progress import ProgressReport
    from netbandit.study.summary import as_json as object_of

    with ProgressReport(Console(stderr=True)) as progress:
        result = sweep.run(study, folder, jobs=jobs, scheduler=scheduler, trace=trace, progress=progress)
    if as_json:
        click.echo(json.dumps(object_of(result.study), indent=2, allow_nan=False))
    if parquet:
        from netbandit.study.frame import write_parquet

        write_parquet(folder, result.study)
    finished = any(point.finished for point in result.study.points)
    if finished:
        show(result.study, Console(stderr=as_json, highlight=False))
    known = f" ({_count(result.reused, 'run')} of {result.reused + result.done} already there)" if result.reused else ""
    click.echo(f"results: {folder}{known}", err=as_json)
    drawn = _draw(folder, as_json) if finished else True
    _report_failures(result)
    return drawn and not result.failed


def _draw(folder: Path, as_json: bool) -> bool:
    """Draw the pictures of *folder*; the results stand whether or not that works."""
    from netbandit.study.plots import plot_folder

    try:
        pictures: dict[Path, list[str]] = {}
        for path in plot_folder(folder):
            pictures.setdefault(path.with_suffix(""), []).append(path.suffix)
        for stem, suffixes in pictures.items():
            click.echo(f"picture: {', '.join([f'{stem}{suffixes[0]}', *suffixes[1:]])}", err=as_json)
    except Exception as error:
        click.echo(f"the pictures could not be drawn: {type(error).__name__}: {error}", err=True)
        return False
    return True


def _report_failures(result: "SweepResult") -> None:
    _report_failed(result.failed)


def _report_failed(failed: "Sequence[FailedRun]") -> None:
    from netbandit.study.table import cell

    if failed:
        click.echo(f"{_count(len(failed), 'run')} failed; the same command tries again:", err=True)
    for run in failed:
        point = ", ".join(f"{key} = {cell(value)}" for key, value in run.parameters.items())
        report = f" (see {run.failure.report})" if run.failure.report is not None else ""
        where = f"{point}, replication {run.replication}" if point else f"replication {run.replication}"
        click.echo(f"  {where}: {run.failure.text}{report}", err=True)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Tell what the user can do something about in plain lines, and end with the exit code that belongs to it."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        click.echo(f"\nstopped{_how_far(interrupt)}", err=True)
        sys.exit(INTERRUPTED)
    except Exception as error:
        from netbandit.scenario.errors import ScenarioError

        if isinstance(error, ScenarioError):
            for line in error.lines:
                click.echo(line, err=True)
            sys.exit(MISTAKE)
        from netbandit.study.cluster import SchedulerError
        from netbandit.study.files import StorageError

        if isinstance(error, SchedulerError | StorageError):
            click.echo(str(error), err=True)
            sys.exit(FAILURE)
        raise


def _how_far(interrupt: KeyboardInterrupt) -> str:
    from netbandit.study.sweep import Interrupted

    if not isinstance(interrupt, Interrupted):
        return ""
    return f": {interrupt.finished} of {_count(interrupt.total, 'run')} are done; the same command goes on from there"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
