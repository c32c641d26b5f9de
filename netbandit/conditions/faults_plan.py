"""Builds the network's fault models from the keys of ``[faults]`` and of links."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from netbandit.conditions.nodes import NodeNumbers
from netbandit.conditions.outage_keys import FailingSettings, OutageSettings, RedrawnSettings
from netbandit.network.faults import ChannelFaults
from netbandit.network.models.jitter import law_of
from netbandit.network.models.loss import loss_of
from netbandit.network.models.settings import nanoseconds as ns
from netbandit.network.outages import Failing, LinkSchedule, Outage, Redrawn
from netbandit.network.topology import Topology
from netbandit.scenario.link_faults import FaultyLinkSettings


class Changing(NamedTuple):
    """How peer links come and go; see `OutagePlan`."""

    contacts: LinkSchedule
    sensed: bool
    waits: bool
    carry: int | None
    waits_for_slots: bool


def channel_faults(keys: FaultyLinkSettings, slot: int) -> ChannelFaults:
    """Return what can go wrong on the links of a class; *slot* is the length of a slot (ns)."""
    return ChannelFaults(
        loss=loss_of(keys.loss, slot),
        jitter=law_of(keys.jitter, slot),
        overtaking=keys.overtaking,
        duplicate=keys.duplicate,
        retry=None if keys.retry is None else keys.retry.model(slot),
    )


def at_random(law: FailingSettings | RedrawnSettings | None, slot: int) -> Failing | Redrawn | None:
    """Return how links fail; *slot* is the length of a slot (ns)."""
    if isinstance(law, RedrawnSettings):
        return Redrawn(law.up, max(1, ns(law.every, slot)))
    return failing(law, slot)


def failing(law: FailingSettings | None, slot: int) -> Failing | None:
    """Return how nodes fail; *slot* is the length of a slot (ns)."""
    return None if law is None else Failing(max(1, ns(law.up_for, slot)), max(1, ns(law.down_for, slot)))


def outage_of(outage: OutageSettings, topology: Topology, slot: int) -> Outage:
    """Return a scheduled outage of nodes and links of the graph; *slot* is the length of a slot (ns)."""
    numbers = NodeNumbers(topology)
    group: Sequence[int] | None = None
    if outage.links == "all":
        group = range(topology.agents)  # each agent alone, so that no pair of them has a link
    elif outage.partition is not None:
        parts = {
            numbers[member]: number for number, members in enumerate(outage.partition, start=1) for member in members
        }
        group = [parts.get(agent, 0) for agent in range(topology.agents)]
    pairs = [sorted((numbers[first], numbers[second])) for first, second in outage.named_links]
    nodes = range(topology.agents) if outage.nodes == "all" else (numbers[node] for node in outage.named_nodes)
    begin = ns(outage.from_, slot)
    end = inf if outage.until is None else ns(outage.until, slot)
    return Outage(
        begin=begin,
        end=end if outage.for_ is None else begin + ns(outage.for_, slot),
        every=None if outage.every is None else ns(outage.every, slot),
        links=frozenset((first, second) for first, second in pairs),
        nodes=frozenset(nodes),
        server=bool(outage.server),
        group=group,
    )
