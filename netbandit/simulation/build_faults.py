"""Builds the network's fault models from ``[faults]`` and the fault keys of links."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Literal, NamedTuple

from netbandit.learners.differing_sets import DifferingSets
from netbandit.learners.learner import AnyLearner
from netbandit.network import jitter as jitters
from netbandit.network import loss_models
from netbandit.network.faults import ChannelFaults, Faults
from netbandit.network.outages import Failing, LinkSchedule, Outage, OutagePlan, Redrawn
from netbandit.network.radio_plan import Aloha, Csma, RadioPlan
from netbandit.network.retry import ACK_BYTES, Retry
from netbandit.network.topology import Topology
from netbandit.parts.settings import Problem
from netbandit.protocols.parameter_server import ParameterServer
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.scenario import link_faults
from netbandit.scenario.faults import FailingSettings, FaultsSettings, NodeName, OutageSettings, RedrawnSettings
from netbandit.scenario.links import LinkSettings, LinksSettings, UniformLatency, UplinkSettings
from netbandit.scenario.radio import AlohaAccess, RadioSettings
from netbandit.util.units import parse_bandwidth, parse_duration
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
    timeout = 0 if retry is None else max(1, _ns(retry.timeout, slot))
    return ChannelFaults(
        loss=_loss(keys.loss, slot),
        jitter=_jitter(keys.jitter, slot),
        overtaking=keys.overtaking,
        duplicate=keys.duplicate,
        retry=None if retry is None else Retry(timeout, retry.factor, retry.spread, retry.attempts),
    )


def radio_plan(radio: RadioSettings, slot: int) -> RadioPlan:
    """Return how agents share the radio channel; *slot* is the length of a slot (ns)."""
    access: Aloha | Csma | None = None
    if isinstance(radio.access, AlohaAccess):
        access = Aloha(_ns(radio.access.aloha, slot))
    elif radio.access is not None:
        access = Csma(max(1, _ns(radio.access.csma, slot)), radio.access.attempts)
    return RadioPlan(access, Fraction(repr(radio.duty)))  # exactly the decimal number as written


def _loss(loss: float | link_faults.PerBitLoss | link_faults.BurstLossSettings, slot: int) -> loss_models.Loss | None:
    if isinstance(loss, link_faults.PerBitLoss):
        return loss_models.BitLoss(loss.per_bit) if loss.per_bit else None
    if isinstance(loss, link_faults.BurstLossSettings):
        good_for, bad_for = max(1, _ns(loss.good_for, slot)), max(1, _ns(loss.bad_for, slot))
        return loss_models.BurstLoss(loss.good, loss.bad, good_for, bad_for)
    return loss_models.ConstantLoss(loss) if loss else None


def _jitter(
    jitter: str | link_faults.ExponentialJitter | link_faults.LognormalJitter | link_faults.GeometricJitter, slot: int
) -> jitters.Jitter | None:
    if isinstance(jitter, link_faults.ExponentialJitter):
        return jitters.ExponentialJitter(_ns(jitter.exponential, slot))
    if isinstance(jitter, link_faults.LognormalJitter):
        return jitters.LognormalJitter(_ns(jitter.lognormal[0], slot), jitter.lognormal[1])
    if isinstance(jitter, link_faults.GeometricJitter):
        mean, largest = (link_faults.slots_of(number) or 0.0 for number in jitter.geometric)
        return jitters.GeometricJitter(mean, int(largest), slot)
    longest = _ns(jitter, slot)
    return jitters.UniformJitter(longest) if longest else None


def _at_random(law: FailingSettings | RedrawnSettings | None, slot: int) -> Failing | Redrawn | None:
    if isinstance(law, RedrawnSettings):
        return Redrawn(law.up, max(1, _ns(law.every, slot)))
    return _failing(law, slot)


def _failing(law: FailingSettings | None, slot: int) -> Failing | None:
    return None if law is None else Failing(max(1, _ns(law.up_for, slot)), max(1, _ns(law.down_for, slot)))


def _outage(outage: OutageSettings, topology: Topology, slot: int) -> Outage:
    numbers = NodeNumbers(topology)
    group = None
    if outage.partition is not None:
        group = [0] * topology.agents
        for number, members in enumerate(outage.partition, start=1):
            for member in members:
                group[numbers[member]] = number
    pairs = [sorted((numbers[first], numbers[second])) for first, second in outage.links or ()]
    begin = _ns(outage.from_, slot)
    end = inf if outage.until is None else _ns(outage.until, slot)
    return Outage(
        begin=begin,
        end=end if outage.for_ is None else begin + _ns(outage.for_, slot),
        every=None if outage.every is None else _ns(outage.every, slot),
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


def outage_problems(faults: FaultsSettings, topology: Topology, slot: int) -> Iterator[Problem]:
    """Yield each invalid outage: of links or nodes missing from the graph, or with an end before its beginning."""
    numbers = NodeNumbers(topology)
    for place, outage in enumerate(faults.outages):
        here = ("faults", "outages", place)
        if outage.until is not None and _ns(outage.until, slot) <= _ns(outage.from_, slot):
            yield (*here, "until"), f"must be after from = {show(outage.from_)}, not {show(outage.until)}"
        if outage.for_ is not None and _ns(outage.for_, slot) < 1:
            yield (*here, "for"), f"must be at least a nanosecond, not {show(outage.for_)}"
        elif outage.every is not None and outage.for_ is not None and _ns(outage.every, slot) <= _ns(outage.for_, slot):
            yield (*here, "every"), f"must be longer than for = {show(outage.for_)}, not {show(outage.every)}"
        for number, node in enumerate(outage.nodes or ()):
            if node not in numbers:
                yield (*here, "nodes", number), no_node(node, topology)
        for number, pair in enumerate(outage.links or ()):
            yield from (((*here, "links", number), no_node(node, topology)) for node in pair if node not in numbers)
            if all(node in numbers for node in pair):
                first, second = (numbers[node] for node in pair)
                if not topology.graph.has_edge(first, second):
                    yield (*here, "links", number), f"the graph has no link between {show(pair[0])} and {show(pair[1])}"
        seen: set[int] = set()
        for number, group in enumerate(outage.partition or ()):
            path = (*here, "partition", number)
            yield from node_problems(path, group, topology, seen, "is in two groups, or twice in one")


def per_agent_problems(
    faults: FaultsSettings, learner: AnyLearner, protocol: NetworkProtocol, kinds: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield faults that make agents' state diverge in rounds, if the learner or protocol does not support that.

    Args:
        faults: ``[faults]``.
        learner: A round-based learner.
        protocol: The protocol.
        kinds: The kinds of both, as written.
    """
    lost = faults.nodes is not None and faults.nodes.memory == "lost"
    memory = ("faults", "nodes", "memory")
    if lost and not protocol.forgetful:
        yield memory, f'must be "kept": protocol.kind = {show(kinds["protocol"])} does not say what a node forgets'
    if isinstance(learner, DifferingSets):
        return
    text = f"learner.kind = {show(kinds['learner'])} has no methods of netbandit.learners.differing_sets:DifferingSets"
    if lost:
        yield memory, f'must be "kept": {text}'
    if getattr(protocol, "deadline", None) is not None:
        yield ("protocol", "deadline"), f"leave it out: agents would differ in what they know, and {text}"
    elif protocol.differs:
        yield ("protocol", "kind"), f"must be another: agents would differ in what they know, and {text}"


