from netbandit.bench import catalogue, cooperative


def test_each_figure_is_measured_in_three_ways(monkeypatch):
    for name, few in (("ROUNDS", 1), ("AGENTS", 6), ("HORIZON", 40), ("CYCLE", 8), ("LONG_HORIZON", 60), ("FEW", 2)):
        monkeypatch.setattr(cooperative, name, few)
    rows = catalogue.run("cooperative")
    assert [row["what"].split(": ")[0] for row in rows[::3]] == ["RCL, 1 hop", "RCL, 3 hops", "DDUCB"]
    assert [row["slots"] for row in rows] == [40, 30, 40] * 2 + [60, 30, 60]
    assert all(row["seconds"] > 0 for row in rows)
    assert [row["of numpy"] for row in rows[2::3]] == [1.0] * 3
