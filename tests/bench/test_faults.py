from netbandit.bench import faults


def test_every_row_stands_beside_a_hop_where_nothing_goes_wrong(monkeypatch):
    monkeypatch.setattr(faults, "ROUNDS", 1)
    monkeypatch.setattr(faults, "_AGENTS", 20)
    rows = faults.bench()
    assert [row["faults"] for row in rows] == list(faults._CASES)
    assert rows[0]["ratio"] == 1.0
    assert all(row["us_per_hop"] > 0 for row in rows)
