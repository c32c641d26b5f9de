"""Messages that are lost, and repeated: what each delivered hop costs beside one where nothing goes wrong.

An item of every node is flooded over a random graph. Acknowledgements and repetitions are messages too, but no hops: a
hop is a message that reached its receiver for the first time. All rows are measured in turns, in processor time.
"""

import random
import time
from collections.abc import Sequence
from functools import partial

import networkx as nx

from benchmarks.measure import Done, Found, Row, Subject, median_ratio, noise, ratios
from netbandit.network.clock import Clock, Environment
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.jitter import UniformJitter
from netbandit.network.link import LinkClass
from netbandit.network.models.loss import BurstLoss, ConstantLoss
from netbandit.network.models.retransmission import Retry
from netbandit.network.network import Network
from netbandit.network.packet import ACK
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.protocol import Item
from netbandit.util.memory import paused_collection
from netbandit.util.streams import Streams

PROCESSES, VALUES, WARMUPS = 3, 2, 1
_AGENTS = 60
_MILLISECOND = 1_000_000
_RETRY = Retry(10 * _MILLISECOND, 2.0, 1.5, 5)
_LOSS = ConstantLoss(0.1)
_BURSTS = BurstLoss(0.01, 0.5, 10 * _MILLISECOND, _MILLISECOND)
_CASES: dict[str, Faults] = {
    "none": Faults(),
    "loss 0.1": Faults(peer=ChannelFaults(loss=_LOSS)),
    "bursts": Faults(peer=ChannelFaults(loss=_BURSTS)),
    "retry, loss 0": Faults(peer=ChannelFaults(retry=_RETRY)),
    "retry, loss 0.1": Faults(peer=ChannelFaults(loss=_LOSS, retry=_RETRY)),
    "retry, loss 0.1, anything may go wrong": Faults(
        peer=ChannelFaults(loss=_LOSS, retry=_RETRY), uplink=ChannelFaults(jitter=UniformJitter(0), duplicate=0.01)
    ),
}


def subjects() -> dict[str, Subject]:
    """Return a flood for each kind of fault."""
    return {name: partial(_flood, faults) for name, faults in _CASES.items()}


def rows(found: Found) -> list[Row]:
    """Return, for each kind of fault, microseconds a delivered hop, and how often those without faults.

    ``ratio_noise`` says how far apart the quartiles of the ratio are, as a part of it.
    """
    table: list[Row] = []
    none = found["none"]
    for name in _CASES:
        one = found[name]
        row: Row = {"faults": name, "engine": "event", "ratio": median_ratio(one, none)}
        table.append({**row, "ratio_noise": noise(ratios(one, none)), "us_per_hop": 1e6 * one.seconds})
    return table


def _flood(faults: Faults) -> Done:
    """Flood over a network in which this can go wrong."""
    graph: nx.Graph[int] = nx.gnp_random_graph(_AGENTS, 0.12, seed=1)
    draw = random.Random(1)
    links = sorted((min(link), max(link)) for link in graph.edges)
    latencies = {link: draw.randint(_MILLISECOND // 2, 3 * _MILLISECOND // 2) for link in links}
    environment = Environment()
    clock = Clock(environment, _MILLISECOND, 10**6)
    neighbours = [sorted(graph[node]) for node in range(_AGENTS)]
    uplinks = [0] * _AGENTS
    network = Network(
        clock, neighbours, LinkClass(), latencies, LinkClass(), uplinks, Fingerprint(),
        faults=faults, streams=Streams(0, 0),
    )  # fmt: skip
    rounds = Flooding(timing="asynchronous")
    rounds.start(network, Everybody(_AGENTS, _nothing))
    network.attach(rounds.handler)
    for agent in range(_AGENTS):
        rounds.contribute(1, agent, Item(8, None))
    began = time.process_time()
    with paused_collection():
        environment.run()
    seconds = time.process_time() - began
    hops = network.close().delivered - network.ledger.kinds.get(ACK.name, (0, 0))[0]
    return Done(seconds, hops)


def _nothing(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
    return Item(0, None)
