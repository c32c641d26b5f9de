"""Capacity of a shared radio channel in a scenario, estimated before a run."""

from collections.abc import Iterator

from netbandit.checks.point_check import release_size
from netbandit.conditions.faults import Faults
from netbandit.conditions.links import link_class
from netbandit.learners.counts import CountingLearner
from netbandit.learners.learner import EpochLearner
from netbandit.network.airtime import MOST_BYTES
from netbandit.network.link import LinkClass
from netbandit.network.message import LABEL_BYTES, NUMBER_BYTES
from netbandit.network.models.radio_keys import SPREADING_FACTORS
from netbandit.network.topology import Topology
from netbandit.protocols.flooding import Flooding
from netbandit.protocols.relay import Relay
from netbandit.simulation.drivers.choice import pattern_of
from netbandit.simulation.replication import RunnablePoint
from netbandit.user_code.errors import is_ours
from netbandit.util.text import pluralize
from netbandit.util.wording import show

_MAC_BYTES = 5
"""Bytes of MAC header and message integrity code in a LoRaWAN frame."""

_LARGEST_PAYLOADS = {7: 250, 8: 250, 9: 123, 10: 59, 11: 59, 12: 59}
"""The largest MACPayload by spreading factor (LoRaWAN Regional Parameters 1.0.2 rev. B, EU863-870)."""


def air_plan(point: RunnablePoint) -> list[str]:
    """Return the limits of the radio channel, a line each: the permitted send rate and the minimum length of a round.

    For LoRa, also the spreading factors at which one LoRaWAN frame can hold a message.
    """
    radio, protocol = point.scenario.links.peer.radio, point.protocol
    if radio is None or not protocol.uses_peer_links or protocol.out_of_band:
        return []
    slot = point.scenario.run.slot_nanoseconds
    plan, links = radio.plan(slot), link_class(point.scenario.links.peer)
    size, exact = _message_bytes(point)
    airtime = links.transmission(size)
    period = plan.period(airtime)
    least = "" if exact else "at least "
    lines = [
        f"a message of {size} bytes{'' if exact else ' and its item'} takes {least}{_seconds(airtime)} on the air: an "
        f"agent may send one every {_spent(period, slot)} (links.peer.radio.duty = {show(radio.duty)})"
    ]
    lines += _how_often(point, links, airtime, period, slot)
    if links.modulation is not None:
        lines.append(_frames(size))
    return lines


def _message_bytes(point: RunnablePoint) -> tuple[int, bool]:
    """Return the bytes of a message with one agent's item, and whether that is known; else those without the item."""
    outline, learner = point.bandit.outline(), point.learner
    item = 0
    if isinstance(learner, EpochLearner):
        arms = outline.arms or 0
        item = NUMBER_BYTES * arms
        if point.protocol.differs:  # then an item names its arms and how often each was pulled
            item += LABEL_BYTES * arms + NUMBER_BYTES
    elif isinstance(learner, CountingLearner) and is_ours(type(learner)):
        nodes = point.scenario.table(Faults).nodes
        item = learner.item_bytes(2 * (outline.arms or 0) + (nodes is not None and nodes.memory == "lost"))
    else:
        item = release_size(point)
    return point.scenario.run.header + LABEL_BYTES + item, item > 0


def _how_often(point: RunnablePoint, links: LinkClass, airtime: int, period: int, slot: int) -> Iterator[str]:
    """Yield the minimum length of a round, or by how much the agents' send rate exceeds the permitted one."""
    kind = show(point.resolved["protocol"]["kind"])
    talk = pattern_of(type(point.bandit), type(point.learner))
    if talk in ("round", "call"):
        graph = point.topology(0)
        sends = _least_sends(point, graph)
        hops = graph.diameter if isinstance(point.protocol, Flooding | Relay) else 1
        least = max((sends - 1) * period, (hops - 1) * airtime) + airtime
        yield (
            f"a round of protocol.kind = {kind} takes at least {_spent(least, slot)}: some agent sends "
            f"{pluralize(sends, 'message')}"
        )
    elif talk in ("broadcast", "exchange") and period > slot:
        yield (
            f"agents that tell something in every slot do so {_figure(period / slot)} times as often as they may send: "
            "messages wait ever longer"
        )


def _least_sends(point: RunnablePoint, graph: Topology) -> int:
    """Return a lower bound on the messages that the busiest agent sends in a round, even if all neighbours hear each.

    Without aggregation on the way, a cut vertex forwards every item. Among n agents with at most d neighbours each,
    an item is sent by at least (n - 1) / d of them.
    """
    if not isinstance(point.protocol, Flooding | Relay):
        return 1
    import networkx

    least = 1
    for members in networkx.connected_components(graph.graph):
        part = graph.graph.subgraph(members)
        number, degree = len(members), max(degree for _, degree in part.degree)
        cut = next(networkx.articulation_points(part), None) if number > 2 else None
        least = max(least, number if cut is not None else -(-(number - 1) // max(1, degree)))
    return least


def _frames(size: int) -> str:
    """Return the spreading factors at which one LoRaWAN frame can hold a message of *size* bytes."""
    fits = [factor for factor in SPREADING_FACTORS if size <= _LARGEST_PAYLOADS[factor] + _MAC_BYTES]
    if fits:
        return f"in one frame of LoRaWAN (EU868) it may be sent at spreading factors {fits[0]} to {fits[-1]}"
    frames = -(-size // MOST_BYTES)
    return f"no frame of LoRaWAN (EU868) may hold it, at any spreading factor: it goes in {frames}, back to back"


def _spent(nanoseconds: int, slot: int) -> str:
    return f"{_seconds(nanoseconds)}, or {pluralize(_figure(nanoseconds / slot), 'slot')}"


def _seconds(nanoseconds: int) -> str:
    return f"{_figure(nanoseconds / 1e9)} s"


def _figure(number: float) -> str:
    return f"{number:,.0f}" if number >= 1_000 else f"{number:.3g}"
