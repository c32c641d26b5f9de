"""Messages that wait for links that agents see come and go: when each starts, what is cut off, what is never sent."""

import pytest
from helpers.contact_lists import linked, sensed
from hypothesis import example, given
from hypothesis import strategies as st

from netbandit.network.clock import Clock, Environment
from netbandit.network.faults import ChannelFaults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import UniformJitter
from netbandit.network.link import LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.models.contacts import next_start
from netbandit.network.models.loss import ConstantLoss
from netbandit.network.models.retransmission import Retry
from netbandit.network.network import Network
from netbandit.network.outages import Outage
from netbandit.network.topology import Topology
from netbandit.util.streams import Streams

HELLO = Kind("HELLO")
NANOSECOND_A_BYTE = 8_000_000_000


class Lab:
    """A network of contacts in which somebody sends at given times; what arrives is written down."""

    def __init__(self, contacts, *, latency, slot=100, slots=10, bandwidth=None, slotted=False, **more):
        topology = Topology(linked(contacts, 1 + max(max(contact[:2]) for contact in contacts)))
        self.environment = Environment()
        self.network = Network(
            Clock(self.environment, slot, slots),
            topology.neighbours,
            LinkClass(bandwidth=bandwidth),
            {tuple(link): latency for link in topology.edges.tolist()},
            LinkClass(),
            [0] * topology.agents,
            Fingerprint(),
            streams=Streams(0, 0),
            faults=sensed(contacts, slotted=slotted, **more),
        )
        self.arrivals = []
        self.network.attach(self._write_down)

    def _write_down(self, node, arrivals):
        self.arrivals += [(time, sender, node, message.value) for time, sender, message in arrivals]

    def send(self, time, sender, receiver, size=20, value=None):
        def live():
            yield self.environment.timeout(time)
            self.network.send(Message(HELLO, size, value, 0), (self.network.channel(sender, receiver),))

        self.environment.process(live())

    def run(self):
        self.environment.run()
        self.outcomes = self.network.close()
        return [time for time, *_ in self.arrivals]


def test_a_message_begins_in_the_first_contact_in_which_it_fits():
    """Airtime 6, latency 2, ready at 3: two attempts are cut off, and it starts at 40."""
    lab = Lab([(0, 1, 0, 9), (0, 1, 20, 25), (0, 1, 40, 80)], latency=2, bandwidth=NANOSECOND_A_BYTE)
    lab.send(3, 0, 1, size=6)
    assert lab.run() == [48]
    waiting = lab.network.peer_wire.contacts
    assert (waiting.cut_off, lab.outcomes.unsent, waiting.started, waiting.waited) == (2, 0, 1, 37)
    assert (lab.outcomes.delivered, lab.outcomes.lost) == (1, 2)
    assert lab.network.peer_totals().messages == 3
    assert lab.network.ledger.kinds == {"HELLO": (3, 18)}


GAPS_AND_STAYS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=6)


@given(GAPS_AND_STAYS, st.lists(st.integers(0, 99), min_size=1, max_size=12), st.booleans())
@example([(7, 2), (5, 9)], [0, 10, 7, 8, 13], True)  # up from 7 to 9 between two boundaries
def test_when_a_message_may_start_does_not_depend_on_what_was_asked_before(stays, times, slotted):
    contacts, time = [], 0
    for gap, stay in stays:
        contacts.append((0, 1, time + gap, time + gap + stay))
        time += gap + stay
    network = Lab(contacts, latency=1, slot=5, slots=20, slotted=slotted).network
    channel = network.channel(0, 1)
    up = {moment for *_, begin, end in contacts for moment in range(begin, end)}
    for time in times:
        starts = (moment for moment in range(time, 100) if moment in up)
        expected = next((moment for moment in starts if not slotted or moment == time or moment % 5 == 0), None)
        found = next_start(network, channel, time)
        assert found == expected if expected is not None else found >= 100


@pytest.mark.parametrize(("length", "arrivals"), [(4, []), (5, [4])])
def test_a_contact_brings_what_arrives_before_its_end(length, arrivals):
    lab = Lab([(0, 1, 0, length)], latency=4)
    lab.send(0, 0, 1)
    assert lab.run() == arrivals
    assert lab.outcomes.unsent == 0  # it was begun
    assert lab.network.peer_wire.contacts.cut_off == 1 - len(arrivals)


