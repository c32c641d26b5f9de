import json

import pytest
from click.testing import CliRunner

import benchmarks
from benchmarks import measure, record
from benchmarks.__main__ import main
from netbandit.cli import main as netbandit

pyperf = pytest.importorskip("pyperf")


def suite(*seconds, benchmark="horizon", messages=10):
    def run(value):
        return pyperf.Run([value, 1.01 * value], metadata={"count_messages": messages}, collect_metadata=False)

    def bench(subject, times):
        named = [pyperf.Run(r.values, metadata={**r.get_metadata(), "name": f"{benchmark}: {subject}"},
                            collect_metadata=False) for r in map(run, times)]  # fmt: skip
        return pyperf.Benchmark(named)

    return pyperf.BenchmarkSuite([bench("100000", seconds), bench("1000000000", [2 * value for value in seconds])])


@pytest.fixture
def measured(monkeypatch):
    """Have the command find these suites, one after the other."""

    def find(*suites):
        rest = iter(suites)
        monkeypatch.setattr(measure, "measure", lambda name: next(rest))

    return find


def call(*arguments):
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, arguments)


def test_what_pyperf_measured_is_found_by_subject():
    found = measure.found_in(suite(1.0, 3.0, messages=7))
    assert found["100000"].values == pytest.approx([1.0, 1.01, 3.0, 3.03])
    assert found["100000"].counts == {"messages": 7}


def test_a_record_is_read_as_it_was_written(tmp_path):
    file = tmp_path / "record.jsonl"
    written = [record.now("horizon", [{"horizon": 1, "seconds": value}], suite(value)) for value in (1.5, 1.25)]
    for run in written:
        record.append(file, run)
    assert record.read(file) == written
    assert set(written[0].machine) == {"processor", "cores", "system"}
    assert written[0].versions["netbandit"]
    assert [one.get_benchmark("horizon: 100000").get_values()[0] for one in record.values_in(file, ["horizon"])] == [
        1.5, 1.25,
    ]  # fmt: skip


@pytest.mark.ci
def test_the_command_records_and_compares(measured, tmp_path):
    file = tmp_path / "before"
    measured(suite(1.0, 1.01, 0.99), suite(3.0, 3.03, 2.97), suite(1.0, 1.01, 0.99))
    assert call("horizon", "--record", str(file)).exit_code == 0
    assert len(file.read_text().splitlines()) == 1
    slower = call("horizon", "--json", "--against", str(file))
    assert [row["horizon"] for row in json.loads(slower.stdout)] == [10**5, 10**9]
    assert "3.02 sec: 3.00x slower" in slower.stderr
    assert "slower" not in call("horizon", "--against", str(file)).stdout


def test_no_figure_of_a_wide_table_is_cut_off(measured, monkeypatch):
    row = {"graph": "complete of 50", **{f"messages_of_{n}_agents_per_s": 123_456_789 + n for n in range(12)}}
    measured(suite(1.0))
    monkeypatch.setattr(benchmarks.benchmark("horizon"), "rows", lambda found: [row])
    shown = call("horizon").stdout
    assert all(benchmarks.text(row, column) in shown for column in row)
    assert "…" not in shown
    assert "agents" in shown


def test_an_unknown_name_is_told_with_those_that_there_are():
    done = call("nothing")
    assert (done.exit_code, "messages, faults" in done.stderr) == (2, True)


def test_the_command_that_is_gone_says_where_it_went():
    done = CliRunner().invoke(netbandit, ["bench", "messages", "--json"])
    assert (done.exit_code, "python -m benchmarks" in done.stderr) == (2, True)


WHOLE = {"benchmark": "horizon", "rows": [{"a": 1.5}], "machine": {"processor": "p", "cores": 2, "system": "s"}}
WHOLE |= {"versions": {}, "at": ""}


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(WHOLE | {"machine": {}}),
        json.dumps(WHOLE | {"machine": 7}),
        json.dumps(WHOLE | {"versions": 7}),
        json.dumps(WHOLE | {"benchmark": [1]}),
        json.dumps(WHOLE | {"rows": [{"a": 1.5, "b": {}}]}),
        json.dumps(WHOLE | {"rows": 3}),
        json.dumps(WHOLE | {"more": 3}),
        "[" * 100_000,
        '{"benchmark": ' + "9" * 5_000 + "}",
        "null",
    ],
)
def test_what_is_no_record_is_named_before_anything_is_measured(tmp_path, line):
    file = tmp_path / "record.jsonl"
    file.write_text(f"{json.dumps(WHOLE)}\n{line}\n")
    done = call("horizon", "--against", str(file))
    assert done.exit_code == 2
    assert f"Error: {file}:2: not a line that python -m benchmarks --record writes\n" in done.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no run of a benchmark"),
        (json.dumps(WHOLE), "holds no values of pyperf of horizon"),
        (json.dumps(WHOLE | {"pyperf": {"version": 1}}), "pyperf cannot read its values of horizon"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_what_holds_nothing_to_compare_with_is_told(tmp_path, content, said):
    file = tmp_path / "record.jsonl"
    if content is not None:
        file.write_text(content)
    done = call("horizon", "--against", str(file))
    assert (done.exit_code, f"{file}: {said}" in done.stderr) == (2, True), done.stderr


def test_mistakes_are_told_before_anything_is_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(measure, "measure", lambda name: pytest.fail("measured"))
    nowhere = tmp_path / "none" / "record.jsonl"
    monkeypatch.setenv("NETBANDIT_EXECUTION", "fast")
    done = call("horizon", "--record", str(nowhere), "--against", str(tmp_path / "missing"))
    assert done.exit_code == 2
    for said in ("NETBANDIT_EXECUTION", f"there is no folder {nowhere.parent}", "missing: cannot be read"):
        assert said in done.stderr


def test_a_process_that_fails_is_told_in_a_line(monkeypatch):
    monkeypatch.setattr(measure.sys, "executable", "false")
    done = call("horizon")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, "Error: horizon: a process that measured it failed")
