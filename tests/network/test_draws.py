"""Numbers that channels draw at their own pace."""

import pytest

from netbandit.network import draws
from netbandit.network.draws import Draws
from netbandit.util.streams import Streams

COLUMNS = 3


@pytest.mark.parametrize(("numbers", "kept"), [(0, 8), (2_000, 10)])
def test_who_is_behind_draws_what_others_drew_before(monkeypatch, numbers, kept):
    monkeypatch.setattr(draws, "_NUMBERS_KEPT", numbers)
    ahead = Draws(Streams(1, 0), "loss.peer", COLUMNS)
    before = [ahead.table(block).copy() for block in range(20)]
    assert [(ahead.table(block) == before[block]).all() for block in (0, 19, 3, 0, 12)] == [True] * 5
    assert len(ahead._tables) == kept
    behind = ahead.numbers(1)
    assert [next(behind) for _ in range(20 * ahead.rows)] == [
        number for table in before for number in table[1].tolist()
    ]
