"""The command as processes that a test starts, looks for, and kills."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import netbandit

BACKSTOP = 600.0
"""Seconds after which what a test waits for is taken to hang; nothing takes so long, however busy the machine is."""


def started(place, *arguments, first=lambda: None, **environment):
    """The command as a process of a group of its own, like in a terminal; *first* is called in it before all else."""

    def prepare():
        # Under nohup the signal of a closed terminal is ignored, and what is ignored stays so in children.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        first()

    return subprocess.Popen(
        [sys.executable, "-m", "netbandit", *map(str, arguments)],
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(Path(netbandit.__file__).parent.parent), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    )


def without_progress(errors):
    """What is said on stderr besides how far it is, which is told where a machine is slow."""
    return re.sub(r"^\d+ of \d+ runs?.* after .*\n", "", errors, flags=re.MULTILINE)


def is_alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def members(group):
    """The living processes of a group."""
    processes = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [process for process in processes if is_alive(process) and group_of(process) == group]


def group_of(process):
    try:
        return os.getpgid(process)
    except ProcessLookupError:
        return None


def eventually(condition):
    """Wait until *condition* holds, and return whether it does: for what comes, if nothing is wrong, however late."""
    gives_up = time.monotonic() + BACKSTOP
    while not condition() and time.monotonic() < gives_up:
        time.sleep(0.05)
    return condition()
