"""The formulas that exact claims are built on, by hand: no run decides them."""

import math

import numpy as np
import pytest

from netbandit.privacy.gaussian import exact_epsilon
from netbandit.privacy.tree_calibration import OBSERVATION, calibrate
from netbandit.simulation.result import RunResult
from netbandit.studies.papers.expressions import Expression
from netbandit.studies.papers.figures import load_paper


def value(paper: str, claim: str, **numbers: float) -> float:
    """Return the number of a claim for these metrics, facts and keys of a scenario."""
    (asked,) = [one for one in load_paper(paper).claims if one.id == claim]
    run = RunResult.__new__(RunResult)
    keys = {name.partition("__")[0]: {} for name in numbers if "__" in name}
    for name, number in numbers.items():
        if "__" in name:
            table, key = name.split("__")
            keys[table][key] = number
    vars(run).update(name="x", metrics={}, topology={"agents": numbers["agents"]}, resolved=keys)
    found = Expression(asked.of).of(run)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("agents", "share", "log2_horizon", "printed", "right"),
    # T^(2/R) / p^(3/2) <= M with M = 16: p = 1, T = 2^12: 2^(24/R) <= 2^4, R >= 6; printed 4 x 12 / (3 x 4) = 4.
    # p = 1/4: 2^(24/R) <= 2^4 / 2^3 = 2, R >= 24; printed 4 x 12 / (3 x 2) = 8.
    [(16, 1.0, 12, 4, 6), (16, 0.25, 12, 8, 24), (64, 1.0, 18, 4, 6)],
)
def test_remark_2_of_li_and_song_loses_a_root_of_the_number_of_agents(agents, share, log2_horizon, printed, right):
    horizon = 2.0**log2_horizon
    assert printed == pytest.approx(4 * math.log(horizon) / (3 * math.log(share * agents)))
    assert horizon ** (2 / printed) / share**1.5 == pytest.approx(agents**1.5)
    assert horizon ** (2 / right) / share**1.5 == pytest.approx(agents)
    assert right == pytest.approx(4 * math.log(horizon) / (2 * math.log(agents) + 3 * math.log(share)))
    keys = {"agents": agents, "run__horizon": horizon, "learner__participation": share}
    assert value("dpmab", "remark2-algebra", **keys) == pytest.approx(math.sqrt(agents))
    assert value("dpmab", "remark3-algebra", **keys) == pytest.approx(1)  # Remark 3, p = 1: 2 log T / log M


def _orthogonal(rng: np.random.Generator, size: int) -> np.ndarray:
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return q * np.sign(np.diag(r))


def test_theorem_4_2_of_cao_every_rotation_is_another_raw_context_and_one_column_leaves_two():
    rng = np.random.default_rng(1)
    mask, contexts = _orthogonal(rng, 5), rng.standard_normal((5, 3))
    masked, found = mask @ contexts, []
    for _ in range(50):
        turned = _orthogonal(rng, 5)
        other, its_mask = turned @ contexts, mask @ turned.T
        assert its_mask @ other == pytest.approx(masked)
        assert its_mask.T @ its_mask == pytest.approx(np.eye(5))
        assert other.T @ other == pytest.approx(masked.T @ masked)  # lengths and angles are the same in all of them
        found.append(other[0, 0])
    assert len({round(one, 9) for one in found}) == 50
    column, part = mask[:, :1], contexts[0, 0]  # a participant with one column: y = q x, and |y| = |x|
    assert np.linalg.norm(column * part) == pytest.approx(abs(part))
    assert -column * -part == pytest.approx(column * part)


@pytest.mark.parametrize(("calibration", "budget"), [("zcdp", 1.567445), ("paper", 1.5)])
def test_remark_4_of_dubey_the_noise_for_eight_releases_in_every_trial(calibration, budget):
    """The scenario's budget makes 256 releases as noisy as eight at epsilon = 1; one observation is in nine nodes."""
    common = {"delta": 0.1, "alpha": 0.1, "dimension": 5, "trees": 5}
    eight = calibrate(calibration, epsilon=1.0, releases=8, **common)
    every = calibrate(calibration, epsilon=budget, releases=256, **common)
    assert (eight.depth, every.depth) == (4, 9)
    assert every.deviation == pytest.approx(eight.deviation, rel=1e-6)
    spent = exact_epsilon(0.1, eight.deviation / (OBSERVATION * math.sqrt(9)))
    assert spent == pytest.approx({"zcdp": 0.489717, "paper": 0.0}[calibration], abs=1e-6)
    assert spent < 1
