"""Available and peak memory, and a context without cyclic garbage collection."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SHARE = 0.5
"""The share of the memory now free that one replication may be expected to take: estimates are rough."""

_GROUP = Path("/sys/fs/cgroup")
_SURELY_FITS = 100_000_000
"""A size in bytes that always fits: it is accepted without querying the system."""


def affordable() -> int:
    """Return the bytes that one replication may be expected to take.

    Considers the free memory and the limits of this process: those of a container, and that set by ``ulimit -v``.
    """
    import psutil

    free = [int(psutil.virtual_memory().available)]
    with suppress(OSError, ValueError):  # "max" where the container has no limit
        limit = int((_GROUP / "memory.max").read_text())
        free.append(limit - int((_GROUP / "memory.current").read_text()))
    with suppress(ImportError):  # Windows has no such limits
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            free.append(soft - int(psutil.Process().memory_info().vms))
    return int(SHARE * max(0, min(free)))


def exceeded(size: float) -> int | None:
    """Return how many bytes are available here, see `affordable`, where *size* bytes are more; None: they fit."""
    if size <= _SURELY_FITS or size <= (most := affordable()):
        return None
    return most


def peak() -> int:
    """Return the most bytes of memory that this process has held at once since its program began."""
    import resource
    import sys

    with suppress(OSError):  # what the system call says begins, on Linux, with the peak of whoever started the program
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def shown(size: float) -> str:
    """Return a number of bytes with two digits and a unit."""
    for unit, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit or name == "MB":
            break
    return f"{size / unit:.2g} {name}" if size < 1e17 else f"{size:.1e} bytes"


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the search for garbage cycles inside the context, and leave it as it was found.

    A simulation holds many messages and creates no cycles: repeated searches for cycles can take as long as the
    simulation itself. Reference counting still frees unused objects at once.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
