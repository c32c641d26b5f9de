"""Messages that are lost, and repeated: what each delivered hop costs beside one where nothing goes wrong.

An item of every node is flooded over a random graph. Acknowledgements and repetitions are messages too, but no hops: a
hop is a message that reached its receiver for the first time. All rows are measured in turns, in one process.
"""

import gc
import random
import time
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

import networkx as nx

from netbandit.bench.measure import Row, in_turns, median_ratio
from netbandit.network.clock import Clock, Environment
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.loss import BurstLoss, ConstantLoss
from netbandit.network.lossy_network import LossyNetwork
from netbandit.network.network import Network
from netbandit.network.retry import ACK, Retry
from netbandit.network.retrying_network import RetryingNetwork
from netbandit.network.unreliable_network import UnreliableNetwork
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.protocol import Item
from netbandit.simulation.collection import paused_collection
from netbandit.streams import Streams

ROUNDS = 7
_AGENTS = 60
_MILLISECOND = 1_000_000
_RETRY = Retry(10 * _MILLISECOND, 2.0, 1.5, 5)
_LOSS = ConstantLoss(0.1)
_BURSTS = BurstLoss(0.01, 0.5, 10 * _MILLISECOND, _MILLISECOND)
_CASES: dict[str, tuple[type[Network], ChannelFaults]] = {
    "none": (Network, ChannelFaults()),
    "loss 0.1": (LossyNetwork, ChannelFaults(loss=_LOSS)),
    "bursts": (LossyNetwork, ChannelFaults(loss=_BURSTS)),
    "retry, loss 0": (RetryingNetwork, ChannelFaults(retry=_RETRY)),
    "retry, loss 0.1": (RetryingNetwork, ChannelFaults(loss=_LOSS, retry=_RETRY)),
    "retry, loss 0.1, anything may go wrong": (UnreliableNetwork, ChannelFaults(loss=_LOSS, retry=_RETRY)),
}


def bench() -> list[Row]:
    """Return, for each kind of fault, microseconds a delivered hop, and how often those of a hop without faults."""
    figures = in_turns([partial(_seconds_a_hop, *case) for case in _CASES.values()], ROUNDS)
    return [
        {"faults": name, "ratio": median_ratio(row, figures[0]), "us_per_hop": 1e6 * median(row)}
        for name, row in zip(_CASES, figures, strict=True)
    ]


def _seconds_a_hop(kind: type[Network], faults: ChannelFaults) -> float:
    graph: nx.Graph[int] = nx.gnp_random_graph(_AGENTS, 0.12, seed=1)
    draw = random.Random(1)
    links = sorted((min(link), max(link)) for link in graph.edges)
    latencies = {link: draw.randint(_MILLISECOND // 2, 3 * _MILLISECOND // 2) for link in links}
    environment = Environment()
    clock = Clock(environment, _MILLISECOND, 10**6)
    neighbours = [sorted(graph[node]) for node in range(_AGENTS)]
    uplinks = [0] * _AGENTS
    keys: dict[str, Any] = {} if kind is Network else {"faults": Faults(peer=faults), "streams": Streams(0, 0)}
    network = kind(clock, neighbours, LinkClass(), latencies, LinkClass(), uplinks, Fingerprint(), **keys)
    protocol = Flooding(timing="asynchronous")
    protocol.start(network, Everybody(_AGENTS, _nothing))
    network.attach(protocol.handler)
    for agent in range(_AGENTS):
        protocol.contribute(1, agent, Item(8, None))
    gc.collect()
    began = time.process_time()
    with paused_collection():
        environment.run()
    seconds = time.process_time() - began
    hops = network.close().delivered - network.ledger.kinds.get(ACK.name, (0, 0))[0]
    return seconds / hops


def _nothing(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
    return Item(0, None)
