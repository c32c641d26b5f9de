"""What becomes of every message: handed over and copied, it is delivered, lost, dropped, a duplicate, unsent, or under
way at the end; the same by the run, by its trace, on each link, and in every way of executing it.
"""

from unittest.mock import patch

import numpy as np
import pytest
from helpers.scenes import run

from netbandit.checks.check import check
from netbandit.network.models.radio import Radio
from netbandit.network.network import Network
from netbandit.network.trace_writer import Trace
from netbandit.network.wire import Wire
from netbandit.scenario.errors import ScenarioError
from netbandit.scenario.load import load_tables
from netbandit.simulation.result import LinkUse
from netbandit.testing.conservation import breaches, counted
from netbandit.testing.properties import differences
from netbandit.testing.scenes import put_over
from netbandit.testing.trial import Trial

PAIR = """\
run = {{ horizon = {horizon}, slot = "1 ms" }}
topology = {{ family = "path", agents = 2 }}
bandit = {{ kind = "bernoulli", means = [1.0, 0.0] }}
learner = {{ kind = "ucb" }}
protocol = {{ kind = "local" }}
links.peer = {{ {links} }}
{more}
"""


def pair(folder, links, horizon, more="", *overrides):
    return run(folder, *overrides, text=PAIR.format(horizon=horizon, links=links, more=more)).metrics


def fifo(horizon, service, room):
    """Return what begins, is dropped, waits at the end, and waits at most, of a message a slot to a server in order."""
    waiting, begun, most, dropped, until = 0, 0, 0, 0, 0
    for slot in range(horizon):
        while waiting and until <= slot:
            waiting, begun, until = waiting - 1, begun + 1, until + service
        if until <= slot:
            begun, until = begun + 1, slot + service
        elif waiting < room:
            waiting += 1
            most = max(most, waiting)
        else:
            dropped += 1
    return 2 * begun, 2 * dropped, 2 * waiting, most


@pytest.mark.parametrize(
    ("horizon", "room", "dropped"), [(200, 10, 362), (200, 2, 378), (20, 2, 34), (1000, 30, 1856), (60, 5, None)]
)
def test_what_would_begin_after_the_end_keeps_its_place_in_a_queue(tmp_path, horizon, room, dropped):
    """48 bytes at 16 kbit/s take 24 slots: all that is neither begun nor dropped still waits at the end."""
    found = pair(tmp_path, f'bandwidth = "16 kbit/s", queue = {room}', horizon)
    measured = tuple(found[name] for name in ("messages", "dropped", "unsent", "waiting_most"))
    assert measured == fifo(horizon, 24, room)
    assert dropped in (None, found["dropped"])
    assert found["dropped_share"] == found["dropped"] / (found["dropped"] + found["messages"])
    assert found["handed"] == 2 * horizon
    assert found["handed_bytes"] == 96 * horizon


@pytest.mark.parametrize(
    ("key", "more"),
    [
        ("cost = 1.0", "energy = { capacity = '1 kJ' }"),
        ("cost = 1.0", "faults.nodes = { up_for = '1e6 s', down_for = '1 ns' }"),
        ("latency = '3 slots'", ""),
        ("loss = 0.5", ""),
        ("duplicate = 0.5", ""),
        ("retry = { timeout = '1e3 s' }", ""),
    ],
)
def test_a_queue_is_the_same_queue_beside_other_features(tmp_path, key, more):
    found = pair(tmp_path, f'bandwidth = "16 kbit/s", queue = 10, {key}', 200, more)
    assert found["messages"] + found["dropped"] + found["unsent"] == found["handed"]
    assert (found["messages"], found["waiting_most"]) == (18, 10) if "retry" not in key else True
    # An acknowledgement of each of the two first messages waits in the queue as well, or finds it full.
    assert found["dropped"] >= 362 if "retry" in key else found["dropped"] == 362


def test_a_wire_that_is_asked_for_too_much_says_what_never_began(tmp_path):
    found = pair(tmp_path, 'bandwidth = "16 kbit/s"', 200)
    assert [found[name] for name in ("messages", "handed", "unsent", "in_flight", "delivered")] == [18, 400, 382, 2, 16]
    assert found["unsent_bytes"] == 382 * 48
    assert "dropped" not in found


