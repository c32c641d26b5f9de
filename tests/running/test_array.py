"""The array of the guide to clusters: its tasks, each killed and begun again, leave every run once."""

import csv
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import netbandit as nb

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "cluster.md"
STUDY = """
run = { horizon = 300 }
topology = { family = "ring", agents = 4 }
bandit = { kind = "bernoulli", arms = 3 }
learner = { kind = "elimination" }
protocol = { kind = "gis" }
sweep.topology.agents = [3, 5]
"""


def tasks(folder):
    """Return what begins a task of the array."""
    (script,) = re.findall(r"```text\n(#!/bin/sh\n#SBATCH.*?)```", GUIDE.read_text(), re.DOTALL)
    (folder / "array.sh").write_text(script)
    commands = folder / "bin"
    commands.mkdir()
    (commands / "netbandit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m netbandit "$@"\n')
    (commands / "netbandit").chmod(0o755)

    def task(number):
        environment = {
            **os.environ,
            "PATH": f"{commands}:{os.environ['PATH']}",
            "PYTHONPATH": str(Path(nb.__file__).parents[1]),
            "SLURM_ARRAY_TASK_ID": str(number),
        }
        output = subprocess.DEVNULL
        how = {"cwd": folder, "env": environment, "stdout": output, "stderr": output, "start_new_session": True}
        return subprocess.Popen(["sh", "array.sh"], **how)

    return task


@pytest.mark.skipif(os.name != "posix", reason="it is a script of sh")
def test_tasks_of_an_array_that_are_killed_leave_every_run_once(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    task = tasks(tmp_path)
    for number, killed_at in enumerate((0, 7, 19)):
        part = tmp_path / "parts" / str(number)
        running = task(number)
        while running.poll() is None and len(list(part.glob("runs/*/result.json"))) < killed_at:
            pass
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert task(number).wait() == 0
        assert len(list(part.glob("runs/*/result.json"))) == 20
    merged = ["-m", "netbandit", "merge", *(f"parts/{number}" for number in range(3)), "--out", "results/study"]
    subprocess.run([sys.executable, *merged], cwd=tmp_path, check=True, capture_output=True)
    nb.run(tmp_path / "study.toml", run__replications=30, out=tmp_path / "at once")

    def rows(folder):
        with (folder / "table.csv").open(newline="") as file:
            return [row for row in csv.reader(file) if "wall_s" not in row]

    assert rows(tmp_path / "results" / "study") == rows(tmp_path / "at once")
