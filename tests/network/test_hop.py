from itertools import pairwise
from math import inf

import numpy as np
import pytest
from helpers.triangle import Triangle

from netbandit.network.downtimes import Downtimes, failing
from netbandit.network.draws import Draws
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.jitter import UniformJitter
from netbandit.network.ledger import BroadcastCopies, Outcomes
from netbandit.network.message import Kind, Message
from netbandit.network.models.loss import BitLoss, BurstLoss, ConstantLoss, bursts
from netbandit.network.models.retransmission import Retry
from netbandit.network.outages import Failing, Outage, OutagePlan
from netbandit.util.streams import Streams

NANOSECOND_A_BYTE = 8_000_000_000


def peers(**keys):
    return Faults(peer=ChannelFaults(**keys), uplink=ChannelFaults(**keys))


def scripted(*outages, memory="kept"):
    return Faults(plan=OutagePlan(outages=outages, memory=memory))


def test_without_a_fault_both_calendars_deliver_the_same():
    logs = []
    for one_by_one in (False, True):
        for bandwidth in (None, NANOSECOND_A_BYTE):
            lab = Triangle(Faults(), bandwidth, one_by_one=one_by_one)
            for time in (0, 3, 3, 900, 1_000):
                for sender, receiver in ((0, 1), (1, 0), (2, 0), (0, 3), (3, 2)):
                    lab.send(time, sender, receiver)
            logs.append((bandwidth, lab.run(), lab.fingerprint.hexdigest(), lab.network.peer_totals()))
    assert logs[:2] == logs[2:]


@pytest.mark.parametrize("loss", [ConstantLoss(0.3), BitLoss(1e-3), BurstLoss(0.01, 0.9, 900, 300)])
def test_losses_alone_are_the_same_in_both_calendars(loss):
    logs = []
    for one_by_one in (False, True):
        lab = Triangle(Faults(peer=ChannelFaults(loss=loss)), one_by_one=one_by_one)
        for time in range(0, 6_000, 7):
            for sender, receiver in ((0, 1), (1, 0), (1, 2)):
                lab.send(time, sender, receiver, 20 + time % 50)
        logs.append((lab.run(), lab.fingerprint.hexdigest(), lab.network.ledger.outcomes, lab.network.peer_totals()))
    assert logs[0] == logs[1]
    assert logs[0][2].lost > 0


@pytest.mark.parametrize("loss", [None, ConstantLoss(0.3), BitLoss(1e-3), BurstLoss(0.01, 0.9, 900, 300)])
@pytest.mark.parametrize(
    "retry",
    [
        Retry(100, 2.0, 1.5, 5),  # every acknowledgement that is not lost comes in time
        Retry(30, 1.0, 2.0, 3),  # some come after the timeout
        Retry(15, 1.2, 1.0, 4),  # many messages do
        Retry(40, 1.0, 1.0, 6),  # exactly at the timeout, on one of the links
    ],
)
def test_repetitions_and_losses_are_the_same_in_both_calendars(loss, retry):
    logs = []
    for one_by_one in (False, True):
        lab = Triangle(Faults(peer=ChannelFaults(loss=loss, retry=retry)), one_by_one=one_by_one)
        lab.network.count_before_start(Message(Kind("HELLO"), 20, None, 0), lab.network.channel(0, 1))
        for time in range(70_000, 100_000, 330):
            for sender, receiver in ((0, 1), (1, 0), (1, 2), (0, 3)):
                lab.send(time + (sender == receiver - 2) * 3, sender, receiver, 20 + time % 50)
        lab.send(99_999, 1, 2)  # arrives after the horizon: nobody acknowledges it any more
        log = lab.run()
        logs.append(
            (
                log,
                lab.fingerprint.hexdigest(),
                lab.network.ledger.outcomes,
                lab.network.ledger.kinds,
                lab.network.peer_totals(),
                lab.network.uplink_totals(),
                [there.count_of("lost") + back.count_of("lost") for there, back in lab.network.links.pairs()],
                lab.environment.now,
            )
        )
    assert logs[0] == logs[1]
    assert (logs[0][2].retransmissions > 0) == (loss is not None or retry.timeout < 60)


def test_a_message_is_lost_if_its_link_is_down_at_any_moment_of_its_way():
    """The link 0-1 takes 10 ns and is down in [100, 200): what arrives at 100 is lost, what starts at 200 is not."""
    lab = Triangle(scripted(Outage(100, 200, links=frozenset({(0, 1)}))))
    for size, time in enumerate((89, 90, 150, 199, 200)):
        lab.send(time, 0, 1, size)
        lab.send(time, 2, 1, 10 + size)
    arrived = [(now, *one) for now, _, inbox in lab.run() for one in inbox]
    assert [(now, size) for now, sender, size in arrived if sender == 0] == [(99, 0), (210, 4)]
    assert len([1 for _, sender, _ in arrived if sender == 2]) == 5
    assert lab.network.ledger.outcomes.lost == 3
    assert lab.network.peer_totals().messages == 10  # the sender has paid


