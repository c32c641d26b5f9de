import pytest

from netbandit.bench import catalogue, procurement


def test_the_parts_of_a_simulation_add_up_and_greed_is_cheap(monkeypatch):
    monkeypatch.setattr(procurement, "_SCENARIO", procurement._SCENARIO.replace("100_000", "3_000"))
    for name, few in (("ROUNDS", 1), ("CALLS", 100), ("PROGRAMMES", 3)):
        monkeypatch.setattr(procurement, name, few)
    whole, *rows = catalogue.run("procurement")
    parts = {row["what"]: row["value"] for row in rows}
    assert whole["value"] == pytest.approx(sum(parts[name] for name in ("drawing", "oracle", "all else")))
    for threshold in procurement.THRESHOLDS:
        assert parts[f"one greedy choice, threshold {threshold}"] < parts[f"one exact choice, threshold {threshold}"]
    assert [catalogue.text(row, "share") for row in rows[3:]] == [""] * 4
