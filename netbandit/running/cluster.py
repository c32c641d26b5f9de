"""Worker processes: a dask cluster of our own for the time of a sweep, or somebody's scheduler.

Who can talk to a dask scheduler or worker can run code as its owner. Our own cluster therefore listens on this machine
alone, and talks to nobody without the credentials that it makes for itself and hands to its workers in memory. A
scheduler of somebody else's must be kept as safe by whoever runs it: in a network of its own or with TLS
(https://distributed.dask.org, "TLS/SSL"), whose certificates dask's configuration names for us too.
"""

import atexit
import logging
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import current_process, forkserver, resource_tracker
from typing import TYPE_CHECKING

import netbandit
from netbandit.results.held_folders import temporary_folder
from netbandit.simulation.execution import environment_variable
from netbandit.user_code.errors import message
from netbandit.util.wording import quoted

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_PATIENCE = 10.0
"""Seconds a scheduler has to answer."""

_CONFIGURATION = {
    # A worker holds one run at a time, mostly: a run that waits where a worker dies is blamed too.
    "distributed.scheduler.worker-saturation": 1.0,
    # A run in which a worker dies is tried again when no others are left.
    "distributed.scheduler.allowed-failures": 0,
    # Whoever starts a worker again when it has died does so however often. Dask would send him away if so long after a
    # death no worker is there, which may be because of the next death; where none can be started, patience ends.
    "distributed.deploy.lost-worker-timeout": "1000 days",
    # Nobody looks at where the workers spend their time, and asking them a hundred times a second costs some of it.
    "distributed.worker.profile.enabled": False,
    # Nobody looks at their pages either, some of which change things and ask for no credentials.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}

_KILL_AFTER = 0.5
"""Seconds a worker in the middle of a run has to end when the sweep is stopped; its run is lost either way."""


_OURS = ("PYTHONSAFEPATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables of the environment, all 1: workers find no module in the working directory before those of Python and of
libraries, and who forks has no threads."""

_prepared: dict[str, str] | None = None
"""The environment for which a process waits from which workers are forked."""


class SchedulerError(Exception):
    """The scheduler at the address given cannot be used, or processes of our own cannot be started."""


def prepare_workers() -> None:
    """Start a process that imports what workers need, and from which `local_workers` forks them.

    Called before this process reads its scenarios, it is ready when they are. It is for commands: in a process that
    lives longer, who changes the environment gets workers that are started afresh.
    """
    global _prepared
    if sys.platform != "linux":  # elsewhere libraries do not expect that somebody forks
        return
    before = dict(os.environ)
    with _main_left_alone(), ExitStack() as ending:
        for name in _OURS:
            ending.enter_context(environment_variable(name, "1"))
        with _interrupts_held_back(), suppress(OSError):  # who cannot start it cannot start workers either
            config = current_process()._config  # type: ignore[attr-defined]  # its own folder would stay if we are killed
            if "tempdir" not in config:
                to_the_end = ExitStack()
                atexit.register(to_the_end.close)
                config["tempdir"] = str(to_the_end.enter_context(temporary_folder()))
            forkserver.set_forkserver_preload(["netbandit.running.preloaded"])
            forkserver.ensure_running()
            _prepared = before


@contextmanager
def _forked_if_prepared() -> Iterator[None]:
    """Have dask fork workers, if a process waits that has our environment, or else start them afresh."""
    if _prepared != dict(os.environ):
        yield
        return
    import dask
    from distributed import utils

    utils._forkserver_preload_set = True  # else it imports pandas, if that is there, to preload it
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        yield


@contextmanager
def local_workers(count: int) -> "Iterator[Client]":
    """Start *count* worker processes of one thread each, and end them all with the body, whatever ends it."""
    with (
        _quiet(),
        _main_left_alone(),
        _forked_if_prepared(),
        environment_variable("PYTHONSAFEPATH", "1"),
        ExitStack() as ending,
    ):
        # What is half imported, half started or half ended is not left so by Ctrl-C, however often it is pressed.
        with _interrupts_held_back():
            import dask
            from distributed import Client, LocalCluster, Security

            # Else dask makes a folder that stays, under a name that anybody of this machine can take before.
            scratch = ending.enter_context(temporary_folder())
            # Some of it is looked up when something happens.
            ending.enter_context(dask.config.set({**_CONFIGURATION, "temporary-directory": str(scratch)}))
            with _can_start(count):
                cluster = LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    security=Security.temporary(),
                    # No dashboard, and any free port for the HTTP server that stays: dask warns if its own is taken.
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
            ending.callback(_uninterrupted, cluster.close)
            with _can_start(count):
                client = Client(cluster, set_as_default=False)
            ending.callback(_uninterrupted, client.close)
        try:
            yield client
        except BaseException:
            _uninterrupted(lambda: _end_at_once(cluster))
            raise
        # All runs are in their folders; taking a worker down step by step takes it half a second.
        _uninterrupted(lambda: _kill_all(cluster))


@contextmanager
def remote_workers(address: str) -> "Iterator[Client]":
    """Use the workers of the scheduler at *address*, which stay when the body ends.

    Raises:
        SchedulerError: Nothing answers there within ten seconds, it has no workers, it goes away, or its workers have
            no netbandit, or another version of it than we are.
    """
    if not _ADDRESS.fullmatch(address):
        raise SchedulerError(f"{quoted(address)} is no address of a scheduler, such as tcp://10.0.0.7:8786")
    import dask
    from distributed import Client
    from distributed.utils import CancelledError

    if address.startswith("tls:") and dask.config.get("distributed.comm.tls.client.cert", None) is None:
        text = "needs TLS credentials, and dask's configuration names none (distributed.comm.tls)"
        raise SchedulerError(f"{address} {text}")

    with _quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other versions of libraries; ours is looked at below
        try:
            client = Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise SchedulerError(f"no dask scheduler answers at {address}") from error
        try:
            _same_version(client, address)
            yield client
        except (OSError, CancelledError) as error:
            if client.status == "running" and not isinstance(error, CancelledError):
                raise
            raise SchedulerError(f"the dask scheduler at {address} has gone away; {_GOES_ON}") from error
        finally:
            with suppress(Exception):
                client.close(timeout=_PATIENCE)


_ADDRESS = re.compile(r"(?:(?:tcp|tls|ucx|ws|wss|inproc)://)?[\w.\-\[\]:%]*:[0-9]{1,5}|inproc://\S+")

_GOES_ON = "what is done stays done, and the same command continues from there"


def _same_version(client: "Client", address: str) -> None:
    """Refuse workers whose runs would not be those of this version."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise SchedulerError(f"the dask scheduler at {address} has no workers") from None
    found = client.run(lambda: __import__("netbandit").__version__, on_error="return")
    for worker, version in found.items():
        if isinstance(version, ImportError):
            raise SchedulerError(f"the worker {worker} of {address} has no netbandit")
        if isinstance(version, BaseException):
            raise SchedulerError(f"the worker {worker} of {address} cannot be asked: {message(version)}")
        if version != netbandit.__version__:
            text = f"the worker {worker} of {address} has netbandit {version}, this is {netbandit.__version__}"
            raise SchedulerError(f"{text}: its results would be taken for ours")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep dask's own reports of what ends and restarts off the screen."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


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
    """Say in one line what a system that is short of files, processes or memory does not let us start.

    Short of files, dask would wait for ever rather than fail.
    """
    needed, allowed = _FILES + count * _FILES_EACH, _most_files()
    hint = "fewer --jobs need fewer files and processes"
    if needed > allowed:
        text = f"they need about {needed} open files, and {allowed} are allowed (ulimit -n)"
        raise SchedulerError(f"cannot start {count} worker processes: {text}; {hint}")
    try:
        yield
    except (OSError, RuntimeError, MemoryError) as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        raise SchedulerError(f"cannot start {count} worker processes: {message(cause)}; {hint}") from None


_FILES = 50
_FILES_EACH = 12
"""Files that we have open for each worker process, and beside them; measured, with some to spare."""


def _most_files() -> int:
    """Return how many files this process may have open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 10**9
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] % 2**63  # no limit is -1


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start children and threads that do not hear Ctrl-C; one that comes meanwhile is heard at the end.

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


def _uninterrupted(what: Callable[[], object]) -> None:
    """Do *what* to its end, even if Ctrl-C is pressed meanwhile, or we are to end: so we do."""
    with _interrupts_held_back(), _termination_ignored():
        what()


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


def _kill_all(cluster: "LocalCluster") -> None:
    """End the worker processes, which have nothing left to do."""

    async def kill_all() -> None:
        for nanny in cluster.workers.values():
            nanny.auto_restart = False
            if nanny.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(nanny.pid, _KILL)

    with suppress(Exception):
        cluster.sync(kill_all)


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # there is no other on Windows


def _end_at_once(cluster: "LocalCluster") -> None:
    """End the worker processes without waiting for the runs they are in."""

    async def end_all() -> None:
        import asyncio

        nannies = [worker.close(timeout=_KILL_AFTER) for worker in cluster.workers.values()]
        await asyncio.gather(*nannies, return_exceptions=True)

    with suppress(Exception):
        cluster.sync(end_all)
