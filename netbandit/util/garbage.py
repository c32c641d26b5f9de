"""Python's cyclic garbage collection, paused where it only takes time, or where it must not run."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the search for garbage cycles inside the context, and leave it as it was found.

    A simulation holds many messages and makes no cycles on its way: looking for some again and again can take as
    long as the simulation itself. What is dropped is freed at once all the same, by its reference count.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
