"""Workers on other machines, through a dask scheduler.

Anyone who can reach a dask scheduler or worker can run code as its owner. Whoever operates it must secure it, by a
private network or with TLS (https://distributed.dask.org, "TLS/SSL"); we use the certificates that dask's configuration
names.
"""

import logging
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count, islice
from typing import TYPE_CHECKING
from uuid import uuid4

import netbandit
from netbandit.results.safe_files import StorageError
from netbandit.running.pool import Key, Lost, SchedulerError
from netbandit.running.worker import Ended, Failure, Order, perform_order
from netbandit.user_code.errors import message
from netbandit.util.wording import quoted

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE = 10.0
"""The timeout (s) for an answer of the scheduler."""

_WORKERLESS = 60.0
"""The timeout (s) without a worker: by then a scheduler has started new ones, if it can."""

_IN_FLIGHT = 2_000
"""The most orders submitted to a scheduler at once: millions of them would overload it."""


class Cluster:
    """The workers of a scheduler.

    Args:
        client: The client of the scheduler.
        address: The address of the scheduler.
        tell: Called once with each distinct line reported by workers.
    """

    def __init__(self, client: "Client", address: str, tell: Callable[[str], None]) -> None:
        self._client, self._address = client, address
        self._topic = f"netbandit-{uuid4().hex[:8]}"  # another sweep may use the same scheduler
        self._numbers = count()
        seen: set[str] = set()

        def hear(event: tuple[float, str]) -> None:
            _, line = event
            if line not in seen:
                seen.add(line)
                tell(line)

        client.subscribe_topic(self._topic, hear)

    def answers(
        self, orders: Iterable[tuple[Key, Order]], at_once: int | None = None
    ) -> Iterator[tuple[Key, Ended | Lost]]:
        """Yield the key of each order as it ends, with its outcome; see `netbandit.running.pool.Pool.answers`.

        Raises:
            SchedulerError: There has been no worker for a minute.
        """
        from netbandit.util.extras.cluster import as_completed

        most = at_once or _IN_FLIGHT
        waiting = iter(orders)
        keys: dict[str, Key] = {}

        def send(number: int) -> "list[Future]":
            batch = list(islice(waiting, number))
            names = [f"{self._topic}-{next(self._numbers)}" for _ in batch]
            keys.update({name: key for name, (key, _) in zip(names, batch, strict=True)})
            sent = [order for _, order in batch]
            return list(self._client.map(_perform_for_client, sent, topic=self._topic, key=names, pure=False))

        ended = as_completed(send(most), loop=self._client.loop)  # a worker drops results without a live future
        with self._giving_up(lambda: self._client.cancel(list(ended.futures))) as gone:
            for future in ended:
                if gone.is_set():
                    raise SchedulerError("no worker is left, and none could be started again")
                answer = _answer(future)
                failed = not isinstance(answer, Ended) or answer.failure is not None
                if failed and self._client.status != "running":
                    raise OSError("the scheduler is gone")
                yield keys.pop(future.key), answer
                if len(keys) <= most // 2:
                    ended.update(send(most - len(keys)))

    @contextmanager
    def _giving_up(self, give_up: Callable[[], None]) -> Iterator[threading.Event]:
        """Call *give_up* if there is no worker for too long; the event says that it was called."""
        over, gone = threading.Event(), threading.Event()

        def watch() -> None:
            last = time.monotonic()
            while not over.wait(min(1.0, _WORKERLESS)):
                if self._client.status == "running" and self._client.scheduler_info()["workers"]:
                    last = time.monotonic()
                elif time.monotonic() - last > _WORKERLESS:
                    gone.set()
                    give_up()
                    return

        watcher = threading.Thread(target=watch, daemon=True, name="netbandit-patience")
        watcher.start()
        try:
            yield gone
        finally:
            over.set()
            watcher.join(timeout=5)


def _perform_for_client(order: Order, topic: str) -> Ended:
    from netbandit.util.extras.cluster import get_worker

    worker = get_worker()
    return perform_order(order, lambda line: worker.log_event(topic, line))


def _answer(future: "Future") -> Ended | Lost:
    from netbandit.util.extras.cluster import CancelledError, KilledWorker

    try:
        ended: Ended = future.result()
    except StorageError:
        raise
    except KilledWorker:
        return Lost.DIED
    except CancelledError:
        return Ended(Failure("the scheduler gave the run up"))
    except Exception as error:
        return Ended(Failure(message(error)))
    return ended


@contextmanager
def remote_workers(address: str, tell: Callable[[str], None]) -> Iterator[Cluster]:
    """Use the workers of the scheduler at *address*, which keep running when the body ends.

    Args:
        address: The address of the scheduler.
        tell: Called once with each distinct line reported by workers.

    Raises:
        MissingExtraError: dask is not installed.
        SchedulerError: Nothing answers there within ten seconds, it has no workers, it goes away, or its workers have
            no netbandit, or another version of it than we are.
    """
    if not _ADDRESS.fullmatch(address):
        raise SchedulerError(f"{quoted(address)} is no address of a scheduler, such as tcp://10.0.0.7:8786")
    from netbandit.util.extras.cluster import CancelledError, Client, config

    if address.startswith("tls:") and config.get("distributed.comm.tls.client.cert", None) is None:
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
            yield Cluster(client, address, tell)
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
    """Reject workers whose runs would not be those of this version."""
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
    """Keep dask's own messages about ends and restarts off the screen."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
