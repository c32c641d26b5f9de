"""End-of-run accounting of a replication: network metrics, link use, and remarks about waiting."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from netbandit.network.clock import Clock
from netbandit.network.contact_figures import contact_figures
from netbandit.network.link import Channel, LinkClass, Queue
from netbandit.network.network import Network
from netbandit.network.steps import Model
from netbandit.network.topology import Topology
from netbandit.protocols.protocol import NetworkProtocol
from netbandit.simulation.result import LinkUse, Metric, Nodes
from netbandit.simulation.return_validation import figures_of
from netbandit.user_code.errors import is_ours


def traffic(network: Network) -> dict[str, Metric]:
    """Return the traffic over links of both classes, and its cost."""
    peer, uplink = network.peer_totals(), network.uplink_totals()
    return {
        "cost": peer.cost + uplink.cost,
        "activations": peer.activations + uplink.activations,
        "messages": peer.messages + uplink.messages,
        "bytes": peer.bytes + uplink.bytes,
        "energy_j": peer.energy + uplink.energy,
    }


def outcomes(network: Network) -> dict[str, Metric]:
    """Return the outcomes of all messages handed to links; ``dropped`` only where queues are finite."""
    found: dict[str, Metric] = asdict(network.ledger.outcomes)
    return {name: value for name, value in found.items() if network.flags.drops or not name.startswith("dropped")}


def of_models(network: Network) -> dict[str, Metric]:
    """Return the metrics of the models of links, each class of models asked once."""
    kinds: defaultdict[type[Model], list[Model]] = defaultdict(list)
    for model in (*network.peer_wire.models, *network.uplink_wire.models):
        kinds[type(model)].append(model)
    found: dict[str, Metric] = {}
    for kind, models in kinds.items():
        metrics = kind.metrics(models)
        found |= metrics if is_ours(kind) else figures_of(models[0], metrics, found, "metrics")
    return found


def connectivity(network: Network, topology: Topology) -> dict[str, Metric]:
    """Return connectivity metrics of a time-varying graph."""
    if network.faults.plan.contacts is None:
        return {}
    return contact_figures(network.up_times, topology.edges, topology.agents, network.clock.end)._asdict()


def waiting_remarks(
    rounds: Metric, stalled: Sequence[int], waiting: Sequence[int], protocol: NetworkProtocol, network: Network
) -> tuple[str, ...]:
    """Return remarks on agents that wait for messages that cannot arrive, with remedies, and on runs without rounds."""
    remarks = []
    if stalled:
        where, helps = [], []
        for table, count in network.lost_for_good().items():
            if not count:
                continue
            if getattr(network.faults, table).retry is None:
                where.append(f"lost on links.{table}")
                helps.append(f"links.{table}.retry resends lost messages")
            else:
                where.append(f"given up on links.{table}")
                helps.append(f"more links.{table}.retry.attempts make this rarer")
        if getattr(protocol, "deadline", "") is None:
            helps.append("a protocol.deadline ends the wait")
        remarks.append(
            f"agents waited at the horizon for messages {' and '.join(where) or 'that never came'}, with nothing in "
            "transit that could end the wait (stalled: how many agents, waiting_slots: for how long)"
            f"{'; ' if helps else ''}{', and '.join(helps)}"
        )
    if waiting and not rounds:
        text = "no round had ended by the horizon: agents were still waiting for the first (waiting_slots)"
        cure = "; a longer run.horizon lets it end, or a longer run.slot where messages take many slots"
        remarks.append(f"{text}{'' if stalled else cure}")
    return tuple(remarks)


def absent_slots(network: Network, agents: int, clock: Clock, but: Collection[int] = ()) -> int:
    """Return the number of slots that agents, except those in *but*, missed because they were down at its beginning."""
    outages = network.outages
    if outages is None or not outages.any_agents:
        return 0
    ranges = (outages.absent_slots(agent, clock.slot, clock.horizon) for agent in range(agents) if agent not in but)
    return sum(last - first for own in ranges for first, last in own)


def link_use(network: Network, topology: Topology) -> LinkUse:
    """Return the use of links between agents, in the order of ``topology.edges``."""
    if network.links:
        return use_of(network.links.pairs(), network.peer_class)
    # The protocol uses no peer links.
    names = (*_COUNTED[2:], "lost", *(_QUEUED if network.peer_class.takes_time else ()))
    none = {name: np.zeros(topology.links, dtype=np.int64) for name in names}
    return LinkUse(topology.edges[:, 0], topology.edges[:, 1], **none)


def use_of(links: Iterable[tuple[Channel, Channel]], link_class: LinkClass) -> LinkUse:
    """Return the use of *links* of a class, given the two channels of each, the first that of its first end."""
    queues = link_class.takes_time
    counts = _with_queues if queues else _counts
    rare: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def rows() -> Iterator[tuple[int, ...]]:
        for row, link in enumerate(links):
            for channel in link:
                if channel.fates:
                    for name, value in _fates(channel, back=channel is link[1]):
                        rare[name][row] = rare[name].get(row, 0) + value
            yield counts(link)

    # Not a list of rows: Python's garbage collector would scan them again and again.
    table = np.fromiter(chain.from_iterable(rows()), dtype=np.int64).reshape(-1, 11 if queues else 7)
    found = {"lost": np.zeros(len(table), dtype=np.int64)}
    for name, values in rare.items():
        column = found.setdefault(name, np.zeros(len(table), dtype=np.int64))
        column[list(values)] = list(values.values())
    names = (*_COUNTED, *_QUEUED) if queues else _COUNTED
    return LinkUse(**dict(zip(names, map(np.ascontiguousarray, table.T), strict=True)), **found)


_COUNTED = ("first", "second", "messages", "bytes", "activations", "messages_back", "bytes_back")
_QUEUED = ("busy", "busy_back", "waited", "longest_wait")


def _counts(link: tuple[Channel, Channel]) -> tuple[int, ...]:
    there, back = link
    return (
        there.sender,
        there.receiver,
        there.messages + back.messages,
        there.bytes + back.bytes,
        there.link.activations,
        back.messages,
        back.bytes,
    )


def _with_queues(link: tuple[Channel, Channel]) -> tuple[int, ...]:
    there, back = (channel.queue or Queue() for channel in link)
    longest = max(there.longest_wait, back.longest_wait)
    return *_counts(link), there.busy, back.busy, there.waited + back.waited, longest


def _fates(channel: Channel, back: bool) -> Iterator[tuple[str, int]]:
    """Yield the columns of `LinkUse` about what became of messages on one *channel* of a link, the one *back* or not.

    Those of what is under way are of one direction as well, because only its receiver has spent nothing on it.
    """
    for fate, (messages, size) in channel.fates.items():
        yield fate, messages
        yield f"{fate}_bytes", size
        if fate == "in_flight" and back:
            yield "in_flight_back", messages
            yield "in_flight_bytes_back", size
    if channel.queue is not None and channel.queue.under_way:
        yield "in_flight_busy_back" if back else "in_flight_busy", channel.queue.under_way


def nodes_of(topology: Topology, energy: Mapping[str, NDArray[np.float64]]) -> Nodes | None:
    """Return the agents' names, coordinates and arrays of *energy*; None if none of these is known."""
    named = not topology.bare and any("name" in data for _, data in topology.graph.nodes(data=True))
    if not named and topology.coordinates is None and not energy:
        return None
    return Nodes(tuple(topology.names) if named else None, topology.coordinates, **energy)
