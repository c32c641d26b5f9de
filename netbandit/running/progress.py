"""Progress of a sweep, or of anything else that takes long: a bar on a terminal, occasional lines in a log."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from netbandit.util.text import pluralize
from netbandit.util.units import rough_time

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

SHOWN_AFTER = 2.0
"""Seconds without any report."""

LONG = 60.0
"""A sweep with at least this many seconds left is announced once in a permanent line."""

SURE_AFTER = 10.0
"""Seconds from the first run that has ended until those that have ended since say how long the rest will take."""

LINE_EVERY = 30.0
"""The least interval (s) between two lines without a terminal."""

LINE_SHARE = 0.05
"""The next line follows after this share of the elapsed time: a day needs few more lines than an hour."""


_WIDE = 80
"""Columns that a terminal must have for a bar and a clock beside the numbers."""

_SPANS = (("a second", 1), ("a minute", 60), ("an hour", 3600), ("a day", 86400))


class ProgressReport:
    """Shows how many runs have ended, and the time left.

    Use it as a context, and call it with the number of runs that have ended and the number there are to do, and the
    same of points. What is not made of runs is named; it is called with how much is done, or not at all.

    Args:
        console: Makes the console, once it is needed: if it is a terminal, it shows a bar that goes away at the end,
            else plain lines at intervals, also while no run ends.
        doing: What is done, such as "drawing pictures"; empty: runs.
    """

    def __init__(self, console: "Callable[[], Console]", doing: str = "") -> None:
        self._make_console = console
        self._doing = doing
        self._began = time.monotonic()
        self._done = self._total = 0
        self._points_done = self._points = 0
        self._bar: Progress | None = None
        self._lock = threading.Lock()
        self._lines = 0
        self._warned = bool(doing)
        self._first: tuple[float, int] | None = None  # time and count at the first ended run
        self._over = False

    @cached_property
    def _console(self) -> "Console":
        return self._make_console()

    def __enter__(self) -> Self:
        self._later(SHOWN_AFTER, self._begin)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._lines and self._total and self._done == self._total:
                self._say()
            self._total = 0
            self._over = True
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, done: int, total: int, points_done: int = 0, points: int = 0) -> None:
        """Report that *done* of *total* runs have ended, and with them *points_done* of *points* points."""
        with self._lock:
            self._done, self._total = done, total
            self._points_done, self._points = points_done, points
            if self._bar is not None:
                self._update(self._bar)
            if not self._warned and self._is_long():
                self._warned = True
                self._say("; if it is stopped, the same command continues it (--estimate tells the time in advance)")

    def _later(self, seconds: float, what: Callable[[], None]) -> None:
        self._timer = threading.Timer(seconds, what)
        self._timer.daemon = True
        self._timer.start()

    def _begin(self) -> None:
        if self._console.is_terminal:
            self._show()
        else:
            self._later(max(0.0, LINE_EVERY - SHOWN_AFTER), self._say_again)

    def _say_again(self) -> None:
        """Write a line if something is to be done, and another one later."""
        with self._lock:
            if self._over:
                return
            if self._done < self._total or (self._doing and not self._total):
                self._lines += 1
                self._say()
            self._later(max(LINE_EVERY, LINE_SHARE * (time.monotonic() - self._began)), self._say_again)

    def _say(self, more: str = "") -> None:
        far = [self._doing] if self._doing else [f"{self._done} of {pluralize(self._total, 'run')}"]
        if self._doing and self._total:
            far = [f"{self._doing}: {self._done / self._total:.0%}"]
        if self._points > 1:
            far.append(f"{self._points_done} of {self._points} points")
        parts = [f"{', '.join(far)} after {rough_time(time.monotonic() - self._began)}", self._rate(), self._estimate()]
        self._console.print(", ".join(filter(None, parts)) + more, soft_wrap=True, highlight=False, markup=False)

    def _show(self) -> None:
        """Start the bar, even if no run has ended yet."""
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        with self._lock:
            if self._over:
                return
            if not self._total and not self._doing:  # the number of runs is not known yet
                self._later(SHOWN_AFTER / 4, self._show)
                return
            wide = self._console.width >= _WIDE
            self._bar = Progress(
                TextColumn(self._doing or "runs", markup=False),
                *([BarColumn(bar_width=None)] if wide else []),
                TaskProgressColumn() if self._doing else MofNCompleteColumn(),
                *([TextColumn("{task.fields[points]}")] if self._points > 1 else []),
                *([TimeElapsedColumn()] if wide else []),
                TextColumn("{task.fields[estimate]}"),
                console=self._console,
                transient=True,
            )
            self._bar.add_task("", total=None, points="", estimate="")
            self._bar.tasks[0].start_time = self._began
            self._update(self._bar)
            self._bar.start()

    def _update(self, bar: "Progress") -> None:
        points = f"points {self._points_done}/{self._points}"
        estimate = ", ".join(filter(None, (self._rate(), self._estimate())))
        whole = self._total or None  # unknown
        bar.update(bar.task_ids[0], completed=self._done, total=whole, points=points, estimate=estimate)

    def _rate(self) -> str:
        """Return the rate of runs per second, minute, hour or day; empty if it is unknown."""
        seconds = time.monotonic() - self._began
        if self._doing or not self._done or not seconds:
            return ""
        name, length = next(
            ((name, length) for name, length in _SPANS if self._done / seconds * length >= 0.95), _SPANS[-1]
        )
        rate = self._done / seconds * length
        return f"{rate:,.0f} {name}" if rate >= 10 else f"{rate:.1f} {name}"

    def _estimate(self) -> str:
        """Return the estimated time left, or an empty text if it is unknown."""
        if not self._done or self._done == self._total:
            return ""
        seconds = (time.monotonic() - self._began) / self._done * (self._total - self._done)
        return f"about {rough_time(seconds)} left"

    def _is_long(self) -> bool:
        """Return whether much is left, by what has ended since the first run has: until then processes start."""
        now = time.monotonic()
        if self._first is None:
            self._first = (now, self._done) if self._done else None
            return False
        since, before = self._first
        ended = self._done - before
        return ended > 0 and now - since >= SURE_AFTER and (now - since) / ended * (self._total - self._done) >= LONG


@contextmanager
def reading(console: "Callable[[], Console]", doing: str = "") -> Iterator[Callable[[str, int, int], None]]:
    """Give a function to be told the name of a file that is read, how much of it has been, and how much there is.

    Before it is told of the first one, the progress is that of *doing*, if anything. What is drawn is told, too, by a
    text that begins so.
    """
    reports: dict[str, ProgressReport] = {}
    with ExitStack() as open_reports:
        if doing:
            open_reports.enter_context(ProgressReport(console, doing))

        def watch(file: str, done: int, total: int) -> None:
            if file not in reports:
                open_reports.pop_all().close()  # one bar at a time
                text = file if file.startswith("drawing ") else f"reading {file}"
                reports[file] = open_reports.enter_context(ProgressReport(console, text))
            reports[file](done, total)

        yield watch
