"""Who decides when: the turns of each activity, against their streams and their law."""

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from scipy import stats

from netbandit.conditions import turns as module
from netbandit.conditions.turns import Turns, turns_of
from netbandit.scenario.activity import PoissonActivity, ShareActivity
from netbandit.util.streams import Streams

SLOT = 1_000


def _turns(activity, agents, horizon, skew=0.0, slot=SLOT, seed=0):
    return turns_of(activity, skew, agents, slot, horizon, Streams(seed, 0))


def _all(turns: Turns) -> list[tuple[int, int, tuple[int, ...], bool]]:
    """Play through; return time, slot, agents, and whether a slot ends there, of each turn."""
    found, turn = [], 0
    while turns.reach(turn):
        found.append((turns.time(turn), turns.slot(turn), tuple(turns.agents(turn)), turns.ends(turn)))
        turn += 1
    return found


def _decisions(turns: Turns) -> list[tuple[int, int]]:
    return [(time, agent) for time, _, agents, _ in _all(turns) for agent in agents]


def test_every_agent_decides_in_every_slot():
    turns = _turns("every", 3, 4)
    assert _all(turns) == [(slot * SLOT, slot, (0, 1, 2), True) for slot in range(4)]
    assert (turns.decisions, turns.expected) == (12, 4.0)
    assert [turns.before(time) for time in (0, 1, SLOT, SLOT + 1, inf)] == [0, 1, 1, 2, 4]


def test_one_agent_a_slot_is_the_one_that_the_stream_says():
    turns = _turns("one", 5, 3_000)
    numbers = Streams(0, 0).generator("activity", 0).random(3_000)
    expected = [(slot * SLOT, slot, (int(number * 5),), True) for slot, number in enumerate(numbers.tolist())]
    assert _all(turns) == expected
    assert (turns.decisions, turns.expected) == (3_000, 600.0)


def test_skew_makes_agents_be_chosen_by_their_weights():
    counts = np.bincount([agent for _, agent in _decisions(_turns("one", 4, 20_000, skew=1.0))], minlength=4)
    weights = 1 / np.arange(1, 5)
    assert stats.chisquare(counts, 20_000 * weights / weights.sum()).pvalue > 1e-6


def test_a_share_is_drawn_from_the_stream_of_each_agent():
    turns = _turns(ShareActivity(share=0.2), 4, 2_500)
    drawn = np.array([Streams(0, 0).generator("activity", agent).random(2_500) < 0.2 for agent in range(4)])
    found = _all(turns)
    assert [agents for _, _, agents, _ in found] == [tuple(np.flatnonzero(now)) for now in drawn.T]
    assert [slot for _, slot, _, _ in found] == list(range(2_500))
    assert (turns.decisions, turns.expected) == (int(drawn.sum()), 500.0)


def _users(agents, horizon, gap, seed=0):
    """Draw users one by one, in Python."""
    found = []
    for agent in range(agents):
        rng, time = Streams(seed, 0).generator("activity", agent), 0.0
        while (time := time + rng.standard_exponential() * gap) < horizon * SLOT:
            found.append((int(time), agent))
    return sorted(found)


@pytest.mark.parametrize(("gap", "horizon"), [(300, 600), (7_000, 3_000), (2, 3)])
def test_users_are_served_the_moment_they_come(gap, horizon):
    turns = _turns(PoissonActivity(poisson=f"{gap} ns"), 3, horizon)
    found = _all(turns)
    assert sorted((time, agent) for time, _, agents, _ in found for agent in agents) == _users(3, horizon, gap)
    assert [time for time, *_ in found] == sorted(time for time, *_ in found)
    assert all(slot == time // SLOT and list(agents) == sorted(set(agents)) for time, slot, agents, _ in found)
    # Each slot begins with a turn, and what is the last of a slot is followed by the next.
    first = {slot: time for time, slot, *_ in reversed(found)}
    assert first == {slot: slot * SLOT for slot in range(horizon)}
    assert [ends for *_, ends in found] == [a[1] != b[1] for a, b in pairwise(found)] + [True]
    assert turns.expected == pytest.approx(horizon * SLOT / gap)


def test_several_users_in_one_nanosecond_are_served_one_after_the_other():
    found = _all(_turns(PoissonActivity(poisson="0.5 ns"), 2, 1))
    times = [time for time, *_ in found]
    assert len(set(times)) < len(times)
    assert sorted((time, agent) for time, _, agents, _ in found for agent in agents) == _users(2, 1, 0.5)


@pytest.mark.ci
def test_skewed_users_come_by_their_weights_at_the_same_rate_in_all():
    horizon, gap = 40_000, 4_000
    found = _decisions(_turns(PoissonActivity(poisson=f"{gap} ns"), 4, horizon, skew=1.0))
    expected = 4 * horizon * SLOT / gap
    assert stats.poisson.cdf(len(found), expected) == pytest.approx(0.5, abs=0.5 - 1e-6)
    weights = 1 / np.arange(1, 5)
    counts = np.bincount([agent for _, agent in found], minlength=4)
    assert stats.chisquare(counts, len(found) * weights / weights.sum()).pvalue > 1e-6


@pytest.mark.parametrize("activity", ["one", ShareActivity(share=0.5), PoissonActivity(poisson="700 ns")])
def test_blocks_change_nothing(activity, monkeypatch):
    whole = _all(_turns(activity, 3, 500))
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert _all(_turns(activity, 3, 500)) == whole


def test_a_turn_is_found_by_its_time_and_by_its_slot():
    turns = _turns(PoissonActivity(poisson="300 ns"), 2, 50)
    assert turns.reach(0)
    times = [turns.time(turn) for turn in range(turns.last)]
    for time in (0, 1, 299, SLOT, 7 * SLOT + 3, 49 * SLOT):
        assert turns.before(time) == sum(one < time for one in times)
    assert turns.before(inf) == turns.last
    for slot in (0, 1, 17, 49):
        assert times[turns.after(slot) - 1] == slot * SLOT
        assert turns.slot(turns.after(slot) - 1) == slot
