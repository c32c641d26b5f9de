"""How much less a difference of two entries varies where they meet the same worlds."""

import pytest
from helpers.suite_tracks import cell

from netbandit.suite.differences import pairing

REGRETS = [1.0, 5.0, 2.0, 8.0]


def test_it_is_zero_where_replications_have_all_in_common_and_two_where_they_are_opposite():
    same = {"one": cell(REGRETS), "two": cell([each + 3 for each in REGRETS])}
    assert pairing(same) == pytest.approx(0)
    assert pairing({"one": cell(REGRETS), "two": cell([-each for each in REGRETS])}) == pytest.approx(2)


@pytest.mark.parametrize("cells", [
    {}, {"one": cell(REGRETS)}, {"one": cell([1.0] * 4), "two": cell([2.0] * 4)},
], ids=["none", "one", "none varies"])  # fmt: skip
def test_there_is_none_without_a_pair_whose_regrets_vary(cells):
    assert pairing(cells) is None
