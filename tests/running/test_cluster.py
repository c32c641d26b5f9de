"""Nobody else can talk to the processes of a sweep."""

import socket
import stat
import sys
import tempfile
from contextlib import suppress

import psutil
import pytest
from distributed import Client, Security
from helpers.processes import BACKSTOP

from netbandit.running.cluster import local_workers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for the sockets of processes")


def listening():
    """The address of every socket on which this process or one of its children listens."""
    me, found = psutil.Process(), []
    for one in (me, *me.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it may have ended meanwhile
            found += one.net_connections()
    return [connection.laddr for connection in found if connection.status == psutil.CONN_LISTEN]


def answer(port, question):
    """What a socket answers to a question of HTTP; nothing if it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=BACKSTOP) as connection:
        try:
            connection.sendall(question)
            return connection.recv(100)
        except OSError:
            return b""


def test_a_client_without_the_credentials_of_the_sweep_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = {address.port for address in listening()}
    with local_workers(1) as client:
        assert client.submit(int, "7").result() == 7
        (scratch,) = tmp_path.iterdir()  # of nobody else, and under a name that nobody knows before
        assert stat.S_IMODE(scratch.stat().st_mode) == 0o700
        assert scratch.name.startswith("netbandit-")
        assert [*scratch.iterdir()]
        address = client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        strangers = [(address.replace("tls", "tcp"), None), (address, Security.temporary())]
        workers = list(client.scheduler_info()["workers"])
        assert all(worker.startswith("tls://127.0.0.1:") for worker in workers)
        for there, security in strangers:
            with pytest.raises(OSError, match=r"[Tt]imed out|TLS|SSL|closed"):
                Client(there, security=security, timeout=1, set_as_default=False)  # dask knocks again until then
        sockets = [each for each in listening() if each.port not in before]
        assert len(sockets) >= 3  # a scheduler, a nanny and its worker
        for each in sockets:
            assert each.ip == "127.0.0.1"
            said = answer(each.port, b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
            assert said == b"" or b"404" in said or said.startswith(b"\x15"), said  # nothing, no page, or TLS's alert
        assert client.submit(int, "8").result() == 8
    assert not [*tmp_path.iterdir()]


def test_nothing_stays_in_the_temporary_folder_of_a_sweep_that_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with suppress(KeyboardInterrupt), local_workers(1):
        assert [*tmp_path.iterdir()]
        raise KeyboardInterrupt
    assert not [*tmp_path.iterdir()]
