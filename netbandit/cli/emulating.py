"""``netbandit emulate``: a scenario in real processes over real sockets."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from netbandit.cli.commands import ManyOptions
from netbandit.cli.common import FiniteRange, checked, plain_errors, set_option
from netbandit.cli.exit_codes import FAILURE, NO_END, fail
from netbandit.util.extras import require
from netbandit.util.text import pluralize

if TYPE_CHECKING:
    from netbandit.studies.emulation.emulation import Emulation


def _dilation(context: click.Context, param: click.Parameter, value: str) -> float | None:
    if value == "auto":
        return None
    return float(FiniteRange(min=1, max=1e6).convert(value, param, context))


def _tolerance(context: click.Context, param: click.Parameter, value: str) -> float:
    percent = FiniteRange(min=0.1, max=100).convert(value.removesuffix("%").strip(), param, context)
    return float(percent) / 100


@click.command(cls=ManyOptions)
@click.argument("file", metavar="FILE")
@set_option
@click.option(
    "--transport",
    type=click.Choice(["tcp", "udp"]),
    default="tcp",
    show_default=True,
    help="The transport protocol of the sockets.",
)
@click.option(
    "--dilation",
    callback=_dilation,
    default="auto",
    show_default=True,
    metavar="auto|X",
    help="Real seconds for each simulated one; auto: as few as this host allows, which is measured first.",
)
@click.option(
    "--tolerance",
    callback=_tolerance,
    default="2%",
    show_default=True,
    metavar="P%",
    help="By how much the time of a round, a link and a receiver may differ.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write emulation.json and the picture into this folder; of results, so that their report has a section on it.",
)
@click.option(
    "--point",
    "place",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Which point of the sweep.",
)
@click.option(
    "--replication",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Which replication, counted from 0.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1, max=64),
    metavar="N",
    help="Number of processes among which the agents are divided.  [default: one for each agent]",
)
@click.option(
    "--retries",
    type=click.IntRange(min=0, max=10),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of further attempts, each at twice the dilation, if it does not finish.",
)
@click.option("--calibrate", is_flag=True, help="Measure this host although --dilation is given.")
def emulate(
    file: str,
    changes: tuple[str, ...],
    place: int,
    replication: int,
    transport: Literal["tcp", "udp"],
    dilation: float | None,
    tolerance: float,
    processes: int | None,
    retries: int,
    calibrate: bool,
    out: Path | None,
) -> None:
    """Run a scenario over real sockets, beside its simulation.

    What agents know and do, and the bytes of their messages, must be equal; times must be within their tolerance, as
    far as this host allows to say. Exit code 0: nothing differs; 1: something does; 2: the scenario cannot be emulated;
    3: the agents did not finish.
    """
    from netbandit.studies.emulation import (
        DiedError,
        DifferentChoiceError,
        NoEndError,
        RefusedError,
        StrangerError,
        emulate,
    )

    with plain_errors():
        require("emulate", "netbandit emulate")
        if out is not None:
            require("plots", "netbandit emulate --out")
        (study,) = checked([file], changes)
        if place > len(study.points):
            raise click.UsageError(f"--point {place}: there are {pluralize(len(study.points), 'point')}.")
        try:
            found = emulate(
                study.points[place - 1],
                replication=replication,
                transport=transport,
                dilation=dilation,
                tolerance=tolerance,
                processes=processes,
                retries=retries,
                calibrate=calibrate,
                says=lambda text: click.echo(text, err=True),
            )
        except RefusedError as error:
            raise study.document.error(error.problems) from None
        except NoEndError as error:
            fail(error, NO_END)
        except (DifferentChoiceError, DiedError, StrangerError) as error:
            fail(error, FAILURE)
        _show(found)
        for path in [] if out is None else found.save(out):
            click.echo(f"written: {path}", err=True)
    if not found.equal:
        sys.exit(FAILURE)


def _show(found: "Emulation") -> None:
    from rich.console import Console
    from rich.text import Text

    from netbandit.results.columns import plain_table

    console = Console(highlight=False)
    table = plain_table()
    for heading in ("", "comparison", "simulated", "emulated", "verdict"):
        table.add_column(heading, justify="right" if heading in ("simulated", "emulated") else "left")
    latest = ""
    for row in found.rows:
        table.add_row(*map(Text, ("" if row.basis == latest else row.basis, *row[1:5])))
        latest = row.basis
    console.print(table)
    wire = plain_table()
    for heading in ("on the wire", "expected", "counted"):
        wire.add_column(heading, justify="left" if heading == "on the wire" else "right")
    for line in found.wire_rows:
        wire.add_row(line.quantity, f"{line.expected:,}", f"{line.counted:,}")
    console.print(wire)
    click.echo(f"processes: {found.processes}, transport: {found.transport}, dilation: {found.dilation:g}")
    for note in found.notes:
        click.echo(f"note: {note}")