@pytest.mark.parametrize(("horizon", "in_flight"), [(20, 40), (200, 60)])
def test_what_would_arrive_at_the_end_or_later_is_under_way(tmp_path, horizon, in_flight):
    """Sent at t, it arrives at t + 30: of those of 200 slots, what is sent at 170 or later is under way at 200."""
    found = pair(tmp_path, 'latency = "30 ms"', horizon)
    assert (found["messages"], found["in_flight"]) == (2 * horizon, in_flight)
    assert (found["delivered"], found["lost"], found["unsent"]) == (2 * horizon - in_flight, 0, 0)
    assert found["in_flight_bytes"] == 48 * in_flight


def test_nobody_pays_for_receiving_what_has_not_arrived(tmp_path):
    """384 us on the link at 1 W for each of 40 messages; receivers pay only where it arrives."""
    watts = "energy = { send = '1 W', receive = '1 W' }"
    for latency, ends in (("30 ms", 1), ("0 ms", 2)):
        found = pair(tmp_path, f'latency = "{latency}", bandwidth = "1 Mbit/s"', 20, watts)
        assert found["energy_j"] == pytest.approx(40 * 384e-6 * ends, rel=1e-12)
    one_way = pair(tmp_path, 'latency = "30 ms", energy = { per_message = [1.0, 10.0], per_byte = [0.5, 7.0] }', 20)
    assert one_way["energy_j"] == 40 * (1.0 + 48 * 0.5)
    battery = "energy = { capacity = '1 kJ', send = '1 W', receive = '1 W' }"
    found = pair(tmp_path, 'latency = "30 ms", bandwidth = "1 Mbit/s"', 20, battery)
    assert found["energy_j"] == pytest.approx(40 * 384e-6, rel=1e-12)


def test_a_message_that_is_on_the_link_at_the_end_costs_its_sender_what_it_has_sent(tmp_path):
    """It takes 24 ms of a run of 20 ms."""
    found = pair(tmp_path, 'bandwidth = "16 kbit/s"', 20, "energy = { send = '1 W', receive = '1 W' }")
    assert (found["messages"], found["in_flight"]) == (2, 2)
    assert found["energy_j"] == pytest.approx(2 * 20e-3, rel=1e-12)


@pytest.mark.parametrize(("begin", "until"), [(40, 45), (60, 65), (45, 65), (50, 51), (49, 50)])
def test_what_happens_after_the_end_has_not_happened(tmp_path, begin, until):
    """Each way, a message a slot is under way for 30 of 50 slots: it is lost if its link goes down before the end.

    A receiver that is down loses what arrives before the end; and neither sends what it has to say.
    """
    outage = f"[[faults.outages]]\nfrom = '{begin} ms'\nuntil = '{until} ms'\n"
    found = pair(tmp_path, 'latency = "30 ms"', 50, outage + "partition = [[0]]")
    lost = 2 * sum(sent < until and min(sent + 30, 49) >= begin for sent in range(50))
    assert found["lost"] == lost
    assert found["delivered"] == 2 * sum(sent + 30 < begin or sent >= until for sent in range(20))
    assert found["in_flight"] == 100 - lost - found["delivered"]
    found = pair(tmp_path, 'latency = "30 ms"', 50, outage + "nodes = [1]")
    absent = sum(begin <= sent < until for sent in range(50))
    assert (found["messages"], found["unsent"]) == (100 - absent, 0)
    assert found["lost"] == sum(begin <= sent + 30 < min(until, 50) for sent in range(50))
    assert found["in_flight"] == 60 - absent


