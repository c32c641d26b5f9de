from netbandit.bench import catalogue, million, scale


def test_each_size_is_measured_in_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr(scale, "COMPONENTS", (1, 2))
    monkeypatch.setattr(million, "COMPONENTS", 2)
    smaller, larger = catalogue.run("scale")
    (once,) = catalogue.run("million")
    assert [row["agents"] for row in (smaller, larger, once)] == [100, 200, 200]
    assert smaller["growth"] == "-"
    assert isinstance(larger["growth"], float)
    # The same run, measured twice: what it counted is the same.
    assert [once[name] for name in ("rounds", "messages", "events")] == [
        larger[name] for name in ("rounds", "messages", "events")
    ]
    assert min(row["peak_mib"] for row in (smaller, larger, once)) > 10
    assert "million" not in catalogue.NAMES
