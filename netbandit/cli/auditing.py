"""``netbandit audit``: whether the data that leave an agent are as private as stated."""

import json
import sys
from itertools import count
from pathlib import Path

import click

from netbandit.cli.common import FiniteRange, checked, plain_errors, set_option, working
from netbandit.cli.exit_codes import FAILURE


@click.command()
@click.argument("mechanisms", metavar="[MECHANISM]...", nargs=-1)
@click.option(
    "--samples",
    type=click.IntRange(min=100),
    metavar="N",
    help="Number of releases, or runs, for each of the two inputs.",
)
@click.option(
    "--confidence",
    type=FiniteRange(0.5, 1.0, max_open=True),
    default=0.999,
    metavar="P",
    show_default=True,
    help="The confidence level of the lower bounds.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="The root seed.")
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list on stdout.")
@click.option(
    "--plot",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw the stated, exact and measured epsilon into this .png or .svg file.",
)
def audit(
    mechanisms: tuple[str, ...],
    samples: int | None,
    confidence: float,
    seed: int,
    changes: tuple[str, ...],
    as_json: bool,
    picture: Path | None,
) -> None:
    """Measure whether what is shared is as private as stated.

    An experiment gives a lower bound of epsilon. MECHANISM is elimination, tree-zcdp, tree-paper or pfcb; without any,
    all of them are audited. It may also be a scenario: then whole runs are audited, on two inputs that differ in one
    reward of one agent, by what this agent shares, whatever its learner, including your own. A quarter of the runs
    chooses the reward and the numbers that are tested, which are printed; the test leaves these runs out. The exit code
    is 1 if a bound exceeds what is stated.
    """
    from netbandit.studies.auditing.mechanisms import MECHANISMS
    from netbandit.util.extras import require

    if picture is not None and picture.suffix.lower() not in (".png", ".svg"):
        raise click.UsageError(f"--plot draws a .png or an .svg file, not {picture}.")
    files = [name for name in mechanisms if name not in MECHANISMS]
    for name in files:
        if not name.endswith(".toml"):
            known = ", ".join(MECHANISMS)
            raise click.UsageError(f"There is no mechanism {name!r}; there are {known}, or a scenario.toml.")
    if changes and not files:
        raise click.UsageError("--set changes a scenario: give one as MECHANISM.")
    with plain_errors():
        from netbandit.studies.auditing.audit import audit_mechanism, shipped

        if picture is not None:
            require("plots", "--plot")
        named = [name for name in mechanisms if name not in files]
        chosen = [*shipped(named)] if named or not files else []
        points = [point for study in checked(files, changes) for point in study.points]
        with working("auditing") as report:
            if points:
                from netbandit.studies.auditing.whole_runs import RUNS, whole_runs

                ended, total = count(1), 2 * len(points) * (samples or RUNS)
                chosen += [whole_runs(point, lambda: report(min(next(ended), total), total)) for point in points]
            audits = [audit_mechanism(one, samples=samples, confidence=confidence, seed=seed) for one in chosen]
        if picture is not None:
            from netbandit.studies.auditing.picture import save_picture

            save_picture(audits, picture)
            click.echo(f"picture: {picture}", err=True)
    if as_json:
        click.echo(json.dumps([one.as_json() for one in audits], indent=2, allow_nan=False))
    else:
        from rich.console import Console

        from netbandit.studies.auditing.display import show

        show(audits, Console())
    if any(one.caught for one in audits):
        sys.exit(FAILURE)
