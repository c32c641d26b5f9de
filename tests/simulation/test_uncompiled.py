"""Slow tests that are slow for what they compile, half a minute a loop, in a process that compiles nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = [
    "test_compiled_calls.py",
    "test_compiled_rounds.py",
    "test_overlapping_rounds.py",
]


@pytest.mark.slow  # a minute in one piece; .ci/run runs it
def test_what_goes_wrong_is_the_same_before_it_is_compiled():
    # Integers of plain Python warn where they wrap around.
    words = ["-m", "pytest", "-q", "-n0", "-m", "slow", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    files = [HERE / name for name in FILES]
    found = subprocess.run(
        [sys.executable, *words, *files], env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout  # also not 0 where no test was found
    assert "skipped" not in found.stdout
