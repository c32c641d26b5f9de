"""Channels for which only so many messages, or bytes, may wait: what is dropped, and when the others start."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.scenes import run, study

from netbandit.cli import main
from netbandit.network.clock import Clock, Environment
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.message import Kind, Message
from netbandit.network.models.retransmission import Retry
from netbandit.network.network import Network
from netbandit.results.failures import troubles
from netbandit.results.results_folder import ResultsFolder
from netbandit.scenario.errors import ScenarioError

PING = Kind("PING")
SERVICE = 10
BYTE = 8_000_000_000  # bit/s at which a byte takes a nanosecond


class Pair:
    """Two nodes without latency, and when each message from 0 to 1 has started."""

    def __init__(self, most, *, counts_bytes=False, retry=None, ack=True, horizon=1_000):
        self.environment = Environment()
        self.network = Network(
            Clock(self.environment, 1, horizon),
            [[1], [0]],
            LinkClass(BYTE, most_waiting=most, counts_bytes=counts_bytes),
            {(0, 1): 0},
            LinkClass(),
            [0, 0],
            Fingerprint(),
            faults=Faults(peer=ChannelFaults(retry=retry)) if retry else Faults(),
        )
        self.starts = []
        self.network.attach(self.receive)

    def receive(self, node, arrivals):
        self.starts += [self.environment.now - message.size for _, _, message in arrivals]

    def send(self, time, *sizes):
        def process():
            yield self.environment.timeout(time)
            for size in sizes:
                self.network.send(Message(PING, size, None, 1), [self.network.channel(0, 1)])

        self.environment.process(process())

    def run(self):
        self.environment.run()
        self.network.close()
        return self.starts


@pytest.fixture(params=[False, True], ids=["known ahead", "as it happens"])
def deferred(request, monkeypatch):
    monkeypatch.setattr(Network, "deferred_outcomes", request.param)


@pytest.mark.parametrize("most", [0, 1, 4])
def test_of_a_burst_one_is_under_way_and_as_many_wait_as_may(deferred, most):
    pair = Pair(most)
    pair.send(0, *[SERVICE] * 9)
    assert pair.run() == [place * SERVICE for place in range(most + 1)]
    assert pair.network.peer_totals().fates["dropped"][0] == 9 - (most + 1)
    assert pair.network.tally.waiting_most == most
    assert pair.network.peer_totals().messages == most + 1


def test_what_ends_at_an_instant_leaves_before_what_comes(deferred):
    pair = Pair(1)
    pair.send(0, SERVICE, SERVICE)
    pair.send(10, SERVICE)  # the first is over, the second starts, and nobody waits
    pair.send(19, SERVICE)  # the third waits
    pair.send(20, SERVICE)
    assert pair.run() == [0, 10, 20, 30]
    assert pair.network.peer_totals().fates["dropped"][0] == 1


def test_bytes_that_wait_are_counted_with_one_s_own_and_an_idle_link_takes_any(deferred):
    pair = Pair(100, counts_bytes=True)
    pair.send(0, 900, 60, 50, 40)
    assert pair.run() == [0, 900, 960]
    assert pair.network.peer_totals().fates["dropped"][0] == 1


def test_what_is_dropped_is_repeated_after_its_timeout(monkeypatch):
    pair = Pair(2, retry=Retry(25, 1.0, 1.0, 5))
    pair.send(0, *[SERVICE] * 5)
    monkeypatch.setattr("netbandit.network.models.retransmission.ACK_BYTES", 0)
    assert pair.run() == [0, 10, 20, 30, 40]
    assert pair.network.peer_totals().fates["dropped"][0] == 2
    assert pair.network.tally.retransmissions == 2
    assert pair.network.tally.given_up == 0


def test_a_drop_is_an_attempt(monkeypatch):
    pair = Pair(1, retry=Retry(4, 2.0, 1.0, 4))
    pair.send(0, *[SERVICE] * 6)
    monkeypatch.setattr("netbandit.network.models.retransmission.ACK_BYTES", 0)
    assert pair.run() == [0, 10, 20, 30]
    assert pair.network.peer_totals().fates["dropped"][0] == 13
    assert pair.network.tally.given_up == 2


def lost_of_a_fixed_service(load, most):
    """Return the share of a Poisson stream that is lost where service is constant and *most* may wait (M/D/1/K).

    1 - 1 / (pi_0 + load), with pi what a departing customer leaves behind in most + 1 places.
    """
    places = most + 1
    arrivals = [np.exp(-load)]
    for count in range(1, places):
        arrivals.append(arrivals[-1] * load / count)
    chain = np.zeros((places, places))
    for left in range(places):
        after = max(left - 1, 0)
        for count in range(places - after - 1):
            chain[left, after + count] = arrivals[count]
        chain[left, places - 1] += 1 - chain[left].sum()
    system = np.vstack([chain.T - np.eye(places), np.ones(places)])
    stationary = np.linalg.lstsq(system, np.append(np.zeros(places), 1.0), rcond=None)[0]
    return 1 - 1 / (stationary[0] + load)


@pytest.mark.parametrize(("most", "published"), [(1, 0.1996), (4, 0.0353), (9, 0.0036)])
def test_the_formula_of_what_is_lost_gives_known_figures(most, published):
    assert lost_of_a_fixed_service(0.8, most) == pytest.approx(published, abs=5e-5)


@pytest.mark.ci
@pytest.mark.parametrize("most", [1, 4])
def test_a_poisson_stream_loses_what_it_must(most):
    """40 batches of 2,000 arrivals each, 4.5 standard errors of their means."""
    service, batches, each = 1_000, 40, 2_000
    gaps = np.random.default_rng(11).exponential(service / 0.8, batches * each)
    times = np.cumsum(np.rint(gaps)).astype(np.int64)
    pair = Pair(most, horizon=int(times[-1]) + 1)
    dropped = []

    def process():
        for number, gap in enumerate(np.diff(times, prepend=0).tolist()):
            yield pair.environment.timeout(gap)
            if number % each == 0:
                dropped.append(pair.network.peer_totals().fates["dropped"][0])
            pair.network.send(Message(PING, service, None, 1), [pair.network.channel(0, 1)])

    pair.environment.process(process())
    pair.run()
    shares = np.diff([*dropped, pair.network.peer_totals().fates["dropped"][0]]) / each
    away = shares.mean() - lost_of_a_fixed_service(0.8, most)
    assert abs(away) < 4.5 * shares.std(ddof=1) / np.sqrt(batches)


SCENE = """\
run = {{ horizon = 60, slot = "1 ms" }}
topology = {{ family = "star", agents = 5 }}
links.{table} = {{ bandwidth = "250 kbit/s", latency = "0.3 ms", {queue} }}
bandit = {{ kind = "bernoulli", means = [0.2, 0.5, 0.9] }}
learner = {{ kind = "ucb" }}
protocol = {{ kind = "{protocol}" }}
"""


@pytest.mark.parametrize(("table", "protocol"), [("peer", "local"), ("peer", "relay"), ("uplink", "master-worker")])
def test_messages_of_agents_are_dropped_and_all_that_were_not_have_an_end(tmp_path, table, protocol):
    def metrics(queue):
        return run(tmp_path, text=SCENE.format(table=table, protocol=protocol, queue=queue)).metrics

    free, small, smaller = metrics("cost = 1.0"), metrics("queue = 3"), metrics("queue = '60 B'")
    assert "dropped" not in free
    assert smaller["dropped"] > small["dropped"] > 0
    assert smaller["waiting_most"] <= 1
    assert small["waiting_most"] == 3
    assert small["dropped_share"] == small["dropped"] / (small["dropped"] + small["messages"])
    assert small["delivered"] + small["in_flight"] == small["messages"]


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        ("queue = -1", "links.peer.queue: must be a number of messages from 0, or a size such as"),
        ("queue = '4 kbit'", "links.peer.queue: must be a number of messages from 0, or a size such as"),
        ("queue = 2.5", "links.peer.queue: must be a number of messages from 0, or a size such as"),
        ("queue = 2, radio = {}", "links.peer.queue: cannot be with a radio, whose agents share the air"),
    ],
)
def test_what_is_no_queue_is_said(tmp_path, queue, text):
    with pytest.raises(ScenarioError) as error:
        study(tmp_path, text=SCENE.format(table="peer", protocol="local", queue=queue))
    assert text in str(error.value)


def test_a_queue_needs_a_bandwidth_and_mostly_repetitions(tmp_path):
    text = SCENE.format(table="peer", protocol="gis", queue="queue = 2")
    notes = study(tmp_path, "learner.kind=elimination", text=text).notes
    assert any("links.peer.queue: what is dropped is not repeated" in note for note in notes)
    with pytest.raises(ScenarioError, match=r"links\.uplink\.queue: needs links\.uplink\.bandwidth"):
        study(tmp_path, "links.uplink.queue=3", text=text)


BURSTS = """\
run = {{ horizon = 60, slot = "1 ms", replications = 1 }}
topology = {{ family = "tree", agents = 31 }}
links.peer = {{ bandwidth = "100 Mbit/s", latency = {{ uniform = ["0.1 ms", "3 ms"] }}, queue = {queue} }}
bandit = {{ kind = "bernoulli", means = [0.2, 0.5, 0.9] }}
learner = {{ kind = "ucb" }}
protocol = {{ kind = "relay", timing = "{timing}" }}
"""


def burst_lines(folder, monkeypatch, queue, timing):
    """Return the metrics, and what `check` and `run` say of bursts."""
    monkeypatch.chdir(folder)
    Path("scene.toml").write_text(BURSTS.format(queue=queue, timing=timing))
    said = []
    for command in ("check", "scene.toml"), ("run", "scene.toml", "--out", f"{timing}-{queue}"):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
        said.append(" ".join(done.output.split()))
    (found,) = ResultsFolder(Path(f"{timing}-{queue}")).study().points[0].finished
    return found.metrics, *said


@pytest.mark.ci
def test_bursts_of_slotted_messages_are_named_and_both_cures_cure(tmp_path, monkeypatch):
    slotted, checked, ran = burst_lines(tmp_path, monkeypatch, 2, "slotted")
    assert slotted["dropped_share"] > 0.3
    assert slotted["links_busy"] < 0.02
    assert "slotted messages that are passed on start together" in checked
    assert "40.5 % of messages found the queue of their link full, though links were busy for only 0.93 %" in ran
    assert 'protocol.timing = "asynchronous" spreads them, and a longer links.peer.queue holds more of them' in ran
    for queue, timing in ((2, "asynchronous"), (100, "slotted")):
        cured, checked, ran = burst_lines(tmp_path, monkeypatch, queue, timing)
        assert cured["dropped"] == 0
        assert cured["delivered"] > 2 * slotted["delivered"]
        assert "found the queue" not in ran
        assert ("start together" in checked) == (timing == "slotted")


def test_links_that_are_busy_drop_for_want_of_bandwidth(tmp_path, monkeypatch):
    text = BURSTS.replace("100 Mbit/s", "100 kbit/s").replace("{queue}", "5").replace("{timing}", "slotted")
    found = run(tmp_path, text=text.replace("{{", "{").replace("}}", "}")).metrics
    assert found["dropped"] > 0
    assert found["links_busy"] > 0.5
    assert "dropped_share" not in troubles([found])
