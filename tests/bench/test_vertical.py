from netbandit.bench import catalogue, vertical


def test_each_learner_is_measured_plain_and_gathered(monkeypatch):
    monkeypatch.setattr(vertical, "ROUNDS", 1)
    monkeypatch.setattr(vertical, "SLOTS", 300)
    rows = catalogue.run("vertical")
    assert [(row["learner"], row["with"]) for row in rows] == [
        (learner, way) for learner in ("linucb", "lints") for way in ("plain", *vertical._WAYS)
    ]
    assert [row["times"] for row in rows if row["with"] == "plain"] == [1.0, 1.0]
    assert min(row["slots_per_s"] for row in rows) > 0
