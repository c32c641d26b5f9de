"""Announces compilations of cached loops, which take seconds, and removes outdated cache files."""

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
"""Receives notices; a worker process forwards them to its parent, which shows each only once."""


@contextmanager
def telling(teller: Callable[[str], None]) -> Iterator[None]:
    """Send notices to *teller* inside the context."""
    global tell
    before, tell = tell, teller
    try:
        yield
    finally:
        tell = before


def announce(loop: Any, what: str, *others: Any) -> None:
    """Announce the compilation of *loop*, if needed, and its estimated duration: on stderr, or to the parent process.

    Its cache files are removed if the source of any function that it calls is newer: numba itself checks only the file
    that contains the loop.

    Args:
        loop: A function compiled with ``numba.njit(cache=True)``.
        what: A description of the loop for users.
        others: Functions compiled along with it.
    """
    if getattr(loop, "signatures", True) or loop.stats.cache_path is None:
        return  # already compiled in this process, or not cached
    known: dict[Any, float] = {}
    for one in (loop, *others):
        _let_go(one, known)
    if not any(kept(loop)):
        missing = [one for one in (loop, *others) if not any(kept(one))]
        tell(f"compiling the loop of {what}, once on this machine: {_how_long(missing)}")
        for one in missing:
            _time(one)


_SECONDS_A_BYTE = 0.0005
"""Seconds to compile a byte of bytecode of a loop and its callees: measured .0004 (counts) to .0006 (ellipsoids), and
.001 where a loop draws by numba's own generators."""


def _how_long(loops: Sequence[Any]) -> str:
    """Return how long compiling *loops* took last time on this machine, or an estimate."""
    try:
        return f"it took {_in_words(sum(float(_seconds_of(one).read_text()) for one in loops))} last time"
    except (OSError, ValueError):
        seen: set[Any] = set()
        return f"about {_in_words(_SECONDS_A_BYTE * sum(_bytes_of(one, seen) for one in loops))}"


def _in_words(seconds: float) -> str:
    return f"{max(1, round(seconds))} s"


def _seconds_of(loop: Any) -> Path:
    """Return the file beside the cache files of *loop* that holds its compile time in seconds."""
    return Path(loop.stats.cache_path) / f"{name_of(loop)}.seconds"


def _bytes_of(loop: Any, seen: set[Any]) -> int:
    """Return the bytes of bytecode of *loop* and its callees, except those in *seen*, which is updated, or at hand."""
    if loop in seen or loop.signatures or any(kept(loop)):
        return 0
    seen.add(loop)
    return len(loop.py_func.__code__.co_code) + sum(_bytes_of(called, seen) for called in called_by(loop))


def _time(loop: Any) -> None:
    """Record the compile time of *loop* once it is compiled."""
    from numba.core import event

    class Stopwatch(event.Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, found: Any) -> None:
            if found.data["dispatcher"] is loop:
                self.begun = perf_counter()

        def on_end(self, found: Any) -> None:
            if found.data["dispatcher"] is loop:
                event.unregister("numba:compile", self)
                with suppress(OSError):  # without write access, notices show an estimate
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
    """Return when a source file last changed; 0 without one, as in notebooks, where names contain a digest."""
    try:
        return Path(source).stat().st_mtime
    except OSError:
        return 0.0


def _let_go(loop: Any, known: dict[Any, float]) -> float:
    """Remove cache files of *loop* and its callees that are older than their sources; return when these last changed.

    Args:
        loop: The loop.
        known: When the sources of the loops visited so far last changed; updated.
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
