"""How the command begins: Ctrl-C while it is still being imported, Python's search for garbage cycles, and imports."""

import atexit
import gc
import os
import signal
import sys
import threading
from types import FrameType

from netbandit.cli.exit_codes import INTERRUPTED


def end_at_once() -> None:
    """Let Ctrl-C end this process with a line, if no other handler is set and this is the command: nothing is lost."""
    if threading.current_thread() is not threading.main_thread() or not is_command():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` again, from where something may have to be kept; SIGTERM and SIGHUP too."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name in ("SIGTERM", "SIGHUP"):  # otherwise workers and their shared files would be left
            number = getattr(signal, name, None)  # there is no SIGHUP on Windows
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores it
                signal.signal(number, lambda number, frame: signal.raise_signal(signal.SIGINT))


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"\nstopped\n")
    os._exit(INTERRUPTED)


def search_rarely() -> None:
    """Let this process, if it is the command, look for garbage cycles rarely, and not when it ends.

    Cycles are few, and imported modules are no garbage: to scan all of them again and again, and once
    more at the end, takes a fifth of the time in which a small scenario is checked.
    """
    if is_command():
        gc.set_threshold(200_000, 20, 20)
        atexit.register(gc.freeze)  # first in, last out: nothing is left to be done after it


def import_sparingly() -> None:
    """Let libraries that this process imports, if it is the command, leave out what no command uses.

    That is threads for linear algebra, which runs have in one thread anyway, and looking through all packages
    that are installed for plugins of pydantic's. What the user has set in the environment stays.
    """
    if is_command():
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def is_command() -> bool:
    """Return whether this process is the command, not a program that imports it."""
    program = sys.argv[0] if sys.argv else ""
    named = os.path.basename(program) in ("netbandit", "netbandit.exe", "-m")
    return named or program.endswith(os.path.join("netbandit", "__main__.py"))
