"""The commands. Each imports what it needs when it runs, so that ``--help`` is there at once."""

import sys

from netbandit.cli import startup  # before all else: Ctrl-C may come at once
from netbandit.parts import describing
from netbandit.simulation.execution import ExecutionError, execution

startup.end_at_once()
startup.search_rarely()
startup.import_sparingly()
if startup.is_command() and sys.argv[1:2] in (["check"], ["run"]):
    describing.described = False

import click

import netbandit
from netbandit.cli.auditing import audit
from netbandit.cli.checking import check, parts, schema
from netbandit.cli.commands import Commands
from netbandit.cli.emulating import emulate
from netbandit.cli.folders import clean, merge
from netbandit.cli.loads import links, nodes
from netbandit.cli.papers import reproduce
from netbandit.cli.results import compare, plot, report, trace
from netbandit.cli.running import run
from netbandit.cli.searching import optimize
from netbandit.cli.suite import suite
from netbandit.cli.swarm import swarm
from netbandit.cli.tables import table
from netbandit.cli.topologies import topology


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(netbandit.__version__, prog_name="netbandit")
def main() -> None:
    """Simulate agents that learn together over a network.

    What do delay, topology, a communication budget and privacy cost in regret?
    """
    try:
        execution()
    except ExecutionError as error:
        raise click.UsageError(str(error)) from None


GROUPS = {
    "A study": (check, run, table, compare, plot, report),
    "Look inside": (trace, links, nodes, topology),
    "Evidence and upkeep": (optimize, emulate, audit, reproduce, suite, swarm, parts, schema, merge, clean),
}
for heading, commands in GROUPS.items():
    main.add_group(heading, commands)