def test_what_waits_for_a_link_goes_in_order():
    lab = Lab([(0, 1, 50, 90)], latency=3, bandwidth=NANOSECOND_A_BYTE)
    for time, size in ((10, 30), (11, 5), (12, 1)):
        lab.send(time, 0, 1, size, value=size)
    assert lab.run() == [83, 88, 89]
    assert [value for *_, value in lab.arrivals] == [30, 5, 1]


def test_what_is_not_begun_in_time_is_never_sent():
    contacts = [(0, 1, 50, 60), (0, 1, 990, 2_000), (1, 2, 1_000, 2_000)]
    for carry, arrivals, unsent in ((None, [52, 992, 1_001], 1), (50, [52, 1_001], 2), (49, [1_001], 3)):
        lab = Lab(contacts, latency=2, carry=carry)
        for time, receiver in ((0, 0), (100, 0), (999, 0), (3, 2)):
            lab.send(time, 1, receiver)
        assert lab.run() == arrivals
        assert lab.outcomes.unsent == unsent
        assert lab.network.peer_totals().messages == len(arrivals)


@pytest.mark.parametrize(("latency", "taken"), [(0, 301), (30, 330), (100, 400), (130, 430)])
def test_slotted_a_message_that_has_waited_starts_at_a_boundary(latency, taken):
    """It takes effect a slot later at the earliest: not at the boundary at which it starts, even without latency."""
    lab = Lab([(0, 1, 110, 180), (0, 1, 250, 299), (0, 1, 300, 900)], latency=latency, slotted=True)
    lab.send(100, 0, 1, value=1)
    lab.send(300, 0, 1, value=2)  # it does not overtake
    assert lab.run() == [taken, max(taken, 300 + latency)]
    assert [value for *_, value in lab.arrivals] == [1, 2]


def test_a_delay_by_which_messages_are_ordered_keeps_none_in_a_contact():
    """What is taken off late is not what holds others back: the second message arrives in time."""
    jitter = ChannelFaults(jitter=UniformJitter(1))
    lab = Lab([(0, 1, 200, 202)], latency=0, slotted=True, peer=jitter)
    for number in range(20):
        lab.send(10 * number, 0, 1, value=number)
    lab.run()
    assert lab.outcomes.delivered == 20


def test_who_goes_down_sends_nothing_of_what_waits():
    outages = [Outage(30, 40, nodes=frozenset({0}))]
    lab = Lab([(0, 1, 50, 60)], latency=2, plan={"outages": outages})
    lab.send(10, 0, 1)
    lab.send(45, 0, 1)
    assert lab.run() == [52]
    assert lab.network.peer_totals().messages == 1


def test_outages_are_not_seen():
    lab = Lab([(0, 1, 0, 60)], latency=2, plan={"outages": [Outage(30, 40, links=frozenset({(0, 1)}))]})
    lab.send(35, 0, 1)
    assert lab.run() == []
    assert (lab.outcomes.lost, lab.network.peer_wire.contacts.cut_off) == (1, 0)


def test_acknowledgements_wait_as_well():
    retry = ChannelFaults(retry=Retry(40, 1.0, 1.0, 3))
    lab = Lab([(0, 1, 0, 4), (0, 1, 70, 95)], latency=3, peer=retry)
    lab.send(0, 0, 1, value="once")
    lab.run()
    # The acknowledgement starts at 70, when the sender has sent again at 40, which has waited until 70, too.
    assert [value for *_, value in lab.arrivals] == ["once"]
    assert lab.outcomes.retransmissions == 1
    assert lab.outcomes.duplicates_dropped == 1


def test_a_repetition_that_still_waits_at_the_end_is_not_given_up():
    """Lost at 0 and 5, it waits from 10 on: to the end, until its time is over at 61, or until its sender goes down."""
    lossy = ChannelFaults(loss=ConstantLoss(1.0), retry=Retry(5, 1.0, 1.0, 5))
    down = {"outages": [Outage(100, 110, nodes=frozenset({0}))]}
    for ends, given_up in (({}, 0), ({"carry": 50}, 1), ({"carry": 5_000}, 0), ({"plan": down}, 1)):
        lab = Lab([(0, 1, 0, 10)], latency=2, peer=lossy, **ends)
        lab.send(0, 0, 1)
        assert lab.run() == []
        found = lab.outcomes
        assert (found.lost, found.retransmissions, found.unsent, found.given_up) == (2, 1, 1, given_up)
