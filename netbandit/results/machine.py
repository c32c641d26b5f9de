"""Identifies the machine of a measurement."""

import platform
from pathlib import Path

from netbandit.util.process import cores


def machine() -> dict[str, str | int]:
    """Return the identity of this machine, without its name: processor, usable cores and system."""
    return {"processor": _processor(), "cores": cores(), "system": f"{platform.system()} {platform.machine()}"}


def machine_text(found: dict[str, str | int]) -> str:
    """Return a machine in words."""
    return f"{found['processor']}, {found['cores']} cores, {found['system']}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
