"""The documentation's tables of benchmarks, which are made from a record."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.docs_extension import docs_extension

from benchmarks.record import Run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables():
    return docs_extension("performance_tables")


def run(seconds: float, faster: float = 2.0, benchmark: str = "horizon") -> Run:
    rows = [
        {"horizon": 10**5, "seconds": seconds, "ratio": 1.0},
        {"horizon": 10**9, "seconds": 2 * seconds, "ratio": faster},
    ]
    machine = {"processor": "a processor", "cores": 2, "system": "Linux"}
    return Run(benchmark, rows, machine, {"netbandit": "0.1.0"}, "2026-11-23T00:00:00+00:00")


def test_a_table_has_medians_with_least_and_largest(tables):
    lines = tables.table([run(1.0), run(3.0), run(1.5)])
    assert lines == [
        "| horizon | seconds | ratio |",
        "|--:|--:|--:|",
        "| 100,000 | 1.5 (1–3) | 1 |",
        "| 1,000,000,000 | 3 (2–6) | 2 |",
    ]


def test_the_page_names_machine_versions_and_day(tables):
    text = tables.page([run(1.0), run(3.0)])
    assert "### `horizon`: " in text
    assert "2 runs, netbandit 0.1.0, a processor, 2 cores, Linux, 2026-11-23." in text
    assert tables.page([]) == "No figures are recorded with this version.\n"


@pytest.mark.ci
def test_every_benchmark_has_a_chart(tables, tmp_path):
    import benchmarks

    assert set(tables.CHARTS) == set(benchmarks.NAMES)
    tables.chart([run(1.0), run(3.0)], tables.CHARTS["horizon"], tmp_path / "horizon.png")
    assert (tmp_path / "horizon.png").stat().st_size > 2_000


def test_a_panel_shows_each_engine_and_what_both_are_beside_once(tables):
    rows = [
        {
            "graph": "ring",
            "latency": "equal",
            "engine": engine,
            "hops_per_s": hops,
            "base_hops_per_s": 10.0,
            "heap_hops_per_s": 9e3,
        }
        for engine, hops in (("event", 20.0), ("compiled", 80.0))
    ]
    one = replace(run(1.0), benchmark="messages", rows=rows)
    found = tables.series_of([one, one], tables.CHARTS["messages"], "hops a second")
    assert {name: series["ring, equal"] for name, series in found.items()} == {
        "event": [20.0, 20.0],
        "compiled": [80.0, 80.0],
        "SimPy, a process for each message": [10.0, 10.0],
        "a loop over a heap": [9e3, 9e3],
    }


def test_what_is_recorded_can_be_read_and_shown(tables):
    import benchmarks
    from benchmarks.record import read

    runs = read(ROOT / "docs" / "performance" / tables.RECORD)
    found = tables.by_benchmark(runs)
    assert set(found) >= set(benchmarks.NAMES)
    for name, some in found.items():
        chart = tables.CHARTS[name]
        for panel, series in chart.panels.items():
            assert len(tables.series_of(some, chart, panel)) >= len(series), (name, panel)
        assert len(tables.table(some)) == 2 + len(some[0].rows)