def test_a_node_that_is_down_neither_sends_nor_hears():
    lab = Triangle(scripted(Outage(100, 200, nodes=frozenset({1}))))
    lab.send(89, 0, 1, 1)  # arrives at 99
    lab.send(90, 0, 1, 2)  # arrives at 100: changes come before arrivals
    lab.send(150, 1, 0, 3)  # not sent
    lab.send(190, 0, 1, 4)  # arrives at 200: it is up again
    lab.send(200, 1, 0, 5)
    assert lab.run() == [(99, 1, [(0, 1)]), (200, 1, [(0, 4)]), (210, 0, [(1, 5)])]
    outcomes = lab.network.ledger.outcomes
    assert (lab.network.peer_totals().messages, outcomes.delivered, outcomes.lost) == (4, 3, 1)


def test_what_still_queues_at_a_node_that_goes_down_is_never_sent():
    lab = Triangle(scripted(Outage(150, 160, nodes=frozenset({0}))), NANOSECOND_A_BYTE)
    for size in (100, 40, 30):  # starts at 0, 100 and 140; the next would start at 170
        lab.send(0, 0, 1, size)
    lab.send(0, 0, 1, 20)
    lab.send(165, 0, 1, 10)  # waits for what was being sent when the node went down
    assert [(now, inbox) for now, _, inbox in lab.run()] == [
        (110, [(0, 100)]),
        (150, [(0, 40)]),
        (180, [(0, 30)]),
        (190, [(0, 10)]),
    ]
    assert lab.network.peer_totals().messages == 4


def test_the_server_and_partitions():
    lab = Triangle(scripted(Outage(0, 50, server=True), Outage(100, inf, group=[0, 0, 1])))
    lab.send(10, 0, 3)  # lost: 15 ns
    lab.send(45, 0, 3)  # arrives at 50
    lab.send(40, 3, 1)  # not sent
    lab.send(60, 3, 1)
    lab.send(120, 0, 1)
    lab.send(120, 0, 2)
    lab.send(120, 1, 2)
    assert [(now, node) for now, node, _ in lab.run()] == [(50, 3), (66, 1), (130, 1)]
    assert lab.network.ledger.outcomes.lost == 3


def test_jitter_holds_back_or_lets_overtake():
    for overtaking in (False, True):
        lab = Triangle(peers(jitter=UniformJitter(500), overtaking=overtaking))
        for size in range(100):
            lab.send(5 * size, 0, 1, size)
        arrived = [(now, size) for now, _, inbox in lab.run() for _, size in inbox]
        assert sorted(size for _, size in arrived) == list(range(100))
        assert all(5 * size + 10 <= now <= 5 * 99 + 510 for now, size in arrived)
        in_order = all(first < second for (_, first), (_, second) in pairwise(arrived))
        assert in_order == (not overtaking)
        if overtaking:
            assert all(now - 5 * size - 10 <= 500 for now, size in arrived)


@pytest.mark.parametrize("retry", [None, Retry(100, 2.0, 1.5, 5)])
def test_each_message_arrives_at_most_once_where_half_are_doubled(retry):
    lab = Triangle(peers(duplicate=0.5, jitter=UniformJitter(40), overtaking=True, loss=ConstantLoss(0.2), retry=retry))
    for size in range(200):
        lab.send(200 * size, *[(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)][size % 5], size)
    seen = [size for _, _, inbox in lab.run() for _, size in inbox]
    assert len(seen) == len(set(seen))
    outcomes = lab.network.ledger.outcomes
    assert outcomes.duplicates > 50
    assert outcomes.duplicates_dropped > 50
    assert (outcomes.retransmissions > 0) == (retry is not None)


def test_retransmissions_to_the_nanosecond():
    """0-1 takes 10 ns, a byte 1 ns, an ACK has 24 bytes; the link is down in [0, 300).

    Sent at 0 (100 ns), timeout 150: again at 250 (lost too), then 300 after its end: at 650. It arrives at 760,
    its ACK at 794.
    """
    plan = OutagePlan(outages=[Outage(0, 300, links=frozenset({(0, 1)}))])
    retry = Retry(150, 2.0, 1.0, 5)
    lab = Triangle(Faults(peer=ChannelFaults(retry=retry), plan=plan), NANOSECOND_A_BYTE)
    lab.send(0, 0, 1)
    assert lab.run() == [(760, 1, [(0, 100)])]
    outcomes = lab.network.ledger.outcomes
    assert (outcomes.delivered, outcomes.lost, outcomes.retransmissions, outcomes.given_up) == (2, 2, 2, 0)
    assert lab.network.ledger.kinds == {"ACK": (1, 24), "PING": (1, 100), "PING-RETRY": (2, 200)}
    assert lab.environment.now == 794


