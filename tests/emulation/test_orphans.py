"""Whatever ends the coordinator, none of its processes is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

SCENARIO = Path(__file__).parents[2] / "scenarios/emulate.toml"
COMMAND = [sys.executable, "-m", "netbandit", "emulate", str(SCENARIO), "--dilation", "100"]
PROCESSES = 7
"""One for each agent, and the one that has made the sockets."""


def poll(found, seconds=60):
    """Return what is found, once it is true."""
    until = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < until, "it never is"
        time.sleep(0.05)
    return value


def started(process):
    children = psutil.Process(process.pid).children(recursive=True)
    return children if len(children) == PROCESSES else None


def gone(children):
    return not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130), (signal.SIGTERM, 130)],
    ids=["killed", "interrupted", "terminated"],
)
def test_none_is_left(number, code):
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "running for" in process.stderr.readline()
        children = poll(lambda: started(process))
        os.kill(process.pid, number)
        poll(lambda: gone(children))
        _, said = process.communicate()
    assert process.returncode == code
    assert "Traceback" not in said
