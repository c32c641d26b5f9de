"""Nodes that handle one message at a time, and do jobs of their own."""

import networkx as nx
import numpy as np
import pytest
from helpers.one_round import SLOT, one_round

from netbandit.network.batteries import EnergyPlan
from netbandit.network.clock import Clock, Environment
from netbandit.network.computing import ComputePlan, ServiceTimes
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import ExponentialJitter, UniformJitter
from netbandit.network.link import LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.models.retransmission import Retry
from netbandit.network.network import Network
from netbandit.network.outages import Outage, OutagePlan
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.master_worker import MasterWorker
from netbandit.protocols.sink import Sink
from netbandit.util.streams import Streams

PING = Kind("PING")
L, C = 5, 2
SERVICE = 10


def takes(inbox=None, per_byte=0.0, **times):
    laws = {work: time if not isinstance(time, int) else UniformJitter(time, time) for work, time in times.items()}
    return ServiceTimes(laws, per_byte, inbox)


def plan(agents=ServiceTimes(), server=ServiceTimes(), speeds=(1.0,) * 3, power=0):  # noqa: B008 - never changed
    return ComputePlan(agents, server, speeds, power)


@pytest.mark.parametrize(("slow", "complete"), [(1.0, [2 * L + 3 * C, L + 2 * C, 2 * L + 2 * C]), (10.0, [52, 45, 32])])
def test_a_flood_on_a_path_waits_for_each_message_to_be_handled(slow, complete):
    compute = plan(takes(message=C), speeds=[1.0, slow, 1.0])
    result = one_round(Flooding, nx.path_graph(3), latency=L, timing="asynchronous", compute=compute)
    computing = result.network.computing
    latest = {receiver: time for time, _, receiver, *_ in result.arrivals}
    assert [latest[agent] for agent in range(3)] == complete
    assert computing.unhandled == computing.refused == 0
    assert [computing.busy(agent) for agent in range(3)] == [2 * C, 2 * C * slow, 2 * C]


def test_slotted_a_hop_ends_at_the_boundary_after_its_message_was_handled():
    compute = plan(takes(message=SLOT + 1))
    assert one_round(Flooding, nx.path_graph(2), compute=plan(takes(message=1))).slots == 1
    assert one_round(Flooding, nx.path_graph(2), compute=compute).slots == 2


def test_a_server_handles_uploads_one_by_one_and_then_puts_them_together():
    compute = plan(takes(message=C), takes(message=C, aggregate=7))
    result = one_round(MasterWorker, nx.path_graph(3), uplink=L, compute=compute)
    assert set(result.informed.values()) == {2 * L + 3 * C + 7 + C}
    assert result.network.computing.busy(3) == 3 * C + 7
    assert result.network.computing.most_waiting == 2
    assert result.network.computing.waited == C + 2 * C


@pytest.mark.parametrize("collect", ["sink", "gis"])
def test_a_sink_puts_together_what_it_has_before_it_uploads(collect):
    times = [
        max(one_round(Sink, nx.path_graph(3), collect=collect, compute=compute).informed.values())
        for compute in (None, plan(takes(aggregate=70)), plan(takes(aggregate=70), takes(aggregate=5)))
    ]
    assert np.diff(times).tolist() == [70, 5]


def test_a_deadline_that_fires_while_an_item_is_handled_takes_that_too():
    compute = plan(server=takes(message=7, aggregate=5))
    sent = [0, 11, 100]
    result = one_round(MasterWorker, nx.path_graph(3), starts=sent, deadline=f"{10 / SLOT} slots", compute=compute)
    ((_, _, taken, _),) = result.aggregation.concluded
    assert list(taken) == [0, 1]
    assert result.informed[0] == result.informed[1] == 18 + 5


