"""Which models the links of a network have, and what can happen by these."""

from collections.abc import Iterator, Sequence

from netbandit.network.batteries import Batteries
from netbandit.network.engine import Flags
from netbandit.network.faults import ChannelFaults
from netbandit.network.link import LinkClass
from netbandit.network.models.contacts import Waiting
from netbandit.network.models.duplicates import Duplicates
from netbandit.network.models.jitter import Jitter
from netbandit.network.models.outages import LinkOutages, NodeOutages
from netbandit.network.models.powered import Powered
from netbandit.network.models.queue import Fifo
from netbandit.network.models.radio import Radio
from netbandit.network.outages import Outages
from netbandit.network.steps import Model, Steps


def models(
    links: LinkClass,
    faults: ChannelFaults,
    outages: Outages | None,
    batteries: Batteries | None,
    radio: Radio | None,
    *,
    peers: bool,
) -> Iterator[Model]:
    """Yield the models of the links of a class; their metrics stand in this order.

    Args:
        links: The parameters of the class.
        faults: What can go wrong on its links.
        outages: When links and nodes are down.
        batteries: Those of the agents.
        radio: The transmitters of agents that share the air, which pay for what they send.
        peers: Whether its links are those between agents.
    """
    if outages is not None and outages.waits:
        yield Waiting()
    if faults.jitter is not None:
        yield Jitter(faults.jitter, faults.overtaking)
    if faults.loss is not None:
        yield faults.loss
    # What waits for its link gets through once it has started, unless it is late, or its link fails unseen.
    may_be_cut = outages is not None and (not outages.waits or outages.fail_unseen or faults.jitter is not None)
    if peers and outages is not None and outages.any_links and may_be_cut:
        yield LinkOutages()
    if outages is not None and outages.any_nodes:
        yield NodeOutages(outages)
    if radio is not None:
        yield radio
    elif batteries is not None:
        yield Powered(batteries)
    if faults.duplicate:
        yield Duplicates(faults.duplicate)
    if faults.retry is not None:
        yield faults.retry
    if links.takes_time or links.most_waiting is not None:
        yield Fifo()


def flags(classes: Sequence[Steps], *, computes: bool, nodes_fail: bool, instantaneous: bool) -> Flags:
    """Return what can happen by the models of all *classes* of links.

    Args:
        classes: The classes.
        computes: Whether it takes nodes time to handle messages.
        nodes_fail: Whether nodes are down at times.
        instantaneous: Whether a reply may arrive at the instant of its request.
    """
    repeats = any(steps.retry is not None for steps in classes)
    in_order = all(model.in_order for steps in classes for model in steps.models) and not (repeats and instantaneous)
    waits = any(steps.contacts is not None for steps in classes)
    takes_time = any(steps.link_class.takes_time for steps in classes)
    return Flags(
        in_order=in_order,
        decides=repeats or not in_order or computes,
        prompt=in_order and not (takes_time or nodes_fail or waits),
        takes_time=takes_time,
        waits=waits,
        drops=any(steps.admits is not None for steps in classes),
    )
