import io
import math
import re
import time

import pytest
from rich.console import Console

from netbandit.running import progress
from netbandit.running.progress import ProgressReport, reading
from netbandit.units import rough_time


def report(monkeypatch, terminal, shown_after=0.05, line_every=0.0, long=math.inf):
    monkeypatch.setattr(progress, "SHOWN_AFTER", shown_after)
    monkeypatch.setattr(progress, "LINE_EVERY", line_every)
    monkeypatch.setattr(progress, "LONG", long)
    stream = io.StringIO()
    return ProgressReport(Console(file=stream, width=80, force_terminal=terminal)), stream


def lines(stream):
    """The lines in a log, with the rate, which no test that waits knows, left out."""
    return re.sub(r", [\d.]+ a second", "", stream.getvalue()).splitlines()


def test_a_log_gets_plain_lines_at_intervals_even_while_no_run_ends(monkeypatch):
    told, stream = report(monkeypatch, terminal=False, line_every=0.4)
    with told:
        told(0, 3)
        time.sleep(0.6)
        assert stream.getvalue() == "0 of 3 runs after 1 s\n"
        told(1, 3)
        told(2, 3)
        time.sleep(0.4)
        assert lines(stream)[1:] == ["2 of 3 runs after 1 s, about 1 s left"]
        told(3, 3)
    assert lines(stream)[2:] == ["3 of 3 runs after 1 s"]
    time.sleep(0.5)
    assert len(stream.getvalue().splitlines()) == 3


def test_the_lines_of_a_long_sweep_come_more_and_more_rarely(monkeypatch):
    waits = []
    told, stream = report(monkeypatch, terminal=False, line_every=30.0)
    monkeypatch.setattr(told, "_later", lambda seconds, what: waits.append(seconds))
    told(1, 3)
    for hours in (0, 1, 24):
        told._began = time.monotonic() - 3600 * hours
        told._say_again()
    assert [round(wait) for wait in waits] == [30, 180, 4320]
    assert stream.getvalue().splitlines()[1:] == [
        "1 of 3 runs after 60 min, 1.0 an hour, about 2.0 h left",
        "1 of 3 runs after 24.0 h, 1.0 a day, about 48.0 h left",
    ]


def test_points_and_the_rate_are_told(monkeypatch):
    told, stream = report(monkeypatch, terminal=False, line_every=30.0)
    monkeypatch.setattr(told, "_later", lambda seconds, what: None)
    for done, points, seconds in ((0, 0, 5), (40, 3, 20), (120, 12, 600), (3_000, 60, 60)):
        told(done, 12_000, points, 240)
        told._began = time.monotonic() - seconds
        told._say_again()
    assert stream.getvalue().splitlines() == [
        "0 of 12000 runs, 0 of 240 points after 5 s",
        "40 of 12000 runs, 3 of 240 points after 20 s, 2.0 a second, about 1.7 h left",
        "120 of 12000 runs, 12 of 240 points after 10 min, 12 a minute, about 16.5 h left",
        "3000 of 12000 runs, 60 of 240 points after 60 s, 50 a second, about 3 min left",
    ]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_study_that_is_found_to_be_long_is_said_to_be_so_once(monkeypatch, terminal):
    told, stream = report(monkeypatch, terminal=terminal, long=60.0)
    now = told._began
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    # Processes have started for long; then a run ends in a second; then they are more than were thought.
    for seconds, done, total in ((0, 0, 40), (30, 1, 40), (39, 3, 40), (50, 21, 40), (60, 31, 400)):
        assert stream.getvalue() == ""  # of what was told before
        now = told._began + seconds
        told(done, total)
    line = "31 of 400 runs after 60 s, 31 a minute, about 12 min left; a long study, which goes on from where it was"
    assert stream.getvalue().startswith(line)
    told(32, 400)
    assert len(stream.getvalue().splitlines()) == 1


def test_an_interrupted_sweep_does_not_say_that_it_is_done(monkeypatch):
    told, stream = report(monkeypatch, terminal=False, line_every=0.05)
    with told:
        told(1, 3)
        time.sleep(0.15)
    assert set(lines(stream)) == {"1 of 3 runs after 1 s, about 1 s left"}


def test_a_log_is_told_how_much_of_a_long_file_has_been_read(monkeypatch):
    told, stream = report(monkeypatch, terminal=False, line_every=0.3)
    with reading(told._console) as watch:
        watch("clicks[1].txt", 100, 400)
        time.sleep(0.45)
    assert stream.getvalue() == "clicks[1].txt: 25% after 1 s, about 1 s left\n"


def test_a_log_gets_no_line_from_a_short_sweep(monkeypatch):
    told, stream = report(monkeypatch, terminal=False, line_every=30.0)
    with told:
        for done in range(1000):
            told(done, 1000)
    assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar_even_before_the_first_run_has_ended(monkeypatch):
    told, stream = report(monkeypatch, terminal=True)
    with told:
        told(0, 3)
        time.sleep(0.5)
        assert "0/3" in stream.getvalue()
        told(2, 3)
        time.sleep(0.5)
        assert "2/3" in stream.getvalue()
        assert "about 1 s left" in stream.getvalue()


@pytest.mark.parametrize(("width", "clock"), [(60, ""), (80, r" 0:01:4\d")])
def test_a_terminal_is_told_everything_in_one_line_however_narrow(monkeypatch, width, clock):
    told, stream = report(monkeypatch, terminal=True)
    told._console = Console(file=stream, width=width, force_terminal=True)
    told._began -= 100
    with told:
        told(40, 200, 3, 10)
        time.sleep(0.5)
    seen = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n").splitlines()
    (line,) = {" ".join(line.replace("━", "").replace("╸", "").replace("╺", "").split()) for line in seen if line}
    assert re.fullmatch(rf"runs 40/200 points 3/10{clock} 24 a minute, about 7 min left", line)


def test_a_terminal_gets_nothing_from_a_short_sweep(monkeypatch):
    told, stream = report(monkeypatch, terminal=True, shown_after=30.0)
    with told:
        told(0, 3)
        told(3, 3)
    assert stream.getvalue() == ""


def test_a_long_file_gets_a_bar_with_its_share(monkeypatch):
    told, stream = report(monkeypatch, terminal=True)

    def wait_for(text, after=0):
        ends = time.monotonic() + 30
        while text not in stream.getvalue()[after:] and time.monotonic() < ends:
            time.sleep(0.05)
        assert text in stream.getvalue()[after:]

    with reading(told._console) as watch:
        watch("clicks.txt", 0, 400)
        watch("clicks.txt", 100, 400)
        wait_for("reading clicks.txt")
        wait_for("25%")
        before = len(stream.getvalue())
        watch("more.txt", 1, 2)
        wait_for("reading more.txt", before)


def test_times_are_as_rough_as_a_guess():
    assert [rough_time(seconds) for seconds in (0.1, 59.6, 100, 3000, 7200)] == [
        "1 s",
        "60 s",
        "2 min",
        "50 min",
        "2.0 h",
    ]


def test_a_bar_is_shown_where_it_is_known_late_what_is_to_be_done(monkeypatch):
    monkeypatch.setattr("netbandit.running.progress.SHOWN_AFTER", 0.1)
    told, stream = report(monkeypatch, terminal=True)
    with told:
        time.sleep(0.3)
        assert stream.getvalue() == ""
        told(0, 7)
        wait_for(stream, "0/7")


def wait_for(stream, text):
    deadline = time.monotonic() + 20
    while text not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert text in stream.getvalue()
