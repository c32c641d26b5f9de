import io
import math
import re
import threading
from types import SimpleNamespace

import pytest
from rich.console import Console

from netbandit.running import progress
from netbandit.running.progress import ProgressReport, reading
from netbandit.util.units import rough_time


class Clock:
    """What a progress report asks for the time, and to be called later: its time goes on when a test says so."""

    def __init__(self):
        self.now = 1000.0
        self._calls = []

    def monotonic(self):
        return self.now

    def timer(self, seconds, what):
        call = SimpleNamespace(at=self.now + seconds, what=what)
        call.start = lambda: self._calls.append(call)
        call.cancel = lambda: self._calls.remove(call) if call in self._calls else None
        return call

    def wait(self, seconds):
        ends = self.now + seconds
        while due := sorted((call for call in self._calls if call.at <= ends), key=lambda call: call.at):
            self._calls.remove(due[0])
            self.now = due[0].at
            due[0].what()
        self.now = ends


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "LINE_EVERY", 30.0)
    monkeypatch.setattr(progress, "LONG", math.inf)
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(progress, "threading", SimpleNamespace(Timer=clock.timer, Lock=threading.Lock))
    return clock


def report(clock, terminal, width=80, doing=""):
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal, get_time=clock.monotonic)
    return ProgressReport(lambda: console, doing), stream


def test_a_log_gets_plain_lines_at_intervals_even_while_no_run_ends(clock):
    told, stream = report(clock, terminal=False)
    with told:
        told(0, 3)
        clock.wait(29)
        assert stream.getvalue() == ""
        clock.wait(2)
        told(1, 3)
        told(2, 3)
        clock.wait(30)
        told(3, 3)
    clock.wait(100)
    assert stream.getvalue().splitlines() == [
        "0 of 3 runs after 30 s",
        "2 of 3 runs after 60 s, 2.0 a minute, about 30 s left",
        "3 of 3 runs after 61 s, 3.0 a minute",
    ]


def test_the_lines_of_a_long_sweep_come_more_and_more_rarely(clock):
    told, stream = report(clock, terminal=False)
    with told:
        told(1, 3)
        clock.wait(36 * 3600)
    seconds = [line.split(" after ")[1].split(",")[0] for line in stream.getvalue().splitlines()]
    assert seconds[:3] == ["30 s", "60 s", "2 min"]
    assert 120 < len(seconds) < 140  # each 30 s for ten minutes, then each time 5 % later


def test_points_and_the_rate_are_told(clock):
    told, stream = report(clock, terminal=False)
    began = clock.now
    with told:
        for done, points, seconds in ((0, 0, 5), (40, 3, 20), (3_000, 60, 60), (120, 12, 600), (1, 0, 90_000)):
            told(done, 12_000, points, 240)
            clock.now = began + seconds
            told._say()
    assert stream.getvalue().splitlines() == [
        "0 of 12000 runs, 0 of 240 points after 5 s",
        "40 of 12000 runs, 3 of 240 points after 20 s, 2.0 a second, about 1.7 h left",
        "3000 of 12000 runs, 60 of 240 points after 60 s, 50 a second, about 3 min left",
        "120 of 12000 runs, 12 of 240 points after 10 min, 12 a minute, about 16.5 h left",
        "1 of 12000 runs, 0 of 240 points after 25.0 h, 1.0 a day, about 299975.0 h left",
    ]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_study_that_is_found_to_be_long_is_said_to_be_so_once(clock, monkeypatch, terminal):
    monkeypatch.setattr(progress, "LONG", 60.0)
    told, stream = report(clock, terminal)
    began = clock.now
    # Processes have started for long; then a run ends in a second; then they are more than were thought.
    for seconds, done, total in ((0, 0, 40), (30, 1, 40), (39, 3, 40), (50, 21, 40), (60, 31, 400)):
        assert stream.getvalue() == ""  # of what was told before
        clock.now = began + seconds
        told(done, total)
    line = "31 of 400 runs after 60 s, 31 a minute, about 12 min left; if it is stopped, the same command continues"
    assert stream.getvalue().startswith(line)
    told(32, 400)
    assert len(stream.getvalue().splitlines()) == 1


