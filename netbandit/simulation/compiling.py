"""Saying that a loop is being compiled, which takes seconds, once on a machine."""

import sys
from pathlib import Path
from typing import Any


def announce(loop: Any, what: str) -> None:
    """Write a line to stderr if *loop* has to be compiled first.

    Args:
        loop: What ``numba.njit(cache=True)`` made of a function.
        what: What the loop is of, for the reader.
    """
    if getattr(loop, "signatures", True) or loop.stats.cache_path is None:
        return  # compiled in this process, or not to be kept
    function = loop.py_func
    kept = Path(loop.stats.cache_path).glob(f"{function.__module__.rsplit('.', 1)[-1]}.{function.__qualname__}-*.nbi")
    if not any(kept):
        print(f"compiling the loop of {what}, once on this machine: some seconds", file=sys.stderr, flush=True)
