"""The process environment: usable processors and environment variables."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import ceil
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cores() -> int:
    """Return the number of usable processors: those that the system allows, within the quota of a container."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):  # "max" where the container has no quota
        quota, period = map(int, _QUOTA.read_text().split())
        allowed = min(allowed, ceil(quota / period))
    return max(1, allowed)


@contextmanager
def environment_variable(name: str, value: str) -> Iterator[None]:
    """Have a variable of the environment set, also for processes that are started meanwhile."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
