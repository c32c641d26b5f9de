"""Compiled loops that are kept: saying that one is being compiled, which takes seconds, and letting go of old ones."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from types import CodeType
from typing import Any

from netbandit.compilation.steps import kept, name_of


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
    """Tell if *loop* has to be compiled first, and how long that takes: on stderr, unless we work for another process.

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
    if not any(kept(loop)):
        missing = [one for one in (loop, *others) if not any(kept(one))]
        tell(f"compiling the loop of {what}, once on this machine: {_how_long(missing)}")
        for one in missing:
            _time(one)


_SECONDS_A_BYTE = 0.0004
"""About how long a byte of a loop's code, and of all that is compiled with it, takes: within a factor of two."""


def _how_long(loops: Sequence[Any]) -> str:
    """Return how long it took to compile *loops* here last time, or about how long it takes if that is not known."""
    try:
        return f"it took {_in_words(sum(float(_seconds_of(one).read_text()) for one in loops))} last time"
    except (OSError, ValueError):
        seen: set[Any] = set()
        return f"about {_in_words(_SECONDS_A_BYTE * sum(_bytes_of(one, seen) for one in loops))}"


def _in_words(seconds: float) -> str:
    return f"{max(1, round(seconds))} s"


def _seconds_of(loop: Any) -> Path:
    """Return the file beside what is kept of *loop* that says how many seconds it took to compile it."""
    return Path(loop.stats.cache_path) / f"{name_of(loop)}.seconds"


def _bytes_of(loop: Any, seen: set[Any]) -> int:
    """Return how long the code is of *loop* and of what it calls, but for what was *seen*; added to that."""
    if loop in seen:
        return 0
    seen.add(loop)
    return len(loop.py_func.__code__.co_code) + sum(_bytes_of(called, seen) for called in called_by(loop))


def _time(loop: Any) -> None:
    """Write how long it takes to compile *loop*, when it is."""
    from numba.core import event

    class Stopwatch(event.Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, found: Any) -> None:
            if found.data["dispatcher"] is loop:
                self.begun = perf_counter()

        def on_end(self, found: Any) -> None:
            if found.data["dispatcher"] is loop:
                event.unregister("numba:compile", self)
                with suppress(OSError):  # whoever cannot write here is told about how long it takes
                    _seconds_of(loop).write_text(f"{perf_counter() - self.begun:.1f}\n")

    event.register("numba:compile", Stopwatch())


def called_by(loop: Any) -> Iterator[Any]:
    """Return the compiled functions that *loop* calls by name."""
    function = loop.py_func
    codes = [function.__code__]
    for code in codes:
        codes += [one for one in code.co_consts if isinstance(one, CodeType)]  # inner functions
    for name in {name: None for code in codes for name in code.co_names}:
        called = function.__globals__.get(name)
        if hasattr(called, "py_func") and hasattr(called, "stats"):
            yield called


def _changed(source: str) -> float:
    """Return when a file of sources last changed; 0: there is none, as of a notebook: its text is in names."""
    try:
        return Path(source).stat().st_mtime
    except OSError:
        return 0.0


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
    changed = known[loop] = max(map(_changed, sources))
    for called in called_by(loop):
        changed = max(changed, _let_go(called, known))
    known[loop] = changed
    if loop.stats.cache_path is not None:
        for index in kept(loop):
            with suppress(OSError):  # another process may have removed it, or be reading it
                if index.stat().st_mtime < changed:
                    index.unlink()
    return changed
