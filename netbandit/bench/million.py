"""HDP-MAB with 10^6 agents in ten thousand components, once: minutes, and some 8 GB of memory."""

import json
import subprocess
import sys

from netbandit.bench.measure import Row

COMPONENTS = 10_000


def bench() -> list[Row]:
    """Return one row: seconds from the text of the scenario to its result, and peak memory, in a process of its own."""
    command = [sys.executable, "-m", "netbandit.bench.scale", str(COMPONENTS), "once"]
    row: Row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return [row]
