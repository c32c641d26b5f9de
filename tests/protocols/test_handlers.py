"""What nodes do by handlers: what a node sends, takes in, and acts on; and that one may step through it."""

import sys
from collections import Counter

import networkx as nx
import pytest
from helpers.one_round import ITEM, SLOT, one_round
from helpers.own_handlers import Draws, OneByOne, PassOn, Watched

import netbandit as nb
from netbandit.checks.check import check
from netbandit.network.message import HEADER_BYTES, LABEL_BYTES
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.scenario.load import load_tables

LABELLED = LABEL_BYTES + ITEM


def test_a_breakpoint_in_a_handler_is_reached_in_a_run_as_users_have_it():
    reached = Counter()

    def tracer(frame, event, argument):
        if frame.f_code in (Gis.on_message.__code__, Gis.act.__code__):
            reached[frame.f_code.co_name] += event == "call"

    rounds = {"learner": {"kind": "elimination", "rounds": 1, "gap": 0.9}, "bandit": {"kind": "bernoulli", "arms": 2}}
    graph = {"family": "ring", "agents": 4}
    scenario = load_tables({**rounds, "topology": graph, "protocol": {"kind": "gis"}, "run": {"horizon": 400}})
    point = check(scenario).points[0]
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        messages = point.simulation(0).run().metrics["messages"]
    finally:
        sys.settrace(before)
    assert reached["act"] > 0
    assert 0 < reached["on_message"] <= messages


@pytest.mark.parametrize(("timing", "too_late"), [("slotted", 0), ("asynchronous", 1)])
def test_a_node_acts_once_on_all_that_it_takes_in_at_an_instant(timing, too_late):
    """On a path 0-1-2: all tell their own item, then 0 and 2 that of 1, and 1 those of both at once.

    Slotted, all take in what ends the round before anybody acts; asynchronous, 0 has acted once more.
    """
    result = one_round(PassOn, nx.path_graph(3), timing=timing, latency=SLOT)
    messages, items = 8 + too_late, 10 + too_late
    assert result.network.ledger.kinds == {"NEWS": (messages, messages * HEADER_BYTES + items * LABELLED)}
    assert result.informed == dict.fromkeys(range(3), 2 * SLOT)


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_where_nothing_is_merged_each_item_goes_alone_and_not_to_who_told_it(timing):
    result = one_round(OneByOne, nx.path_graph(3), timing=timing, latency=SLOT)
    assert [arrival[1:3] for arrival in result.arrivals if arrival[0] == 2 * SLOT] == [(1, 0), (1, 2)]
    assert result.network.ledger.kinds == {"NEWS": (6, 6 * 3)}


class InSteps(Flooding):
    """As `Flooding`, by the methods that `Node.accept` stands for."""

    def on_message(self, node, neighbour, message):
        if node.claim(message.labels):
            node.take_in(message, message.labels)
        elif message.labels & node.held:
            return
        node.note_teller(neighbour, message)


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_to_accept_is_to_claim_take_in_and_note_the_sender(timing):
    """On a grid of equal latencies items reach a node from several neighbours at once, and once they have gone on."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))
    at_once, in_steps = (one_round(kind, graph, timing=timing, latency=SLOT) for kind in (Flooding, InSteps))
    assert at_once.arrivals == in_steps.arrivals
    assert at_once.informed == in_steps.informed
    assert len(at_once.arrivals) > 12 * 11


def test_a_node_draws_a_neighbour_and_answers_in_the_same_hop():
    hop = SLOT // 4
    result = one_round(Draws, nx.cycle_graph(5), timing="slotted", latency=hop)
    told, answered = result.of("NEWS"), result.of("WORD")
    first = [sender for time, sender, *_ in told if time == hop]
    assert sorted(first) == [0, 1, 2, 3, 4]
    assert all((receiver - sender) % 5 in (1, 4) for _, sender, receiver, *_ in told)
    assert sorted(answered) == sorted(
        (time + hop, to, by, "WORD", HEADER_BYTES + LABELLED) for time, by, to, *_ in told
    )
    # At the next boundary they tell what they were told and answered, too.
    second = [size for time, *_, size in told if time == SLOT + hop]
    assert max(second) == HEADER_BYTES + 3 * LABEL_BYTES


def test_a_class_may_see_all_that_reaches_nodes():
    result = one_round(Watched, nx.path_graph(3), latency=SLOT)
    assert Counter(result.protocol.seen) == {0b001: 1, 0b010: 4, 0b100: 1, 0b101: 2}


def test_no_message_has_a_negative_size():
    class Negative(PassOn):
        def act(self, node, labels):
            node.send_all(nb.Kind("NEWS"), labels, size=-1)

    with pytest.raises(ValueError, match="a message of the kind NEWS cannot have -1 bytes"):
        one_round(Negative, nx.path_graph(3))
