"""Student's quantile is that of scipy."""

import pytest
import scipy
from packaging.version import Version
from scipy.special import stdtrit

from netbandit.results.intervals import student_quantile


@pytest.mark.skipif(Version(scipy.__version__) < Version("1.17"), reason="scipy finds it to ten digits until 1.17")
@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.8, 0.9, 0.95, 0.99])
def test_quantiles_are_those_of_scipy(confidence):
    freedoms = [*range(1, 200), 499, 1_000, 1_999]
    found = [student_quantile(freedom, confidence) for freedom in freedoms]
    assert found[:50] == pytest.approx(stdtrit(freedoms[:50], (1 + confidence) / 2), rel=1e-13)
    assert found == pytest.approx(stdtrit(freedoms, (1 + confidence) / 2), rel=1e-12)


def test_quantiles_that_are_known_exactly():
    assert student_quantile(1, 0.5) == pytest.approx(1.0, rel=1e-15)  # Cauchy: a quarter lies beyond 1 on each side
    assert student_quantile(2, 0.5) == pytest.approx((2 / 3) ** 0.5, rel=1e-15)
    assert student_quantile(7, 0.0) == 0.0
