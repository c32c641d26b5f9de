"""Selects how runs are executed: as `netbandit.simulation.dispatch` decides, or uniformly in one way.

The numbers are the same; uniform execution serves comparisons.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, cast, get_args

from netbandit.util.process import environment_variable

Execution = Literal["chosen", "plain", "compiled"]
"""``plain``: message by message, event by event, slot by slot; at most single steps are compiled. ``compiled``: in
compiled loops and in bulk, from the first hop on, wherever these support the run. ``chosen``: the same,
but only where it pays off."""

VARIABLE = "NETBANDIT_EXECUTION"
"""The variable of the environment that says how; it is not set: ``chosen``."""


class ExecutionError(ValueError):
    """The variable says something else."""


def execution() -> Execution:
    """Return how runs are executed.

    Raises:
        ExecutionError: `VARIABLE` says neither.
    """
    said = os.environ.get(VARIABLE) or "chosen"
    if said not in get_args(Execution):
        raise ExecutionError(f"{VARIABLE}={said}: must be plain or compiled, or not be set")
    return cast(Execution, said)


@contextmanager
def executed(how: Execution) -> Iterator[None]:
    """Have runs of this process, and of those that it starts, be executed in one way."""
    with environment_variable(VARIABLE, how):
        yield
