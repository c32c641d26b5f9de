"""The exit codes of commands, and ending with one."""

import sys
from typing import NoReturn

MISTAKE = 2
"""The exit code of a mistake of the user: in a scenario or on the command line."""

FAILURE = 1
"""The exit code where something could not be done: a run failed, or results could not be written."""

NO_END = 3
"""The exit code of an emulation whose agents did not finish."""

INTERRUPTED = 130
"""The exit code of a shell's command that Ctrl-C has ended."""


def fail(error: object, code: int = MISTAKE) -> NoReturn:
    """Print the error on stderr, as click does for a mistake on the command line, and end with the exit *code*.

    Mistakes in a scenario stand at their place instead: ``FILE:LINE:COLUMN: ...``.
    """
    import click  # not before Ctrl-C is looked after, see `netbandit.cli.startup`

    click.echo(f"Error: {error}", err=True)
    sys.exit(code)
