"""Compiled loops that are kept: saying that one is being compiled, which takes seconds, and letting go of old ones."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def to_stderr(line: str) -> None:
    """Write *line* to stderr."""
    print(line, file=sys.stderr, flush=True)


tell: Callable[[str], None] = to_stderr
"""Who is told; a process that works for another one tells that, which hears it from several and says it once."""


@contextmanager
def telling(teller: Callable[[str], None]) -> Iterator[None]:
    """Have *teller* told in place of who is told now."""
    global tell
    before, tell = tell, teller
    try:
        yield
    finally:
        tell = before


def announce(loop: Any, what: str, *others: Any) -> None:
    """Tell if *loop* has to be compiled first: a line on stderr, unless this process works for another one.

    What was kept of it is let go if the source of anything that it calls is newer: numba itself looks only at the file
    that the loop is in.

    Args:
        loop: What ``numba.njit(cache=True)`` made of a function.
        what: What the loop is of, for the reader.
        others: What is compiled beside it.
    """
    if getattr(loop, "signatures", True) or loop.stats.cache_path is None:
        return  # compiled in this process, or not to be kept
    known: dict[Any, float] = {}
    for one in (loop, *others):
        _let_go(one, known)
    if not any(_kept(loop)):
        tell(f"compiling the loop of {what}, once on this machine: some seconds")


def _kept(loop: Any) -> Iterator[Path]:
    """Return the indices of what is kept of *loop*."""
    function = loop.py_func
    name = f"{function.__module__.rsplit('.', 1)[-1]}.{function.__qualname__}-*.nbi"
    return Path(loop.stats.cache_path).glob(name)


def _let_go(loop: Any, known: dict[Any, float]) -> float:
    """Remove what is older than its sources, of *loop* and of all that it calls; return when they last changed.

    Args:
        loop: The loop.
        known: When the sources of loops that have been looked at last changed; added to.
    """
    if loop in known:
        return known[loop]
    function = loop.py_func
    sources = getattr(function, "__written_from__", (function.__code__.co_filename,))
    changed = known[loop] = max(Path(source).stat().st_mtime for source in sources)
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if hasattr(called, "py_func") and hasattr(called, "stats"):
            changed = max(changed, _let_go(called, known))
    known[loop] = changed
    if loop.stats.cache_path is not None:
        for index in _kept(loop):
            with suppress(OSError):  # another process may have removed it, or be reading it
                if index.stat().st_mtime < changed:
                    index.unlink()
    return changed
