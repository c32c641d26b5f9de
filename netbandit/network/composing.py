"""Which models the links of a network have."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netbandit.network.faults import ChannelFaults
from netbandit.network.link import LinkClass
from netbandit.network.models.contacts import Waiting
from netbandit.network.models.duplicates import Duplicates
from netbandit.network.models.fifo import Fifo
from netbandit.network.models.jitter import Jitter
from netbandit.network.models.outages import LinkOutages, NodeOutages
from netbandit.network.models.powered import Powered
from netbandit.network.steps import Model

if TYPE_CHECKING:
    from netbandit.network.network import Network


def models(network: "Network") -> tuple[list[Model], list[Model]]:
    """Return the models of the links between agents and of uplinks; their metrics stand in the order of a list."""
    faults = network.faults
    return (
        list(_models(network, network.peer_class, faults.peer, peers=True)),
        list(_models(network, network.uplink_class, faults.uplink, peers=False)),
    )


def _models(network: "Network", links: LinkClass, faults: ChannelFaults, *, peers: bool) -> Iterator[Model]:
    if network.waits:
        yield Waiting()
    if faults.jitter is not None:
        yield Jitter(faults.jitter, faults.overtaking)
    if faults.loss is not None:
        yield faults.loss
    if peers and network.links_fail:
        yield LinkOutages()
    if network.node_outages is not None:
        yield NodeOutages(network.node_outages)
    if peers and network.radio is not None:
        yield network.radio
    elif network.batteries is not None:
        yield Powered(network.batteries)
    if faults.duplicate:
        yield Duplicates(faults.duplicate)
    if faults.retry is not None:
        yield faults.retry
    if links.takes_time or links.most_waiting is not None:
        yield Fifo()
