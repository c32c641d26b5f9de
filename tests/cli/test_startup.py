"""The command looks for garbage rarely; a program that imports it is left as it is."""

import atexit
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

import netbandit
from netbandit.cli import startup


@pytest.mark.parametrize(("program", "rarely"), [("/usr/bin/netbandit", True), ("analysis.py", False)])
def test_only_the_command_looks_for_garbage_rarely(monkeypatch, program, rarely):
    before, at_exit = gc.get_threshold(), []
    gc.set_threshold(700)
    monkeypatch.setattr("sys.argv", [program])
    monkeypatch.setattr(atexit, "register", at_exit.append)
    try:
        startup.search_rarely()
        assert (gc.get_threshold()[0] > 700) == rarely
        assert at_exit == ([gc.freeze] if rarely else [])
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize(("program", "found"), [("/usr/bin/netbandit", "1"), ("analysis.py", None)])
def test_only_the_command_has_linear_algebra_start_no_threads_and_what_the_user_says_stays(monkeypatch, program, found):
    monkeypatch.setattr("sys.argv", [program])
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("PYDANTIC_DISABLE_PLUGINS", "one")
    startup.import_sparingly()
    assert os.environ.get("OPENBLAS_NUM_THREADS") == found
    assert os.environ["PYDANTIC_DISABLE_PLUGINS"] == "one"


SMALL = """\
schema = 1
name = "small"
topology = { family = "ring", agents = 5 }
bandit = { kind = "bernoulli", means = [0.6, 0.5] }
learner = { kind = "elimination" }
protocol = { kind = "gis" }
run = { horizon = 200, replications = 1 }
"""
NOTED = """\
import atexit, sys
atexit.register(lambda: open("modules", "w").write(" ".join(sys.modules)))
from netbandit.cli import main
from netbandit.running import progress
progress.SHOWN_AFTER = 1e6  # what shows that a command is slow is imported then
main()
"""


@pytest.mark.ci
@pytest.mark.parametrize(
    ("command", "spared"),
    [
        (
            "check",
            "matplotlib networkx numba pandas rich scipy netbandit.compilation netbandit.learners.linear "
            "netbandit.protocols.local netbandit.protocols.sink netbandit.simulation.drivers.epochs",
        ),
        ("run", "networkx numba pandas scipy.interpolate scipy.linalg scipy.special scipy.stats"),
    ],
)
def test_a_command_imports_nothing_large_that_it_does_not_need(tmp_path, command, spared):
    (tmp_path / "small.toml").write_text(SMALL)
    subprocess.run(
        [sys.executable, "-c", NOTED, command, "small.toml"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(netbandit.__file__).parent.parent)},
        check=True,
        capture_output=True,
    )
    assert not {*spared.split()} & {*(tmp_path / "modules").read_text().split()}
