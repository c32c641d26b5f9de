"""Who knows what when agents go on by their own clocks: scripted outages against tables made by hand."""

import networkx as nx
import pytest
from helpers.apart_round import down, rounds_apart

from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.gossip import Gossip

PATH, RING, STAR = nx.path_graph(4), nx.cycle_graph(5), nx.star_graph(3)
BOTH = pytest.mark.parametrize("kind", [Flooding, Gis])


def known(found, round=1):
    """Return what each agent knew as it went on: (slot, whose items)."""
    return {agent: entry for (number, agent), entry in sorted(found.items()) if number == round}


@BOTH
def test_at_its_deadline_an_agent_holds_what_is_so_many_hops_away(kind):
    found, protocol = rounds_apart(kind(deadline="2 slots"), PATH)
    assert known(found) == {
        0: (2, {0, 1, 2}),
        1: (2, {0, 1, 2, 3}),
        2: (2, {0, 1, 2, 3}),
        3: (2, {1, 2, 3}),
    }
    # The items of 3 and of 0 go on, to those who went on without them; then all hold all, and the clock ends the round.
    assert protocol.late == 2
    assert protocol.ended == {1: 3_000_000}


@BOTH
def test_the_clock_ends_a_round_before_the_deadline(kind):
    found, protocol = rounds_apart(kind(deadline="9 slots"), PATH)
    assert known(found) == dict.fromkeys(range(4), (3, {0, 1, 2, 3}))
    assert protocol.late == 0


@BOTH
def test_a_cut_of_a_path(kind):
    """The link 1-2 is down in slots 0 to 2: what would cross it then is lost, and not said again."""
    found, _ = rounds_apart(kind(deadline="6 slots"), PATH, [down(0, 3, links=[(1, 2)])])
    assert known(found) == {0: (6, {0, 1}), 1: (6, {0, 1}), 2: (6, {2, 3}), 3: (6, {2, 3})}


@BOTH
def test_a_cut_of_a_ring(kind):
    """Ring 0-1-2-3-4, the link 0-1 down: at the third slot only those next to it lack each other's far side."""
    found, protocol = rounds_apart(kind(deadline="3 slots"), RING, [down(0, 99, links=[(0, 1)])])
    assert known(found) == {
        0: (3, {0, 2, 3, 4}),
        1: (3, {1, 2, 3, 4}),
        2: (3, {0, 1, 2, 3, 4}),
        3: (3, {0, 1, 2, 3, 4}),
        4: (3, {0, 1, 2, 3, 4}),
    }
    assert protocol.late == 2


@BOTH
def test_a_star_whose_centre_is_down_hears_nothing(kind):
    found, _ = rounds_apart(kind(deadline="2 slots"), STAR, [down(0, 99, nodes=[0])], starts=[50, 0, 0, 0])
    assert {agent: found[1, agent] for agent in (1, 2, 3)} == dict.fromkeys((1, 2, 3), (2, None))


@BOTH
def test_who_comes_late_finds_what_has_reached_it(kind):
    """Agent 0 contributes in slot 4, when the others have gone on; what they told has reached it long ago."""
    found, protocol = rounds_apart(kind(deadline="2 slots"), PATH, starts=[4, 0, 0, 0])
    everybody = {0, 1, 2, 3}
    # It waits until the clock sees its item with all, three hops on.
    assert known(found) == {0: (6, everybody), 1: (2, {1, 2, 3}), 2: (2, {1, 2, 3}), 3: (2, {1, 2, 3})}
    assert protocol.late == 3


@BOTH
def test_who_takes_part_no_more_is_not_waited_for_and_passes_on(kind):
    found, _ = rounds_apart(kind(deadline="50 slots"), PATH, done=[(1, 0)])
    assert known(found) == dict.fromkeys((0, 2, 3), (3, {0, 2, 3}))


@BOTH
def test_who_is_ahead_has_its_items_kept(kind):
    """Agents 2 and 3 go on alone while 0 and 1 are cut off; round 2 of the one side is round 2 of the other."""
    found, _ = rounds_apart(kind(deadline="2 slots"), PATH, rounds=2, starts=[8, 8, 0, 0])
    assert known(found)[2] == (2, {2, 3})
    assert found[2, 2] == (6, {2, 3})
    assert [found[2, 0], found[2, 1]] == [(14, {0, 1, 2, 3})] * 2


@BOTH
def test_who_has_lost_its_memory_has_nobody_to_wait_for_in_a_round_that_has_ended(kind):
    """Agent 0 goes down in slot 5, after its round has ended, and contributes to round 1 once more in slot 9."""
    lost = [down(5, 8, nodes=[0])]
    found, _ = rounds_apart(kind(), PATH, lost, memory="lost", begins=[(0, 8)])
    assert found[1, 0] == (9, None)


@BOTH
def test_who_comes_back_goes_on_with_what_had_reached_it(kind):
    """Agent 0 hears of 1 in slot 1, and is down from slot 2 on; the others have ended their round when it is back."""
    found, _ = rounds_apart(kind(deadline="50 slots"), PATH, [down(1.5, 20, nodes=[0])], starts=[30, 0, 0, 0])
    assert known(found) == {0: (30, {0, 1}), 1: (2, {1, 2, 3}), 2: (2, {1, 2, 3}), 3: (2, {1, 2, 3})}


def test_gossip_tells_no_more_when_nobody_waits():
    """A cut for good: the round cannot end, and all have gone on by slot 5."""
    found, protocol = rounds_apart(Gossip(deadline="5 slots"), PATH, [down(0, 9999, links=[(1, 2)])], horizon=400)
    assert all(slot == 5 for slot, _ in known(found).values())
    assert known(found)[0][1] in (None, {0, 1})
    assert protocol.network.peer_totals().messages <= 4 * 6


def test_gossip_goes_on_for_who_still_waits():
    found, _ = rounds_apart(Gossip(deadline="30 slots"), PATH, starts=[20, 0, 0, 0])
    assert known(found)[0][1] == {0, 1, 2, 3}
