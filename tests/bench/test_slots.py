from netbandit.bench import catalogue, slots


def test_what_sharing_costs_stands_beside_what_is_done_alone(monkeypatch):
    for name, few in (
        ("ROUNDS", 1),
        ("AGENTS", 4),
        ("HORIZON", 40),
        ("COMPLETE_HORIZON", 20),
        ("COMPILED_HORIZON", 90),
    ):
        monkeypatch.setattr(slots, name, few)
    rows = catalogue.run("slots")
    assert [row["messages"] for row in rows] == [0, 4 * 2 * 40, 0, 4 * 3 * 20, 0, 0]
    assert [row["µs a message"] == "" for row in rows] == [True, False, True, False, True, True]
    assert min(row["seconds"] for row in rows) > 0