def answer_problems(
    links: LinksSettings, faults: FaultsSettings, protocol: NetworkProtocol, *, changing: bool, refuses: bool
) -> Iterator[Problem]:
    """Yield links that may lose an answer for good, so that an agent would wait for it for ever.

    Args:
        links: ``[links]``.
        faults: ``[faults]``.
        protocol: The protocol.
        changing: Whether peer links come and go, or agents may run empty.
        refuses: Whether the inbox of a node may be full.
    """
    name = _answered_over(links, faults, protocol, changing, refuses)
    if name is not None and getattr(links, name).retry is None:
        shared = name == "peer" and links.peer.radio is not None  # a shared radio channel has no retransmissions
        text = (
            f"messages may be lost on links.{name} and are not repeated, and an agent whose answer is lost would never "
            f"test again: this key ends its wait{'' if shared else f', and so does links.{name}.retry'}"
        )
        yield ("protocol", "deadline"), f"is missing: {text}"


def answer_notes(
    links: LinksSettings, faults: FaultsSettings, protocol: NetworkProtocol, *, changing: bool, refuses: bool
) -> Iterator[Problem]:
    """Yield links that retransmit answers only so often, so that an agent might wait for one for ever.

    Args:
        links: ``[links]``.
        faults: ``[faults]``.
        protocol: The protocol.
        changing: Whether peer links come and go, or agents may run empty.
        refuses: Whether the inbox of a node may be full.
    """
    name = _answered_over(links, faults, protocol, changing, refuses)
    if name is None or (retry := getattr(links, name).retry) is None:
        return
    text = (
        f"an agent whose upload or answer is lost {retry.attempts} times waits for ever and never uploads again: "
        "protocol.deadline ends its wait, and more attempts make this rarer"
    )
    yield ("links", name, "retry", "attempts"), text


