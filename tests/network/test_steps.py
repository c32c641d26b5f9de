"""The steps of a hop: which models have them, and that a step of one owner has no second one."""

import pytest
from helpers.triangle import Triangle

from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.jitter import UniformJitter
from netbandit.network.models.jitter import Jitter
from netbandit.network.models.loss import BurstLoss, ConstantLoss
from netbandit.network.models.retransmission import Retry
from netbandit.network.network import Network
from netbandit.network.observer import Observer
from netbandit.network.outages import Failing, OutagePlan
from netbandit.network.steps import Model
from netbandit.network.wire import DeferredWire, Wire, send_reliably

OF_ONE = {
    "admits", "absent", "contacts", "copy_late", "double", "late", "lose", "queue", "receive", "retry", "spend"
}  # fmt: skip


class Owner(Model):
    """Sets one step."""

    def __init__(self, step):
        self.step = step

    def join(self, steps):
        steps.own(**{self.step: lambda *_: None})


def wire(*models, kind=Wire):
    network = Triangle(Faults()).network
    return kind(network, "peer", 6, network.peer_class, models)


def test_a_wire_without_models_has_no_step():
    bare = wire()
    assert {name for name in Wire.__mro__[1].__slots__ if getattr(bare, name) is None} == OF_ONE
    assert (bare.cuts, bare.misses, bare.skips, bare.is_cut, bare.is_missed) == ([], [], [], None, None)


@pytest.mark.parametrize("step", sorted(OF_ONE))
def test_two_models_cannot_have_the_same_step(step):
    assert getattr(wire(Owner(step)), step) is not None
    with pytest.raises(ValueError, match=rf"two models of links\.peer have the step '{step}' of a hop"):
        wire(Owner(step), Owner(step))


def test_two_models_of_a_kind_cannot_join_either():
    for model in (ConstantLoss(0.1), Jitter(UniformJitter(3), overtaking=False), Retry(9, 2.0, 1.5, 3)):
        with pytest.raises(ValueError, match="two models"):
            wire(model, model)
    with pytest.raises(ValueError, match="two models"):
        wire(ConstantLoss(0.1), BurstLoss(0.1, 0.2, 30, 40))


def test_retransmissions_need_to_know_ahead_what_arrives(monkeypatch):
    monkeypatch.setattr(Network, "deferred_outcomes", True)
    cure = "agents share the air or their batteries may run empty: leave out one of them"
    with pytest.raises(ValueError, match=rf"links\.peer\.retry cannot be where {cure}"):
        wire(Retry(9, 2.0, 1.5, 3), kind=DeferredWire)


def test_each_class_of_links_has_its_own_models():
    faults = Faults(
        peer=ChannelFaults(loss=ConstantLoss(0.1), duplicate=0.1),
        uplink=ChannelFaults(jitter=UniformJitter(3)),
        plan=OutagePlan(links=Failing(50, 5), nodes=Failing(70, 7)),
    )
    network = Triangle(faults, bandwidth=10**9).network
    names = [[type(model).__name__ for model in one.models] for one in (network.peer_wire, network.uplink_wire)]
    assert names == [
        ["ConstantLoss", "LinkOutages", "NodeOutages", "Duplicates", "Fifo"],
        ["Jitter", "NodeOutages", "Fifo"],
    ]
    assert network.channel(0, 1).wire is network.peer_wire
    assert network.uplink(0).wire is network.links.downlink(1).wire is network.links.air(2).wire is network.uplink_wire


def test_any_number_of_tests_may_stop_a_message():
    class Cut(Model):
        def __init__(self, start):
            self.start = start

        def join(self, steps):
            steps.cuts.append(lambda channel, size, start, arrival: start == self.start)

    for count in range(4):
        found = wire(*map(Cut, range(count)))
        stopped = [] if found.is_cut is None else [time for time in range(5) if found.is_cut(None, 1, time, time + 1)]
        assert stopped == list(range(count))


class Notes(Observer):
    def __init__(self):
        self.begun, self.hops, self.fates = [], [], []

    def sent(self, channel, message, begin):
        self.begun.append(begin)

    def hop(self, channel, message, put_at, start, arrival, lost, copy):
        assert put_at <= start < arrival
        self.hops.append((lost, copy))

    def fate(self, channel, message, fate, time):
        self.fates.append(fate)


@pytest.mark.parametrize("faults", [Faults(), Faults(peer=ChannelFaults(loss=ConstantLoss(0.3), duplicate=0.4))])
def test_all_who_watch_are_told_of_all_messages_and_change_nothing(faults):
    logs, watching = [], [Notes(), Notes()]
    for observers in ([], watching):
        lab = Triangle(faults)
        assert (lab.network._send.__func__ is send_reliably) == (not faults)
        lab.network.watch(observers[:1])
        lab.network.watch(observers[1:])
        assert (lab.network._send.__func__ is send_reliably) == (not faults and not observers)
        for time in range(0, 3_000, 10):
            lab.send(time, 0, 1)
        lab.send(100_000, 0, 1)
        logs.append((lab.run(), lab.fingerprint.hexdigest(), lab.network.ledger.outcomes))
    assert logs[0] == logs[1]
    outcomes = logs[1][2]
    for notes in watching:
        assert len(notes.begun) == 300
        assert len(notes.hops) == 300 + outcomes.duplicates
        assert sum(lost for lost, _ in notes.hops) == outcomes.lost
        assert sum(copy for _, copy in notes.hops) == outcomes.duplicates
        assert notes.fates == ["duplicates_dropped"] * outcomes.duplicates_dropped
