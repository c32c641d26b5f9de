"""Laws by which links come and go, and what a graph is like over time."""

from itertools import permutations
from math import inf

import networkx
import numpy as np
import pytest
from helpers.examples import examples
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.contact_figures import connectedness, contact_figures
from netbandit.network.contacts import (
    ContactList,
    GeneratedContacts,
    Markov,
    Matching,
    Recurring,
    UpTimes,
    contacts_until,
    expected_contacts,
    is_always_up,
)
from netbandit.network.downtimes import Downtimes
from netbandit.network.outages import Redrawn
from netbandit.network.present_neighbours import PresentLinksBySlot
from netbandit.util.streams import Streams


def edges_of(graph):
    return np.array(sorted(tuple(sorted(edge)) for edge in graph.edges()), dtype=np.int64).reshape(-1, 2)


COMPLETE = edges_of(networkx.complete_graph(20))


def states(law, edges, periods, every=1, seed=0):
    """Return for each link and period whether the link is up, shape (links, periods)."""
    contacts = GeneratedContacts(law, edges, Streams(seed, 0))
    found = np.ones((len(edges), periods), dtype=bool)
    for link in range(len(edges)):
        for down, up in Downtimes(contacts.gaps(link)).until(periods * every):
            found[link, down // every : int(min(up, periods * every)) // every] = False
    return found


def test_a_markov_chain_is_up_as_often_and_as_long_as_it_says():
    """Errors of 5 standard deviations of 190 chains of 2,000 periods, whose correlated numbers count as 29,000."""
    up = states(Markov(0.02, 0.08, 1, 0.2), COMPLETE, 2_000)
    share, kept = 0.02 / 0.1, 1 - 0.02 - 0.08
    alone = up.size * (1 - kept) / (1 + kept)
    assert up.mean() == pytest.approx(share, abs=5 * (share * (1 - share) / alone) ** 0.5)
    assert up[:, 0].mean() == pytest.approx(share, abs=5 * (share * (1 - share) / len(COMPLETE)) ** 0.5)
    around = up - share
    for lag in (1, 5, 10):
        correlation = (around[:, lag:] * around[:, :-lag]).mean() / (share * (1 - share))
        assert correlation == pytest.approx(kept**lag, abs=5 * alone**-0.5)
    begun = (up[:, 1:] & ~up[:, :-1]).sum(axis=0).mean()
    expected = len(COMPLETE) * 0.02 * 0.08 / 0.1
    assert begun == pytest.approx(expected, abs=5 * (expected / 2_000) ** 0.5)


@pytest.mark.parametrize("law", [Markov(1.0, 1.0, 3, 0.0), Markov(0.0, 0.0, 3, 0.5), Markov(0.0, 1.0, 3, 1.0)])
def test_a_markov_chain_that_is_certain(law):
    up = states(law, COMPLETE, 6, every=3)
    if law.born:
        assert (up == [False, True] * 3).all()
    elif law.dies:
        assert (up == [True, *[False] * 5]).all()
    else:
        assert (up == up[:, :1]).all()
        assert 0 < up[:, 0].sum() < len(up)


def test_periods_are_as_long_as_they_say():
    for law in (Markov(0.3, 0.4, 1, 0.5), Redrawn(0.5, 1), Matching(1)):
        longer = type(law)(**{**vars(law), "every": 7})
        assert (states(law, COMPLETE, 20) == states(longer, COMPLETE, 20, every=7)).all()


def test_a_link_drawn_afresh_is_as_one_that_fails_so():
    up = states(Redrawn(0.7, 1), COMPLETE, 500)
    assert up.mean() == pytest.approx(0.7, abs=5 * (0.21 / up.size) ** 0.5)
    assert (up[:, 1:] & up[:, :-1]).mean() == pytest.approx(0.49, abs=5 * (0.25 / up.size) ** 0.5)


@given(st.integers(2, 9), st.floats(0, 1), st.integers(0, 1000))
@examples(25)
def test_a_matching_is_that_of_links_in_random_order(nodes, p, seed):
    edges = edges_of(networkx.gnp_random_graph(nodes, p, seed=seed))
    up = states(Matching(1), edges, 3, seed=seed)
    for period in range(3):
        place = Streams(seed, 0).generator("matching", period).permutation(len(edges))
        taken, busy = set(), set()
        for link in np.argsort(place).tolist():
            if not busy & set(edges[link].tolist()):
                taken.add(link)
                busy |= set(edges[link].tolist())
        assert set(np.flatnonzero(up[:, period]).tolist()) == taken


@pytest.mark.parametrize("phase", ["together", "stagger", "random"])
def test_a_recurring_link_is_up_from_its_phase_on(phase):
    law = Recurring(up_for=4, every=10, phase=phase)
    up = states(law, COMPLETE[:5], 40)
    drawn = [int(number * 10) for number in Streams(0, 0).generator("contacts", 0).random((64, 5))[0]]
    phases = {"together": [0] * 5, "stagger": [0, 2, 4, 6, 8], "random": drawn}[phase]
    assert up.tolist() == [[(time - begin) % 10 < 4 for time in range(40)] for begin in phases]


def test_what_is_always_up():
    assert is_always_up(Redrawn(1.0, 1))
    assert is_always_up(Markov(0.5, 0.0, 1, 1.0))
    assert not is_always_up(Markov(0.5, 0.0, 1, 0.9))
    assert not is_always_up(Recurring(9, 10, "together"))


@pytest.mark.parametrize(
    "law",
    [Markov(0.1, 0.2, 5, 0.3), Redrawn(0.4, 5), Matching(5), Recurring(4, 10, "random")],
    ids=lambda law: type(law).__name__,
)
def test_contacts_are_about_as_many_as_expected(law):
    found = len(contacts_until(GeneratedContacts(law, COMPLETE, Streams(0, 0)), len(COMPLETE), 2_000).begin)
    assert 0.7 * found < expected_contacts(law, len(COMPLETE), 20, 2_000) < 1.3 * found


INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=6)


