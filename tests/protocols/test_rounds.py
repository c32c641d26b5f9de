"""Protocols written as coroutines: what they wait for, when they go on, and what is said of those that cannot work."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from helpers.drawn_graphs import connected_graphs
from helpers.examples import examples
from helpers.hub import REPORT, RESULT, Hub
from helpers.one_round import ITEM, SLOT, one_round
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.message import Kind
from netbandit.protocols.deadline import DeadlineKey
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.gis import Gis
from netbandit.protocols.protocol import Item
from netbandit.protocols.rounds import ProtocolError, RoundProtocol

FLOOD = Kind("FLOOD")
NOTHING = Item(0, None)
ADV, REQ, DATA = Kind("ADV"), Kind("REQ"), Kind("DATA")


class Flood(RoundProtocol):
    """The rule of flooding, but an agent is informed when it has every item itself: there is no free clock."""

    def round(self, me, item):
        known = {me.id: item}
        me.send(FLOOD, {me.id: item}, to=me.neighbours)
        while len(known) < me.agents:
            told = yield me.receive_all(FLOOD)
            fresh = {}
            for sender, payload in zip(me.senders, told, strict=True):
                for label in payload.keys() - known.keys():
                    fresh.setdefault(label, (payload, []))[1].append(sender)
            for label, (payload, senders) in fresh.items():
                known |= payload
                me.send(FLOOD, {label: payload[label]}, to=[near for near in me.neighbours if near not in senders])
        return self.aggregate([known[agent] for agent in sorted(known)])


class Handshakes(RoundProtocol):
    """The rule of GIS; an agent looks up now and then whether everybody has everything."""

    def start(self, network, aggregation):
        super().start(network, aggregation)
        self.complete_at = {}

    def round(self, me, item):
        known, asked = {me.id: item}, {me.id}
        news = {me.id}
        while len(self.complete_at) < me.agents:
            if news:
                me.send(ADV, Item(4 * len(news), frozenset(news)), to=me.neighbours)
                if len(known) == me.agents:
                    self.complete_at[me.id] = me.now
                news = set()
                continue
            told = yield me.receive_all((ADV, REQ, DATA), deadline=50 * SLOT)
            for sender, kind, said in zip(me.senders, me.kinds, told, strict=True):
                if kind is DATA:
                    news |= said.keys()
                    known |= said
                elif kind is REQ:
                    me.send(DATA, {label: known[label] for label in said.value}, to=sender)
                elif said.value - asked:
                    me.send(REQ, Item(4 * len(said.value - asked), said.value - asked), to=sender)
                    asked |= said.value
        return self.aggregate([known[agent] for agent in sorted(known)])


def wheel(agents):
    """Return a graph in which agent 0 is everybody's neighbour, and the others form a path."""
    graph = nx.star_graph(agents - 1)
    graph.add_edges_from((node, node + 1) for node in range(1, agents - 1))
    return graph


