"""``run.header``: the header of messages that carry items, and of no others."""

import pytest
from helpers.own_learners import Telling

from netbandit.checks.check import check
from netbandit.scenario.load import load
from netbandit.studies.emulation.limits import refusals
from netbandit.user_code.errors import ReturnedError

TEXT = """
run = { horizon = 60, slot = "1 ms" }
topology = { family = "ring", agents = 5 }
links = { peer.latency = "0.4 ms", uplink.latency = "0.4 ms" }
bandit = { kind = "bernoulli", means = [0.2, 0.5, 0.9] }
learner = { kind = "ucb", share = "totals" }
protocol = { kind = "relay" }
"""
LINEAR = ("bandit={kind='linear', dimension=2, arms=3}", "learner={kind='oful', threshold=1.0, upload=1.5}")
CONTROL = {"ADV", "REQ", "CALL", "ASK", "SYNC", "LEAVE", "REQUEST", "ACK"}


def found(*overrides):
    return check(load("header.toml", overrides, text=TEXT)).points[0].simulation(0).run()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "overrides",
    [
        ("protocol.kind=relay",),
        ("protocol={kind='local', ttl=2}",),
        ("protocol={kind='local', ttl=2, route='flood'}",),
        ("protocol.kind=gis",),
        ("protocol.kind=flooding",),
        ("protocol.kind=master-worker",),
        ("protocol.kind=sink",),
        ("learner.kind=coop-ucb2", "protocol.kind=consensus"),
        ("learner.kind=gosine", "protocol.kind=gossip", "bandit.means=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9]"),
        (*LINEAR, "protocol.kind=parameter-server"),
        (*LINEAR, "protocol={kind='parameter-server', answer='lagging'}"),
        (*LINEAR, "protocol={kind='local', ttl=2}"),
        (*LINEAR, "protocol.kind=flooding"),
        ("bandit={kind='vertical', dimension=6, arms=3}", "learner={kind='linucb'}", "protocol={kind='vertical'}"),
    ],
    ids=lambda overrides: " ".join(overrides[-2:])[:60],
)
def test_what_carries_items_weighs_the_header_and_what_else(overrides):
    usual, none, more = (found(*overrides, f"run.header={header}") for header in (20, 0, 50))
    assert usual.fingerprint == found(*overrides).fingerprint
    carries = {kind for kind in usual.kinds if kind not in CONTROL}
    assert carries
    for kind, (messages, size) in usual.kinds.items():
        saved = 20 * messages if kind in carries else 0
        assert none.kinds[kind] == (messages, size - saved)
        assert more.kinds[kind] == (messages, size + saved * 3 // 2)


class Quantised(Telling):
    """Rows of `Telling`, in so many bits a number."""

    bits: int = 3
    """Bits of a number."""

    def item_bits(self, numbers):
        return self.bits * numbers


@pytest.mark.parametrize(("bits", "size"), [(1, 1), (3, 1), (8, 1), (9, 2), (64, 8)])
def test_bits_are_rounded_up_to_bytes_with_the_row(bits, size):
    learner = f"learner={{kind='{__name__}:Quantised', bits={bits}}}"
    messages, weight = found(learner, "protocol.kind=relay", "run.header=0").kinds["RELAY"]
    assert weight == messages * (4 + size) > 0


class Wrong(Telling):
    def item_bits(self, numbers):
        return numbers / 2


def test_half_a_bit_is_none():
    with pytest.raises(ReturnedError, match=r"Wrong\.item_bits must return a number of bits, an integer of at least 0"):
        found(f"learner={{kind='{__name__}:Wrong'}}", "protocol.kind=relay")


def test_real_messages_have_a_header_of_their_own():
    point = check(
        load("header.toml", ("learner.kind=elimination", "protocol.kind=gis", "run.header=0"), text=TEXT)
    ).points[0]
    assert (("run", "header"), "must be 20 to be emulated: what real messages have") in list(refusals(point, 0))
