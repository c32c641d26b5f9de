"""The process environment: usable processors, the machine, and environment variables."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
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


def machine() -> dict[str, str | int]:
    """Return the identity of this machine, without its name: processor, usable cores and system."""
    return {"processor": _processor(), "cores": cores(), "system": f"{platform.system()} {platform.machine()}"}


def machine_text(found: dict[str, str | int]) -> str:
    """Return a machine in words."""
    return f"{found['processor']}, {found['cores']} cores, {found['system']}"


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


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
