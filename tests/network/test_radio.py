"""Agents that share the air: when each transmits, and what arrives, against a reference in plain Python."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
from helpers.contact_lists import linked, sensed
from helpers.shared_air import both_ways, complete, heard, starts
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.airtime import LoRa
from netbandit.network.clock import Clock, Environment
from netbandit.network.faults import Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.network import Network
from netbandit.network.outages import Outage, OutagePlan
from netbandit.network.radio_plan import Aloha, Csma, RadioPlan
from netbandit.util.streams import Streams

HELLO = Kind("HELLO")
NANOSECOND_A_BYTE = 8_000_000_000


class Lab:
    """Agents that share the air, and hand messages over at given times; what arrives is written down."""

    def __init__(self, latency, plan=RadioPlan(), *, end=1_000, faults=Faults(), links=None):  # noqa: B008 - frozen
        agents = 1 + max(max(ends) for ends in latency)
        self.environment = Environment()
        self.network = Network(
            Clock(self.environment, end, 1),
            [[other for other in range(agents) if (agent, other) in latency] for agent in range(agents)],
            links or LinkClass(bandwidth=NANOSECOND_A_BYTE),
            {ends: value for ends, value in latency.items() if ends[0] < ends[1]},
            LinkClass(),
            [0] * agents,
            Fingerprint(),
            streams=Streams(0, 0),
            faults=Faults(plan=faults.plan, radio=plan),
        )
        self.arrivals = []
        self.network.attach(self._write_down)

    def _write_down(self, node, arrivals):
        self.arrivals += [(time, sender, node, message.value) for time, sender, message in arrivals]

    def send(self, time, sender, size, to=None, value=None):
        channels = self.network.channels[sender]
        chosen = channels if to is None else [channel for channel in channels if channel.receiver in to]

        def live():
            yield self.environment.timeout(time)
            self.network.send(Message(HELLO, size, value, 0), chosen)

        self.environment.process(live())

    def run(self):
        self.environment.run()
        self.outcomes = self.network.close()
        return sorted(self.arrivals)


PATH = both_ways({(0, 1): 0, (1, 2): 0, (2, 3): 0})


def test_what_overlaps_on_a_path_is_destroyed():
    lab = Lab(PATH)
    for start, airtime, sender in ((0, 10, 0), (5, 10, 2), (14, 4, 1), (15, 3, 3)):
        lab.send(start, sender, airtime)
    assert lab.run() == [(15, 2, 3, None), (18, 1, 0, None)]
    radio = lab.network.radio
    assert (radio.transmissions, radio.airtime, radio.collided) == (4, 27, 4)
    assert (lab.outcomes.delivered, lab.outcomes.lost) == (2, 4)
    assert lab.network.peer_totals().messages == 6  # receivers are counted
    assert lab.network.ledger.kinds == {"HELLO": (6, 10 + 2 * 10 + 2 * 4 + 3)}


def test_who_is_not_meant_is_disturbed_all_the_same():
    lab = Lab(PATH)
    lab.send(0, 1, 10, to=[0])
    lab.send(3, 3, 2, to=[2])
    assert lab.run() == [(10, 1, 0, None)]
    assert lab.network.radio.collided == 1


def test_who_says_the_same_at_once_sends_it_all_the_same():
    """A protocol may hand over for several agents in one call."""
    lab = Lab(both_ways({(0, 1): 0, (2, 3): 0}))
    one, other = lab.network.channel(0, 1), lab.network.channel(2, 3)
    lab.network.send(Message(HELLO, 5, None, 0), (one, other))
    assert lab.run() == [(5, 0, 1, None), (5, 2, 3, None)]
    assert lab.network.radio.transmissions == 2


def test_duty_of_a_hundredth_is_half_a_second_in_fifty():
    lab = Lab(both_ways({(0, 1): 0}), RadioPlan(duty=Fraction("0.01")), end=200 * 10**9)
    for _ in range(3):
        lab.send(0, 0, 500_000_000)
    assert [time / 10**9 for time, *_ in lab.run()] == [0.5, 50.5, 100.5]


def test_lora_says_how_long_a_message_takes():
    lora = LoRa(9, 125_000)
    lab = Lab(both_ways({(0, 1): 7}), RadioPlan(duty=Fraction("0.1")), end=10**10, links=LinkClass(modulation=lora))
    lab.send(0, 0, 13)
    lab.send(0, 0, 13)
    assert lab.run() == [(164_864_007, 0, 1, None), (10 * 164_864_000 + 164_864_007, 0, 1, None)]


@st.composite
def conversations(draw):
    """Messages of up to four agents on a random graph with latencies: (time, sender, size) each; and a duty cycle."""
    agents = draw(st.integers(2, 4))
    pairs = [(one, other) for other in range(agents) for one in range(other)]
    links = {pair: draw(st.integers(0, 3)) for pair in pairs if draw(st.booleans())} or {(0, 1): 2}
    handed = st.tuples(st.integers(0, 40), st.integers(0, agents - 1), st.integers(1, 9))
    duty = draw(st.sampled_from([(1, 1), (1, 2), (3, 10)]))
    return both_ways(links), draw(st.lists(handed, max_size=10)), duty


@given(conversations())
def test_transmissions_and_receptions_are_those_of_the_reference(conversation):
    latency, handed, duty = conversation
    agents = 1 + max(max(ends) for ends in latency)
    handed = [one for one in handed if any(ends[0] == one[1] for ends in latency)]
    lab = Lab(latency, RadioPlan(duty=Fraction(*duty)), end=60)
    transmissions, unsent = {}, 0
    for number, (time, sender, size) in enumerate(handed):
        lab.send(time, sender, size, value=number)
    for agent in range(agents):
        own = sorted((time, number) for number, (time, sender, _) in enumerate(handed) if sender == agent)
        sizes = [handed[number][2] for _, number in own]
        near = sum(one == agent for one, _ in latency)
        for (_, number), start, size in zip(
            own, starts([time for time, _ in own], sizes, duty, 60), sizes, strict=True
        ):
            if start is None:
                unsent += near
            else:
                transmissions[number] = (start, size, agent)
    numbers = list(transmissions)
    whole = heard([transmissions[number] for number in numbers], latency)
    expected = []
    for place, receiver in whole:
        start, size, sender = transmissions[numbers[place]]
        expected.append((start + size + latency[sender, receiver], sender, receiver, numbers[place]))
    assert lab.run() == sorted(expected)
    radio = lab.network.radio
    assert (radio.transmissions, radio.airtime) == (len(numbers), sum(size for _, size, _ in transmissions.values()))
    assert lab.outcomes.unsent == unsent
    due = [
        start + size + latency[ends]
        for start, size, sender in transmissions.values()
        for ends in latency
        if ends[0] == sender
    ]
    in_time, delivered = (sum(time < 60 for time in times) for times in (due, (time for time, *_ in expected)))
    assert (lab.outcomes.delivered, lab.outcomes.lost) == (delivered, in_time - delivered)
    assert lab.outcomes.in_flight == len(due) - in_time
    assert radio.collided == lab.outcomes.lost


def test_aloha_waits_for_a_uniform_time_before_each_transmission():
    """Of 2,000 delays from 0 to 9 ns; chi-squared with 9 degrees of freedom is above 46 in one of 10^6 runs."""
    lab = Lab(both_ways({(0, 1): 0}), RadioPlan(Aloha(9)), end=10**6)
    for number in range(2_000):
        lab.send(100 * number, 0, 1, value=number)
    delays = Counter(time - 1 - 100 * number for time, *_, number in lab.run())
    assert set(delays) == set(range(10))
    assert sum((count - 200) ** 2 / 200 for count in delays.values()) < 46


def test_aloha_keeps_agents_apart_that_speak_at_once():
    for plan, heard_by_some in ((RadioPlan(), False), (RadioPlan(Aloha(5_000)), True)):
        lab = Lab(complete(5, 0), plan, end=10_000)
        for sender in range(5):
            lab.send(0, sender, 100)
        assert bool(lab.run()) == heard_by_some


def test_who_hears_another_waits_and_gives_up_in_the_end():
    """0 talks for ever; 1 hears that, and 2 does not: it is hidden, and destroys what 1 would hear."""
    hidden = both_ways({(0, 1): 0, (1, 2): 0})
    lab = Lab(hidden, RadioPlan(Csma(unit=10, attempts=5)), end=10_000)
    lab.send(0, 0, 9_000, to=[1])
    lab.send(200, 1, 5)
    lab.send(1_000, 2, 5)
    assert lab.run() == []
    radio = lab.network.radio
    assert radio.transmissions == 2
    assert lab.outcomes.unsent == 2  # what 1 has to say to 0 and 2
    assert radio.collided == 2


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 3), st.integers(1, 60)), min_size=2, max_size=12))
def test_of_agents_that_all_hear_one_another_only_those_collide_that_begin_at_once(handed):
    lab = Lab(complete(4, 0), RadioPlan(Csma(unit=3, attempts=50)), end=100_000)
    for number, (time, sender, size) in enumerate(handed):
        lab.send(time, sender, size, value=number)
    begun, transmit = [], lab.network.radio._air.transmit

    def noted(sender, now, airtime, hearers):
        begun.append((now, airtime, sender))
        transmit(sender, now, airtime, hearers)

    lab.network.radio._air.transmit = noted
    arrived = {(time, sender) for time, sender, *_ in lab.run()}
    assert lab.outcomes.unsent == 0
    assert len(begun) == len(handed)
    for start, airtime, sender in begun:
        others = [other for other in begun if other != (start, airtime, sender)]
        overlap = [other for other in others if other[0] < start + airtime and start < other[0] + other[1]]
        assert all(other[0] == start for other in overlap)
        assert ((start + airtime, sender) in arrived) == (not overlap)


def test_backoffs_grow_as_in_the_standard():
    """Five looks at a busy channel, after up to 7, 15, 31, 31 and 31 units each."""
    looks = []
    for seed in range(200):
        lab = Lab(both_ways({(0, 1): 0}), RadioPlan(Csma(unit=1, attempts=5)), end=100_000)
        lab.network.streams = Streams(seed, 0)
        lab.send(0, 0, 50_000)
        lab.send(100, 1, 5)
        times, air = [100], lab.network.radio._air
        look = air.hears_something

        def noted(agent, now, times=times, look=look):
            if agent == 1:
                times.append(now)
            return look(agent, now)

        air.hears_something = noted
        lab.run()
        looks.append([after - before for before, after in pairwise(times)])
    assert {len(one) for one in looks} == {5}
    assert [max(column) for column in zip(*looks, strict=True)] == [7, 15, 31, 31, 31]
    assert [min(column) for column in zip(*looks, strict=True)][:2] == [0, 0]


def test_what_waits_at_an_agent_that_goes_down_is_gone():
    outages = [Outage(5, 8, nodes=frozenset({0}))]
    lab = Lab(both_ways({(0, 1): 0}), faults=Faults(plan=OutagePlan(outages=outages)))
    for time in (0, 1, 20):
        lab.send(time, 0, 10, value=time)
    lab.send(6, 0, 10, value=6)
    assert [value for *_, value in lab.run()] == [0, 20]
    assert lab.network.peer_totals().messages == 2
    assert lab.outcomes.unsent == 2  # it never begins to send these


def test_what_is_for_a_neighbour_out_of_contact_waits_for_it():
    """1 is there at once, 2 from 50 on; its contact until 58 is too short, and that from 100 on is not."""
    contacts = [(0, 1, 0, 1_000), (0, 2, 50, 58), (0, 2, 100, 1_000), (1, 2, 0, 1_000)]
    latency = both_ways({(0, 1): 0, (0, 2): 0, (1, 2): 0})
    lab = Lab(latency, faults=sensed(contacts, slotted=False))
    lab.send(3, 0, 10)
    assert lab.run() == [(13, 0, 1, None), (110, 0, 2, None)]
    waiting = lab.network.peer_wire.contacts
    assert (waiting.cut_off, lab.outcomes.unsent, waiting.started, waiting.waited) == (1, 0, 2, 97)
    assert lab.network.radio.transmissions == 3
    assert (lab.outcomes.delivered, lab.outcomes.lost, lab.network.peer_totals().messages) == (2, 1, 3)


@pytest.mark.parametrize(("carry", "unsent"), [(40, 1), (47, 0), (None, 0)])
def test_it_waits_no_longer_than_it_is_carried(carry, unsent):
    contacts = [(0, 1, 50, 1_000)]
    lab = Lab(both_ways({(0, 1): 0}), faults=sensed(contacts, slotted=False, carry=carry))
    lab.send(3, 0, 10)
    assert len(lab.run()) == 1 - unsent
    assert lab.outcomes.unsent == unsent


def test_who_is_out_of_contact_hears_nothing():
    contacts = [(0, 1, 0, 1_000), (1, 2, 20, 1_000)]
    lab = Lab(both_ways({(0, 1): 0, (1, 2): 0}), faults=sensed(contacts, slotted=False, waits=False))
    lab.send(0, 0, 10, to=[1])
    lab.send(5, 2, 10, to=[1])  # is lost, and disturbs nobody
    assert lab.run() == [(10, 0, 1, None)]
    assert linked(contacts, 3).number_of_edges() == 2
    assert (lab.network.radio.collided, lab.outcomes.lost) == (0, 1)
