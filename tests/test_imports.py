"""Who may import whom, and how long it takes until a user sees anything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.ci
def test_floors_and_ideas_import_only_what_they_may(tmp_path):
    """The contracts are in pyproject.toml; the output names the import that breaks one."""
    script = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(cache_dir=sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, env=_environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


@pytest.mark.ci
@pytest.mark.parametrize("arguments", [["-m", "netbandit", "--help"], ["-c", "import netbandit"]])
def test_the_start_takes_less_than_half_a_second(arguments):
    """Of processor time, in the best of a few tries: what else the machine does is not the package's."""
    assert min(_seconds([sys.executable, *arguments]) for _ in range(5)) < 0.5


def _seconds(command):
    began = os.times()
    subprocess.run(command, cwd=ROOT, env=_environment(), stdout=subprocess.DEVNULL, check=True)
    ended = os.times()
    return ended.children_user + ended.children_system - began.children_user - began.children_system


def _environment():
    return os.environ | {"PYTHONPATH": str(ROOT)}
