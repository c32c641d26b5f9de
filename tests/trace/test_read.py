"""A trace is read as its run has written it, or the reader hears what is wrong."""

import json

import pytest
from click.testing import CliRunner
from helpers.made_up_runs import made_up, trace, write

from netbandit.cli import main
from netbandit.plots.study_pictures import timelines
from netbandit.report.animation import animated
from netbandit.report.hot_spots import hot_spots
from netbandit.results.results_folder import ResultsFolder
from netbandit.trace.perfetto import convert
from netbandit.trace.read import Job, TraceError, left_out, read_trace

MESSAGE = {"kind": "DATA", "round": 1, "from": 0, "to": "server", "bytes": 24, "sent": 0, "start": 0, "arrival": 9}
PHASE = {"phase": "exploit", "agent": 0, "round": 1, "begin": 0, "end": 20_000_000, "arm": 3}


def lines(*entries):
    return "".join((entry if isinstance(entry, str) else json.dumps(entry)) + "\n" for entry in entries)


@pytest.fixture
def traced(tmp_path):
    """A results folder whose only run has a trace, and the trace."""
    write(tmp_path, [made_up()])
    folder = ResultsFolder(tmp_path).run_folder(ResultsFolder(tmp_path).study().points[0].keys[0])
    trace(folder, lines(MESSAGE, PHASE))
    return tmp_path, folder / "trace.jsonl"


def shown(folder):
    """Which readers show the trace of a results folder."""
    found = {}
    for layout in ("html", "perfetto"):
        done = CliRunner().invoke(main, ["trace", str(folder), "--format", layout])
        assert done.exit_code in (0, 2), done.output
        assert done.exit_code == 0 or "as it was written" in done.output or "does not match" in done.output, done.output
        found[layout] = done.exit_code == 0
    study = ResultsFolder(folder).study()
    found["animated in a report"] = animated(folder, study) is not None
    found["waits in a report"] = "waited (slots)" in [name for name, _ in hot_spots(folder, study)[0].nodes.headings]
    found["picture"] = [*timelines(folder, study)] != []
    found["nothing to say"] = [*left_out(folder, study)] == []
    return found


def test_no_reader_takes_a_trace_that_was_changed(traced):
    folder, file = traced
    assert set(shown(folder).values()) == {True}
    file.write_text(lines({**MESSAGE, "bytes": 2**20}, PHASE))
    assert set(shown(folder).values()) == {False}


@pytest.mark.ci
def test_pictures_and_reports_say_what_they_leave_out(traced):
    folder, file = traced
    file.write_text(lines(MESSAGE))
    for command in (["plot", "--x", "rounds"], ["report"]):
        done = CliRunner().invoke(main, [command[0], str(folder), *command[1:]])
        assert done.exit_code == 0, done.output
        said = f"trace left out: {file.parent}: trace.jsonl is not as it was written; run the scenario again\n"
        assert done.stderr == said


def test_a_run_that_was_never_traced_has_no_trace(traced):
    folder, file = traced
    said = file.read_text()
    write(folder, [made_up()])
    file.write_text(said)
    assert set(shown(folder).values()) == {False}


def test_a_trace_that_was_taken_out_of_its_run_is_taken_as_it_is(traced, tmp_path_factory):
    _, file = traced
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "trace.jsonl"
    elsewhere.write_text(lines({**MESSAGE, "bytes": 2**20}, PHASE))
    assert [message.size for message in read_trace(elsewhere).messages] == [2**20]
    copy = file.with_name("copy.jsonl")
    copy.write_text(elsewhere.read_text())
    assert [message.size for message in read_trace(copy).messages] == [2**20]


@pytest.mark.parametrize("key", ["round", "from", "bytes", "sent", "arrival", "agent", "begin", "arm", "kind", "phase"])
@pytest.mark.parametrize("value", ["1e400", "-1", "NaN", "1.5", "true", "null", '"7\\u001b[31m"', "9" * 400, "[[[1]]]"])
def test_a_line_that_says_what_no_run_says_is_named(tmp_path, key, value):
    file = tmp_path / "trace.jsonl"
    entry = MESSAGE if key in MESSAGE else PHASE
    line = json.dumps(entry).replace(f'"{key}": {json.dumps(entry[key])}', f'"{key}": {value}')
    file.write_text(lines(PHASE, MESSAGE, line))
    with pytest.raises(TraceError, match=r"trace\.jsonl:3: this is not a line of a trace"):
        read_trace(file)


def test_jobs_of_nodes_that_compute_are_read_and_shown(tmp_path):
    file = tmp_path / "made.jsonl"
    job = {"job": "message", "node": "server", "begin": 9, "end": 12_000, "handles": "DATA"}
    file.write_text(lines(MESSAGE, job, {"job": "item", "node": 0, "begin": 0, "end": 7_000}))
    assert read_trace(file).jobs == [Job("message", "server", 9, 12_000, "DATA"), Job("item", 0, 0, 7_000, "")]
    convert(file, tmp_path / "shown.json")
    events = json.loads((tmp_path / "shown.json").read_text())["traceEvents"]
    found = [(one["name"], one["ph"], one["ts"]) for one in events if one.get("cat") == "job"]
    assert found == [("item", "b", 0), ("handle DATA", "b", 0.009), ("item", "e", 7), ("handle DATA", "e", 12)]
    file.write_text(lines({**job, "node": -1}))
    with pytest.raises(TraceError, match=":1: this is not a line of a trace"):
        read_trace(file)
