"""Processes that are forks of this one, and end with it."""

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Found = TypeVar("Found")

_SET_PDEATHSIG, _SET_TIMERSLACK = 1, 29


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait for the end of the body, in which processes are forked.

    What they raise within `os.fork` is lost; and threads of numerical libraries, of which newer versions of Python warn
    there, hold nothing.
    """
    noted: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda number, frame: noted.append(number))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for arrived in noted:
        signal.raise_signal(arrived)


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
    try:
        with undisturbed():
            process.start()
            theirs.close()
        good, found = ours.recv()
    finally:
        if process.pid is not None:
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