def round_notes(
    links: LinksSettings, faults: FaultsSettings, protocol: NetworkProtocol, *, changing: bool, refuses: bool
) -> Iterator[Problem]:
    """Yield losses that leave a round of agents that broadcast without its answer; see `answer_notes`."""
    if not getattr(protocol, "served", False):
        return
    shared = links.peer.radio is not None and "peer" in protocol.used_links
    lossy = [table for table in sorted(protocol.used_links) if _loses(getattr(links, table))]
    cut = "peer" in protocol.used_links and faults.links is not None
    down = changing or refuses or cut or any((faults.nodes, faults.server, faults.outages))
    if not (lossy or down or shared):
        return
    helps = [f"links.{table}.retry repeats what is lost" for table in lossy if not (shared and table == "peer")]
    text = "the server waits for all uploads of a round, and one that is lost leaves all agents without an answer"
    help = "; ".join([*helps, "with learners of rounds, such as elimination, protocol.deadline ends the wait"])
    yield ("protocol", "kind"), f"{text} (unanswered): {help}"


def _loses(link: LinkSettings | UplinkSettings) -> bool:
    return link.retry is None and (bool(link.loss) or link.queue is not None)


def queue_notes(links: LinksSettings, protocol: NetworkProtocol) -> Iterator[Problem]:
    """Yield queues that drop messages without retransmission, under protocols whose agents wait for these messages."""
    if getattr(protocol, "deadline", "none") is not None:
        return
    for table in protocol.used_links:
        settings = getattr(links, table)
        if settings.queue is not None and settings.retry is None:
            text = "what is dropped is not repeated, and who waits for it does so for ever"
            help = f"links.{table}.retry repeats it, and a protocol.deadline ends the wait"
            yield ("links", table, "queue"), f"{text}: {help}"


def _answered_over(
    links: LinksSettings, faults: FaultsSettings, protocol: NetworkProtocol, changing: bool, refuses: bool
) -> Literal["peer", "uplink"] | None:
    """Return the links that may lose an answer for which an agent waits without a deadline; None if there are none."""
    if not isinstance(protocol, ParameterServer) or protocol.answer != "uploader" or protocol.deadline is not None:
        return None
    # An agent that was down itself checks again when it comes back up.
    if protocol.server == "uplink":
        down = faults.server is not None or any(outage.server for outage in faults.outages)
        return "uplink" if links.uplink.loss or links.uplink.queue is not None or down or refuses else None
    cuts = (outage.links or outage.nodes or outage.partition for outage in faults.outages)
    down = changing or faults.links is not None or faults.nodes is not None or any(cuts)
    may_drop = links.peer.queue is not None or refuses
    return "peer" if links.peer.loss or links.peer.radio is not None or may_drop or down else None


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


def fault_notes(
    links: LinksSettings, faults: FaultsSettings, kind: str, latencies: Sequence[int], slot: int
) -> Iterator[Problem]:
    """Yield settings that are valid but probably unintended: a timeout too short, and faults where nothing is sent.

    Args:
        links: ``[links]``.
        faults: ``[faults]``.
        kind: The protocol's kind.
        latencies: The latency of each peer link (ns).
        slot: The length of a slot (ns).
    """
    if kind == "silent" and (faults.links or faults.server):
        yield ("faults",), 'has no effect: with protocol.kind = "silent" no messages are sent'
    uplink = links.uplink.latency
    slowest = _ns(uplink.uniform[1] if isinstance(uplink, UniformLatency) else uplink, slot)
    for name, table, latency in (("peer", links.peer, max(latencies, default=0)), ("uplink", links.uplink, slowest)):
        if table.retry is None:
            continue
        back = 0 if table.bandwidth is None else -(-ACK_BYTES * 8_000_000_000 // parse_bandwidth(table.bandwidth))
        if _ns(table.retry.timeout, slot) < 2 * latency + back:
            text = f"is shorter than a round trip without queueing, {(2 * latency + back) / 1e6:g} ms: all is resent"
            yield ("links", name, "retry", "timeout"), text


def tie_notes(links: LinksSettings, protocol: NetworkProtocol, latencies: Sequence[int]) -> Iterator[Problem]:
    """Yield a note that equal latencies (ns) make messages arrive at the same instant, as in no real network."""
    jitter = _jitter(links.peer.jitter, 1)
    if protocol.counts_ties and not protocol.slotted and jitter is None and len(set(latencies)) < len(latencies):
        yield (
            ("protocol", "timing"),
            "over links of equal latency messages meet at a node in the same instant, as in no real network, so that "
            'fewer are sent: links.peer.jitter = "0.001 ms" shows how many otherwise',
        )


def _ns(text: str, slot: int) -> int:
    return parse_duration(text).nanoseconds(slot)
