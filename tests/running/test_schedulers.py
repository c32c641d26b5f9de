"""Somebody else's scheduler that cannot be used is one clear line, which names it."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from distributed import Client, LocalCluster
from helpers.fake_study import fake_study
from helpers.processes import BACKSTOP, eventually

import netbandit
from netbandit.running import cluster
from netbandit.running import sweeps as sweep
from netbandit.running.cluster import SchedulerError


@pytest.mark.parametrize("address", ["", "here", "tcp://", "http://x", "tcp://host:port", "tcp://host:1 2"])
def test_an_address_that_is_none(tmp_path, address):
    with pytest.raises(SchedulerError, match="is no address of a scheduler, such as "):
        sweep.run(fake_study(3), tmp_path, scheduler=address)


def test_tls_without_credentials(tmp_path):
    with pytest.raises(SchedulerError, match=r"^tls://127\.0\.0\.1:9 needs TLS credentials"):
        sweep.run(fake_study(3), tmp_path, scheduler="tls://127.0.0.1:9")


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """As long as a busy machine needs."""
    monkeypatch.setattr(cluster, "_PATIENCE", BACKSTOP)


def local_cluster(workers):
    """A scheduler with so many workers in this process."""
    how = {"processes": False, "protocol": "tcp", "host": "127.0.0.1", "dashboard_address": ":0"}
    return LocalCluster(n_workers=workers, threads_per_worker=1, **how)


@pytest.fixture(scope="module")
def somebody_elses():
    with local_cluster(1) as found:
        yield found


def test_its_workers_are_used(tmp_path, somebody_elses):
    result = sweep.run(fake_study(3, replications=3), tmp_path, scheduler=somebody_elses.scheduler_address)
    assert (result.done, result.failed) == (3, [])


def test_workers_of_another_version_are_refused(tmp_path, somebody_elses, monkeypatch):
    monkeypatch.setattr(cluster, "netbandit", SimpleNamespace(__version__="17.1"))
    ours = re.escape(netbandit.__version__)
    text = rf"^the worker tcp://\S+ of tcp://\S+ has netbandit {ours}, this is 17\.1: its results"
    with pytest.raises(SchedulerError, match=text):
        sweep.run(fake_study(3), tmp_path, scheduler=somebody_elses.scheduler_address)


def test_a_worker_that_comes_later_with_another_version_does_no_run(tmp_path, somebody_elses, monkeypatch):
    monkeypatch.setattr(sweep, "netbandit", SimpleNamespace(__version__="17.1"))
    result = sweep.run(fake_study(3, replications=1), tmp_path, scheduler=somebody_elses.scheduler_address)
    assert result.done == 0
    assert result.failed[0].failure.text == f"a worker has netbandit {netbandit.__version__}, this is 17.1"


def test_a_scheduler_without_workers(tmp_path, somebody_elses, monkeypatch):
    wait = Client.wait_for_workers
    monkeypatch.setattr(Client, "wait_for_workers", lambda client, count, timeout: wait(client, count, timeout=0.1))
    with local_cluster(0) as empty:
        address = empty.scheduler_address
        with pytest.raises(SchedulerError, match=f"^the dask scheduler at {address} has no workers$"):
            sweep.run(fake_study(3), tmp_path, scheduler=address)


SCHEDULER = """\
import sys
from pathlib import Path
from distributed import Client, LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=":0")
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


@pytest.mark.ci
def test_a_scheduler_that_goes_away(tmp_path):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCHEDULER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        address = process.stdout.readline().strip()
        log = tmp_path / "log"
        log.mkdir()
        study = fake_study(3, replications=20, waits=dict.fromkeys(range(2, 20), 3600.0), log=log)

        def killing(done, total, points_done, points):
            if done == 1:
                assert eventually(lambda: len(list(log.iterdir())) > 1)
                process.kill()

        with pytest.raises(SchedulerError, match=f"^the dask scheduler at {address} has gone away; what is done "):
            sweep.run(study, tmp_path / "out", scheduler=address, progress=killing)
    assert len(list((tmp_path / "out").glob("runs/*/result.json"))) >= 1


def test_runs_that_are_there_name_the_versions_they_are_of(tmp_path):
    assert sweep.run(fake_study(3, replications=2), tmp_path).others == ()
    (line,) = sweep.run(fake_study(3, replications=3), tmp_path).others
    assert line.startswith("2 of the runs already there are of netbandit 0, python unknown, ")
    assert f"; this is netbandit {netbandit.__version__}, python " in line


@pytest.mark.ci
def test_a_sweep_whose_workers_are_all_gone_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("netbandit.running.cluster._WORKERLESS", 1.0)
    with local_cluster(1) as workers:
        study = fake_study(3, replications=1_000, waits=dict.fromkeys(range(1_000), 0.2))

        def leaving(done, total, points_done, points):
            if done == 1:
                workers.scale(0)

        with pytest.raises(SchedulerError, match="no worker is left"):
            sweep.run(study, tmp_path, scheduler=workers.scheduler_address, progress=leaving)
