"""The command looks for garbage rarely; a program that imports it is left as it is."""

import atexit
import gc

import pytest

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
