"""Messages: an item of every node is flooded over a graph, beside SimPy and a loop over a heap.

Each delivered copy is one hop and one message; nothing is piggy-backed. All sides hold the same graph and latencies,
all count the hops they deliver, and all are timed from the first to the last event, without their construction.
Python's search for garbage cycles is paused on all sides, as whole runs of ours pause it.

The others deliver every copy of a full flood: agents (2 links - agents + 1) hops. Ours are fewer, and their time is
divided by fewer. The round ends with its last arrival, whose node passes nothing on: its degree less one. And a node
sends an item back to none from which a copy came at the same instant, which happens where latencies are equal.
"""

import random
import time
from collections.abc import Callable, Generator, Sequence
from functools import cache, partial
from heapq import heapify, heappop, heappush
from typing import Any

import networkx as nx
import simpy

from benchmarks.measure import Done, Found, Row, Subject, median_ratio, noise, ratios
from netbandit.network.clock import Clock, Environment
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.protocols.everybody import Everybody
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.protocol import Item
from netbandit.util.memory import paused_collection

Latencies = dict[tuple[int, int], int]
Graph = tuple["nx.Graph[int]", Latencies]

PROCESSES, VALUES, WARMUPS = 3, 2, 1
_MILLISECOND = 1_000_000
GRAPHS: dict[str, Callable[[], "nx.Graph[int]"]] = {
    "ring of 50": lambda: nx.cycle_graph(50),
    "complete of 50": lambda: nx.complete_graph(50),
    "G(200, 0.05)": lambda: _connected(200, 0.05),
}
_LATENCIES = ("random", "equal")


def subjects() -> dict[str, Subject]:
    """Return what is compared: our engine, a loop over a heap, and SimPy, also with its collection as it comes."""
    sides: dict[str, Callable[[nx.Graph[int], Latencies], Done]] = {
        "event": _network,
        "heap": _heap,
        "base": _without_collection,
        "base_gc": _process_per_message,
    }
    return {
        f"{graph}, {latency}, {side}": partial(_flood, flood_it, graph, latency)
        for graph in GRAPHS
        for latency in _LATENCIES
        for side, flood_it in sides.items()
    }


def rows(found: Found) -> list[Row]:
    """Return, for each graph and kind of latency, hops a second, those of the base, and their ratio.

    ``ratio_heap`` is beside a loop over a heap, ``ratio_gc`` beside SimPy that searches for garbage cycles. What ends
    in ``noise`` says how far apart the quartiles of ``ratio`` are, as a part of it. All is processor time.
    """
    table: list[Row] = []
    for graph in GRAPHS:
        for latency in _LATENCIES:
            ours, base, base_gc, heap = (
                found[f"{graph}, {latency}, {side}"] for side in ("event", "base", "base_gc", "heap")
            )
            row: Row = {"graph": graph, "latency": latency, "engine": "event"}
            row |= {"ratio": median_ratio(base, ours), "ratio_noise": noise(ratios(base, ours))}
            row |= {"ratio_heap": median_ratio(heap, ours), "ratio_gc": median_ratio(base_gc, ours)}
            hops = {"hops_per_s": ours, "base_hops_per_s": base, "heap_hops_per_s": heap}
            table.append({**row, **{name: 1 / side.seconds for name, side in hops.items()}})
    return table


@cache
def _graph(name: str, latency: str) -> Graph:
    graph = GRAPHS[name]()
    links = sorted((min(link), max(link)) for link in graph.edges)
    draw = random.Random(1)
    drawn = {link: draw.randint(_MILLISECOND // 2, 3 * _MILLISECOND // 2) for link in links}
    return graph, drawn if latency == "random" else dict.fromkeys(links, _MILLISECOND)


def _flood(flood_it: Callable[["nx.Graph[int]", Latencies], Done], name: str, latency: str) -> Done:
    return flood_it(*_graph(name, latency))


def _without_collection(graph: "nx.Graph[int]", latencies: Latencies) -> Done:
    with paused_collection():
        return _process_per_message(graph, latencies)


def _network(graph: "nx.Graph[int]", latencies: Latencies) -> Done:
    """Flood over our network."""
    environment = Environment()
    fingerprint = Fingerprint()
    clock = Clock(environment, _MILLISECOND, 10**6)
    agents = graph.number_of_nodes()
    neighbours = [sorted(graph[node]) for node in range(agents)]
    network = Network(clock, neighbours, LinkClass(), latencies, LinkClass(), [0] * agents, fingerprint)
    protocol = Flooding(timing="asynchronous")
    protocol.start(network, Everybody(agents, _nothing))
    network.attach(protocol.handler)
    for agent in range(agents):
        protocol.contribute(1, agent, Item(8, None))
    began = time.process_time()
    with paused_collection():
        environment.run()
    seconds = time.process_time() - began
    return Done(seconds, fingerprint.events)


def _heap(graph: "nx.Graph[int]", latencies: Latencies) -> Done:
    """Flood in a loop over a heap of messages, as one writes it by hand for this alone; it counts nothing but hops."""
    latency = {**latencies, **{(second, first): time for (first, second), time in latencies.items()}}
    near = {node: [(other, latency[node, other]) for other in sorted(graph[node])] for node in sorted(graph)}
    known = {node: {node} for node in near}
    under_way = [(takes, node, other, node) for node, others in near.items() for other, takes in others]
    hops = 0
    began = time.process_time()
    with paused_collection():
        heapify(under_way)
        while under_way:
            now, sender, node, item = heappop(under_way)
            hops += 1
            if item not in known[node]:
                known[node].add(item)
                for other, takes in near[node]:
                    if other != sender:
                        heappush(under_way, (now + takes, node, other, item))
    return Done(time.process_time() - began, hops)


def _nothing(items: Sequence[Item], weights: Sequence[int] | None = None) -> Item:
    return Item(0, None)


def _process_per_message(graph: "nx.Graph[int]", latencies: Latencies) -> Done:
    """Flood with a SimPy process for each message, as a user of SimPy would write it."""
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
    return Done(time.process_time() - began, hops)


def _connected(agents: int, p: float) -> "nx.Graph[int]":
    seed = 0
    graph: nx.Graph[int] = nx.gnp_random_graph(agents, p, seed=seed)
    while not nx.is_connected(graph):
        seed += 1
        graph = nx.gnp_random_graph(agents, p, seed=seed)
    return graph
