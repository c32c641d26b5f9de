import io
import time

from rich.console import Console

from netbandit.study import progress
from netbandit.study.progress import ProgressReport, reading


def report(monkeypatch, terminal, shown_after=0.05, line_every=0.0):
    monkeypatch.setattr(progress, "SHOWN_AFTER", shown_after)
    monkeypatch.setattr(progress, "LINE_EVERY", line_every)
    stream = io.StringIO()
    return ProgressReport(Console(file=stream, width=80, force_terminal=terminal)), stream


def test_a_log_gets_a_plain_line_now_and_then(monkeypatch):
    told, stream = report(monkeypatch, terminal=False)
    with told:
        for done in range(4):
            told(done, 3)
    assert stream.getvalue() == "1 of 3 runs, about 1 s left\n2 of 3 runs, about 1 s left\n"


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


def test_a_terminal_gets_nothing_from_a_short_sweep(monkeypatch):
    told, stream = report(monkeypatch, terminal=True, shown_after=30.0)
    with told:
        told(0, 3)
        told(3, 3)
    assert stream.getvalue() == ""


def test_a_long_file_gets_a_bar_with_its_share(monkeypatch):
    told, stream = report(monkeypatch, terminal=True)
    with reading(told._console) as watch:
        watch("clicks.txt", 0, 400)
        watch("clicks.txt", 100, 400)
        time.sleep(0.5)
        assert "reading clicks.txt" in stream.getvalue()
        assert "25%" in stream.getvalue()
        before = len(stream.getvalue())
        watch("more.txt", 1, 2)
        time.sleep(0.5)
        assert "reading more.txt" in stream.getvalue()[before:]


def test_times_are_as_rough_as_a_guess():
    assert [progress._rough(seconds) for seconds in (0.1, 59.6, 100, 3000, 7200)] == [
        "1 s",
        "60 s",
        "2 min",
        "50 min",
        "2.0 h",
    ]
