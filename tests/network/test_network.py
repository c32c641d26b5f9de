from dataclasses import dataclass, field

import pytest

from netbandit.network.clock import SENDS, Clock, Environment, InstantQueue
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.ledger import Ledger
from netbandit.network.link import Link, LinkClass, Queue
from netbandit.network.message import Kind, Message
from netbandit.network.network import Network

PING = Kind("PING")
PONG = Kind("PONG")
SLOT = 1_000


@dataclass
class Lab:
    """A triangle 0-1-2 with latencies 10, 20 (0-2) and 30 (1-2), and a log of what arrives."""

    bandwidth: int | None = None
    horizon: int = 100
    uplink: list = field(default_factory=lambda: [5, 6, 7])

    def __post_init__(self):
        self.environment = Environment()
        self.clock = Clock(self.environment, SLOT, self.horizon)
        self.fingerprint = Fingerprint()
        link = LinkClass(self.bandwidth, cost=2.0, energy_per_message=0.5, energy_per_byte=0.25)
        self.network = Network(
            self.clock,
            [[1, 2], [0, 2], [0, 1]],
            link,
            {(0, 1): 10, (0, 2): 20, (1, 2): 30},
            LinkClass(self.bandwidth, cost=25.0),
            self.uplink,
            self.fingerprint,
        )
        self.log = []
        self.network.attach(self.receive)

    def receive(self, node, arrivals):
        self.log.append((self.environment.now, node, [(sender, message.size) for _, sender, message in arrivals]))

    def at(self, time, act):
        def process():
            yield self.environment.timeout(time)
            act()

        self.environment.process(process())

    def send(self, time, sender, receiver, size, round=1):
        def act():
            self.network.send(Message(PING, size, None, round), [self.network.channel(sender, receiver)])

        self.at(time, act)

    def run(self):
        self.environment.run()
        return self.log


def test_latency_alone_delays():
    lab = Lab()
    lab.send(0, 0, 1, 100)
    lab.send(3, 1, 2, 100)
    assert lab.run() == [(10, 1, [(0, 100)]), (33, 2, [(1, 100)])]


def test_propagation_does_not_occupy_a_link():
    """Two messages back to back arrive one transmission apart."""
    lab = Lab(bandwidth=8_000_000_000)  # a byte a nanosecond
    lab.send(0, 0, 1, 100)
    lab.send(0, 0, 1, 40)
    lab.send(0, 0, 1, 100)
    assert lab.run() == [(110, 1, [(0, 100)]), (150, 1, [(0, 40)]), (250, 1, [(0, 100)])]


def test_a_channel_counts_how_long_it_is_busy_and_messages_wait():
    lab = Lab(bandwidth=8_000_000_000)
    for size in (100, 40, 100):
        lab.send(0, 0, 1, size)
    lab.send(1_000, 0, 1, 10)
    lab.send(lab.network.end - 30, 0, 1, 50)  # is still on the channel when the run ends
    lab.send(0, 1, 0, 7)
    lab.run()
    there, back = next(lab.network.links.pairs())
    assert there.queue == Queue(busy=250 + 30, waited=100 + 140, longest_wait=140, under_way=30)
    assert back.queue == Queue(busy=7)
    assert Lab().network.channel(0, 1).queue is None


def test_the_two_directions_do_not_queue_behind_each_other():
    lab = Lab(bandwidth=8_000_000_000)
    lab.send(0, 0, 1, 100)
    lab.send(0, 1, 0, 100)
    assert lab.run() == [(110, 0, [(1, 100)]), (110, 1, [(0, 100)])]


def test_transmission_is_rounded_up_to_the_nanosecond():
    assert LinkClass(3_000_000_000).transmission(1) == 3  # 8 bits at 3 bits a nanosecond
    assert LinkClass(8).transmission(2) == 2_000_000_000
    assert LinkClass().transmission(10**9) == 0


def test_what_arrives_in_one_nanosecond_is_handled_together_in_order_of_the_sender():
    lab = Lab()
    lab.send(0, 2, 0, 7)  # 20 ns
    lab.send(10, 1, 0, 8)  # 10 ns
    lab.send(10, 1, 0, 9)
    assert lab.run() == [(20, 0, [(1, 8), (1, 9), (2, 7)])]


def test_an_activation_is_a_slot_in_which_a_link_is_used_in_any_direction():
    lab = Lab()
    for time in (0, 1, 999):
        lab.send(time, 0, 1, 10)
    lab.send(5, 1, 0, 10)  # an answer in the same slot is free
    lab.send(1_000, 1, 0, 10)  # a boundary belongs to the slot that it begins
    lab.send(1_500, 0, 2, 10)
    lab.run()
    totals = lab.network.peer_totals()
    assert (totals.activations, totals.cost) == (3, 6.0)
    assert (totals.messages, totals.bytes, totals.energy) == (6, 60, 6 * 0.5 + 60 * 0.25)