WAYS = {
    "gis": ("bernoulli", "elimination"),
    "flooding": ("linear", "feducb"),
    "gossip": ("bernoulli", "gosine"),
    "relay": ("bernoulli", "ucb"),
    "local": ("bernoulli", "ucb"),
    "local, flood": ("bernoulli", "ucb"),
    "consensus": ("bernoulli", "coop-ucb2"),
    "consensus, slot": ("bernoulli", "coop-ucb2"),
    "sink": ("bernoulli", "elimination"),
    "master-worker": ("linear", "linucb"),
    "parameter-server": ("linear", "linucb"),
    "vertical": ("vertical", "linucb"),
}
KEYS = {"local, flood": {"ttl": 2, "route": "flood"}, "consensus, slot": {"pace": "slot"}}

SLOW = {"links": {"peer": {"bandwidth": "60 kbit/s"}, "uplink": {"bandwidth": "60 kbit/s"}}}
RETRY = {"links": {"peer": {"retry": {"timeout": "2 ms"}}, "uplink": {"retry": {"timeout": "2 ms"}}}}
COPIES = {"links": {"peer": {"duplicate": 0.4, "jitter": "4 ms"}, "uplink": {"duplicate": 0.4}}}
LOSSY = {"links": {"peer": {"loss": 0.3}, "uplink": {"loss": 0.3}}}
NODES = {"faults": {"nodes": {"up_for": "8 ms", "down_for": "3 ms"}, "server": {"up_for": "9 ms", "down_for": "2 ms"}}}
WIRES = {"faults": {"links": {"up_for": "6 ms", "down_for": "3 ms"}}}
QUEUE = put_over(SLOW, {"links": {"peer": {"queue": 2}, "uplink": {"queue": "90 B"}}})
CONTACTS = {"topology": {"changes": {"up": 0.5, "every": "5 ms"}, "neighbours": "sensed"}}
RADIO = {"links": {"peer": {"bandwidth": "1 Mbit/s", "radio": {"access": {"csma": "20 us", "attempts": 3}}}}}
BATTERY = {"energy": {"capacity": "30 uJ", "idle": "1 mW", "send": "30 mW", "receive": "20 mW"}}
COMPUTE = {"compute": {"agents": {"message": "2 ms", "inbox": 2}, "server": {"message": "1 ms", "inbox": 3}}}

FEATURES = {
    "nothing": {},
    "beyond the end": {"links": {"peer": {"latency": "1 s"}, "uplink": {"latency": "1 s"}}},
    "far": {"links": {"peer": {"latency": {"uniform": ["0 ms", "9 ms"]}}, "uplink": {"latency": "3 ms"}}},
    "slow": SLOW,
    "queue": QUEUE,
    "losses": LOSSY,
    "copies": COPIES,
    "overtaking": put_over(COPIES, {"links": {"peer": {"overtaking": True}}}),
    "retries": put_over(LOSSY, RETRY),
    "retries, copies, queue": put_over(put_over(QUEUE, RETRY), put_over(COPIES, LOSSY)),
    "links": WIRES,
    "links, copies": put_over(WIRES, COPIES),
    "nodes": NODES,
    "nodes, queue": put_over(NODES, QUEUE),
    "nodes, retries": put_over(NODES, put_over(LOSSY, RETRY)),
    "contacts": CONTACTS,
    "contacts, queue": put_over(CONTACTS, put_over(QUEUE, {"protocol": {"carry": "4 ms"}})),
    "contacts, nodes, copies": put_over(CONTACTS, put_over(NODES, COPIES)),
    "radio": RADIO,
    "radio, contacts, nodes": put_over(RADIO, put_over(CONTACTS, NODES)),
    "batteries": put_over(BATTERY, SLOW),
    "batteries, queue, contacts": put_over(BATTERY, put_over(QUEUE, CONTACTS)),
    "computing": COMPUTE,
    "computing, retries": put_over(COMPUTE, put_over(LOSSY, RETRY)),
}
WORLDS = {"bernoulli": {"arms": 3}, "linear": {"arms": 3, "dimension": 2}, "vertical": {"arms": 3, "dimension": 8}}
SHARING = {"elimination": {"rounds": 2, "gap": 0.9}, "feducb": {"threshold": 0.1}, "linucb": {}}


