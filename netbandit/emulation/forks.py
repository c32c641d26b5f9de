"""Processes that are forks of this one, and end with it."""

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Found = TypeVar("Found")

_SET_PDEATHSIG, _SET_TIMERSLACK = 1, 29


def fork() -> int:
    """Fork this process: threads of numerical libraries, of which newer versions of Python warn, hold nothing then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def become(parent: int) -> None:
    """Make this process one that ends with its *parent*, sleeps precisely, and leaves signals to the parent."""
    import ctypes

    library = ctypes.CDLL(None)
    library.prctl(_SET_PDEATHSIG, signal.SIGKILL)
    library.prctl(_SET_TIMERSLACK, 1)
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def leave() -> None:
    """End this process after an error, which is told on stderr."""
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def apart(act: Callable[[], Found]) -> Found:
    """Return what *act* returns in a process of its own, or raise what it raises there.

    What it leaves in memory is not in this process then, and in none that is forked of it.
    """
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, act, os.getpid()))
    with warnings.catch_warnings():  # see `fork`
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    theirs.close()
    try:
        good, found = ours.recv()
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()
    if not good:
        raise found
    answer: Found = found
    return answer


def _answer(to: Connection, act: Callable[[], Any], parent: int) -> None:
    become(parent)
    try:
        to.send((True, act()))
    except Exception as error:
        to.send((False, error))
