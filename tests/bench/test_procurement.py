import numpy as np
import pytest

from netbandit.bench import catalogue, procurement
from netbandit.bench.scenario import point_of


def test_the_parts_of_a_simulation_add_up_and_each_choice_is_timed(monkeypatch):
    monkeypatch.setattr(procurement, "_SCENARIO", procurement._SCENARIO.replace("100_000", "3_000"))
    for name, few in (("ROUNDS", 1), ("CALLS", 100), ("PROGRAMMES", 3)):
        monkeypatch.setattr(procurement, name, few)
    whole, *rows = catalogue.run("procurement")
    parts = {row["what"]: row["value"] for row in rows}
    assert whole["value"] == pytest.approx(sum(parts[name] for name in ("drawing", "oracle", "all else")))
    for threshold in procurement.THRESHOLDS:
        assert min(parts[f"one {how} choice, threshold {threshold}"] for how in ("greedy", "exact")) > 0
    assert [catalogue.text(row, "share") for row in rows[3:]] == [""] * 4


def test_what_is_taken_out_of_the_loop_leaves_the_decisions_much_as_they_were(tmp_path):
    point = point_of(procurement._SCENARIO.replace("100_000", "3_000"), tmp_path)
    _, learner = procurement.played(point)
    for variant, draws in (("undrawn", False), ("unchosen", True)):
        _, other = procurement.played(point, variant, draws=draws)
        assert other.good.sum() / other.units.sum() == pytest.approx(learner.good.sum() / learner.units.sum(), rel=0.1)
        assert np.abs(other.units - learner.units).sum() < 0.1 * learner.units.sum()