def test_an_acknowledgement_queues_like_all_else():
    """1 sends 200 bytes at 105, so the ACK of what arrives at 110 starts at 305 and comes at 339, after the timeout.

    The sender, whose timeout of 220 runs from 100, repeats at 320; that copy is dropped at 430, and acknowledged.
    """
    lab = Triangle(Faults(peer=ChannelFaults(retry=Retry(220, 2.0, 1.0, 5))), NANOSECOND_A_BYTE)
    lab.send(0, 0, 1, 100)
    lab.send(105, 1, 0, 200)
    assert lab.run() == [(110, 1, [(0, 100)]), (315, 0, [(1, 200)])]
    outcomes = lab.network.ledger.outcomes
    assert (outcomes.retransmissions, outcomes.duplicates_dropped) == (1, 1)
    assert lab.network.ledger.kinds["ACK"] == (3, 72)


def test_a_sender_gives_up_after_its_attempts():
    plan = OutagePlan(outages=[Outage(0, inf, links=frozenset({(0, 1)}))])
    lab = Triangle(Faults(peer=ChannelFaults(retry=Retry(100, 2.0, 1.0, 3)), plan=plan))
    lab.send(0, 0, 1)
    assert lab.run() == []
    outcomes = lab.network.ledger.outcomes
    assert (outcomes.lost, outcomes.retransmissions, outcomes.given_up) == (3, 2, 1)
    assert lab.environment.now == 700  # 100 + 200 + 400


def test_a_sender_that_goes_down_gives_up_all_it_has():
    plan = OutagePlan(outages=[Outage(0, inf, links=frozenset({(0, 1)})), Outage(150, 160, nodes=frozenset({0}))])
    lab = Triangle(Faults(peer=ChannelFaults(retry=Retry(100, 2.0, 1.0, 5)), plan=plan))
    lab.send(0, 0, 1)
    lab.send(140, 0, 2)  # arrives at 160; the ACK would come at 180
    assert lab.run() == [(160, 2, [(0, 100)])]
    assert (lab.network.ledger.outcomes.retransmissions, lab.network.ledger.outcomes.given_up) == (1, 2)


def test_who_goes_down_gives_up_what_would_be_repeated_after_the_end():
    """Sent at 0 and lost, it is to be sent again at 150, behind 950 bytes: at 1,070, after the end."""
    severed = Outage(0, inf, links=frozenset({(0, 1)}))
    for outages, given_up in (([], 0), ([Outage(500, 510, nodes=frozenset({0}))], 2)):
        plan = OutagePlan(outages=[severed, *outages])
        faults = Faults(peer=ChannelFaults(retry=Retry(50, 1.0, 1.0, 5)), plan=plan)
        lab = Triangle(faults, NANOSECOND_A_BYTE, horizon=1)
        lab.send(0, 0, 1, 100)
        lab.send(120, 0, 1, 950)
        assert lab.run() == []
        outcomes = lab.network.ledger.outcomes
        assert (outcomes.unsent, outcomes.retransmissions, outcomes.given_up) == (1, 0, given_up)


def test_who_comes_back_without_memory_takes_a_message_once_more():
    """1 hears at 10, its ACK is lost with the link at 15, it is down in [50, 60), and the repetition comes at 110."""
    for memory, times in (("kept", [10]), ("lost", [10, 110])):
        plan = OutagePlan(
            memory=memory,
            outages=[Outage(15, 30, links=frozenset({(0, 1)})), Outage(50, 60, nodes=frozenset({1}))],
        )
        lab = Triangle(Faults(peer=ChannelFaults(retry=Retry(100, 2.0, 1.0, 5)), plan=plan))
        lab.send(0, 0, 1)
        assert [now for now, _, _ in lab.run()] == times


DOWN_AT_FIRST = OutagePlan(outages=[Outage(0, 150, nodes=frozenset({1}))])