def test_a_queued_message_activates_the_slot_in_which_it_is_put_on_the_link():
    lab = Lab(bandwidth=8_000_000_000)
    lab.send(0, 0, 1, 1_500)
    lab.send(0, 0, 1, 10)  # starts at 1,500 ns, in slot 1
    lab.send(100, 1, 0, 10)  # slot 0 again, after slot 1 was booked
    lab.send(1_600, 1, 0, 10)  # slot 1 again
    lab.run()
    assert lab.network.peer_totals().activations == 2


def test_slots_booked_ahead_are_counted_once_however_many_there_are():
    link = Link(0, 1)
    for slot in range(0, 2_000, 2):
        link.activate_ahead(slot, 0)
    for slot in range(2_000):
        link.activate_ahead(slot, slot)
    assert link.activations == 2_000


def test_nothing_starts_at_or_after_the_horizon():
    lab = Lab(bandwidth=8_000_000_000, horizon=1)
    lab.send(999, 0, 1, 10)
    lab.send(999, 0, 1, 10)  # would start at 1,009 ns
    lab.send(1_000, 1, 2, 10)
    assert lab.run() == [(1_019, 1, [(0, 10)])]  # what is under way arrives
    assert lab.network.ledger.kinds == {"PING": (1, 10)}
    assert lab.network.peer_totals().activations == 1


def test_the_server_is_reached_over_uplinks_and_a_broadcast_is_free():
    lab = Lab(bandwidth=8_000_000_000)
    message = Message(PONG, 10, None, 1)
    lab.at(0, lambda: lab.network.send_up(message, 1))
    lab.at(100, lambda: lab.network.send_down(message, [1]))
    lab.at(100, lambda: lab.network.broadcast(message, [0, 2]))
    assert lab.run() == [(16, 3, [(1, 10)]), (115, 0, [(3, 10)]), (116, 1, [(3, 10)]), (117, 2, [(3, 10)])]
    totals = lab.network.uplink_totals()
    assert (totals.messages, totals.activations, totals.cost) == (2, 1, 25.0)
    assert lab.network.ledger.broadcasts == 1
    assert lab.network.ledger.kinds == {"PONG": (2, 20)}


def test_a_node_answers_within_the_instant_in_a_later_pass():
    environment = Environment()
    clock = Clock(environment, SLOT, 10)
    network = Network(clock, [[1], [0]], LinkClass(), {(0, 1): 0}, LinkClass(), [0, 0], Fingerprint())
    log = []

    def receive(node, arrivals):
        log.append((environment.now, node, [message.kind.name for _, _, message in arrivals]))
        if arrivals[0][2].kind is PING:
            network.send(Message(PONG, 1, None, 1), network.channels[node])

    network.attach(receive)
    for node in (0, 1):
        network.send(Message(PING, 1, None, 1), network.channels[node])
    environment.run()
    assert log == [(0, 0, ["PING"]), (0, 1, ["PING"]), (0, 0, ["PONG"]), (0, 1, ["PONG"])]


def test_a_message_that_overtakes_the_next_arrival_is_delivered_first():
    lab = Lab()
    lab.send(0, 1, 2, 1)  # arrives at 30
    lab.send(5, 0, 1, 2)  # arrives at 15
    lab.send(16, 0, 1, 3)  # arrives at 26
    assert lab.run() == [(15, 1, [(0, 2)]), (26, 1, [(0, 3)]), (30, 2, [(1, 1)])]


def test_arrivals_come_before_agents_and_agents_before_sends():
    lab = Lab()
    log = []
    steps = InstantQueue(lab.clock, lambda due: log.append(("act", lab.environment.now, due)), SENDS)
    lab.network.attach(lambda node, arrivals: log.append(("receive", lab.environment.now, node)))
    steps.at(SLOT, 2, "a")
    steps.at(SLOT, 1, "b")
    steps.at(SLOT, 2, "c")

    def agent():
        yield lab.clock.wait_until(1)
        log.append(("agent", lab.environment.now))

    lab.environment.process(agent())
    lab.send(SLOT - 10, 0, 1, 10)
    lab.run()
    assert log == [("receive", SLOT, 1), ("agent", SLOT), ("act", SLOT, [(1, ["b"]), (2, ["a", "c"])])]


@pytest.mark.parametrize(
    ("begun", "delivered", "boundary"), [(0, 0, 1), (0, 999, 1), (0, 1_000, 1), (0, 1_001, 2), (3_000, 3_000, 4)]
)
def test_a_slotted_hop_ends_at_a_later_boundary(begun, delivered, boundary):
    assert Lab().clock.effective_time(begun, delivered) == boundary * SLOT


def test_boundaries():
    clock = Lab().clock
    assert [clock.boundary(time) for time in (0, 1, 1_000)] == [0, 1, 1]


def test_kinds_of_one_name_are_reported_together():
    ledger = Ledger()
    for kind, counted in ((Kind("NOTICE"), [2, 16]), (PING, [1, 8]), (Kind("NOTICE"), [3, 24])):
        ledger.counts[kind][:] = counted
    assert ledger.kinds == {"NOTICE": (5, 40), "PING": (1, 8)}
