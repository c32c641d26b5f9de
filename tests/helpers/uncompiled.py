"""Tests of a file that take long for what they compile, in a process that compiles nothing."""

import os
import subprocess
import sys


def slow_tests_pass(file):
    """Run the slow tests of *file* as plain Python, whose integers warn where they wrap around."""
    words = [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "slow", "-p", "no:cacheprovider", "-W", "ignore", file]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    found = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout  # not so either if there are none
    return True