def test_what_is_broadcast_reaches_each_agent_or_does_not():
    """Agent 1 is down when its copy comes at 106; nothing is acknowledged or repeated, and nothing is a message."""
    lab = Triangle(Faults(plan=DOWN_AT_FIRST), NANOSECOND_A_BYTE)
    lab.broadcast(0, [0, 1, 2])
    assert lab.run() == [(105, 0, [(3, 100)]), (107, 2, [(3, 100)])]
    ledger = lab.network.ledger
    assert (ledger.broadcasts, ledger.copies) == (1, BroadcastCopies(sent=3, delivered=2, missed=1))
    assert (ledger.kinds, ledger.outcomes) == ({}, Outcomes())
    assert lab.network.lost_for_good() == {"peer": 0, "uplink": 1}


def test_what_is_broadcast_is_acknowledged_and_repeated_over_uplinks_to_the_nanosecond():
    """Uplinks take 5, 6 and 7 ns, a byte 1 ns, an ACK has 24 bytes; agent 1 is down in [0, 150).

    All of the broadcast is out at 100, and heard at 105 and 107: its ACKs come at 134 and 138. Timeout 200: at 300 the
    server repeats what agent 1 missed, which comes at 406, and its ACK at 436.
    """
    uplink = ChannelFaults(retry=Retry(200, 2.0, 1.0, 5))
    lab = Triangle(Faults(uplink=uplink, plan=DOWN_AT_FIRST), NANOSECOND_A_BYTE)
    lab.broadcast(0, [0, 1, 2])
    assert lab.run() == [(105, 0, [(3, 100)]), (107, 2, [(3, 100)]), (406, 1, [(3, 100)])]
    assert lab.environment.now == 436
    ledger = lab.network.ledger
    assert ledger.copies == BroadcastCopies(sent=3, delivered=2, missed=1)
    sent = {"handed": 4, "handed_bytes": 172, "delivered_bytes": 172}
    assert ledger.outcomes == Outcomes(delivered=4, retransmissions=1, **sent)
    assert ledger.kinds == {"ACK": (3, 72), "PING-RETRY": (1, 100)}
    uplinks = lab.network.uplink_totals()
    assert (uplinks.messages, uplinks.bytes, uplinks.activations, uplinks.cost) == (4, 172, 3, 75)
    assert lab.network.lost_for_good() == {"peer": 0, "uplink": 0}


def test_a_repetition_and_the_copy_that_was_broadcast_are_heard_once():
    """All of it is out at 200, and its ACK comes at 238: within a timeout of 50, but not within one of 20."""
    for timeout, repeated in ((50, 0), (20, 1)):
        lab = Triangle(Faults(uplink=ChannelFaults(retry=Retry(timeout, 2.0, 1.0, 2))), NANOSECOND_A_BYTE)
        lab.broadcast(100, [2])
        assert lab.run() == [(207, 2, [(3, 100)])]
        ledger = lab.network.ledger
        assert ledger.copies == BroadcastCopies(sent=1, delivered=1)
        outcomes = ledger.outcomes
        assert (outcomes.handed, outcomes.delivered, outcomes.lost) == (1 + 2 * repeated, 1 + repeated, 0)
        assert outcomes.retransmissions == outcomes.duplicates_dropped == repeated
        assert outcomes.handed_bytes == outcomes.delivered_bytes + 100 * repeated


def test_a_server_gives_up_broadcasts_after_its_attempts_and_when_it_goes_down():
    for outages, given_up, repeated in (([], 3, 6), ([Outage(250, 260, server=True)], 3, 3)):
        retry = Retry(100, 2.0, 1.0, 3)
        faults = Faults(uplink=ChannelFaults(retry=retry, loss=ConstantLoss(1.0)), plan=OutagePlan(outages=outages))
        lab = Triangle(faults)
        lab.broadcast(0, [0, 1, 2])
        assert lab.run() == []
        outcomes = lab.network.ledger.outcomes
        assert (outcomes.given_up, outcomes.retransmissions, outcomes.lost) == (given_up, repeated, repeated)
        assert lab.network.ledger.copies == BroadcastCopies(sent=3, missed=3)
        assert lab.network.lost_for_good() == {"peer": 0, "uplink": 3}