@pytest.mark.parametrize("graph", [nx.star_graph(5), wheel(6), nx.complete_graph(6)])
@pytest.mark.parametrize(("timing", "latency", "end"), [
    ("slotted", 0, 2 * SLOT), ("slotted", SLOT, 2 * SLOT), ("slotted", SLOT + 1, 4 * SLOT),
    ("asynchronous", 0, 0), ("asynchronous", 700, 1_400),
])  # fmt: skip
def test_a_round_over_a_hub(graph, timing, latency, end):
    result = one_round(Hub, graph, timing=timing, latency=latency)
    begun = end // 2
    assert result.of("REPORT") == [(latency, agent, 0, "REPORT", 20 + ITEM) for agent in range(1, 6)]
    assert result.of("RESULT") == [(begun + latency, 0, agent, "RESULT", 20 + ITEM) for agent in range(1, 6)]
    assert len(result.arrivals) == 10
    # The hub is informed when it answers, the others one hop later.
    assert result.informed == {0: begun} | dict.fromkeys(range(1, 6), end)
    assert result.protocol.ended == {1: end}
    assert result.aggregation.concluded == [(1, 0, list(range(6)), None)]
    slots = {time // SLOT for time in (0, begun)}
    assert result.network.peer_totals().activations == 5 * len(slots)


def test_a_hub_alone_has_nobody_to_wait_for():
    result = one_round(Hub, nx.empty_graph(1), rounds=3)
    assert result.protocol.ended == {1: 0, 2: SLOT, 3: 2 * SLOT}
    assert result.arrivals == []


def test_a_hub_that_comes_late_finds_the_reports_that_came_before():
    result = one_round(Hub, nx.star_graph(3), starts=[7 * SLOT, 0, 2 * SLOT, 5 * SLOT], latency=200)
    assert result.informed == {0: 7 * SLOT} | dict.fromkeys((1, 2, 3), 8 * SLOT)
    late = one_round(Hub, nx.star_graph(3), starts=[0, 0, 9 * SLOT, 0], latency=200, timing="asynchronous")
    assert late.informed == {0: 9 * SLOT + 200} | dict.fromkeys((1, 2, 3), 9 * SLOT + 400)


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_rounds_of_a_hub_follow_one_another(timing):
    result = one_round(Hub, nx.star_graph(4), latency=[300, 0][timing == "slotted"], rounds=5, timing=timing)
    assert [round for round, *_ in result.aggregation.concluded] == [1, 2, 3, 4, 5]
    assert list(result.protocol.ended) == [1, 2, 3, 4, 5]
    assert len(result.arrivals) == 5 * 8


def sent_until(result, end):
    """Return how often each message arrived by *end*."""
    return Counter(arrival for arrival in result.arrivals if arrival[0] <= end)


links = st.tuples(
    st.sampled_from(["slotted", "asynchronous"]),
    st.sampled_from([None, 10**9, 4 * 10**8]),
    st.randoms(use_true_random=False),
    st.integers(1, 3 * SLOT),
)


@examples(60)
@given(connected_graphs(), links)
def test_flooding_as_a_coroutine_sends_what_flooding_sends(graph, links):
    """Up to the end of the round: from there on flooding knows by its free clock that nothing more is needed."""
    timing, bandwidth, random, longest = links
    latency = {(min(link), max(link)): random.randint(1, longest) for link in graph.edges}
    network = {"latency": latency, "bandwidth": bandwidth, "timing": timing, "horizon": 100_000}
    fast, easy = one_round(Flooding, graph, **network), one_round(Flood, graph, **network)
    (end,) = set(fast.informed.values())
    assert max(easy.informed.values()) == end == easy.protocol.ended[1]
    assert sent_until(easy, end) == sent_until(fast, end)
    assert easy.aggregation.concluded == fast.aggregation.concluded
    labels = Counter((sender, node) for _, sender, node, *_ in easy.arrivals)
    assert all(count <= len(graph) for count in labels.values())  # one message per item and link


@examples(40)
@given(connected_graphs(), st.sampled_from([None, 10**9]), st.randoms(use_true_random=False))
def test_gis_as_a_coroutine_sends_what_gis_sends(graph, bandwidth, random):
    """Asynchronous: slotted, the handshake of GIS runs through without waiting for boundaries."""
    latency = {(min(link), max(link)): random.randint(1, 3 * SLOT) for link in graph.edges}
    network = {"latency": latency, "bandwidth": bandwidth, "timing": "asynchronous", "horizon": 100_000}
    fast, easy = one_round(Gis, graph, **network), one_round(Handshakes, graph, **network)
    (end,) = set(fast.informed.values())
    assert max(easy.protocol.complete_at.values()) == end
    assert sent_until(easy, end) == sent_until(fast, end)


class Script(RoundProtocol):
    """Agent 0 does what a test says; the others send it their numbers, each in a slot of its own, and are done."""

    def round(self, me, item):
        if me.id == 0:
            answer = yield from self.script(me, item)
            return answer
        yield me.wait(f"{2 * me.id} slots")
        me.send(REPORT, me.id, to=0)
        return self.aggregate([NOTHING])


def given_to(script, agents=4, **keys):
    """Return what a receive gave to agent 0 of a star, whose neighbours send at 2, 4, 6 slots; each with its time."""
    log = []

    class Kept(Script):
        def script(self, me, item):
            for wanted in script(me):
                payload = yield wanted
                log.append((me.now, payload, me.senders))
            return self.aggregate([NOTHING])

    one_round(Kept, nx.star_graph(agents - 1), **{"latency": 300, "timing": "asynchronous"} | keys)
    return log


def test_what_is_received_from_several_is_a_list_in_order_of_their_numbers():
    assert given_to(lambda me: [me.receive(REPORT, from_=[3, 1, 2])]) == [(6 * SLOT + 300, [1, 2, 3], (1, 2, 3))]
    assert given_to(lambda me: [me.receive(REPORT, from_=(3,))]) == [(6 * SLOT + 300, [3], (3,))]
    assert given_to(lambda me: [me.receive(REPORT, from_=())]) == [(0, [], ())]


def test_what_is_received_from_one_is_its_payload():
    log = given_to(lambda me: [me.receive(REPORT, from_=2), me.receive(REPORT), me.receive((RESULT, REPORT))])
    # The first message of agent 1 was kept, as nobody wanted it when it came.
    assert log == [(4 * SLOT + 300, 2, (2,)), (4 * SLOT + 300, 1, (1,)), (6 * SLOT + 300, 3, (3,))]


def test_a_deadline_ends_a_wait_with_what_is_there():
    script = lambda me: [me.receive(REPORT, from_=me.neighbours, deadline="5 slots"), me.receive(REPORT, from_=3)]  # noqa: E731
    assert given_to(script) == [(5 * SLOT, [1, 2], (1, 2)), (6 * SLOT + 300, 3, (3,))]
    assert given_to(script, timing="slotted") == [(5 * SLOT, [1, 2], (1, 2)), (7 * SLOT, 3, (3,))]
    # A deadline counts from the wait; slotted it passes at a boundary, after what takes effect there.
    script = lambda me: [me.receive(REPORT, from_=1, deadline=4_600), me.receive(REPORT, deadline=2_400)]  # noqa: E731
    assert given_to(script) == [(2_300, 1, (1,)), (4_300, 2, (2,))]
    assert given_to(script, timing="slotted") == [(3_000, 1, (1,)), (5_000, 2, (2,))]
    silence = lambda me: [me.receive(RESULT, deadline=1), me.receive_all(RESULT, deadline="1 us")]  # noqa: E731
    assert given_to(silence) == [(1, None, ()), (1_001, [], ())]


def test_all_that_is_there_is_given_at_once():
    log = given_to(lambda me: [me.wait("5 slots"), me.receive_all(REPORT), me.receive_all(REPORT)])
    assert log == [(5_000, None, ()), (5_000, [1, 2], (1, 2)), (6_300, [3], (3,))]


PAYLOADS = (
    None,
    7,
    0.5,
    True,
    np.zeros((2, 3)),
    np.float64(1),
    Item(13, object()),
    [1, 2],
    {4: Item(13, None), 5: 1},
)


class Sizes(RoundProtocol):
    def round(self, me, item):
        if me.id:
            for payload in PAYLOADS:
                me.send(REPORT, payload, to=[0])
        else:
            for payload in PAYLOADS:
                assert (yield me.receive(REPORT)) is payload
        return self.aggregate([NOTHING])


def test_the_bytes_of_a_message_follow_from_what_it_says():
    result = one_round(Sizes, nx.path_graph(2), latency=5, timing="asynchronous")
    assert [size for *_, size in result.arrivals] == [20, 28, 28, 28, 68, 28, 33, 36, 20 + 17 + 12]


class Plain(RoundProtocol):
    """Waits for nobody: a method without a yield."""

    def round(self, me, item):
        return self.aggregate([item])


def test_a_round_without_a_wait_ends_at_once():
    result = one_round(Plain, nx.path_graph(1))
    assert result.protocol.ended == {1: 0}


def test_what_is_sent_to_one_who_has_returned_is_dropped():
    class Early(RoundProtocol):
        def round(self, me, item):
            if me.id == 0:
                for _ in range(3):
                    me.send(REPORT, item, to=1)
                    yield me.wait("1 slots")
            else:
                yield me.receive(REPORT)
            return self.aggregate([NOTHING])

    result = one_round(Early, nx.path_graph(2), rounds=2, latency=100)
    assert list(result.protocol.ended) == [1, 2]
    assert len(result.of("REPORT")) == 6


def body(text):
    """Return a protocol whose agent 2 does in round 2 what *text* says, and which is a hub otherwise."""
    names = {"REPORT": REPORT, "RESULT": RESULT, "nothing": object()}
    lines = "\n        ".join(text.splitlines())
    exec(f"def part(self, me, item):\n    if True:\n        {lines}\n    yield", names)

    class Broken(Hub):
        def round(self, me, item):
            part = names["part"](self, me, item) if (me.id, me.round) == (2, 2) else super().round(me, item)
            answer = yield from part
            return answer

    return Broken


@pytest.mark.parametrize(("text", "said"), [
    ("1 / 0", "raised ZeroDivisionError: division by zero"),
    ("yield me.wait(5)\nraise KeyError('x')", "raised KeyError: 'x'"),
    ("me.send(REPORT, item, to=3)", "sends REPORT to 3, which is no neighbour: they are 0"),
    ("yield me.receive(REPORT, from_=[0, 1])", "waits for REPORT from 1, which is no neighbour: they are 0"),
    ("yield me.receive(RESULT, from_=2)", "waits for RESULT from 2, which is no neighbour: they are 0"),
    ("yield 5", "yields 5: it can wait for me.receive(...), me.receive_all(...) and me.wait(...) only"),
    ("yield me.wait('soon')", "waits for 'soon': must be a duration such as"),
    ("yield me.wait(0)", "waits for 0 ns: a wait takes some time"),
    ("me.send(REPORT, nothing, to=0)", "sends a object, whose bytes nobody knows: give it as an Item(size, value)"),
    ("return None", "returns None: it must return an item, such as self.aggregate([...]) gives"),
])  # fmt: skip
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_who_does_what_it_may_not_is_named(text, said, timing):
    with pytest.raises(ProtocolError) as error:
        one_round(body(text), nx.star_graph(4), rounds=3, timing=timing, latency=30)
    assert f"{said}" in str(error.value)
    assert "Broken.round of agent 2 in round 2 " in str(error.value)


class Forgetful(RoundProtocol):
    def round(self, me, item):
        items = me.receive(REPORT)
        return self.aggregate([item, *items])  # nothing was yielded: these are no items


def test_a_forgotten_yield_is_an_error_with_its_line():
    with pytest.raises(ProtocolError) as error:
        one_round(Forgetful, nx.star_graph(2))
    line = Forgetful.round.__code__.co_firstlineno + 2
    assert str(error.value).startswith("Forgetful.round of agent 0 in round 1 raised AttributeError: ")
    assert str(error.value).endswith(f" in line {line}")


def test_who_does_what_it_may_not_says_what_a_kind_is():
    with pytest.raises(ProtocolError, match="sends a message of 'UP', which is no kind: make one, "):
        one_round(body("me.send('UP', item, to=0)"), nx.star_graph(4), rounds=3)


def test_who_waits_for_what_never_comes_is_named():
    with pytest.raises(ProtocolError) as error:  # the hub waits for its report
        one_round(body("yield me.receive(REPORT, from_=0)"), nx.star_graph(4), rounds=2)
    assert str(error.value).endswith(
        "Broken.round of agent 0 in round 2 never returns: it waits for REPORT from 1, 2, 3, 4, as 4 others do, "
        "and nothing is under way"
    )


def test_a_round_that_the_horizon_cuts_is_no_mistake():
    result = one_round(Hub, nx.star_graph(3), latency=2 * SLOT, horizon=2)
    assert result.informed == {0: 2 * SLOT}  # what it answers would start at the horizon
    assert result.protocol.ended == {}
    late = one_round(Hub, nx.star_graph(3), starts=[0, 0, 0, 900 * SLOT], horizon=10)
    assert late.protocol.ended == {}


def test_nobody_need_conclude_from_the_same_object():
    """Every agent of a flood makes its own aggregate; what follows from them is concluded once."""
    result = one_round(Flood, nx.path_graph(4), rounds=3)
    assert [round for round, *_ in result.aggregation.concluded] == [1, 2, 3]


class Patient(DeadlineKey, Hub):
    """A hub that waits no longer than its key says; a class has keys of its own as any part has."""

    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(REPORT, from_=me.neighbours, deadline=self.deadline)
            answer = self.aggregate([item, *items])
            me.send(RESULT, answer, to=me.neighbours)
        else:
            me.send(REPORT, item, to=0)
            answer = yield me.receive(RESULT)
        return answer


@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
def test_a_hub_with_a_deadline_goes_on_without_who_is_late(timing):
    latency = {(0, 1): 300, (0, 2): 800, (0, 3): 9 * SLOT}
    result = one_round(Patient, nx.star_graph(3), latency=latency, timing=timing, deadline="4 slots", rounds=2)
    # Agent 3 begins the second round late, when its report of the first is long forgotten.
    assert [parts for _, _, parts, _ in result.aggregation.concluded] == [[0, 1, 2], [0, 1, 2]]
    first_answer = 4 * SLOT
    arrivals = [time for time, _, node, kind, _ in result.arrivals if (node, kind) == (3, "RESULT")]
    assert arrivals[0] == first_answer + 9 * SLOT
    assert list(result.protocol.ended) == [1, 2]
    assert result.protocol._rounds == {}
    whole = one_round(Patient, nx.star_graph(3), latency=latency, timing=timing, rounds=1)
    assert [parts for _, _, parts, _ in whole.aggregation.concluded] == [[0, 1, 2, 3]]
