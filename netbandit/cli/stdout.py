"""Standard output for one object: all other output goes to stderr."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO


@contextmanager
def stdout_alone(alone: bool) -> Iterator[TextIO]:
    """Yield standard output; if *alone*, other output meanwhile, also of worker processes, goes to stderr.

    Args:
        alone: Whether the caller alone may write to it; if not, nothing is changed.
    """
    if not alone:
        yield sys.stdout
        return
    real = sys.stdout
    real.flush()
    try:
        standard = real.fileno() == 1
    except (io.UnsupportedOperation, ValueError):  # a test captures the output
        standard = False
    if not standard:
        with redirect_stdout(sys.stderr):
            yield real
        return
    kept = os.dup(1)
    try:
        os.dup2(2, 1)  # children inherit it
        out = os.fdopen(kept, "w", encoding="utf-8", closefd=False)
        with redirect_stdout(sys.stderr):
            yield out
            out.flush()
    finally:
        sys.stderr.flush()
        os.dup2(kept, 1)
        os.close(kept)