@pytest.mark.parametrize("loss", [ConstantLoss(0.3), BitLoss(1e-3), BurstLoss(0.01, 0.9, 900, 300)])
def test_whatever_goes_wrong_each_agent_hears_every_broadcast_once(loss):
    uplink = ChannelFaults(
        loss=loss, jitter=UniformJitter(40), overtaking=True, duplicate=0.3, retry=Retry(100, 1.5, 1.5, 40)
    )
    lab = Triangle(Faults(uplink=uplink), NANOSECOND_A_BYTE // 10, horizon=10_000)
    for size in range(100):
        lab.broadcast(300 * size, [0, 1, 2], size)
        lab.send(300 * size, 3, size % 3, 200 + size)
    heard = sorted((size, node) for _, node, inbox in lab.run() for _, size in inbox if size < 200)
    assert heard == [(size, node) for size in range(100) for node in range(3)]
    copies = lab.network.ledger.copies
    assert copies.sent == 300
    assert copies.missed > 20


@pytest.mark.ci
def test_losses_have_their_probability():
    """10,000 messages of 50 bytes: within 4 standard errors (1 in 16,000)."""
    for loss, wanted in ((ConstantLoss(0.1), 0.1), (BitLoss(1e-3), 1 - 0.999**400)):
        lab = Triangle(Faults(peer=ChannelFaults(loss=loss)), horizon=10**6)
        for time in range(5_000):
            lab.send(time, 0, 1, 50)
            lab.send(time, 1, 0, 50)
        lab.run()
        share = lab.network.ledger.outcomes.lost / 10_000
        assert abs(share - wanted) < 4 * (wanted * (1 - wanted) / 10_000) ** 0.5


def test_bursts_last_and_take_their_share_of_time():
    """Over 300 channels: time in the bad state, and the mean length of a burst, within 4 standard errors each."""
    states = Draws(Streams(7, 0), "bursts", 300)
    horizon, good_for, bad_for = 10**6, 9_000, 3_000
    shares, lengths = [], []
    for column in range(300):
        stays = Downtimes(failing(states, column, good_for, bad_for)).until(horizon)
        shares.append(sum(min(end, horizon) - begin for begin, end in stays) / horizon)
        lengths += [end - begin for begin, end in stays if begin and end < horizon]
        found = bursts(BurstLoss(0.25, 0.75, good_for, bad_for), states, column)
        for begin, end in stays[:3]:
            assert [found.is_bad(time) for time in (begin, int(end) - 1, int(end))] == [True, True, False]
    assert abs(np.mean(shares) - 0.25) < 4 * np.std(shares, ddof=1) / 300**0.5
    assert abs(np.mean(lengths) - bad_for) < 4 * np.std(lengths, ddof=1) / len(lengths) ** 0.5 + 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("attempts", [1, 3, 6])
def test_a_hop_takes_the_attempts_of_its_law(attempts):
    """(1 - q^n) / (1 - q) attempts, q the loss of the round trip: 4,000 messages, within 4 standard errors."""
    loss = 0.3
    lab = Triangle(
        Faults(peer=ChannelFaults(loss=ConstantLoss(loss), retry=Retry(100, 1.0, 1.0, attempts))), horizon=10**7
    )
    messages = 4_000
    for number in range(messages):
        lab.send(2_000 * number, 0, 1)
    lab.run()
    q = 1 - (1 - loss) ** 2
    counts = np.arange(1, attempts + 1)
    law = np.where(counts < attempts, q ** (counts - 1) * (1 - q), q ** (attempts - 1))
    mean = law @ counts
    assert mean == pytest.approx((1 - q**attempts) / (1 - q))
    error = ((law @ counts**2 - mean**2) / messages) ** 0.5
    sent = messages + lab.network.ledger.outcomes.retransmissions
    assert abs(sent / messages - mean) <= 4 * error + 1e-12
    gone = lab.network.ledger.outcomes.given_up / messages
    assert abs(gone - q**attempts) < 4 * (q**attempts * (1 - q**attempts) / messages) ** 0.5


def test_one_channel_never_changes_the_luck_of_another():
    faults = Faults(peer=ChannelFaults(loss=ConstantLoss(0.5), jitter=UniformJitter(100)))
    alone, together = Triangle(faults), Triangle(faults)
    for time in range(0, 9_000, 10):
        alone.send(time, 0, 1)
        together.send(time, 0, 1)
        together.send(time + 1, 1, 0)
        together.send(time + 2, 0, 2)
    of_first = [(now, node, inbox) for now, node, inbox in together.run() if node == 1]
    assert alone.run() == of_first


@pytest.mark.ci
def test_random_outages_add_up():
    plan = OutagePlan(links=Failing(800, 200), nodes=Failing(900, 300), server=Failing(500, 500), memory="lost")
    faults = ChannelFaults(
        loss=ConstantLoss(0.1), jitter=UniformJitter(50), duplicate=0.1, retry=Retry(60, 1.5, 1.2, 4)
    )
    for seed in range(5):
        lab = Triangle(Faults(faults, faults, plan), NANOSECOND_A_BYTE, seed=seed)
        for number in range(2_000):
            lab.send(45 * number, number % 4, (number + 1 + number % 3) % 4, 10)
        lab.run()
        assert lab.network.ledger.outcomes.given_up > 0
