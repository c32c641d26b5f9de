import os
import re
import subprocess
import sys
import types

import pytest
from numba import njit

from netbandit.compilation.compile_notice import announce
from netbandit.simulation.kernels.floods import pass_on


@pytest.mark.compiled
def test_nothing_is_said_of_what_is_compiled_or_not_kept(capsys, tmp_path):
    announce(lambda: 0, "a plain function")
    announce(njit(lambda: 0), "what is compiled each time")
    assert capsys.readouterr().err == ""


def test_a_loop_that_is_not_in_the_cache_is_announced(capsys, monkeypatch, tmp_path):
    class Loop:
        signatures = ()
        py_func = pass_on.py_func
        stats = type("Stats", (), {"cache_path": str(tmp_path)})

    announce(Loop(), "feducb and linear")
    line = "compiling the loop of feducb and linear, once on this machine: {}\n"
    assert re.fullmatch(line.format(r"about ([1-9]\d?) s"), capsys.readouterr().err)
    (tmp_path / "floods.pass_on.seconds").write_text("12.6\n")
    announce(Loop(), "feducb and linear")
    assert capsys.readouterr().err == line.format("it took 13 s last time")
    (tmp_path / "floods.pass_on-12.py311.nbi").write_bytes(b"")
    announce(Loop(), "feducb and linear")
    assert capsys.readouterr().err == ""


CALLED = """\
from numba import njit

@njit(cache=True)
def step(value):
    return value + 1
"""

CALLER = """\
from called import step
from numba import njit

@njit(cache=True)
def loop(value):
    return step(value)
"""

MAIN = """\
from caller import loop
from netbandit.compilation.compile_notice import announce

announce(loop, "a test")
print(loop(1))
"""


@pytest.mark.ci
@pytest.mark.compiled
def test_what_is_kept_is_let_go_when_anything_it_calls_has_changed(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "main.py").write_text(MAIN)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}  # it tells sources of one size apart by the second only
    environment.pop("NUMBA_CACHE_DIR", None)

    def run():
        done = subprocess.run(
            [sys.executable, "main.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        said = re.sub(r"\d+ s", "some s", done.stderr)
        return int(done.stdout), said.removeprefix("compiling the loop of a test, once on this machine: ")

    (tmp_path / "called.py").write_text(CALLED)
    assert run() == (2, "about some s\n")
    (tmp_path / "called.py").write_text(CALLED.replace("value + 1", "value + 2"))
    assert run() == (3, "it took some s last time\n")
    assert run() == (3, "")


def test_a_loop_of_a_notebook_needs_no_file(capsys, tmp_path):
    """The text of a cell is in the name of what is compiled of it, so that it never grows old."""

    class Loop:
        signatures = ()
        py_func = types.FunctionType(compile("0", "/tmp/ipykernel_1/2.py", "exec"), {"__name__": "__main__"})
        stats = type("Stats", (), {"cache_path": str(tmp_path)})

    announce(Loop(), "a protocol of one's own")
    assert capsys.readouterr().err.startswith("compiling the loop of a protocol of one's own, ")
