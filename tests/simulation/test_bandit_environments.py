"""The numbers that decide rewards: drawn ahead, the same in blocks of any length."""

import numpy as np
import pytest

from netbandit.simulation import bandit_environments
from netbandit.simulation.bandit_environments import RewardNumbers
from netbandit.util.streams import Streams


@pytest.mark.parametrize("width", [None, 1, 3])
@pytest.mark.parametrize("most", [1, 20, 1 << 23])
@pytest.mark.parametrize("law", ["random", "standard_normal"])
def test_numbers_of_a_slot_do_not_depend_on_the_blocks(monkeypatch, width, most, law):
    monkeypatch.setattr(bandit_environments, "MOST_NUMBERS", most)
    numbers = RewardNumbers(Streams(0, 0).generator, 2, 50, lambda rng, count: getattr(rng, law)(count), width)
    numbers.reach(0)
    assert numbers.block.ndim == (2 if width is None else 3)
    width = width or 1
    whole = np.stack([getattr(Streams(0, 0).generator("rewards", agent), law)(50 * width) for agent in range(2)])
    for slot in (0, 1, 7, 8, 49):
        expected = whole.reshape(2, 50, width)[:, slot]
        assert (numbers.of(slot, np.arange(2)).reshape(2, width) == expected).all()
        assert numbers.block.size <= max(most, 2 * width)
