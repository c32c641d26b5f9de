import pytest

from netbandit.bench import faults


@pytest.mark.parametrize("engines", [("event",), pytest.param(("event", "compiled"), marks=pytest.mark.slow)])
def test_every_row_stands_beside_a_hop_where_nothing_goes_wrong(engines, monkeypatch):
    monkeypatch.setattr(faults, "_ENGINES", {engine: faults._ENGINES[engine] for engine in engines})
    monkeypatch.setattr(faults, "ROUNDS", 2)
    monkeypatch.setattr(faults, "SECONDS", 0.1)
    monkeypatch.setattr(faults, "_AGENTS", 20)
    rows = faults.bench()
    assert [(row["engine"], row["faults"]) for row in rows] == [
        (engine, name) for engine in engines for name in faults._CASES
    ]
    assert all(row["ratio"] == 1.0 for row in rows if row["faults"] == "none")
    assert all(row["us_per_hop"] > 0 for row in rows)
