"""Worker processes on this machine, which receive orders and answer through pipes: no port is opened.

A worker that dies is replaced. All end with the body that uses them, and with this process, however it ends.
"""

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum
from math import inf
from multiprocessing import current_process, forkserver, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, NamedTuple, TypeVar

from netbandit.results.held_folders import temporary_folder
from netbandit.user_code.errors import message
from netbandit.util.process import environment_variable

_OURS = ("PYTHONSAFEPATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables of the environment of workers, all 1: they find no module in the working directory before those of Python
and of libraries, and a process that forks has no threads."""

_prepared: dict[str, str] | None = None
"""The environment for which a process waits from which workers are forked."""

Key = TypeVar("Key")
Order = TypeVar("Order")
Answer = TypeVar("Answer")


class SchedulerError(Exception):
    """Processes cannot be started, or the scheduler at the given address cannot be used."""


class Lost(Enum):
    """Why an order has no answer."""

    DIED = "the worker process died"
    LATE = "the time limit was exceeded"


def prepare_workers() -> None:
    """Start a process that imports what workers need, and from which a `Pool` forks them.

    It runs while this process reads its scenarios, and is ready when they are. It is meant for commands: a process
    that lives longer may change its environment, so its workers are started afresh.
    """
    global _prepared
    if sys.platform != "linux":  # elsewhere libraries do not expect to be forked
        return
    before = dict(os.environ)
    with _as_workers_start(), suppress(OSError):  # if it cannot be started, workers cannot either
        config = current_process()._config  # type: ignore[attr-defined]  # its own folder would stay if we are killed
        if "tempdir" not in config:
            to_the_end = ExitStack()
            atexit.register(to_the_end.close)
            config["tempdir"] = str(to_the_end.enter_context(temporary_folder()))
        forkserver.set_forkserver_preload(["netbandit.running.preloaded"])
        forkserver.ensure_running()
        _prepared = before


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection

    def end(self) -> None:
        """Kill it at any point; files are written atomically."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Busy(NamedTuple, Generic[Key]):
    worker: _Worker
    key: Key
    since: float


class Pool(Generic[Order, Answer]):
    """Processes that answer orders; each is started on first use, and all end with the context.

    Args:
        count: The most processes.
        perform: What they do with an order: a function of a module, of the order and of a function that has a line
            told to the user. What it raises is raised here.
        tell: Called once with each distinct line reported by workers.
    """

    def __init__(
        self, count: int, perform: Callable[[Order, Callable[[str], None]], Answer], tell: Callable[[str], None]
    ) -> None:
        self.count = count
        self._perform, self._tell = perform, tell
        self._reported: set[str] = set()
        self._idle: list[_Worker] = []
        self._all: list[_Worker] = []

    def __enter__(self) -> "Pool[Order, Answer]":
        return self

    def __exit__(self, *_: object) -> None:
        with _interrupts_held_back(), _termination_ignored():
            for worker in self._all:
                worker.end()

    def answers(
        self, orders: Iterable[tuple[Key, Order]], at_once: int | None = None, limit: float = inf
    ) -> Iterator[tuple[Key, Answer | Lost]]:
        """Yield the key of each order as it ends, with its answer, or the reason why there is none.

        Args:
            orders: The orders with their keys, consumed as workers become free.
            at_once: The number of workers used; None: all.
            limit: The time limit (s) of an order.

        Raises:
            SchedulerError: No process can be started.
        """
        waiting = iter(orders)
        busy: dict[Connection, _Busy[Key]] = {}
        while True:
            while len(busy) < (at_once or self.count) and (following := next(waiting, None)) is not None:
                worker = self._given(following[1])
                busy[worker.connection] = _Busy(worker, following[0], time.monotonic())
            if not busy:
                return
            patience = min(one.since for one in busy.values()) + limit - time.monotonic()
            for ready in wait([*busy], None if limit == inf else max(0.0, patience)):
                assert isinstance(ready, Connection)
                try:
                    kind, content = ready.recv()
                except (EOFError, OSError):
                    kind, content = "answer", Lost.DIED
                    self._end(busy[ready].worker)
                if kind == "line":
                    if content not in self._reported:  # several workers report the same
                        self._reported.add(content)
                        self._tell(content)
                    continue
                done = busy.pop(ready)
                if content is not Lost.DIED:
                    self._idle.append(done.worker)
                if kind == "error":
                    raise content
                yield done.key, content
            for late in [one for one in busy.values() if time.monotonic() - one.since >= limit]:
                del busy[late.worker.connection]
                self._end(late.worker)
                yield late.key, Lost.LATE

    def _given(self, order: Order) -> _Worker:
        """Return the worker that now has *order*."""
        while True:
            worker = self._idle.pop() if self._idle else self._started()
            try:
                worker.connection.send(order)
            except OSError:  # it has died since
                self._end(worker)
            else:
                return worker

    def _started(self) -> _Worker:
        forked = _prepared == dict(os.environ)
        with _as_workers_start(), _can_start(self.count):
            ours, theirs = Pipe()
            context = get_context("forkserver") if forked else get_context("spawn")
            process = context.Process(target=_work, args=(theirs, self._perform), daemon=True)
            with theirs:
                process.start()
            worker = _Worker(process, ours)
            self._all.append(worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        worker.end()
        self._all.remove(worker)


def _work(connection: Connection, perform: Callable[[Any, Callable[[str], None]], Any]) -> None:
    """Answer incoming orders until the sender is gone."""
    end_with_parent()
    with suppress(EOFError, OSError):
        while True:
            order = connection.recv()
            try:
                answer = "answer", perform(order, lambda line: connection.send(("line", line)))
            except Exception as error:
                answer = "error", error
            sys.stdout.flush()  # what code of the user's own has printed: this process is killed when all is done
            connection.send(answer)


_WHEN_THE_PARENT_ENDS = 1
"""PR_SET_PDEATHSIG of Linux's prctl: no other system kills a process in the middle of a compiled loop."""


def end_with_parent() -> None:
    """Let the kernel kill this process as soon as its parent ends, for any reason."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_WHEN_THE_PARENT_ENDS, signal.SIGKILL)
    user = parent_process()  # the one that uses it, where a third one has forked it
    if user is not None and sys.platform != "linux":
        threading.Thread(target=lambda: (user.join(), os._exit(1)), daemon=True).start()
    elif user is not None and not user.is_alive():
        os._exit(1)


@contextmanager
def _as_workers_start() -> Iterator[None]:
    """Set up what a process inherits at its start."""
    with _interrupts_held_back(), _main_left_alone(), ExitStack() as ending:
        for name in _OURS:
            ending.enter_context(environment_variable(name, "1"))
        yield


@contextmanager
def _main_left_alone() -> Iterator[None]:
    """Start processes that do not import the main module.

    What runs on a worker is never the main module's, and a script that calls us without ``if __name__ == "__main__"``
    would begin anew in each of them.
    """
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    for name in kept:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)


@contextmanager
def _can_start(count: int) -> Iterator[None]:
    """Report in one line that the system is short of files, processes or memory."""
    try:
        yield
    except (OSError, EOFError, RuntimeError, MemoryError, AssertionError) as error:
        hint = "fewer --jobs need fewer files and processes"
        raise SchedulerError(f"cannot start {count} worker processes: {message(error)}; {hint}") from None


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start children that ignore Ctrl-C; one pressed meanwhile is delivered at the end.

    A terminal sends the signal of Ctrl-C to all processes at once. A worker that hears it dies with a traceback
    before we can end it; a worker inherits the mask of the thread that starts it, so it never hears it.
    """
    if sys.platform == "win32":
        yield
        return
    # Starting this helper of multiprocessing's lets the signal through again, so it must be there before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _termination_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            if handler is not None:  # else it is none of Python's
                signal.signal(number, handler)
