import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from netbandit.bench import catalogue, record
from netbandit.cli import main


def runs(*seconds, messages=100, benchmark="rounds"):
    return [record.now(benchmark, [{"graph": "ring", "messages": messages, "seconds": value}]) for value in seconds]


def test_a_record_is_read_as_it_was_written(tmp_path):
    file = tmp_path / "bench.jsonl"
    written = runs(1.5, 1.25)
    for run in written:
        record.append(file, run)
    assert record.read(file) == written
    assert set(written[0].machine) == {"processor", "cores", "system"}
    assert written[0].versions["netbandit"]


def test_a_change_is_what_is_larger_than_the_noise():
    (steady,) = record.compare(runs(1.0, 1.1, 0.9), runs(1.05, 0.95, 1.02))
    (slower,) = record.compare(runs(1.0, 1.01, 0.99), runs(2.0, 2.02, 1.98))
    assert not steady.changed
    assert slower.changed
    assert slower.ratio == pytest.approx(2, rel=1e-3)
    logs = [np.log(values) for values in ([1.0, 1.01, 0.99], [2.0, 2.02, 1.98])]
    assert slower.p == pytest.approx(stats.ttest_ind(*logs, equal_var=False).pvalue)


def test_a_single_run_says_nothing_of_its_noise():
    (change,) = record.compare(runs(1.0), runs(5.0))
    assert (change.p, change.changed) == (None, False)


def test_whether_anything_changed_considers_all_figures_that_were_compared():
    def many(shift):
        rng = np.random.default_rng(4)
        rows = [[{"case": str(n), "s": float(value)} for n, value in enumerate(row)] for row in 1 + rng.random((3, 40))]
        return [
            record.now("rounds", [{**one, "s": one["s"] + shift * (one["case"] == "7")} for one in r]) for r in rows
        ]

    rng = np.random.default_rng(8)
    other = [
        record.now("rounds", [{"case": str(n), "s": float(v)} for n, v in enumerate(row)])
        for row in 1 + rng.random((3, 40))
    ]
    changes = record.compare(many(0.0), other)
    assert min(change.p for change in changes) < 0.05
    assert not any(change.changed for change in changes)
    assert [change.figure[1] for change in record.compare(many(0.0), many(1e6)) if change.changed] == [(("case", "7"),)]


def test_a_row_that_counts_something_else_is_not_compared():
    before, after = runs(1.0, 1.1, messages=100), runs(1.0, 1.1, messages=99)
    assert record.compare(before, after) == []
    first, second = record.only_in_one(before, after)
    assert [dict(row)["messages"] for _, row, _ in first] == [100]
    assert [dict(row)["messages"] for _, row, _ in second] == [99]


def test_the_command_records_and_compares(monkeypatch, tmp_path):
    clock = iter([1.0, 1.01, 0.99, 3.0, 3.03, 2.97])
    monkeypatch.setattr(catalogue, "run", lambda name: [{"graph": "ring", "messages": 10, "seconds": next(clock)}])
    before, after = tmp_path / "before", tmp_path / "after"
    for file in (before, after):
        assert CliRunner().invoke(main, ["bench", "rounds", "--record", str(file)]).exit_code == 0
    assert len(before.read_text().splitlines()) == 3
    done = CliRunner().invoke(main, ["bench", "--against", str(before), str(after), "--json"])
    (change,) = json.loads(done.stdout)
    assert (change["row"], change["figure"], change["changed"]) == ({"graph": "ring", "messages": 10}, "seconds", True)
    table = CliRunner().invoke(main, ["bench", "--against", str(before), str(after)])
    assert "1 of 1 figures changed by more than their noise" in table.output


def test_no_figure_of_a_wide_table_is_cut_off(monkeypatch):
    row = {"graph": "complete of 50", **{f"messages_of_{n}_agents_per_s": 123_456_789 + n for n in range(12)}}
    monkeypatch.setattr(catalogue, "run", lambda name: [row])
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(main, ["bench", "rounds"]).stdout
    assert all(catalogue.text(row, column) in shown for column in row)
    assert "…" not in shown
    assert "agents" in shown


def test_mistakes_of_both_files_are_told_at_once(tmp_path):
    bad = tmp_path / "bad"
    bad.write_text('{"benchmark": 3}\n')
    done = CliRunner().invoke(main, ["bench", "--against", str(bad), str(tmp_path / "none")])
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"Error: {bad}:1: not a line that netbandit bench --record writes",
        f"{tmp_path / 'none'}: cannot be read: No such file or directory",
    ]
    assert CliRunner().invoke(main, ["bench", "--record", str(bad), "--against", "a", "b"]).exit_code == 2


def test_what_says_how_sure_a_figure_is_is_not_compared():
    runs = [record.now("messages", [{"graph": "ring", "ratio": 2.0, "ratio_noise": value}]) for value in (0.1, 0.2)]
    assert [change.figure[2] for change in record.compare(runs[:1], runs[1:])] == ["ratio"]


WHOLE = {"benchmark": "x", "rows": [{"a": 1.5}], "machine": {"processor": "p", "cores": 2, "system": "s"}}
WHOLE |= {"versions": {}, "at": ""}


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(WHOLE | {"machine": {}}),
        json.dumps(WHOLE | {"machine": 7}),
        json.dumps(WHOLE | {"benchmark": [1]}),
        json.dumps(WHOLE | {"rows": [{"a": 1.5, "b": {}}]}),
        json.dumps(WHOLE | {"rows": 3}),
        "[" * 100_000,
        '{"benchmark": ' + "9" * 5_000 + "}",
        "null",
    ],
)
def test_what_is_no_record_is_named(tmp_path, line):
    whole, file = tmp_path / "whole.jsonl", tmp_path / "bench.jsonl"
    whole.write_text(json.dumps(WHOLE) + "\n")
    file.write_text(f"{json.dumps(WHOLE)}\n{line}\n")
    done = CliRunner().invoke(main, ["bench", "--against", str(whole), str(file)])
    assert (done.exit_code, done.stderr) == (2, f"Error: {file}:2: not a line that netbandit bench --record writes\n")


@pytest.mark.parametrize("value", [5e-324, 1e308, 0.0, -1.0, float("inf"), float("nan")])
def test_what_no_clock_says_is_left_out(tmp_path, value):
    file = tmp_path / "bench.jsonl"
    file.write_text((json.dumps(WHOLE | {"rows": [{"a": value, "b": 2.0}]}) + "\n") * 2)
    done = CliRunner().invoke(main, ["bench", "--against", str(file), str(file), "--json"])
    (change,) = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))
    assert (change["figure"], change["ratio"]) == ("b", 1.0)