class Desk:
    """A server, to which agents send over uplinks without latency, and when each message was begun to be handled."""

    def __init__(self, server, *, agents=1, retry=None, down=(), horizon=1_000, energy=None, power=0, of_agents=None):
        self.environment = Environment()
        outages = [Outage(begin, end, server=True) for begin, end in down]
        faults = Faults(plan=OutagePlan(outages=outages), uplink=ChannelFaults(retry=retry))
        self.network = Network(
            Clock(self.environment, 1, horizon),
            [[] for _ in range(agents)],
            LinkClass(),
            {},
            LinkClass(),
            [0] * agents,
            Fingerprint(),
            streams=Streams(3, 0),
            faults=faults if retry or down else Faults(),
            energy=energy,
            compute=ComputePlan(of_agents or ServiceTimes(), server, (1.0,) * agents, power),
        )
        self.computing = self.network.computing
        self.ends = []
        self.network.attach(lambda node, arrivals: self.ends.append(self.environment.now))

    def at(self, time, act):
        def process():
            yield self.environment.timeout(time)
            act()

        self.environment.process(process())

    def send(self, time, messages, size=20):
        def act():
            for _ in range(messages):
                self.network.send_up(Message(PING, size, None, 1), 0)

        self.at(time, act)

    def run(self):
        self.environment.run()
        self.outcomes = self.network.close()
        return self.ends


@pytest.mark.parametrize("inbox", [0, 1, 4])
def test_of_a_burst_one_is_handled_and_as_many_wait_as_may(inbox):
    desk = Desk(takes(inbox, message=SERVICE))
    desk.send(0, 9)
    assert desk.run() == [(place + 1) * SERVICE for place in range(inbox + 1)]
    assert desk.computing.refused == desk.outcomes.lost == 9 - (inbox + 1)
    assert desk.computing.most_waiting == inbox
    assert desk.outcomes.delivered == inbox + 1


def test_what_ends_at_an_instant_leaves_before_what_comes():
    desk = Desk(takes(0, message=SERVICE))
    desk.send(0, 1)
    desk.send(9, 1)
    desk.send(10, 1)
    assert desk.run() == [10, 20]
    assert desk.computing.refused == 1


def test_what_is_refused_is_not_acknowledged_and_sent_again():
    desk = Desk(takes(2, message=SERVICE), retry=Retry(25, 1.0, 1.0, 5))
    desk.send(0, 5)
    assert desk.run() == [10, 20, 30, 40, 50]
    assert (desk.computing.refused, desk.network.tally.retransmissions, desk.outcomes.given_up) == (2, 2, 0)


def test_each_byte_takes_its_time():
    desk = Desk(takes(per_byte=1.5, message=3))
    desk.send(0, 1, size=7)
    assert desk.run() == [round(3 + 1.5 * 7)]


def test_own_jobs_go_ahead_of_messages_that_wait_and_not_of_the_one_being_handled():
    desk = Desk(takes(message=SERVICE, aggregate=7))
    ended = []

    def aggregate():
        desk.network.when_computed(
            1, "aggregate", lambda taken: ended.append((desk.environment.now, taken)), lambda: len(desk.ends)
        )

    desk.send(0, 3)
    desk.at(5, aggregate)
    desk.at(6, aggregate)
    assert desk.run() == [10, 10 + 14 + SERVICE, 10 + 14 + 2 * SERVICE]
    assert ended == [(17, 1), (24, 1)]
    assert desk.computing.busy(1) == 14 + 3 * SERVICE


def test_a_server_that_goes_down_loses_its_inbox_and_its_job():
    desk = Desk(takes(message=SERVICE, aggregate=30), down=[(15, 40)])
    dropped = []
    desk.send(0, 3)
    desk.at(12, lambda: desk.network.when_computed(1, "aggregate", print, dropped=lambda: dropped.append(15)))
    desk.send(50, 1)
    assert desk.run() == [10, 60]
    assert dropped == [15]
    assert desk.computing.unhandled == 2
    assert desk.outcomes.delivered == 4
    assert desk.computing.busy(1) == 15 + SERVICE


def test_what_ends_when_its_node_goes_down_is_not_done():
    desk = Desk(takes(message=SERVICE), down=[(10, 40)])
    desk.send(0, 1)
    assert desk.run() == []
    assert desk.computing.unhandled == 1


def test_nothing_begins_at_the_horizon_and_what_has_begun_ends():
    desk = Desk(takes(message=SERVICE), horizon=25)
    desk.send(0, 4)
    assert desk.run() == [10, 20, 30]
    assert desk.computing.unhandled == 1
    assert desk.computing.busy(1) == 25


