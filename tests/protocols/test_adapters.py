"""Which protocol carries which pattern: all that a protocol offers can be built, and what cannot be is refused."""

from pathlib import Path

import networkx as nx
import pytest
from helpers.one_round import Sum

from netbandit.network.clock import Clock, Environment
from netbandit.network.fingerprint import Fingerprint
from netbandit.network.link import LinkClass
from netbandit.network.network import Network
from netbandit.network.topology import Topology
from netbandit.parts.registry import BUILT_IN, part_class
from netbandit.protocols import adapters
from netbandit.protocols.broadcast import BroadcastProtocol
from netbandit.protocols.calls import CallProtocol
from netbandit.protocols.exchange import ExchangeProtocol
from netbandit.protocols.gather import GatherProtocol
from netbandit.protocols.gis import Gis
from netbandit.protocols.protocol import CallbackRoundProtocol, Item, NetworkProtocol
from netbandit.protocols.requests import RequestProtocol
from netbandit.protocols.uploads import UploadProtocol


class Handler:
    release_size = 8

    def aggregate(self, items, weights=None):
        return Item(8, None)


BUILD = {
    "round": (CallbackRoundProtocol, lambda kind, network: adapters.round_protocol(kind, network, Sum(4))),
    "call": (CallProtocol, lambda kind, network: adapters.call_protocol(kind, network, Handler())),
    "broadcast": (BroadcastProtocol, lambda kind, network: adapters.broadcast_protocol(kind, network, print)),
    "gather": (GatherProtocol, lambda kind, network: adapters.gather_protocol(kind, network, [8] * 4, [0] * 4, print)),
    "deposit": (UploadProtocol, lambda kind, network: adapters.upload_protocol(kind, network, Handler())),
    "ask": (RequestProtocol, lambda kind, network: adapters.request_protocol(kind, network, print, print)),
    "exchange": (ExchangeProtocol, lambda kind, network: adapters.exchange_protocol(kind, network, print)),
}

OFFERED = [
    (kind, pattern)
    for kind in BUILT_IN["protocol"]
    for pattern in sorted(part_class("protocol", kind, Path()).patterns)
]


@pytest.mark.parametrize(("kind", "pattern"), OFFERED)
def test_what_a_protocol_offers_is_built_started_and_attached(kind, pattern):
    template = part_class("protocol", kind, Path())()
    assert adapters.misfit(type(template), pattern) is None
    topology = Topology(nx.star_graph(3))
    latencies = dict.fromkeys(map(tuple, topology.edges.tolist()), 0)
    clock = Clock(Environment(), 1_000, 10)
    network = Network(
        clock, topology.neighbours, LinkClass(), latencies, LinkClass(), [0] * 4, Fingerprint(), topology=topology
    )
    base, build = BUILD[pattern]
    built = build(template, network)
    assert isinstance(built, base)
    assert built.network is network
    assert network.handler == built.handler
    assert "network" not in vars(template)  # the template itself is never started


def test_a_class_that_offers_what_it_is_not_made_for_is_a_misfit():
    class Bare(NetworkProtocol):
        patterns = frozenset(BUILD)

        def receive(self, node, arrivals): ...

    for pattern, (base, _) in BUILD.items():
        said = adapters.misfit(Bare, pattern)
        assert said is not None
        assert f"{base.__module__}:{base.__name__}" in said
        if pattern in ("gather", "exchange", "call"):
            assert (adapters.misfit(Gis, pattern) is None) == (pattern == "call")
