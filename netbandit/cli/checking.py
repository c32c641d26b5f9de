"""``netbandit check``, ``schema`` and ``parts``: the keys of scenarios, and mistakes in them."""

import inspect
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netbandit.cli.common import checked, plain_errors, set_option, valid_and_mistakes, working
from netbandit.cli.exit_codes import FAILURE, fail
from netbandit.util.text import one_line, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable

    from netbandit.checks.check import RunPlan
    from netbandit.parts.metric import MetricEntry
    from netbandit.simulation.replication import RunnablePoint


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@set_option
@click.option("--execution", is_flag=True, help="Show what is compiled or processed in bulk, and why the rest is not.")
@click.option(
    "--no-own-code",
    is_flag=True,
    help="Import no code but netbandit's, as for a scenario that you do not trust; says what is not checked then.",
)
def check(files: tuple[str, ...], changes: tuple[str, ...], execution: bool, no_own_code: bool) -> None:
    """Check scenarios: which are valid, and all errors of the others."""
    from netbandit.scenario.errors import ScenarioError

    with plain_errors():
        studies, mistakes = valid_and_mistakes(files, changes, own_code=not no_own_code)
        for file, study in studies:
            runs = sum(point.resolved["run"]["replications"] for point in study.points)
            if study.unchecked:
                click.echo(f"{file}: no error found, but {pluralize(study.unchecked, 'point')} checked only in part")
            else:
                click.echo(f"{file}: ok, {pluralize(len(study.points), 'point')}, {pluralize(runs, 'run')}")
            for note in study.notes:
                click.echo(note)
            if any(point.resolved.get("links", {}).get("peer", {}).get("radio") for point in study.points):
                from netbandit.checks.air_plan import air_plan

                _show(study, air_plan)
            if execution:
                from netbandit.checks.execution_plan import execution_plan

                _show(study, execution_plan)
        if mistakes:
            raise ScenarioError(mistakes)


def _show(study: "RunPlan", lines_of: "Callable[[RunnablePoint], list[str]]") -> None:
    """Print lines on the points of a study: once for all at which they are the same, with what these have in common."""
    from netbandit.results.numbers import cell

    groups: dict[tuple[str, ...], list[RunnablePoint]] = {}
    for point in study.points:
        groups.setdefault(tuple(lines_of(point)), []).append(point)
    for lines, points in groups.items():
        first = points[0].parameters
        common = [key for key, value in first.items() if all(point.parameters.get(key) == value for point in points)]
        named = ", ".join(f"{key} = {cell(first[key])}" for key in common) if len(groups) > 1 else ""
        where = f"{named}: " if named else ""
        for line in lines:
            click.echo(f"  {one_line(where + line)}")


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from netbandit.checks.check import schema as scenario_schema

    click.echo(json.dumps(scenario_schema(), indent=2))


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--compile",
    "ahead",
    is_flag=True,
    help="Compile what runs of the scenarios in the files NAME need, or of all built-in learners, before they are run.",
)
def parts(names: tuple[str, ...], ahead: bool) -> None:
    """List the parts and tables of scenarios, and their keys.

    Those of installed packages are among them. With NAMES such as learner.ucb or topology.ring, the keys of these parts
    with type, default and meaning; with a table or a key, such as faults, links.peer or run.until, the same; with the
    name of a metric, its meaning; with metrics, all metrics.
    """
    if ahead:
        _compile(names)
        return
    if names:
        for name in names:
            click.echo(_described(name))
        return
    from netbandit.parts.registry import BUILT_IN, condition_classes
    from netbandit.scenario.links import LinksSettings
    from netbandit.scenario.model import RunSettings

    click.echo("\n".join(map(_kinds, BUILT_IN)))
    click.echo("tables")
    for table, settings in {"run": RunSettings, "links": LinksSettings, **condition_classes()}.items():
        what = (settings.__doc__ or "").strip().partition("\n")[0].removeprefix(f"``[{table}]``: ")
        click.echo(f"  {table:<18}{what}")


def _kinds(table: str) -> str:
    """Return the kinds of a part, a line each."""
    from netbandit.parts.registry import kind_key, named_parts

    lines = [f"{table}.{kind_key(table)}"]
    for part in named_parts(table):
        what = part.problem if part.found is None else (part.found.__doc__ or "").strip().partition("\n")[0]
        of = f" [{one_line(part.package)}]" if part.package else ""
        lines.append(f"  {one_line(part.kind):<18}{one_line(what)}{of}")
    return "\n".join(lines)


def _compile(files: Sequence[str]) -> None:
    """Compile what runs of the scenarios in *files* need, or those of all built-in learners."""
    from numba.core import event

    from netbandit.running.estimate import estimate
    from netbandit.simulation.execution import executed
    from netbandit.testing.scenes import scenes_of_learners

    with plain_errors():
        studies = checked(files, [])
    points = [point for study in studies for point in study.points]
    points = points if files else [scene.point for scene in scenes_of_learners()]
    with working("compiling"), executed("compiled"), event.install_recorder("numba:compile") as recorder:
        found = estimate(points, most=len(points))
    for line in found.failed:
        click.echo(line, err=True)
    made = len(recorder.buffer) // 2  # each begins and ends
    click.echo(f"{pluralize(made, 'function')} compiled, once on this machine" if made else "all is compiled already")
    if found.failed:
        sys.exit(FAILURE)


def _described(name: str) -> str:
    """Return what Python's ``help`` shows of a part, a table or a key; or the entry of one metric, or of all."""
    from netbandit.parts.registry import BUILT_IN, KindError, condition_classes, kind_key, part_class
    from netbandit.parts.validation import help_of_key
    from netbandit.results.metrics import catalogue
    from netbandit.scenario.model import scenario_model
    from netbandit.util.wording import did_you_mean

    entries = catalogue()
    if name == "metrics" or name in entries:
        return "\n".join(_of_metric(each, entry) for each, entry in entries.items() if name in ("metrics", each))
    table, _, kind = name.partition(".")
    if table in BUILT_IN and kind in ("", kind_key(table)):
        return _kinds(table)
    try:
        if table in BUILT_IN:
            return f"{name}: {inspect.getdoc(part_class(table, kind, Path())) or ''}\n"
        scenario = scenario_model(tuple(condition_classes((table,)).items()))
        if table not in scenario.model_fields:
            what = "metrics, the name of a metric, a table or key such as links.peer, or a part such as learner.ucb"
            hint = did_you_mean(name, [*entries, *BUILT_IN, *scenario.model_fields])
            raise LookupError(f"must be {what}{hint}")
        return f"{help_of_key(scenario, tuple(name.split('.')))}\n"
    except (KindError, LookupError) as error:
        fail(f"{name}: {error}")


def _of_metric(name: str, entry: "MetricEntry") -> str:
    unit = f" ({entry.unit})" if entry.unit else ""
    return f"{name}{unit}: {entry.meaning} Given by {entry.given_by}."