def test_a_battery_lasts_as_long_as_the_power_says_and_then_the_job_is_gone():
    # 50 ns of computing at 3 nW, beside 1 nW of idling, from 20 ns on: (200 - 20) / 4 = 45 ns are there.
    energy = EnergyPlan(capacity=(200, 200), idle=1)
    desk = Desk(ServiceTimes(), energy=energy, power=3, of_agents=takes(item=50))
    done = []
    desk.at(20, lambda: desk.network.when_computed(0, "item", done.append))
    desk.run()
    found = desk.network.batteries.drained()
    assert not done
    assert found.first_death == 65
    assert found.spent == 200
    assert desk.computing.energy == 45 * 3


def test_a_battery_pays_for_a_job_what_it_takes():
    energy = EnergyPlan(capacity=(5_000, 5_000), idle=1)
    desk = Desk(ServiceTimes(), energy=energy, power=3, of_agents=takes(item=50))
    desk.at(20, lambda: desk.network.when_computed(0, "item", lambda _: None))
    desk.run()
    assert desk.network.batteries.drained().spent == 1_000 + 50 * 3
    assert desk.computing.energy == 150


BATCHES = 40


def poisson(desk, load, service, messages, note):
    """Send so many messages to *desk*, and call *note* after each batch."""
    times = np.cumsum(np.rint(np.random.default_rng(5).exponential(service / load, messages))).astype(np.int64)

    def process():
        for number, gap in enumerate(np.diff(times, prepend=0).tolist()):
            yield desk.environment.timeout(gap)
            if number % (messages // BATCHES) == 0:
                note()
            desk.network.send_up(Message(PING, 20, None, 1), 0)

    desk.environment.process(process())
    desk.network.attach(lambda node, arrivals: None)
    desk.run()
    note()


def within(values, theory):
    """Return whether a mean of batches is within 4.5 standard errors of *theory*."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return abs(values.mean() - theory) < 4.5 * error


@pytest.mark.ci
def test_messages_wait_as_in_a_queue_of_exponential_service():
    """M/M/1: rho s / (1 - rho)."""
    service, load, each = 10_000, 0.6, 3_000
    desk = Desk(takes(message=ExponentialJitter(service)), horizon=10**15)
    seen = []
    poisson(desk, load, service, BATCHES * each, lambda: seen.append((desk.computing.waited, desk.computing.begun)))
    waited, begun = np.diff(np.array(seen), axis=0).T
    assert within(waited / begun / service, load / (1 - load))


@pytest.mark.ci
@pytest.mark.parametrize(("inbox", "refused"), [(1, 0.2623), (4, 0.0888)])
def test_a_small_inbox_refuses_what_it_must(inbox, refused):
    """M/M/1/K, K + 1 places: (1 - rho) rho^c / (1 - rho^(c + 1)), c = K + 1."""
    service, load, each, places = 10_000, 0.8, 1_000, inbox + 1
    theory = (1 - load) * load**places / (1 - load ** (places + 1))
    assert theory == pytest.approx(refused, abs=5e-5)
    desk = Desk(takes(inbox, message=ExponentialJitter(service)), horizon=10**15)
    seen = []
    poisson(desk, load, service, BATCHES * each, lambda: seen.append(desk.computing.refused))
    assert within(np.diff(seen) / each, theory)


def test_the_last_of_twenty_exponential_items_takes_the_sum_of_a_harmonic_series():
    agents, mean, rounds = 20, 10_000, 400
    desk = Desk(ServiceTimes(), agents=agents, of_agents=takes(item=ExponentialJitter(mean)), horizon=10**15)
    last = []

    def play():
        for _ in range(rounds):
            begun, ends = desk.environment.now, []
            for agent in range(agents):
                desk.network.when_computed(agent, "item", lambda _, ends=ends: ends.append(desk.environment.now))
            yield desk.environment.timeout(100 * mean)
            last.append((max(ends) - begun) / mean)

    desk.environment.process(play())
    desk.run()
    theory = sum(1 / k for k in range(1, agents + 1))
    assert theory == pytest.approx(3.598, abs=5e-4)
    assert within(np.array(last).reshape(BATCHES, -1).mean(axis=1), theory)
