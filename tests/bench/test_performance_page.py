"""The documentation's tables of benchmarks, which are made from a record."""

from pathlib import Path

import pytest
from helpers.docs_extension import docs_extension

from netbandit.bench.record import Run

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
        "| 100,000 | 1.5 (1 to 3) | 1 |",
        "| 1,000,000,000 | 3 (2 to 6) | 2 |",
    ]


def test_the_page_names_machine_versions_and_day(tables):
    text = tables.page([run(1.0), run(3.0)])
    assert "### `horizon`: " in text
    assert "2 runs, netbandit 0.1.0, a processor, 2 cores, Linux, 2026-11-23." in text
    assert tables.page([]) == "No figures are recorded with this version.\n"


def test_every_benchmark_has_a_chart(tables, tmp_path):
    from netbandit.bench import catalogue

    assert set(tables.CHARTS) == set(catalogue.NAMES)
    tables.chart([run(1.0), run(3.0)], "seconds", "seconds a run", tmp_path / "horizon.png")
    assert (tmp_path / "horizon.png").stat().st_size > 2_000


def test_what_is_recorded_can_be_read_and_shown(tables):
    from netbandit.bench.record import read

    file = ROOT / "docs" / "performance" / tables.RECORD
    if not file.exists():
        pytest.skip("nothing is recorded")
    runs = read(file)
    for name, some in tables.by_benchmark(runs).items():
        column, _ = tables.CHARTS[name]
        assert any(isinstance(row.get(column), int | float) for row in some[0].rows), name
        assert len(tables.table(some)) == 2 + len(some[0].rows)
