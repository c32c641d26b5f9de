from netbandit.bench import catalogue, decisions


def test_every_loop_is_beside_the_bare_one_and_numpy(monkeypatch):
    for name, few in (("ROUNDS", 3), ("HORIZON", 2_000), ("AGENTS", 4), ("NUMPY_AGENTS", 2), ("NUMPY_HORIZON", 30)):
        monkeypatch.setattr(decisions, name, few)
    scenario = decisions._SCENARIO.replace("10000", "300").replace("agents = 100", "agents = 4")
    monkeypatch.setattr(decisions, "_SCENARIO", scenario)
    cases = {"shared": (), "silent": ("protocol.kind=silent",)}
    monkeypatch.setattr(decisions, "_CASES", cases)
    shared, silent, bare, numpy = catalogue.run("decisions")
    assert shared["syncs"] > 0
    assert silent["syncs"] == 0
    assert bare["of bare"] == 1
    assert numpy["faster"] == 1
    assert min(numpy["µs"], bare["µs"]) > 0
