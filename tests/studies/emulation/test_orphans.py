"""Whatever ends the coordinator, none of its processes is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from helpers.processes import eventually, is_alive

SCENARIO = Path(__file__).parents[3] / "scenarios/emulate.toml"
COMMAND = [sys.executable, "-m", "netbandit", "emulate", str(SCENARIO), "--dilation", "100"]
PROCESSES = 7
"""One for each agent, and the one that has made the sockets."""


def started(process):
    children = psutil.Process(process.pid).children(recursive=True)
    return children if len(children) == PROCESSES else None


def gone(children):
    return not any(is_alive(child.pid) for child in children)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130), (signal.SIGTERM, 130)],
    ids=["killed", "interrupted", "terminated"],
)
def test_none_is_left(number, code):
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any("running for" in line for line in iter(process.stderr.readline, ""))
        children = eventually(lambda: started(process))
        os.kill(process.pid, number)
        assert eventually(lambda: gone(children))
        _, said = process.communicate()
    assert process.returncode == code
    assert "Traceback" not in said


@pytest.mark.ci
def test_a_signal_during_a_fork_is_not_lost(fresh, tmp_path):
    script = """
import os, signal
from netbandit.studies.emulation.forks import undisturbed
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    with undisturbed():
        if not os.fork():
            os._exit(0)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = fresh(["-c", script], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
