import networkx as nx
from helpers.apart_round import SLOT as MS
from helpers.apart_round import down, rounds_apart
from helpers.one_round import ITEM, SLOT, one_round

from netbandit.protocols.master_worker import MasterWorker


class Choice(MasterWorker):
    """Lets the server choose agents 0 and 2."""

    def contribute(self, round, agent, item):
        self.aggregation.chosen = [0, 2]
        return super().contribute(round, agent, item if agent in (0, 2) else None)


def test_without_latency_a_round_takes_no_time():
    result = one_round(MasterWorker, nx.star_graph(3))
    assert result.informed == dict.fromkeys(range(4), 0)
    assert result.of("UPLOAD") == [(0, agent, 4, "UPLOAD", 20 + ITEM) for agent in range(4)]
    assert result.of("ANSWER") == [(0, 4, agent, "ANSWER", 32) for agent in range(4)]
    assert result.protocol.ended == {1: 0}


def test_each_agent_hears_the_answer_over_its_own_uplink_and_never_waits_for_a_slot():
    result = one_round(MasterWorker, nx.star_graph(2), uplink=[100, 250, 70])
    assert result.informed == {0: 250 + 100, 1: 250 + 250, 2: 250 + 70}
    assert result.protocol.ended == {1: 500}


def test_an_uplink_is_activated_once_a_round():
    result = one_round(MasterWorker, nx.star_graph(4), uplink=3 * SLOT, rounds=3)
    assert result.network.uplink_totals().activations == 5 * 3
    assert result.network.uplink_totals().cost == 50 * 5 * 3
    assert result.network.uplink_totals().messages == 2 * 5 * 3


def test_those_who_are_not_chosen_hear_a_free_broadcast():
    result = one_round(Choice, nx.star_graph(3), uplink=[10, 20, 30, 40])
    assert result.aggregation.concluded == [(1, 0, [0, 2], None)]
    assert result.informed == {0: 40, 1: 50, 2: 60, 3: 70}
    assert result.network.ledger.kinds == {"ANSWER": (2, 64), "UPLOAD": (2, 200)}
    assert result.network.ledger.broadcasts == 1
    assert result.network.uplink_totals().activations == 2


def test_an_agent_that_still_explores_when_the_answer_comes_has_it_as_soon_as_it_asks():
    starts = [0, 7 * SLOT, 0, 2 * SLOT]
    result = one_round(Choice, nx.star_graph(3), starts=starts)
    assert result.informed == {0: 0, 1: 7 * SLOT, 2: 0, 3: 2 * SLOT}
    assert result.protocol.ended == {1: 0}


def test_nothing_is_sent_at_or_after_the_horizon():
    result = one_round(MasterWorker, nx.star_graph(2), uplink=6 * SLOT, horizon=6)
    assert result.network.ledger.kinds == {"UPLOAD": (3, 300)}  # the answer would start at the horizon
    assert result.informed == {}
    assert result.protocol.ended == {}


def test_one_agent():
    result = one_round(MasterWorker, nx.empty_graph(1), uplink=5)
    assert result.informed == {0: 10}
    assert result.aggregation.concluded == [(1, 0, [0], None)]


UPLINKS = [MS, MS, 5 * MS]
"""Two agents a slot away from the server, and one five slots."""


def served(outages=(), **keys):
    """Return when each of three agents goes on, with whose items, and how many items and answers were late."""
    deadline = keys.pop("deadline", None)
    found, protocol = rounds_apart(MasterWorker(deadline=deadline), nx.path_graph(3), outages, uplink=UPLINKS, **keys)
    return [found.get((1, agent)) for agent in range(3)], protocol.late


def test_an_agent_goes_on_two_deadlines_after_its_own_contribution():
    """The server has two items in slot 1 and answers in slot 3; the third comes in slot 5, its answer in slot 8."""
    assert served(deadline="2 slots") == ([(4, {0, 1}), (4, {0, 1}), (4, None)], 2)
    assert served(deadline="20 slots") == ([(6, {0, 1, 2}), (6, {0, 1, 2}), (10, {0, 1, 2})], 0)


def test_a_server_that_is_down_at_its_deadline_answers_when_it_is_back():
    outage = [down(3, 9, server=True)]
    # The third upload, in slot 5, is lost. The answers of slot 9 come when all have gone on.
    assert served(outage, deadline="2 slots") == ([(4, None)] * 3, 3)
    # Due in slot 6, given in slot 9, in time for those who wait until slot 10, at that very instant.
    assert served(outage, deadline="5 slots") == ([(10, {0, 1}), (10, {0, 1}), (10, None)], 1)


def test_a_server_waits_for_nobody_who_is_done():
    assert served(deadline="20 slots", done=[(2, 0)]) == ([(6, {0, 1}), (6, {0, 1}), None], 0)


def test_who_has_lost_its_memory_is_told_again_what_was_concluded():
    """Agent 0 is down in slot 15, and contributes to round 1 once more in slot 17."""
    found, late = served([down(15, 16, nodes=[0])], memory="lost", begins=[(0, 16)])
    assert found == [(19, {0, 1, 2}), (6, {0, 1, 2}), (10, {0, 1, 2})]
    assert late == 1
