"""A sweep does not wait for ever where no worker is left: after a while what waits for one is given up."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 60.0
"""Seconds without a single worker: a scheduler has started new ones by then, if it can."""

_LOOK = 1.0


@contextmanager
def giving_up_without_workers(client: "Client", give_up: Callable[[], None]) -> Iterator[threading.Event]:
    """Call *give_up* if *client* has no worker for `PATIENCE` seconds; the event says that it was called."""
    over, gone = threading.Event(), threading.Event()

    def watch() -> None:
        last = time.monotonic()
        while not over.wait(min(_LOOK, PATIENCE)):
            if client.status == "running" and client.scheduler_info()["workers"]:
                last = time.monotonic()
            elif time.monotonic() - last > PATIENCE:
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