def point_of(way, feature, timing):
    """Return a point; None: they do not go together."""
    bandit, learner = WAYS[way]
    kind = way.partition(",")[0]
    tables = {
        "run": {"horizon": 70 if learner == "elimination" else 25, "seed": 3},
        "topology": {"family": "ring", "agents": 4},
        "links": {"peer": {"latency": "1.5 ms"}, "uplink": {"latency": "0.7 ms"}},
        "bandit": {"kind": bandit, **WORLDS[bandit]},
        "learner": {"kind": learner, **SHARING.get(learner, {})},
        "protocol": {"kind": kind, "timing": timing, **KEYS.get(way, {})},
    }
    try:
        return check(load_tables(put_over(tables, FEATURES[feature]))).points[0]
    except ScenarioError:
        return None


def hand_counted(trial):
    """Return how many messages were handed to links in a run, each for each channel, and of how many `sent` is told."""
    handed, told = [0], [0]

    def counting(act, has_message_first):
        def counted(owner, *args, **keys):
            channels = args[1] if has_message_first else args[0]
            excepted = keys.get("excepted", args[-1] if len(args) > 2 and isinstance(args[-1], int) else -1)
            network = owner._network if has_message_first else owner.network
            if network.environment.now < network.end:
                handed[0] += sum(channel.receiver != excepted for channel in channels)
            return act(owner, *args, **keys)

        return counted

    count_before_start = Network.count_before_start

    def before_start(network, message, channel):
        handed[0] += 1
        count_before_start(network, message, channel)

    def tell(trace, channel, message, begin):
        assert 0 <= begin < trial.end
        told[0] += 1

    with (
        patch.object(Trace, "sent", tell),
        patch.object(Network, "count_before_start", before_start),
        patch.object(Wire, "put", counting(Wire.put, has_message_first=False)),
        patch.object(Radio, "send", counting(Radio.send, has_message_first=True)),
    ):
        trial.traced  # noqa: B018 - it runs
    return handed[0], told[0]


@pytest.mark.sampled(120)
@pytest.mark.parametrize("timing", ["slotted", "asynchronous"])
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("way", WAYS)
def test_every_message_has_one_end_in_every_execution(way, feature, timing):
    point = point_of(way, feature, timing)
    if point is None:
        pytest.skip("these do not go together")
    trial = Trial(point)
    handed, told = hand_counted(trial)
    result, lines = trial.traced.result, trial.traced.lines
    assert told == result.metrics["messages"] + result.metrics["broadcast_copies"]
    assert list(breaches(result, lines, trial.end, trial.server)) == []
    if "contacts" not in feature:  # else each attempt of a message that is cut off counts
        assert result.metrics["handed"] == handed
    for other in (trial.plain, trial.compiled):
        assert list(differences(result, other, digits=10)) == []
        for use, same in ((result.links, other.links), (result.uplinks, other.uplinks)):
            for name in LinkUse.__dataclass_fields__:
                assert np.array_equal(use.count_of(name), same.count_of(name)), name


def test_the_features_show_every_fate():
    """The table above would prove little where nothing happens."""
    seen = set()
    for way, feature in (
        ("local", "retries, copies, queue"),
        ("relay", "contacts, queue"),
        ("local", "overtaking"),
        ("relay", "beyond the end"),
        ("local", "computing"),
    ):
        trial = Trial(point_of(way, feature, "slotted"))
        for count in counted(trial.traced.lines, trial.end, trial.server).values():
            seen |= {name for name, value in count.items() if value}
        seen |= {line["fate"] for line in trial.traced.lines if "fate" in line}
    names = ("handed", "delivered", "lost", "dropped", "unsent", "duplicates", "duplicates_dropped", "in_flight")
    assert seen >= {*names, *(f"{name}_bytes" for name in names), "refused"}


def test_a_message_that_the_trace_forgets_is_missed():
    trial = Trial(point_of("local", "copies", "slotted"))
    *lines, last = (line for line in trial.traced.lines if "bytes" in line)
    assert list(breaches(trial.traced.result, [*lines, last], trial.end, trial.server)) == []
    assert list(breaches(trial.traced.result, lines, trial.end, trial.server)) != []