def apart(intervals):
    """Return intervals as they are listed: disjoint, ascending, those that touch as one."""
    moments = sorted({moment for begin, span in intervals for moment in range(begin, begin + span)})
    begins = [moment for moment in moments if moment - 1 not in moments]
    return [(begin, next(end for end in range(begin, 99) if end not in moments)) for begin in begins]


def listed(contacts):
    first = np.cumsum([0, *map(len, contacts)])
    times = np.array([interval for some in contacts for interval in some], dtype=np.int64).reshape(-1, 2)
    return ContactList(first, times)


@given(st.lists(INTERVALS, min_size=3, max_size=3))
def test_a_list_is_down_between_its_contacts(drawn):
    contacts = [apart(some) for some in drawn]
    found = contacts_until(listed(contacts), 3, 20)
    expected = [(link, begin, min(end, 20)) for link in range(3) for begin, end in contacts[link] if begin < 20]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
    assert list(listed([[(0, 5)]]).gaps(0)) == [(5, inf)]


@given(st.lists(INTERVALS, min_size=6, max_size=6), st.integers(1, 35))
@examples(40)
def test_a_graph_over_time_is_what_it_is_moment_by_moment(drawn, end):
    edges = edges_of(networkx.complete_graph(4))
    contacts = [apart(some) for some in drawn]
    figures = contact_figures(contacts_until(listed(contacts), 6, end), edges, 4, end)
    connected, degrees, knows = 0, 0, [{agent} for agent in range(4)]
    for moment in range(end):
        up = [link for link, some in enumerate(contacts) if any(begin <= moment < over for begin, over in some)]
        graph = networkx.Graph([tuple(edges[link].tolist()) for link in up])
        graph.add_nodes_from(range(4))
        connected += networkx.is_connected(graph)
        degrees += 2 * len(up)
        for component in networkx.connected_components(graph):
            together = set().union(*(knows[agent] for agent in component))
            for agent in component:
                knows[agent] = set(together)
    assert figures.contacts == sum(begin < end for some in contacts for begin, _ in some)
    assert figures.degree == pytest.approx(degrees / 4 / end)
    assert figures.connected == pytest.approx(connected / end)
    assert figures.reachable == sum(one in knows[other] for one, other in permutations(range(4), 2))


def test_a_long_time_is_looked_at_in_parts(monkeypatch):
    from netbandit.network import contact_figures as module

    contacts = GeneratedContacts(Redrawn(0.3, 1), COMPLETE[:40], Streams(0, 0))
    up = contacts_until(contacts, 40, 50)
    whole = connectedness(up, COMPLETE[:40], 20, 50)
    monkeypatch.setattr(module, "_AT_ONCE", 30)
    parts = connectedness(up, COMPLETE[:40], 20, 50)
    assert all((one == other).all() for one, other in zip(whole, parts, strict=True))


def test_one_agent_is_connected():
    nothing = UpTimes(*(np.empty(0, dtype=np.int64) for _ in range(3)))
    assert contact_figures(nothing, np.empty((0, 2), dtype=np.int64), 1, 10) == (0, 0.0, 1.0, 0)


def test_a_link_of_its_own_is_in_every_matching():
    contacts = GeneratedContacts(Matching(1), np.array([[0, 1], [2, 3], [3, 4]]), Streams(0, 0))
    assert list(contacts.gaps(0)) == []
    assert not contacts_until(contacts, 3, 10).begin[0]


@pytest.mark.parametrize("step", [1, 3])
@given(st.lists(INTERVALS, min_size=3, max_size=3))
def test_a_link_is_present_in_slots_that_begin_in_a_contact(step, drawn):
    """However often it is asked."""
    contacts = [apart(some) for some in drawn]
    present = PresentLinksBySlot(contacts_until(listed(contacts), 3, 40), 3, 4)
    for slot in range(0, 10, step):
        expected = [any(begin <= 4 * slot < end for begin, end in own) for own in contacts]
        assert present.at(slot).tolist() == expected
