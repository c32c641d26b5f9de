"""Builds the network's fault models from ``[faults]`` and the fault keys of links."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import NamedTuple

from netbandit.network import jitter as jitters
from netbandit.network import loss_models
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.outages import Failing, LinkSchedule, Outage, OutagePlan, Redrawn
from netbandit.network.radio_plan import Aloha, Csma, RadioPlan
from netbandit.network.retry import Retry
from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.scenario import link_faults
from netbandit.scenario.faults import FailingSettings, FaultsSettings, NodeName, OutageSettings, RedrawnSettings
from netbandit.scenario.links import LinksSettings
from netbandit.scenario.radio import AlohaAccess, RadioSettings
from netbandit.util.units import parse_duration
from netbandit.util.wording import show


class Changing(NamedTuple):
    """How peer links come and go; see `OutagePlan`."""

    contacts: LinkSchedule
    sensed: bool
    waits: bool
    carry: int | None
    waits_for_slots: bool


def build_faults(
    links: LinksSettings,
    faults: FaultsSettings,
    topology: Topology,
    slot: int,
    changing: Changing | None = None,
    *,
    peers: bool = True,
) -> Faults:
    """Return the fault models of the network.

    Args:
        links: ``[links]``.
        faults: ``[faults]``, whose nodes and links must be in the graph; see `outage_problems`.
        topology: The graph.
        slot: The length of a slot (ns).
        changing: How the graph changes, if it does.
        peers: Whether peer links are used.
    """
    return Faults(
        peer=_channel_faults(links.peer, slot),
        uplink=_channel_faults(links.uplink, slot),
        plan=OutagePlan(
            links=_at_random(faults.links, slot),
            nodes=_failing(faults.nodes, slot),
            server=_failing(faults.server, slot),
            memory="kept" if faults.nodes is None else faults.nodes.memory,
            outages=[_outage(outage, topology, slot) for outage in faults.outages],
            **({} if changing is None else changing._asdict()),
        ),
        radio=radio_plan(links.peer.radio, slot) if peers and links.peer.radio is not None else None,
    )


def _channel_faults(keys: link_faults.FaultyLinkSettings, slot: int) -> ChannelFaults:
    retry = keys.retry
    timeout = 0 if retry is None else max(1, ns(retry.timeout, slot))
    return ChannelFaults(
        loss=_loss(keys.loss, slot),
        jitter=jitter_of(keys.jitter, slot),
        overtaking=keys.overtaking,
        duplicate=keys.duplicate,
        retry=None if retry is None else Retry(timeout, retry.factor, retry.spread, retry.attempts),
    )


def radio_plan(radio: RadioSettings, slot: int) -> RadioPlan:
    """Return how agents share the radio channel; *slot* is the length of a slot (ns)."""
    access: Aloha | Csma | None = None
    if isinstance(radio.access, AlohaAccess):
        access = Aloha(ns(radio.access.aloha, slot))
    elif radio.access is not None:
        access = Csma(max(1, ns(radio.access.csma, slot)), radio.access.attempts)
    return RadioPlan(access, Fraction(repr(radio.duty)))  # exactly the decimal number as written


def _loss(loss: float | link_faults.PerBitLoss | link_faults.BurstLossSettings, slot: int) -> loss_models.Loss | None:
    if isinstance(loss, link_faults.PerBitLoss):
        return loss_models.BitLoss(loss.per_bit) if loss.per_bit else None
    if isinstance(loss, link_faults.BurstLossSettings):
        good_for, bad_for = max(1, ns(loss.good_for, slot)), max(1, ns(loss.bad_for, slot))
        return loss_models.BurstLoss(loss.good, loss.bad, good_for, bad_for)
    return loss_models.ConstantLoss(loss) if loss else None


def jitter_of(
    jitter: str | link_faults.ExponentialJitter | link_faults.LognormalJitter | link_faults.GeometricJitter, slot: int
) -> jitters.Jitter | None:
    """Return the law of *jitter*; None: there is none."""
    if isinstance(jitter, link_faults.ExponentialJitter):
        return jitters.ExponentialJitter(ns(jitter.exponential, slot))
    if isinstance(jitter, link_faults.LognormalJitter):
        return jitters.LognormalJitter(ns(jitter.lognormal[0], slot), jitter.lognormal[1])
    if isinstance(jitter, link_faults.GeometricJitter):
        mean, largest = (link_faults.slots_of(number) or 0.0 for number in jitter.geometric)
        return jitters.GeometricJitter(mean, int(largest), slot)
    longest = ns(jitter, slot)
    return jitters.UniformJitter(longest) if longest else None


def _at_random(law: FailingSettings | RedrawnSettings | None, slot: int) -> Failing | Redrawn | None:
    if isinstance(law, RedrawnSettings):
        return Redrawn(law.up, max(1, ns(law.every, slot)))
    return _failing(law, slot)


def _failing(law: FailingSettings | None, slot: int) -> Failing | None:
    return None if law is None else Failing(max(1, ns(law.up_for, slot)), max(1, ns(law.down_for, slot)))


def _outage(outage: OutageSettings, topology: Topology, slot: int) -> Outage:
    numbers = NodeNumbers(topology)
    group = None
    if outage.partition is not None:
        group = [0] * topology.agents
        for number, members in enumerate(outage.partition, start=1):
            for member in members:
                group[numbers[member]] = number
    pairs = [sorted((numbers[first], numbers[second])) for first, second in outage.links or ()]
    begin = ns(outage.from_, slot)
    end = inf if outage.until is None else ns(outage.until, slot)
    return Outage(
        begin=begin,
        end=end if outage.for_ is None else begin + ns(outage.for_, slot),
        every=None if outage.every is None else ns(outage.every, slot),
        links=frozenset((first, second) for first, second in pairs),
        nodes=frozenset(numbers[node] for node in outage.nodes or ()),
        server=bool(outage.server),
        group=group,
    )


class NodeNumbers:
    """Maps node names of a scenario to node numbers."""

    def __init__(self, topology: Topology) -> None:
        self._agents = topology.agents
        self._by_name = {name: number for number, name in enumerate(topology.names)}

    def __contains__(self, node: NodeName) -> bool:
        return node in self._by_name if isinstance(node, str) else 0 <= node < self._agents

    def __getitem__(self, node: NodeName) -> int:
        return self._by_name[node] if isinstance(node, str) else node


def node_problems(
    path: tuple[str | int, ...], nodes: Sequence[NodeName], topology: Topology, seen: set[int], twice: str
) -> Iterator[Problem]:
    """Yield the *nodes* of a list that are missing from the graph or have been seen before.

    Args:
        path: The key path of the list.
        nodes: The nodes.
        topology: The graph.
        seen: The numbers of the nodes seen so far; updated.
        twice: The message for a node seen before.
    """
    numbers = NodeNumbers(topology)
    for place, node in enumerate(nodes):
        if node not in numbers:
            yield (*path, place), no_node(node, topology)
        elif numbers[node] in seen:
            yield (*path, place), f"{show(node)} {twice}"
        else:
            seen.add(numbers[node])


def no_node(node: NodeName, topology: Topology) -> str:
    """Return the message that a node is missing from the graph."""
    return f"the graph has no agent {show(node)}: the agents are 0 to {topology.agents - 1}, or have names in its file"


def ns(text: str, slot: int) -> int:
    """Return the nanoseconds of a duration, in slots of *slot* (ns)."""
    return parse_duration(text).nanoseconds(slot)