def test_an_interrupted_sweep_does_not_say_that_it_is_done(clock):
    told, stream = report(clock, terminal=False)
    with told:
        told(1, 3)
        clock.wait(31)
    assert stream.getvalue() == "1 of 3 runs after 30 s, 2.0 a minute, about 60 s left\n"


def test_a_log_is_told_how_much_of_a_long_file_has_been_read(clock):
    told, stream = report(clock, terminal=False)
    with reading(lambda: told._console) as watch:
        watch("clicks[1].txt", 100, 400)
        clock.wait(31)
    assert stream.getvalue() == "reading clicks[1].txt: 25% after 30 s, about 2 min left\n"


def test_a_log_gets_no_line_from_a_short_sweep(clock):
    told, stream = report(clock, terminal=False)
    with told:
        for done in range(1000):
            told(done, 1000)
    clock.wait(60)
    assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar_even_before_the_first_run_has_ended(clock):
    told, stream = report(clock, terminal=True)
    with told:
        told(0, 3)
        clock.wait(2)
        assert "0/3" in stream.getvalue()
        told(2, 3)
        told._bar.refresh()
        assert "2/3" in stream.getvalue()
        assert "about 1 s left" in stream.getvalue()


@pytest.mark.parametrize(("width", "passed"), [(60, ""), (80, " 0:01:40")])
def test_a_terminal_is_told_everything_in_one_line_however_narrow(clock, width, passed):
    told, stream = report(clock, terminal=True, width=width)
    clock.wait(98)
    with told:
        told(40, 200, 3, 10)
        clock.wait(2)
    seen = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n").splitlines()
    (line,) = {" ".join(line.replace("━", "").replace("╸", "").replace("╺", "").split()) for line in seen if line}
    assert line == f"runs 40/200 points 3/10{passed} 24 a minute, about 7 min left"


def test_a_terminal_gets_nothing_from_a_short_sweep(clock):
    told, stream = report(clock, terminal=True)
    with told:
        told(0, 3)
        clock.wait(1)
        told(3, 3)
    clock.wait(60)
    assert stream.getvalue() == ""


def test_a_long_file_gets_a_bar_with_its_share(clock):
    told, stream = report(clock, terminal=True)
    with reading(lambda: told._console) as watch:
        watch("clicks.txt", 0, 400)
        watch("clicks.txt", 100, 400)
        clock.wait(2)
        assert "reading clicks.txt" in stream.getvalue()
        assert "25%" in stream.getvalue()
        watch("more.txt", 1, 2)
        assert "reading more.txt" not in stream.getvalue()
        clock.wait(2)
        assert "reading more.txt" in stream.getvalue()


@pytest.mark.parametrize(
    ("terminal", "line"), [(True, r"drawing pictures +0:00:03"), (False, "drawing pictures after 30 s")]
)
def test_what_has_no_known_end_shows_that_it_goes_on(clock, terminal, line):
    told, stream = report(clock, terminal, doing="drawing pictures")
    with told:
        clock.wait(1)
        assert not stream.getvalue()
        clock.wait(30 if not terminal else 2)
        if terminal:
            told._bar.refresh()
    seen = re.sub(r"\x1b\[[\d;?]*[A-Za-z]|[━╸╺]", "", stream.getvalue())
    assert re.search(line, seen)
    clock.wait(100)
    assert stream.getvalue().count("drawing") == seen.count("drawing")


def test_checking_is_shown_until_a_file_is_read(clock):
    told, stream = report(clock, terminal=True)
    with reading(lambda: told._console, "checking a.toml") as watch:
        clock.wait(2)
        assert "checking a.toml" in stream.getvalue()
        watch("clicks.txt", 100, 400)
        clock.wait(2)
        assert "reading clicks.txt" in stream.getvalue()


def test_times_are_as_rough_as_a_guess():
    assert [rough_time(seconds) for seconds in (0.1, 59.6, 100, 3000, 7200)] == [
        "1 s",
        "60 s",
        "2 min",
        "50 min",
        "2.0 h",
    ]


def test_a_bar_is_shown_where_it_is_known_late_what_is_to_be_done(clock):
    told, stream = report(clock, terminal=True)
    with told:
        clock.wait(10)
        assert stream.getvalue() == ""
        told(0, 7)
        clock.wait(1)
        assert "0/7" in stream.getvalue()
