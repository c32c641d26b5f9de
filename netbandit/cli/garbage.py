"""Python's search for garbage cycles, in a process that is the command and ends soon."""

import atexit
import gc

from netbandit.cli.interrupts import is_command


def search_rarely() -> None:
    """Let this process, if it is the command, look for cycles rarely, and not when it ends.

    Cycles are few, and imported modules are no garbage: to scan all of them again and again, and once
    more at the end, takes a fifth of the time in which a small scenario is checked.
    """
    if is_command():
        gc.set_threshold(50_000, 20, 20)
        atexit.register(gc.freeze)  # first in, last out: nothing is left to be done after it
