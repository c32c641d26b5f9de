"""Scores: exact for the references, with an interval that a bootstrap has too, and that covers as often as it says."""

import numpy as np
import pytest
from helpers.suite_tracks import cell, record, track
from scipy.stats import binomtest

from netbandit.studies.suite.scores import score, scores, separation


def drawn(rng, count, entry=40.0, alone=100.0, everybody=10.0):
    """Regrets of an entry and of both references, which have their luck in common."""
    luck = rng.normal(0, 8, count)
    own = [rng.normal(mean, 4, count) + luck for mean in (entry, alone, everybody)]
    return [cell(each.tolist()) for each in own]


def test_references_score_one_and_zero_in_whatever_units(tmp_path):
    _, alone, everybody = drawn(np.random.default_rng(0), 20)
    assert score(alone, alone, everybody).value == 1.0
    assert score(everybody, alone, everybody).value == 0.0


def test_the_interval_is_that_of_a_bootstrap():
    rng = np.random.default_rng(1)
    cells = drawn(rng, 400)
    found = score(*cells)
    own, alone, everybody = (np.array(one.of("regret")) for one in cells)
    rows = rng.integers(400, size=(8_000, 400))
    means = [values[rows].mean(axis=1) for values in (own, alone, everybody)]
    ends = np.quantile((means[0] - means[2]) / (means[1] - means[2]), [0.025, 0.975])
    assert found.value == pytest.approx((own.mean() - everybody.mean()) / (alone.mean() - everybody.mean()))
    width = ends[1] - ends[0]
    assert abs(found.low - ends[0]) < width / 12
    assert abs(found.high - ends[1]) < width / 12


@pytest.mark.ci
def test_the_interval_covers_in_95_of_100():
    rng, truth, draws = np.random.default_rng(2), (40.0 - 10.0) / (100.0 - 10.0), 2_000
    intervals = (score(*drawn(rng, 20)) for _ in range(draws))
    covered = sum(one.low <= truth <= one.high for one in intervals)
    assert binomtest(covered, draws, 0.95).pvalue > 1e-3


def test_nothing_is_said_where_cooperation_gains_nothing_clear():
    cells = drawn(np.random.default_rng(3), 20, entry=50.0, alone=50.5, everybody=50.0)
    found = score(*cells)
    assert found.why_none == "the mean that is divided by may be zero"


def test_references_alone_are_no_entries(tmp_path):
    own, alone, everybody = drawn(np.random.default_rng(4), 20)
    small = track(tmp_path)
    found = record({"mine": own, small.alone.name: alone, small.all.name: everybody}, small)
    assert set(scores(found, small)) == {"mine"}
    gain = np.array(alone.of("regret")) - np.array(everybody.of("regret"))
    assert separation(found, small) == pytest.approx(gain.mean() / (gain.std(ddof=1) / np.sqrt(20)))
