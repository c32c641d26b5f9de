"""Tests of loops that take half a minute to compile, run in a process that compiles nothing."""

import os
import subprocess
import sys


def slow_ones(file, names):
    """Run the slow tests of a *file* whose names have an expression's words; return what pytest says last."""
    words = [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "slow", "-k", names, "-p", "no:cacheprovider", file]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    found = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return found.stdout.splitlines()[-1]
