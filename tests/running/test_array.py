"""The array of the guide to clusters: its tasks, each killed and begun again, leave every run once.

By hand, and, where Debian's ``slurm-wlm`` and ``munge`` are installed, by a Slurm that runs for the test alone.
"""

import csv
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
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


CONFIGURATION = """
ClusterName=netbandit
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName={host} NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def prepared(folder):
    """Write the study and the script of the guide, and return the environment in which it finds netbandit."""
    (folder / "study.toml").write_text(STUDY)
    (script,) = re.findall(r"```text\n(#!/bin/sh\n#SBATCH.*?)```", GUIDE.read_text(), re.DOTALL)
    (folder / "array.sh").write_text(script)
    commands = folder / "bin"
    commands.mkdir()
    (commands / "netbandit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m netbandit "$@"\n')
    (commands / "netbandit").chmod(0o755)
    path = {"PATH": f"{commands}:{os.environ['PATH']}", "PYTHONPATH": str(Path(nb.__file__).parents[1])}
    return {**os.environ, **path}


def found(folder, number):
    """Return how many runs of a task are complete."""
    return len(list((folder / "parts" / str(number)).glob("runs/*/result.json")))


def assert_all_are_there_once(folder):
    assert [found(folder, number) for number in range(3)] == [20, 20, 20]
    merged = ["-m", "netbandit", "merge", *(f"parts/{number}" for number in range(3)), "--out", "results/study"]
    subprocess.run([sys.executable, *merged], cwd=folder, check=True, capture_output=True)
    nb.run(folder / "study.toml", run__replications=30, out=folder / "at once")

    def rows(results):
        with (results / "table.csv").open(newline="") as file:
            return [row for row in csv.reader(file) if "wall_s" not in row]

    assert rows(folder / "results" / "study") == rows(folder / "at once")


@pytest.mark.ci
@pytest.mark.skipif(os.name != "posix", reason="it is a script of sh")
def test_tasks_of_an_array_that_are_killed_leave_every_run_once(tmp_path):
    environment, output = prepared(tmp_path), subprocess.DEVNULL

    def task(number):
        how = {"cwd": tmp_path, "env": {**environment, "SLURM_ARRAY_TASK_ID": str(number)}}
        return subprocess.Popen(["sh", "array.sh"], stdout=output, stderr=output, start_new_session=True, **how)

    for number, killed_at in enumerate((0, 7, 19)):
        running = task(number)
        while running.poll() is None and found(tmp_path, number) < killed_at:
            pass
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        assert task(number).wait() == 0
    assert_all_are_there_once(tmp_path)


@pytest.fixture
def slurm(tmp_path):
    """Start a Slurm of one node, and return what calls its commands in the folder of the study."""
    daemons = [shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("munged", "slurmctld", "slurmd")]
    if None in daemons or os.geteuid() != 0:
        pytest.skip("a Slurm of our own takes slurm-wlm, munge and root")
    environment = {**prepared(tmp_path), "SLURM_CONF": f"{tmp_path}/slurm.conf"}
    host, ports = socket.gethostname().partition(".")[0], []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports.append(free.getsockname()[1])
    (tmp_path / "slurm.conf").write_text(CONFIGURATION.format(host=host, folder=tmp_path, ports=ports))
    (tmp_path / "key").write_bytes(random.Random(0).randbytes(1024))
    (tmp_path / "key").chmod(0o400)
    for folder in ("state", "spool"):
        (tmp_path / folder).mkdir()
    munge = ["--foreground", "--force", f"--socket={tmp_path}/munge", f"--key-file={tmp_path}/key"]
    munge += [f"--{name}-file={tmp_path}/munged.{name}" for name in ("pid", "log", "seed")]

    def call(*command):
        done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    with (tmp_path / "daemons.log").open("w") as log:
        running = [
            subprocess.Popen([daemon, *how], env=environment, stdout=log, stderr=log)
            for daemon, how in zip(daemons, (munge, ["-D"], ["-D"]), strict=True)
        ]
        try:
            while "idle" not in subprocess.run(["sinfo"], env=environment, capture_output=True, text=True).stdout:
                assert all(one.poll() is None for one in running), (tmp_path / "daemons.log").read_text()
                time.sleep(0.2)
            yield call
            call("scancel", "--user=root")
            while call("squeue", "--noheader"):
                time.sleep(0.2)
        finally:
            for one in reversed(running):
                one.terminate()
                one.wait()


@pytest.mark.slow
def test_slurm_runs_the_array_whose_tasks_are_killed_at_random(slurm, tmp_path):
    """Each task is requeued once, and its processes are killed once, after numbers of runs that are drawn."""
    draw = random.Random(47)
    job = slurm("sbatch", "--parsable", "--array=0-2", "array.sh")

    def state(number):
        return re.search(r"JobState=(\w+)", slurm("scontrol", "--oneliner", "show", "job", f"{job}_{number}"))[1]

    def wait(number, *states, runs=0):
        while (now := state(number)) not in states or (now == "RUNNING" and found(tmp_path, number) < runs):
            time.sleep(0.1)
        return now

    kills = [(number, how) for number in range(3) for how in ("requeue", "kill")]
    draw.shuffle(kills)
    for number, how in kills:
        now = wait(number, "RUNNING", "COMPLETED", runs=draw.randrange(1, 20))
        if how == "kill" and now == "RUNNING":
            slurm("scancel", "--signal=KILL", "--full", f"{job}_{number}")
            wait(number, "CANCELLED", "FAILED", "COMPLETED")
        slurm("scontrol", "requeue", f"{job}_{number}")
        wait(number, "PENDING")
        slurm("scontrol", "update", f"JobId={job}_{number}", "StartTime=now")
    for number in range(3):
        wait(number, "COMPLETED")
    assert_all_are_there_once(tmp_path)
