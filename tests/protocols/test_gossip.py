from itertools import pairwise

import networkx as nx
import pytest
from helpers.examples import examples
from helpers.one_round import ITEM, SLOT, one_round
from hypothesis import given
from hypothesis import strategies as st

from netbandit.protocols.gossip import Gossip
from netbandit.util.streams import Streams


def choices(graph, seed, node, slots):
    """The neighbours that *node* speaks to, from its own stream and nothing else."""
    near = sorted(graph[node])
    return [near[pick] for pick in reversed(Streams(seed, 0).generator("gossip", node).integers(len(near), size=64))][
        :slots
    ]


def replayed(graph, seed):
    """The messages of a round, hop by hop in lock step: (slot, sender, receiver, size)."""
    agents = len(graph)
    holds = [{node} for node in range(agents)]
    picks = [choices(graph, seed, node, 64) for node in range(agents)]
    sent = []
    slot = 0
    while any(len(held) < agents for held in holds):
        said = [(node, picks[node][slot], set(holds[node])) for node in range(agents)]
        sent += [(slot, sender, receiver, 20 + len(held) * (4 + ITEM)) for sender, receiver, held in said]
        for _, receiver, held in said:
            holds[receiver] |= held
        slot += 1
    return sent, slot


@pytest.mark.parametrize("graph", [nx.path_graph(4), nx.star_graph(4), nx.complete_graph(6), nx.cycle_graph(7)])
@pytest.mark.parametrize("seed", range(5))
def test_a_slotted_round_is_that_of_a_lock_step(graph, seed):
    sent, slots = replayed(graph, seed)
    result = one_round(Gossip, graph, seed=seed)
    arrived = [(time // SLOT, sender, receiver, size) for time, sender, receiver, _, size in result.arrivals]
    assert sorted(arrived) == sorted(sent)
    assert result.protocol.ended == {1: slots * SLOT}
    assert result.informed == dict.fromkeys(range(len(graph)), slots * SLOT)


def test_two_agents_tell_each_other_at_once():
    result = one_round(Gossip, nx.path_graph(2), latency=999)
    assert result.arrivals == [(999, 1, 0, "GOSSIP", 104), (999, 0, 1, "GOSSIP", 104)]
    assert result.protocol.ended == {1: SLOT}
    assert result.network.peer_totals().activations == 1
    assert one_round(Gossip, nx.path_graph(2), latency=999, timing="asynchronous").protocol.ended == {1: 999}


def test_an_agent_alone_has_nobody_to_tell():
    result = one_round(Gossip, nx.empty_graph(1))
    assert (result.arrivals, result.protocol.ended) == ([], {1: 0})


def test_asynchronous_nodes_speak_once_a_slot_at_its_beginning():
    result = one_round(Gossip, nx.path_graph(5), latency=1_300, timing="asynchronous")
    sent = [(time - 1_300, sender) for time, sender, *_ in result.arrivals]
    assert all(time % SLOT == 0 for time, _ in sent)
    assert len(set(sent)) == len(sent)
    for node in range(5):
        slots = [time // SLOT for time, sender in sorted(sent) if sender == node]
        assert slots == list(range(len(slots)))  # without a pause
    assert result.protocol.ended[1] % SLOT == 300


def test_what_is_heard_early_is_held_at_once_but_passed_on_at_the_next_boundary():
    # The end of the path contributes late; the others have told it, and each other, all the time.
    result = one_round(Gossip, nx.path_graph(3), starts=[0, 0, 20 * SLOT], latency=400, timing="asynchronous")
    first = min(time for time, sender, *_ in result.arrivals if sender == 2)
    assert first % SLOT == 400
    assert first < 20 * SLOT  # it passes on what it has heard before it contributes
    assert result.protocol.ended[1] > 20 * SLOT


def test_gossip_stops_at_the_horizon():
    result = one_round(Gossip, nx.path_graph(40), horizon=5)
    assert result.protocol.ended == {}
    assert len(result.arrivals) == 5 * 40


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_rounds_follow_one_another(timing):
    result = one_round(Gossip, nx.cycle_graph(5), latency=200, rounds=4, timing=timing)
    assert [(round, parts) for round, _, parts, _ in result.aggregation.concluded] == [
        (round, [0, 1, 2, 3, 4]) for round in (1, 2, 3, 4)
    ]
    ends = [result.protocol.ended[round] for round in (1, 2, 3, 4)]
    assert all(earlier < later for earlier, later in pairwise(ends))


@examples(40)
@given(st.integers(2, 25), st.integers(0, 2**32 - 1), st.sampled_from(["slotted", "asynchronous"]))
def test_everybody_hears_everything_in_no_less_than_the_diameter(agents, seed, timing):
    graph = nx.random_labeled_tree(agents, seed=seed)
    result = one_round(Gossip, graph, seed=seed % 1000, latency=900, timing=timing, horizon=100_000)
    assert result.aggregation.concluded == [(1, 0, list(range(agents)), None)]
    assert result.protocol.ended[1] >= nx.diameter(graph) * (SLOT if timing == "slotted" else 900)


def test_each_neighbour_is_as_likely():
    result = one_round(Gossip, nx.star_graph(3), latency=300, starts=[0, 0, 0, 6_000 * SLOT], horizon=10_000)
    heard = [receiver for _, sender, receiver, *_ in result.arrivals if sender == 0]
    counts = [heard.count(node) for node in (1, 2, 3)]
    assert len(heard) >= 6_000
    assert max(counts) - min(counts) < 250  # six standard deviations of the difference


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
@pytest.mark.parametrize("graph", [nx.path_graph(2), nx.star_graph(4), nx.cycle_graph(7)])
def test_a_node_speaks_when_its_last_copy_has_left(graph, timing):
    """104 bytes and more take 1.04 slots and more: a node speaks in every second slot, or later."""
    result = one_round(Gossip, graph, bandwidth=800_000_000, timing=timing, latency=100, horizon=10_000)
    busy_until = dict.fromkeys(graph, 0)
    for arrived, sender, _, _, size in sorted(result.arrivals):
        begun = arrived - 100 - 10 * size
        assert begun % SLOT == 0  # at the beginning of a slot, and at once: no copy waits for another
        assert begun == -(-busy_until[sender] // SLOT) * SLOT
        busy_until[sender] = begun + 10 * size
    assert 1 in result.protocol.ended


def test_a_link_that_is_fast_enough_for_a_copy_a_slot_changes_nothing():
    free, limited = (one_round(Gossip, nx.cycle_graph(6), bandwidth=bandwidth, seed=3) for bandwidth in (None, 10**10))
    assert limited.protocol.ended == free.protocol.ended
    slots = [sorted((time // SLOT, *rest) for time, *rest in result.arrivals) for result in (free, limited)]
    assert slots[0] == slots[1]


def test_over_a_link_that_is_far_too_slow_a_round_ends_all_the_same():
    result = one_round(Gossip, nx.cycle_graph(5), bandwidth=8_000_000, horizon=10**6)  # a copy takes a hundred slots
    assert 1 in result.protocol.ended
