"""Messages: an item of every node is flooded over a graph, beside SimPy with a process for each message.

Each delivered copy is one hop and one message; nothing is piggy-backed. All sides hold the same graph and latencies,
all count the hops they deliver, and all are timed from the first to the last event, without their construction.
"""

import random
import time
from collections.abc import Generator, Sequence
from statistics import median
from typing import Any

import networkx as nx
import numpy as np
import simpy

from netbandit.bench.bare_heap import flood
from netbandit.bench.measure import Row, Work, noise, rates_in_turns, ratios
from netbandit.garbage import paused_collection
from netbandit.network.clock import Clock, Environment
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.protocol import CallbackRoundProtocol, Item
from netbandit.simulation.compiled_rounds.neighbour_rounds import compiled_neighbour_rounds

Latencies = dict[tuple[int, int], int]

ROUNDS = 7
SECONDS = 2.0
_MILLISECOND = 1_000_000


def bench() -> list[Row]:
    """Return, for each graph, kind of latency and engine, hops a second, those of the base, and their ratio.

    The engine is ``event``, for protocols of one's own, or ``compiled``. ``heap_hops_per_s`` is what a bare compiled
    heap of all messages does, which is a bound. What ends in ``noise`` says how far apart the quartiles of the ratio
    before it are over all rounds, as a part of it.

    All is processor time, measured in `ROUNDS` rounds; what has taken `SECONDS` in all is not measured any more, which
    for plain SimPy on the largest graph is the case after one measurement of many seconds.
    """
    graphs = {
        "ring of 50": nx.cycle_graph(50),
        "complete of 50": nx.complete_graph(50),
        "G(200, 0.05)": _connected(200, 0.05),
    }
    for subject in _subjects(nx.path_graph(2), {(0, 1): _MILLISECOND}):
        subject()  # so that all is compiled, and warm
    rows: list[Row] = []
    for name, graph in graphs.items():
        draw = random.Random(1)
        links = sorted((min(link), max(link)) for link in graph.edges)
        drawn = {link: draw.randint(_MILLISECOND // 2, 3 * _MILLISECOND // 2) for link in links}
        for latency, latencies in (("random", drawn), ("equal", dict.fromkeys(links, _MILLISECOND))):
            for engine, figures in _compare(graph, latencies).items():
                rows.append({"graph": name, "latency": latency, "engine": engine, **figures})
    return rows


def _subjects(graph: "nx.Graph[int]", latencies: Latencies) -> list[Work]:
    """Return what is compared: our two engines, the bare heap, and the base with and without collection."""

    def without_collection() -> tuple[int, float]:
        with paused_collection():
            return _process_per_message(graph, latencies)

    return [
        lambda: _network(Flooding, graph, latencies),
        lambda: _network(compiled_neighbour_rounds(Flooding), graph, latencies),
        lambda: _bare_heap(graph, latencies),
        lambda: _process_per_message(graph, latencies),
        without_collection,
    ]


def _compare(graph: "nx.Graph[int]", latencies: Latencies) -> dict[str, Row]:
    event, compiled, heap, base, base_off = rates_in_turns(_subjects(graph, latencies), ROUNDS, SECONDS)
    rows: dict[str, Row] = {}
    for engine, ours in (("event", event), ("compiled", compiled)):
        beside, beside_off = ratios(ours, base), ratios(ours, base_off)
        rows[engine] = {
            "ratio": median(beside),
            "ratio_noise": noise(beside),
            "ratio_no_gc": median(beside_off),
            "ratio_no_gc_noise": noise(beside_off),
            "hops_per_s": median(ours),
            "base_hops_per_s": median(base),
            "heap_hops_per_s": median(heap),
        }
    return rows


def _network(kind: type[CallbackRoundProtocol], graph: "nx.Graph[int]", latencies: Latencies) -> tuple[int, float]:
    """Flood over our network; return hops and seconds."""
    environment = Environment()
    fingerprint = Fingerprint()
    clock = Clock(environment, _MILLISECOND, 10**6)
    agents = graph.number_of_nodes()
    neighbours = [sorted(graph[node]) for node in range(agents)]
    network = Network(clock, neighbours, LinkClass(), latencies, LinkClass(), [0] * agents, fingerprint)
    protocol = kind(timing="asynchronous")
    protocol.start(network, Everybody(agents, _nothing))
    network.attach(protocol.handler)
    for agent in range(agents):
        protocol.contribute(1, agent, Item(8, None))
    began = time.process_time()
    with paused_collection():
        environment.run()
    seconds = time.process_time() - began
    return fingerprint.events, seconds


def _bare_heap(graph: "nx.Graph[int]", latencies: Latencies) -> tuple[int, float]:
    """Flood in a bare compiled loop; return hops and seconds."""
    near = [sorted(graph[node]) for node in range(graph.number_of_nodes())]
    starts = np.cumsum([0, *map(len, near)])
    ends = [(node, other) for node, others in enumerate(near) for other in others]
    times = np.array([latencies[min(pair), max(pair)] for pair in ends])
    receivers = np.array([other for _, other in ends])
    began = time.process_time()
    hops = flood(starts, receivers, times, len(ends) * len(near))
    return hops, time.process_time() - began


def _nothing(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
    return Item(0, None)


def _process_per_message(graph: "nx.Graph[int]", latencies: Latencies) -> tuple[int, float]:
    """Flood with a SimPy process for each message, as a user of SimPy would write it; return hops and seconds."""
    environment = simpy.Environment()
    neighbours = {node: sorted(graph[node]) for node in graph}
    latency = {**latencies, **{(second, first): time for (first, second), time in latencies.items()}}
    known: list[set[int]] = [{node} for node in range(len(graph))]
    hops = 0

    def message(sender: int, receiver: int, item: int) -> Generator[simpy.Event, Any, None]:
        nonlocal hops
        yield environment.timeout(latency[sender, receiver])
        hops += 1
        if item not in known[receiver]:
            known[receiver].add(item)
            for neighbour in neighbours[receiver]:
                if neighbour != sender:
                    environment.process(message(receiver, neighbour, item))

    for node in sorted(graph):
        for neighbour in neighbours[node]:
            environment.process(message(node, neighbour, node))
    began = time.process_time()
    environment.run()
    return hops, time.process_time() - began


def _connected(agents: int, p: float) -> "nx.Graph[int]":
    seed = 0
    graph: nx.Graph[int] = nx.gnp_random_graph(agents, p, seed=seed)
    while not nx.is_connected(graph):
        seed += 1
        graph = nx.gnp_random_graph(agents, p, seed=seed)
    return graph
