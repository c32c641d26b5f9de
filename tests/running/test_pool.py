"""Processes of this machine: who answers, who is replaced, what is told, and that nobody else can talk to them."""

import os
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from helpers.processes import eventually, is_alive

from netbandit.running import pool
from netbandit.running.pool import Lost, Pool, SchedulerError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kills processes and looks for them in /proc")


def perform(order, tell):
    """Do what an order says; return by which process it was done."""
    what, *rest = order
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "tell":
        tell(*rest)
    if what == "raise":
        raise rest[0]
    if what == "sleep":
        time.sleep(*rest)
    return os.getpid()


def ignore(line):
    pass


@pytest.mark.ci
def test_each_order_has_an_answer_and_who_dies_is_replaced():
    orders = [("dies", ("die",)), ("again", ("die",)), *((number, ("sleep", 0.2)) for number in range(6))]
    with Pool(2, perform, ignore) as workers:
        found = dict(workers.answers(orders))
        assert {found.pop("dies"), found.pop("again")} == {Lost.DIED}
        processes = set(found.values())
        assert os.getpid() not in processes
        assert set(dict(workers.answers([(1, ("be",)), (2, ("be",))], at_once=1)).values()) <= processes
    assert not any(map(is_alive, processes))


@pytest.mark.ci
def test_one_that_has_died_in_between_is_no_matter():
    with Pool(1, perform, ignore) as workers:
        ((_, first),) = workers.answers([(1, ("be",))])
        os.kill(first, signal.SIGKILL)
        assert eventually(lambda: not is_alive(first))
        ((_, second),) = workers.answers([(1, ("be",))])
    assert second not in (first, Lost.DIED)


@pytest.mark.ci
def test_what_several_tell_is_told_once():
    told = []
    orders = [(number, ("tell", line)) for number, line in enumerate(["a", "b", "a", "b"])]
    with Pool(2, perform, told.append) as workers:
        assert len(dict(workers.answers(orders))) == 4
    assert sorted(told) == ["a", "b"]


@pytest.mark.ci
def test_what_takes_too_long_is_ended_and_what_is_raised_is_raised_here():
    with Pool(2, perform, ignore) as workers:
        found = dict(workers.answers([("late", ("sleep", 3600)), ("there", ("be",))], limit=5))
        assert found["late"] is Lost.LATE
        with pytest.raises(OSError, match="no room"):
            list(workers.answers([(1, ("raise", OSError("no room")))]))


def test_processes_that_cannot_be_started_are_one_line(monkeypatch):
    def full():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(pool, "Pipe", full)
    text = r"^cannot start 3 worker processes: OSError: .*Too many open files; fewer --jobs need fewer files"
    with Pool(3, perform, ignore) as workers, pytest.raises(SchedulerError, match=text):
        list(workers.answers([(1, ("be",))]))


@pytest.fixture
def short_folder():
    """A folder in whose path there is room for a socket's name, which is of a hundred characters at most."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.ci
@pytest.mark.parametrize("prepared", [False, True])
def test_no_port_is_opened_and_nothing_stays(short_folder, fresh, prepared):
    """What a prepared process leaves is in a folder of nobody else, under a name that nobody knows before."""
    script = f"""
import os, stat, sys, tempfile
from pathlib import Path
from tempfile import TemporaryDirectory
import psutil
sys.path[:0] = {[str(folder) for folder in Path(__file__).parents[:2]]}
tempfile.tempdir = os.environ["TMPDIR"] = {str(short_folder)!r}
from test_pool import open_ports, ignore, perform
from netbandit.running.pool import Pool, prepare_workers
if {prepared}:
    prepare_workers()
with Pool(2, perform, ignore) as workers:
    found = set(dict(workers.answers([(number, ("sleep", 0.2)) for number in range(4)])).values())
    print(len(found), {{psutil.Process(one).ppid() == os.getpid() for one in found}}, open_ports())
    print([oct(stat.S_IMODE(one.stat().st_mode)) for one in Path(tempfile.tempdir).glob("netbandit-*")])
"""
    done = fresh(["-c", script], short_folder)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"2 {{{not prepared}}} []", "['0o700']" if prepared else "[]"]
    assert not [*short_folder.iterdir()]


def open_ports():
    """The address of every socket by which others reach this process or one of its children."""
    me = psutil.Process()
    return [one.laddr for each in (me, *me.children(recursive=True)) for one in each.net_connections("inet")]
